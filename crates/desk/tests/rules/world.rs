//! A home with a clock that is told, and sessions that record calls as a shim does.

use std::sync::Arc;
use std::time::Duration;

use callgate_controls::catalogue;
use callgate_desk::Desk;
use callgate_home::clock::{Clock, ManualClock};
use callgate_home::{Home, atomic};
use callgate_journal::{
    CallEntry, Decision, EndReason, Intent, Journal, NotAdmitted, Origin, Outcome, SessionInfo,
};
use callgate_policy::{AsWritten, Call, Circumstances, Judgement, NoRecordings, Policy, RefusalKind, Waived};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;

pub(crate) const SERVER: &str = "shop";

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) home: Home,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) desk: Desk,
    started: u32,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let clock = Arc::new(ManualClock::new());
        let desk = Desk::new(home.clone(), clock.clone(), Origin::Window);
        World { _folder: folder, home, clock, desk, started: 0 }
    }

    /// With a policy of the server's own.
    pub(crate) fn with(policy: &str) -> World {
        let world = World::new();
        world.write(policy);
        world
    }

    /// Somebody else writes the file.
    pub(crate) fn write(&self, policy: &str) {
        atomic::replace(&self.home.policy(SERVER), policy.as_bytes()).unwrap();
    }

    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(self.home.policy(SERVER)).unwrap()
    }

    pub(crate) fn lists(&self, tools: &[(&str, &str)]) {
        let tools: Vec<(&str, Raw<'_>)> =
            tools.iter().map(|(name, definition)| (*name, Raw::parse(definition).unwrap())).collect();
        catalogue::write(&self.home, &Masker::default(), SERVER, 1, tools).unwrap();
    }

    pub(crate) fn session(&mut self, client: &str) -> Session {
        self.started += 1;
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
        let journal = Journal::open(&self.home, &who, self.clock.clone()).unwrap();
        Session { journal, client: client.to_owned(), clock: self.clock.clone() }
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

pub(crate) struct Session {
    journal: Journal,
    client: String,
    clock: Arc<ManualClock>,
}

impl Session {
    /// One call, judged by this policy, counted and answered.
    pub(crate) fn call(&mut self, policy: &Policy, tool: &str, args: &str) -> Decision {
        let args = Raw::parse(args).unwrap();
        let call = Call::tool(&self.client, tool, Some(args));
        let now_ms = self.clock.now().wall_ms;
        let now =
            Circumstances { now_ms, files: &AsWritten, recordings: &NoRecordings, waived: Waived::Nothing };
        let refused = CallEntry {
            method: "tools/call",
            tool,
            rpc_id: "1",
            args: Some(args),
            client: &self.client,
            policy: policy.version(),
            ..CallEntry::default()
        };
        let mut batch = self.journal.batch();
        let mut admitted = None;
        let decision = match policy.judge(&call, &now) {
            Judgement::Refuse(refusal) => {
                let decision = match refusal.kind {
                    RefusalKind::Denied => Decision::Denied,
                    RefusalKind::Ask | RefusalKind::Unsupported => Decision::Unsupported,
                    RefusalKind::Hidden => Decision::Hidden,
                    RefusalKind::Broken => Decision::Broken,
                };
                let (rule, reason) = (refusal.rule.as_str(), refusal.reason.as_str());
                batch.refuse(CallEntry { decision, rule, reason, ..refused });
                decision
            }
            Judgement::Pass(pass) => {
                let intent = Intent {
                    method: "tools/call",
                    tool,
                    rpc_id: "1",
                    args: Some(args),
                    client: &self.client,
                    rule: pass.rule,
                    policy: policy.version(),
                    keep: pass.keep,
                    observing: pass.observing,
                    would: None,
                    spend: None,
                    reason: "",
                    asked: None,
                };
                match batch.admit(intent, &pass.limits, b"x") {
                    Ok(call) => {
                        admitted = Some(call);
                        Decision::Allowed
                    }
                    Err(NotAdmitted::Capped(cap)) => {
                        let rule = cap.pointer.as_str();
                        batch.refuse(CallEntry { decision: Decision::Capped, rule, ..refused });
                        Decision::Capped
                    }
                    Err(error) => panic!("{error:?}"),
                }
            }
        };
        assert!(batch.commit().unrecorded.is_empty());
        if let Some(call) = admitted {
            let mut settlement = self.journal.settle();
            settlement.add(&call, Outcome::Ok, Duration::from_millis(1), None);
            settlement.commit();
        }
        decision
    }

    /// The client goes; everything is in the history.
    pub(crate) fn end(self) {
        self.journal.end(EndReason::ClientClosed);
    }
}
