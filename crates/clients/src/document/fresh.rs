//! Values that are written anew, each in the syntax of its file and in the style of what stands around it.

use super::{Syntax, quote::quote};

/// A value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fresh {
    Text(String),
    /// As it stands: `true`, `300`, `["*"]`. Only what reads alike in every syntax.
    Word(&'static str),
    /// In one line, however much room there is.
    Texts(Vec<String>),
    List(Vec<Fresh>),
    Map(Vec<(String, Fresh)>),
}

/// Where lines of a value begin.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    /// What comes before the line that the value begins in.
    pub(super) lead: String,
    /// What comes before each part of it, in addition.
    pub(super) unit: String,
    pub(super) eol: &'a str,
}

impl Lines<'_> {
    fn deeper(&self) -> Self {
        Lines { lead: format!("{}{}", self.lead, self.unit), ..self.clone() }
    }
}

impl Fresh {
    pub(super) fn in_one_line(&self, syntax: Syntax) -> String {
        match self {
            Fresh::Text(text) => quote(text),
            Fresh::Word(word) => (*word).to_owned(),
            Fresh::Texts(texts) => bracketed(texts.iter().map(|text| quote(text))),
            Fresh::List(items) => bracketed(items.iter().map(|item| item.in_one_line(syntax))),
            Fresh::Map(members) if members.is_empty() => "{}".to_owned(),
            Fresh::Map(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| member(syntax, name, &value.in_one_line(syntax)))
                    .collect();
                format!("{{ {} }}", members.join(", "))
            }
        }
    }

    /// JSON with a line for each part.
    pub(super) fn spread(&self, lines: &Lines<'_>) -> String {
        let inside = lines.deeper();
        let (open, parts, close) = match self {
            Fresh::Map(members) if !members.is_empty() => {
                let parts = members.iter().map(|(name, value)| {
                    format!("{}{}", inside.lead, member(Syntax::Json, name, &value.spread(&inside)))
                });
                ('{', parts.collect::<Vec<_>>(), '}')
            }
            Fresh::List(items) if !items.is_empty() => {
                let parts = items.iter().map(|item| format!("{}{}", inside.lead, item.spread(&inside)));
                ('[', parts.collect(), ']')
            }
            other => return other.in_one_line(Syntax::Json),
        };
        let (eol, lead) = (lines.eol, &lines.lead);
        format!("{open}{eol}{}{eol}{lead}{close}", parts.join(&format!(",{eol}")))
    }

    /// YAML's block, as it stands behind `key:`.
    pub(super) fn block(&self, lines: &Lines<'_>) -> String {
        let inside = lines.deeper();
        let (eol, lead) = (lines.eol, &inside.lead);
        match self {
            Fresh::Map(members) if !members.is_empty() => {
                members.iter().map(|one| format!("{eol}{lead}{}", block_member(one, &inside))).collect()
            }
            Fresh::List(items) if !items.is_empty() => {
                items.iter().map(|item| format!("{eol}{lead}- {}", item.block_item(&inside))).collect()
            }
            other => format!(" {}", other.in_one_line(Syntax::Yaml)),
        }
    }

    /// The same behind the dash of a list, which stands at `lines.lead`.
    pub(super) fn block_item(&self, lines: &Lines<'_>) -> String {
        let inside = lines.deeper();
        match self {
            Fresh::Map(members) if !members.is_empty() => {
                let parts: Vec<_> = members.iter().map(|one| block_member(one, &inside)).collect();
                parts.join(&format!("{}{}", lines.eol, inside.lead))
            }
            other => other.in_one_line(Syntax::Yaml),
        }
    }

    /// The lines of a TOML table, without its header.
    pub(super) fn table_lines(&self, eol: &str) -> String {
        let Fresh::Map(members) = self else { return String::new() };
        let lines = members.iter().map(|(name, value)| {
            format!("{eol}{}", member(Syntax::Toml, name, &value.in_one_line(Syntax::Toml)))
        });
        lines.collect()
    }
}

fn bracketed(parts: impl Iterator<Item = String>) -> String {
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}

/// `lines` are those that the member's key stands in.
pub(super) fn block_member((name, value): &(String, Fresh), lines: &Lines<'_>) -> String {
    format!("{}:{}", key(Syntax::Yaml, name), value.block(lines))
}

pub(super) fn member(syntax: Syntax, name: &str, value: &str) -> String {
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
