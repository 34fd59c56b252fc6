//! Tracker of the server's codegen sessions, followed while its calls pass: what rules about them ask, and what an agent hears
//! that names a session which its server lost.
//!
//! What this server process holds is known here. Earlier ones are looked up in the history, and only for calls that name
//! a session which is not known here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use callgate_codegen::{
    CallOutcome, Follower, Gone, RetainedText, Sent, Session, Settled, State, Verb, session_named,
};
use callgate_codegen_history::{CodegenSession, OnRecord, recording};
use callgate_home::clock::wall_ms;
use callgate_home::{Home, lease};
use callgate_journal::CallRef;
use callgate_policy::{Recording, Recordings};
use callgate_protocol::json::Raw;
use callgate_protocol::message::Outcome as Reply;
use jiff::{Timestamp, tz::TimeZone};
use rustc_hash::FxHashMap;

#[derive(Debug)]
pub(crate) struct CodegenTracker {
    home: Home,
    server: String,
    /// One of the four was called. Most servers have none of them, and every call asks this.
    used: AtomicBool,
    tracked: Mutex<TrackedSessions>,
}

#[derive(Debug)]
struct TrackedSessions {
    follower: Follower,
    /// Calls under way that name a session, by their numbers: the client that made it, and the session.
    naming: FxHashMap<u64, (String, String)>,
    /// When servers took the place of those before them.
    returns: Vec<i64>,
    /// A session that was recording when the server went. Nobody has been told yet.
    untold: Option<Lost>,
}

/// What there is to say of a session that went with its server.
#[derive(Debug)]
struct Lost {
    at_ms: i64,
    id: Option<String>,
    recorded: usize,
}

impl TrackedSessions {
    /// When another server took the place of one that went at this time.
    fn returned(&self, gone_ms: i64) -> Option<i64> {
        self.returns.iter().copied().find(|back_ms| *back_ms >= gone_ms)
    }
}

impl CodegenTracker {
    pub(crate) fn new(home: Home, server: &str) -> CodegenTracker {
        let tracked = TrackedSessions {
            follower: Follower::counting(),
            naming: FxHashMap::default(),
            returns: Vec::new(),
            untold: None,
        };
        CodegenTracker {
            home,
            server: server.to_owned(),
            used: AtomicBool::new(false),
            tracked: Mutex::new(tracked),
        }
    }

    fn tracked(&self) -> MutexGuard<'_, TrackedSessions> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of a tool that would have been recorded in a session that its server no longer has: what its client hears
    /// instead, once. Done as if nothing had happened, it would be in no recording, in a browser that shows nothing.
    pub(crate) fn lost_before(&self, tool: &str) -> Option<String> {
        if !self.used.load(Ordering::Relaxed) || !Follower::records(tool) {
            return None;
        }
        let mut tracked = self.tracked();
        // Without a server it is not the time to speak of it.
        let back_ms = tracked.returned(tracked.untold.as_ref()?.at_ms)?;
        let Lost { id, recorded, .. } = tracked.untold.take()?;
        Some(Gone::Restarted.words(&clock_time(back_ms), id.as_deref(), recorded))
    }

    /// A call of a tool is about to go to the server.
    pub(crate) fn sent(&self, call: &CallRef, client: &str, tool: &str, args: Option<Raw<'_>>) {
        let verb = Verb::of(tool);
        if verb.is_none() && !self.used.load(Ordering::Relaxed) {
            return;
        }
        self.used.store(true, Ordering::Relaxed);
        let mut tracked = self.tracked();
        if verb == Some(Verb::Start) {
            // Whoever starts a new one need not be told to.
            tracked.untold = None;
        }
        let call = call.id().seq;
        // Of other calls only the number counts here.
        let kept = args
            .filter(|_| verb.is_some())
            .map_or(RetainedText::Absent, |args| RetainedText::Whole(args.text()));
        tracked.follower.sent(&Sent { call, at_ms: wall_ms(), client, tool, args: kept });
        if matches!(verb, Some(Verb::End | Verb::Get | Verb::Clear))
            && let Some(id) = args.and_then(session_named)
        {
            tracked.naming.insert(call, (client.to_owned(), id.into_owned()));
        }
    }

    /// The server answered. Returns what the client hears instead, if it named a session that was lost.
    pub(crate) fn answered(&self, call: &CallRef, reply: Reply<'_>) -> Option<String> {
        if !self.used.load(Ordering::Relaxed) {
            return None;
        }
        let (outcome, result) = match reply {
            Reply::Result(result) if result.get("isError").and_then(Raw::as_bool) == Some(true) => {
                (CallOutcome::Failed, RetainedText::Absent)
            }
            Reply::Result(result) => (CallOutcome::Done, RetainedText::Whole(result.text())),
            Reply::Error(_) => (CallOutcome::Failed, RetainedText::Absent),
        };
        let call = call.id().seq;
        let mut tracked = self.tracked();
        tracked.follower.settled(&Settled { call, at_ms: wall_ms(), outcome, result });
        let (client, id) = tracked.naming.remove(&call).filter(|_| outcome == CallOutcome::Failed)?;
        if let Some(session) = tracked.follower.session(&id) {
            let State::Lost { at_ms } = session.state else { return None };
            let recorded = session.recorded;
            let back_ms = tracked.returned(at_ms).unwrap_or(at_ms);
            tracked.untold = None;
            return Some(Gone::Restarted.words(&clock_time(back_ms), Some(&id), recorded));
        }
        drop(tracked);
        // Without a history nothing can be said about it, and the server's own words do.
        let earlier = self.earlier().find(&client, &id).ok().flatten()?;
        let at_ms = self.lost_at(&earlier)?;
        Some(Gone::Ended.words(&clock_time(at_ms), Some(&id), earlier.session.recorded))
    }

    /// It did not get to the server after all.
    pub(crate) fn dropped(&self, call: &CallRef) {
        if self.used.load(Ordering::Relaxed) {
            let (call, mut tracked) = (call.id().seq, self.tracked());
            tracked.naming.remove(&call);
            tracked.follower.never_sent(call);
        }
    }

    /// Nobody waits for its answer any more, which may never come.
    pub(crate) fn given_up(&self, call: &CallRef) {
        if self.used.load(Ordering::Relaxed) {
            let (call, mut tracked) = (call.id().seq, self.tracked());
            tracked.naming.remove(&call);
            tracked.follower.given_up(call);
        }
    }

    /// The server went away: its sessions are lost, and another process in its place does not have them.
    pub(crate) fn server_gone(&self, at_ms: i64) {
        if self.used.load(Ordering::Relaxed) {
            let mut tracked = self.tracked();
            let recording = tracked.follower.recording();
            let lost = |session: &Session| Lost { at_ms, id: session.id.clone(), recorded: session.recorded };
            let lost = recording.map(lost);
            tracked.untold = lost.or(tracked.untold.take());
            tracked.follower.server_gone(at_ms);
            tracked.naming.clear();
        }
    }

    /// Another server process is in its place.
    pub(crate) fn server_back(&self, at_ms: i64) {
        if self.used.load(Ordering::Relaxed) {
            self.tracked().returns.push(at_ms);
        }
    }

    /// Does the server hold a session that would be lost with it?
    pub(crate) fn has_open(&self) -> bool {
        self.used.load(Ordering::Relaxed) && self.tracked().follower.open().next().is_some()
    }

    /// Those of earlier sessions of the gate.
    fn earlier(&self) -> OnRecord<'_> {
        OnRecord::new(&self.home, &self.server, wall_ms())
    }

    /// When its server went away with it. A session of the gate that is over without a word was killed: then the last
    /// that is known of it has to do.
    fn lost_at(&self, earlier: &CodegenSession) -> Option<i64> {
        match earlier.session.state {
            State::Lost { at_ms } => Some(at_ms),
            State::Open | State::Starting if !lease::is_live(&self.home, earlier.gate()) => {
                let last = earlier.session.actions.last();
                Some(last.map_or(earlier.session.started_ms, |action| action.at_ms))
            }
            _ => None,
        }
    }
}

impl Recordings for CodegenTracker {
    fn open(&self) -> Result<Option<Recording>, String> {
        Ok(self.tracked().follower.open().last().map(recording))
    }

    fn started_by(&self, client: &str, id: &str) -> Result<Option<Recording>, String> {
        // All that this process was asked for came from the one client that it is here for.
        if let Some(session) = self.tracked().follower.session(id) {
            return Ok(Some(recording(session)));
        }
        self.earlier().started_by(client, id)
    }
}

/// As the person's own clock shows it; with the day, if that is another one.
fn clock_time(at_ms: i64) -> String {
    let local = |ms: i64| {
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system())
    };
    let (then, now) = (local(at_ms), local(wall_ms()));
    let same_day = then.date() == now.date();
    then.strftime(if same_day { "%H:%M" } else { "%Y-%m-%d %H:%M" }).to_string()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::sync::Arc;

    use callgate_home::SessionId;
    use callgate_home::clock::SystemClock;
    use callgate_journal::{Intent, Journal, SessionInfo};
    use callgate_policy::Keep;

    use super::*;

    struct Fixture {
        _folder: tempfile::TempDir,
        journal: Journal,
        codegen: CodegenTracker,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let info = SessionInfo {
            id: SessionId::random(),
            server: "s".to_owned(),
            client: Some("c".to_owned()),
            command: vec!["x".to_owned()],
            policy_version: None,
            watch_only: false,
            demo: false,
            secrets: Vec::new(),
        };
        let journal = Journal::open(&home, &info, Arc::new(SystemClock::default())).unwrap();
        Fixture { _folder: folder, journal, codegen: CodegenTracker::new(home, "s") }
    }

    impl Fixture {
        fn sent(&self, tool: &str, args: &str) -> CallRef {
            let args = Raw::parse(args).unwrap();
            let mut batch = self.journal.batch();
            let intent = Intent {
                method: "tools/call",
                tool,
                rpc_id: "1",
                args: Some(args),
                client: "c",
                rule: "/default",
                policy: "v",
                keep: Keep::Full,
                observing: false,
                would: None,
                spend: None,
                reason: "",
                asked: None,
            };
            let call = batch.admit(intent, &[], b"line").unwrap();
            batch.commit();
            self.codegen.sent(&call, "c", tool, Some(args));
            call
        }

        fn answered(&self, call: &CallRef, text: &str, error: bool) -> Option<String> {
            let text = serde_json::Value::from(text);
            let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":{error}}}"#);
            self.codegen.answered(call, Reply::Result(Raw::parse(&result).unwrap()))
        }
    }

    #[test]
    fn a_session_of_the_server_before_a_restart_is_told_as_lost() {
        let fixture = fixture();
        let start = fixture.sent("start_codegen_session", "{}");
        assert_eq!(fixture.answered(&start, r#"{"sessionId":"A"}"#, false), None);
        for _ in 0..12 {
            fixture.sent("playwright_click", "{}");
        }
        let recording = Recording { id: Some("A".to_owned()), actions: 12, open: true };
        assert_eq!(fixture.codegen.open(), Ok(Some(recording)));
        fixture.codegen.server_gone(0);
        assert_eq!(fixture.codegen.open(), Ok(None));
        let back_ms = wall_ms();
        fixture.codegen.server_back(back_ms);
        fixture.codegen.server_back(back_ms + 3_600_000);
        let named = r#"{"sessionId":"A"}"#;
        let end = fixture.sent("end_codegen_session", named);
        let words = fixture.answered(&end, "Session A not found", true).unwrap();
        let began = format!("server restarted at {};", clock_time(back_ms));
        assert!(words.starts_with(&began), "when the next one came: {words}");
        assert!(
            words.ends_with("; session A with 12 actions is saved in Callgate; start a new one"),
            "{words}"
        );
        // A server that has it all the same is believed.
        let end = fixture.sent("end_codegen_session", named);
        assert_eq!(fixture.answered(&end, "{}", false), None);
    }

    #[test]
    fn an_action_that_would_go_into_a_lost_session_hears_of_it_once() {
        let (fixture, clock) = (fixture(), std::cell::Cell::new(0));
        let lose = || {
            let start = fixture.sent("start_codegen_session", "{}");
            fixture.answered(&start, r#"{"sessionId":"A"}"#, false);
            fixture.sent("playwright_click", "{}");
            let gone_ms = clock.get() + 1;
            clock.set(gone_ms + 1);
            fixture.codegen.server_gone(gone_ms);
            assert_eq!(fixture.codegen.lost_before("playwright_click"), None, "there is no server yet");
            fixture.codegen.server_back(clock.get());
        };
        lose();
        assert_eq!(fixture.codegen.lost_before("playwright_close"), None, "it is not recorded");
        let get = fixture.sent("get_codegen_session", "{}");
        fixture.codegen.dropped(&get);
        assert_eq!(fixture.codegen.lost_before("get_codegen_session"), None, "its answer tells");
        let words = fixture.codegen.lost_before("playwright_click").unwrap();
        assert!(
            words.ends_with("; session A with 1 action is saved in Callgate; start a new one"),
            "{words}"
        );
        assert_eq!(fixture.codegen.lost_before("playwright_click"), None, "once");
        lose();
        fixture.sent("start_codegen_session", "{}");
        assert_eq!(fixture.codegen.lost_before("playwright_click"), None, "the next one has begun");
    }

    #[test]
    fn a_start_that_did_not_get_to_the_server_opens_nothing() {
        let fixture = fixture();
        let start = fixture.sent("start_codegen_session", "{}");
        assert!(fixture.codegen.open().unwrap().is_some(), "it counts before it is answered");
        fixture.codegen.dropped(&start);
        assert_eq!(fixture.codegen.open(), Ok(None));
        let start = fixture.sent("start_codegen_session", "{}");
        fixture.answered(&start, "cannot make the folder", true);
        assert_eq!(fixture.codegen.open(), Ok(None));
    }

    #[test]
    fn servers_without_codegen_sessions_are_not_followed() {
        let fixture = fixture();
        let call = fixture.sent("read_file", r#"{"sessionId":"A"}"#);
        assert_eq!(fixture.answered(&call, "no", true), None);
        assert!(!fixture.codegen.used.load(Ordering::Relaxed));
        assert_eq!(fixture.codegen.started_by("c", "A"), Ok(None));
    }
}
