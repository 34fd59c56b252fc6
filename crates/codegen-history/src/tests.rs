#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use callgate_codegen::{RetainedArguments, State};
use callgate_controls::prepare_home;
use callgate_home::clock::ManualClock;
use callgate_journal::{EndReason, Intent, Journal, SessionInfo};
use callgate_policy::Keep;
use callgate_protocol::json::Raw;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    prepare_home(&home).unwrap();
    (folder, home)
}

fn info(server: &str) -> SessionInfo {
    SessionInfo {
        id: SessionId::random(),
        server: server.to_owned(),
        client: Some("client".to_owned()),
        command: vec!["npx".to_owned()],
        policy_version: None,
        watch_only: false,
        demo: false,
        secrets: Vec::new(),
    }
}

/// Made and answered through the journal, as a session does it.
fn call(journal: &Journal, tool: &str, args: &str, keep: Keep, ended: Option<(Outcome, &str)>) {
    let mut batch = journal.batch();
    let intent = Intent {
        method: "tools/call",
        tool,
        rpc_id: "1",
        args: Some(Raw::parse(args).unwrap()),
        client: "client",
        rule: "/default",
        policy: "v",
        keep,
        observing: false,
        would: None,
        spend: None,
        reason: "",
        asked: None,
    };
    let call = batch.admit(intent, &[], b"line").unwrap();
    assert!(batch.commit().unrecorded.is_empty());
    if let Some((outcome, result)) = ended {
        let mut settlement = journal.settle();
        settlement.add(&call, outcome, Duration::from_millis(3), Some(Raw::parse(result).unwrap()));
        settlement.commit();
    }
}

const DONE: Option<(Outcome, &str)> = Some((Outcome::Ok, r#"{"content":[]}"#));

fn started(id: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{{\"sessionId\":\"{id}\"}}"}}]}}"#)
}

#[test]
fn a_killed_server_loses_nothing_of_what_it_recorded() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let full = Keep::Full;
    call(&journal, "playwright_click", "{}", full, DONE);
    let options = r#"{"options":{"outputPath":"/out"}}"#;
    call(&journal, "start_codegen_session", options, full, Some((Outcome::Ok, &started("A"))));
    let secret = r##"{"selector":"#password","value":"hunter2hunter2"}"##;
    call(&journal, "playwright_fill", secret, full, DONE);
    call(&journal, "playwright_click", r##"{"selector":"#go"}"##, Keep::Keys, None);
    assert!(journal.drained(Duration::from_secs(10)));
    let open = sessions(&home, Some("s"), 0).unwrap();
    assert_eq!(open.len(), 1);
    assert!(open[0].session.is_open());
    let on_record = OnRecord::new(&home, "s", 0);
    let expected = Recording { id: Some("A".to_owned()), actions: 2, open: true };
    assert_eq!(on_record.open(), Ok(Some(expected.clone())), "its session of the gate is alive");
    assert_eq!(on_record.started_by("client", "A"), Ok(Some(expected)));
    assert_eq!(on_record.started_by("another", "A"), Ok(None));

    journal.end(EndReason::ServerEnded);
    let lost = sessions(&home, None, 0).unwrap().remove(0);
    assert!(matches!(lost.session.state, State::Lost { .. }) && lost.session.threw_away());
    assert_eq!(lost.session.options.output.as_deref(), Some("/out"));
    assert_eq!(lost.start.seq, 2);
    let args: Vec<&RetainedArguments> = lost.session.actions.iter().map(|action| &action.args).collect();
    let masked = r##"{"selector":"#password","value":"[masked, 14 characters]"}"##.to_owned();
    assert_eq!(
        args,
        [&RetainedArguments::Masked(masked), &RetainedArguments::Names(r#"["selector"]"#.to_owned())]
    );
    assert_eq!(on_record.open(), Ok(None));
    assert!(sessions(&home, Some("other"), 0).unwrap().is_empty());
}

#[test]
fn what_was_refused_is_in_no_session() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    call(&journal, "start_codegen_session", "{}", Keep::Full, Some((Outcome::Ok, &started("A"))));
    let mut batch = journal.batch();
    for tool in ["playwright_click", "clear_codegen_session"] {
        batch.refuse(callgate_journal::CallEntry {
            decision: Decision::Denied,
            method: "tools/call",
            tool,
            args: Some(Raw::parse(r#"{"sessionId":"A"}"#).unwrap()),
            ..callgate_journal::CallEntry::default()
        });
    }
    batch.commit();
    call(&journal, "end_codegen_session", r#"{"sessionId":"A"}"#, Keep::Full, DONE);
    journal.end(EndReason::ClientClosed);
    let found = sessions(&home, None, 0).unwrap().remove(0);
    assert_eq!(found.session.recorded, 0);
    assert!(matches!(found.session.state, State::Ended { file: None, .. }));
}

#[test]
fn a_server_that_went_away_within_its_session_took_what_it_held_with_it() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    for id in ["A", "B"] {
        call(&journal, "start_codegen_session", "{}", Keep::Full, Some((Outcome::Ok, &started(id))));
        call(&journal, "playwright_click", "{}", Keep::Full, DONE);
        clock.advance(Duration::from_secs(10));
        if id == "A" {
            journal
                .event(callgate_journal::Event { kind: callgate_journal::EventKind::Crashed, text: "gone" });
        }
    }
    assert!(journal.drained(Duration::from_secs(10)));
    let found = sessions(&home, None, 0).unwrap();
    let states: Vec<bool> = found.iter().map(|one| matches!(one.session.state, State::Lost { .. })).collect();
    assert_eq!(states, [true, false], "{found:?}");
    assert_eq!((found[0].session.recorded, found[1].session.recorded), (1, 1));
    journal.end(EndReason::ClientClosed);
}
