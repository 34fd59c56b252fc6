//! JSON files of other programs, with places: objects looked into by name, nothing taken for granted.

use std::ops::Range;

use callgate_document::{BYTE_ORDER_MARK, Node, Syntax, parse_json};

use crate::LONGEST;
use crate::ledger::{Ledger, PositionIndex, SourcePosition};

/// A parsed text and what is needed to say where something stands in it.
pub(crate) struct Settings<'t> {
    places: PositionIndex<'t>,
    shift: usize,
    pub(crate) root: Node,
}

impl<'t> Settings<'t> {
    /// `None` after a problem, which is in the ledger then.
    pub(crate) fn read(text: &'t str, ledger: &mut Ledger) -> Option<Settings<'t>> {
        if text.len() > LONGEST {
            let message = format!("the file has {} bytes; such a file has at most {LONGEST}", text.len());
            ledger.problem(SourcePosition::START, "", message, "is this the right file?");
            return None;
        }
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let shift = text.len() - body.len();
        let places = PositionIndex::new(text);
        match parse_json(body, Syntax::Jsonc) {
            Ok(Some(root)) => return Some(Settings { places, shift, root }),
            Ok(None) => {
                ledger.problem(SourcePosition::START, "", "the file is empty", "is this the right file?")
            }
            Err(e) => {
                let place = places.at(e.range().start + shift);
                ledger.problem(place, "", format!("this is not JSON: {}", e.kind()), "mend what stands here");
            }
        }
        None
    }

    pub(crate) fn place(&self, span: &Range<usize>) -> SourcePosition {
        self.places.at(span.start + self.shift)
    }
}

/// The value of a member; of several with one name the last, as most readers have it.
pub(crate) fn member<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.map()?.iter().rev().find(|member| member.key == name).map(|member| &member.value)
}
