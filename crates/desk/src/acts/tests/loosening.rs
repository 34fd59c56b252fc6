//! Nothing is loosened without a yes, in time, to what was asked.

use super::*;
use crate::view::{AccessQuery, ToolAccess};

#[test]
fn nothing_is_loosened_before_a_yes_and_a_yes_counts_once() {
    let closed = r#"{ "version": "1", "default": "allow", "all_tools": { "action": "deny" }, "tools": { "x": { "action": "deny" } } }"#;
    let room = Room::with(closed);
    pause::pause(&room.home, Some("s"), None, &room.clock.now()).unwrap();
    let server = || "s".to_owned();
    let asked: Vec<Question> = [
        Loosening::Allow { target: target(None, None) },
        Loosening::Observe { server: server(), client: None, seconds: 1800 },
        Loosening::Resume { server: Some(server()), client: None },
    ]
    .iter()
    .map(|loosening| room.ask(loosening))
    .collect();
    assert_eq!(room.text(), closed);
    assert!(room.open().is_empty() && pause::reason(&room.home, "s").is_some());
    assert!(
        asked.iter().all(|question| question.words.contains('s') && question.words.ends_with('?')
            || question.words.contains("on record")),
        "{asked:#?}"
    );
    let [allow, observe, resume] = asked.try_into().unwrap_or_else(|_| panic!("three"));
    let done = room.desk.confirm(&observe.token).unwrap();
    assert_eq!(done.ends_ms.unwrap() - room.clock.now().wall_ms, 30 * 60_000);
    assert!(done.words.contains("30 minutes"), "{}", done.words);
    room.desk.confirm(&resume.token).unwrap();
    assert_eq!(pause::reason(&room.home, "s"), None);
    room.desk.confirm(&allow.token).unwrap();
    assert!(room.passes("c", "y") && !room.passes("c", "x"));
    for question in [allow, observe, resume] {
        assert_eq!(code(room.desk.confirm(&question.token)), ErrorCode::TooLate);
    }
    let loosened = room.events(EventKind::Loosened);
    assert!(
        loosened.len() >= 3 && loosened.iter().all(|event| event.origin == Some(Origin::Window)),
        "{loosened:#?}"
    );
}

#[test]
fn a_tool_that_is_asked_about_is_allowed_with_a_cap_by_one_question() {
    for asked in [
        r#"{ "version": "1", "default": "allow", "tools": { "x": { "action": "ask", "reason": "look" } } }"#,
        r#"{ "version": "1", "default": "allow", "tools": { "x*": { "action": "ask" } } }"#,
        r#"{ "version": "1", "default": "ask" }"#,
    ] {
        let room = Room::with(asked);
        assert!(!room.passes("c", "x"));
        let question = room.ask(&Loosening::AllowCapped {
            target: target(Some("x"), None),
            max: 10,
            window: "minute".to_owned(),
        });
        assert!(question.words.contains("x on s, at most 10 per minute"), "{}", question.words);
        assert_eq!(room.text(), asked);
        let done = room.desk.confirm(&question.token).unwrap();
        assert!(done.words.contains("at most 10 per minute"), "{}", done.words);
        assert_eq!(room.judged("c", "x", "{}"), "passes 1", "{}", room.text());
        assert!(!room.text().contains("look"), "the reason to ask is gone with it: {}", room.text());
    }
}

#[test]
fn a_question_is_forgotten_after_two_minutes_or_when_it_is_dismissed() {
    let room = Room::with(OPEN);
    let observe = Loosening::Observe { server: "s".to_owned(), client: None, seconds: 300 };
    let old = room.ask(&observe);
    room.clock.advance(Duration::from_secs(120));
    assert_eq!(code(room.desk.confirm(&old.token)), ErrorCode::TooLate);
    let unwanted = room.ask(&observe);
    room.desk.dismiss(&unwanted.token);
    assert_eq!(code(room.desk.confirm(&unwanted.token)), ErrorCode::TooLate);
    assert!(room.open().is_empty());
    // An undo is no answer to a question, and the other way round.
    let done = room.restrict(&block("x", None));
    assert_eq!(code(room.desk.confirm(token(&done))), ErrorCode::TooLate);
}

#[test]
fn a_yes_to_what_has_changed_since_is_a_conflict() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", Some("cursor")));
    let allow = room.ask(&Loosening::Allow { target: target(Some("x"), Some("cursor")) });
    let tool = room.ask(&Loosening::AllowFor {
        server: "s".to_owned(),
        tool: "x".to_owned(),
        client: None,
        seconds: 300,
    });
    let text = {
        room.restrict(&block("y", None));
        room.text()
    };
    for question in [allow, tool] {
        assert_eq!(code(room.desk.confirm(&question.token)), ErrorCode::Conflict);
        assert_eq!(code(room.desk.confirm(&question.token)), ErrorCode::TooLate);
    }
    assert!(room.text() == text && room.open().is_empty());
    pause::pause(&room.home, None, None, &room.clock.now()).unwrap();
    let resume = room.ask(&Loosening::Resume { server: None, client: None });
    pause::pause(&room.home, Some("s"), Some("theirs"), &room.clock.now()).unwrap();
    assert_eq!(code(room.desk.confirm(&resume.token)), ErrorCode::Conflict);
    assert!(pause::reason(&room.home, "s").is_some());
}

#[test]
fn allowing_a_client_again_takes_back_its_block_and_no_more() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", Some("cursor")));
    room.restrict(&cap("z", 5));
    let question = room.ask(&Loosening::Allow { target: target(Some("x"), Some("cursor")) });
    assert_eq!(question.words, "Let Cursor call x on s from now on?");
    let done = room.desk.confirm(&question.token).unwrap();
    assert_eq!(done.words, "Allowed x on s, for Cursor");
    assert!(room.passes("cursor", "x"));
    let question = room.ask(&Loosening::Uncap { target: target(Some("z"), Some("cursor")) });
    assert!(question.words.contains("5 per minute"), "{}", question.words);
    room.desk.confirm(&question.token).unwrap();
    assert_eq!(room.text(), OPEN);
    let nothing = room.desk.loosen(&Loosening::Uncap { target: target(Some("z"), None) }).unwrap();
    assert!(matches!(nothing, Answer::Done(done) if done.words.starts_with("Nothing to change")));
    // What everyone is refused is not opened for one.
    room.restrict(&block("x", None));
    assert_eq!(
        code(room.desk.loosen(&Loosening::Allow { target: target(Some("x"), Some("cursor")) })),
        ErrorCode::BadInput
    );
}

#[test]
fn an_allowance_that_would_not_help_is_not_offered() {
    let room = Room::with(OPEN);
    let allow_for = |tool: &str, seconds| Loosening::AllowFor {
        server: "s".to_owned(),
        tool: tool.to_owned(),
        client: None,
        seconds,
    };
    assert_eq!(code(room.desk.loosen(&allow_for("x", 5))), ErrorCode::BadInput);
    room.restrict(&Restriction::Block { target: target(None, None), reason: None });
    assert_eq!(code(room.desk.loosen(&allow_for("x", 5))), ErrorCode::BadInput);
    room.write(r#"{ "version": "1", "default": "deny" }"#);
    for seconds in [0, 7 * 24 * 3_600 + 1, u32::MAX] {
        assert_eq!(code(room.desk.loosen(&allow_for("x", seconds))), ErrorCode::BadInput);
    }
    let question = room.ask(&allow_for("x", 900));
    assert_eq!(question.words, "Let every client call x on s for 15 minutes?");
    room.desk.confirm(&question.token).unwrap();
    assert!(matches!(room.open().as_slice(), [one] if one.what == AllowanceScope::Tool("x".to_owned())));
    assert_eq!(
        code(room.desk.loosen(&Loosening::AllowNext { call: "aaaaaa-1".to_owned(), seconds: None })),
        ErrorCode::NotFound
    );
    assert_eq!(
        code(room.desk.loosen(&Loosening::AllowNext { call: "?".to_owned(), seconds: None })),
        ErrorCode::BadInput
    );
}

#[test]
fn a_change_is_taken_back_by_its_number_and_asks_only_if_that_loosens() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", None));
    room.clock.advance(Duration::from_secs(1));
    let loosening = room.ask(&Loosening::Allow { target: target(Some("x"), None) });
    room.desk.confirm(&loosening.token).unwrap();
    let [.., blocked, allowed] = room.timeline().try_into().map(|[a, b, c]: [_; 3]| [a, b, c]).unwrap();
    let revert = |change: &PolicyChange| Loosening::Revert { server: "s".to_owned(), change: change.id };
    // Taking the loosening back restricts.
    assert!(matches!(room.desk.loosen(&revert(&allowed)).unwrap(), Answer::Done(_)));
    assert!(!room.passes("c", "x"));
    let question = room.ask(&revert(&blocked));
    assert!(!room.passes("c", "x") && !question.loosened.is_empty());
    room.desk.confirm(&question.token).unwrap();
    assert!(room.passes("c", "x"));
    assert_eq!(
        code(room.desk.loosen(&Loosening::Revert { server: "s".to_owned(), change: -1 })),
        ErrorCode::NotFound
    );
}

#[test]
fn the_next_call_like_a_refused_one_is_allowed_once_and_only_after_a_yes() {
    let room = Room::with(r#"{ "version": "1", "default": "deny" }"#);
    let journal = session(&room, "cursor", "v");
    let mut batch = journal.batch();
    let denied = CallEntry {
        decision: Decision::Denied,
        method: "tools/call",
        tool: "x",
        client: "cursor",
        ..CallEntry::default()
    };
    let refused = batch.refuse(CallEntry { digest: Some([7; 32]), ..denied }).id().to_string();
    let nameless = batch.refuse(denied).id().to_string();
    let passed = batch.admit(call("cursor", "x"), &[], b"{}").unwrap().id().to_string();
    batch.commit();
    for (call, expected) in [(nameless, ErrorCode::BadInput), (passed, ErrorCode::BadInput)] {
        assert_eq!(code(room.desk.loosen(&Loosening::AllowNext { call, seconds: None })), expected);
    }
    let question = room.ask(&Loosening::AllowNext { call: refused.clone(), seconds: None });
    assert!(question.words.contains("once") && question.words.contains("10 minutes"), "{}", question.words);
    assert!(room.open().is_empty());
    let done = room.desk.confirm(&question.token).unwrap();
    assert_eq!(done.ends_ms.unwrap() - room.clock.now().wall_ms, 600_000);
    let [granted] = room.open().try_into().unwrap();
    assert!(
        matches!(&granted.what, AllowanceScope::Call { tool, digest, call } if tool == "x" && *digest == [7; 32] && call.to_string() == refused)
    );
    assert!(!allowance::is_spent(&room.home, &room.clock.now(), &granted).unwrap());
    // A block of the tool ends it, and an undo makes it good for its one call again.
    let blocked = room.restrict(&block("x", None));
    assert!(room.open().is_empty());
    room.desk.undo(token(&blocked)).unwrap();
    assert_eq!(room.open(), [granted]);
}

#[test]
fn a_default_policy_that_is_gone_or_broken_is_put_back_after_a_yes() {
    let room = Room::new();
    let path = room.home.default_policy();
    let ask = || match room.desk.loosen(&Loosening::RestoreDefault).unwrap() {
        Answer::Ask(question) => question,
        Answer::Done(done) => panic!("{done:?}"),
    };
    let Answer::Done(nothing) = room.desk.loosen(&Loosening::RestoreDefault).unwrap() else { panic!() };
    assert!(nothing.words.starts_with("Nothing to change"), "{nothing:?}");

    fs::remove_file(&path).unwrap();
    let question = ask();
    assert_eq!(question.loosened.len(), 1, "{question:?}");
    assert!(!path.exists(), "not before the yes");
    room.desk.confirm(&question.token).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), DEFAULT_POLICY);

    fs::write(&path, "{ mine, and broken").unwrap();
    let done = room.desk.confirm(&ask().token).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), DEFAULT_POLICY);
    let beside = fs::read_dir(room.home.policies_dir()).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = beside.filter(|file| file.extension().is_some_and(|e| e == "bak")).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "{ mine, and broken");
    assert!(done.words.contains(&kept[0].display().to_string()), "{done:?}");
    let history = History::open_reader(&room.home).unwrap();
    let events: Vec<EventRow> = history.events(None, 10).unwrap();
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::Loosened).count(), 2);

    // Somebody mended it by hand while the question stood there.
    fs::write(&path, "{").unwrap();
    let question = ask();
    fs::write(&path, OPEN).unwrap();
    let error = UiError::from(room.desk.confirm(&question.token).unwrap_err());
    assert_eq!((error.code, fs::read_to_string(&path).unwrap().as_str()), (ErrorCode::Conflict, OPEN));
}

#[test]
fn hostile_names_are_harmless_in_refusals_and_questions() {
    let room = Room::new();
    let hostile = "a\u{202e}b\n\u{1b}[2J".repeat(40);
    let harmless = |words: &str| {
        assert!(!words.chars().any(callgate_text::is_hidden), "{words:?}");
        assert!(words.chars().count() < 700, "{words:?}");
    };
    let told = |answer: Result<Answer, DeskError>| match answer {
        Ok(Answer::Ask(question)) => harmless(&question.words),
        Ok(Answer::Done(done)) => harmless(&done.words),
        Err(error) => {
            let error = UiError::from(error);
            harmless(&error.message);
            harmless(&error.detail.unwrap_or_default());
        }
    };
    let (server, tool) = (hostile.clone(), hostile.clone());
    let allow_for =
        Loosening::AllowFor { server: server.clone(), tool, client: Some(hostile.clone()), seconds: 300 };
    told(room.desk.loosen(&allow_for));
    let text = format!(
        r#"{{"version":"1","default":"deny","hide":["*"],"clients":{{}},"all_tools":{{"action":"deny","reason":{}}}}}"#,
        serde_json::to_string(&hostile).unwrap()
    );
    atomic::replace(&room.home.policy(&server), text.as_bytes()).unwrap();
    told(room.desk.loosen(&allow_for));
    told(room.desk.loosen(&Loosening::Revert { server: server.clone(), change: 99 }));
    told(room.desk.loosen(&Loosening::Resume { server: Some(server.clone()), client: None }));
    pause::pause(&room.home, Some(server.as_str()), None, &room.clock.now()).unwrap();
    told(room.desk.loosen(&Loosening::Resume { server: Some(server.clone()), client: None }));
    let target = Target { server: server.clone(), tool: Some("x".to_owned()), client: None };
    told(room.desk.restrict(&Restriction::Block { target, reason: Some(hostile) }).map(Answer::Done));
    let history = History::open_reader(&room.home).unwrap();
    for change in history.timeline(&server).unwrap() {
        told(room.desk.loosen(&Loosening::Revert { server: server.clone(), change: change.id }));
    }
    let error = UiError::from(room.desk.rules("nobody\u{202e}\n").unwrap_err());
    harmless(&error.message);
}

#[test]
fn what_is_allowed_for_a_while_is_for_the_client_that_was_refused_and_says_so() {
    let room =
        Room::with(r#"{ "version": "1", "default": "allow", "tools": { "x": { "action": "deny" } } }"#);
    let cursor = || Some("cursor".to_owned());
    let allow_for =
        Loosening::AllowFor { server: "s".to_owned(), tool: "x".to_owned(), client: cursor(), seconds: 900 };
    let question = room.ask(&allow_for);
    assert_eq!(question.words, "Let Cursor call x on s for 15 minutes?");
    let done = room.desk.confirm(&question.token).unwrap();
    assert_eq!(done.words, "Allowed x on s, for Cursor, for 15 minutes");
    let observe = Loosening::Observe { server: "s".to_owned(), client: cursor(), seconds: 1800 };
    let question = room.ask(&observe);
    assert!(question.words.contains("refuse, for Cursor, for 30 minutes"), "{}", question.words);
    room.desk.confirm(&question.token).unwrap();
    assert!(room.open().iter().all(|one| one.client == cursor() && !one.is_for("zed")));
    let told: Vec<String> =
        room.desk.overview().unwrap().allowances.into_iter().map(|one| one.words).collect();
    assert_eq!(told, ["\"x\" on s is allowed for Cursor", "the policy of s is only observed for Cursor"]);
    let recorded: Vec<String> =
        room.events(EventKind::Loosened).into_iter().map(|event| event.text).collect();
    assert!(
        recorded.iter().any(|words| words == "let Cursor call \"x\" on server s for 15 minutes"),
        "{recorded:?}"
    );
    // A block of another client is none of its business; one of its own ends it.
    room.restrict(&block("x", Some("zed")));
    assert_eq!(room.open().len(), 2);
    room.restrict(&block("x", Some("Cursor")));
    assert!(room.open().is_empty());
}

#[test]
fn nothing_is_promised_to_a_client_that_it_would_not_get() {
    let room = Room::with(
        r#"{ "version": "1", "default": "allow", "clients": { "zed": { "tools": { "x": { "action": "deny" } } } } }"#,
    );
    let allow = |client: &str| Loosening::AllowFor {
        server: "s".to_owned(),
        tool: "x".to_owned(),
        client: Some(client.to_owned()),
        seconds: 300,
    };
    assert_eq!(code(room.desk.loosen(&allow("cursor"))), ErrorCode::BadInput, "it passes as it is");
    assert_eq!(room.ask(&allow("zed")).words, "Let Zed call x on s for 5 minutes?");
}

#[test]
fn a_resumed_server_says_which_client_stays_paused_and_how_that_ends() {
    let room = Room::with(OPEN);
    let of = |client: Option<&str>| Restriction::Pause {
        server: Some("s".to_owned()),
        client: client.map(str::to_owned),
        reason: None,
    };
    let resume = Loosening::Resume { server: Some("s".to_owned()), client: None };
    let stays = "but calls of server s, for Cursor stay paused: callgate resume s --client cursor";
    room.restrict(&of(Some("cursor")));
    let Answer::Done(done) = room.desk.loosen(&resume).unwrap() else { panic!("asked") };
    assert!(done.words.starts_with("Nothing to change") && done.words.contains(stays), "{}", done.words);

    room.restrict(&of(None));
    let question = room.ask(&resume);
    assert!(
        question.words.contains("Calls of server s, for Cursor are paused besides"),
        "{}",
        question.words
    );
    let done = room.desk.confirm(&question.token).unwrap();
    assert!(done.words.starts_with("Resumed") && done.words.contains(stays), "{}", done.words);

    let client = Loosening::Resume { server: Some("s".to_owned()), client: Some("cursor".to_owned()) };
    let question = room.ask(&client);
    let done = room.desk.confirm(&question.token).unwrap();
    assert!(!done.words.contains("stay paused"), "{}", done.words);
    assert_eq!(pause::reason_for(&room.home, "s", "cursor"), None);
}

#[test]
fn a_call_whose_name_is_a_pattern_is_not_allowed_for_a_while_from_a_window() {
    let room = Room::with(r#"{"version":"1","default":"deny","tools":{}}"#);
    for tool in ["*e*", "?????_file", "*"] {
        let (server, tool) = ("s".to_owned(), tool.to_owned());
        let allow = Loosening::AllowFor { server, tool, client: None, seconds: 900 };
        let error = room.desk.loosen(&allow).unwrap_err().to_string();
        assert!(error.contains("would count as a pattern") && error.contains("callgate allow s"), "{error}");
    }
    assert!(room.open().is_empty());
}

#[test]
fn a_pattern_or_a_whole_server_is_allowed_for_a_while_like_it_is_blocked() {
    let mut room =
        Room::with(r#"{"version":"1","default":"deny","tools":{"read_a":{},"write_a":{"action":"deny"}}}"#);
    room.desk = Desk::new(room.home.clone(), Arc::clone(&room.clock) as Arc<dyn Clock>, Origin::Cli);
    let allow = |tool: &str| Loosening::AllowFor {
        server: "s".to_owned(),
        tool: tool.to_owned(),
        client: None,
        seconds: 900,
    };
    let access = |tool: &str| {
        let (server, tool) = ("s".to_owned(), Some(tool.to_owned()));
        let query = AccessQuery { server, tool, client: None, rule: None };
        room.desk.access(&[query]).remove(0) == ToolAccess::Open
    };
    let question = room.ask(&allow("write_*"));
    assert_eq!(question.words, "Let every client call every tool of s that fits write_* for 15 minutes?");
    room.desk.confirm(&question.token).unwrap();
    assert!(access("write_a") && access("write_b") && !access("other"));
    // Whoever blocks one of them means it now.
    room.restrict(&block("write_a", None));
    assert!(!access("write_a") && room.open().is_empty());
    let question = room.ask(&allow("*"));
    assert!(
        question.words.starts_with("Let every client call every tool of s for 15 minutes?"),
        "{}",
        question.words
    );
    let done = room.desk.confirm(&question.token).unwrap();
    assert_eq!(done.words, "Allowed every tool of s, for every client, for 15 minutes");
    assert!(access("write_a") && access("other"));
    let told: Vec<String> =
        room.desk.overview().unwrap().allowances.into_iter().map(|one| one.words).collect();
    assert_eq!(told, ["every tool of s is allowed"]);
    // What every tool has already is not promised once more.
    let refused = room.desk.loosen(&allow("read_a*")).unwrap();
    assert!(matches!(refused, Answer::Ask(_)), "one that is not known yet would be let in");
    room.write(r#"{"version":"1","default":"allow","tools":{}}"#);
    let error = room.desk.loosen(&allow("read_*")).unwrap_err().to_string();
    assert!(error.contains("every tool of s that fits read_* is allowed already"), "{error}");
}
