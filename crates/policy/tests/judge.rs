//! The tables under `cases/`: what each policy says about each call.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;

use callgate_policy::{
    ArgumentSchema, Call, Circumstances, Judgement, Keep, Listing, Policy, Refusal, RefusalKind, ToolClass,
    Waived,
};
use callgate_protocol::json::Raw;
use common::disk::FakeDisk;
use common::recordings::FakeRecordings;
use common::{Section, cases};

/// `tool {args}`, `"odd name" {args}`, `method resources/read {params}`; before it, in this order, who calls
/// (`@cursor`), when (`at 2026-03-01T18:00:00Z`), and what is waived (`waiving denials`, `waiving everything`).
/// `list prompts name` asks whether it is listed.
fn judge(policy: &Policy, call: &str) -> String {
    judge_on(policy, call, &FakeDisk::default(), &FakeRecordings::default(), &Schemas::default())
}

/// What the server says of its tools' arguments: `@schema: tool {…}`.
type Schemas = std::collections::BTreeMap<String, ArgumentSchema>;

fn judge_on(
    policy: &Policy,
    call: &str,
    disk: &FakeDisk,
    recordings: &FakeRecordings,
    schemas: &Schemas,
) -> String {
    let mut circumstances = Circumstances { files: disk, recordings, ..Circumstances::timeless() };
    let (client, mut call) = match call.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').unwrap(),
        None => ("claude", call),
    };
    if let Some((moment, rest)) = call.strip_prefix("at ").and_then(|rest| rest.split_once(' ')) {
        circumstances.now_ms = milliseconds(moment);
        call = rest;
    }
    let waivers = [
        ("denials", Waived::Denials),
        ("everything", Waived::Everything),
        ("enforcement", Waived::Enforcement),
    ];
    for (word, waived) in waivers {
        if let Some(rest) = call.strip_prefix(&format!("waiving {word} ")) {
            circumstances.waived = waived;
            call = rest;
        }
    }
    if let Some((listing, name)) = call.strip_prefix("list ").and_then(|rest| rest.split_once(' ')) {
        let listing = match listing {
            "resources" => Listing::Resources,
            "templates" => Listing::Templates,
            "prompts" => Listing::Prompts,
            other => panic!("{other}"),
        };
        return if policy.is_listed(listing, client, name) { "listed" } else { "unlisted" }.to_owned();
    }
    if let Some(method) = call.strip_prefix("method ") {
        let (name, params) = name_and_args(method);
        let params = params.as_deref().map(|params| Raw::parse(params).unwrap());
        shown(&policy.judge(&Call::method(client, &name, params), &circumstances))
    } else {
        let (name, args) = name_and_args(call);
        let args = args.as_deref().map(|args| Raw::parse(args).unwrap_or_else(|e| panic!("{args}: {e}")));
        let call = Call::tool(client, &name, args).described_by(schemas.get(&name));
        shown(&policy.judge(&call, &circumstances))
    }
}

/// `2026-03-01T18:00:00Z`, counted day by day.
fn milliseconds(moment: &str) -> i64 {
    let numbers: Vec<i64> = moment.split(['-', 'T', ':', 'Z']).filter_map(|n| n.parse().ok()).collect();
    let [year, month, day, hour, minute, second] = numbers[..] else { panic!("{moment}") };
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let months = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let days: i64 = (1970..year).map(|year| 365 + leap(year)).sum::<i64>()
        + months.iter().take(usize::try_from(month - 1).unwrap()).sum::<i64>()
        + day
        - 1;
    (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000
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
            let mut out = format!("allow {}", pass.rule);
            for taking in pass.limits.iter() {
                let limit = taking.limit;
                let amount =
                    if taking.amount == 1 { String::new() } else { format!(" takes {}", taking.amount) };
                out += &format!(" [{} {}: {}{amount}]", limit.counter, limit.scope, limit.words());
            }
            out += kept(pass.keep);
            out += &pass.validate.map(|by| format!(" (checked by {by})")).unwrap_or_default();
            out += if pass.observing { " (observing)" } else { "" };
            if let Some(would) = &pass.would {
                assert_eq!(would.keep, pass.keep);
                out += &format!(" would {}", refused(would));
            }
            out
        }
        Judgement::Refuse(refusal) => refused(refusal),
    }
}

fn refused(refusal: &Refusal) -> String {
    let kind = match refusal.kind {
        RefusalKind::Denied => "deny",
        RefusalKind::Hidden => "hidden",
        RefusalKind::Ask => "ask",
        RefusalKind::Unsupported => "unsupported",
        RefusalKind::Broken => "broken",
    };
    format!("{kind} {}{} | {}", refusal.rule, kept(refusal.keep), refusal.reason)
}

fn kept(keep: Keep) -> &'static str {
    match keep {
        Keep::Full => "",
        Keep::Keys => " (keys)",
        Keep::Nothing => " (nothing)",
    }
}

fn run(file: &str) {
    let mut failures = Vec::new();
    let sections = cases(file);
    assert!(!sections.is_empty(), "{file} holds no cases");
    for Section { title, settings, policy, lines } in sections {
        let mut policy = Policy::parse(&policy).unwrap_or_else(|report| panic!("{file}: {title}:\n{report}"));
        let (mut disk, mut recordings) = (FakeDisk::default(), FakeRecordings::default());
        let mut schemas = Schemas::new();
        let mut classes = common::classes::Told::default();
        for (name, value) in settings {
            if name == "schema" {
                let (tool, schema) = value.split_once(' ').unwrap();
                let schema = ArgumentSchema::read(Raw::parse(schema).unwrap()).unwrap();
                schemas.insert(tool.to_owned(), schema);
            } else if name == "class" {
                let (tool, class) = value.split_once(' ').unwrap();
                classes.tell(tool, ToolClass::from_key(class).unwrap());
            } else if !disk.set(&name, &value) && !recordings.set(&name, &value) {
                assert_eq!(name, "home", "{title}");
                // `@home: FOLDER`, or `@home: FOLDER from WORKING DIRECTORY`.
                match value.split_once(" from ") {
                    Some((home, working_in)) => policy.guard_home(home, Some(working_in)),
                    None => policy.guard_home(&value, None),
                }
            }
        }
        policy.know_classes(Arc::new(classes));
        assert!(!lines.is_empty(), "{file}: {title} expects nothing");
        for line in lines {
            let (call, expected) =
                line.rsplit_once(" -> ").unwrap_or_else(|| panic!("{file}: {title}: {line}"));
            let found = judge_on(&policy, call.trim(), &disk, &recordings, &schemas);
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
fn a_rule_for_paths_holds_every_path_however_the_tool_calls_it() {
    run("argument_kinds.txt");
}

#[test]
fn rules_by_class_are_for_tools_that_no_name_and_no_pattern_speaks_of() {
    run("classes.txt");
}

#[test]
fn lists_are_told_when_a_class_is_hidden_or_not_any_more() {
    let policy = |classes: &str| {
        let text = format!("{{\"version\":\"1\",\"default\":\"allow\",\"classes\":{{{classes}}}}}");
        Policy::parse(&text).unwrap()
    };
    let (hiding, denying) =
        (policy("\"write\":{\"action\":\"hide\"}"), policy("\"write\":{\"action\":\"deny\"}"));
    assert_ne!(hiding.visibility("c"), denying.visibility("c"));
    assert_eq!(denying.visibility("c"), policy("").visibility("c"));
    assert!(hiding.hides_anything() && !denying.hides_anything());
    assert!(
        hiding.is_hidden_as("c", "x", ToolClass::Write) && !hiding.is_hidden_as("c", "x", ToolClass::Read)
    );
    assert!(!hiding.watch_only() && policy("\"read\":{}").watch_only());
}

#[test]
fn what_nobody_allowed_can_be_left_out_of_lists() {
    run("unlisted.txt");
    let text = |tools: &str, unlisted: &str| {
        format!(
            "{{\"version\":\"1\",\"default\":\"deny\",\"unlisted\":\"{unlisted}\",\"tools\":{{{tools}}}}}"
        )
    };
    let policy = |tools: &str, unlisted: &str| Policy::parse(&text(tools, unlisted)).unwrap();
    let hiding = policy("\"a\":{}", "hide");
    assert!(hiding.hides_anything() && hiding.is_hidden("c", "b") && !hiding.is_hidden("c", "a"));
    // Who has read a list is told when it is another.
    assert_ne!(hiding.visibility("c"), policy("\"a\":{},\"b\":{}", "hide").visibility("c"));
    assert_ne!(hiding.visibility("c"), policy("\"a\":{}", "show").visibility("c"));
    assert_eq!(policy("\"a\":{}", "show").visibility("c"), policy("\"b\":{}", "show").visibility("c"));
    // What a person allows comes back into the list.
    let allow = callgate_policy::edit::Edit::Allow { tool: "b".to_owned() };
    let allowed = callgate_policy::edit::apply(&text("\"a\":{}", "hide"), &allow).unwrap();
    assert!(!Policy::parse(&allowed.text).unwrap().is_hidden("c", "b"), "{}", allowed.text);
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
fn patterns_rule_what_no_exact_name_does() {
    run("globs.txt");
}

#[test]
fn a_client_s_rules_come_on_top_of_everyone_s() {
    run("clients.txt");
}

#[test]
fn a_rule_past_its_end_is_as_if_not_written() {
    run("until.txt");
}

#[test]
fn what_is_only_observed_is_let_through_and_noted() {
    run("observe.txt");
}

#[test]
fn the_most_private_record_counts() {
    run("record.txt");
}

#[test]
fn validation_is_asked_for_by_the_rule_or_the_top() {
    run("validate.txt");
}

#[test]
fn limits_of_every_kind_take_their_amount() {
    run("kinds.txt");
}

#[test]
fn waivers_set_aside_what_a_person_named_and_no_more() {
    run("waived.txt");
}

#[test]
fn codegen_sessions_are_ruled_by_what_is_known_of_them() {
    run("codegen.txt");
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
fn paths_are_judged_by_where_they_lead() {
    run("paths.txt");
}

#[test]
fn windows_paths_are_judged_by_what_windows_makes_of_them() {
    run("paths_windows.txt");
}

#[test]
fn a_uri_is_what_any_reader_may_take_it_for() {
    run("uris.txt");
}

#[test]
fn resources_are_hidden_denied_and_allowed() {
    run("resources.txt");
}

#[test]
fn prompts_are_ruled_by_name() {
    run("prompts.txt");
}

#[test]
fn what_a_server_asks_of_its_client_is_ruled() {
    run("server_asks.txt");
}

#[test]
fn names_and_addresses_that_are_too_long_are_refused_where_there_are_rules() {
    let policy =
        Policy::parse(r#"{"version":"1","default":"allow","hide":["x"],"resources":{"deny":["x:a"]}}"#)
            .unwrap();
    let long = "\u{200b}".repeat(1000);
    assert!(judge(&policy, &format!("x{long}")).starts_with("deny (unusable name)"));
    let found = judge(&policy, &format!("method made/up{long}"));
    assert_eq!(found, "deny (unusable name) | the method's name is too long");
    let read = |length: usize| {
        let uri = format!("x:{}", "b".repeat(length - 2));
        judge(&policy, &format!("method resources/read {{\"uri\":\"{uri}\"}}"))
    };
    assert_eq!(read(4096), "allow /resources");
    assert_eq!(read(4097), "deny /resources | the URI is too long, so it cannot be judged");
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
