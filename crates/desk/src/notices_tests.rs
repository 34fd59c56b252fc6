#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_home::SessionId;

use super::*;

const ON: NotificationSettings = NotificationSettings { blocked: true, alarms: true };

fn news<'a>(calls: &'a [LineRow], events: &'a [EventRow], alarms: &'a [Alarm]) -> News<'a> {
    static NONE: BTreeMap<(String, String), ClassBadge> = BTreeMap::new();
    News { now_ms: 1_000_000, calls, events, alarms, classes: &NONE, settings: ON, in_front: false }
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
        id: callgate_home::CallId { session, seq },
        at_ms: 0,
        server: "files".to_owned(),
        client: Some("claude-desktop".to_owned()),
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
fn a_refused_tool_is_told_once_and_its_count_said_in_place() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let blocks = [call(&one, 1, "drop", Decision::Denied)];
    let mut at = |now_ms, calls: &[LineRow]| notices.take(&News { now_ms, ..news(calls, &[], &[]) });
    let told = raised(at(1_000_000, &blocks));
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].title, "Blocked: drop on files");
    assert_eq!(told[0].body, "Claude Desktop was kept from it: not from an agent");
    assert_eq!(told[0].opens, Place::Call { id: blocks[0].id.to_string() });
    for second in 1..3 {
        assert_eq!(at(1_000_000 + second * 1_000, &blocks), [], "not each time");
    }
    // Nothing new, but two that nobody was told of.
    let told = at(1_003_000, &[]);
    let [Telling::Amend(notice)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(notice.body, "Claude Desktop was kept from it: not from an agent (refused 2 more times)");
    assert_eq!(notice.opens, Place::Call { id: blocks[0].id.to_string() }, "still the first one");
    assert_eq!(at(1_030_000, &[]), [], "said");
    // A clock that was set back does not silence it.
    let told = at(500_000, &blocks);
    assert!(matches!(told.as_slice(), [Telling::Raise(_)]), "{told:?}");
}

#[test]
fn a_loop_of_two_thousand_calls_is_one_notification() {
    let (one, two) = sessions();
    let mut notices = Notices::default();
    let mut shown: Vec<Notice> = Vec::new();
    let alarm = |tool: &str| Alarm {
        server: "files".to_owned(),
        client: Some("claude-desktop".to_owned()),
        tool: Some(tool.to_owned()),
        per_minute: 90,
        usual_per_minute: 4,
        since_ms: 0,
        words: format!("{tool} on files: 90 calls a minute, usually up to 4"),
    };
    // Ten seconds, looked at each second; six tools of two clients in turn, some of which raise an alarm as well.
    for second in 0..10_u64 {
        let now_ms = 1_000_000 + second.cast_signed() * 1_000;
        let calls: Vec<LineRow> = (0..200)
            .map(|number| LineRow {
                at_ms: now_ms,
                client: Some(if number % 2 == 0 { "claude-desktop" } else { "claude-code" }.to_owned()),
                ..call(
                    if number % 2 == 0 { &one } else { &two },
                    second * 200 + number,
                    &format!("tool{}", number % 6),
                    Decision::Capped,
                )
            })
            .collect();
        let alarms = if second == 2 { vec![alarm("tool1"), alarm("tool2")] } else { Vec::new() };
        for telling in notices.take(&News { now_ms, ..news(&calls, &[], &alarms) }) {
            match telling {
                Telling::Raise(notice) => shown.push(notice),
                Telling::Amend(notice) => {
                    let same = shown.iter_mut().find(|one| one.topic == notice.topic);
                    *same.expect("something is shown") = notice;
                }
            }
        }
    }
    let [notice] = shown.as_slice() else { panic!("{} notifications", shown.len()) };
    assert_eq!(notice.title, "Claude Code and Claude Desktop loop: 2,000 calls refused in 9 s, 6 tools");
    assert_eq!(notice.body, "tool0, tool1, tool2 and 3 more on files");
    let acts: Vec<&str> = notice.acts.iter().map(|act| act.1.as_str()).collect();
    assert_eq!(acts, ["Pause all", "Show"]);
}

#[test]
fn what_comes_after_a_quiet_minute_is_another_incident() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let blocks = [call(&one, 1, "drop", Decision::Denied)];
    let mut at = |now_ms| notices.take(&News { now_ms, ..news(&blocks, &[], &[]) });
    let first = raised(at(1_000_000)).remove(0);
    assert!(raised(at(1_000_000 + QUIET_MS - 1)).is_empty(), "the same");
    let second = raised(at(1_000_000 + 2 * QUIET_MS)).remove(0);
    assert_ne!(first.topic, second.topic);
}

#[test]
fn nothing_is_told_while_the_window_is_in_front() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let blocks = [call(&one, 1, "drop", Decision::Denied)];
    let in_front = News { in_front: true, ..news(&blocks, &[], &[]) };
    assert_eq!(notices.take(&in_front), []);
    assert_eq!(notices.take(&News { now_ms: 1_010_000, ..news(&[], &[], &[]) }), [], "they were seen");
    // It goes on while the person looks elsewhere.
    let told = raised(notices.take(&News { now_ms: 1_020_000, ..news(&blocks, &[], &[]) }));
    assert_eq!(told.len(), 1);
    assert_eq!(
        notices.take(&News { now_ms: 1_030_000, ..in_front }),
        [],
        "what is on the desktop is left alone"
    );
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
fn a_flood_of_names_is_one_notification_and_takes_no_memory() {
    let (one, _) = sessions();
    let mut notices = Notices::default();
    let calls: Vec<LineRow> =
        (0..5_000).map(|seq| call(&one, seq, &format!("tool{seq}"), Decision::Denied)).collect();
    let told = raised(notices.take(&news(&calls, &[], &[])));
    assert_eq!(told.len(), 1);
    assert!(told[0].title.starts_with("Claude Desktop loops: 5,000 calls refused in 1 s"), "{told:?}");
    assert_eq!(notices.incident.as_ref().unwrap().tools.len(), MOST);
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
        [(true, true, 2), (false, true, 2), (true, false, 2), (false, false, 1)]
    {
        let settings = NotificationSettings { blocked, alarms: alarmed };
        let told = raised(Notices::default().take(&News { settings, ..news(&calls, &events, &alarms) }));
        assert_eq!(told.len(), expected, "{settings:?}: {told:?}");
        let last = told.last().unwrap();
        assert_eq!(last.title, "The rules of files were loosened in their file");
        assert_eq!(last.body, "\"drop\" is allowed (and 1 more)");
        if alarmed && !blocked {
            let alarm = &told[0];
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
    assert!(shown.chars().count() < 400 && !shown.chars().any(callgate_text::is_hidden), "{shown}");
}

#[test]
fn an_approval_that_nobody_gave_is_told_once_for_each_server_unless_the_window_is_in_front() {
    let forged = |id, server: &str| EventRow {
        id,
        at_ms: 0,
        kind: EventKind::ForgedApproval,
        server: Some(server.to_owned()),
        session: None,
        origin: Some(Origin::File),
        text: format!(
            "a call of \"drop\" was let through by an approval ({id}) that nobody is on record for"
        ),
    };
    let events = [forged(1, "files"), forged(2, "files"), forged(3, "mail")];
    let told = raised(Notices::default().take(&news(&[], &events, &[])));
    let titles: Vec<&str> = told.iter().map(|notice| notice.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "An approval that nobody gave let a call of files through",
            "An approval that nobody gave let a call of mail through"
        ]
    );
    assert!(told.iter().all(|notice| notice.opens == Place::Approvals && notice.body.contains("\"drop\"")));
    let in_front = News { in_front: true, ..news(&[], &events, &[]) };
    assert!(Notices::default().take(&in_front).is_empty());
}
