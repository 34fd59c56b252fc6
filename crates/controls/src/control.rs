//! What a person asks of one running session's server: `control/session-<session>.json`; and which of its calls are to be
//! cancelled: `control/session-<session>.cancel.json`, beside it, so that neither request takes the other's place.
//!
//! The file holds the last request, numbered. Its content at this moment counts: a session that finds another number than
//! the one it dealt with last does what it says. It speaks of one session, so a session that starts later is not affected,
//! and it goes with its session.

use std::io;

use serde::{Deserialize, Serialize};

use callgate_home::{CallId, Home, SessionId, atomic, lock_file, read_private};

/// What is to be done with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerCommand {
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
    pub wish: ServerCommand,
    pub at_ms: i64,
}

/// The last request to a session. One that cannot be read asks for nothing: no server is started or ended by a broken file.
pub fn read(home: &Home, session: SessionId) -> Option<Request> {
    serde_json::from_str(&read_private(&home.requests(session)).ok()?).ok()
}

/// Asks something of a session's server.
pub fn ask(home: &Home, session: SessionId, wish: ServerCommand, at_ms: i64) -> io::Result<Request> {
    let _alone = lock_file(&home.requests_lock())?;
    let turn = read(home, session).map_or(0, |last| last.turn) + 1;
    let request = Request { turn, wish, at_ms };
    let text = serde_json::to_vec(&request).map_err(io::Error::other)?;
    atomic::replace(&home.requests(session), &text)?;
    Ok(request)
}

/// Calls that a file of cancellations names at most: the newest.
const MOST: usize = 256;

/// The calls of a session that are to be cancelled, by their numbers. A file that cannot be read cancels nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancellations {
    calls: Vec<u64>,
}

/// Which calls of this session are to be cancelled, the newest request last.
pub fn cancellations(home: &Home, session: SessionId) -> Vec<CallId> {
    let named = read_cancellations(home, session).calls;
    named.into_iter().map(|seq| session.call(seq)).collect()
}

fn read_cancellations(home: &Home, session: SessionId) -> Cancellations {
    let text = read_private(&home.cancellations(session)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Asks that a call be cancelled. Asking twice changes nothing more.
pub fn cancel(home: &Home, call: CallId) -> io::Result<()> {
    let _alone = lock_file(&home.requests_lock())?;
    let mut named = read_cancellations(home, call.session);
    if !named.calls.contains(&call.seq) {
        named.calls.push(call.seq);
        let old = named.calls.len().saturating_sub(MOST);
        named.calls.drain(..old);
        let text = serde_json::to_vec(&named).map_err(io::Error::other)?;
        atomic::replace(&home.cancellations(call.session), &text)?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_last_request_counts_and_each_has_a_number_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        crate::prepare_home(&home).unwrap();
        let (one, other) = (SessionId::random(), SessionId::random());
        assert_eq!(read(&home, one), None);
        ask(&home, one, ServerCommand::Stop, 1).unwrap();
        ask(&home, one, ServerCommand::Start, 2).unwrap();
        assert_eq!(read(&home, one), Some(Request { turn: 2, wish: ServerCommand::Start, at_ms: 2 }));
        assert_eq!(read(&home, other), None);
        atomic::replace(&home.requests(one), b"{").unwrap();
        assert_eq!(read(&home, one), None, "a broken file asks for nothing");
    }

    #[test]
    fn a_cancellation_takes_no_other_requests_place_and_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        crate::prepare_home(&home).unwrap();
        let session = SessionId::random();
        ask(&home, session, ServerCommand::Stop, 1).unwrap();
        for seq in [4, 7, 4] {
            cancel(&home, session.call(seq)).unwrap();
        }
        assert_eq!(cancellations(&home, session), [session.call(4), session.call(7)]);
        assert_eq!(read(&home, session).unwrap().wish, ServerCommand::Stop);
        assert!(cancellations(&home, SessionId::random()).is_empty());
        (0..600).for_each(|seq| cancel(&home, session.call(seq)).unwrap());
        assert_eq!(cancellations(&home, session).len(), MOST);
        atomic::replace(&home.cancellations(session), b"{").unwrap();
        assert!(cancellations(&home, session).is_empty(), "a broken file cancels nothing");
    }
}
