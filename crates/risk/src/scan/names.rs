//! Names that look like others.

use super::{ScanFinding, Text, finding};

pub(super) fn scan(text: &Text<'_>, findings: &mut Vec<ScanFinding>) {
    let name = text.text;
    if name.is_ascii() {
        if is_carrier(name) {
            findings.push(finding(
                "exfiltration-argument",
                text,
                name,
                "An argument that asks the agent for what it was told or thinks, which no tool needs.",
            ));
        }
        return;
    }
    let has_latin = name.chars().any(|letter| letter.is_ascii_alphabetic());
    if has_latin && name.chars().any(is_look_alike) {
        findings.push(finding(
            "look-alike-name",
            text,
            name,
            "Letters of another script that look like Latin ones: the name can be taken for another.",
        ));
    }
}

/// Cyrillic, Greek, Armenian, full-width and mathematical letters beside Latin ones.
fn is_look_alike(letter: char) -> bool {
    matches!(letter, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{530}'..='\u{58f}' | '\u{ff21}'..='\u{ff5a}'
        | '\u{1d400}'..='\u{1d7ff}' | '\u{13a0}'..='\u{13f5}' | '\u{2c80}'..='\u{2cff}' | '\u{250}'..='\u{2af}')
}

/// Names of arguments that ask for the conversation itself.
fn is_carrier(name: &str) -> bool {
    let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    matches!(
        name.as_str(),
        "conversationhistory"
            | "fullconversation"
            | "chathistorydump"
            | "sidecar"
            | "sidenote"
            | "chainofthought"
            | "allpreviousmessages"
            | "entireconversation"
            | "toolcallhistory"
    )
}
