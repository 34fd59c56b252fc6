//! Parts of a message as the policy sees them: the digest of a call, lists, requests inside results, subscriptions. None
//! of them may panic, and another JSON reader must not find anything in the same text that they do not report.

#![no_main]

#[path = "../fixed_keys.rs"]
mod fixed_keys;

use callgate_protocol::{
    digest::{Digest, digest},
    input::{input_requests, required_elicitations},
    json::{Kind, Raw, compact},
    lists::{Filtered, List, filter, page},
    target::{completion_ref, listened_uris},
    tools::learn_tools,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &[u8]| {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(raw) = Raw::parse(text) else { return };
    // serde_json gives up on depth, lone surrogates and huge numbers; where it does not, it must agree.
    let other: Option<Value> = serde_json::from_str(text).ok();
    check_digest(raw, other.as_ref());
    for list in List::ALL {
        check_list(list, raw);
    }
    check_tools(raw);
    let other = other.unwrap_or(Value::Null);
    if let Ok(requests) = input_requests(raw) {
        let theirs = other["inputRequests"].as_object().into_iter().flatten();
        for (key, request) in theirs {
            let ours = requests.iter().find(|ours| ours.key == key.as_str()).expect("every request is read");
            assert_eq!(request["method"], *ours.method);
            assert_eq!(request["params"].is_null(), ours.params.is_none());
        }
        assert!(
            requests.iter().filter_map(|request| request.params).all(|params| params.kind() == Kind::Object)
        );
    }
    if let Ok(uris) = listened_uris(Some(raw)) {
        let theirs = other["notifications"]["resourceSubscriptions"].as_array().into_iter().flatten();
        assert!(theirs.eq(uris.iter().map(|uri| uri.as_ref())) || other.is_null());
    }
    let _ = required_elicitations(raw);
    let _ = completion_ref(Some(raw));
});

fn check_digest(raw: Raw<'_>, other: Option<&Value>) {
    let ours = digest("x", Some(raw));
    assert_eq!(Digest::from_hex(&ours.to_hex()), Some(ours));
    assert_ne!(ours, digest("x", None));
    let mut short = Vec::new();
    compact(raw, &mut short);
    let short = String::from_utf8(short).expect("UTF-8");
    assert_eq!(digest("x", Some(Raw::parse(&short).expect("JSON"))), ours);
    // Another writer has its own way with blanks and escapes; with numbers too, so these are left out.
    let no_digits = |text: &String| !text.bytes().any(|byte| byte.is_ascii_digit());
    if let Some(other) = other.map(Value::to_string).filter(no_digits) {
        assert_eq!(digest("x", Some(Raw::parse(&other).expect("JSON"))), ours);
    }
}

fn check_list(list: List, raw: Raw<'_>) {
    if let Filtered::Rewritten { result, removed } = filter(list, raw, |key| key != "x") {
        assert!(removed > 0);
        let text = std::str::from_utf8(&result).expect("UTF-8");
        let again = Raw::parse(text).expect("a filtered list is JSON");
        assert_eq!(filter(list, again, |key| key != "x"), Filtered::Unchanged);
        if let Ok(other) = serde_json::from_str::<Value>(text) {
            let entries = other[list.member()].as_array().expect("a list stays a list");
            assert!(entries.iter().all(|entry| entry[list.key()].is_string() && entry[list.key()] != "x"));
        }
    }
}

fn check_tools(raw: Raw<'_>) {
    let shown = match filter(List::Tools, raw, |_| true) {
        Filtered::Unusable(fault) => {
            assert_eq!(learn_tools(raw).expect_err("an unusable list teaches nothing"), fault);
            return;
        }
        Filtered::Unchanged => raw.text().to_owned(),
        Filtered::Rewritten { result, .. } => String::from_utf8(result).expect("UTF-8"),
    };
    let shown = Raw::parse(&shown).expect("JSON");
    let learned = learn_tools(raw).expect("a list that can be shown can be learned");
    let again = learn_tools(shown).expect("and so can what is shown");
    assert!(learned.iter().map(|tool| &tool.name).eq(again.iter().map(|tool| &tool.name)));
    assert!(learned.iter().filter_map(|tool| tool.input_schema).all(|schema| schema.kind() == Kind::Object));
    assert_eq!(page(List::Tools, raw, |_| true).next, page(List::Tools, shown, |_| true).next);
}
