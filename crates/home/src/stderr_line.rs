//! One line of a server's stderr as `logs/` keeps it: when it was begun, in which session, and what it says.
//! Lines of an older Callgate have no time and no session.

use jiff::Timestamp;

use crate::id::SessionId;

/// A line, with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StderrLine<'l> {
    /// In milliseconds since 1970, and the session that wrote it.
    pub stamp: Option<(i64, SessionId)>,
    pub text: &'l str,
}

/// What stands before the text, with the blank after it.
pub fn stamp(at_ms: i64, session: SessionId) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{} {session} ", at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
}

impl<'l> StderrLine<'l> {
    /// Reads a line, without its end.
    pub fn read(line: &'l str) -> StderrLine<'l> {
        let stamped = || {
            let (time, rest) = line.split_once(' ')?;
            let (session, text) = rest.split_once(' ')?;
            // A server may write times of its own; only ours are 24 characters, and have a session after them.
            let at: Timestamp = time.parse().ok().filter(|_| time.len() == 24)?;
            Some(StderrLine { stamp: Some((at.as_millisecond(), session.parse().ok()?)), text })
        };
        stamped().unwrap_or(StderrLine { stamp: None, text: line })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn what_is_stamped_reads_back_and_what_is_not_is_text() {
        let session: SessionId = "k3v9qa".parse().unwrap();
        for text in ["listening on stdio", "", " indented", "2026-11-17T22:17:41.123Z own"] {
            let line = format!("{}{text}", stamp(1_794_954_461_007, session));
            let read = StderrLine::read(&line);
            assert_eq!((read.stamp, read.text), (Some((1_794_954_461_007, session)), text));
        }
        for line in
            ["", "plain", "2026-11-17T22:17:41Z k3v9qa x", "2026-11-17T22:17:41.123Z started ok", "a b c"]
        {
            assert_eq!(StderrLine::read(line), StderrLine { stamp: None, text: line });
        }
    }
}
