//! What should not be in a tool's definition: characters nobody sees, words meant for the model and not for a reader.
//!
//! Each finding has a code that stays, the place it stands at, the piece itself with hidden characters spelled out, and a sentence.

mod blobs;
mod characters;
mod names;
mod phrases;

use serde::Serialize;
use serde_json::Value;

use crate::definition::ToolDefinition;
use crate::words::cut;

/// One thing that should not be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScanFinding {
    /// Stable: `hidden-from-user`, `tag-characters` …
    pub code: &'static str,
    /// `name`, `description`, or a JSON pointer below `inputSchema` or `annotations`.
    pub place: String,
    /// The piece, with what cannot be seen spelled out.
    pub quote: String,
    pub explanation: &'static str,
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

/// Everything that the scan has to say of one definition, in the order of its texts.
pub fn scan(tool: &ToolDefinition<'_>) -> Vec<ScanFinding> {
    let mut texts = vec![Text { place: "name".to_owned(), text: tool.name, is_name: true }];
    for (place, text) in [("title", tool.title), ("description", tool.description)] {
        if !text.is_empty() {
            texts.push(Text { place: place.to_owned(), text, is_name: false });
        }
    }
    for (place, value) in [("inputSchema", tool.input_schema), ("annotations", tool.annotations)] {
        if let Some(value) = value {
            collect(value, place, 0, &mut texts);
        }
    }
    let mut findings = Vec::new();
    for text in &texts {
        let read = Text { place: text.place.clone(), text: cut(text.text, LONGEST), is_name: text.is_name };
        characters::scan(&read, &mut findings);
        if read.is_name {
            names::scan(&read, &mut findings);
        } else {
            phrases::scan(&read, tool, &mut findings);
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
