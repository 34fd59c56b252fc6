//! What holds for all policies that are merged, reverted and compared, whatever their layout and comments.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use callgate_policy::edit::{Edit, apply, difference, merge, replace, revert};
use callgate_policy::{Policy, Window};
use jsonc_parser::ast::Value as Ast;
use proptest::prelude::*;
use serde_json::Value;

const TOOLS: [&str; 5] = ["alpha", "beta", "g/~x", "größe", "zeta"];

fn tool() -> impl Strategy<Value = String> {
    prop::sample::select(&TOOLS[..]).prop_map(str::to_owned)
}

/// A piece of a rule, with something to remark on it here and there.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#""action": "deny""#.to_owned()),
        Just(r#""action": /* on */ "allow""#.to_owned()),
        Just("\"reason\": \"a // b\"".to_owned()),
        (1u32..9).prop_map(|max| format!(
            "\"limits\": [@{{ \"counter\": \"n\", \"window\": \"hour\", \"max\": {max} }}@]"
        )),
        (1u32..9, 1u32..9).prop_map(|(a, b)| format!(
            "\"limits\": [@{{ \"window\": \"day\", /* most */ \"max\": {a} }},@{{ \"counter\": \"m\", \"window\": 60, \"max\": {b} }}@]"
        )),
        Just("\"rate_limit\": \"5/minute\"".to_owned()),
        Just("\"rate_limit\": { \"max\": 5, // five\n \"window\": 60 }".to_owned()),
        (0u32..3).prop_map(|n| format!(
            "\"deny_if\": [@{{ \"path\": \"args.a\", \"op\": \"eq\", \"value\": {n} }},@{{ \"conditions\": [] }}@]"
        )),
        (0u32..3).prop_map(|n| format!(
            "\"require\": [{{ \"path\": \"args.b\", \"op\": \"in\", \"value\": [{n}, /* or */ 7] }}]"
        )),
    ]
}

fn rule() -> impl Strategy<Value = String> {
    (prop::collection::vec(part(), 0..4), any::<bool>()).prop_map(|(parts, spread)| {
        let mut members: BTreeMap<String, String> = BTreeMap::new();
        for part in parts {
            members.entry(part.split(':').next().unwrap().to_owned()).or_insert(part);
        }
        let members: Vec<String> = members.into_values().collect();
        match (members.is_empty(), spread) {
            (true, false) => "{}".to_owned(),
            (true, true) => "{@}".to_owned(),
            (false, false) => format!("{{ {} }}", members.join(", ")),
            (false, true) => format!("{{@{}@}}", members.join(",@")),
        }
    })
}

/// A policy, or a part of one. `@` is where lines may break and comments may stand.
fn text(whole: bool) -> impl Strategy<Value = String> {
    let tools = prop::collection::btree_map(tool(), rule(), 0..4);
    let hide = prop::collection::btree_set(tool(), 0..3);
    let default = prop::sample::select(vec!["allow", "deny"]);
    let more = prop::collection::btree_set(
        prop::sample::select(vec![
            "\"all_tools\": { \"rate_limit\": \"9/second\" }",
            "\"all_tools\": {@\"action\": \"deny\", // stop\n \"reason\": \"r\"@}",
            "\"other_methods\": \"deny\"",
            "\"description\": \"words /* no comment */\"",
            "\"clients\": {@\"cursor\": { \"hide\": [\"beta\"] },@\"zed\": {}@}",
            "\"tests\": [@{ \"name\": \"n\", \"tool\": \"x\", \"expect\": \"deny\" }@]",
        ]),
        0..3,
    );
    let gaps = prop::collection::vec(
        prop::sample::select(vec![
            "\n  ",
            "\n  ",
            "\n\t",
            " ",
            "",
            "\r\n    ",
            "\n\n  // note\n  ",
            " /* c */ ",
            " // end\n",
            "/* two\n lines */",
        ]),
        1..8,
    );
    let mark = prop::sample::select(vec!["", "", "\u{feff}", "// head\n"]);
    (tools, hide, default, more, gaps, mark, any::<bool>()).prop_map(
        move |(tools, hide, default, more, gaps, mark, comma)| {
            let quoted = |s: &String| serde_json::to_string(s).unwrap();
            let mut parts = Vec::new();
            if whole {
                parts.push("\"version\": \"1\"".to_owned());
                parts.push(format!("\"default\": \"{default}\""));
            }
            let mut more: Vec<&str> = more.into_iter().collect();
            more.dedup_by_key(|part| part.split(':').next());
            parts.extend(more.into_iter().map(str::to_owned));
            if !hide.is_empty() {
                let names: Vec<String> = hide.iter().map(quoted).collect();
                parts.push(format!("\"hide\": [@{}@]", names.join(",@")));
            }
            if !tools.is_empty() {
                let rules: Vec<_> = tools.iter().map(|(n, rule)| format!("{}: {rule}", quoted(n))).collect();
                parts.push(format!("\"tools\": {{@{}@}}", rules.join(",@")));
            }
            let comma = if comma && !parts.is_empty() { "," } else { "" };
            let shape = format!("{{@{}{comma}@}}", parts.join(",@"));
            let mut out = mark.to_owned();
            let mut gaps = gaps.iter().cycle();
            for (i, piece) in shape.split('@').enumerate() {
                out.push_str(if i > 0 { gaps.next().unwrap() } else { "" });
                out.push_str(piece);
            }
            out + "\n"
        },
    )
}

fn edit(tool: &'static str) -> impl Strategy<Value = Edit> {
    let tool = tool.to_owned();
    (0usize..5, 1u32..6).prop_map(move |(which, max)| {
        let tool = tool.clone();
        match which {
            0 => Edit::Block { tool, reason: (max > 3).then(|| "why".to_owned()) },
            1 => Edit::Hide { tool },
            2 => Edit::Cap { tool, max: NonZeroU32::new(max).unwrap(), window: Window::MINUTE },
            3 => Edit::Uncap { tool },
            _ => Edit::Allow { tool },
        }
    })
}

/// What a text says, without layout, comments, and lists that are as good as missing.
fn meaning(text: &str) -> Value {
    fn plain(ast: &Ast<'_>) -> Value {
        match ast {
            Ast::StringLit(s) => Value::String(s.value.to_string()),
            Ast::NumberLit(n) => serde_json::from_str(n.value).unwrap(),
            Ast::BooleanLit(b) => Value::Bool(b.value),
            Ast::NullKeyword(_) => Value::Null,
            Ast::Array(a) => a.elements.iter().map(plain).collect(),
            Ast::Object(o) => {
                let members: BTreeMap<String, Value> =
                    o.properties.iter().map(|p| (p.name.as_str().to_owned(), plain(&p.value))).collect();
                Value::Object(members.into_iter().collect())
            }
        }
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default()).unwrap();
    let mut value = plain(&parsed.value.unwrap());
    let root = value.as_object_mut().unwrap();
    for key in ["hide", "tools", "all_tools", "clients", "tests"] {
        let empty = root.get(key).is_some_and(|v| {
            v.as_array().is_some_and(Vec::is_empty) || v.as_object().is_some_and(serde_json::Map::is_empty)
        });
        if empty {
            root.remove(key);
        }
    }
    value
}

fn comments(text: &str) -> Vec<String> {
    let options = jsonc_parser::CollectOptions {
        comments: jsonc_parser::CommentCollectionStrategy::Separate,
        tokens: true,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = jsonc_parser::parse_to_ast(text, &options, &Default::default()).unwrap();
    let mut at: BTreeMap<usize, String> = BTreeMap::new();
    for comment in parsed.comments.unwrap().values().flat_map(|all| all.iter()) {
        let range = jsonc_parser::common::Ranged::range(comment);
        at.insert(range.start, comment.text().trim().to_owned());
    }
    at.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_keeps_every_comment_says_everything_and_is_done_once(current in text(true), pasted in text(false)) {
        let Ok(merged) = merge(&current, &pasted) else { return Ok(()) };
        prop_assert!(Policy::parse(&merged.text).is_ok());
        prop_assert_eq!(merged.changed, merged.text != current);
        prop_assert_eq!(merged.changed, !merged.summary.is_empty());
        let mut left = comments(&merged.text);
        for comment in comments(&current) {
            let found = left.iter().position(|c| *c == comment);
            prop_assert!(found.is_some(), "{:?} is gone:\n{}\n+\n{}\n=\n{}", comment, current, pasted, merged.text);
            left.remove(found.unwrap());
        }
        let twice = merge(&merged.text, &pasted).unwrap();
        prop_assert_eq!(&twice.text, &merged.text, "merged twice:\n{}\n+\n{}", current, pasted);
        // Every plain setting and every hidden name of what was pasted is there.
        let (wanted, got) = (meaning(&pasted), meaning(&merged.text));
        for key in ["other_methods", "description"] {
            prop_assert!(wanted.get(key).is_none() || wanted.get(key) == got.get(key));
        }
        let names = |v: &Value| v.get("hide").and_then(Value::as_array).cloned().unwrap_or_default();
        prop_assert!(names(&wanted).iter().all(|name| names(&got).contains(name)));
        for (tool, rule) in wanted.get("tools").and_then(Value::as_object).into_iter().flatten() {
            for (key, part) in rule.as_object().unwrap() {
                let there = &got["tools"][tool][key];
                match part {
                    Value::Array(items) if key != "limits" => {
                        prop_assert!(items.iter().all(|i| there.as_array().unwrap().contains(i)), "{}", merged.text);
                    }
                    Value::String(_) => prop_assert_eq!(part, there),
                    _ => prop_assert!(!there.is_null()),
                }
            }
        }
    }

    #[test]
    fn merging_a_policy_into_itself_or_into_nothing_is_that_policy(policy in text(true)) {
        prop_assume!(Policy::parse(&policy).is_ok());
        prop_assert_eq!(&merge(&policy, &policy).unwrap().text, &policy);
        prop_assert_eq!(meaning(&merge("{}", &policy).unwrap().text), meaning(&policy));
    }

    #[test]
    fn reverting_the_last_change_gives_the_text_before_byte_for_byte(before in text(true), after in text(true)) {
        prop_assume!(Policy::parse(&before).is_ok());
        let reverted = revert(&after, &before, &after).unwrap();
        prop_assert_eq!(&reverted.text, &before);
        prop_assert_eq!(reverted.changed, before != after);
    }

    #[test]
    fn a_change_before_another_one_can_be_taken_back_alone(
        policy in text(true),
        first in edit("alpha"),
        second in edit("größe"),
    ) {
        let Ok(one) = apply(&policy, &first) else { return Ok(()) };
        let Ok(both) = apply(&one.text, &second) else { return Ok(()) };
        let Ok(alone) = apply(&policy, &second) else { return Ok(()) };
        let reverted = revert(&both.text, &policy, &one.text);
        prop_assert!(reverted.is_ok(), "{:?}\n{}\n{:?} {:?}", reverted, policy, first, second);
        let reverted = reverted.unwrap().text;
        prop_assert_eq!(
            meaning(&reverted), meaning(&alone.text),
            "{:?} {:?}:\n{}\nwith both:\n{}\nreverted:\n{}", first, second, policy, both.text, reverted
        );
        // And the other way round: the later one goes, the earlier one stays.
        prop_assert_eq!(&revert(&both.text, &one.text, &both.text).unwrap().text, &one.text);
    }

    #[test]
    fn a_merge_can_be_taken_back_after_another_edit(
        policy in text(true),
        pasted in text(false),
        second in edit("omega"),
    ) {
        let Ok(one) = merge(&policy, &pasted) else { return Ok(()) };
        let Ok(both) = apply(&one.text, &second) else { return Ok(()) };
        let Ok(alone) = apply(&policy, &second) else { return Ok(()) };
        // Opened by the merge, the tool needed no entry of its own; that is another edit then.
        if both.summary != alone.summary {
            return Ok(());
        }
        let reverted = revert(&both.text, &policy, &one.text);
        prop_assert!(reverted.is_ok(), "{:?}\n{}\n{}", reverted, policy, pasted);
        let reverted = reverted.unwrap().text;
        prop_assert_eq!(
            meaning(&reverted), meaning(&alone.text),
            "{}\n+\n{}\n=\n{}\nreverted:\n{}", policy, pasted, both.text, reverted
        );
    }

    #[test]
    fn differences_are_said_exactly_where_there_are_some(a in text(true), b in text(true)) {
        prop_assert!(difference(&a, &a).is_empty());
        let said = difference(&a, &b);
        prop_assert_eq!(said.is_empty(), a == b);
        let only_form = said.iter().all(|w| w.ends_with("comment changed") || w.ends_with("comments changed") || w.ends_with("layout changed"));
        prop_assert_eq!(only_form, meaning(&a) == meaning(&b) , "{}\n{}\n{:?}", a, b, said);
        let _ = replace(&a, &b);
    }

    #[test]
    fn nothing_panics_on_any_text(
        policy in text(true),
        other in text(true),
        junk in "[\\[\\]{}\",:/*x\\\\é\n\r]{0,12}",
        at in any::<prop::sample::Index>(),
    ) {
        let mut cut = at.index(policy.len() + 1);
        while !policy.is_char_boundary(cut) { cut -= 1; }
        let damaged = format!("{}{junk}{}", &policy[..cut], policy[cut..].chars().skip(1).collect::<String>());
        for (a, b, c) in [
            (&damaged, &policy, &other), (&policy, &damaged, &other), (&policy, &other, &damaged),
            (&damaged, &other, &damaged), (&junk, &junk, &policy), (&policy, &junk, &other),
            (&policy, &other, &junk), (&other, &policy, &other), (&policy, &damaged, &policy),
        ] {
            if let Ok(reverted) = revert(a, b, c) {
                prop_assert!(Policy::parse(&reverted.text).is_ok());
            }
            let _ = merge(a, b);
            let _ = replace(a, b);
            let _ = difference(a, b);
        }
    }
}
