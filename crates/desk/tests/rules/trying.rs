//! One call tried on a text, and a text tried on the history.

use std::sync::atomic::{AtomicBool, Ordering};

use callgate_desk::view::{Decision, ErrorCode, UiError};
use callgate_policy::Policy;

use crate::world::{SERVER, World};

const OPEN: &str = r#"{"version":"1","default":"allow"}"#;
const CAPPED: &str = r#"{"version":"1","default":"allow","tools":{
    "get": {"limits":[{"counter":"c","window":"minute","max":2}]},
    "open": {"deny_if":[{"path":"args.url","op":"regex","value":"^file:","on_deny":"no local files"}]},
    "seen": {"action":"deny","mode":"observe"},"pay": {"action":"ask","reason":"look at the sum"}},"hide":["ghost"]}"#;

#[test]
fn a_tried_call_is_told_what_the_gate_would_do_now() {
    let mut world = World::with(CAPPED);
    let policy = Policy::parse(CAPPED).unwrap();
    let mut session = world.session("cursor");
    for _ in 0..2 {
        session.call(&policy, "get", "{}");
    }
    let tried = |client: Option<&str>, tool: &str, args: &str| {
        world.desk.try_call(SERVER, CAPPED, client, tool, args).unwrap()
    };
    for _ in 0..3 {
        let capped = tried(Some("cursor"), "get", "{}");
        assert_eq!((capped.decision, capped.passes), (Decision::Capped, false));
        assert_eq!(capped.rule.as_deref(), Some("/tools/get/limits/0"));
        assert!(capped.words.contains("can pass in 60 s"), "{}", capped.words);
        assert_eq!(capped.limits, ["2 of 2 calls per minute, per client"]);
        // Trying counts nothing, so it goes on like this for others.
        let other = tried(Some("claude-ai"), "get", "");
        assert_eq!(
            (other.decision, other.passes, other.limits.as_slice()),
            (Decision::Allowed, true, &["0 of 2 calls per minute, per client".to_owned()][..],)
        );
    }
    let denied = tried(None, "open", r#"{"url":"file:///etc/passwd"}"#);
    assert_eq!((denied.decision, denied.words.as_str()), (Decision::Denied, "refused: no local files"));
    assert!(denied.excerpt.unwrap().contains("^file:"));
    assert_eq!(tried(None, "ghost", "{}").decision, Decision::Hidden);
    let asked = tried(None, "pay", "{}");
    assert_eq!(
        (asked.decision, asked.passes, asked.words.as_str()),
        (Decision::Asked, false, "would wait for your word: look at the sum")
    );
    let observed = tried(None, "seen", "{}");
    assert_eq!((observed.decision, observed.passes), (Decision::WouldDeny, true));
    let home = format!("{{\"path\":{:?}}}", world.home.path().join("policies"));
    assert_eq!(tried(None, "other", &home).rule.as_deref(), Some("(callgate home)"));
    session.end();
}

#[test]
fn arguments_that_are_no_json_are_told_where() {
    let world = World::with(OPEN);
    for (args, words) in [("{\n \"😀\": }", "line 2, column 7"), ("[1]", "an object")] {
        let error = UiError::from(world.desk.try_call(SERVER, OPEN, None, "x", args).unwrap_err());
        assert_eq!(error.code, ErrorCode::BadInput);
        assert!(error.message.contains(words), "{}", error.message);
    }
    let error = UiError::from(world.desk.try_call(SERVER, "{", None, "x", "{}").unwrap_err());
    assert_eq!(error.code, ErrorCode::BrokenPolicy);
}

#[test]
fn a_limit_that_refuses_nothing_more_is_not_said_to_refuse_what_todays_rules_refuse() {
    let mut world = World::with(CAPPED);
    let policy = Policy::parse(CAPPED).unwrap();
    let mut session = world.session("cursor");
    for i in 0..20 {
        session.call(&policy, "open", &format!("{{\"url\":\"file:///{i}\"}}"));
    }
    session.call(&policy, "write", "{}");
    session.end();
    let limit = "\"tools\": { \"write\": { \"limits\": [{ \"counter\": \"w\", \"window\": \"minute\", \"max\": 30 }] }, ";
    let limited = CAPPED.replacen("\"tools\":{", limit, 1);
    assert_ne!(limited, CAPPED);
    let effect = world.desk.effect(SERVER, &limited, 7, &|| false).unwrap();
    assert_eq!(effect.words, "No call of the last 7 days would have been decided differently.");
    assert_eq!((effect.more, effect.fewer, effect.calls), (0, 0, 21));
}

#[test]
fn a_text_is_held_against_what_happened() {
    let mut world = World::with(OPEN);
    let policy = Policy::parse(OPEN).unwrap();
    let mut session = world.session("cursor");
    session.call(&policy, "old", "{}");
    world.advance(9 * 24 * 60 * 60);
    for i in 0..60 {
        world.advance(1);
        session.call(&policy, "open", &format!("{{\"url\":\"file:///{i}\"}}"));
        session.call(&policy, "open", "{\"url\":\"https://x\"}");
    }
    session.end();
    let effect = world.desk.effect(SERVER, CAPPED, 7, &|| false).unwrap();
    assert_eq!((effect.calls, effect.more, effect.fewer), (120, 60, 0));
    assert_eq!(effect.words, "Refuses 60 calls more than today's rules, 0 fewer.");
    assert_eq!(effect.details, ["Of 120 calls in the last 7 days, today's rules refuse 0, these 60."]);
    assert_eq!((effect.more_calls.len(), effect.fewer_calls.len()), (50, 0));
    assert!(effect.more_calls[0].gist.contains("file:///59"), "{:?}", effect.more_calls[0]);
    assert!(!effect.more_calls[0].refused, "as it was");
    assert_eq!((effect.tools.len(), effect.tools[0].more), (1, 60));
    let stop = AtomicBool::new(true);
    let error = world.desk.effect(SERVER, CAPPED, 7, &|| stop.load(Ordering::Relaxed)).unwrap_err();
    assert_eq!(UiError::from(error).code, ErrorCode::Cancelled);
}
