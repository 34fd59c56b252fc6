//! Labelled tools of well-known kinds of servers, and what annotations, arguments and negations make of a class.

use callgate_risk::{Confidence, RiskClass, ToolDefinition, classify};
use serde_json::json;

fn class(name: &str, description: &str) -> RiskClass {
    classify(&ToolDefinition { name, description, ..ToolDefinition::default() }).class
}

#[test]
fn labelled_tools_get_their_class_and_no_dangerous_one_is_called_read() {
    let (mut all, mut wrong) = (0, Vec::new());
    for row in include_str!("data/tools.tsv").lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [server, name, label, description @ ..] = &fields[..] else { panic!("too few fields: {row}") };
        let description = description.first().copied().unwrap_or_default();
        let said = classify(&ToolDefinition { server, name, description, ..ToolDefinition::default() });
        let truth = RiskClass::from_name(label).unwrap_or_else(|| panic!("no such class: {row}"));
        assert!(truth < RiskClass::Execute || said.class != RiskClass::Read, "called Read: {row}");
        all += 1;
        if said.class != truth {
            wrong.push(format!("{row}: {}", said.class.name()));
        }
    }
    assert!(all > 400 && wrong.len() * 50 < all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
fn what_is_denied_is_not_done() {
    assert_eq!(class("inspect_index", "Inspects an index. It does not delete anything."), RiskClass::Read);
    assert_eq!(class("run_query", "Runs a query without modifying the database"), RiskClass::Read);
    assert_eq!(class("delete_rows", "Deletes rows without changing the schema"), RiskClass::Destructive);
}

#[test]
fn what_cannot_be_undone_is_destructive() {
    assert_eq!(
        class("update_plan", "Updates the plan. This action cannot be undone."),
        RiskClass::Destructive
    );
}

#[test]
fn a_name_that_says_nothing_is_a_guess_to_the_cautious_side() {
    let said = classify(&ToolDefinition { name: "xyzzy", ..ToolDefinition::default() });
    assert_eq!((said.class, said.confidence), (RiskClass::Execute, Confidence::Low));
    assert!(!said.uncertain.is_empty());
}

#[test]
fn hints_raise_and_absent_ones_say_nothing() {
    let of = |annotations| {
        classify(&ToolDefinition {
            name: "get_thing",
            description: "Get a thing",
            annotations: Some(&annotations),
            ..ToolDefinition::default()
        })
        .class
    };
    assert_eq!(of(json!({})), RiskClass::Read);
    assert_eq!(of(json!({ "readOnlyHint": false })), RiskClass::Write);
    let readonly = json!({ "readOnlyHint": true });
    let delete =
        ToolDefinition { name: "delete_thing", annotations: Some(&readonly), ..ToolDefinition::default() };
    assert_eq!(classify(&delete).class, RiskClass::Destructive);
}

#[test]
fn a_dispatcher_has_the_class_of_its_gravest_operation_and_one_for_each() {
    let schema = json!({ "properties": { "operation": { "enum": ["list", "create", "delete"] } } });
    let said = classify(&ToolDefinition {
        name: "records",
        input_schema: Some(&schema),
        ..ToolDefinition::default()
    });
    assert_eq!(said.class, RiskClass::Destructive);
    let classes: Vec<_> = said.operations.iter().map(|operation| operation.class).collect();
    assert_eq!(classes, [RiskClass::Read, RiskClass::Write, RiskClass::Destructive]);
}

#[test]
fn an_argument_that_is_run_makes_a_tool_execute() {
    let schema = json!({ "properties": { "command": { "type": "string" } } });
    let said = classify(&ToolDefinition {
        name: "check_host",
        input_schema: Some(&schema),
        ..ToolDefinition::default()
    });
    assert_eq!(said.class, RiskClass::Execute);
}
