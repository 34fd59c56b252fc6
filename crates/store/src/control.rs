//! What a person asks of one running session's server: `control/session-<session>.json`.
//!
//! The file holds the last request, numbered. Its content at this moment counts: a session that finds another number than
//! the one it dealt with last does what it says. It speaks of one session, so a session that starts later is not affected,
//! and it goes with its session.

use std::io;

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::home::{Home, lock_file, read_private};
use crate::id::SessionId;

/// What is to be done with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// End its processes; calls are refused until it is started.
    Stop,
    /// Start it if it does not run.
    Start,
    /// End its processes and start it again.
    Restart,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Counts the requests to this session.
    pub turn: u64,
    pub wish: Wish,
    pub at_ms: i64,
}

/// The last request to a session. One that cannot be read asks for nothing: no server is started or ended by a broken file.
pub fn read(home: &Home, session: SessionId) -> Option<Request> {
    serde_json::from_str(&read_private(&home.requests(session)).ok()?).ok()
}

/// Asks something of a session's server.
pub fn ask(home: &Home, session: SessionId, wish: Wish, at_ms: i64) -> io::Result<Request> {
    let _alone = lock_file(&home.requests_lock())?;
    let turn = read(home, session).map_or(0, |last| last.turn) + 1;
    let request = Request { turn, wish, at_ms };
    let text = serde_json::to_vec(&request).map_err(io::Error::other)?;
    atomic::replace(&home.requests(session), &text)?;
    Ok(request)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_counts_and_each_has_a_number_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
        let (one, other) = (SessionId::random(), SessionId::random());
        assert_eq!(read(&home, one), None);
        ask(&home, one, Wish::Stop, 1).unwrap();
        ask(&home, one, Wish::Start, 2).unwrap();
        assert_eq!(read(&home, one), Some(Request { turn: 2, wish: Wish::Start, at_ms: 2 }));
        assert_eq!(read(&home, other), None);
        atomic::replace(&home.requests(one), b"{").unwrap();
        assert_eq!(read(&home, one), None, "a broken file asks for nothing");
    }
}
