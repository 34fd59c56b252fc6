//! What holds for all policies, calls and edits.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::num::NonZeroU32;

use callgate_policy::edit::{Edit, apply};
use callgate_policy::{Call, Decision, Limit, Policy, Standing, Unused, Usage, Window, compare, decide};
use callgate_protocol::json::Raw;
use proptest::prelude::*;

const NAMES: [&str; 7] = ["alpha", "Alpha", "beta", "gamma", "g/~x", "größe", "zeta"];
const ARGS: [&str; 7] = [
    "{}",
    r#"{"a":1}"#,
    r#"{"a":"1"}"#,
    r#"{"a":2,"b":{"c":["x"]}}"#,
    r#"{"a":[1]}"#,
    r#"{"a":null}"#,
    r#"{"b":"x"}"#,
];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn clause() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec![
        r#""op":"eq","value":1"#,
        r#""op":"neq","value":"x""#,
        r#""op":"in","value":[1,"x"]"#,
        r#""op":"not_in","value":[2]"#,
        r#""op":"lt","value":2"#,
        r#""op":"gte","value":1.5"#,
        r#""op":"regex","value":"^x""#,
        r#""op":"contains","value":"x""#,
        r#""op":"exists""#,
        r#""op":"exists","value":false"#,
    ]);
    let path = prop::sample::select(vec!["args.a", "args.b", "args.b.c", "args.b.c.0", "args"]);
    let predicate = (path, op).prop_map(|(path, op)| format!("{{\"path\":\"{path}\",{op}}}"));
    prop_oneof![
        4 => predicate.clone(),
        2 => prop::collection::vec(predicate, 0..3)
            .prop_map(|all| format!("{{\"conditions\":[{}],\"on_deny\":\"no\"}}", all.join(","))),
    ]
}

fn rule() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just(String::new()),
        1 => Just("\"action\":\"deny\",\"reason\":\"r\"".to_owned()),
        1 => Just("\"action\":\"allow\"".to_owned()),
        1 => Just("\"action\":\"ask\"".to_owned()),
        1 => Just("\"validate\":true".to_owned()),
    ];
    let clauses = |key: &'static str| {
        prop::collection::vec(clause(), 0..2).prop_map(move |all| match all.as_slice() {
            [] => String::new(),
            all => format!("\"{key}\":[{}]", all.join(",")),
        })
    };
    let limit =
        prop::option::of((1u32..5, prop::sample::select(vec!["minute", "hour"]), 0..2)).prop_map(|limit| {
            match limit {
                Some((max, window, own)) => {
                    let counter = if own == 0 { "\"counter\":\"n\"," } else { "" };
                    format!("\"limits\":[{{{counter}\"window\":\"{window}\",\"max\":{max}}}]")
                }
                None => String::new(),
            }
        });
    (part, clauses("require"), clauses("deny_if"), limit).prop_map(|(a, b, c, d)| {
        let parts: Vec<String> = [a, b, c, d].into_iter().filter(|p| !p.is_empty()).collect();
        format!("{{{}}}", parts.join(", "))
    })
}

/// A policy in one of several layouts.
fn policy() -> impl Strategy<Value = String> {
    let tools = prop::collection::btree_map(name(), rule(), 0..4);
    let hide = prop::collection::btree_set(
        prop_oneof![8 => name(), 1 => Just("*".to_owned()), 1 => Just("g*".to_owned())],
        0..3,
    );
    let default = prop::sample::select(vec!["allow", "deny", "allow", "ask"]);
    let extra = prop::sample::select(vec![
        "",
        "",
        "",
        "\"clients\": {\"cursor\": {}}",
        "\"classes\": {\"read\": {}}",
        "\"mode\": \"observe\"",
        "\"all_tools\": {\"action\": \"deny\"}",
        "\"all_tools\": {\"limits\": [{\"counter\":\"all\",\"window\":\"day\",\"max\":9}]}",
        "\"all_tools\": {\"deny_if\": [{\"path\":\"args.a\",\"op\":\"eq\",\"value\":1}]}",
        "\"tools \": 1",
    ]);
    let layout = prop::sample::select(vec![
        ("\n  ", ""),
        ("\r\n\t", "// note\r\n"),
        (" ", ""),
        ("\n", "/* { */\n"),
        ("\n    ", ""),
    ]);
    (tools, hide, default, extra, layout, any::<bool>()).prop_map(
        |(tools, hide, default, extra, (gap, note), comma)| {
            let quoted = |s: &String| serde_json::to_string(s).unwrap();
            let mut parts = vec!["\"version\": \"1\"".to_owned(), format!("\"default\": \"{default}\"")];
            if !extra.is_empty() && extra != "\"tools \": 1" {
                parts.push(extra.to_owned());
            }
            if !hide.is_empty() {
                parts.push(format!("\"hide\": [{}]", hide.iter().map(quoted).collect::<Vec<_>>().join(", ")));
            }
            if !tools.is_empty() {
                let rules: Vec<_> =
                    tools.iter().map(|(name, rule)| format!("{gap}{}: {rule}", quoted(name))).collect();
                parts.push(format!("\"tools\": {{{}{gap}}}", rules.join(",")));
            }
            let comma = if comma { "," } else { "" };
            let end = gap.trim_end_matches([' ', '\t']);
            format!("{note}{{{gap}{}{comma}{end}}}\n", parts.join(&format!(",{gap}")))
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    let rate = (1u32..6).prop_map(|max| NonZeroU32::new(max).unwrap());
    prop_oneof![
        (name(), prop::option::of(Just("why".to_owned())))
            .prop_map(|(tool, reason)| Edit::Block { tool, reason }),
        name().prop_map(|tool| Edit::Hide { tool }),
        (name(), rate).prop_map(|(tool, max)| Edit::Cap { tool, max, window: Window::MINUTE }),
    ]
}

/// Every call of a small world, with whether it is refused by the rules.
fn refused(policy: &Policy) -> Vec<(String, bool)> {
    let mut out = Vec::new();
    for client in ["claude", "cursor"] {
        for tool in NAMES.iter().chain(&["ALPHA", "unknown", "gx", "a\0b"]) {
            for args in ARGS {
                let call = Call::tool(client, tool, Some(Raw::parse(args).unwrap()));
                let decision = decide(policy, &call, &Unused).decision;
                out.push((format!("{client} {tool} {args}"), !decision.allows()));
            }
        }
    }
    for method in ["resources/read", "made/up", "tools/list"] {
        let call = Call::method("cursor", method, None);
        out.push((method.to_owned(), !decide(policy, &call, &Unused).decision.allows()));
    }
    out
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|b| rest.any(|other| other == b))
}

struct Full;

impl Usage for Full {
    fn standing(&self, limit: &Limit) -> Standing {
        Standing { used: limit.max.get(), frees_in: Some(limit.window) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_any_text_never_panics(text in "\\PC{0,60}") {
        let _ = Policy::parse(&text);
        let _ = apply(&text, &Edit::Hide { tool: "x".to_owned() });
    }

    #[test]
    fn parsing_a_damaged_policy_never_panics(text in policy(), at in any::<prop::sample::Index>(), junk in "[\\[\\]{}\",:/*x\\\\é\n]{0,3}") {
        let mut cut = at.index(text.len() + 1);
        while !text.is_char_boundary(cut) { cut -= 1; }
        let damaged = format!("{}{junk}{}", &text[..cut], text[cut..].chars().skip(1).collect::<String>());
        let _ = Policy::parse(&damaged);
        let _ = Policy::parse(&text[..cut]);
        let _ = apply(&damaged, &Edit::Block { tool: "x".to_owned(), reason: None });
    }

    #[test]
    fn every_call_gets_an_answer(text in policy(), client in "\\PC{0,8}", tool in "\\PC{0,12}") {
        let Ok(policy) = Policy::parse(&text) else { return Ok(()) };
        for args in ARGS {
            let call = Call::tool(&client, &tool, Some(Raw::parse(args).unwrap()));
            let free = decide(&policy, &call, &Unused);
            let full = decide(&policy, &call, &Full);
            prop_assert!(!free.rule.is_empty() && !free.reason.is_empty());
            prop_assert_eq!(full.decision == Decision::Capped, free.decision.allows() && !free.counters.is_empty());
        }
        decide(&policy, &Call::method(&client, &tool, None), &Unused);
    }

    #[test]
    fn deny_wins(text in policy(), tool in name()) {
        let Ok(blocked) = apply(&text, &Edit::Block { tool: tool.clone(), reason: None }) else { return Ok(()) };
        let policy = Policy::parse(&blocked.text).unwrap();
        for args in ARGS {
            let call = Call::tool("claude", &tool, Some(Raw::parse(args).unwrap()));
            prop_assert!(!decide(&policy, &call, &Unused).decision.allows());
        }
    }

    #[test]
    fn tightening_never_loosens(text in policy(), edit in edit()) {
        let Ok(old) = Policy::parse(&text) else { return Ok(()) };
        let Ok(edited) = apply(&text, &edit) else { return Ok(()) };
        let new = Policy::parse(&edited.text).unwrap();
        // A second cap may be higher than the first; that is the only thing that it may loosen.
        let cap = matches!(edit, Edit::Cap { .. });
        for looser in compare::loosened(&old, &new) {
            prop_assert!(cap && looser.contains("the cap was"), "{}", looser);
        }
        for ((call, was), (_, is)) in refused(&old).into_iter().zip(refused(&new)) {
            prop_assert!(is || !was, "{} was refused and passes now:\n{}\n{}", call, text, edited.text);
        }
    }

    #[test]
    fn a_change_that_is_not_called_looser_lets_nothing_more_through(a in policy(), b in policy()) {
        let (Ok(old), Ok(new)) = (Policy::parse(&a), Policy::parse(&b)) else { return Ok(()) };
        let looser = compare::loosened(&old, &new);
        if looser.is_empty() {
            for ((call, was), (_, is)) in refused(&old).into_iter().zip(refused(&new)) {
                prop_assert!(is || !was, "{} was refused and passes now", call);
            }
        }
        prop_assert_eq!(compare::loosened(&old, &old), Vec::<String>::new());
    }

    #[test]
    fn edits_touch_nothing_but_their_place(text in policy(), edit in edit()) {
        let Ok(once) = apply(&text, &edit) else { return Ok(()) };
        let twice = apply(&once.text, &edit).unwrap();
        prop_assert_eq!(&twice.text, &once.text);
        // Nothing is taken away but the value that is replaced.
        let kept = ["\"action\":\"allow\"", "\"action\":\"ask\"", "\"reason\":\"r\""]
            .iter()
            .fold(text.clone(), |kept, gone| kept.replace(gone, &gone[..9]));
        prop_assert!(is_subsequence(&kept, &once.text), "{}\n{}", text, once.text);
        // One added entry: what stands before and after it is the same, byte for byte.
        if matches!(edit, Edit::Hide { .. }) {
            let before = text.bytes().zip(once.text.bytes()).take_while(|(a, b)| a == b).count();
            let after = text.bytes().rev().zip(once.text.bytes().rev()).take_while(|(a, b)| a == b).count();
            prop_assert!(before + after >= text.len(), "{}\n{}", text, once.text);
        }
    }

    #[test]
    fn allowing_opens_the_tool_and_nothing_else(text in policy(), tool in name()) {
        let Ok(old) = Policy::parse(&text) else { return Ok(()) };
        let Ok(edited) = apply(&text, &Edit::Allow { tool: tool.clone() }) else { return Ok(()) };
        let new = Policy::parse(&edited.text).unwrap();
        for ((call, was), (_, is)) in refused(&old).into_iter().zip(refused(&new)) {
            let about = call.contains(&format!(" {tool} ")) || call.to_lowercase().contains(&tool.to_lowercase());
            prop_assert!(about || was == is, "{}:\n{}\n{}", call, text, edited.text);
        }
    }
}
