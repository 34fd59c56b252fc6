//! JSON files of other programs, with places: objects looked into by name, nothing taken for granted.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::LONGEST;
use crate::ledger::{Ledger, Place, Places};

/// A parsed text and what is needed to say where something stands in it.
pub(crate) struct Document<'t> {
    places: Places<'t>,
    shift: usize,
    pub(crate) root: Value<'t>,
}

impl<'t> Document<'t> {
    /// `None` after a problem, which is in the ledger then.
    pub(crate) fn read(text: &'t str, ledger: &mut Ledger) -> Option<Document<'t>> {
        if text.len() > LONGEST {
            let message = format!("the file has {} bytes; such a file has at most {LONGEST}", text.len());
            ledger.problem(Place::START, "", message, "is this the right file?");
            return None;
        }
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let shift = text.len() - body.len();
        let places = Places::new(text);
        match parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default()) {
            Ok(result) => match result.value {
                Some(root) => Some(Document { places, shift, root }),
                None => {
                    ledger.problem(Place::START, "", "the file is empty", "is this the right file?");
                    None
                }
            },
            Err(e) => {
                let place = places.at(e.range().start + shift);
                ledger.problem(place, "", format!("this is not JSON: {}", e.kind()), "mend what stands here");
                None
            }
        }
    }

    pub(crate) fn place(&self, at: &impl Ranged) -> Place {
        self.places.at(at.start() + self.shift)
    }
}

pub(crate) fn members<'a, 't>(value: &'a Value<'t>) -> Option<&'a [ObjectProp<'t>]> {
    match value {
        Value::Object(object) => Some(&object.properties),
        _ => None,
    }
}

/// The value of a member; of several with one name the last, as most readers have it.
pub(crate) fn member<'a, 't>(value: &'a Value<'t>, name: &str) -> Option<&'a Value<'t>> {
    members(value)?.iter().rev().find(|p| p.name.as_str() == name).map(|p| &p.value)
}
