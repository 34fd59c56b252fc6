//! What the fake server is told to do, as text: which bytes to send, hold back or die with, upon which question.
//!
//! ```text
//! on tools/list 1          the first tools/list (no number: every one)
//! send {"jsonrpc":…}       a line; $id stands for the id that was asked with
//! raw  half a line         the same without a line end
//! exit 3 | abort           ends there
//! hold                     keep the ordinary answer back until a later rule says `release`
//! answer                   the ordinary answer, here
//! close                    closes its output and lives on
//! stderr text              a line on its error output
//! ```
//! `on start` and `on eof` are moments of their own.

use crate::notation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Send(Vec<u8>),
    Exit(i32),
    /// Killed by its own hand, as by `kill -9`.
    Abort,
    Hold,
    Release,
    Answer,
    /// Closes its output and lives on.
    CloseOutput,
    Stderr(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A tool's name for `tools/call`, else the method.
    pub on: String,
    pub nth: Option<usize>,
    pub acts: Vec<Act>,
}

/// The script of a fake server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(pub Vec<Rule>);

impl Script {
    pub fn parse(text: &str) -> Script {
        let mut rules: Vec<Rule> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let act = match word {
                "on" => {
                    let mut parts = rest.split(' ');
                    let on = parts.next().unwrap_or_default().to_owned();
                    rules.push(Rule { on, nth: parts.next().and_then(|n| n.parse().ok()), acts: Vec::new() });
                    continue;
                }
                "send" => Act::Send([notation::bytes(rest), b"\n".to_vec()].concat()),
                "raw" => Act::Send(notation::bytes(rest)),
                "exit" => Act::Exit(rest.parse().unwrap_or(1)),
                "abort" => Act::Abort,
                "hold" => Act::Hold,
                "release" => Act::Release,
                "answer" => Act::Answer,
                "close" => Act::CloseOutput,
                "stderr" => Act::Stderr([rest.as_bytes(), b"\n"].concat()),
                other => panic!("script: unknown word {other:?}"),
            };
            match rules.last_mut() {
                Some(rule) => rule.acts.push(act),
                None => panic!("script: {line:?} stands before any `on`"),
            }
        }
        Script(rules)
    }

    /// What to do on the `nth` (from 1) occurrence of `on`; `None`: the ordinary thing.
    pub fn acts(&self, on: &str, nth: usize) -> Option<&[Act]> {
        let fits = |rule: &&Rule| rule.on == on && rule.nth.is_none_or(|n| n == nth);
        self.0.iter().find(fits).map(|rule| rule.acts.as_slice())
    }
}
