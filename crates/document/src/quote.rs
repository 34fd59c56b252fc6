//! Texts as literals of each syntax, so that whatever a name or a path contains reads back as itself.

use std::ops::Range;

use super::{Document, Node, Odd, Splice, Syntax, Value};

/// One element to write into a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal<'a> {
    /// A text, quoted as the syntax wants it.
    Text(&'a str),
    /// Another scalar of the same document, word for word as it stands there.
    Source(Range<usize>),
}

impl Document {
    /// A text in place of a scalar.
    pub fn replace_text(&self, node: &Node, text: &str) -> Result<Splice, Odd> {
        match node.oddity() {
            Some(oddity) => Err(Odd::new(format!("it is written with {}", oddity.words()))),
            None if node.text().is_none() => Err(Odd::new("it is not a text")),
            None => Ok(Splice::replace(node.span.clone(), quote(text))),
        }
    }

    /// A text in place of the scalar that stands at `span`, as [`Document::replace_text`] does it.
    pub fn replace(&self, span: &Range<usize>, text: &str) -> Result<Splice, Odd> {
        fn at<'a>(node: &'a Node, span: &Range<usize>) -> Option<&'a Node> {
            match &node.value {
                Value::List(items) => items.iter().find_map(|n| at(n, span)),
                Value::Map(members) => members.iter().find_map(|m| at(&m.value, span)),
                _ => (node.span == *span).then_some(node),
            }
        }
        let node = at(&self.root, span).ok_or_else(|| Odd::new("no value stands at this place any more"))?;
        self.replace_text(node, text)
    }

    pub(super) fn literal(&self, literal: &Literal<'_>, flow: bool) -> String {
        match literal {
            Literal::Text(text) => quote(text),
            Literal::Source(span) => {
                let source = self.source(span);
                // Quoting what could have stayed plain would be lost on the way back; see `takes_source`.
                if self.syntax == Syntax::Yaml && flow && !stands_in_flow(source) {
                    return quote(source);
                }
                source.to_owned()
            }
        }
    }

    pub(super) fn literals(&self, literals: &[Literal<'_>], flow: bool) -> Vec<String> {
        literals.iter().map(|l| self.literal(l, flow)).collect()
    }
}

/// A plain YAML scalar may contain commas and brackets, except between brackets.
pub(super) fn stands_in_flow(source: &str) -> bool {
    source.starts_with(['"', '\'']) || !source.contains([',', '[', ']', '{', '}'])
}

/// Between double quotes: the one form that JSON, TOML and YAML (in every place) read alike.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // All syntaxes know \uXXXX, and all that is unprintable here fits in.
            c if !printable(c) => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What every reader takes as it is. Line separators and byte order marks end a line or vanish in some.
fn printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
