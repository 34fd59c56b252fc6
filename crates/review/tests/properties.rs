//! What must hold for every policy and every sequence of calls.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use callgate_history::ReplayedArguments;
use callgate_journal::{Decision, Outcome};
use callgate_policy::{AsWritten, Policy};
use callgate_review::{MARGIN, ReplayedRow, Ruling, SuggestionRequest, judge_again, simulate, suggest};
use common::{SERVER, World};
use proptest::prelude::*;

const TOOLS: [&str; 6] = ["read", "Read", "write/it", "pay~all", "list", "go"];
const CLIENTS: [&str; 3] = ["claude", "cursor", "zed"];

#[derive(Clone, Debug)]
enum Step {
    Call { session: usize, tool: usize, args: usize },
    Method { session: usize, which: usize },
    Answer { session: usize, which: usize, outcome: Outcome },
    Wait(u64),
    Restart(usize),
}

const ARGS: [&str; 8] = [
    r#"{}"#,
    r#"{"n":5,"path":"/home/me/work/a.txt"}"#,
    r#"{"n":50,"path":"/home/me/work/b/c.txt","url":"https://example.com/x"}"#,
    r#"{"n":"7.5","path":"/etc/passwd","url":"https://example.com"}"#,
    r#"{"n":1.25,"token":"hunter2hunter2"}"#,
    r#"{"path":"/home/me/work","url":"file:///x","n":-3}"#,
    r#"{"options":{"outputPath":"/home/me/work/out","more":{"deep":{"deeper":{"deepest":1}}}},"paths":["/home/me/work/a","/home/me/work/b"]}"#,
    r#"{"options":{"outputPath":"/home/me/work/out/x"},"paths":[],"n":2}"#,
];
const METHODS: [(&str, &str, &str); 4] = [
    ("resources/read", "file:///home/me/a", r#"{"uri":"file:///home/me/a"}"#),
    ("prompts/get", "greet", r#"{"name":"greet"}"#),
    ("made/up", "", "{}"),
    ("tasks/get", "7", r#"{"taskId":"7"}"#),
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = 0..4usize;
    let outcome =
        prop_oneof![4 => Just(Outcome::Ok), 1 => Just(Outcome::ToolError), 1 => Just(Outcome::Cancelled)];
    let step = prop_oneof![
        8 => (session.clone(), 0..TOOLS.len(), 0..ARGS.len())
            .prop_map(|(session, tool, args)| Step::Call { session, tool, args }),
        1 => (session.clone(), 0..METHODS.len()).prop_map(|(session, which)| Step::Method { session, which }),
        3 => (session.clone(), 0..8usize, outcome)
            .prop_map(|(session, which, outcome)| Step::Answer { session, which, outcome }),
        3 => prop_oneof![0..2_000u64, 10_000..90_000u64, Just(3_600_000)].prop_map(Step::Wait),
        1 => session.prop_map(Step::Restart),
    ];
    prop::collection::vec(step, 1..120)
}

fn limit() -> impl Strategy<Value = String> {
    let scope = prop::sample::select(vec!["session", "grant", "client", "server", "all"]);
    let window = prop::sample::select(vec!["1s", "minute", "hour"]);
    let kind = prop::sample::select(vec!["calls", "calls", "calls", "concurrent", "total", "sum"]);
    (scope, window, 1..6u32, kind, 0..1000u32).prop_map(|(scope, window, max, kind, name)| match kind {
        "calls" => format!(r#"{{"counter":"c{name}","window":"{window}","max":{max},"scope":"{scope}"}}"#),
        "sum" => format!(
            r#"{{"counter":"c{name}","kind":"sum","amount_from":"args.n","window":"{window}","max":{},"scope":"{scope}"}}"#,
            max * 20
        ),
        kind => format!(r#"{{"counter":"c{name}","kind":"{kind}","max":{max},"scope":"{scope}"}}"#),
    })
}

fn rule() -> impl Strategy<Value = String> {
    let action = prop_oneof![6 => Just("allow"), 1 => Just("deny")];
    let condition = prop::sample::select(vec![
        r#""deny_if":[{"path":"args.url","op":"regex","value":"^file:"}]"#,
        r#""require":[{"path":"args.n","op":"lte","value":10}]"#,
        r#""description":"no condition""#,
        r#""mode":"observe""#,
        r#""require":[{"path":"args.path","op":"inside","value":"/home/me/work"}]"#,
        r#""until":"2027-01-15T08:05:00Z""#,
        r#""record":"none""#,
    ]);
    (action, condition, prop::collection::vec(limit(), 0..3)).prop_map(|(action, condition, limits)| {
        format!(r#"{{"action":"{action}",{condition},"limits":[{}]}}"#, limits.join(","))
    })
}

/// Names and patterns that rules may be for.
const NAMES: [&str; 8] = ["read", "Read", "write/it", "pay~all", "list", "go", "*e*", "l?st"];

fn rules() -> impl Strategy<Value = String> {
    prop::collection::vec((0..NAMES.len(), rule()), 0..5).prop_map(|mut rules| {
        rules.sort();
        rules.dedup_by_key(|(name, _)| *name);
        let rules: Vec<String> =
            rules.iter().map(|(name, rule)| format!("{:?}:{rule}", NAMES[*name])).collect();
        format!(r#""tools":{{{}}}"#, rules.join(","))
    })
}

fn overlay() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["claude", "cursor", "c*"]);
    let top = prop::sample::select(vec![
        r#""mode":"observe""#,
        r#""mode":"enforce""#,
        r#""default":"allow""#,
        r#""hide":["go"]"#,
    ]);
    (name, top, rules()).prop_map(|(name, top, rules)| format!(r#"{name:?}:{{{top},{rules}}}"#))
}

/// Some of these have the same counter twice for one call; they are no policies and are passed over.
fn policy() -> impl Strategy<Value = Policy> {
    let default = prop::sample::select(vec!["allow", "allow", "deny"]);
    let hide = prop::sample::subsequence(TOOLS.to_vec(), 0..2);
    let top = prop::sample::select(vec![
        r#""other_methods":"forward""#,
        r#""other_methods":"deny""#,
        r#""record":"keys""#,
        r#""record":"none""#,
        r#""mode":"observe""#,
        r#""resources":{"allow":["file:///home/me"],"limits":[{"window":"minute","max":2}]}"#,
        r#""prompts":{"deny":["greet"]}"#,
    ]);
    let all = prop_oneof![2 => Just("{}".to_owned()), 1 => rule()];
    let clients = prop::collection::vec(overlay(), 0..2);
    let text = (default, hide, rules(), all, top, clients).prop_map(|(default, hide, rules, all, top, clients)| {
        let clients = clients.join(",");
        format!(
            r#"{{"version":"1","default":"{default}","hide":{hide:?},"all_tools":{all},{rules},{top},"clients":{{{clients}}}}}"#
        )
    });
    // An amount that was kept out of the record is not known again.
    text.prop_filter("private amounts", |text| !(text.contains("\"record\"") && text.contains("\"sum\"")))
        .prop_filter_map("a counter twice", |text| Policy::parse(&text).ok())
}

fn play(world: &mut World, policy: &Policy, steps: &[Step]) {
    for client in CLIENTS.iter().chain([&CLIENTS[0]]) {
        world.session(client);
    }
    for step in steps {
        match *step {
            Step::Call { session, tool, args } => {
                world.tool(session, policy, TOOLS[tool], ARGS[args]);
            }
            Step::Method { session, which } => {
                let (method, name, params) = METHODS[which];
                world.request(session, policy, method, name, params);
            }
            Step::Answer { session, which, outcome } => world.answer(session, which, outcome),
            Step::Wait(ms) => world.advance(Duration::from_millis(ms)),
            Step::Restart(session) => world.restart(session),
        }
        // Which of two sessions was first within one millisecond, no record can tell.
        world.advance(Duration::from_millis(1));
    }
}

fn as_recorded(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Passed => Decision::Allowed.word(),
        Ruling::Observed => "would_deny",
        Ruling::Denied => Decision::Denied.word(),
        Ruling::Hidden => Decision::Hidden.word(),
        Ruling::Capped => Decision::Capped.word(),
        Ruling::Asked | Ruling::Unsupported => Decision::Unsupported.word(),
        Ruling::Broken => Decision::Broken.word(),
        Ruling::Untold => "cannot be told",
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_under_the_same_policy_decides_as_the_sessions_did(policy in policy(), steps in steps()) {
        let mut world = World::new();
        play(&mut world, &policy, &steps);
        let history = world.history();
        let mut rows = 0;
        let mut wrong = Vec::new();
        judge_again(&history, &policy, SERVER, 0, &AsWritten, |row| {
            let ReplayedRow::Judged(judged) = row else { panic!("every row was judged") };
            rows += 1;
            let then = (judged.call.decision.word(), judged.call.rule.to_owned());
            let now = (as_recorded(judged.ruling), judged.rule.to_owned());
            // Of two rules that both refuse, the first may be the one whose arguments were not kept.
            let refused_anyway = matches!(judged.call.args, ReplayedArguments::Lacking { .. })
                && judged.ruling != Ruling::Passed
                && judged.call.decision != Decision::Allowed
                && judged.ruling.refuses() != judged.was_let_through();
            if judged.ruling != Ruling::Untold && !refused_anyway && then != now {
                wrong.push((judged.call.at_ms - common::START_MS, judged.call.tool.to_owned(), then, now));
            }
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert!(wrong.is_empty(), "{wrong:#?}");
        let asked = steps.iter().filter(|step| matches!(step, Step::Call { .. } | Step::Method { .. })).count();
        prop_assert_eq!(rows, asked);
        let simulation = simulate(&history, &policy, SERVER, 0, &AsWritten, |_| ControlFlow::Continue(())).unwrap();
        prop_assert_eq!((simulation.newly_refused, simulation.newly_passed), (0, 0));
    }

    #[test]
    fn a_draft_refuses_nothing_that_was_let_through(policy in policy(), steps in steps(), names in catalogue()) {
        let mut world = World::new();
        play(&mut world, &policy, &steps);
        let now_ms = world.now_ms();
        let history = world.history();
        let wish = SuggestionRequest {
            server: SERVER,
            since_ms: common::START_MS,
            now_ms,
            margin: MARGIN,
            catalogue: Some(&names),
            asks: &std::collections::BTreeMap::new(),
            files: &AsWritten,
        };
        let suggestion = suggest(&history, &wish).unwrap();
        prop_assert_eq!(&suggest(&history, &wish).unwrap(), &suggestion, "the same again");
        let draft = match Policy::parse(&suggestion.text) {
            Ok(draft) => draft,
            Err(report) => return Err(TestCaseError::fail(format!("{report:?}\n{}", suggestion.text))),
        };
        prop_assert!(!suggestion.text.contains("hunter2") && !suggestion.text.contains("[masked"));
        // Tools whose every call failed are left out on purpose; of all others nothing that was let through is refused.
        let mut worked = BTreeSet::new();
        judge_again(&history, &draft, SERVER, 0, &AsWritten, |row| {
            if let ReplayedRow::Judged(judged) = row
                && judged.was_let_through()
                && judged.call.outcome != Some(Outcome::ToolError)
            {
                worked.insert(judged.about().to_owned());
            }
            ControlFlow::Continue(())
        }).unwrap();
        let mut refused = Vec::new();
        judge_again(&history, &draft, SERVER, 0, &AsWritten, |row| {
            if let ReplayedRow::Judged(judged) = row
                && judged.was_let_through()
                && worked.contains(judged.about())
                && judged.ruling != Ruling::Passed
            {
                refused.push((judged.about().to_owned(), judged.rule.to_owned()));
            }
            ControlFlow::Continue(())
        }).unwrap();
        prop_assert!(refused.is_empty(), "{}\n{refused:#?}", suggestion.text);
    }
}

/// What a server may say of itself.
fn catalogue() -> impl Strategy<Value = Vec<String>> {
    let known = prop::sample::select(TOOLS.to_vec()).prop_map(str::to_owned);
    let odd =
        prop::sample::select(vec!["", "*", "x*", "READ", "a\nb", "a\u{202e}b", "\u{85}", "never", "*/ }"]);
    let any = prop_oneof![2 => known, 2 => odd.prop_map(str::to_owned), 1 => "\\PC{0,12}"];
    prop::collection::vec(any, 0..8)
}
