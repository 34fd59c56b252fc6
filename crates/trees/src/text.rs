//! Command lines as they may be written down and shown.
//!
//! A server's secrets can be anywhere in a command line of its tree, in any shape, and only the session's own shim knows them.
//! What it wrote down is shown by everybody; of a process that it has not seen, only the program is.

use std::collections::HashMap;

use callgate_home::Home;
use callgate_redaction::Masker;
use callgate_supervise::ProcessId;

use crate::record::{Here, Record, records};

/// The longest command line that is kept.
const COMMAND: usize = 1_024;

/// What is on record of the processes that run here, of living sessions and of dead ones.
#[derive(Debug, Default)]
pub struct Texts(HashMap<ProcessId, String>);

impl Texts {
    pub fn read(home: &Home, here: &Here) -> Texts {
        let ours: Vec<Record> = records(home).into_iter().filter(|record| record.is_of(here)).collect();
        Texts::of(&ours)
    }

    pub(crate) fn of(records: &[Record]) -> Texts {
        let members = records.iter().flat_map(|record| &record.members);
        Texts(members.map(|member| (member.id(), member.command.clone())).collect())
    }

    /// A process of a session, by its present command line.
    pub fn shown(&self, id: Option<ProcessId>, arguments: &[String], name: &str) -> String {
        let brief = brief(arguments, name);
        match id.and_then(|id| self.0.get(&id)) {
            Some(known) if arguments.is_empty() || is_same_program(known, &brief) => known.clone(),
            _ => brief,
        }
    }
}

/// With its arguments, as far as they are no secrets.
pub(crate) fn full(arguments: &[String], name: &str, masker: &Masker) -> String {
    cut(masker.command(arguments).join(" "), name)
}

/// The program alone.
pub(crate) fn brief(arguments: &[String], name: &str) -> String {
    let text = match arguments {
        [] => String::new(),
        // A process that wrote its command line anew has it in one piece.
        [line] => match line.split_once(' ') {
            Some((program, _)) => format!("{program} …"),
            None => line.clone(),
        },
        [program, ..] => format!("{program} …"),
    };
    cut(text, name)
}

/// Do two texts of one process begin with the same program? It may have become another between two looks.
pub(crate) fn is_same_program(one: &str, other: &str) -> bool {
    one.split(' ').next() == other.split(' ').next()
}

fn cut(mut text: String, name: &str) -> String {
    if text.is_empty() {
        text = format!("[{name}]");
    }
    text.truncate(text.floor_char_boundary(COMMAND));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_secrets_only_the_program_is_told() {
        for (line, wanted) in [
            ("", "[x]"),
            ("/usr/bin/node", "/usr/bin/node"),
            ("/usr/bin/node|server.js|--dsn|hunter2", "/usr/bin/node …"),
            ("npm exec server hunter2", "npm …"),
            ("/opt/Google Chrome|--headless", "/opt/Google Chrome …"),
        ] {
            let arguments: Vec<String> =
                if line.is_empty() { Vec::new() } else { line.split('|').map(str::to_owned).collect() };
            assert_eq!(brief(&arguments, "x"), wanted, "{line}");
        }
    }
}
