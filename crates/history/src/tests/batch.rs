use std::num::NonZeroU32;

use callgate_controls::Capped;
use callgate_policy::{Kind, Limit, Scope, Taking};

use super::*;

fn intent(tool: &str) -> Intent<'_> {
    Intent {
        method: "tools/call",
        tool,
        rpc_id: "1",
        args: None,
        client: "c",
        rule: "/default",
        policy: "v1",
        keep: Keep::Full,
        observing: false,
        would: None,
        spend: None,
        reason: "",
        asked: None,
    }
}

fn limit(kind: Kind, scope: Scope) -> Limit {
    Limit {
        pointer: "/tools/a/limits/0".to_owned(),
        counter: "x".to_owned(),
        kind,
        max: NonZeroU32::MIN,
        scope,
        on_deny: None,
        until_ms: None,
    }
}

fn rows(home: &Home) -> Vec<CallRow> {
    History::open_reader(home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap()
}

#[test]
fn an_observed_call_above_its_cap_is_forwarded_and_says_which() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let minute = limit(Kind::Calls(Duration::from_secs(60)), Scope::Server);
    let taking = [Taking { limit: &minute, amount: 1 }];
    let observed = Intent { observing: true, ..intent("a") };
    let mut batch = journal.batch();
    batch.admit(observed, &taking, b"one").unwrap();
    batch.admit(observed, &taking, b"two").unwrap();
    let denied = Intent { would: Some(("/tools/a", "denied")), ..observed };
    batch.admit(denied, &taking, b"three").unwrap();
    assert_eq!(batch.commit().admitted.lines(), b"one\ntwo\nthree\n");
    let mut batch = journal.batch();
    let Err(NotAdmitted::Capped(capped)) = batch.admit(intent("a"), &taking, b"four") else { panic!() };
    assert_eq!(capped.pointer, minute.pointer, "observed calls were counted");
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let said: Vec<_> = rows(&home).into_iter().map(|row| (row.decision, row.rule, row.reason)).collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        said,
        [
            (Decision::Allowed, some("/default"), None),
            (Decision::WouldDeny, some(&minute.pointer), Some(minute.refusal("a"))),
            (Decision::WouldDeny, some("/tools/a"), some("denied")),
        ]
    );
}

#[test]
fn a_record_has_the_time_at_which_the_call_was_counted() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let start = clock.now().wall_ms;
    let mut batch = journal.batch();
    // Another shim held the counters for a while.
    clock.advance(Duration::from_secs(1));
    for scope in [Scope::Server, Scope::Session] {
        let total = limit(Kind::Total, scope);
        batch.admit(intent("a"), &[Taking { limit: &total, amount: 1 }], b"x").unwrap();
    }
    batch.admit(intent("a"), &[], b"x").unwrap();
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let times: Vec<_> = rows(&home).iter().map(|row| row.at_ms - start).collect();
    assert_eq!(times, [1_000, 1_000, 0]);
}

#[test]
fn an_outcome_frees_the_place_and_a_refused_call_wastes_no_number() {
    let (_folder, home) = home();
    for scope in [Scope::Session, Scope::Server] {
        let clock = Arc::new(ManualClock::new());
        let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
        let place = limit(Kind::Concurrent, scope);
        let taking = [Taking { limit: &place, amount: 1 }];
        let start = || {
            let mut batch = journal.batch();
            let call = batch.admit(intent("a"), &taking, b"x");
            if call.is_err() {
                batch.refuse(CallEntry { decision: Decision::Capped, ..CallEntry::default() });
            }
            batch.commit();
            call
        };
        let first = start().unwrap();
        assert!(matches!(start(), Err(NotAdmitted::Capped(Capped { frees_in: None, .. }))));
        journal.settle_one(&first, Outcome::Ok);
        let second = start().unwrap();
        assert_eq!((first.id().seq, second.id().seq), (1, 3), "the refused one is the second");
        journal.settle_one(&second, Outcome::Cancelled);
        assert!(start().is_err());
        clock.advance(Duration::from_secs(60));
        let third = start().unwrap();
        journal.settle_one(&third, Outcome::Cancelled);
        journal.settle_one(&third, Outcome::Ok);
        start().unwrap();
        journal.end(EndReason::ClientClosed);
    }
}

#[test]
fn a_call_that_could_not_be_recorded_holds_no_place() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let who = info("s");
    // It is alive, but cannot record.
    let _lease = lease::take(&home, who.id).unwrap();
    let journal = Journal::without_home(&home, &who, clock, "the disk is gone".to_owned());
    for scope in [Scope::Session, Scope::Server] {
        let place = limit(Kind::Concurrent, scope);
        for _ in 0..3 {
            let mut batch = journal.batch();
            batch.admit(intent("a"), &[Taking { limit: &place, amount: 1 }], b"x").unwrap();
            assert_eq!(batch.commit().unrecorded.len(), 1);
        }
    }
}

#[test]
fn what_the_policy_keeps_private_is_nowhere_in_the_record() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let args = Raw::parse(r#"{"to":"xyzzy-plugh","amount":4711}"#).unwrap();
    let result = Raw::parse(r#"{"content":"xyzzy-plugh"}"#).unwrap();
    for keep in [Keep::Keys, Keep::Nothing] {
        let mut batch = journal.batch();
        let intent = Intent { args: Some(args), keep, ..intent("send") };
        let answered = batch.admit(intent, &[], b"x").unwrap();
        let later = batch.admit(intent, &[], b"x").unwrap();
        batch.refuse(CallEntry {
            decision: Decision::Denied,
            method: "tools/call",
            tool: "send",
            args: Some(args),
            reason: "\"xyzzy-plugh\" is nobody we know",
            keep,
            ..CallEntry::default()
        });
        batch.refuse(CallEntry {
            decision: Decision::Denied,
            method: "resources/read",
            tool: "file:///xyzzy-plugh",
            args: Some(Raw::parse(r#"{"uri":"file:///xyzzy-plugh"}"#).unwrap()),
            keep,
            ..CallEntry::default()
        });
        batch.commit();
        let settle = |call| {
            let mut settlement = journal.settle();
            settlement.add(call, Outcome::Ok, Duration::from_millis(1), Some(result));
            settlement.commit();
        };
        settle(&answered);
        // Also when the outcome is filed after its call.
        assert!(journal.drained(Duration::from_secs(10)));
        settle(&later);
    }
    journal.end(EndReason::ClientClosed);
    let rows = rows(&home);
    assert_eq!(rows.len(), 8);
    for (index, row) in rows.iter().enumerate() {
        let body = row.args.as_ref().unwrap();
        let keys = if index % 4 == 3 { r#"["uri"]"# } else { r#"["to","amount"]"# };
        assert_eq!(body.text, if index < 4 { keys } else { "" });
        assert!(body.withheld && body.bytes > 20 && !body.cut, "{body:?}");
        assert_eq!(row.tool.as_deref(), (index % 4 != 3).then_some("send"));
        if index % 4 < 2 {
            let result_row = row.result.as_ref().unwrap();
            let size = result.text().len() as u64;
            assert_eq!((result_row.text.as_str(), result_row.bytes), ("", size));
            assert!(result_row.withheld);
        }
    }
    assert_eq!(rows[2].reason.as_deref(), Some("\"[withheld]\" is nobody we know"));
    let everything = std::fs::read(home.history_db()).unwrap();
    let log = std::fs::read(sqlite::wal_of(&home.history_db())).unwrap_or_default();
    for bytes in [everything, log] {
        assert!(!bytes.windows(11).any(|window| window == b"xyzzy-plugh"));
    }
}

#[test]
fn the_number_of_a_cap_is_not_withheld_from_its_own_sentence() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let mut batch = journal.batch();
    for (decision, reason) in [
        (Decision::Capped, "\"send\" has reached its cap of 1 call at once"),
        (Decision::Denied, "1 is too little"),
    ] {
        batch.refuse(CallEntry {
            decision,
            method: "tools/call",
            tool: "send",
            args: Some(Raw::parse(r#"{"a":1}"#).unwrap()),
            reason,
            keep: Keep::Keys,
            ..CallEntry::default()
        });
    }
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let reasons: Vec<Option<String>> = rows(&home).into_iter().map(|row| row.reason).collect();
    let said = ["\"send\" has reached its cap of 1 call at once", "[withheld] is too little"];
    assert_eq!(reasons, said.map(|words| Some(words.to_owned())));
}

#[test]
fn a_refused_call_can_be_found_again_by_its_digest() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let mut batch = journal.batch();
    let digest = Some([7; 32]);
    let with = batch.refuse(CallEntry { decision: Decision::Denied, digest, ..CallEntry::default() });
    let without = batch.refuse(CallEntry { decision: Decision::Denied, ..CallEntry::default() });
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let history = History::open_reader(&home).unwrap();
    assert_eq!(history.digest_of(&with.id()).unwrap(), digest);
    assert_eq!(history.digest_of(&without.id()).unwrap(), None);
}

#[test]
fn a_password_that_is_a_tools_name_does_not_take_the_tool_out_of_the_record() {
    let (_folder, home) = home();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let mut batch = journal.batch();
    let args = Raw::parse(r#"{"password":"write_file","token":"prompts/get","pin":"read"}"#).unwrap();
    batch.admit(Intent { args: Some(args), ..intent("read") }, &[], b"x").unwrap();
    batch.admit(intent("write_file"), &[], b"x").unwrap();
    batch.admit(Intent { method: "prompts/get", ..intent("write_file") }, &[], b"x").unwrap();
    let uri = "file:///write_file";
    batch.admit(Intent { method: "resources/read", ..intent(uri) }, &[], b"x").unwrap();
    batch.commit();
    journal.end(EndReason::ClientClosed);
    let rows = rows(&home);
    let tools: Vec<_> = rows.iter().filter_map(|row| row.tool.as_deref()).collect();
    assert_eq!(tools, ["read", "write_file", "write_file", "file:///[masked, 10 characters]"]);
    assert_eq!(rows[2].method.as_deref(), Some("prompts/get"));
}
