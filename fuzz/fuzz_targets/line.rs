//! Whatever comes out of `read` as a message may be forwarded: it re-reads to the same message, every reader splits
//! it alike, and a reader of another make (serde_json, last duplicate wins) sees the same call.

#![no_main]

#[path = "../fixed_keys.rs"]
mod fixed_keys;

use callgate_protocol::{
    json::{Raw, compact},
    message::{Body, Incoming, Message, Outcome, Side, read, repair},
    tools::{Filtered, filter_list},
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|line: &[u8]| {
    for side in [Side::Client, Side::Server] {
        check(side, line);
        if let Some(repaired) = repair(line) {
            check(side, &repaired);
        }
    }
    if let Ok(text) = std::str::from_utf8(line)
        && let Ok(raw) = Raw::parse(text)
    {
        let mut out = Vec::new();
        compact(raw, &mut out);
        let again = Raw::parse(safe(&out)).expect("compact writes JSON");
        let mut twice = Vec::new();
        compact(again, &mut twice);
        assert_eq!(out, twice);
    }
});

fn check(side: Side, line: &[u8]) {
    match read(side, line) {
        Incoming::Blank | Incoming::Bad(_) => {}
        Incoming::One(message) => check_message(side, &message),
        Incoming::Batch(elements) => {
            elements.iter().flatten().for_each(|message| check_message(side, message))
        }
    }
}

fn check_message(side: Side, message: &Message<'_>) {
    let wire = message.wire();
    let text = safe(&wire);
    let Incoming::One(again) = read(side, &wire) else { panic!("the wire does not read back: {text}") };
    assert_eq!(again.wire(), wire);
    assert_eq!(summary(&again), summary(message));

    // serde_json gives up on depth, lone surrogates and huge numbers; where it does not, it must agree.
    let other: Option<Value> = serde_json::from_str(text).ok();
    match &message.body {
        Body::Request { method, .. } | Body::Notification { method, .. } => {
            if let Some(other) = &other {
                assert_eq!(other["method"], **method);
                assert!(other.get("result").is_none() && other.get("error").is_none());
            }
            if method == "tools/call"
                && let Ok(call) = message.tool_call()
            {
                if let Some(other) = &other {
                    assert_eq!(other["params"]["name"], *call.name);
                }
                let Body::Request { params, .. } = &message.body else { panic!("a call without an id") };
                let walked = callgate_protocol::call::tool_call(*params).expect("both ways of reading agree");
                assert_eq!(walked.name, call.name);
                assert_eq!(walked.arguments.map(Raw::text), call.arguments.map(Raw::text));
            }
        }
        Body::Response { outcome, .. } => {
            assert!(other.as_ref().is_none_or(|other| other.get("method").is_none()));
            if let Outcome::Result(result) = outcome
                && let Filtered::Rewritten { result, .. } = filter_list(*result, |name| name != "x")
            {
                let line = message.with_outcome(&result);
                assert!(matches!(read(side, &line), Incoming::One(_)), "{}", safe(&line));
                if let Ok(other) = serde_json::from_str::<Value>(safe(&line)) {
                    let tools = other["result"]["tools"].as_array().expect("a list stays a list");
                    assert!(tools.iter().all(|tool| tool["name"] != "x"));
                }
            }
        }
    }
}

/// What a message says, without how it was spaced and escaped.
fn summary(message: &Message<'_>) -> String {
    let text = |raw: Option<Raw<'_>>| {
        let mut out = Vec::new();
        if let Some(raw) = raw {
            compact(raw, &mut out);
        }
        String::from_utf8(out).expect("UTF-8")
    };
    match &message.body {
        Body::Request { id, method, params } => format!("? {} {method} {}", id.as_key(), text(*params)),
        Body::Notification { method, params } => format!("! {method} {}", text(*params)),
        Body::Response { id, outcome: Outcome::Result(raw) } => {
            format!("= {} {}", id.as_key(), text(Some(*raw)))
        }
        Body::Response { id, outcome: Outcome::Error(raw) } => {
            format!("- {} {}", id.as_key(), text(Some(*raw)))
        }
    }
}

/// The text of a line that no reader splits.
fn safe(line: &[u8]) -> &str {
    let text = std::str::from_utf8(line).expect("UTF-8");
    let splits = |c: char| c.is_ascii_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    assert!(!text.contains(splits), "{text:?}");
    text
}
