//! The schema that we ship accepts what the parser accepts, key for key.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::{DEFAULT_POLICY, Policy, SCHEMA};
use jsonc_parser::ast::Value as Ast;
use serde_json::{Map, Value};

/// As much of JSON Schema as our schema uses. Returns what does not fit.
fn check(schema: &Value, root: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target =
            root.pointer(name.strip_prefix('#').unwrap()).unwrap_or_else(|| panic!("{name} is missing"));
        check(target, root, value, at)?;
    }
    let fail = |why: &str| Err(format!("{at}: {why}: {value}"));
    if schema == &Value::Bool(false) {
        return fail("must not be here");
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return fail("not one of the words");
    }
    if schema.get("const").is_some_and(|wanted| wanted != value) {
        return fail("not the constant");
    }
    if let Some(kind) = schema.get("type") {
        let is = |kind: &str| match kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_u64() || value.is_i64(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("unknown type {other}"),
        };
        let fits = match kind {
            Value::String(kind) => is(kind),
            kinds => kinds.as_array().unwrap().iter().any(|k| is(k.as_str().unwrap())),
        };
        if !fits {
            return fail("wrong type");
        }
    }
    if let (Some(pattern), Some(text)) = (schema.get("pattern").and_then(Value::as_str), value.as_str())
        && !regex::Regex::new(pattern).unwrap().is_match(text)
    {
        return fail("does not match");
    }
    if let (Some(least), Some(number)) = (schema.get("minimum").and_then(Value::as_i64), value.as_i64())
        && number < least
    {
        return fail("too small");
    }
    let size = |key: &str| schema.get(key).and_then(Value::as_u64);
    let length = value.as_str().map(|text| text.chars().count() as u64);
    if length.zip(size("minLength")).is_some_and(|(length, least)| length < least)
        || length.zip(size("maxLength")).is_some_and(|(length, most)| length > most)
    {
        return fail("too short or too long");
    }
    let items = value.as_array().map(|items| items.len() as u64);
    if items.zip(size("minItems")).is_some_and(|(items, least)| items < least) {
        return fail("too few items");
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array)
        && !choices.iter().any(|choice| check(choice, root, value, at).is_ok())
    {
        return fail("fits no alternative");
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(items) = schema.get("items") {
            check(items, root, item, &format!("{at}/*"))?;
        }
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (key, member) in object {
        match (properties.get(key), schema.get("additionalProperties")) {
            (Some(schema), _) => check(schema, root, member, &format!("{at}/{key}"))?,
            (None, Some(Value::Bool(false))) => return Err(format!("{at}: unknown key {key}")),
            (None, Some(schema)) => check(schema, root, member, &format!("{at}/{key}"))?,
            (None, None) => {}
        }
    }
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(key.as_str().unwrap()) {
            return fail("a key is missing");
        }
    }
    Ok(())
}

fn plain(ast: &Ast<'_>) -> Value {
    match ast {
        Ast::StringLit(s) => Value::String(s.value.to_string()),
        Ast::NumberLit(n) => serde_json::from_str(n.value).unwrap(),
        Ast::BooleanLit(b) => Value::Bool(b.value),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(a) => a.elements.iter().map(plain).collect(),
        Ast::Object(o) => Value::Object(
            o.properties.iter().map(|p| (p.name.as_str().to_owned(), plain(&p.value))).collect(),
        ),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default()).unwrap();
    check(&schema, &schema, &plain(&parsed.value.unwrap()), "")
}

#[test]
fn every_policy_of_the_case_tables_fits_the_schema() {
    for file in [
        "argument_kinds",
        "unlisted",
        "samples",
        "operators",
        "order",
        "limits",
        "names",
        "globs",
        "clients",
        "until",
        "observe",
        "record",
        "validate",
        "kinds",
        "waived",
        "not_built",
        "classes",
        "home",
        "methods",
        "warnings",
        "policy_tests",
    ] {
        for section in common::cases(&format!("{file}.txt")) {
            Policy::parse(&section.policy).unwrap_or_else(|e| panic!("{file}: {}: {e}", section.title));
            check_text(&section.policy).unwrap_or_else(|e| panic!("{file}: {}: {e}", section.title));
        }
    }
}

#[test]
fn the_default_policy_fits_the_schema_and_warns_of_nothing() {
    check_text(DEFAULT_POLICY).unwrap();
    let policy = Policy::parse(DEFAULT_POLICY).unwrap();
    assert_eq!(policy.warnings(), []);
    assert!(policy.watch_only());
}

#[test]
fn misspelled_keys_fit_neither_the_schema_nor_the_parser() {
    let text = r#"{ "version": "1", "default": "deny", "tools": { "x": { "limit": [] } } }"#;
    assert!(check_text(text).is_err());
    assert!(Policy::parse(text).is_err());
}

#[test]
fn a_test_of_a_tool_and_a_method_at_once_fits_neither_the_schema_nor_the_parser() {
    for test in [
        r#"{ "tool": "x", "method": "ping", "expect": "allow" }"#,
        r#"{ "tool": "x", "params": {}, "expect": "allow" }"#,
        r#"{ "method": "ping", "args": {}, "expect": "allow" }"#,
        r#"{ "expect": "allow" }"#,
        r#"{ "tool": "x", "after": 0, "expect": "allow" }"#,
    ] {
        let text = format!(r#"{{ "version": "1", "default": "deny", "tests": [ {test} ] }}"#);
        assert!(check_text(&text).is_err(), "{test}");
        assert!(Policy::parse(&text).is_err(), "{test}");
    }
}

#[test]
fn empty_lists_and_names_fit_neither_the_schema_nor_the_parser() {
    for part in [
        r#""resources": { "allow": [] }"#,
        r#""resources": { "schemes": [] }"#,
        r#""resources": { "schemes": [""] }"#,
        r#""resources": { "allow": [""] }"#,
        r#""resources": { "deny": [""] }"#,
        r#""resources": { "hide": [""] }"#,
        r#""prompts": { "allow": [] }"#,
        r#""prompts": { "deny": [""] }"#,
        r#""clients": { "c": { "resources": { "allow": [] } } }"#,
        r#""clients": { "c": { "prompts": { "hide": [""] } } }"#,
        r#""hide": [""]"#,
        r#""tools": { "x": { "limits": [{ "counter": "", "window": "hour", "max": 1 }] } }"#,
    ] {
        let text = format!(r#"{{ "version": "1", "default": "deny", {part} }}"#);
        assert!(check_text(&text).is_err(), "{part}");
        assert!(Policy::parse(&text).is_err(), "{part}");
    }
    // What refuses nothing may be empty.
    let text = r#"{ "version": "1", "default": "deny", "resources": { "deny": [], "hide": [] } }"#;
    check_text(text).unwrap();
    Policy::parse(text).unwrap();
}

#[test]
fn limits_have_a_window_and_an_amount_as_their_kind_wants_in_the_schema_and_in_the_parser() {
    for (limit, right) in [
        (r#""window": "hour""#, true),
        (r#""kind": "calls", "window": "hour""#, true),
        (r#""kind": "sum", "window": "hour", "amount_from": "args.n""#, true),
        (r#""kind": "concurrent""#, true),
        (r#""kind": "total""#, true),
        (r#""scope": "grant""#, false),
        (r#""kind": "calls""#, false),
        (r#""window": "hour", "amount_from": "args.n""#, false),
        (r#""kind": "sum", "window": "hour""#, false),
        (r#""kind": "sum", "amount_from": "args.n""#, false),
        (r#""kind": "concurrent", "window": "hour""#, false),
        (r#""kind": "total", "amount_from": "args.n""#, false),
    ] {
        let text = format!(
            r#"{{ "version": "1", "default": "deny", "tools": {{ "x": {{ "limits": [{{ "counter": "n", "max": 1, {limit} }}] }} }} }}"#
        );
        assert_eq!(check_text(&text).is_ok(), right, "{limit}");
        assert_eq!(Policy::parse(&text).is_ok(), right, "{limit}");
    }
}
