//! What should not be in a tool's definition, a prompt or a server's instructions: characters nobody sees, words meant for the
//! model and not for a reader, names that are taken for others.
//!
//! Each finding has a code that stays, the place it stands at, the piece itself with hidden characters spelled out, and a sentence.

mod blobs;
mod characters;
mod html;
mod names;
mod others;
mod phrases;

use serde::Serialize;
use serde_json::Value;

use crate::words::cut;

pub use others::ToolNames;

/// One thing that should not be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScanFinding {
    /// Stable: `hidden-from-user`, `tag-characters` …
    pub code: &'static str,
    /// `name`, `description`, or a JSON pointer below another member of the entry.
    pub place: String,
    /// The piece, with what cannot be seen spelled out.
    pub quote: String,
    pub explanation: &'static str,
}

/// Where a definition was met.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanContext<'a> {
    pub server: &'a str,
    /// The server is one of the catalogue, by what was installed.
    pub is_known: bool,
    /// The tools of all servers that are known here, its own among them or not.
    pub names: Option<&'a ToolNames>,
}

/// A text of a definition and where it stands.
struct Text<'a> {
    place: String,
    text: &'a str,
    is_name: bool,
}

const MOST_TEXTS: usize = 2_000;
const LONGEST: usize = 100_000;
const DEEPEST: usize = 24;
const QUOTE: usize = 160;

/// Everything that the scan has to say of one tool or prompt: of every text of its entry, whatever the member is called.
pub fn scan(name: &str, entry: &Value, context: &ScanContext<'_>) -> Vec<ScanFinding> {
    let mut texts = vec![Text { place: "name".to_owned(), text: name, is_name: true }];
    if let Value::Object(members) = entry {
        // What is read first is told first.
        let first = ["title", "description"];
        let of_first = first.iter().filter_map(|key| Some((*key, members.get(*key)?)));
        let rest = members.iter().map(|(key, member)| (key.as_str(), member));
        let rest =
            rest.filter(|(key, _)| !first.contains(key) && !matches!(*key, "name" | "tool" | "server"));
        for (key, member) in of_first.chain(rest) {
            add_key(key, key, &mut texts);
            collect(member, key, 1, &mut texts);
        }
    }
    let mut findings = scan_texts(&texts);
    if let Some(names) = context.names {
        others::scan(name, entry, context, names, &mut findings);
    }
    findings
}

/// The same of a text that stands alone: what a server tells clients to do with it.
pub fn scan_text(place: &str, text: &str) -> Vec<ScanFinding> {
    scan_texts(&[Text { place: place.to_owned(), text, is_name: false }])
}

fn scan_texts(texts: &[Text<'_>]) -> Vec<ScanFinding> {
    let mut findings = Vec::new();
    for text in texts {
        let read = Text { place: text.place.clone(), text: cut(text.text, LONGEST), is_name: text.is_name };
        characters::scan(&read, &mut findings);
        if read.is_name {
            names::scan(&read, &mut findings);
        } else {
            phrases::scan(&read, &mut findings);
            html::scan(&read, &mut findings);
            blobs::scan(&read, &mut findings);
        }
    }
    findings
}

fn collect<'a>(value: &'a Value, place: &str, depth: usize, texts: &mut Vec<Text<'a>>) {
    if depth > DEEPEST || texts.len() > MOST_TEXTS {
        return;
    }
    match value {
        Value::String(text) => texts.push(Text { place: place.to_owned(), text, is_name: false }),
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                collect(item, &format!("{place}/{nth}"), depth + 1, texts);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let at = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                if place.ends_with("/properties") {
                    texts.push(Text { place: at.clone(), text: key, is_name: true });
                } else {
                    add_key(key, &at, texts);
                }
                // A pattern is a pattern, and no text for anybody.
                if key != "pattern" && key != "$schema" {
                    collect(member, &at, depth + 1, texts);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A member's name that is a sentence is read as one.
fn add_key<'a>(key: &'a str, place: &str, texts: &mut Vec<Text<'a>>) {
    if key.len() > 12 && key.contains(' ') || !key.is_ascii() {
        texts.push(Text { place: place.to_owned(), text: key, is_name: false });
    }
}

fn finding(code: &'static str, text: &Text<'_>, quote: &str, explanation: &'static str) -> ScanFinding {
    ScanFinding { code, place: text.place.clone(), quote: spelled_out(cut(quote, QUOTE)), explanation }
}

/// Characters that cannot be seen, or that turn the line about, as their numbers.
fn spelled_out(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if characters::is_hidden(letter) || (letter.is_control() && letter != '\n' && letter != '\t') {
            shown.push_str(&format!("<U+{:04X}>", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    shown
}
