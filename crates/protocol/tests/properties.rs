//! What holds for every text, not only for the attacks that we know.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use callgate_protocol::{
    json::{Kind, Problem, Raw, compact, write_string},
    message::{Body, Incoming, Outcome, Side, read, repair},
    tools::{Filtered, filter_list},
};
use proptest::prelude::*;
use serde_json::Value;

mod text;

use text::{blank, json, string};

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn is_unsafe(c: char) -> bool {
    c.is_ascii_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Every token of a text, strings decoded, numbers as written.
fn tokens(raw: Raw<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let mut todo = vec![raw];
    while let Some(raw) = todo.pop() {
        match raw.kind() {
            Kind::Object => {
                out.push("{".into());
                for (key, value) in raw.members() {
                    out.push(key.into_owned());
                    todo.push(value);
                }
            }
            Kind::Array => {
                out.push("[".into());
                todo.extend(raw.items());
            }
            Kind::String => out.push(format!("={}", raw.as_str().unwrap())),
            _ => out.push(raw.text().into()),
        }
    }
    out
}

fn agrees(raw: Raw<'_>, value: &Value) -> bool {
    match value {
        Value::Null => raw.is_null(),
        Value::Bool(bool) => raw.as_bool() == Some(*bool),
        Value::Number(number) => {
            // Through the same reader: serde_json rounds some lexemes differently than the standard library.
            self::value(raw.as_number().unwrap()) == Value::Number(number.clone())
        }
        Value::String(text) => raw.as_str().unwrap() == text.as_str(),
        Value::Array(items) => {
            raw.items().count() == items.len()
                && raw.items().zip(items).all(|(raw, value)| agrees(raw, value))
        }
        Value::Object(members) => {
            raw.members().count() == members.len()
                && raw
                    .members()
                    .zip(members)
                    .all(|((a, raw), (b, value))| a == b.as_str() && agrees(raw, value))
                && members.iter().all(|(key, value)| agrees(raw.get(key).unwrap(), value))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn navigation_agrees_with_serde_json(text in json()) {
        prop_assert!(agrees(Raw::parse(&text).unwrap(), &value(&text)), "{}", text);
    }

    #[test]
    fn compact_keeps_the_meaning_and_is_idempotent(text in json()) {
        let raw = Raw::parse(&text).unwrap();
        let mut once = Vec::new();
        compact(raw, &mut once);
        let once = String::from_utf8(once).unwrap();
        prop_assert!(!once.contains(is_unsafe));
        let again = Raw::parse(&once).unwrap();
        prop_assert_eq!(tokens(again), tokens(raw));
        let mut twice = Vec::new();
        compact(again, &mut twice);
        prop_assert_eq!(twice, once.into_bytes());
    }

    #[test]
    fn a_forwarded_message_means_what_it_meant(result in json(), extra in json(), blank in blank()) {
        let line = format!("{blank}{{\"jsonrpc\":\"2.0\",{blank}\"id\":7,\"x\":{extra},\"result\":{result}{blank}}}");
        let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { panic!("{line}") };
        let wire = String::from_utf8(message.wire().into_owned()).unwrap();
        prop_assert!(!wire.contains(is_unsafe));
        prop_assert_eq!(tokens(Raw::parse(&wire).unwrap()), tokens(Raw::parse(&line).unwrap()));
        if !line.contains(is_unsafe) {
            prop_assert_eq!(&wire, line.trim());
        }
        let Body::Response { outcome: Outcome::Result(read), .. } = message.body else { panic!() };
        prop_assert_eq!(read.text(), &result);
        let replaced = message.with_outcome(b"{\"new\":1}");
        let replaced = String::from_utf8(replaced).unwrap();
        prop_assert!(!replaced.contains(is_unsafe));
        let replaced = Raw::parse(&replaced).unwrap();
        prop_assert_eq!(replaced.get("result").unwrap().text(), "{\"new\":1}");
        prop_assert_eq!(tokens(replaced.get("x").unwrap()), tokens(Raw::parse(&extra).unwrap()));
    }

    #[test]
    fn whatever_is_accepted_is_json_to_everyone(text in "[\\[\\]{},:\"0-9eE+. \\\\untrfalse\\-]{0,40}") {
        // serde_json lets duplicates through and refuses lone surrogates and numbers out of range; the grammar is the same.
        let ours = Raw::parse(&text);
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
        match ours {
            Ok(_) => prop_assert!(theirs.is_ok(), "{}", text),
            Err(error) => prop_assert!(theirs.is_err() || error.problem == Problem::Duplicate, "{} {}", text, error),
        }
    }

    #[test]
    fn a_member_twice_is_always_found(
        mut keys in prop::collection::hash_set("[a-zA-Zé]{0,12}", 1..40).prop_map(|keys| keys.into_iter().collect::<Vec<_>>()),
        pick in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        depth in 0usize..4,
        spell in any::<bool>(),
    ) {
        let wrap = |keys: &[String]| {
            let members: Vec<String> = keys.iter().map(|key| format!("{key}:0")).collect();
            format!("{}{{{}}}{}", "{\"a\":[".repeat(depth), members.join(","), "]}".repeat(depth))
        };
        let copy = keys[pick.index(keys.len())].clone();
        for key in &mut keys {
            *key = format!("\"{key}\"");
        }
        prop_assert!(Raw::parse(&wrap(&keys)).is_ok());
        let copy = if spell {
            format!("\"{}\"", copy.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<String>())
        } else {
            format!("\"{copy}\"")
        };
        keys.insert(place.index(keys.len() + 1), copy);
        prop_assert_eq!(Raw::parse(&wrap(&keys)).unwrap_err().problem, Problem::Duplicate);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), side in any::<bool>()) {
        let side = if side { Side::Client } else { Side::Server };
        let _ = read(side, &bytes);
        if let Some(repaired) = repair(&bytes) {
            prop_assert!(std::str::from_utf8(&repaired).is_ok());
            let _ = read(side, &repaired);
        }
    }

    #[test]
    fn a_broken_message_never_panics(
        text in json(), cut in any::<prop::sample::Index>(), byte in any::<u8>(), side in any::<bool>(),
    ) {
        let side = if side { Side::Client } else { Side::Server };
        let mut line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{text}}}}}"#)
            .into_bytes();
        let place = cut.index(line.len());
        line[place] = byte;
        let _ = read(side, &line);
        line.truncate(place);
        prop_assert!(!matches!(read(side, &line), Incoming::One(_)));
    }

    #[test]
    fn any_text_is_written_as_a_string_that_says_it(text in any::<String>()) {
        let mut out = Vec::new();
        write_string(&mut out, &text);
        let out = String::from_utf8(out).unwrap();
        prop_assert!(!out.contains(is_unsafe));
        prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text.clone());
        prop_assert_eq!(Raw::parse(&out).unwrap().as_str().unwrap(), text);
    }

    #[test]
    fn a_filtered_list_keeps_exactly_what_may_be_seen(
        tools in prop::collection::vec((string(), json()), 0..8), cursor in json(), blank in blank(),
    ) {
        let entries: Vec<String> =
            tools.iter().map(|(name, schema)| format!("{{\"name\":{name},{blank}\"inputSchema\":{schema}}}")).collect();
        let text = format!("{{\"tools\":[{}],{blank}\"nextCursor\":{cursor}}}", entries.join(","));
        let keep = |name: &str| name.len().is_multiple_of(2);
        let mut seen = std::collections::HashSet::new();
        let mut expected = value(&text);
        expected["tools"].as_array_mut().unwrap().retain(|tool| {
            let name = tool["name"].as_str().unwrap().to_owned();
            keep(&name) && seen.insert(name)
        });
        match filter_list(Raw::parse(&text).unwrap(), keep) {
            Filtered::Unchanged => prop_assert_eq!(value(&text), expected),
            Filtered::Rewritten { result, removed } => {
                let result = String::from_utf8(result).unwrap();
                prop_assert!(!result.contains(is_unsafe));
                prop_assert!(Raw::parse(&result).is_ok());
                prop_assert_eq!(value(&result), expected.clone());
                prop_assert_eq!(removed, tools.len() - expected["tools"].as_array().unwrap().len());
            }
            Filtered::Unusable(fault) => panic!("{fault}"),
        }
    }
}
