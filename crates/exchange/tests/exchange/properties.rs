//! What holds of every text and of every policy that can be written.

use crate::gate::Gate;
use crate::model::{Condition, Config, Engine, Rule, State};
use callgate_exchange::{claude, detect, intercept};
use callgate_policy::Policy;
use proptest::prelude::*;
use serde_json::{Value, json};

const TOOLS: [&str; 4] = ["read", "pay", "ns.tool", "*"];

fn scope(tool: &str) -> &str {
    if tool == "*" { "_global" } else { tool }
}

/// Values without the differences that the report names: texts that spell numbers, fractions in amounts.
fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        (-3i64..8).prop_map(Value::from),
        prop::sample::select(vec!["x", "xa", "abc", "", "true", "b"]).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(1.5)),
    ]
    .boxed()
}

fn condition() -> BoxedStrategy<Condition> {
    let path = prop::sample::select(vec!["args.a", "args.b", "args.b.c", "args.n", "args.a[0]"]);
    let number = prop_oneof![(-3i64..8).prop_map(Value::from), Just(json!(2.5))];
    let test = prop_oneof![
        (prop::sample::select(vec!["eq", "neq", "contains"]), scalar()),
        (
            prop::sample::select(vec!["in", "not_in"]),
            prop::collection::vec(scalar(), 0..3).prop_map(Value::from)
        ),
        (prop::sample::select(vec!["lt", "lte", "gt", "gte"]), number),
        (Just("regex"), prop::sample::select(vec!["^x", "^[a-c]+$"]).prop_map(Value::from)),
        (Just("exists"), any::<bool>().prop_map(Value::from)),
    ];
    (path, test).prop_map(|(path, (op, value))| Condition { path: path.to_owned(), op, value }).boxed()
}

fn counter_condition(key: String) -> BoxedStrategy<Condition> {
    let number = prop_oneof![(0i64..6).prop_map(Value::from), Just(json!(2.5))];
    let test = prop_oneof![
        6 => (prop::sample::select(vec!["lt", "lte"]), number.clone()),
        1 => (prop::sample::select(vec!["gt", "gte", "eq", "neq"]), number),
        1 => (prop::sample::select(vec!["in", "not_in"]), prop::collection::vec((0i64..4).prop_map(Value::from), 0..4).prop_map(Value::from)),
        1 => (Just("exists"), any::<bool>().prop_map(Value::from)),
    ];
    test.prop_map(move |(op, value)| Condition { path: format!("state.{key}"), op, value }).boxed()
}

/// Rules of a tool: plain ones, denials, and counters `n0`, `n1` … that they and others read.
fn rules(tool: &'static str) -> BoxedStrategy<Vec<Rule>> {
    let plain = prop::collection::vec(condition(), 1..3).prop_map(|conditions| Rule {
        deny: false,
        conditions,
        state: None,
    });
    let denial = Just(Rule { deny: true, conditions: Vec::new(), state: None });
    let counted = move |i: usize| {
        let key = format!("{}.n{i}", scope(tool));
        let reads = prop::collection::vec(counter_condition(key), 1..3);
        let also = prop::collection::vec(condition(), 0..2);
        let window = prop::sample::select(vec!["minute", "hour", "day"]);
        let increment = prop_oneof![4 => Just(1i64), 1 => Just(2), 1 => Just(-1)];
        let from = prop_oneof![3 => Just(None), 1 => Just(Some("args.n".to_owned()))];
        (reads, also, window, increment, from).prop_map(move |(reads, also, window, increment, from)| {
            let state = State { counter: format!("n{i}"), window, increment, from };
            Rule { deny: false, conditions: also.into_iter().chain(reads).collect(), state: Some(state) }
        })
    };
    let reader = counter_condition(format!("{}.n0", scope(tool))).prop_map(|c| Rule {
        deny: false,
        conditions: vec![c],
        state: None,
    });
    let foreign = counter_condition("read.n0".to_owned()).prop_map(|c| Rule {
        deny: false,
        conditions: vec![c],
        state: None,
    });
    let first = prop::option::weighted(0.7, counted(0));
    let second = prop::option::weighted(0.3, counted(1));
    let readers = (prop::option::weighted(0.3, reader), prop::option::weighted(0.15, foreign));
    let others = prop::collection::vec(prop_oneof![6 => plain, 1 => denial], 0..2);
    (first, second, readers, others)
        .prop_map(|(first, second, (reader, foreign), others)| {
            // Who reads a counter must find one.
            let reader = reader.filter(|_| first.is_some());
            others.into_iter().chain(first).chain(second).chain(reader).chain(foreign).collect()
        })
        .boxed()
}

fn config() -> BoxedStrategy<Config> {
    let tool = |name: &'static str| {
        prop::option::weighted(0.6, rules(name)).prop_map(move |rules| Some((name.to_owned(), rules?)))
    };
    let tools = (tool(TOOLS[0]), tool(TOOLS[1]), tool(TOOLS[2]), tool(TOOLS[3]));
    let hide = prop::collection::btree_set(prop::sample::select(vec!["read", "gone", "*"]), 0..2);
    (any::<bool>(), prop_oneof![3 => Just(Default::default()), 1 => hide], tools)
        .prop_map(|(deny, hide, (a, b, c, d))| {
            let mut tools: Vec<(String, Vec<Rule>)> = [a, b, c, d].into_iter().flatten().collect();
            let kept = tools.iter().any(|(name, rules)| {
                name == "read" && rules.iter().any(|r| r.state.as_ref().is_some_and(|s| s.counter == "n0"))
            });
            for (_, rules) in &mut tools {
                rules.retain(|rule| kept || rule.conditions.iter().all(|c| c.path != "state.read.n0"));
            }
            Config { deny, hide: hide.into_iter().map(str::to_owned).collect(), tools }
        })
        .boxed()
}

fn args() -> BoxedStrategy<Value> {
    let value = prop_oneof![6 => scalar(), 1 => prop::collection::vec(scalar(), 0..3).prop_map(Value::from), 1 => Just(json!({"c": "x"})), 1 => Just(json!({}))];
    let member = (prop::sample::select(vec!["a", "b", "n", "a[0]"]), value);
    prop::collection::vec(member, 0..4)
        .prop_map(|members| Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))
        .boxed()
}

/// A call, and how many seconds after the one before.
fn call() -> BoxedStrategy<(&'static str, Value, u64)> {
    let wait = prop_oneof![4 => Just(0u64), 2 => 1u64..90, 1 => 1000u64..100_000];
    (prop::sample::select(vec!["read", "pay", "ns.tool", "other", "gone"]), args(), wait).boxed()
}

proptest! {
    #[test]
    fn what_intercept_denies_is_denied(config in config(), calls in prop::collection::vec(call(), 1..25)) {
        let yaml = config.yaml();
        let imported = intercept::import(&yaml).unwrap_or_else(|report| panic!("{report}\n{yaml}"));
        let mut gate = Gate::new(&imported.text);
        let mut engine = Engine::default();
        for (tool, args, wait) in calls {
            gate.now += wait;
            let text = args.to_string();
            let ours = gate.call(tool, Some(&text)).is_ok();
            // The engine goes on as if only what we let through had been called: that is what a server saw.
            if ours {
                let theirs = engine.call(&config, tool, &args, gate.now);
                prop_assert!(theirs, "{tool} {text} passes here and not there\n{yaml}\n{}", imported.text);
            }
        }
    }

    #[test]
    fn without_counters_both_decide_alike_but_for_lists_and_objects(config in config(), calls in prop::collection::vec(call(), 1..10)) {
        let mut config = config;
        for (_, rules) in &mut config.tools {
            rules.retain(|rule| rule.state.is_none() && rule.conditions.iter().all(|c| c.path.starts_with("args.")));
        }
        let imported = intercept::import(&config.yaml()).unwrap();
        let mut gate = Gate::new(&imported.text);
        for (tool, args, _) in calls {
            let plain = args.as_object().unwrap().values().all(|v| !v.is_array() && !v.is_object());
            if plain {
                let ours = gate.call(tool, Some(&args.to_string())).is_ok();
                let theirs = Engine::default().call(&config, tool, &args, 0);
                prop_assert_eq!(ours, theirs, "{} {}\n{}\n{}", tool, args, config.yaml(), imported.text);
            }
        }
    }

    #[test]
    fn no_text_breaks_an_importer(text in prop_oneof![any::<String>(), yaml_like()]) {
        let _ = detect(&text);
        if let Ok(imported) = intercept::import(&text) {
            prop_assert!(Policy::parse(&imported.text).is_ok(), "{}", imported.text);
        }
        if let Ok(found) = claude::import(&text, None) {
            prop_assert!(found.policies.iter().all(|p| Policy::parse(&p.text).is_ok()));
        }
    }

    #[test]
    fn no_permissions_are_loosened(
        rules in prop::collection::vec((prop::sample::select(vec!["allow", "ask", "deny"]), "mcp__s(__[ab*_?]{1,3})?"), 1..8),
        tool in "[abc_. -]{1,3}",
    ) {
        let list = |level: &str| rules.iter().filter(|(l, _)| *l == level).map(|(_, rule)| rule.clone()).collect::<Vec<_>>();
        let settings = json!({"permissions": {"allow": list("allow"), "ask": list("ask"), "deny": list("deny")}});
        let found = claude::import(&settings.to_string(), Some("s")).unwrap();
        let passes = Gate::new(&found.policies[0].text).call(&tool, None).is_ok();
        // Claude Code sees only this, and takes only `*` for a pattern.
        let shown = tool.replace(['.', ' '], "_");
        let fits = |level: &str| list(level).iter().any(|rule| {
            let pattern = rule.strip_prefix("mcp__s__").unwrap_or("*").replace('*', ".*");
            matches_simply(&pattern, &shown)
        });
        prop_assert!(!passes || (fits("allow") && !fits("ask") && !fits("deny")), "{tool:?}\n{settings}\n{}", found.policies[0].text);
    }
}

/// Does the whole text fit a pattern of letters and `.*`?
fn matches_simply(pattern: &str, text: &str) -> bool {
    match pattern.strip_prefix(".*") {
        Some(rest) => (0..=text.len()).any(|i| matches_simply(rest, &text[i..])),
        None => match (pattern.chars().next(), text.chars().next()) {
            (None, None) => true,
            (Some(a), Some(b)) if a == b => matches_simply(&pattern[1..], &text[1..]),
            _ => false,
        },
    }
}

/// Texts that look like what the importers read.
fn yaml_like() -> BoxedStrategy<String> {
    let piece = prop::sample::select(vec![
        "version: \"1\"\n",
        "default: deny\n",
        "tools:\n",
        "  a:\n",
        "    rules:\n",
        "      - name: r\n",
        "        rate_limit: 5/hour\n",
        "        conditions:\n",
        "          - {path: args.a, op: eq, value: 1}\n",
        "          - {path: state.a.n, op: lte, value: 3}\n",
        "        state: {counter: n, window: day, increment_from: args.x}\n",
        "  \"*\": {rules: []}\n",
        "hide: [a, \"*\"]\n",
        "&a ",
        "*a ",
        "<<: ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        ": ",
        ",",
        "\n",
        "  ",
        "\t",
        "|\n",
        "#",
        "---\n",
        "...\n",
        "!!str ",
        "!x ",
        "? ",
        "%YAML 1.2\n",
        "\u{feff}",
        "\u{0}",
        "1e999",
        "\\",
        "/*",
        "\"permissions\"",
        "\"deny\"",
        "\"mcp__a__b*\"",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat()).boxed()
}
