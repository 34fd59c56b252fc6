//! Sessions that do what a shim does with a call (judge, take the limits, record), under a clock that is told.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::sync::Arc;
use std::time::Duration;

use callgate_history::History;
use callgate_home::Home;
use callgate_home::clock::{Clock, ManualClock};
use callgate_journal::{
    CallEntry, CallRef, Decision, EndReason, Intent, Journal, NotAdmitted, Outcome, SessionInfo,
};
use callgate_policy::{AsWritten, Call, Circumstances, Judgement, NoRecordings, Policy, RefusalKind, Waived};
use callgate_protocol::json::Raw;

pub(crate) const SERVER: &str = "shop";
/// Where a manual clock starts.
pub(crate) const START_MS: i64 = 1_800_000_000_000;

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) home: Home,
    pub(crate) clock: Arc<ManualClock>,
    sessions: Vec<Session>,
    started: u32,
}

struct Session {
    journal: Journal,
    client: String,
    open: Vec<(CallRef, i64)>,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        callgate_controls::prepare_home(&home).unwrap();
        World { _folder: folder, home, clock: Arc::new(ManualClock::new()), sessions: Vec::new(), started: 0 }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now().wall_ms
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// A new session of a client; its number.
    pub(crate) fn session(&mut self, client: &str) -> usize {
        self.started += 1;
        let journal = self.open(client);
        self.sessions.push(Session { journal, client: client.to_owned(), open: Vec::new() });
        self.sessions.len() - 1
    }

    fn open(&self, client: &str) -> Journal {
        let who = SessionInfo {
            id: format!("s{:05}", self.started).parse().unwrap(),
            server: SERVER.to_owned(),
            client: Some(client.to_owned()),
            command: vec!["server".to_owned()],
            policy_version: None,
            watch_only: false,
            demo: false,
            secrets: Vec::new(),
        };
        Journal::open(&self.home, &who, self.clock.clone()).unwrap()
    }

    /// The client goes and comes again.
    pub(crate) fn restart(&mut self, session: usize) {
        self.started += 1;
        self.sessions[session].journal.end(EndReason::ClientClosed);
        let journal = self.open(&self.sessions[session].client.clone());
        self.sessions[session].journal = journal;
        self.sessions[session].open.clear();
    }

    pub(crate) fn tool(&mut self, session: usize, policy: &Policy, tool: &str, args: &str) -> Decision {
        self.request(session, policy, "tools/call", tool, args)
    }

    /// One request on its way, alone in its group.
    pub(crate) fn request(
        &mut self,
        session: usize,
        policy: &Policy,
        method: &str,
        name: &str,
        args: &str,
    ) -> Decision {
        let now_ms = self.now_ms();
        let Session { journal, client, open } = &mut self.sessions[session];
        let args = Raw::parse(args).unwrap();
        let call = match method {
            "tools/call" => Call::tool(client, name, Some(args)),
            method => Call::method(client, method, Some(args)),
        };
        let refused = CallEntry {
            method,
            tool: name,
            rpc_id: "1",
            args: Some(args),
            client,
            policy: policy.version(),
            ..CallEntry::default()
        };
        let mut batch = journal.batch();
        let circumstances =
            Circumstances { now_ms, files: &AsWritten, recordings: &NoRecordings, waived: Waived::Nothing };
        let decision = match policy.judge(&call, &circumstances) {
            Judgement::Refuse(refusal) => {
                let decision = match refusal.kind {
                    RefusalKind::Denied => Decision::Denied,
                    RefusalKind::Ask | RefusalKind::Unsupported => Decision::Unsupported,
                    RefusalKind::Hidden => Decision::Hidden,
                    RefusalKind::Broken => Decision::Broken,
                };
                let (rule, reason) = (refusal.rule.as_str(), refusal.reason.as_str());
                batch.refuse(CallEntry { decision, rule, reason, keep: refusal.keep, ..refused });
                decision
            }
            Judgement::Pass(pass) => {
                let intent = Intent {
                    method,
                    tool: name,
                    rpc_id: "1",
                    args: Some(args),
                    client,
                    rule: pass.rule,
                    policy: policy.version(),
                    keep: pass.keep,
                    observing: pass.observing,
                    would: pass.would.as_ref().map(|would| (would.rule.as_str(), would.reason.as_str())),
                    spend: None,
                    reason: "",
                    asked: None,
                };
                match batch.admit(intent, &pass.limits, b"x") {
                    Ok(call) => {
                        open.push((call, now_ms));
                        Decision::Allowed
                    }
                    Err(NotAdmitted::Capped(cap)) => {
                        let rule = cap.pointer.as_str();
                        batch.refuse(CallEntry {
                            decision: Decision::Capped,
                            rule,
                            keep: pass.keep,
                            ..refused
                        });
                        Decision::Capped
                    }
                    Err(error) => panic!("{error:?}"),
                }
            }
        };
        assert!(batch.commit().unrecorded.is_empty());
        decision
    }

    /// A row that no rule decided.
    pub(crate) fn left_out(&self, session: usize, decision: Decision) {
        let mut batch = self.sessions[session].journal.batch();
        batch.refuse(CallEntry { decision, method: "tools/call", tool: "x", ..CallEntry::default() });
        batch.commit();
    }

    /// A call that some rule denied.
    pub(crate) fn refused(&self, session: usize, tool: &str, rule: &str) {
        let mut batch = self.sessions[session].journal.batch();
        let decision = Decision::Denied;
        batch.refuse(CallEntry { decision, method: "tools/call", tool, rule, ..CallEntry::default() });
        batch.commit();
    }

    /// The server answers one of the open calls.
    pub(crate) fn answer(&mut self, session: usize, which: usize, outcome: Outcome) {
        let now_ms = self.now_ms();
        let Session { journal, open, .. } = &mut self.sessions[session];
        if open.is_empty() {
            return;
        }
        let (call, at_ms) = open.remove(which % open.len());
        let took = Duration::from_millis((now_ms - at_ms).unsigned_abs());
        let mut settlement = journal.settle();
        settlement.add(&call, outcome, took, None);
        settlement.commit();
    }

    /// The server answers the oldest open call with a text.
    pub(crate) fn say(&mut self, session: usize, text: &str) {
        let Session { journal, open, .. } = &mut self.sessions[session];
        let (call, _) = open.remove(0);
        let mut quoted = Vec::new();
        callgate_protocol::json::write_string(&mut quoted, text);
        let text = String::from_utf8(quoted).unwrap();
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
        let mut settlement = journal.settle();
        settlement.add(&call, Outcome::Ok, Duration::ZERO, Some(Raw::parse(&result).unwrap()));
        settlement.commit();
    }

    pub(crate) fn answer_all(&mut self) {
        for session in 0..self.sessions.len() {
            while !self.sessions[session].open.is_empty() {
                self.answer(session, 0, Outcome::Ok);
            }
        }
    }

    /// Everyone goes; what they did.
    pub(crate) fn history(&mut self) -> History {
        for session in self.sessions.drain(..) {
            session.journal.end(EndReason::ClientClosed);
        }
        History::open_reader(&self.home).unwrap()
    }
}
