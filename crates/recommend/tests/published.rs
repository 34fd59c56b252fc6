//! The five published pages of codegen tools, reproduced: class, severity and rule as they have them.
//!
//! Where a page says in words more than its rule does ("have argument validation enabled"), ours says it too; where its rule does
//! more than its words ("the rest of the server keeps working", beside a default that denies it), ours does what the words say.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_policy::edit::merge;
use callgate_policy::{AsWritten, Call, Circumstances, Judgement, NoRecordings, Policy, Waived, compare};
use callgate_recommend::{Act, Facts, Recommendation, recommend};
use callgate_risk::{Assessment, KnownServer, RiskClass, RiskSeverity, ToolDefinition, classify};
use serde_json::{Value, json};

const RUNAUTOMATION: &str = "tayyabakmal1/runautomation-mcpserver";
const STEALTH: &str = "mcp-playwright-stealth";

fn assess(package: &str, name: &str, description: &str) -> Assessment {
    let tool = ToolDefinition { server: "runautomation", name, description, ..ToolDefinition::default() };
    KnownServer::by_name(package).unwrap().assess(&tool).unwrap()
}

fn rule_of(name: &str, assessment: &Assessment) -> Recommendation {
    recommend(&Facts { name, assessment, has_findings: false, guards: None })
}

/// Everything that the page's policy says of this tool, and nothing of others.
fn tool_part(published: &Value) -> Value {
    let mut part = published.as_object().unwrap().clone();
    part.remove("version");
    part.remove("default");
    Value::Object(part)
}

fn passes(policy: &str, tool: &str) -> bool {
    let policy = Policy::parse(policy).unwrap();
    let now =
        Circumstances { now_ms: 0, files: &AsWritten, recordings: &NoRecordings, waived: Waived::Nothing };
    matches!(policy.judge(&Call::tool("", tool, None), &now), Judgement::Pass(_))
}

const PAGES: &[(&str, &str, &str, RiskClass, RiskSeverity, Act, &str)] = &[
    (
        RUNAUTOMATION,
        "get_codegen_session",
        "Get information about a code generation session",
        RiskClass::Read,
        RiskSeverity::Low,
        Act::Keep,
        r#"{"version":"1","default":"deny","tools":{"get_codegen_session":{}}}"#,
    ),
    (
        STEALTH,
        "get_codegen_session",
        "Get information about a code generation session",
        RiskClass::Read,
        RiskSeverity::Low,
        Act::Keep,
        r#"{"version":"1","default":"deny","tools":{"get_codegen_session":{}}}"#,
    ),
    (
        RUNAUTOMATION,
        "end_codegen_session",
        "End a code generation session and generate the test file",
        RiskClass::Write,
        RiskSeverity::Medium,
        Act::Limit,
        r#"{"version":"1","default":"deny","tools":{"end_codegen_session":{"limits":[{"counter":"end_codegen_session_rate","window":"minute","max":30,"scope":"grant"}]}}}"#,
    ),
    (
        RUNAUTOMATION,
        "start_codegen_session",
        "Start a new code generation session to record Playwright actions",
        RiskClass::Execute,
        RiskSeverity::High,
        Act::Limit,
        r#"{"version":"1","default":"deny","tools":{"start_codegen_session":{"limits":[{"counter":"start_codegen_session_rate","window":"minute","max":10,"scope":"grant"}]}}}"#,
    ),
    (
        RUNAUTOMATION,
        "clear_codegen_session",
        "Clear a code generation session without generating a test",
        RiskClass::Destructive,
        RiskSeverity::Critical,
        Act::Hide,
        r#"{"version":"1","default":"deny","hide":["clear_codegen_session"]}"#,
    ),
];

#[test]
fn class_severity_and_rule_are_those_of_the_published_pages() {
    for (package, tool, description, class, severity, act, published) in PAGES {
        let assessment = assess(package, tool, description);
        assert_eq!((assessment.class, assessment.severity), (*class, *severity), "{tool} of {package}");
        let ours = rule_of(tool, &assessment);
        assert_eq!(ours.act, *act, "{tool}");
        let mut part = ours.part.clone();
        if *class == RiskClass::Execute {
            // The page says so in words.
            assert_eq!(part["tools"][tool].as_object_mut().unwrap().remove("validate"), Some(json!(true)));
        }
        assert_eq!(part, tool_part(&serde_json::from_str(published).unwrap()), "{tool}");
    }
}

#[test]
fn the_definition_alone_says_the_same_of_four_of_them() {
    for (_, tool, description, class, ..) in PAGES {
        let alone = classify(&ToolDefinition { name: tool, description, ..ToolDefinition::default() });
        assert_eq!(alone.class, *class, "{tool}: {}", alone.reason);
        assert!(!alone.evidence.is_empty(), "{tool}");
    }
}

#[test]
fn hiding_the_one_leaves_the_rest_of_the_server_working() {
    let (package, tool, description, ..) = PAGES[4];
    let part = rule_of(tool, &assess(package, tool, description)).part.to_string();
    let before = r#"{ "version": "1", "default": "allow" }"#;
    let after = merge(before, &part).unwrap().text;
    assert!(after.contains(r#""default": "allow""#), "{after}");
    assert!(!passes(&after, tool) && passes(&after, "playwright_navigate"), "{after}");
    let changed = compare::loosened(&Policy::parse(before).unwrap(), &Policy::parse(&after).unwrap());
    assert_eq!(changed, Vec::<String>::new());
}

#[test]
fn of_a_tool_with_an_operation_only_harmless_ones_pass_unasked() {
    let schema = json!({ "properties": { "operation": { "type": "string", "enum": ["list", "create", "delete", "purge"] } } });
    let assessment = classify(&ToolDefinition {
        name: "manage_records",
        description: "Manage records",
        input_schema: Some(&schema),
        ..ToolDefinition::default()
    });
    let ours = rule_of("manage_records", &assessment);
    assert_eq!(
        ours.part,
        json!({ "tools": { "manage_records": {
            "limits": [{ "counter": "manage_records_rate", "window": "minute", "max": 30, "scope": "grant" }],
            "ask_if": [
                { "conditions": [{ "path": "args.operation", "op": "not_in", "value": ["create", "list"] }] },
                { "conditions": [{ "path": "args.operation", "op": "exists", "value": false }] },
            ],
        } } })
    );
    assert_eq!(
        ours.words,
        "at most 30 calls a minute for each client; asked about unless operation is create, list"
    );
    let poisoned =
        Facts { name: "manage_records", assessment: &assessment, has_findings: true, guards: None };
    assert_eq!(recommend(&poisoned).part, json!({ "tools": { "manage_records": { "action": "ask" } } }));
    Policy::parse(&merge(r#"{"version":"1","default":"deny"}"#, &ours.part.to_string()).unwrap().text)
        .unwrap();
}

#[test]
fn a_definition_that_holds_what_should_not_be_there_is_looked_at_first() {
    let assessment = classify(&ToolDefinition { name: "get_weather", ..ToolDefinition::default() });
    let ours =
        recommend(&Facts { name: "get_weather", assessment: &assessment, has_findings: true, guards: None });
    assert_eq!((ours.act, ours.part), (Act::Ask, json!({ "tools": { "get_weather": { "action": "ask" } } })));
}

#[test]
fn a_name_that_is_a_pattern_gets_no_rule_because_it_would_be_one_for_others() {
    let assessment = classify(&ToolDefinition { name: "get_status", ..ToolDefinition::default() });
    for name in ["*", "get_*", "a?", "", "a\u{7}b"] {
        let ours = recommend(&Facts { name, assessment: &assessment, has_findings: false, guards: None });
        assert_eq!((ours.act, ours.part), (Act::Nothing, json!({})), "{name:?}");
    }
}
