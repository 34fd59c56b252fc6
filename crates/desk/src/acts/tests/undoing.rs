//! What was done is taken back to the byte, and what others did meanwhile stays.

use super::*;

#[test]
fn undoing_the_first_rule_of_a_server_leaves_it_with_the_rules_of_the_default() {
    let room = Room::new();
    let done = room.restrict(&block("x", None));
    assert!(!room.passes("cursor", "x") && room.home.policy("s").exists());
    room.clock.advance(Duration::from_millis(9_999));
    let undone = room.desk.undo(token(&done)).unwrap();
    assert_eq!(room.text(), DEFAULT_POLICY, "a running gate would not notice that a file is gone");
    assert_eq!(undone.version.as_deref(), Some(Policy::parse(DEFAULT_POLICY).unwrap().version()));
    let last = room.timeline().pop().unwrap();
    assert_eq!(Some(last.version), undone.version);
    // Loosening is on record, whoever did it.
    assert!(!room.events(EventKind::Loosened).is_empty());
}

#[test]
fn an_undo_works_once_and_for_ten_seconds() {
    let room = Room::with(OPEN);
    let done = room.restrict(&block("x", None));
    let until = done.undo.as_ref().unwrap().until_ms;
    assert_eq!(until - room.clock.now().wall_ms, 10_000);
    room.desk.undo(token(&done)).unwrap();
    assert_eq!(code(room.desk.undo(token(&done))), ErrorCode::TooLate);
    let done = room.restrict(&block("x", None));
    let blocked = room.text();
    room.clock.advance(Duration::from_secs(10));
    assert_eq!(code(room.desk.undo(token(&done))), ErrorCode::TooLate);
    assert_eq!(code(room.desk.give_reason(token(&done), "late")), ErrorCode::TooLate);
    assert_eq!(code(room.desk.undo("made up")), ErrorCode::TooLate);
    // Setting the wall clock back buys no time.
    room.clock.set_wall(0);
    assert_eq!(code(room.desk.undo(token(&done))), ErrorCode::TooLate);
    assert_eq!(room.text(), blocked);
}

#[test]
fn what_others_wrote_meanwhile_survives_an_undo() {
    let room = Room::with(OPEN);
    let ours = room.restrict(&block("x", Some("cursor")));
    let theirs = room.restrict(&block("y", None));
    room.write(&room.text().replace("// open", "// still open"));
    room.desk.undo(token(&ours)).unwrap();
    assert!(room.passes("cursor", "x") && !room.passes("cursor", "y"), "{}", room.text());
    assert!(room.text().contains("// still open"));
    // And where it cannot, nothing is undone and the reason is told.
    room.write(&room.text().replace("\"deny\"", "\"ask\""));
    let text = room.text();
    assert_eq!(code(room.desk.undo(token(&theirs))), ErrorCode::Conflict);
    assert_eq!(room.text(), text);
}

#[test]
fn a_reason_can_be_given_while_undo_is_possible_and_is_undone_with_it() {
    for (restriction, judged) in [
        (block("x", Some("cursor")), Some("Denied: no scripts")),
        (Restriction::Block { target: target(None, None), reason: None }, Some("Denied: no scripts")),
        (cap("x", 5), None),
        (restrictions(Some("cursor")).swap_remove(3), None),
    ] {
        let room = Room::with(OPEN);
        let done = room.restrict(&restriction);
        let told = room.desk.give_reason(token(&done), "no scripts").unwrap();
        assert!(room.text().contains("no scripts"), "{restriction:?}");
        assert_eq!(told.version.as_deref(), Some(room.policy().version()));
        if let Some(judged) = judged {
            assert_eq!(room.judged("cursor", "x", "{}"), judged);
        }
        room.desk.undo(token(&done)).unwrap();
        assert_eq!(room.text(), OPEN, "{restriction:?}");
    }
    let room = Room::with(OPEN);
    let done = room.restrict(&Restriction::Hide { target: target(Some("x"), None), note: None });
    assert_eq!(code(room.desk.give_reason(token(&done), "r")), ErrorCode::BadInput);
    assert_eq!(code(room.desk.give_reason(token(&done), "  ")), ErrorCode::BadInput);
    room.desk.undo(token(&done)).unwrap();
    assert_eq!(room.text(), OPEN);
}

#[test]
fn a_reason_given_after_somebody_else_wrote_is_undone_without_their_change() {
    let room = Room::with(OPEN);
    let ours = room.restrict(&block("x", None));
    room.restrict(&block("y", None));
    room.desk.give_reason(token(&ours), "no scripts").unwrap();
    room.desk.undo(token(&ours)).unwrap();
    assert!(room.passes("c", "x") && !room.passes("c", "y"), "{}", room.text());
    assert!(!room.text().contains("no scripts"));
}

#[test]
fn a_pause_holds_at_once_and_undo_puts_back_what_was_there() {
    let room = Room::new();
    let pause_s = |reason: Option<&str>| Restriction::Pause {
        server: Some("s".to_owned()),
        client: None,
        reason: reason.map(str::to_owned),
    };
    room.restrict(&pause_s(Some("lunch")));
    let second = room.restrict(&pause_s(Some("tea")));
    room.desk.give_reason(token(&second), "dinner").unwrap();
    assert_eq!(pause::reason(&room.home, "s").unwrap(), "calls to s are paused by the user: dinner");
    room.desk.undo(token(&second)).unwrap();
    assert_eq!(pause::reason(&room.home, "s").unwrap(), "calls to s are paused by the user: lunch");
    let all = room.restrict(&Restriction::Pause { server: None, client: None, reason: None });
    assert!(pause::reason(&room.home, "other").is_some());
    room.desk.undo(token(&all)).unwrap();
    assert_eq!(pause::reason(&room.home, "other"), None);
    let paused = room.events(EventKind::Paused);
    assert!(!paused.is_empty() && paused.iter().all(|event| event.origin == Some(Origin::Window)));
    // Somebody else's pause is not lifted.
    let ours = room.restrict(&pause_s(Some("ours")));
    room.clock.advance(Duration::from_secs(1));
    pause::pause(&room.home, Some("s"), Some("theirs"), &room.clock.now()).unwrap();
    assert_eq!(code(room.desk.undo(token(&ours))), ErrorCode::Conflict);
    assert!(pause::reason(&room.home, "s").unwrap().ends_with("theirs"));
}

#[test]
fn a_second_pause_changes_nothing_and_has_no_undo() {
    let pause = |server: Option<&str>, client: Option<&str>| Restriction::Pause {
        server: server.map(str::to_owned),
        client: client.map(str::to_owned),
        reason: None,
    };
    for (server, client, said) in [
        (None, None, "Nothing to change: everything is paused already"),
        (Some("s"), None, "Nothing to change: s is paused already"),
    ] {
        let room = Room::new();
        room.restrict(&pause(server, client));
        let paused = room.desk.paused_words();
        assert!(paused.as_deref().is_some_and(|words| words.contains("paused")), "{paused:?}");
        room.clock.advance(Duration::from_secs(1));
        let events = room.events(EventKind::Paused).len();
        let second = room.restrict(&pause(server, client));
        assert_eq!((second.words.as_str(), second.undo.is_none()), (said, true));
        assert_eq!(room.events(EventKind::Paused).len(), events, "nothing happened");
        assert_eq!(room.desk.paused_words(), paused);
    }
}

#[test]
fn a_block_ends_what_was_allowed_for_a_while_and_undo_brings_it_back() {
    let room = Room::with(OPEN);
    let tool = room.grant(AllowanceScope::Tool("x".to_owned()));
    let observed = room.grant(AllowanceScope::Observe);
    let other = room.grant(AllowanceScope::Tool("y".to_owned()));
    let done = room.restrict(&block("x", None));
    assert!(matches!(room.open().as_slice(), [one] if one.id == other));
    assert!(done.words.contains("ended with it"), "{}", done.words);
    room.desk.undo(token(&done)).unwrap();
    let mut back: Vec<String> = room.open().into_iter().map(|one| one.id).collect();
    let mut all = vec![tool.clone(), observed, other];
    back.sort();
    all.sort();
    assert_eq!(back, all);
    assert_eq!(room.text(), OPEN);
    // One that is ended by itself.
    let done = room.restrict(&Restriction::EndAllowance { id: tool });
    assert_eq!(room.open().len(), 2);
    room.desk.undo(token(&done)).unwrap();
    assert_eq!(room.open().len(), 3);
    assert_eq!(
        code(room.desk.restrict(&Restriction::EndAllowance { id: "nothing".to_owned() })),
        ErrorCode::NotFound
    );
}

#[test]
fn a_cap_ends_only_what_would_set_it_aside() {
    let room = Room::with(OPEN);
    room.grant(AllowanceScope::Tool("x".to_owned()));
    room.grant(AllowanceScope::Observe);
    room.restrict(&cap("x", 5));
    assert!(matches!(room.open().as_slice(), [one] if one.what == AllowanceScope::Tool("x".to_owned())));
}

#[test]
fn a_restriction_that_is_undone_at_once_is_not_called_a_loosening() {
    let room = Room::with(OPEN);
    let done = room.restrict(&block("x", None));
    room.clock.advance(Duration::from_secs(3));
    room.desk.undo(token(&done)).unwrap();
    let history = History::open_reader(&room.home).unwrap();
    let changes = history.changes_between(&CallFilter::default(), (0, i64::MAX), Toward::Newer, 10).unwrap();
    let loosened: Vec<bool> = changes.iter().rev().take(2).map(|change| change.loosened).collect();
    assert_eq!(loosened, [true, false], "{changes:#?}");
}
