//! The tables under `cases/`: what each policy says about each call.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::{Call, Judgement, Policy, RefusalKind};
use callgate_protocol::json::Raw;
use common::{Section, cases};

/// `tool {args}`, `"odd name" {args}`, `@client tool {args}`, `method resources/read {params}`
fn judge(policy: &Policy, call: &str) -> String {
    let (client, call) = match call.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').unwrap(),
        None => ("claude", call),
    };
    if let Some(method) = call.strip_prefix("method ") {
        let (name, params) = name_and_args(method);
        let params = params.as_deref().map(|params| Raw::parse(params).unwrap());
        shown(&policy.judge(&Call::method(client, &name, params)))
    } else {
        let (name, args) = name_and_args(call);
        let args = args.as_deref().map(|args| Raw::parse(args).unwrap_or_else(|e| panic!("{args}: {e}")));
        shown(&policy.judge(&Call::tool(client, &name, args)))
    }
}

fn name_and_args(call: &str) -> (String, Option<String>) {
    let (name, args) = if call.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(call).into_iter::<String>();
        let name = stream.next().unwrap().unwrap();
        (name, call[stream.byte_offset()..].trim())
    } else {
        let (name, args) = call.split_once(' ').unwrap_or((call, ""));
        (name.to_owned(), args.trim())
    };
    (name, (!args.is_empty()).then(|| args.to_owned()))
}

fn shown(judgement: &Judgement<'_>) -> String {
    match judgement {
        Judgement::Pass(pass) => {
            let limits: Vec<String> =
                pass.limits.iter().map(|l| format!(" [{} {}: {}]", l.counter, l.scope, l.words())).collect();
            format!("allow {}{}", pass.rule, limits.concat())
        }
        Judgement::Refuse(refusal) => {
            let kind = match refusal.kind {
                RefusalKind::Denied => "deny",
                RefusalKind::Hidden => "hidden",
                RefusalKind::Unsupported => "unsupported",
                RefusalKind::Broken => "broken",
            };
            format!("{kind} {} | {}", refusal.rule, refusal.reason)
        }
    }
}

fn run(file: &str) {
    let mut failures = Vec::new();
    let sections = cases(file);
    assert!(!sections.is_empty(), "{file} holds no cases");
    for Section { title, settings, policy, lines } in sections {
        let mut policy = Policy::parse(&policy).unwrap_or_else(|report| panic!("{file}: {title}:\n{report}"));
        for (name, value) in settings {
            assert_eq!(name, "home", "{title}");
            policy.guard_home(&value);
        }
        assert!(!lines.is_empty(), "{file}: {title} expects nothing");
        for line in lines {
            let (call, expected) =
                line.rsplit_once(" -> ").unwrap_or_else(|| panic!("{file}: {title}: {line}"));
            let found = judge(&policy, call.trim());
            // The reason is checked where it is written down.
            let compared = if expected.contains(" | ") { &found } else { found.split(" | ").next().unwrap() };
            if compared != expected.trim() {
                failures.push(format!("{title}: {call}\n  expected {expected}\n  found    {found}"));
            }
        }
    }
    assert!(failures.is_empty(), "{file}:\n{}", failures.join("\n"));
}

#[test]
fn operators_mean_what_the_table_says() {
    run("operators.txt");
}

#[test]
fn deny_wins_and_the_order_is_hidden_denied_conditions_limits() {
    run("order.txt");
}

#[test]
fn limits_are_taken_over_with_counter_scope_and_window() {
    run("limits.txt");
}

#[test]
fn other_spellings_of_ruled_names_are_refused() {
    run("names.txt");
}

#[test]
fn what_is_not_built_yet_refuses_only_what_it_touches() {
    run("not_built.txt");
}

#[test]
fn sample_policies_do_what_they_say() {
    run("samples.txt");
}

#[test]
fn arguments_that_name_our_own_folder_are_refused() {
    run("home.txt");
}

#[test]
fn other_methods_pass_unless_ruled() {
    run("methods.txt");
}

#[test]
fn a_broken_policy_refuses_every_tool_and_lets_lists_work() {
    let policy = Policy::refuse_all("line 3, column 1: a comma is missing here");
    assert!(judge(&policy, "x").starts_with("broken (broken policy) | the policy cannot be used: line 3"));
    for method in ["initialize", "ping", "tools/list", "resources/list", "prompts/list", "logging/setLevel"] {
        assert_eq!(judge(&policy, &format!("method {method}")), "allow /other_methods", "{method}");
    }
    assert!(!policy.is_hidden("claude", "x") && !policy.watch_only());
}

#[test]
fn a_broken_policy_lets_no_resource_be_read_and_no_unknown_method_run() {
    let policy = Policy::refuse_all("line 3, column 1: a comma is missing here");
    for method in [
        "resources/read",
        "resources/subscribe",
        "subscriptions/listen",
        "prompts/get",
        "completion/complete",
        "tasks/result",
        "tools/something_new",
        "acme/run",
        "Ping",
        "tools/call",
    ] {
        let found = judge(&policy, &format!("method {method}"));
        assert!(found.starts_with("broken (broken policy) | "), "{method}: {found}");
    }
}
