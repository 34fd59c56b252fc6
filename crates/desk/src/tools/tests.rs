#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_controls::catalogue;
use callgate_journal::Decision;
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;

use super::*;
use crate::testing::TestHome;
use crate::view::{Restriction, RuleAct, Target, ToolState};

const CLEAR: &str = r#"{"name":"clear_codegen_session","description":"Clear a code generation session without generating a test"}"#;
const START: &str = r#"{"name":"start_codegen_session","description":"Start a new code generation session to record Playwright actions","inputSchema":{"type":"object","properties":{"options":{"type":"object","properties":{"outputPath":{"type":"string"}}}}}}"#;
const END: &str = r#"{"name":"end_codegen_session","description":"End a code generation session and generate the test file"}"#;
const GET: &str =
    r#"{"name":"get_codegen_session","description":"Get information about a code generation session"}"#;
const NAVIGATE: &str = r#"{"name":"playwright_navigate","description":"Navigate to a URL","inputSchema":{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}}"#;

pub(super) fn lists(home: &TestHome, server: &str, definitions: &[&str]) {
    let raw: Vec<Raw<'_>> = definitions.iter().map(|text| Raw::parse(text).unwrap()).collect();
    let named = raw.iter().map(|raw| (raw.get("name").unwrap().as_str().unwrap(), *raw)).collect::<Vec<_>>();
    let listed = named.iter().map(|(name, raw)| (name.as_ref(), *raw));
    catalogue::write(&home.home, &Masker::default(), server, 1, listed).unwrap();
}

fn codegen(home: &TestHome) {
    lists(home, "play", &[CLEAR, START, END, GET, NAVIGATE]);
}

fn installed(home: &TestHome, server: &str, command: &[&str]) {
    let text =
        serde_json::json!({ "mcpServers": { server: { "command": command[0], "args": command[1..] } } });
    callgate_home::atomic::replace(&home.home.path().join("servers.json"), text.to_string().as_bytes())
        .unwrap();
}

fn text(home: &TestHome, server: &str) -> String {
    std::fs::read_to_string(home.home.policy(server)).unwrap()
}

#[test]
fn a_table_has_the_class_the_state_and_the_use_of_every_listed_tool() {
    let home = TestHome::new();
    home.write_policy("play", r#"{"version":"1","default":"allow","hide":["clear_codegen_session"]}"#);
    codegen(&home);
    let session = home.session("play");
    session.calls("get_codegen_session", 2);
    session.refused("clear_codegen_session", Decision::Hidden, 1);
    session.end();
    let view = home.desk.tools(Some("play")).unwrap();
    let told: Vec<_> = view
        .tools
        .iter()
        .map(|row| (row.name.as_str(), row.class, row.state, row.calls, row.refused))
        .collect();
    assert_eq!(
        told,
        [
            ("clear_codegen_session", RiskClass::Destructive, Some(ToolState::Hide), 1, 1),
            ("start_codegen_session", RiskClass::Execute, Some(ToolState::Allow), 0, 0),
            ("end_codegen_session", RiskClass::Write, Some(ToolState::Allow), 0, 0),
            ("get_codegen_session", RiskClass::Read, Some(ToolState::Allow), 2, 0),
            ("playwright_navigate", RiskClass::Execute, Some(ToolState::Allow), 0, 0),
        ]
    );
    assert_eq!((view.servers[0].tools, view.servers[0].critical), (5, 1));
    assert_eq!(home.desk.tools(None).unwrap().tools.len(), 5, "the server is known by its session");
}

#[test]
fn a_server_is_a_known_one_by_what_was_installed_and_not_by_its_name() {
    let home = TestHome::new();
    codegen(&home);
    installed(&home, "play", &["npx", "-y", "runautomation-mcpserver"]);
    assert_eq!(home.desk.tools(Some("play")).unwrap().servers[0].known.as_deref(), Some("RunAutomation"));
    let page = home.desk.tool("play", "clear_codegen_session").unwrap();
    assert!(page.provider.contains("RunAutomation (runautomation-mcpserver"), "{}", page.provider);
    assert!(page.evidence.iter().any(|one| one.place == "catalogue"));

    let impostor = TestHome::new();
    lists(&impostor, "runautomation-mcpserver", &[GET]);
    installed(&impostor, "runautomation-mcpserver", &["npx", "-y", "evil-mcpserver"]);
    assert_eq!(impostor.desk.tools(Some("runautomation-mcpserver")).unwrap().servers[0].known, None);
}

#[test]
fn the_page_of_a_tool_answers_the_six_questions_for_it() {
    let home = TestHome::new();
    codegen(&home);
    let page = home.desk.tool("play", "end_codegen_session").unwrap();
    assert_eq!(page.recommended.act, RuleAct::Limit);
    assert!(page.recommended.text.contains("\"max\": 30"), "{}", page.recommended.text);
    let related: Vec<&str> = page.related.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(related, ["clear_codegen_session", "start_codegen_session", "get_codegen_session"]);
    let questions: Vec<&str> = page.questions.iter().map(|one| one.question.as_str()).collect();
    assert_eq!(
        questions,
        [
            "What does end_codegen_session do?",
            "How do I set a rule for end_codegen_session?",
            "What risk level is end_codegen_session?",
            "Can I rate-limit end_codegen_session?",
            "How do I block end_codegen_session completely?",
            "What provides end_codegen_session?",
        ]
    );
    assert!(page.questions[2].answer.starts_with("end_codegen_session is a Write tool with medium risk."));
    let start = home.desk.tool("play", "start_codegen_session").unwrap();
    assert!(start.arguments.iter().any(|one| one.name == "options.outputPath"), "{:?}", start.arguments);
    assert!(
        start.recommended.notes.iter().any(|note| note.contains("one folder only")),
        "{:?}",
        start.recommended
    );
    let unknown = home.desk.tool("play", "no_such_tool").unwrap_err().to_string();
    assert!(unknown.contains("did not list"), "{unknown}");
    assert!(home.desk.tool("silent", "x").unwrap_err().to_string().contains("has listed no tools yet"));
}

#[test]
fn a_limit_is_applied_at_once_and_undone_and_touches_nothing_else() {
    let home = TestHome::new();
    let before = "{\n  // mine\n  \"version\": \"1\",\n  \"default\": \"allow\",\n  \"tools\": { \"drop\": { \"action\": \"deny\" } }\n}\n";
    home.write_policy("play", before);
    codegen(&home);
    let Answer::Done(done) = home.desk.apply_recommended("play", "playwright_navigate").unwrap() else {
        panic!("nothing is loosened by it");
    };
    let after = text(&home, "play");
    assert!(after.contains("// mine") && after.contains("\"default\": \"allow\""), "{after}");
    assert!(after.contains("playwright_navigate_rate") && after.contains("\"validate\""), "{after}");
    assert!(after.contains("^(?i:https?)://"), "no local files: {after}");
    assert!(home.desk.tool("play", "playwright_navigate").unwrap().recommended.in_force);
    let again = home.desk.apply_recommended("play", "playwright_navigate").unwrap();
    assert!(matches!(again, Answer::Done(again) if again.words.starts_with("Nothing to change")));
    home.desk.undo(&done.undo.unwrap().token).unwrap();
    assert_eq!(text(&home, "play"), before);
}

#[test]
fn hiding_a_destructive_tool_leaves_the_default_as_it_was() {
    let home = TestHome::new();
    home.write_policy("play", r#"{ "version": "1", "default": "allow" }"#);
    codegen(&home);
    assert_eq!(home.desk.tool("play", "clear_codegen_session").unwrap().recommended.act, RuleAct::Hide);
    assert!(matches!(home.desk.apply_recommended("play", "clear_codegen_session").unwrap(), Answer::Done(_)));
    let after = home.desk.tools(Some("play")).unwrap();
    let states: Vec<_> = after.tools.iter().map(|row| row.state.unwrap()).collect();
    assert_eq!(
        states,
        [ToolState::Hide, ToolState::Allow, ToolState::Allow, ToolState::Allow, ToolState::Allow]
    );
    assert!(text(&home, "play").contains(r#""default": "allow""#));
}

#[test]
fn a_rule_that_lets_a_refused_tool_through_is_asked_about_first() {
    let home = TestHome::new();
    home.write_policy("play", r#"{"version":"1","default":"deny","tools":{"other":{}}}"#);
    codegen(&home);
    for tool in ["get_codegen_session", "end_codegen_session"] {
        let before = text(&home, "play");
        let Answer::Ask(question) = home.desk.apply_recommended("play", tool).unwrap() else {
            panic!("{tool} was refused before");
        };
        assert!(question.loosened.iter().any(|line| line.contains(tool)), "{question:?}");
        assert_eq!(text(&home, "play"), before, "nothing is done before a yes");
        home.desk.confirm(&question.token).unwrap();
        let row = home.desk.tool("play", tool).unwrap().row;
        assert!(matches!(row.state, Some(ToolState::Allow | ToolState::Cap)), "{row:?}");
    }
    assert!(text(&home, "play").contains(r#""default":"deny""#));
}

#[test]
fn what_a_person_says_of_a_class_wins_and_can_be_taken_back() {
    let home = TestHome::new();
    codegen(&home);
    let correct = |class| home.desk.correct_class("play", "end_codegen_session", class).unwrap();
    let Answer::Done(done) = correct(Some(RiskClass::Destructive)) else { panic!("no rule goes by classes") };
    assert!(done.words.contains("counts as Destructive (critical), as you say"), "{}", done.words);
    let page = home.desk.tool("play", "end_codegen_session").unwrap();
    assert_eq!(
        (page.row.class, page.row.corrected, page.told),
        (RiskClass::Destructive, true, Some(RiskClass::Write))
    );
    assert_eq!(page.recommended.act, RuleAct::Ask);
    let Answer::Done(_) = correct(None) else { panic!("no rule goes by classes") };
    let page = home.desk.tool("play", "end_codegen_session").unwrap();
    assert_eq!((page.row.class, page.row.corrected), (RiskClass::Write, false));
    assert!(home.desk.correct_class("play", "no_such_tool", Some(RiskClass::Read)).is_err());
}

#[test]
fn a_class_that_lets_more_through_is_asked_about_and_recorded_as_a_loosening() {
    let home = TestHome::new();
    home.write_policy(
        "play",
        r#"{"version":"1","default":"allow","classes":{"destructive":{"action":"deny"},"financial":{"action":"deny"},"write":{}}}"#,
    );
    codegen(&home);
    let state = |tool: &str| home.desk.tool("play", tool).unwrap().row.state;
    assert_eq!(state("clear_codegen_session"), Some(ToolState::Deny));
    let correct = |class| home.desk.correct_class("play", "clear_codegen_session", class).unwrap();
    let Answer::Ask(question) = correct(Some(RiskClass::Write)) else { panic!("it lets more through") };
    assert_eq!(question.loosened, ["\"clear_codegen_session\" was denied, is now allowed"]);
    assert_eq!(state("clear_codegen_session"), Some(ToolState::Deny), "nothing is done before a yes");
    home.desk.confirm(&question.token).unwrap();
    assert_eq!(state("clear_codegen_session"), Some(ToolState::Allow));
    let told = home.desk.tool("play", "clear_codegen_session").unwrap();
    assert_eq!(told.from, "its class, Write");
    // The other way it only tightens.
    let Answer::Done(_) = correct(None) else { panic!("it only tightens") };
    assert_eq!(state("clear_codegen_session"), Some(ToolState::Deny));
    // A question that was asked of another state is not carried out.
    let Answer::Ask(late) = correct(Some(RiskClass::Read)) else { panic!("it lets more through") };
    let Answer::Done(_) = correct(Some(RiskClass::Financial)) else { panic!("it is denied as before") };
    assert!(home.desk.confirm(&late.token).is_err());
}

#[test]
fn rules_by_class_are_in_the_table_with_the_tools_they_decide_about() {
    let home = TestHome::new();
    home.write_policy(
        "play",
        r#"{"version":"1","default":"ask","tools":{"start_codegen_session":{}},"classes":{"destructive":{"action":"hide"},"execute":{"rate_limit":"5/minute"}}}"#,
    );
    codegen(&home);
    let view = home.desk.rules("play").unwrap();
    let row = |name: &str| view.classes.iter().find(|one| one.name == name).unwrap();
    assert_eq!(row("Destructive").state, Some(ToolState::Hide));
    assert_eq!((row("Destructive").tools, row("Destructive").ruled), (1, 1));
    assert_eq!(row("Execute").words, "at most 5 calls per minute, per session");
    assert!(row("Execute").ruled < row("Execute").tools, "one of them is named: {:?}", row("Execute"));
    assert_eq!((row("Read").state, row("Read").ruled), (None, 0));
    let tool = |name: &str| view.tools.iter().find(|one| one.name == name).unwrap();
    assert_eq!(tool("clear_codegen_session").state, ToolState::Hide);
    assert_eq!(tool("clear_codegen_session").from, "its class, Destructive");
    assert_eq!(tool("start_codegen_session").from, "its own rule");
    assert_eq!(tool("get_codegen_session").state, ToolState::Ask);
}

#[test]
fn a_cap_on_a_tool_that_its_class_lets_through_is_no_loosening_and_on_another_it_is() {
    let home = TestHome::new();
    home.write_policy(
        "play",
        r#"{"version":"1","default":"deny","classes":{"read":{},"destructive":{"action":"deny"}}}"#,
    );
    codegen(&home);
    let cap = |tool: &str| {
        let target = Target { server: "play".to_owned(), tool: Some(tool.to_owned()), client: None };
        home.desk.restrict(&Restriction::Cap { target, max: 3, window: "minute".to_owned() })
    };
    cap("get_codegen_session").unwrap();
    assert_eq!(home.desk.tool("play", "get_codegen_session").unwrap().row.state, Some(ToolState::Cap));
    assert!(cap("clear_codegen_session").is_err(), "a cap would list it");
    assert_eq!(home.desk.tool("play", "clear_codegen_session").unwrap().row.state, Some(ToolState::Deny));
}

#[test]
fn points_to_begin_with_say_what_they_change_and_what_they_newly_allow() {
    let home = TestHome::new();
    home.write_policy("play", r#"{"version":"1","default":"allow"}"#);
    codegen(&home);
    let session = home.session("play");
    session.calls("end_codegen_session", 3);
    session.end();
    let points = home.desk.starting_points("play").unwrap();
    let told: Vec<(&str, &str)> = points.iter().map(|one| (one.id.as_str(), one.words.as_str())).collect();
    assert_eq!(
        told[1..],
        [
            ("recommended", "5 tools change state; 1 of them was used in the last 7 days."),
            ("read-only", "5 tools change state; 1 of them was used in the last 7 days."),
            ("locked", "5 tools change state; 1 of them was used in the last 7 days."),
        ]
    );
    assert!(points.iter().all(|one| one.loosened.is_empty()), "everything was allowed before");
    assert!(points[1].changes[0].starts_with("end_codegen_session: allowed → "), "{:?}", points[1].changes);

    home.write_policy("play", r#"{"version":"1","default":"deny","tools":{"other":{}}}"#);
    let points = home.desk.starting_points("play").unwrap();
    assert!(!points[0].loosened.is_empty() && !points[1].loosened.is_empty());
    assert!(!points[2].loosened.is_empty(), "reading is newly allowed");
}

#[test]
fn classes_that_cannot_be_read_are_told_of_and_not_written_over() {
    let home = TestHome::new();
    codegen(&home);
    callgate_home::atomic::replace(&home.home.classes(), b"oops").unwrap();
    let view = home.desk.tools(Some("play")).unwrap();
    assert!(view.problem.unwrap().contains("cannot be read"));
    assert!(home.desk.correct_class("play", "end_codegen_session", Some(RiskClass::Read)).is_err());
}

#[test]
fn of_a_broken_policy_no_state_is_told() {
    let home = TestHome::new();
    home.write_policy("play", "{ oops");
    codegen(&home);
    let view = home.desk.tools(Some("play")).unwrap();
    assert!(view.servers[0].problem.is_some() && view.tools.iter().all(|row| row.state.is_none()));
    assert!(home.desk.apply_recommended("play", "end_codegen_session").is_err());
}
