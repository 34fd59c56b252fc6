//! Values and entries that are written anew, each in the syntax of its file and in the layout of what stands around it.

use super::piece::Piece;
use super::{Syntax, comments, quote::quote};

/// A value to write.
#[derive(Clone, Debug)]
pub enum NewValue {
    Text(String),
    /// As it stands: `true`, `300`, `["*"]`. Only what reads alike in every syntax.
    Word(String),
    /// In one line if its items are plain, however much room there is.
    List(Vec<NewValue>),
    Map(Vec<(String, NewValue)>),
    /// As it is written in another text.
    Piece(Piece),
}

/// A value to write into a map or a list, with the comments that come with it.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// None in a list.
    pub key: Option<String>,
    pub value: NewValue,
    pub(super) lead: Vec<Piece>,
    pub(super) trail: Vec<Piece>,
}

/// Where lines of a value begin, and whether it has more than one.
#[derive(Clone, Debug)]
pub(super) struct Layout<'a> {
    /// What comes before the line that the value begins in.
    pub(super) lead: String,
    /// What comes before each part of it, in addition.
    pub(super) unit: String,
    pub(super) eol: &'a str,
    pub(super) one_line: bool,
}

impl Layout<'_> {
    const ONE_LINE: Layout<'static> =
        Layout { lead: String::new(), unit: String::new(), eol: "\n", one_line: true };

    fn deeper(&self) -> Self {
        Layout { lead: format!("{}{}", self.lead, self.unit), ..self.clone() }
    }
}

impl NewEntry {
    pub fn new(key: Option<&str>, value: NewValue) -> NewEntry {
        NewEntry { key: key.map(str::to_owned), value, lead: Vec::new(), trail: Vec::new() }
    }

    /// Does it need lines of its own?
    pub(super) fn needs_lines(&self) -> bool {
        self.lead.iter().chain(&self.trail).any(|c| comments::is_line_comment(&c.text))
    }

    /// Must a line end follow it?
    pub(super) fn ends_in_line_comment(&self) -> bool {
        self.trail.last().is_some_and(|c| comments::is_line_comment(&c.text))
    }

    pub(super) fn render(&self, syntax: Syntax, layout: &Layout<'_>) -> String {
        let value = self.value.render(syntax, layout);
        self.key.as_deref().map_or_else(|| value.clone(), |key| member(syntax, key, &value))
    }
}

impl NewValue {
    pub fn text(text: &str) -> NewValue {
        NewValue::Text(text.to_owned())
    }

    pub fn word(word: &impl ToString) -> NewValue {
        NewValue::Word(word.to_string())
    }

    /// One text, number or word?
    pub fn is_plain(&self) -> bool {
        match self {
            NewValue::Text(_) | NewValue::Word(_) => true,
            NewValue::Piece(piece) => !piece.text.starts_with(['{', '[']),
            NewValue::Map(_) | NewValue::List(_) => false,
        }
    }

    pub(super) fn in_one_line(&self, syntax: Syntax) -> String {
        self.render(syntax, &Layout::ONE_LINE)
    }

    /// Between brackets, in one line or with a line for each part.
    pub(super) fn render(&self, syntax: Syntax, layout: &Layout<'_>) -> String {
        let inside = layout.deeper();
        let (open, parts, close, blank) = match self {
            NewValue::Text(text) => return quote(text),
            NewValue::Word(word) => return word.clone(),
            NewValue::Piece(piece) => return piece.render(layout),
            NewValue::Map(members) => {
                let parts =
                    members.iter().map(|(name, value)| member(syntax, name, &value.render(syntax, &inside)));
                ('{', parts.collect::<Vec<_>>(), '}', if members.is_empty() { "" } else { " " })
            }
            NewValue::List(items) => {
                ('[', items.iter().map(|item| item.render(syntax, &inside)).collect(), ']', "")
            }
        };
        let plain = matches!(self, NewValue::List(items) if items.iter().all(NewValue::is_plain));
        if layout.one_line || plain || parts.is_empty() {
            return format!("{open}{blank}{}{blank}{close}", parts.join(", "));
        }
        let (eol, lead, between) = (layout.eol, &layout.lead, format!(",{}{}", layout.eol, inside.lead));
        format!("{open}{eol}{}{}{eol}{lead}{close}", inside.lead, parts.join(&between))
    }

    /// YAML's block, as it stands behind `key:`.
    pub(super) fn block(&self, layout: &Layout<'_>) -> String {
        let inside = layout.deeper();
        let (eol, lead) = (layout.eol, &inside.lead);
        match self {
            NewValue::Map(members) if !members.is_empty() => {
                members.iter().map(|one| format!("{eol}{lead}{}", block_member(one, &inside))).collect()
            }
            NewValue::List(items) if items.iter().any(|item| !item.is_plain()) => {
                items.iter().map(|item| format!("{eol}{lead}- {}", item.block_item(&inside))).collect()
            }
            other => format!(" {}", other.in_one_line(Syntax::Yaml)),
        }
    }

    /// The same behind the dash of a list, which stands at `layout.lead`.
    pub(super) fn block_item(&self, layout: &Layout<'_>) -> String {
        let inside = layout.deeper();
        match self {
            NewValue::Map(members) if !members.is_empty() => {
                let parts: Vec<_> = members.iter().map(|one| block_member(one, &inside)).collect();
                parts.join(&format!("{}{}", layout.eol, inside.lead))
            }
            other => other.in_one_line(Syntax::Yaml),
        }
    }

    /// The lines of a TOML table, without its header.
    pub(super) fn table_lines(&self, eol: &str) -> String {
        let NewValue::Map(members) = self else { return String::new() };
        let lines = members.iter().map(|(name, value)| {
            format!("{eol}{}", member(Syntax::Toml, name, &value.in_one_line(Syntax::Toml)))
        });
        lines.collect()
    }
}

/// `layout` is that of the member's key.
pub(super) fn block_member((name, value): &(String, NewValue), layout: &Layout<'_>) -> String {
    format!("{}:{}", key(Syntax::Yaml, name), value.block(layout))
}

fn member(syntax: Syntax, name: &str, value: &str) -> String {
    let between = if syntax == Syntax::Toml { " = " } else { ": " };
    format!("{}{between}{value}", key(syntax, name))
}

/// A key without quotes where every reader takes it for the text that it is.
pub(super) fn key(syntax: Syntax, name: &str) -> String {
    /// Words that some reader of YAML takes for something else than a text.
    const TAKEN: &[&str] = &["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let plain = match syntax {
        Syntax::Json | Syntax::Commented | Syntax::Jsonc => false,
        Syntax::Toml => bare,
        Syntax::Yaml => bare && !TAKEN.contains(&name.to_ascii_lowercase().as_str()),
    };
    if plain { name.to_owned() } else { quote(name) }
}
