use super::*;

/// A script of calls: `start`, `end X`, `clear X`, any other tool; `!` before it: the server says no; `?`: no answer.
fn follow(script: &[&str]) -> Follower {
    let mut follower = Follower::default();
    play(&mut follower, script, 0);
    follower
}

fn play(follower: &mut Follower, script: &[&str], from: u64) {
    for (at, line) in script.iter().enumerate() {
        let call = from + at as u64 + 1;
        let (outcome, line) = match line.split_at(1) {
            ("!", rest) => (Some(CallOutcome::Failed), rest),
            ("?", rest) => (None, rest),
            _ => (Some(CallOutcome::Done), *line),
        };
        if line == "gone" {
            follower.server_gone(i64::try_from(call).unwrap_or_default());
            continue;
        }
        let (word, id) = line.split_once(' ').unwrap_or((line, ""));
        let tool = if ["start", "end", "get", "clear"].contains(&word) {
            format!("{word}_codegen_session")
        } else {
            word.to_owned()
        };
        let args = match word {
            "start" => r#"{"options":{"outputPath":"/out","testNamePrefix":"T"}}"#.to_owned(),
            _ => format!(r#"{{"sessionId":"{id}"}}"#),
        };
        let result = match word {
            "start" => format!(r#"{{"content":[{{"type":"text","text":"{{\"sessionId\":\"{id}\"}}"}}]}}"#),
            _ => r#"{"content":[{"type":"text","text":"{\"filePath\":\"/out/t.spec.ts\"}"}]}"#.to_owned(),
        };
        let at_ms = i64::try_from(call).unwrap_or_default();
        follower.sent(&Sent { call, at_ms, client: "c", tool: &tool, args: RetainedText::Whole(&args) });
        if let Some(outcome) = outcome {
            follower.settled(&Settled { call, at_ms, outcome, result: RetainedText::Whole(&result) });
        }
    }
}

/// Each session as `id state tools…`.
fn told(follower: &Follower) -> Vec<String> {
    let shown = |session: &Session| {
        let state = match &session.state {
            State::Starting => "starting",
            State::NotStarted => "not started",
            State::Open => "open",
            State::Ended { .. } => "ended",
            State::Cleared { .. } => "cleared",
            State::Lost { .. } => "lost",
        };
        let tools: Vec<&str> = session.actions.iter().map(|action| action.tool.as_str()).collect();
        format!("{} {state}: {}", session.id.as_deref().unwrap_or("?"), tools.join(" "))
    };
    follower.sessions().iter().map(shown).collect()
}

#[test]
fn sessions_are_followed_as_the_servers_keep_them() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["navigate", "start A", "navigate", "fill", "get A", "end A", "click"],
            &["A ended: navigate fill"],
        ),
        // A second start takes the recording over, and the first does not get it back.
        (&["start A", "click", "start B", "fill", "end B", "hover"], &["A open: click", "B ended: fill"]),
        (&["start A", "click", "clear A", "fill"], &["A cleared: click"]),
        // Its test is written: tidying up throws nothing away.
        (&["start A", "click", "end A", "clear A"], &["A ended: click"]),
        (&["start A", "click", "!end A", "clear A"], &["A cleared: click"]),
        // What is about browsers as such is in no recording.
        (
            &[
                "start A",
                "create_browser_session",
                "list_browser_sessions",
                "switch_browser_session",
                "get_session_info",
                "close_browser_session",
                "cleanup_idle_sessions",
                "playwright_close",
            ],
            &["A open: "],
        ),
        (&["start A", "click", "clear B", "fill"], &["A open: click fill"]),
        // What fails is recorded all the same.
        (&["start A", "!click", "playwright_close", "fill"], &["A open: click fill"]),
        // An end that could not write its file stops the recording and leaves the session.
        (&["start A", "click", "!end A", "fill", "end A"], &["A ended: click"]),
        (&["start A", "!clear A", "fill"], &["A open: fill"]),
        (&["start A", "click", "gone", "fill", "start B", "hover"], &["A lost: click", "B open: hover"]),
        (&["!start A", "fill"], &["? not started: "]),
        (&["start A", "!start B", "fill"], &["A open: fill", "? not started: "]),
        (&["?start A", "fill", "gone"], &["? lost: fill"]),
    ];
    for (script, expected) in cases {
        assert_eq!(told(&follow(script)), *expected, "{script:?}");
    }
}

#[test]
fn calls_that_were_sent_before_an_answer_are_recorded_where_the_server_records_them() {
    let mut follower = follow(&["start A", "?start B", "?fill"]);
    assert_eq!(told(&follower), ["A open: ", "? starting: fill"]);
    follower.settled(&Settled {
        call: 2,
        at_ms: 9,
        outcome: CallOutcome::Failed,
        result: RetainedText::Absent,
    });
    assert_eq!(told(&follower), ["A open: fill", "? not started: "]);
    follower.settled(&Settled {
        call: 3,
        at_ms: 9,
        outcome: CallOutcome::Done,
        result: RetainedText::Absent,
    });
    assert_eq!(follower.sessions()[0].actions[0].outcome, CallOutcome::Done);
}

#[test]
fn options_and_the_written_file_are_kept() {
    let follower = follow(&["start A", "end A"]);
    let session = &follower.sessions()[0];
    let options = Options { output: Some("/out".to_owned()), prefix: Some("T".to_owned()) };
    assert_eq!(session.options, options);
    let cleared = follow(&["start A", "click", "end A", "clear A"]);
    let State::Ended { at_ms: 3, file: Some(file) } = &cleared.sessions()[0].state else {
        panic!("{:?}", cleared.sessions()[0].state)
    };
    assert_eq!(file, "/out/t.spec.ts");
    assert!(!cleared.sessions()[0].threw_away());
    assert_eq!(session.state, State::Ended { at_ms: 2, file: Some("/out/t.spec.ts".to_owned()) });
}

#[test]
fn what_was_kept_out_of_the_record_is_followed_by_what_is_active() {
    let mut follower = Follower::default();
    let mut step = |tool: &str, args: RetainedText<'_>, result: RetainedText<'_>, call: u64| {
        let at_ms = i64::try_from(call).unwrap_or_default();
        follower.sent(&Sent { call, at_ms, client: "c", tool, args });
        follower.settled(&Settled { call, at_ms, outcome: CallOutcome::Done, result });
    };
    step("start_codegen_session", RetainedText::Names(r#"["options"]"#), RetainedText::Names(""), 1);
    step("fill", RetainedText::Names(r#"["selector","value"]"#), RetainedText::Names(""), 2);
    step("end_codegen_session", RetainedText::Names(r#"["sessionId"]"#), RetainedText::Names(""), 3);
    // From here on everything is kept, but for the answer to the start.
    step("start_codegen_session", RetainedText::Absent, RetainedText::Cut("{\"content\":[{"), 4);
    step("hover", RetainedText::Whole("{}"), RetainedText::Absent, 5);
    step("clear_codegen_session", RetainedText::Whole(r#"{"sessionId":"Z"}"#), RetainedText::Absent, 6);
    assert_eq!(told(&follower), ["? ended: fill", "Z cleared: hover"]);
    assert!(follower.sessions()[1].threw_away());
}

#[test]
fn counting_knows_as_much_without_keeping_the_actions() {
    let script = ["start A", "click", "fill", "start B", "hover"];
    let mut counting = Follower::counting();
    play(&mut counting, &script, 0);
    let counts = |follower: &Follower| -> Vec<(Option<String>, usize)> {
        follower.sessions().iter().map(|session| (session.id.clone(), session.recorded)).collect()
    };
    assert_eq!(counts(&counting), counts(&follow(&script)));
    assert!(counting.sessions().iter().all(|session| session.actions.is_empty()));
    assert_eq!(counting.open().count(), 2);
}

#[test]
fn a_start_that_came_to_nothing_is_not_of_note() {
    let follower = follow(&["!start A", "?start B", "gone", "start C"]);
    let of_note: Vec<bool> = follower.sessions().iter().map(Session::is_of_note).collect();
    assert_eq!(of_note, [false, false, true]);
}

#[test]
fn a_start_that_was_given_up_does_not_block_the_next_one() {
    let mut follower = follow(&["start A", "end A", "?start B"]);
    assert_eq!(follower.open().count(), 1, "it counts while somebody waits");
    follower.given_up(3);
    assert_eq!(follower.open().count(), 0);
    // The server did it after all, and said so late.
    let result = RetainedText::Whole(r#"{"content":[{"type":"text","text":"{\"sessionId\":\"B\"}"}]}"#);
    follower.settled(&Settled { call: 3, at_ms: 9, outcome: CallOutcome::Done, result });
    play(&mut follower, &["click"], 3);
    assert_eq!(told(&follower), ["A ended: ", "B open: click"]);
}
