//! Rules held against the tools of a server: the table under `cases/`, and that what is said of a rule is so.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::lint::{ServerTools, lint};
use callgate_policy::{ArgumentSchema, Call, Circumstances, DEFAULT_POLICY, Judgement, Policy};
use callgate_protocol::json::Raw;
use common::{Story, stories};
use proptest::prelude::*;

/// 2026-03-01T18:00:00Z
const NOW_MS: i64 = 1_772_388_000_000;

/// One tool a line: its name, and its schema if it has one. `…` as the last line: there may be others.
fn tools(text: &str) -> ServerTools {
    let complete = !text.contains('…');
    let tools = text.lines().filter(|line| !line.starts_with('…')).map(|line| {
        let (name, schema) = line.split_once(' ').unwrap_or((line, ""));
        let schema = Raw::parse(schema).ok().and_then(ArgumentSchema::read);
        assert_eq!(schema.is_some(), line.contains('{'), "{line}");
        (name.to_owned(), schema)
    });
    ServerTools::new(tools, complete)
}

#[test]
fn a_rule_that_can_never_count_is_told_with_a_fix() {
    let stories = stories("lint.txt");
    assert!(!stories.is_empty());
    let mut failures = Vec::new();
    for Story { title, parts } in stories {
        let [(_, listed), (_, policy), told] = parts.as_slice() else { panic!("{title}: {}", parts.len()) };
        Policy::parse(policy).unwrap_or_else(|report| panic!("{title}:\n{report}"));
        let found = lint(policy, Some(&tools(listed)), NOW_MS);
        let found: String = found.iter().map(|problem| format!("{problem}\n")).collect();
        if found != told.1 {
            let parts = vec![parts[0].clone(), parts[1].clone(), (told.0.clone(), found)];
            failures.push(Story { title, parts }.to_string());
        }
    }
    assert!(failures.is_empty(), "these stories now read:\n\n{}", failures.join("\n"));
}

#[test]
fn the_default_policy_and_a_server_that_is_not_known_give_no_false_alarm() {
    assert_eq!(lint(DEFAULT_POLICY, None, NOW_MS), []);
    assert_eq!(lint(DEFAULT_POLICY, Some(&tools("a {}\nb")), NOW_MS), []);
    let rules = r#"{"version":"1","default":"deny","hide":["h*"],"tools":{"x":{"deny_if":[{"path":"args.y","op":"eq","value":1}]}}}"#;
    assert_eq!(lint(rules, None, NOW_MS), []);
    assert_eq!(lint(rules, Some(&ServerTools::default()), NOW_MS), []);
    assert_eq!(lint("{", None, NOW_MS), []);
}

/// A type, with values of it.
const TYPES: [(&str, &[&str]); 9] = [
    (r#"{"type":"string"}"#, &[r#""""#, r#""x""#, r#""5""#, r#""true""#, r#""/srv/a""#]),
    (r#"{"type":"number"}"#, &["0", "5", "-1.5", "5.0"]),
    (r#"{"type":"boolean"}"#, &["true", "false"]),
    (r#"{"type":["string","null"]}"#, &["null", r#""x""#]),
    (r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#, &["null", "5"]),
    (r#"{"type":"array","items":{"type":"string"}}"#, &["[]", r#"["x"]"#, r#"["/srv/a","5"]"#]),
    (r#"{"type":"array","items":{"type":"number"}}"#, &["[]", "[5]", "[0,1]"]),
    (r#"{"type":"object","properties":{"d":{"type":"string"}}}"#, &["{}", r#"{"d":"x"}"#]),
    (r#"{"type":"string","enum":["x","y"]}"#, &[r#""x""#, r#""y""#]),
];

const OPERATORS: [&str; 18] = [
    r#""op":"eq","value":5"#,
    r#""op":"eq","value":"x""#,
    r#""op":"eq","value":true"#,
    r#""op":"eq","value":null"#,
    r#""op":"neq","value":"z""#,
    r#""op":"in","value":["x",5]"#,
    r#""op":"in","value":[null]"#,
    r#""op":"not_in","value":[5,true]"#,
    r#""op":"lt","value":3"#,
    r#""op":"gte","value":"x""#,
    r#""op":"gte","value":"5""#,
    r#""op":"regex","value":"^x""#,
    r#""op":"contains","value":"x""#,
    r#""op":"contains","value":5"#,
    r#""op":"exists""#,
    r#""op":"exists","value":false"#,
    r#""op":"inside","value":"/srv""#,
    r#""op":"not_inside","value":"/srv""#,
];

fn condition() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec!["args.a", "args.b", "args.a.d", "args.a.0", "args.z"]);
    (path, prop::sample::select(&OPERATORS[..]))
        .prop_map(|(path, op)| format!("{{\"path\":\"{path}\",{op}}}"))
}

/// The schemas of two arguments, and arguments that fit.
fn tool() -> impl Strategy<Value = (String, Vec<String>)> {
    let one = || prop::sample::select(&TYPES[..]);
    let more =
        prop::sample::select(vec!["", r#","additionalProperties":false"#, r#","additionalProperties":true"#]);
    (one(), one(), more).prop_map(|(a, b, more)| {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{},"b":{}}}{more}}}"#, a.0, b.0);
        let mut calls = vec!["{}".to_owned()];
        for value in a.1 {
            calls.push(format!(r#"{{"a":{value}}}"#));
            calls.extend(b.1.iter().map(|other| format!(r#"{{"a":{value},"b":{other}}}"#)));
        }
        calls.extend(b.1.iter().map(|other| format!(r#"{{"b":{other}}}"#)));
        if more.contains("true") {
            calls.push(r#"{"z":5}"#.to_owned());
        }
        (schema, calls)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_said_to_never_match_never_matches(
        (schema, calls) in tool(),
        conditions in prop::collection::vec(condition(), 1..3),
        list in prop::sample::select(vec!["deny_if", "require"]),
    ) {
        let conditions = conditions.join(",");
        let text = format!(
            r#"{{"version":"1","default":"deny","tools":{{"x":{{"{list}":[{{"conditions":[{conditions}]}}]}}}}}}"#
        );
        let policy = Policy::parse(&text).unwrap();
        let tools = ServerTools::new([("x".to_owned(), ArgumentSchema::read(Raw::parse(&schema).unwrap()))], true);
        let told = lint(&text, Some(&tools), NOW_MS);
        let passes = |args: &str| {
            let call = Call::tool("c", "x", Some(Raw::parse(args).unwrap()));
            matches!(policy.judge(&call, &Circumstances::timeless()), Judgement::Pass(_))
        };
        for problem in &told {
            let message = &problem.message;
            if message.contains("never denies anything") {
                for args in &calls {
                    prop_assert!(passes(args), "{} {} {}: {}", schema, text, args, message);
                }
            } else if message.contains("every call") && !message.contains("that has it") {
                for args in &calls {
                    prop_assert!(!passes(args), "{} {} {}: {}", schema, text, args, message);
                }
            }
        }
    }
}
