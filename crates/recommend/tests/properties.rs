//! What holds of every recommended rule and every policy to begin with, whatever servers call their tools.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_policy::edit::merge;
use callgate_policy::{
    AsWritten, Call, Circumstances, DEFAULT_POLICY, Judgement, NoRecordings, Policy, RefusalKind, Waived,
    compare,
};
use callgate_recommend::{Act, Facts, Start, recommend, starting_policy};
use callgate_risk::{Assessment, Confidence, RiskClass, ToolDefinition, classify};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a policy makes of a call without arguments, in a word that two policies can be compared by.
fn verdict(policy: &Policy, tool: &str) -> String {
    let now =
        Circumstances { now_ms: 0, files: &AsWritten, recordings: &NoRecordings, waived: Waived::Nothing };
    match policy.judge(&Call::tool("claude-ai", tool, None), &now) {
        Judgement::Pass(pass) => {
            let limits: Vec<String> = pass.limits.iter().map(|limit| limit.limit.words()).collect();
            format!("passes {limits:?} {:?}", pass.validate)
        }
        Judgement::Refuse(refusal) => match refusal.kind {
            RefusalKind::Denied => "denied".to_owned(),
            RefusalKind::Hidden => "hidden".to_owned(),
            RefusalKind::Ask => "asked".to_owned(),
            RefusalKind::Unsupported | RefusalKind::Broken => "unusable".to_owned(),
        },
    }
}

fn assessed(name: &str, class: RiskClass) -> Assessment {
    let mut assessment = classify(&ToolDefinition { name, ..ToolDefinition::default() });
    assessment.class = class;
    assessment.severity = class.severity();
    assessment
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,12}",
        Just("clear_codegen_session".to_owned()),
        Just("read_file".to_owned()),
        Just("write_file".to_owned()),
        Just("__proto__".to_owned()),
        "\\PC{1,8}",
    ]
}

fn classes() -> impl Strategy<Value = RiskClass> {
    prop::sample::select(RiskClass::ALL.to_vec())
}

fn rules() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({ "action": "deny" }),
        json!({ "action": "ask" }),
        json!({ "limits": [{ "counter": "c", "window": "hour", "max": 3, "scope": "session" }] }),
        json!({ "validate": true }),
    ])
}

fn policies() -> impl Strategy<Value = String> {
    let tools = prop::collection::btree_map(
        prop::sample::select(vec!["read_file", "write_file", "write_*", "*", "clear_*", "other"]),
        rules(),
        0..4,
    );
    (prop::sample::select(vec!["allow", "deny", "ask"]), tools).prop_map(|(default, tools)| {
        json!({ "version": "1", "default": default, "tools": tools }).to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn applying_a_rule_changes_the_verdict_of_its_tool_and_of_no_other(
        text in policies(),
        name in names(),
        class in classes(),
        others in prop::collection::vec(names(), 1..6),
    ) {
        let assessment = assessed(&name, class);
        let rule = recommend(&Facts { name: &name, assessment: &assessment, has_findings: false, guards: None });
        // A pattern in the policy may count its tools by the same counter; then nothing is applied at all.
        let Ok(merged) = merge(&text, &rule.part.to_string()) else { return Ok(()) };
        let (before, after) = (Policy::parse(&text).unwrap(), Policy::parse(&merged.text).unwrap());
        // What looks like a tool that has rules of its own is refused, whatever they say.
        let named = json!({ "version": "1", "default": "allow", "tools": { &*name: {} } }).to_string();
        let named = Policy::parse(&named).ok();
        let imitates = |other: &str| named.as_ref().is_some_and(|named| verdict(named, other) == "denied");
        for other in others.iter().filter(|other| **other != name && !imitates(other)) {
            prop_assert_eq!(verdict(&before, other), verdict(&after, other), "{} in {}", other, merged.text);
        }
        let default = |text: &str| serde_json::from_str::<Value>(text).unwrap()["default"].clone();
        prop_assert_eq!(default(&text), default(&merged.text));
    }

    #[test]
    fn a_policy_to_begin_with_refuses_no_more_than_its_caption_says(
        tools in prop::collection::btree_map(names(), (classes(), any::<bool>()), 0..12),
    ) {
        let assessed: Vec<(String, Assessment, bool)> =
            tools.into_iter().map(|(name, (class, odd))| (name.clone(), assessed(&name, class), odd)).collect();
        let facts: Vec<Facts<'_>> = assessed
            .iter()
            .map(|(name, assessment, odd)| Facts { name, assessment, has_findings: *odd, guards: None })
            .collect();
        for start in Start::ALL {
            let text = starting_policy(start, "files", &facts);
            let policy = Policy::parse(&text).map_err(|report| TestCaseError::fail(format!("{report}\n{text}")))?;
            for tool in &facts {
                let said = verdict(&policy, tool.name);
                let rule = recommend(tool);
                let wanted = match (start, tool.assessment.class) {
                    _ if rule.act == Act::Nothing => continue,
                    (Start::WatchOnly, _) => "passes",
                    (Start::Locked, _) => "denied",
                    (Start::ReadOnly, RiskClass::Read) if !tool.has_findings => "passes",
                    (Start::ReadOnly, _) => "hidden",
                    (Start::Recommended, _) if rule.act == Act::Hide => "hidden",
                    (Start::Recommended, RiskClass::Destructive | RiskClass::Financial) => "asked",
                    (Start::Recommended, _) if tool.has_findings => "asked",
                    (Start::Recommended, _) => "passes",
                };
                prop_assert!(said.starts_with(wanted), "{:?} {} is {}, wanted {}:\n{}", start, tool.name, said, wanted, text);
            }
        }
    }
}

#[test]
fn a_tool_that_comes_later_is_asked_about_and_not_let_through() {
    let assessment = assessed("get_status", RiskClass::Read);
    let facts = [Facts { name: "get_status", assessment: &assessment, has_findings: false, guards: None }];
    let policy = Policy::parse(&starting_policy(Start::Recommended, "s", &facts)).unwrap();
    assert_eq!(
        (verdict(&policy, "get_status").as_str(), verdict(&policy, "new_tool").as_str()),
        ("passes [\"300 calls per minute\"] None", "asked")
    );
}

#[test]
fn what_a_server_calls_its_tools_cannot_get_out_of_its_place_in_the_file() {
    let evil = "x\"}},\"default\":\"allow\",\"y\":{\"\u{202e}\u{200b}\n// ";
    let assessments = [assessed(evil, RiskClass::Read), assessed("plain", RiskClass::Write)];
    let names = [evil.trim_end().replace('\n', ""), "plain\u{200b}".to_owned()];
    let facts: Vec<Facts<'_>> = names
        .iter()
        .zip(&assessments)
        .map(|(name, assessment)| Facts { name, assessment, has_findings: false, guards: None })
        .collect();
    let text = starting_policy(Start::Recommended, "a server\n\"default\": \"allow\"", &facts);
    let policy = Policy::parse(&text).unwrap();
    assert_eq!(verdict(&policy, "anything"), "asked", "{text}");
    assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    assert!(policy.tool_names().contains("plain\u{200b}"), "{text}");
}

#[test]
fn the_recommended_policy_reads_as_a_person_would_have_written_it() {
    let named = [
        ("clear_codegen_session", RiskClass::Destructive),
        ("delete_file", RiskClass::Destructive),
        ("end_codegen_session", RiskClass::Write),
        ("get_codegen_session", RiskClass::Read),
        ("start_codegen_session", RiskClass::Execute),
    ];
    let mut assessments: Vec<Assessment> = named.iter().map(|(name, class)| assessed(name, *class)).collect();
    assessments.iter_mut().for_each(|one| one.confidence = Confidence::High);
    let facts: Vec<Facts<'_>> = named
        .iter()
        .zip(&assessments)
        .map(|((name, _), assessment)| Facts { name, assessment, has_findings: false, guards: None })
        .collect();
    let text = starting_policy(Start::Recommended, "play", &facts);
    let rules = text.split_once("{\n").unwrap().1;
    assert_eq!(
        rules,
        r#"  "version": "1",
  // Tools that are not named below: also those that the server adds later.
  "default": "ask",
  // Destructive (critical): what it discards does not come back
  "hide": [
    "clear_codegen_session"
  ],
  // All tools together
  "all_tools": {
    "limits": [{ "counter": "safety_net", "window": "minute", "max": 300, "scope": "session", "on_deny": "more than 300 calls in a minute: this looks like a loop" }]
  },
  "tools": {
    // Read (low): allowed
    "get_codegen_session": {},
    // Write (medium): at most 30 calls a minute for each client
    "end_codegen_session": { "limits": [{ "counter": "end_codegen_session_rate", "window": "minute", "max": 30, "scope": "grant" }] },
    // Execute (high): at most 10 calls a minute for each client, arguments checked
    "start_codegen_session": { "limits": [{ "counter": "start_codegen_session_rate", "window": "minute", "max": 10, "scope": "grant" }], "validate": true },
    // Destructive (critical): you are asked
    "delete_file": { "action": "ask" }
  }
}
"#
    );
}

#[test]
fn to_go_on_from_the_policy_that_servers_begin_with_loosens_nothing() {
    let assessment = assessed("get_status", RiskClass::Read);
    let facts = [Facts { name: "get_status", assessment: &assessment, has_findings: false, guards: None }];
    let before = Policy::parse(DEFAULT_POLICY).unwrap();
    for start in Start::ALL {
        let after = Policy::parse(&starting_policy(start, "s", &facts)).unwrap();
        assert_eq!(compare::loosened(&before, &after), Vec::<String>::new(), "{start:?}");
    }
}
