//! A home with sessions in it, for tests.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use callgate_clients::System;
use callgate_history::Forgetter;
use callgate_home::clock::ManualClock;
use callgate_home::{Home, SessionId};
use callgate_journal::{CallEntry, Decision, EndReason, Intent, Journal, Origin, Outcome, SessionInfo};
use callgate_policy::{Keep, Policy};
use callgate_protocol::json::Raw;

use crate::Desk;

/// Whoever forgets something in tests.
pub(crate) const BY: &Forgetter<'static> = &Forgetter { origin: Origin::Cli, words: "ada at a terminal" };

/// Denies one tool, allows the rest.
pub(crate) const POLICY: &str = r#"{"version":"1","default":"allow","tools":{"drop":{"action":"deny"}}}"#;

pub(crate) struct TestHome {
    _folder: tempfile::TempDir,
    pub(crate) home: Home,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) desk: Desk,
}

impl TestHome {
    pub(crate) fn new() -> TestHome {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let clock = Arc::new(ManualClock::new());
        // Nobody's files: those of whoever runs the tests say nothing here.
        let desk = Desk::new(home.clone(), clock.clone(), Origin::Window)
            .on(System::here(folder.path().join("nobody")));
        TestHome { _folder: folder, home, clock, desk }
    }

    pub(crate) fn write_policy(&self, server: &str, text: &str) {
        let path = self.home.policy(server);
        callgate_home::atomic::replace(&path, text.as_bytes()).unwrap();
        // As if it had been there for long.
        let old = std::time::SystemTime::now() - Duration::from_secs(600);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }

    /// A session that runs under the policy of its file.
    pub(crate) fn session(&self, server: &str) -> Session {
        self.session_of(server, "claude-ai")
    }

    pub(crate) fn session_of(&self, server: &str, client: &str) -> Session {
        let own = self.home.policy(server);
        let path = if own.exists() { own } else { self.home.default_policy() };
        let policy = Policy::parse(&std::fs::read_to_string(path).unwrap()).ok();
        let info = SessionInfo {
            id: SessionId::random(),
            server: server.to_owned(),
            client: Some(client.to_owned()),
            command: vec!["npx".to_owned(), "-y".to_owned(), server.to_owned()],
            policy_version: policy.as_ref().map(|policy| policy.version().to_owned()),
            watch_only: policy.as_ref().is_some_and(Policy::watch_only),
            demo: false,
            secrets: Vec::new(),
        };
        let journal = Journal::open(&self.home, &info, self.clock.clone()).unwrap();
        Session { journal, info }
    }
}

pub(crate) struct Session {
    pub(crate) journal: Journal,
    pub(crate) info: SessionInfo,
}

impl Session {
    /// Calls that pass and succeed.
    pub(crate) fn calls(&self, tool: &str, times: usize) {
        for _ in 0..times {
            self.ends(tool, Outcome::Ok, "{}");
        }
    }

    /// Calls that pass, all at once.
    pub(crate) fn burst(&self, tool: &str, times: usize) {
        let mut batch = self.journal.batch();
        for _ in 0..times {
            let intent = Intent {
                method: "tools/call",
                tool,
                rpc_id: "1",
                args: None,
                client: "claude-ai",
                rule: "/default",
                policy: "v",
                keep: Keep::Full,
                observing: false,
                would: None,
                spend: None,
                reason: "",
                asked: None,
            };
            batch.admit(intent, &[], b"line").unwrap();
        }
        assert!(batch.commit().unrecorded.is_empty());
        self.filed();
    }

    pub(crate) fn ends(&self, tool: &str, outcome: Outcome, result: &str) {
        self.called(tool, r#"{"path":"/a"}"#, outcome, result);
    }

    /// A call with these arguments that passes.
    pub(crate) fn called(&self, tool: &str, args: &str, outcome: Outcome, result: &str) {
        self.called_by("/default", (tool, args), outcome, result);
    }

    /// The same by this rule.
    pub(crate) fn called_by(&self, rule: &str, (tool, args): (&str, &str), outcome: Outcome, result: &str) {
        let mut batch = self.journal.batch();
        let intent = Intent {
            method: "tools/call",
            tool,
            rpc_id: "1",
            args: Some(Raw::parse(args).unwrap()),
            client: "claude-ai",
            rule,
            policy: "v",
            keep: Keep::Full,
            observing: false,
            would: None,
            spend: None,
            reason: "",
            asked: None,
        };
        let call = batch.admit(intent, &[], b"line").unwrap();
        assert!(batch.commit().unrecorded.is_empty());
        let mut settlement = self.journal.settle();
        settlement.add(&call, outcome, Duration::from_millis(3), Some(Raw::parse(result).unwrap()));
        settlement.commit();
        self.filed();
    }

    pub(crate) fn refused(&self, tool: &str, decision: Decision, times: usize) {
        let mut batch = self.journal.batch();
        for _ in 0..times {
            batch.refuse(CallEntry {
                decision,
                method: "tools/call",
                tool,
                client: "claude-ai",
                rule: "/tools/drop",
                reason: "not from an agent",
                ..CallEntry::default()
            });
        }
        batch.commit();
        self.filed();
    }

    pub(crate) fn filed(&self) {
        assert!(self.journal.drained(Duration::from_secs(20)));
    }

    pub(crate) fn end(self) {
        self.journal.end(EndReason::ClientClosed);
    }
}
