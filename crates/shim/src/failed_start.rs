//! Failed start, a session that cannot begin: its client hears why, from the first request on.

use std::io::{Read, Write};

use callgate_protocol::NextStep;
use callgate_protocol::message::{Body, Incoming, Side, read};

use crate::line_reader::{Chunk, LineReader};
use crate::wording::{self, Expects};

/// Answers every request with the reason until the client leaves. Takes no more than it is given: there may be no more.
pub(crate) fn refuse_all(from: impl Read, mut to: impl Write, reason: &str) {
    let mut lines = LineReader::with_max(from, 1 << 20);
    loop {
        let whole = match lines.next() {
            Ok(Chunk::Lines(whole)) => whole,
            Ok(Chunk::TooLong { .. }) => continue,
            Ok(Chunk::End) | Err(_) => return,
        };
        for line in whole.split(|byte| *byte == b'\n') {
            let Incoming::One(message) = read(Side::Client, line) else { continue };
            let Body::Request { id, method, .. } = &message.body else { continue };
            let next = NextStep::TellUser;
            let mut answer =
                wording::unanswered(Expects::for_method(method), &id.as_key(), reason, &next, None);
            answer.push(b'\n');
            if to.write_all(&answer).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_is_told_once_and_nothing_else_is_answered() {
        let said = concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\nnoise\n",
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#,
            "\n"
        );
        let mut heard = Vec::new();
        refuse_all(said.as_bytes(), &mut heard, "no");
        let heard = String::from_utf8_lossy(&heard).into_owned();
        let lines: Vec<&str> = heard.lines().collect();
        assert_eq!(lines.len(), 2, "{heard}");
        assert!(lines[0].contains(r#""id":0"#) && lines[0].contains("Callgate: no"), "{heard}");
        assert!(lines[1].contains(r#""id":"a""#) && lines[1].contains(r#""isError":true"#), "{heard}");
    }
}
