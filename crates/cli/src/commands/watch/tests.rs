use std::sync::Arc;
use std::time::Duration;

use callgate_desk::Desk;
use callgate_desk::view::{
    ApprovalState, ApprovalVerdict, ApprovalView, CallDetail, CallFilter, CallLine, CapAdvice, CapChoice,
    Decision, LogEntry, Only, Outcome, PageFrom, Restriction, Target, ToolAccess, Why,
};
use callgate_home::clock::SystemClock;
use callgate_home::{Home, SessionId};
use callgate_journal::{CallEntry, Journal, Origin, SessionInfo};

use super::super::draw;
use super::{KeyPress, List, Over, ScreenRequest};

fn call(rev: i64, tool: &str, decision: Decision) -> CallLine {
    let refused = decision != Decision::Allowed;
    CallLine {
        rev,
        id: format!("k3f9-{rev}"),
        at_ms: 1_000 * rev,
        server: "playwright".to_owned(),
        client: Some("claude-ai".to_owned()),
        session: "k3f9".to_owned(),
        tool: Some(tool.to_owned()),
        method: Some("tools/call".to_owned()),
        class: None,
        gist: "url: https://example.org".to_owned(),
        decision,
        refused,
        rule: refused.then(|| "/tools/x".to_owned()),
        reason: refused.then(|| "not from an agent".to_owned()),
        outcome: Some(if refused { Outcome::NotSent } else { Outcome::Ok }),
        duration_us: Some(3_000),
        bytes: 120,
        demo: false,
        times: 1,
        first_rev: rev,
        first_ms: 1_000 * rev,
        tools: Vec::new(),
        fold_key: None,
        repeatable: refused,
    }
}

fn calls(count: i64) -> List {
    List::new((1..=count).map(|rev| LogEntry::Call(call(rev, "navigate", Decision::Allowed))).collect())
}

fn target() -> Target {
    Target {
        server: "playwright".to_owned(),
        tool: Some("navigate".to_owned()),
        client: Some("claude-ai".to_owned()),
    }
}

/// The newest call, chosen as a person does it.
fn chosen(count: i64) -> List {
    let mut list = calls(count);
    list.press(KeyPress::Char('k'));
    list
}

fn detail(line: CallLine) -> CallDetail {
    let why = Why {
        words: "Allowed".to_owned(),
        rule: None,
        excerpt: None,
        policy: None,
        counter: None,
        changed_since: false,
    };
    CallDetail {
        line,
        run: 1,
        args: None,
        result: None,
        why,
        decided: None,
        access: ToolAccess::Open,
        session: None,
        siblings: Vec::new(),
        json: String::new(),
    }
}

fn asked(id: &str) -> ApprovalView {
    ApprovalView {
        id: id.to_owned(),
        call: "k3f9-1".to_owned(),
        server: "files".to_owned(),
        client: "cursor".to_owned(),
        tool: "write_file".to_owned(),
        class: None,
        rule: "/tools/write_file/action".to_owned(),
        reason: "look twice".to_owned(),
        difference: None,
        arguments: Some(r#"{"path":"/tmp/a"}"#.to_owned()),
        arguments_bytes: 17,
        complete: true,
        masked: 0,
        compared: None,
        opened_ms: 0,
        expires_ms: 0,
        held_until_ms: None,
        in_background: false,
        asked: 1,
        approved_lately: 0,
        denied_lately: 0,
        state: ApprovalState::Open,
        decided_ms: None,
        decided_by: None,
        words: None,
        in_conversation: false,
    }
}

fn waiting(ids: &[&str]) -> List {
    let mut list = calls(1);
    list.waiting = ids.iter().map(|id| asked(id)).collect();
    list.press(KeyPress::Char('a'));
    list
}

fn typed(list: &mut List, word: &str) -> Option<ScreenRequest> {
    assert_eq!(list.press(KeyPress::Char('y')), None);
    for key in word.chars() {
        assert_eq!(list.press(KeyPress::Char(key)), None);
    }
    list.press(KeyPress::Enter)
}

#[test]
fn a_yes_takes_its_word_and_is_for_the_call_that_was_looked_at() {
    for word in ["", "y", "yes", "approv", "approve "] {
        let mut list = waiting(&["aaaaaa"]);
        assert_eq!(typed(&mut list, word), None, "{word}");
        assert!(list.said.contains("Not approved"), "{}", list.said);
        assert_eq!(list.over, Over::Waiting("aaaaaa".to_owned()));
    }
    let mut list = waiting(&["aaaaaa", "bbbbbb"]);
    list.press(KeyPress::Char('y'));
    list.waiting.remove(0);
    for key in "approve".chars() {
        list.press(KeyPress::Char(key));
    }
    let yes = ScreenRequest::Decide("aaaaaa".to_owned(), ApprovalVerdict::Once);
    assert_eq!(list.press(KeyPress::Enter), Some(yes), "the desk says that it is gone");
    let mut list = waiting(&["aaaaaa"]);
    list.press(KeyPress::Char('y'));
    assert_eq!(list.press(KeyPress::Escape), None);
}

#[test]
fn a_no_is_one_key_and_never_hits_a_call_that_moved_up() {
    let mut list = waiting(&["aaaaaa", "bbbbbb"]);
    list.press(KeyPress::Char('j'));
    let deny = |block| ApprovalVerdict::Deny { reason: None, block };
    assert_eq!(
        list.press(KeyPress::Char('d')),
        Some(ScreenRequest::Decide("bbbbbb".to_owned(), deny(false)))
    );
    let mut list = waiting(&["aaaaaa", "bbbbbb"]);
    list.waiting.remove(0);
    for key in ['d', 'D', 'y'] {
        assert_eq!(list.press(KeyPress::Char(key)), None);
        assert!(list.said.contains("does not wait any more"), "{}", list.said);
    }
    list.press(KeyPress::Char('j'));
    assert_eq!(list.press(KeyPress::Char('D')), Some(ScreenRequest::Decide("bbbbbb".to_owned(), deny(true))));
}

#[test]
fn what_the_screen_cannot_show_whole_is_not_approved_in_it() {
    let hostile = "\u{1b}[2J\u{202e}".repeat(200);
    for (arguments, complete) in [("x".repeat(4_000), true), ("{}".to_owned(), false), (hostile, true)] {
        let mut list = waiting(&["aaaaaa"]);
        list.waiting[0] = ApprovalView { arguments: Some(arguments), complete, ..asked("aaaaaa") };
        assert_eq!(list.press(KeyPress::Char('y')), None);
        assert_eq!(list.over, Over::Waiting("aaaaaa".to_owned()));
        assert!(list.said.contains("callgate approve aaaaaa"), "{}", list.said);
        let lines = draw::screen(&list, (80, 24), 0);
        assert_eq!(lines.len(), 24);
        assert!(!lines.join("").contains("\u{1b}[2J"));
    }
    let mut list = waiting(&["aaaaaa"]);
    list.waiting[0].arguments = Some(format!("{{\"a\":\"{}end\"}}", "x".repeat(400)));
    let shown = draw::screen(&list, (80, 24), 0).concat();
    assert!(shown.contains("end\"}") && shown.contains("1 call waits for your decision (a)"), "{shown}");
    assert_eq!(list.press(KeyPress::Char('y')), None);
    assert!(matches!(list.over, Over::Approving { .. }));
}

#[test]
fn nothing_that_waits_is_said() {
    let mut list = calls(1);
    list.press(KeyPress::Char('a'));
    assert!(list.said.contains("No call waits"), "{}", list.said);
}

#[test]
fn b_blocks_the_chosen_tool_for_its_client_only() {
    let mut list = chosen(3);
    let blocked = ScreenRequest::Restrict(Restriction::Block { target: target(), reason: None });
    assert_eq!(list.press(KeyPress::Char('b')), Some(blocked));
}

#[test]
fn b_while_the_log_follows_never_hits_a_call_that_came_in_between() {
    let mut list = calls(3);
    assert_eq!(list.press(KeyPress::Char('b')), None, "nothing was chosen");
    assert!(list.said.contains("navigate of claude-ai on playwright"), "{}", list.said);
    list.take(vec![LogEntry::Call(call(4, "delete_everything", Decision::Allowed))]);
    let blocked = ScreenRequest::Restrict(Restriction::Block { target: target(), reason: None });
    assert_eq!(list.press(KeyPress::Char('b')), Some(blocked), "the one that was named");
}

#[test]
fn a_choice_whose_call_is_gone_is_no_choice() {
    let mut list = chosen(3);
    list.renew(vec![LogEntry::Call(call(7, "other", Decision::Allowed))]);
    assert_eq!(list.press(KeyPress::Char('b')), None);
    let mut list = chosen(3);
    list.renew((2..=5).map(|rev| LogEntry::Call(call(rev, "navigate", Decision::Allowed))).collect());
    assert_eq!(list.call().map(|line| line.rev), Some(3));
}

#[test]
fn pause_all_is_dead_in_no_view() {
    let advice = CapAdvice { peak_per_minute: 1, words: String::new(), choices: Vec::new(), present: None };
    let line = call(1, "navigate", Decision::Allowed);
    let views = [
        Over::Nothing,
        Over::Help,
        Over::Detail(Box::new(detail(line.clone()))),
        Over::Caps(Box::new((line, advice))),
        Over::Waiting("aaaaaa".to_owned()),
    ];
    for view in views {
        let mut list = calls(2);
        let shown = format!("{view:?}");
        list.over = view;
        assert_eq!(
            list.press(KeyPress::Char('P')),
            Some(ScreenRequest::Restrict(super::pause_all())),
            "{shown}"
        );
        assert_eq!(format!("{:?}", list.over), shown, "the view stays");
        assert_eq!(list.press(KeyPress::Char('u')), Some(ScreenRequest::Undo), "{shown}");
        assert_eq!(list.press(KeyPress::Char('q')), Some(ScreenRequest::Quit), "{shown}");
    }
}

#[test]
fn an_opened_call_can_be_blocked_capped_and_hidden() {
    let line = call(1, "navigate", Decision::Allowed);
    let wishes = [
        ('b', ScreenRequest::Restrict(Restriction::Block { target: target(), reason: None })),
        ('h', ScreenRequest::Restrict(Restriction::Hide { target: target(), note: None })),
        ('c', ScreenRequest::Advise(line.clone())),
    ];
    for (key, wish) in wishes {
        // Another call is chosen by now: what counts is the one that is read.
        let mut list = List::new(vec![LogEntry::Call(call(9, "other", Decision::Allowed))]);
        list.open(detail(line.clone()));
        assert_eq!(list.press(KeyPress::Char(key)), Some(wish));
        assert!(matches!(list.over, Over::Detail(_)), "it stays open");
        assert_eq!(list.press(KeyPress::Escape), None);
        assert_eq!(list.over, Over::Nothing);
    }
}

#[test]
fn every_key_of_a_footer_does_something_in_its_view() {
    let line = call(2, "navigate", Decision::Allowed);
    let advice = CapAdvice {
        peak_per_minute: 1,
        words: String::new(),
        choices: vec![CapChoice {
            max: 30,
            window: "minute".to_owned(),
            words: "30/min".to_owned(),
            advised: true,
        }],
        present: None,
    };
    let views: [fn(&CallLine, &CapAdvice) -> Over; 4] = [
        |_, _| Over::Nothing,
        |_, _| Over::Help,
        |line, _| Over::Detail(Box::new(detail(line.clone()))),
        |line, advice| Over::Caps(Box::new((line.clone(), advice.clone()))),
    ];
    for view in views {
        let footer = draw::keys(&view(&line, &advice));
        for words in footer.split("  ") {
            let key = match words.split(' ').next().unwrap_or_default() {
                "any" => KeyPress::Char('x'),
                "Enter" => KeyPress::Enter,
                "Esc" => KeyPress::Escape,
                named => KeyPress::Char(named.chars().next().unwrap_or('?')),
            };
            let mut list = chosen(3);
            list.step(-1);
            list.over = view(&line, &advice);
            let before = format!("{list:?}");
            let wish = list.press(key);
            assert!(wish.is_some() || format!("{list:?}") != before, "{words:?} of {footer:?} is dead");
        }
    }
}

#[test]
fn a_cap_is_chosen_by_its_number_and_by_nothing_else() {
    let advice = CapAdvice {
        peak_per_minute: 22,
        words: "your peak is 22/min".to_owned(),
        choices: vec![CapChoice {
            max: 30,
            window: "minute".to_owned(),
            words: "30/min".to_owned(),
            advised: true,
        }],
        present: None,
    };
    for (key, chosen) in [
        (KeyPress::Char('1'), true),
        (KeyPress::Char('2'), false),
        (KeyPress::Char('0'), false),
        (KeyPress::Enter, false),
    ] {
        let mut list = calls(1);
        list.offer_caps(call(1, "navigate", Decision::Allowed), advice.clone());
        let cap = Restriction::Cap { target: target(), max: 30, window: "minute".to_owned() };
        assert_eq!(list.press(key), chosen.then_some(ScreenRequest::Restrict(cap)), "{key:?}");
        assert_eq!(list.over, Over::Nothing);
    }
}

#[test]
fn moving_up_stops_following_and_new_calls_do_not_move_the_choice() {
    let mut list = calls(10);
    list.press(KeyPress::Char('k'));
    let chosen = list.call().map(|line| line.rev);
    list.take(vec![LogEntry::Call(call(11, "navigate", Decision::Allowed))]);
    assert_eq!((list.call().map(|line| line.rev), list.unseen), (chosen, 1));
    list.press(KeyPress::Char('f'));
    assert_eq!((list.selected, list.unseen), (None, 0), "nothing is chosen while the log follows");
}

#[test]
fn folded_refusals_are_counted_once_however_often_a_follower_tells_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    callgate_controls::prepare_home(&home).unwrap();
    let clock = Arc::new(SystemClock::default());
    let info = SessionInfo {
        id: SessionId::random(),
        server: "s".to_owned(),
        client: Some("cursor".to_owned()),
        command: vec!["server".to_owned()],
        policy_version: None,
        watch_only: false,
        demo: false,
        secrets: Vec::new(),
    };
    let journal = Journal::open(&home, &info, clock.clone()).unwrap();
    let refuse = |tool: &str, times: usize| {
        let rule = format!("/tools/{tool}");
        let mut batch = journal.batch();
        for _ in 0..times {
            batch.refuse(CallEntry {
                decision: callgate_journal::Decision::Capped,
                method: "tools/call",
                tool,
                client: "cursor",
                rule: &rule,
                ..CallEntry::default()
            });
        }
        batch.commit();
        assert!(journal.drained(Duration::from_secs(20)));
    };
    let desk = Desk::new(home, clock, Origin::Cli);
    let filter = CallFilter { only: Some(Only::Calls), ..CallFilter::default() };
    refuse("x", 3);
    let page = desk.log_page(&filter, &PageFrom::Newest, 500).unwrap();
    let mut follower = desk.follow(&filter, page.rev).unwrap();
    let mut list = List::new(page.entries);
    let mut shown = |list: &mut List| {
        while let Some(batch) = follower.next().unwrap() {
            list.take(batch.entries);
        }
        let lines = list.entries.iter().filter_map(|entry| match entry {
            LogEntry::Call(line) => Some((line.tool.clone().unwrap(), line.times)),
            _ => None,
        });
        lines.collect::<Vec<_>>()
    };
    let line = |tool: &str, times| (tool.to_owned(), times);
    for (more, all) in [(1, 4), (10, 14), (600, 614)] {
        refuse("x", more);
        assert_eq!(shown(&mut list), [line("x", all)]);
    }
    refuse("y", 2);
    refuse("x", 1);
    refuse("x", 1);
    assert_eq!(shown(&mut list), [line("x", 614), line("y", 2), line("x", 2)]);
}

#[test]
fn two_loops_that_take_turns_are_two_lines_that_grow_where_they_are() {
    let mut list = List::new(Vec::new());
    let line = |session: &str, rev, first_rev, times| {
        let one = call(rev, "click", Decision::Capped);
        let fold_key = Some(session.to_owned());
        LogEntry::Call(CallLine {
            session: session.to_owned(),
            first_rev,
            times,
            fold_key,
            refused: true,
            ..one
        })
    };
    list.take(vec![line("a", 1, 1, 1), line("b", 2, 2, 1)]);
    list.take(vec![line("a", 7, 1, 4), line("b", 8, 2, 4)]);
    list.take(vec![line("b", 10, 2, 5), line("a", 11, 1, 6)]);
    let shown = list.entries.iter().filter_map(|entry| match entry {
        LogEntry::Call(line) => Some((line.session.as_str(), line.times)),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), [("a", 6), ("b", 5)]);
}

#[test]
fn a_history_that_is_gone_or_replaced_does_not_end_the_watching() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    callgate_controls::prepare_home(&home).unwrap();
    let clock = Arc::new(SystemClock::default());
    let refuse = |tool: &str| {
        let info = SessionInfo {
            id: SessionId::random(),
            server: "s".to_owned(),
            client: Some("cursor".to_owned()),
            command: vec!["server".to_owned()],
            policy_version: None,
            watch_only: false,
            demo: false,
            secrets: Vec::new(),
        };
        let journal = Journal::open(&home, &info, clock.clone()).unwrap();
        let mut batch = journal.batch();
        let decision = callgate_journal::Decision::Capped;
        batch.refuse(CallEntry {
            decision,
            method: "tools/call",
            tool,
            client: "cursor",
            ..CallEntry::default()
        });
        batch.commit();
        assert!(journal.drained(Duration::from_secs(20)));
    };
    refuse("old");
    let desk = Desk::new(home.clone(), clock.clone(), Origin::Cli);
    let mut watch = super::super::Watch::begin(&desk, CallFilter::default()).unwrap();
    let tools = |list: &List| -> Vec<String> {
        let tool = |entry: &LogEntry| match entry {
            LogEntry::Call(line) => line.tool.clone(),
            _ => None,
        };
        list.entries.iter().filter_map(tool).collect()
    };
    assert_eq!(tools(&watch.list), ["old"]);
    let path = home.history_db();
    std::fs::rename(&path, home.path().join("away")).unwrap();
    std::fs::create_dir(&path).unwrap();
    watch.look();
    assert!(watch.list.said.starts_with("New calls cannot be shown"), "{}", watch.list.said);
    std::fs::remove_dir(&path).unwrap();
    for suffix in ["-wal", "-shm"] {
        let mut name = path.clone().into_os_string();
        name.push(suffix);
        let _not_there = std::fs::remove_file(name);
    }
    refuse("new");
    watch.look();
    assert_eq!(tools(&watch.list), ["new"]);
    assert_eq!(watch.list.said, "New calls are shown again.");
}

#[test]
fn a_call_that_ends_stays_one_row() {
    let mut list = List::new(Vec::new());
    let running = CallLine { outcome: None, duration_us: None, ..call(500, "y", Decision::Allowed) };
    list.take(vec![LogEntry::Call(running)]);
    list.take(vec![LogEntry::Call(call(500, "y", Decision::Allowed))]);
    assert_eq!(list.entries.len(), 1);
    list.press(KeyPress::Char('k'));
    assert_eq!(list.call().and_then(|line| line.outcome), Some(Outcome::Ok));
}

#[test]
fn nothing_to_block_is_said_and_nothing_is_asked_for() {
    let mut list = List::new(Vec::new());
    for key in ['b', 'h', 'c'] {
        assert_eq!(list.press(KeyPress::Char(key)), None);
    }
    assert_eq!(list.press(KeyPress::Enter), None);
    list.press(KeyPress::Char('b'));
    assert!(list.said.contains("choose one"), "{}", list.said);
}

#[test]
fn a_search_is_typed_sent_and_ended() {
    let mut list = calls(1);
    list.press(KeyPress::Char('/'));
    for key in ['q', 'b', 'x'] {
        assert_eq!(list.press(KeyPress::Char(key)), None, "typing is no command");
    }
    list.press(KeyPress::Backspace);
    assert_eq!(list.press(KeyPress::Enter), Some(ScreenRequest::Search("qb".to_owned())));
    let mut list = calls(1).searched(Some("qb".to_owned()));
    assert_eq!(list.press(KeyPress::Escape), Some(ScreenRequest::Search(String::new())));
}

#[test]
fn every_screen_fits_the_terminal_and_hostile_text_is_harmless() {
    let hostile = "a\u{1b}[2J\u{202e}b".repeat(40);
    let mut list = List::new(vec![
        LogEntry::Call(CallLine {
            gist: hostile.clone(),
            client: Some(hostile.clone()),
            ..call(1, &hostile, Decision::Allowed)
        }),
        LogEntry::Call(call(2, "navigate", Decision::Denied)),
    ]);
    list.say(&hostile);
    for (columns, rows) in [(20, 6), (80, 24), (200, 50)] {
        for over in [Over::Nothing, Over::Help, Over::Typing(hostile.clone())] {
            list.over = over;
            let lines = draw::screen(&list, (columns, rows), 0);
            assert_eq!(lines.len(), rows.max(3), "{columns}×{rows}");
            let all = lines.join("\n");
            assert!(!all.contains("\u{1b}[2J") && !all.contains('\u{202e}'), "{all:?}");
            if columns >= 80 {
                assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:#?}");
            }
        }
    }
}

#[test]
fn the_header_says_what_is_paused() {
    let mut list = calls(1);
    assert!(!draw::screen(&list, (80, 10), 0)[0].contains("paused"));
    list.paused = Some("everything is paused".to_owned());
    assert!(draw::screen(&list, (80, 10), 0)[0].contains("everything is paused"));
}

#[test]
fn what_an_act_does_not_cover_is_not_cut_off_at_the_edge_of_the_screen() {
    let mut list = chosen(30);
    let caveat = "files is not behind the gate in Cursor: its calls there are not seen";
    list.say(&format!("Blocked write on files, for every client  (u takes it back, for 10 s); but {caveat}"));
    for columns in [60, 80, 200] {
        let lines = draw::screen(&list, (columns, 24), 0);
        assert_eq!(lines.len(), 24);
        let all = lines.join(" ").replace("  ", " ");
        assert!(
            all.contains("Blocked write on files") && all.contains("are not seen"),
            "{columns}: {lines:#?}"
        );
    }
    // Calls have their place again with the next key.
    list.press(KeyPress::Char('k'));
    assert!(!draw::screen(&list, (60, 24), 0).join(" ").contains("Cursor"));
}
