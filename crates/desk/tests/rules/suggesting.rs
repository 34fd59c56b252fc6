//! Rules drawn from use, applied by the road of every other edit.

use callgate_desk::view::SaveAnswer;
use callgate_policy::Policy;

use crate::world::{SERVER, World};

/// As a server has it that nobody wrote a policy for, with a remark and a rule of the person's own.
const MINE: &str = "{ // mine\n  \"version\": \"1\", \"default\": \"allow\",\n  \"tools\": { \"delete\": { \"action\": \"deny\" } }\n}\n";

/// Four days with a server of files.
fn used() -> World {
    let mut world = World::with(MINE);
    let policy = Policy::parse(MINE).unwrap();
    let mut session = world.session("cursor");
    for day in 0..4 {
        for number in 0..15 {
            session.call(&policy, "write_file", &format!("{{\"path\":\"/home/me/work/{day}-{number}\"}}"));
            world.advance(60);
        }
        session.call(&policy, "read_file", "{\"path\":\"/home/me/work/x\"}");
        world.advance(24 * 60 * 60);
    }
    session.end();
    world
}

#[test]
fn rules_drawn_from_use_come_on_top_of_ones_own_and_change_no_call_that_was_made() {
    let world = used();
    let found = world.desk.suggest_rules(SERVER, 7, &|| false).unwrap();
    assert!(found.enough, "{:?}", found.words);
    assert_eq!(found.calls, 64);
    let effect = found.effect.unwrap();
    assert_eq!(effect.words, "No call of the last 7 days would have been decided differently.");
    let proposal = found.proposal.unwrap();
    assert!(proposal.text.contains("// mine"), "{}", proposal.text);
    let policy = Policy::parse(&proposal.text).unwrap();
    assert!(!policy.limits("cursor", "write_file", 0).is_empty());
    let of = |tool: &str, words: &str| {
        found.rules.iter().any(|rule| rule.tool.as_deref() == Some(tool) && rule.words.contains(words))
    };
    assert!(
        of("write_file", "only inside /home/me/work") && of("write_file", "at most"),
        "{:?}",
        found.rules
    );
    assert!(of("read_file", "allowed") && !of("read_file", "at most"), "{:?}", found.rules);
    assert_eq!(world.text(), MINE, "nothing is written");

    let SaveAnswer::Done(done) = world.desk.save_policy(SERVER, MINE, &proposal.text).unwrap() else {
        panic!("it only restricts")
    };
    assert_eq!(world.text(), proposal.text);
    world.desk.undo(&done.undo.unwrap().token).unwrap();
    assert_eq!(world.text(), MINE, "undone byte for byte");
}

#[test]
fn what_was_used_and_does_not_come_back_is_asked_about_in_the_draft() {
    let world = used();
    world.lists(&[
        (
            "write_file",
            r#"{"name":"write_file","description":"Delete a folder and all that is in it for good"}"#,
        ),
        ("read_file", r#"{"name":"read_file","description":"Read a file"}"#),
    ]);
    let found = world.desk.suggest_rules(SERVER, 7, &|| false).unwrap();
    let asked: Vec<_> = found.rules.iter().filter(|rule| rule.words == "asked about").collect();
    assert_eq!(asked.len(), 1, "{:?}", found.rules);
    assert_eq!(asked[0].tool.as_deref(), Some("write_file"));
    assert!(asked[0].why.starts_with("Destructive: "), "{:?}", asked[0]);
    let proposal = found.proposal.unwrap();
    let policy = Policy::parse(&proposal.text).unwrap();
    assert!(proposal.text.contains("\"action\": \"ask\""), "{}", proposal.text);
    assert!(!policy.limits("cursor", "write_file", 0).is_empty(), "what use says of it stays");
    let words = found.effect.unwrap().words;
    assert!(words.starts_with("Asks you about 60 calls"), "{words}");
    // What a person says of the class wins.
    world.desk.correct_class(SERVER, "write_file", Some(callgate_risk::RiskClass::Write)).unwrap();
    let found = world.desk.suggest_rules(SERVER, 7, &|| false).unwrap();
    assert!(found.rules.iter().all(|rule| rule.words != "asked about"), "{:?}", found.rules);
}

#[test]
fn a_server_that_was_never_used_has_nothing_to_go_on() {
    let world = World::with(MINE);
    let found = world.desk.suggest_rules(SERVER, 7, &|| false).unwrap();
    assert_eq!((found.calls, found.enough, found.proposal), (0, false, None));
}

#[test]
fn a_single_call_is_drawn_from_and_said_to_be_too_little() {
    let mut world = World::with(MINE);
    let mut session = world.session("cursor");
    session.call(&Policy::parse(MINE).unwrap(), "write_file", "{}");
    session.end();
    let found = world.desk.suggest_rules(SERVER, 7, &|| false).unwrap();
    assert_eq!((found.calls, found.enough), (1, false));
    assert!(
        found.words.iter().any(|line| line.starts_with("Too little to go on: 1 call on 1 day")),
        "{:?}",
        found.words
    );
    assert!(found.proposal.is_some());
}

#[test]
fn a_saved_text_can_be_undone_for_a_while() {
    let world = World::with(MINE);
    let tighter = MINE.replace("\"delete\"", "\"write\": { \"action\": \"deny\" }, \"delete\"");
    let SaveAnswer::Done(done) = world.desk.save_policy(SERVER, MINE, &tighter).unwrap() else { panic!() };
    let undo = done.undo.unwrap();
    let error = world.desk.give_reason(&undo.token, "because").unwrap_err();
    assert!(error.to_string().contains("nothing here to give a reason for"), "{error}");
    world.desk.undo(&undo.token).unwrap();
    assert_eq!(world.text(), MINE);
    let SaveAnswer::Done(same) = world.desk.save_policy(SERVER, MINE, MINE).unwrap() else { panic!() };
    assert_eq!(same.undo, None, "nothing was changed");
}
