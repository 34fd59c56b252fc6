//! Single lines: what one stands for, how it is found, and what it says in full.

use super::*;

#[test]
fn a_loop_that_ran_away_is_one_line_with_its_number() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "click", client: "c", ..SeedCall::default() };
    seeder.call(&SeedCall { seq: 1, ..call }).unwrap();
    for seq in 2..=413 {
        let (decision, outcome) = (Decision::Capped, Some(Outcome::NotSent));
        seeder.call(&SeedCall { seq, decision, outcome, rule: "/r", at_ms: seq as i64, ..call }).unwrap();
    }
    seeder.keep().unwrap();
    let page = fixture.desk.log_page(&CallFilter::default(), &PageFrom::Newest, 50).unwrap();
    assert_eq!(spans(&page.entries), [(1, 1, 1), (2, 413, 412)]);
    // It goes on while somebody looks.
    let mut follower = fixture.desk.follow(&CallFilter::default(), page.rev).unwrap();
    assert_eq!(follower.next().unwrap(), None);
    let more = SeedCall {
        seq: 414,
        decision: Decision::Capped,
        outcome: Some(Outcome::NotSent),
        rule: "/r",
        ..call
    };
    seeder.call(&more).unwrap();
    seeder.keep().unwrap();
    let batch = follower.next().unwrap().unwrap();
    assert_eq!(spans(&batch.entries), [(2, 414, 413)], "the same line, one more");
    let since = fixture.desk.since_last_look().unwrap();
    assert_eq!((since.calls, since.refused, since.loops), (0, 0, 0), "long ago by this clock");
    fixture.desk.looked().unwrap();
    for seq in 415..430 {
        seeder.call(&SeedCall { seq, ..more }).unwrap();
    }
    seeder.keep().unwrap();
    let since = fixture.desk.since_last_look().unwrap();
    assert_eq!((since.calls, since.refused, since.loops), (15, 15, 1));
}

#[test]
fn the_newest_lines_reach_over_a_loop_longer_than_any_page() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "click", client: "c", ..SeedCall::default() };
    seeder.call(&SeedCall { seq: 1, ..call }).unwrap();
    let before = seeder.call(&SeedCall { seq: 2, ..call }).unwrap();
    let (decision, outcome) = (Decision::Capped, Some(Outcome::NotSent));
    let refused = SeedCall { decision, outcome, rule: "/r", ..call };
    let looped: Vec<i64> =
        (3..=7_002).map(|seq| seeder.call(&SeedCall { seq, ..refused }).unwrap()).collect();
    seeder.keep().unwrap();
    let newest = |most: usize| {
        let lines = fixture.desk.newest_lines(&CallFilter::default(), most).unwrap();
        lines.iter().map(|line| (line.rev, line.times)).collect::<Vec<_>>()
    };
    let last = looped[looped.len() - 1];
    assert_eq!(newest(2), [(before, 1), (last, 7_000)]);
    assert_eq!((newest(1), newest(0)), (vec![(last, 7_000)], vec![]));
}

#[test]
fn a_loop_over_several_tools_is_one_line_that_opens_into_its_calls() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let sessions = [session(&mut seeder, "aaaaaa", "s", 0), session(&mut seeder, "bbbbbb", "s", 0)];
    let capped = SeedCall {
        client: "c",
        decision: Decision::Capped,
        outcome: Some(Outcome::NotSent),
        rule: "/all_tools/limits/0",
        ..SeedCall::default()
    };
    let tools = ["get", "list", "send"];
    for seq in 1..=9 {
        let call = SeedCall { session: sessions[0], tool: tools[seq as usize % 3], ..capped };
        seeder.call(&SeedCall { seq, at_ms: 1_000 * seq as i64, ..call }).unwrap();
    }
    seeder.call(&SeedCall { session: sessions[1], seq: 1, tool: "get", at_ms: 9_500, ..capped }).unwrap();
    let denied = SeedCall { decision: Decision::Denied, rule: "/tools/get", ..capped };
    seeder.call(&SeedCall { session: sessions[1], seq: 2, tool: "get", at_ms: 9_600, ..denied }).unwrap();
    seeder.keep().unwrap();
    let page = fixture.desk.log_page(&CallFilter::default(), &PageFrom::Newest, 50).unwrap();
    assert_eq!(spans(&page.entries), [(1, 9, 9), (10, 10, 1), (11, 11, 1)], "by session and by rule");
    let LogEntry::Call(line) = &page.entries[0] else { panic!("a call") };
    assert_eq!((line.first_ms, line.at_ms), (1_000, 9_000));
    assert_eq!(line.tools, ["list", "send", "get"]);
    // What is inside of it, newest first.
    let inside = CallFilter { session: Some(line.session.clone()), unfolded: true, ..CallFilter::default() };
    let from = PageFrom::Before { rev: line.rev + 1 };
    let page = fixture.desk.log_page(&inside, &from, 4).unwrap();
    assert_eq!(spans(&page.entries), [(6, 6, 1), (7, 7, 1), (8, 8, 1), (9, 9, 1)]);
    assert_eq!(page.older, Some(6), "and there is more");
}

#[test]
fn unlike_malformed_messages_are_not_one_line() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall {
        session: key,
        client: "c",
        decision: Decision::Malformed,
        outcome: Some(Outcome::NotSent),
        ..SeedCall::default()
    };
    for (seq, reason) in [(1, "not JSON"), (2, "not JSON"), (3, "an empty batch")] {
        seeder.call(&SeedCall { seq, reason, ..call }).unwrap();
    }
    seeder.keep().unwrap();
    let page = fixture.desk.log_page(&CallFilter::default(), &PageFrom::Newest, 50).unwrap();
    assert_eq!(spans(&page.entries), [(1, 2, 2), (3, 3, 1)]);
}

#[test]
fn the_id_of_a_call_finds_it_and_text_like_an_id_is_text() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "abcdef", "s", 0);
    let call = SeedCall { session: key, client: "c", ..SeedCall::default() };
    for seq in 1..=40 {
        let args = if seq == 7 { r#"{"a":"zzzzzz-1"}"# } else { "{}" };
        seeder.call(&SeedCall { seq, tool: "t", args: Some(args), ..call }).unwrap();
    }
    seeder.keep().unwrap();
    for indexed in [false, true] {
        let found = |text: &str| {
            let filter = CallFilter { text: Some(text.to_owned()), ..CallFilter::default() };
            let page = fixture.desk.log_page(&filter, &PageFrom::Newest, 50).unwrap();
            spans(&page.entries).iter().map(|span| span.0).collect::<Vec<_>>()
        };
        assert_eq!(found("abcdef-11"), [37], "base 36; indexed: {indexed}");
        assert_eq!(found("  ABCDEF-11 "), [37]);
        assert_eq!(found("zzzzzz-1"), [7]);
        assert_eq!(found("abcdef-zz"), [0; 0]);
        while fixture.desk.index_step().unwrap() {}
    }
}

#[test]
fn a_call_in_full_says_why_and_what_was_around_it() {
    let fixture = fixture();
    let policy = r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "click": {
      "limits": [{ "counter": "click", "window": "minute", "max": 10, "scope": "grant" }]
    }
  }
}"#;
    let version = callgate_policy::Policy::parse(policy).unwrap().version().to_owned();
    std::fs::write(fixture.home.policy("s"), policy).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(fixture.home.policy("s"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "abcdef", "s", 0);
    seeder.change(1, "s", (&version, policy), None, Origin::File, "first seen").unwrap();
    let call = SeedCall { session: key, client: "c", policy: &version, tool: "click", ..SeedCall::default() };
    for seq in 1..=30 {
        let args = Some(r##"{"selector":"#go"}"##);
        match seq {
            15 => {
                let rule = "/tools/click/limits/0";
                // As the gate says it, with the wait of that moment.
                let reason =
                    "\"click\" has reached its cap of 10 calls per minute; the next call can pass in 41 s";
                let (decision, outcome) = (Decision::Capped, Some(Outcome::NotSent));
                seeder
                    .call(&SeedCall {
                        seq,
                        decision,
                        outcome,
                        rule,
                        reason,
                        args,
                        digest: Some([1; 32]),
                        ..call
                    })
                    .unwrap()
            }
            _ => seeder.call(&SeedCall { seq, args, result: Some("{}"), ..call }).unwrap(),
        };
    }
    seeder.keep().unwrap();
    let detail = fixture.desk.call("abcdef-f").unwrap();
    assert_eq!(detail.line.gist, "selector: #go");
    assert!(detail.line.repeatable && detail.line.refused);
    assert_eq!(detail.why.words, "Capped: \"click\" has reached its cap of 10 calls per minute");
    assert!(detail.why.excerpt.as_deref().unwrap().contains("\"max\": 10"));
    assert!(!detail.why.changed_since);
    let counter = detail.why.counter.unwrap();
    assert_eq!((counter.used, counter.max, counter.window.as_str()), (0, 10, "minute"));
    assert_eq!(
        (counter.words.as_str(), counter.next.as_str()),
        ("0 of 10 this minute", "the next call passes")
    );
    assert_eq!(detail.siblings.len(), 21);
    let object: serde_json::Value = serde_json::from_str(&detail.json).unwrap();
    assert_eq!(object["id"], "abcdef-f");
    assert_eq!(object["policy_text"], policy);
    let session = detail.session.unwrap();
    assert_eq!((session.calls, session.refused), (30, 1));

    std::fs::write(fixture.home.policy("s"), policy.replace("10", "20")).unwrap();
    assert!(fixture.desk.call("abcdef-f").unwrap().why.changed_since);
    assert_eq!(
        fixture.desk.call("abcdef-2").unwrap().why.words,
        "Allowed: no rule is about it, and the default is to allow"
    );
    let missing = fixture.desk.call("abcdef-zzz").unwrap_err();
    assert!(missing.to_string().contains("no call abcdef-zzz"), "{missing}");
    assert!(fixture.desk.call("nonsense").is_err());
}

#[test]
fn counting_stops_when_nobody_wants_to_know_any_more() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    for seq in 1..=3_000 {
        seeder.call(&SeedCall { session: key, seq, tool: "t", ..SeedCall::default() }).unwrap();
    }
    seeder.keep().unwrap();
    let mut told = 0;
    fixture.desk.log_count(&CallFilter::default(), &|| true, &mut |_| told += 1).unwrap();
    assert_eq!(told, 0);
    assert!(fixture.clock.now().wall_ms > 0 && fixture.folder.path().exists());
}

/// Two agents that loop at once, and a third that calls now and then.
#[test]
fn two_loops_that_take_turns_are_two_lines_and_not_hundreds() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let [a, b, c] = ["aaaaaa", "bbbbbb", "cccccc"].map(|id| session(&mut seeder, id, "s", 0));
    let capped = SeedCall {
        tool: "click",
        client: "c",
        decision: Decision::Capped,
        outcome: Some(Outcome::NotSent),
        rule: "/r",
        ..SeedCall::default()
    };
    let allowed = SeedCall { session: c, tool: "get", client: "c", ..SeedCall::default() };
    let turn = |seeder: &mut Seeder, seq: u64| {
        for session in [a, b] {
            seeder.call(&SeedCall { session, seq, at_ms: seq as i64, ..capped }).unwrap();
        }
    };
    (1..=40).for_each(|seq| turn(&mut seeder, seq));
    seeder.call(&SeedCall { seq: 1, at_ms: 40, ..allowed }).unwrap();
    (41..=60).for_each(|seq| turn(&mut seeder, seq));
    seeder.keep().unwrap();
    let page = |from: &PageFrom| fixture.desk.log_page(&CallFilter::default(), from, 50).unwrap();
    let newest = page(&PageFrom::Newest);
    assert_eq!(spans(&newest.entries), [(1, 120, 60), (2, 121, 60), (81, 81, 1)], "where they began");
    assert_eq!(spans(&page(&PageFrom::After { rev: 0 }).entries), spans(&newest.entries), "from either end");
    // They go on while somebody looks: each grows where it is.
    let mut follower = fixture.desk.follow(&CallFilter::default(), newest.rev).unwrap();
    (61..=70).for_each(|seq| turn(&mut seeder, seq));
    seeder.keep().unwrap();
    let batch = follower.next().unwrap().unwrap();
    assert_eq!(spans(&batch.entries), [(1, 140, 70), (2, 141, 70)]);
    // What else a session does ends its line, and only its own.
    seeder.call(&SeedCall { session: a, seq: 100, ..allowed }).unwrap();
    turn(&mut seeder, 101);
    seeder.keep().unwrap();
    let batch = follower.next().unwrap().unwrap();
    assert_eq!(spans(&batch.entries), [(142, 142, 1), (143, 143, 1), (2, 144, 71)]);
    assert_eq!(fixture.desk.since_last_look().unwrap().loops, 0, "long ago by this clock");
}

#[test]
fn a_loop_whose_line_would_be_out_of_sight_goes_on_in_another() {
    for (others, lines) in [(20, 1), (21, 2)] {
        let fixture = fixture();
        let mut seeder = Seeder::open(&fixture.home).unwrap();
        let [a, b] = ["aaaaaa", "bbbbbb"].map(|id| session(&mut seeder, id, "s", 0));
        let (decision, outcome) = (Decision::Capped, Some(Outcome::NotSent));
        let capped =
            SeedCall { session: a, tool: "click", decision, outcome, rule: "/r", ..SeedCall::default() };
        seeder.call(&SeedCall { seq: 1, ..capped }).unwrap();
        for seq in 1..=others {
            seeder.call(&SeedCall { session: b, seq, tool: "get", ..SeedCall::default() }).unwrap();
        }
        seeder.call(&SeedCall { seq: 2, ..capped }).unwrap();
        seeder.keep().unwrap();
        for from in [PageFrom::Newest, PageFrom::After { rev: 0 }] {
            let page = fixture.desk.log_page(&CallFilter::default(), &from, 100).unwrap();
            assert_eq!(page.entries.len() as u64, others + lines, "{from:?}");
        }
    }
}
