//! Clients on the official SDKs, and calls that a person decides about: held and let through, answered in time and made again,
//! asked about in the client itself.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use callgate_controls::approval::{Approval, Approvals, Decider, Verdict};
use callgate_controls::classes;
use callgate_controls::decider::{self, Presence};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_tests::gate::{Bench, SERVER, callgate_binary};
use callgate_tests::history::rows;
use callgate_tests::installed::{installed, ours};
use callgate_tests::processes::eventually;
use callgate_tests::session::Session;

const SOON: Duration = Duration::from_secs(30);
const ASKED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask" } } }"#;
/// Answered before the client's clock, be it as short as it may.
const BRIEF: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "ask": { "hold": "1s" } } } }"#;
const CALL: &str = r#"{"call":"danger","arguments":{"x":1}}"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sdk {
    TypeScript,
    /// With a handshake.
    Python,
    /// By the newest revision, which has none.
    PythonLater,
}

const ALL: [Sdk; 3] = [Sdk::TypeScript, Sdk::Python, Sdk::PythonLater];
/// The clock that it has by itself (60 s of the first, none of the second), and one of 5 s.
const CLOCKS: [(Sdk, &str); 4] =
    [(Sdk::TypeScript, "-"), (Sdk::TypeScript, "5000"), (Sdk::Python, "5000"), (Sdk::PythonLater, "-")];

/// A client at work behind the gate.
struct Asking {
    bench: Bench,
    home: Home,
    session: Session,
    presence: Option<Presence>,
}

impl Asking {
    /// `timeout` in milliseconds, and what it answers to forms; `-` for what the SDK does by itself.
    fn start(sdk: Sdk, policy: &str, timeout: &str, answer: &str) -> Asking {
        let bench = Bench::new(policy).unwrap();
        let (program, words): (OsString, Vec<OsString>) = match sdk {
            Sdk::TypeScript => {
                ("node".into(), vec![ours("node/asker.mjs").into(), installed("node").into(), timeout.into()])
            }
            Sdk::Python | Sdk::PythonLater => {
                let mode = if sdk == Sdk::Python { "legacy" } else { "auto" };
                let words = vec![ours("python/asker.py").into(), mode.into(), timeout.into()];
                (installed("py2/bin/python").into(), words)
            }
        };
        let mut command = Command::new(program);
        command
            .args(words)
            .arg(answer)
            .arg(callgate_binary().unwrap())
            .args(["run", "--server", SERVER, "--"])
            .args([installed("py2/bin/python"), ours("python/server.py"), bench.path("marks")])
            .env("CALLGATE_HOME", bench.home());
        let session = Session::start(command).unwrap();
        let home = Home::at(bench.home());
        let asking = Asking { bench, home, session, presence: None };
        asking.says("\"tools\"", 1);
        // What it can do is known, and nothing that must not be answered in a client.
        classes::set(&asking.home, SERVER, "danger", Some("Write")).unwrap();
        asking
    }

    fn somebody_comes(&mut self) {
        self.presence = Some(Presence::announce(&self.home).unwrap());
    }

    fn call(&mut self) {
        self.session.send(CALL).unwrap();
    }

    /// The nth line with these words.
    fn says(&self, words: &str, nth: usize) -> String {
        let line = self.session.nth_line_with(words, nth);
        line.unwrap_or_else(|error| {
            panic!("{error:#}\n{}\n{}", self.session.out.text(), self.session.err.text())
        })
    }

    fn said(&self, nth: usize) -> String {
        self.says("\"called\"", nth)
    }

    fn card(&self) -> Approval {
        let now = SystemClock::default().now();
        eventually("a card", SOON, || Approvals::new(&self.home).open(&now).unwrap().pop())
    }

    fn approve(&self) {
        let now = SystemClock::default().now();
        Approvals::new(&self.home).decide(&now, self.card().id, &Verdict::Once, Decider::Window).unwrap();
        decider::ring(&self.home);
    }

    /// What ran, by the server's own word.
    fn marks(&self) -> String {
        std::fs::read_to_string(self.bench.path("marks")).unwrap_or_default()
    }
}

#[test]
fn a_call_of_an_sdk_that_is_held_runs_once_after_a_yes() {
    for (sdk, timeout) in CLOCKS {
        let mut asking = Asking::start(sdk, ASKED, timeout, "-");
        asking.somebody_comes();
        asking.call();
        let card = asking.card();
        assert!(card.held_until_ms.is_some() && asking.marks().is_empty(), "{sdk:?}");
        asking.approve();
        assert!(asking.said(1).contains("danger ran"), "{sdk:?} {timeout}");
        assert_eq!(asking.marks(), "danger\n", "{sdk:?} {timeout}");
    }
}

#[test]
fn a_call_of_an_sdk_that_is_answered_before_its_clock_runs_once_when_it_comes_again() {
    for (sdk, timeout) in CLOCKS {
        let mut asking = Asking::start(sdk, BRIEF, timeout, "-");
        asking.somebody_comes();
        asking.call();
        let said = asking.said(1);
        assert!(said.contains("Waiting for the user's approval"), "{sdk:?} {timeout}: {said}");
        assert!(asking.marks().is_empty(), "{sdk:?}");
        asking.approve();
        asking.call();
        assert!(asking.said(2).contains("danger ran"), "{sdk:?} {timeout}");
        asking.call();
        assert!(asking.said(3).contains("Waiting for the user's approval"), "{sdk:?} {timeout}");
        assert_eq!(asking.marks(), "danger\n", "{sdk:?} {timeout}");
    }
}

#[test]
fn a_form_that_an_sdk_shows_lets_one_call_through_and_a_no_none() {
    for sdk in ALL {
        let mut asking = Asking::start(sdk, ASKED, "-", "allow once");
        asking.call();
        assert!(asking.says("\"asked\"", 1).contains("of corpus be called, this once?"), "{sdk:?}");
        assert!(asking.said(1).contains("danger ran"), "{sdk:?}");
        assert_eq!(asking.marks(), "danger\n", "{sdk:?}");
        let rows = rows(&asking.bench).unwrap();
        let by_client = |reason: &str| reason.contains("answered by the client, maybe not by a person");
        let reasons = rows.iter().filter_map(|row| row.0.get("reason")?.as_text());
        assert_eq!(reasons.filter(|reason| by_client(reason)).count(), 1, "{sdk:?}");

        let mut asking = Asking::start(sdk, ASKED, "-", "deny");
        asking.call();
        assert!(asking.said(1).contains("the user said no in the client"), "{sdk:?}");
        assert!(asking.marks().is_empty(), "{sdk:?}");
    }
}

/// Two revisions, two ways to ask; else the test above proves less than it says.
#[test]
fn an_sdk_of_the_newest_revision_is_asked_between_two_legs_of_its_call() {
    for (sdk, rows_of_danger) in [(Sdk::TypeScript, 1), (Sdk::Python, 1), (Sdk::PythonLater, 2)] {
        let mut asking = Asking::start(sdk, ASKED, "-", "allow once");
        asking.call();
        assert!(asking.said(1).contains("danger ran"), "{sdk:?}");
        let rows = rows(&asking.bench).unwrap();
        assert_eq!(rows.iter().filter(|row| row.tool() == "danger").count(), rows_of_danger, "{sdk:?}");
    }
}
