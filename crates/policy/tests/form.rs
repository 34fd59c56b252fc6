//! The form of one rule: read, written, read again; and nothing else touched.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[allow(dead_code, reason = "each test file uses its own part")]
mod made;

use std::num::NonZeroU32;

use callgate_policy::edit::form::{
    Form, FormAction, FormClause, FormCondition, FormError, FormLimit, Source, Whose, read, write,
};
use callgate_policy::file::{LimitKind, Operator, PolicyFile, Value};
use callgate_policy::{Policy, Scope, Window, excerpt};
use proptest::prelude::*;

const TOOL: Whose<'_> = Whose { tool: Some("x"), client: None };

fn policy(rule: &str) -> String {
    format!(
        "{{\n  \"version\": \"1\",\n  \"default\": \"allow\",\n  \"tools\": {{\n    \"x\": {rule}\n  }}\n}}\n"
    )
}

fn form_in(text: &str, whose: Whose<'_>) -> Option<Form> {
    read(&PolicyFile::parse(text).unwrap(), whose).form
}

#[test]
fn a_rule_that_says_more_than_the_form_has_no_form() {
    for rule in [
        r#"{"until": "2026-03-01T18:00:00Z"}"#,
        r#"{"mode": "observe"}"#,
        r#"{"record": "none"}"#,
        r#"{"validate": true}"#,
        r#"{"action": "ask", "ask": {"hold": "20s"}}"#,
        r#"{"limits": [{"kind": "sum", "amount_from": "args.a", "window": "day", "max": 5}]}"#,
        r#"{"limits": [{"window": "day", "max": 5, "on_deny": "no"}]}"#,
        r#"{"rate_limit": {"max": 5, "window": 60, "on_deny": "no"}}"#,
        r#"{"require": [{"path": "args.a", "op": "exists", "on_deny": "no"}]}"#,
    ] {
        assert_eq!(form_in(&policy(rule), TOOL), None, "{rule}");
        // And none is written over it: what was not shown would be lost.
        for action in [FormAction::Allow, FormAction::Deny, FormAction::Hide] {
            let error = write(&policy(rule), TOOL, &Form::plain(action)).unwrap_err();
            assert!(matches!(error, FormError::Custom(_)), "{rule}: {error}");
            assert!(error.to_string().contains("edit it as text"), "{error}");
        }
    }
}

#[test]
fn where_a_rule_comes_from_is_told() {
    let text = r#"{"version":"1","default":"deny","hide":["h","g*"],"tools":{"x":{},"a*":{"action":"deny"}},
        "clients":{"cursor":{"tools":{"y":{}}}}}"#;
    let file = PolicyFile::parse(text).unwrap();
    let told = |tool, client| {
        let read = read(&file, Whose { tool: Some(tool), client });
        (read.source, read.form.unwrap().action)
    };
    let pattern = |text: &str| Source::Pattern(text.to_owned());
    assert_eq!(told("x", None), (Source::Own, FormAction::Allow));
    assert_eq!(told("ab", None), (pattern("a*"), FormAction::Deny));
    assert_eq!(told("h", None), (Source::Own, FormAction::Hide));
    assert_eq!(told("gg", None), (pattern("g*"), FormAction::Hide));
    assert_eq!(told("z", None), (Source::Default, FormAction::Deny));
    assert_eq!(told("x", Some("Cursor")), (Source::Nothing, FormAction::Allow));
    assert_eq!(told("y", Some("Cursor")), (Source::Own, FormAction::Allow));
    assert_eq!(told("z", Some("Cursor")), (Source::Default, FormAction::Deny));
}

#[test]
fn a_limit_that_is_changed_keeps_its_counter_its_words_and_its_comments() {
    let text = policy(
        "{ // why x\n      \"limits\": [\n        // the cap\n        { \"counter\": \"mine\", \"window\": 60, \"max\": 5, \"description\": \"d\" }, // five\n        { \"kind\": \"total\", \"max\": 9 }\n      ]\n    }",
    );
    let mut form = form_in(&text, TOOL).unwrap();
    form.limits[0].max = NonZeroU32::new(7).unwrap();
    form.limits[1].scope = Scope::Server;
    let edited = write(&text, TOOL, &form).unwrap();
    let expected = text.replace("\"max\": 5", "\"max\": 7");
    let expected = expected.replace(
        "{ \"kind\": \"total\", \"max\": 9 }",
        "{ \"kind\": \"total\", \"max\": 9, \"scope\": \"server\" }",
    );
    // Without a name a limit of another scope is another limit: it is written anew.
    let without_layout = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(without_layout(&edited.text), without_layout(&expected));
    assert!(
        edited.text.contains(
            "{ \"counter\": \"mine\", \"window\": 60, \"max\": 7, \"description\": \"d\" }, // five"
        )
    );
    assert!(!edited.summary.is_empty());
}

#[test]
fn a_form_in_words_of_the_language() {
    let condition = |path: &str, op, value| FormCondition { path: path.to_owned(), op, value };
    let form = Form {
        action: FormAction::Deny,
        reason: Some("no".to_owned()),
        limits: vec![FormLimit {
            counter: None,
            kind: LimitKind::Calls,
            max: NonZeroU32::new(3).unwrap(),
            window: Some(Window::MINUTE),
            scope: Scope::Grant,
        }],
        require: vec![condition("args.a", Operator::Exists, Value::Bool(true))],
        deny_if: vec![
            FormClause {
                conditions: vec![condition("args.u", Operator::Regex, Value::Text("^f\"".to_owned()))],
                on_deny: Some("w".to_owned()),
            },
            FormClause {
                conditions: vec![
                    condition("args.n", Operator::Gt, Value::Number("1e3".to_owned())),
                    condition("args.s", Operator::In, Value::List(vec![Value::Null, Value::Bool(false)])),
                ],
                on_deny: None,
            },
        ],
        ask_if: vec![FormClause {
            conditions: vec![condition("args.f", Operator::Eq, Value::Bool(true))],
            on_deny: Some("look".to_owned()),
        }],
    };
    let text = "{ \"version\": \"1\", \"default\": \"allow\" }";
    let edited = write(text, Whose { tool: Some("x"), client: Some("cursor") }, &form).unwrap();
    assert_eq!(
        edited.text,
        "{ \"version\": \"1\", \"default\": \"allow\", \"clients\": { \"cursor\": { \"tools\": { \"x\": { \
         \"action\": \"deny\", \"reason\": \"no\", \
         \"limits\": [{ \"window\": \"minute\", \"max\": 3, \"scope\": \"grant\" }], \
         \"require\": [{ \"path\": \"args.a\", \"op\": \"exists\" }], \
         \"deny_if\": [{ \"path\": \"args.u\", \"op\": \"regex\", \"value\": \"^f\\\"\", \"on_deny\": \"w\" }, \
         { \"conditions\": [{ \"path\": \"args.n\", \"op\": \"gt\", \"value\": 1e3 }, \
         { \"path\": \"args.s\", \"op\": \"in\", \"value\": [null, false] }] }], \
         \"ask_if\": [{ \"path\": \"args.f\", \"op\": \"eq\", \"value\": true, \"on_deny\": \"look\" }] } } } } }"
    );
}

#[test]
fn what_cannot_be_said_is_an_error_and_not_another_rule() {
    let text = r#"{"version":"1","default":"allow","hide":["g*"],"clients":{"c*":{"tools":{"x":{"action":"deny"}}}}}"#;
    let plain = Form::plain(FormAction::Allow);
    let error = write(text, Whose { tool: Some("gg"), client: None }, &plain).unwrap_err();
    assert!(matches!(error, FormError::HiddenByPattern { .. }), "{error}");
    let deny = Form::plain(FormAction::Deny);
    let error = write(text, Whose { tool: Some("y"), client: Some("d*") }, &deny).unwrap_err();
    assert!(matches!(error, FormError::NotAClient(_)), "{error}");
    let error = write(text, Whose { tool: None, client: None }, &Form::plain(FormAction::Hide)).unwrap_err();
    assert!(matches!(error, FormError::HidesAll), "{error}");
    let error = write("{", TOOL, &plain).unwrap_err();
    assert!(matches!(error, FormError::Broken(_)), "{error}");
    let mut odd = deny;
    odd.require.push(FormCondition {
        path: "url".to_owned(),
        op: Operator::Exists,
        value: Value::Bool(true),
    });
    let error = write(text, TOOL, &odd).unwrap_err();
    assert!(error.to_string().contains("is no path into the arguments"), "{error}");
}

#[test]
fn a_client_that_shares_its_rules_gets_a_copy_with_the_form_in_it() {
    let text = r#"{"version":"1","default":"allow","clients":{"c*":{"tools":{"x":{"action":"deny"}}}}}"#;
    let shared = Whose { tool: Some("x"), client: Some("cursor") };
    let deny = Form::plain(FormAction::Deny);
    assert_eq!(form_in(text, shared), Some(deny.clone()));
    assert!(!write(text, shared, &deny).unwrap().changed);
    let edited = write(text, Whose { tool: Some("y"), client: Some("cursor") }, &deny).unwrap();
    assert_eq!(form_in(&edited.text, shared), Some(deny), "what was denied stays denied");
    assert_eq!(excerpt(&edited.text, "/clients/c*").unwrap(), r#""c*":{"tools":{"x":{"action":"deny"}}}"#);
}

fn condition() -> impl Strategy<Value = FormCondition> {
    let value = prop::sample::select(vec![
        (Operator::Eq, Value::Null),
        (Operator::Eq, Value::Text("größe \"😀\"\n".to_owned())),
        (Operator::Neq, Value::Bool(false)),
        (Operator::In, Value::List(vec![Value::Number("1.50".to_owned()), Value::Text("a".to_owned())])),
        (Operator::NotIn, Value::List(Vec::new())),
        (Operator::Lt, Value::Number("-1e5".to_owned())),
        (Operator::Regex, Value::Text("^x\\\\d".to_owned())),
        (Operator::Exists, Value::Bool(true)),
        (Operator::Exists, Value::Bool(false)),
        (Operator::Inside, Value::Text("~/projects".to_owned())),
        (Operator::NotInside, Value::List(vec![Value::Text("/etc".to_owned())])),
    ]);
    let path = prop::sample::select(vec!["args.a", "args[\"a.b\"]", "args.b.0"]);
    (path, value).prop_map(|(path, (op, value))| FormCondition { path: path.to_owned(), op, value })
}

fn limit() -> impl Strategy<Value = FormLimit> {
    let kind = prop::sample::select(vec![
        (LimitKind::Calls, Some(Window::MINUTE)),
        (LimitKind::Calls, Some(Window::from_seconds(90).unwrap())),
        (LimitKind::Concurrent, None),
        (LimitKind::Total, None),
    ]);
    let counter = prop::option::of(prop::sample::select(vec!["bt", "mine", "o t"]));
    (kind, counter, 1u32..9, prop::sample::select(Scope::ALL)).prop_map(
        |((kind, window), counter, max, scope)| {
            let max = NonZeroU32::new(max).unwrap();
            FormLimit { counter: counter.map(str::to_owned), kind, max, window, scope }
        },
    )
}

fn form() -> impl Strategy<Value = Form> {
    let action =
        prop::sample::select(vec![FormAction::Allow, FormAction::Deny, FormAction::Hide, FormAction::Ask]);
    let clauses = || {
        let clause = (prop::collection::vec(condition(), 0..3), prop::option::of(Just("no".to_owned())))
            .prop_map(|(conditions, on_deny)| FormClause { conditions, on_deny });
        prop::collection::vec(clause, 0..3)
    };
    (
        action,
        prop::option::weighted(0.3, Just("because \"so\"".to_owned())),
        prop::collection::vec(limit(), 0..3),
        prop::collection::vec(condition(), 0..3),
        clauses(),
        clauses(),
    )
        .prop_map(|(action, reason, limits, require, deny_if, ask_if)| Form {
            action,
            reason,
            limits,
            require,
            deny_if,
            ask_if,
        })
}

/// Every piece of the text that is not about this rule, as it is written.
fn other_pieces(text: &str, whose: Whose<'_>) -> Vec<(String, Option<String>)> {
    let file = PolicyFile::parse(text).unwrap();
    let step = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let mut pointers: Vec<String> =
        ["/version", "/default", "/mode", "/record", "/validate", "/classes"].map(str::to_owned).to_vec();
    let bodies = std::iter::once((String::new(), None, &file.body)).chain(
        file.clients
            .iter()
            .map(|one| (format!("/clients/{}", step(&one.client)), Some(one.client.as_str()), &one.body)),
    );
    for (above, client, body) in bodies {
        let is_here = client == whose.client;
        let others = body.tools.iter().filter(|rule| !is_here || whose.tool != Some(rule.name.as_str()));
        pointers.extend(others.map(|rule| format!("{above}/tools/{}", step(&rule.name))));
        if !is_here || whose.tool.is_some() {
            pointers.push(format!("{above}/all_tools"));
        }
        if !is_here {
            pointers.push(format!("{above}/hide"));
        }
    }
    pointers.into_iter().map(|pointer| (pointer.clone(), excerpt(text, &pointer))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn what_a_form_says_is_read_back_and_nothing_else_is_touched(
        text in made::policy(),
        forms in prop::collection::vec(form(), 1..3),
        tool in prop::option::weighted(0.9, prop_oneof![made::name(), Just("g*".to_owned()), Just("new".to_owned())]),
        client in prop::option::of(prop::sample::select(vec!["cursor", "c*", "other"])),
    ) {
        prop_assume!(Policy::parse(&text).is_ok());
        let whose = Whose { tool: tool.as_deref(), client };
        let mut now = text;
        for form in forms {
            let edited = match write(&now, whose, &form) {
                Ok(edited) => edited,
                Err(FormError::NotPossible(what)) => return Err(TestCaseError::fail(format!("{what}\n{now}\n{form:?}"))),
                Err(_) => continue,
            };
            prop_assert_eq!(form_in(&edited.text, whose), Some(form.clone()), "{}", edited.text);
            let again = write(&edited.text, whose, &form).unwrap();
            prop_assert_eq!(&again.text, &edited.text);
            prop_assert!(!again.changed && again.summary.is_empty());
            prop_assert_eq!(edited.changed, edited.text != now);
            let before = other_pieces(&now, whose);
            for (pointer, piece) in before {
                prop_assert_eq!(excerpt(&edited.text, &pointer), piece, "{} in\n{}\nwas\n{}", pointer, edited.text, now);
            }
            let note = |text: &str| text.split('{').next().map(str::to_owned);
            prop_assert_eq!(note(&edited.text), note(&now));
            now = edited.text;
        }
    }

    #[test]
    fn a_form_that_was_read_changes_no_byte(
        text in made::policy(),
        tool in made::name(),
        client in prop::option::of(Just("cursor")),
    ) {
        prop_assume!(Policy::parse(&text).is_ok());
        let whose = Whose { tool: Some(&tool), client };
        if let Some(form) = form_in(&text, whose) {
            let edited = write(&text, whose, &form).unwrap();
            prop_assert!(!edited.changed, "{}", edited.text);
        }
    }
}
