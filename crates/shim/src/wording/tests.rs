//! The table of `docs/words.md`, made from what the gate says: each row a policy and a call, the text that a model reads, and
//! the step that it has to make possible.

use std::time::Duration;

use callgate_policy::{Call, Circumstances, Judgement, Pass, Policy};
use callgate_protocol::json::Raw;
use callgate_schema::{Fit, Schemas};

use super::*;

/// Where the table stands.
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/words.md");
const BEGIN: &str = "<!-- refusals: made by `CALLGATE_BLESS=1 cargo test -p callgate-shim agents_read` -->\n";
const END: &str = "<!-- end of refusals -->\n";
/// How long an answer may be, beside the reason that a person wrote.
const LONGEST: usize = 300;

struct Row {
    when: &'static str,
    text: String,
    /// What a model that has read it can do.
    makes_possible: &'static str,
}

/// The text block of the tool result, as a client shows it to its model.
fn text_of(line: &[u8]) -> String {
    let answer: serde_json::Value = serde_json::from_slice(line).unwrap();
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["content"][0]["type"], "text");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn said(reason: &str, next: &NextStep) -> String {
    let id = IdKey::from_lexeme("1").unwrap();
    text_of(&refusal(Expects::ToolResult, &id, reason, next, ("k3x9w2-7", "(rule)")))
}

fn judged<T>(policy: &str, tool: &str, args: &str, then: impl FnOnce(Judgement<'_>) -> T) -> T {
    let policy = format!(r#"{{"version":"1","default":"allow",{policy}}}"#);
    let policy = Policy::parse(&policy).unwrap();
    then(policy.judge(&Call::tool("c", tool, Some(Raw::parse(args).unwrap())), &Circumstances::timeless()))
}

fn refused(policy: &str, tool: &str, args: &str) -> String {
    judged(policy, tool, args, |judgement| match judgement {
        Judgement::Refuse(refusal) => said(&refusal.reason, &refusal.next),
        Judgement::Pass(_) => panic!("{policy} lets {tool} {args} through"),
    })
}

fn looping(rules: &str, tool: &str, times: u32) -> String {
    let policy = Policy::parse(&format!(r#"{{"version":"1","default":"allow",{rules}}}"#)).unwrap();
    let refusal = policy.loops("c", tool, 0)[0].refusal(tool, times, true);
    said(&refusal.reason, &refusal.next)
}

fn broken(why: &str) -> String {
    let policy = Policy::refuse_all(why);
    match policy.judge(&Call::tool("c", "x", None), &Circumstances::timeless()) {
        Judgement::Refuse(refusal) => said(&refusal.reason, &refusal.next),
        Judgement::Pass(_) => panic!("a broken policy lets something through"),
    }
}

fn over_limit(limit: &str, args: &str, used: u64, frees_in: Option<u64>) -> String {
    let policy = format!(r#""tools":{{"pay":{{"limits":[{limit}]}}}}"#);
    judged(&policy, "pay", args, |judgement| {
        let Judgement::Pass(Pass { limits, .. }) = judgement else { panic!("{limit}") };
        let limit = limits[0].limit;
        let cap = Capped {
            pointer: limit.pointer.clone(),
            counter: limit.counter.clone(),
            used,
            max: limit.max,
            window: limit.window(),
            frees_in: frees_in.map(Duration::from_secs),
            on_deny: None,
        };
        let (reason, next) = capped(Some(&limits[0]), "pay", &cap);
        said(&reason, &next)
    })
}

fn unfit(schema: &str, args: &str) -> String {
    let Fit::Differs(found) = Schemas::default().check(schema, Some(args)) else { panic!("{args} fits") };
    let (reason, next) = misfit("echo", &Misfit::Differs(found), Keep::Full);
    said(&reason, &next)
}

fn refused_by_pin(why: &Unaccepted) -> String {
    let (reason, next) = unaccepted("read_file", why);
    said(&reason, &next)
}

fn no_server(reason: &str, next: &NextStep) -> String {
    let id = IdKey::from_lexeme("1").unwrap();
    text_of(&unanswered(Expects::ToolResult, &id, reason, next, Some("k3x9w2-7")))
}

fn rows() -> Vec<Row> {
    let row = |when, text, makes_possible| Row { when, text, makes_possible };
    vec![
        row(
            "a rule denies the tool",
            refused(r#""tools":{"write_file":{"action":"deny"}}"#, "write_file", "{}"),
            "stop; go on without it, or ask the user",
        ),
        row(
            "a rule denies it, with a reason",
            refused(r#""tools":{"read":{"action":"deny","reason":"use list_directory only"}}"#, "read", "{}"),
            "do what the person wrote",
        ),
        row(
            "the whole server is blocked",
            refused(r#""all_tools":{"action":"deny"}"#, "read_file", "{}"),
            "leave its other tools alone, too",
        ),
        row(
            "its definition is not the accepted one",
            refused_by_pin(&Unaccepted::Changed),
            "tell the user, who can look at the change",
        ),
        row(
            "another program runs under its server's name",
            refused_by_pin(&Unaccepted::OtherProgram),
            "tell the user, who can look at the change",
        ),
        row(
            "the accepted definitions cannot be read",
            refused_by_pin(&Unaccepted::Unreadable),
            "tell the user, who can mend it",
        ),
        row(
            "its server does not say how it describes it",
            refused_by_pin(&Unaccepted::NoList),
            "call again in a moment",
        ),
        row(
            "its server no longer lists it",
            refused_by_pin(&Unaccepted::NotListed),
            "list the tools again, or ask the user",
        ),
        row(
            "its definition cannot be pinned",
            refused_by_pin(&Unaccepted::Unpinnable),
            "go on without it, or ask the user",
        ),
        row(
            "it is not on the list of allowed tools",
            refused(r#""clients":{"c":{"default":"deny"}}"#, "edit_file", "{}"),
            "use a tool that is allowed, or ask the user",
        ),
        row(
            "a rule wants other arguments",
            refused(
                r#""tools":{"weather":{"require":[{"path":"args.city","op":"in","value":["Chicago"]}]}}"#,
                "weather",
                r#"{"city":"Oslo"}"#,
            ),
            "call with arguments that fit",
        ),
        row(
            "a path cannot be judged",
            refused(
                r#""tools":{"read":{"deny_if":[{"path":"args.path","op":"inside","value":"/home/me/.ssh"}]}}"#,
                "read",
                r#"{"path":"../.ssh/id_rsa"}"#,
            ),
            "write an absolute path",
        ),
        row(
            "the arguments do not fit the tool's schema (`validate`)",
            unfit(r#"{"type":"object","required":["message"]}"#, "{}"),
            "add the property that is named",
        ),
        row(
            "a cap is reached",
            over_limit(r#"{"window":"minute","max":3}"#, "{}", 3, Some(60)),
            "wait that long, or do something else",
        ),
        row(
            "a budget has room for less",
            over_limit(
                r#"{"kind":"sum","amount_from":"args.amount","window":"day","max":100}"#,
                r#"{"amount":20}"#,
                90 * UNIT,
                Some(86_400),
            ),
            "call with what is left",
        ),
        row(
            "too many calls are under way",
            over_limit(r#"{"kind":"concurrent","max":2}"#, "{}", 2, None),
            "call again when one has ended",
        ),
        row(
            "too many calls are under way, one of them cancelled",
            over_limit(r#"{"kind":"concurrent","max":2}"#, "{}", 2, Some(43)),
            "call again then, or when one has ended",
        ),
        row(
            "a person paused all calls",
            said("all calls are paused by the user", &NextStep::WaitForUser),
            "stop, and wait for the user",
        ),
        row(
            "a person decides, and has not yet",
            said("Waiting for the user's approval", &NextStep::RepeatUnchanged),
            "make the same call again",
        ),
        row(
            "a person decides, and nobody is there",
            said("The user's approval is needed, and the user is away", &NextStep::StopForUser),
            "stop, and say what is needed",
        ),
        row(
            "a person said no",
            said("the user said no: use the staging site", &NextStep::Declined),
            "do what the person wrote, or go on without it",
        ),
        row(
            "the same call again and again, with the same result",
            looping(r#""loop":{"same_result":5}"#, "get_status", 5),
            "stop, and make something of the result",
        ),
        row(
            "the policy is broken",
            broken("corpus.json: line 1, column 2: a value was expected here"),
            "stop, and tell the user",
        ),
        row(
            "it cannot be put on record",
            said(&unrecorded("the disk is full"), &NextStep::TellUser),
            "stop, and tell the user",
        ),
        row(
            "a person stopped the server",
            said("the server was stopped by the user", &NextStep::WaitForUser),
            "stop, and wait for the user",
        ),
        row(
            "the server crashed during the call",
            no_server(
                "the server crashed (exit code 3) during this call; it is being started again",
                &NextStep::CheckEffect,
            ),
            "look whether it was done before doing it twice",
        ),
        row(
            "it crashed too often",
            no_server(
                "the server does not run: it crashed 5 times in 60 s. A person has to start it (see `callgate explain CG-120`)",
                &NextStep::TellUser,
            ),
            "stop, and tell the user",
        ),
        row(
            "the codegen session went with its server",
            said(
                &format!(
                    "{}. This call was not done",
                    callgate_codegen::Gone::Restarted.words("14:03", Some("X"), 12)
                ),
                &NextStep::AsSaid,
            ),
            "start a new session, and do the call again",
        ),
        row(
            "the arguments name Callgate's own folder",
            said("the arguments name Callgate's own folder", &NextStep::GoWithout),
            "leave it alone",
        ),
        row(
            "the name is nearly that of another tool",
            refused(r#""tools":{"danger":{"action":"deny"}}"#, "Danger", "{}"),
            "use the name as it is listed",
        ),
    ]
}

fn table(rows: &[Row]) -> String {
    let mut out = "| when | what the model reads | what it makes possible |\n|---|---|---|\n".to_owned();
    for Row { when, text, makes_possible } in rows {
        out.push_str(&format!("| {when} | {} | {makes_possible} |\n", text.replace('|', "\\|")));
    }
    out
}

#[test]
fn what_agents_read_is_what_the_documentation_shows() {
    let made = table(&rows());
    let page = std::fs::read_to_string(DOCS).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (kept, after) = rest.split_once(END).unwrap();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        std::fs::write(DOCS, format!("{before}{BEGIN}\n{made}\n{END}{after}")).unwrap();
    } else {
        assert_eq!(kept.trim(), made.trim());
    }
}

#[test]
fn every_text_for_agents_is_short_names_no_command_and_begins_with_who_speaks() {
    for Row { when, text, .. } in rows() {
        assert!(text.starts_with("Callgate: ") && text.ends_with("(call k3x9w2-7)"), "{when}: {text}");
        assert!(text.chars().count() <= LONGEST, "{when}: {} characters: {text}", text.chars().count());
        for command in ["`callgate", "callgate allow", "callgate resume", "policy.json", "settings"] {
            assert!(!text.contains(command), "{when}: {text}");
        }
    }
}

#[test]
fn a_reason_for_people_loses_its_commands_on_the_way_to_an_agent() {
    for (reason, agents) in [
        (
            "it ended (see `callgate explain CG-110`). Its last words: x",
            "it ended (CG-110). Its last words: x",
        ),
        ("saved in Callgate (`callgate codegen`), and so on", "saved in Callgate, and so on"),
        ("an `open quote: `callgate", "an `open quote: `callgate"),
        ("nothing to drop", "nothing to drop"),
    ] {
        assert_eq!(without_commands(reason), agents);
    }
}

#[test]
fn a_budget_says_what_is_left_as_a_plain_number() {
    for (millionths, text) in
        [(10 * UNIT, "10"), (250_000, "0.25"), (1, "0.000001"), (0, "0"), (100 * UNIT, "100")]
    {
        assert_eq!(amount(millionths), text);
    }
    let spent = over_limit(
        r#"{"kind":"sum","amount_from":"args.amount","window":"day","max":100,"on_deny":"budget of 100 a day"}"#,
        r#"{"amount":20}"#,
        100 * UNIT,
        Some(90_000),
    );
    assert!(spent.starts_with("Callgate: budget of 100 a day; this amount can pass in 25 h. "), "{spent}");
    assert!(spent.contains("do not retry before that"), "{spent}");
}

#[test]
fn requests_that_no_model_reads_get_what_happened_alone() {
    let id = IdKey::from_lexeme("1").unwrap();
    let reason = "the server ended (see `callgate explain CG-110`)";
    let line = unanswered(Expects::Anything, &id, reason, &NextStep::TellUser, None);
    let text = String::from_utf8(line).unwrap();
    assert!(
        text.contains(r#""message":"Callgate: the server ended (see `callgate explain CG-110`)""#),
        "{text}"
    );
}
