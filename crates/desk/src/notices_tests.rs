#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_store::SessionId;

use super::*;

const ON: NotificationSettings = NotificationSettings { blocked: true, alarms: true };

fn news<'a>(calls: &'a [LineRow], events: &'a [EventRow], alarms: &'a [Alarm]) -> News<'a> {
    News { now_ms: 1_000_000, calls, events, alarms, settings: ON }
}

fn raised(tellings: Vec<Telling>) -> Vec<Notice> {
    let raised = |telling| match telling {
        Telling::Raise(notice) => Some(notice),
        Telling::Amend(_) => None,
    };
    tellings.into_iter().filter_map(raised).collect()
}

fn call(session: &str, seq: u64, tool: &str, decision: Decision) -> LineRow {
    let session: SessionId = session.parse().unwrap();
    LineRow {
        rev: 1,
        id: callgate_store::CallId { session, seq },
        at_ms: 0,
        server: "files".to_owned(),
        client: Some("claude-ai".to_owned()),
        method: Some("tools/call".to_owned()),
        tool: Some(tool.to_owned()),
        decision,
        rule: None,
        reason: Some("not from an agent".to_owned()),
        outcome: None,
        duration: None,
        bytes: 0,
        args: None,
        args_withheld: false,
        demo: false,
        has_digest: false,
    }
}

fn sessions() -> (String, String) {
    (SessionId::random().to_string(), SessionId::random().to_string())
}

#[test]
fn the_first_block_per_tool_and_session_is_told_and_the_rest_counted() {
    let (one, two) = sessions();
    let mut notices = Notices::default();
    let calls: Vec<LineRow> = (0..13).map(|seq| call(&one, seq, "drop", Decision::Denied)).collect();
    let told = raised(notices.take(&news(&calls, &[], &[])));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].title, "Blocked: drop on files");
    assert_eq!(told[0].body, "claude-ai was kept from it: not from an agent (refused 12 more times)");
    assert_eq!(told[0].opens, Place::Call { id: calls[0].id.to_string() });
    assert_eq!(notices.take(&news(&calls[..1], &[], &[])), [], "not again");
    let others = [call(&one, 20, "wipe", Decision::Capped), call(&two, 1, "drop", Decision::Denied)];
    let titles: Vec<String> =
        raised(notices.take(&news(&others, &[], &[]))).into_iter().map(|notice| notice.title).collect();
    assert_eq!(titles, ["Capped: wipe on files", "Blocked: drop on files"]);
}

#[test]
fn a_growing_count_is_said_in_place_now_and_then_and_to_its_end() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let blocks = [call(&one, 1, "drop", Decision::Denied)];
    let mut at = |now_ms, calls: &[LineRow]| notices.take(&News { now_ms, ..news(calls, &[], &[]) });
    assert_eq!(raised(at(1_000_000, &blocks))[0].body, "claude-ai was kept from it: not from an agent");
    for second in 1..10 {
        assert_eq!(at(1_000_000 + second * 1_000, &blocks), [], "not each time");
    }
    // Nothing new, but nine that nobody was told of.
    let told = at(1_010_000, &[]);
    let [Telling::Amend(notice)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(notice.body, "claude-ai was kept from it: not from an agent (refused 9 more times)");
    assert_eq!(notice.opens, Place::Call { id: blocks[0].id.to_string() }, "still the first one");
    assert_eq!(at(1_030_000, &[]), [], "said");
    // A clock that was set back does not silence it.
    let told = at(500_000, &blocks);
    assert!(matches!(told.as_slice(), [Telling::Amend(_)]), "{told:?}");
}

#[test]
fn what_was_not_shown_is_not_counted_on_the_desktop_either() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let blocks = [call(&one, 1, "drop", Decision::Denied), call(&one, 2, "drop", Decision::Denied)];
    let settings = NotificationSettings { blocked: false, alarms: true };
    assert_eq!(notices.take(&News { settings, ..news(&blocks, &[], &[]) }), []);
    assert_eq!(notices.take(&News { now_ms: 2_000_000, ..news(&blocks, &[], &[]) }), []);
}

#[test]
fn what_passes_what_a_person_paused_and_the_demonstration_are_not_told() {
    let (one, _) = sessions();
    let demo = LineRow { demo: true, ..call(&one, 3, "c", Decision::Denied) };
    let calls = [
        call(&one, 1, "a", Decision::Allowed),
        call(&one, 2, "b", Decision::Paused),
        demo,
        call(&one, 4, "d", Decision::WouldDeny),
    ];
    assert_eq!(Notices::default().take(&news(&calls, &[], &[])), []);
}

#[test]
fn a_flood_of_names_cannot_flood_the_desktop() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let calls: Vec<LineRow> =
        (0..500).map(|seq| call(&one, seq, &format!("tool{seq}"), Decision::Denied)).collect();
    let told = raised(notices.take(&news(&calls, &[], &[])));
    assert_eq!(told.len(), BLOCKS_A_MINUTE);
    assert!(told.last().unwrap().body.contains("the log has them all"));
    let later = News { now_ms: 1_000_000 + MINUTE_MS, ..news(&[], &[], &[]) };
    let next = [call(&one, 900, "another", Decision::Denied)];
    assert_eq!(notices.take(&News { calls: &next, ..later }).len(), 1, "a minute later it goes on");
}

#[test]
fn a_block_is_told_also_when_so_many_names_are_known_that_they_are_forgotten() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let calls: Vec<LineRow> =
        (1..MOST as u64).map(|seq| call(&one, seq, &format!("tool{seq}"), Decision::Denied)).collect();
    notices.take(&news(&calls, &[], &[]));
    let next = [call(&one, 0, "drop", Decision::Denied), call(&one, 0, "wipe", Decision::Denied)];
    let later = News { now_ms: 1_000_000 + MINUTE_MS, ..news(&next, &[], &[]) };
    let told: Vec<String> = raised(notices.take(&later)).into_iter().map(|notice| notice.title).collect();
    assert_eq!(told, ["Blocked: drop on files", "Blocked: wipe on files"]);
    notices.take(&news(&[], &[], &[]));
    assert_eq!(notices.told.len(), 0, "no more than so many are remembered");
}

#[test]
fn settings_silence_blocks_and_alarms_but_not_loosening() {
    let (one, _) = sessions();
    let alarm = Alarm {
        server: "files".to_owned(),
        client: None,
        tool: Some("read".to_owned()),
        per_minute: 90,
        usual_per_minute: 4,
        since_ms: 0,
        words: "read on files: 90 calls a minute, usually up to 4".to_owned(),
    };
    let loosened = |id, origin, text: &str| EventRow {
        id,
        at_ms: 0,
        kind: EventKind::Loosened,
        server: Some("files".to_owned()),
        session: None,
        origin: Some(origin),
        text: text.to_owned(),
    };
    let events = [
        loosened(1, Origin::File, "\"drop\" is allowed"),
        loosened(2, Origin::File, "\"wipe\" is allowed"),
        loosened(3, Origin::Window, "\"read\" is allowed"),
    ];
    let calls = [call(&one, 1, "drop", Decision::Denied)];
    let alarms = [alarm];
    for (blocked, alarmed, expected) in
        [(true, true, 3), (false, true, 2), (true, false, 2), (false, false, 1)]
    {
        let settings = NotificationSettings { blocked, alarms: alarmed };
        let told = raised(Notices::default().take(&News { settings, ..news(&calls, &events, &alarms) }));
        assert_eq!(told.len(), expected, "{settings:?}: {told:?}");
        let last = told.last().unwrap();
        assert_eq!(last.title, "The rules of files were loosened in their file");
        assert_eq!(last.body, "\"drop\" is allowed (and 1 more)");
        if alarmed {
            let alarm = &told[told.len() - 2];
            assert_eq!(alarm.title, "90 calls in a minute");
            let acts: Vec<&str> = alarm.acts.iter().map(|act| act.1.as_str()).collect();
            assert_eq!(acts, ["Pause server", "Cap"]);
        }
    }
}

#[test]
fn hostile_text_is_shown_as_text() {
    let (one, _) = sessions();
    let tool = format!("\u{202e}evil\n{}", "x".repeat(5_000));
    let hostile = LineRow { reason: Some(tool.clone()), ..call(&one, 1, &tool, Decision::Denied) };
    let told = raised(Notices::default().take(&news(&[hostile], &[], &[])));
    let shown = format!("{}{}", told[0].title, told[0].body);
    assert!(shown.chars().count() < 400 && !shown.chars().any(crate::text::is_hidden), "{shown}");
}
