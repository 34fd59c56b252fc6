//! What holds for every definition, whatever stands in it.

use callgate_risk::{RiskClass, ScanContext, ToolDefinition, classify, scan};
use proptest::prelude::*;
use serde_json::{Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), ".{0,20}".prop_map(Value::from)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            Just("properties".to_owned()),
            Just("operation".to_owned()),
            Just("enum".to_owned()),
            "[a-z]{1,8}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_definition_gets_the_same_class_twice(server in ".{0,12}", name in ".{0,40}", description in "(?s).{0,200}", schema in any_json(), annotations in any_json()) {
        let tool = ToolDefinition {
            server: &server, name: &name, description: &description, input_schema: Some(&schema), annotations: Some(&annotations),
            ..ToolDefinition::default()
        };
        prop_assert_eq!(classify(&tool), classify(&tool));
        let entry = json!({ "description": description, "inputSchema": schema, "_meta": annotations });
        let context = ScanContext { server: &server, ..ScanContext::default() };
        prop_assert_eq!(scan(&name, &entry, &context), scan(&name, &entry, &context));
    }

    #[test]
    fn annotations_never_lower(name in "(get|list|update|run|delete|pay|frob)_[a-z]{1,8}", description in "[A-Za-z ]{0,60}", read_only: Option<bool>, destructive: Option<bool>) {
        let plain = ToolDefinition { name: &name, description: &description, ..ToolDefinition::default() };
        let hints = json!({ "readOnlyHint": read_only, "destructiveHint": destructive });
        let hinted = ToolDefinition { annotations: Some(&hints), ..plain };
        prop_assert!(classify(&hinted).class >= classify(&plain).class);
    }

    #[test]
    fn a_destructive_verb_more_never_lowers(verb in "(get|list|update|create|send|run)", thing in "[a-z]{3,8}") {
        let plain = format!("{verb}_{thing}");
        let more = format!("{plain}_and_delete_{thing}");
        let class = |name: &str| classify(&ToolDefinition { name, ..ToolDefinition::default() }).class;
        prop_assert!(class(&more) >= class(&plain).max(RiskClass::Destructive));
    }
}
