//! Texts with a cursor (`|`), and what is offered there.

use super::*;

fn known() -> Known {
    let url = r#"{"name":"navigate","inputSchema":{"type":"object","properties":{"url":{"type":"string"},
        "options":{"type":"object","properties":{"wait until":{"type":"string"},"timeout":{"type":"number"}}}}}}"#;
    Known {
        tools: vec![
            KnownTool::new("navigate".to_owned(), url),
            KnownTool::new("delete \"all\"".to_owned(), r#"{"inputSchema":{"properties":{"id":{}}}}"#),
        ],
        clients: vec!["claude-ai".to_owned(), "cursor".to_owned()],
    }
}

fn offered(marked: &str) -> Vec<Completion> {
    let cursor = marked.find('|').unwrap_or(0);
    let text = marked.replacen('|', "", 1);
    at(&known(), &text, utf16_offset(&text, cursor))
}

/// The text after the offer of this label was taken.
fn taken(marked: &str, label: &str) -> String {
    let text = marked.replacen('|', "", 1);
    let cursor = marked.find('|').unwrap_or(0);
    let offers = offered(marked);
    let offer = offers.iter().find(|offer| offer.label == label);
    let Some(offer) = offer else { return format!("{label} is not offered in {marked}") };
    format!("{}{}{}", &text[..byte_offset(&text, offer.from)], offer.apply, &text[cursor..])
}

#[test]
fn keys_and_values_are_offered_where_they_may_stand() {
    let cases: &[(&str, &[&str])] = &[
        // Words of one place, in the order of the grammar.
        (r#"{"default": "|"#, &["allow", "deny", "ask"]),
        (r#"{"default": "a|", "tools": {}}"#, &["allow", "ask"]),
        // What calls no tool cannot be asked about.
        (r#"{"resources": {"default": "|"#, &["allow", "deny"]),
        (r#"{"clients": {"c": {"elicitation": {"action": "|"#, &["allow", "deny"]),
        (r#"{"clients": {"c": {"tools": {"prompts": {"action": "|"#, &["allow", "deny", "ask"]),
        (r#"{"default": |}"#, &["allow", "deny", "ask"]),
        (r#"{"version": |"#, &["1"]),
        (r#"{"mode": "obs|"}"#, &["observe"]),
        (r#"{"validate": |}"#, &["true", "false"]),
        (r#"{"validate": "|"}"#, &[]),
        // Names that are there already are not offered, before or after the cursor.
        (r#"{"version": "1", "de|", "default": "deny"}"#, &["description", "mode", "hide", "codegen"]),
        // Tools and clients.
        (r#"{"tools": {"|"#, &["navigate", "delete \"all\"", "*"]),
        (r#"{"tools": {"navigate": {}, |}}"#, &["delete \"all\"", "*"]),
        (r#"{"clients": {"cur|": {}}}"#, &["cursor"]),
        (r#"{"clients": {"cursor": {"tools": {"nav|"#, &["navigate"]),
        (r#"{"hide": ["|"]}"#, &["navigate", "delete \"all\""]),
        (r#"{"hide": ["navigate", |]}"#, &["navigate", "delete \"all\""]),
        // Inside a rule.
        (r#"{"tools": {"x": {"act|}}}"#, &["action"]),
        (r#"{"tools": {"x": {"action": "|"}}}"#, &["allow", "deny", "ask"]),
        (r#"{"tools": {"x": {"limits": [{"sc|"#, &["scope", "description"]),
        (r#"{"tools": {"x": {"limits": [{"scope": "|"#, &["session", "grant", "client", "server", "all"]),
        (
            r#"{"tools": {"x": {"limits": [{"max": 1, "window": "|"#,
            &["second", "minute", "hour", "day", "week"],
        ),
        (r#"{"tools": {"x": {"limits": [{"kind": "|"#, &["calls", "concurrent", "total", "sum"]),
        (r#"{"all_tools": {"deny_if": [{"path": "args.a", "op": "not|"#, &["not_in", "not_inside"]),
        (
            r#"{"tools": {"navigate": {"deny_if": [{"path": "|"#,
            &["args.url", "args.options", "args.options[\"wait until\"]", "args.options.timeout"],
        ),
        (
            r#"{"tools": {"navigate": {"require": [{"conditions": [{"path": "args.o|"#,
            &["args.options", "args.options[\"wait until\"]", "args.options.timeout"],
        ),
        (r#"{"clients": {"c": {"tools": {"delete \"all\"": {"limits": [{"amount_from": "|"#, &["args.id"]),
        (r#"{"all_tools": {"deny_if": [{"path": "args.i|"#, &["args.id"]),
        (r#"{"tools": {"del*": {"deny_if": [{"path": "args.i|"#, &["args.id"]),
        // Text that is broken before and behind the cursor.
        (r#"{ "tools": { "x": { "action": "deny" } "y": { "mode": "|" "#, &["enforce", "observe"]),
        ("{\n  \"mode\": \"enf|\n  \"tools\": { \"x\": {} }\n}", &["enforce"]),
        ("{ // \"mode\"\n  \"mode\": /* { */ \"|\"", &["enforce", "observe"]),
        ("\u{feff}{\"hide\": [\"😀\", \"n|\"]}", &["navigate"]),
        // Nothing to offer.
        ("{ // mo|de\n}", &[]),
        ("{ /* \"|\" */ }", &[]),
        ("|", &[]),
        (r#"{"version": "1"} |"#, &[]),
        (r#"{"tools": {"x": {"limits": [{"max": |"#, &[]),
        (r#"{"nonsense": {"|"#, &[]),
    ];
    for (text, expected) in cases {
        let labels: Vec<String> = offered(text).into_iter().map(|offer| offer.label).collect();
        assert_eq!(&labels, expected, "{text}");
    }
}

#[test]
fn every_key_of_a_policy_and_of_a_rule_is_offered_with_its_description() {
    let top = offered("{|}");
    assert!(top.len() > 20, "{}", top.len());
    assert!(top.iter().any(|offer| offer.label == "tools"));
    assert!(top.iter().filter(|offer| offer.detail.is_some()).count() > 15);
    let rule = offered(r#"{"clients":{"x":{"all_tools":{|}}}}"#);
    assert!(rule.iter().any(|offer| offer.label == "deny_if"), "{rule:?}");
    let predicate: Vec<String> =
        offered(r#"{"all_tools":{"require":[{|}]}}"#).into_iter().map(|offer| offer.label).collect();
    for key in ["path", "op", "value", "on_deny", "conditions"] {
        assert!(predicate.iter().any(|label| label == key), "{key}: {predicate:?}");
    }
}

#[test]
fn what_is_taken_fits_into_the_text() {
    let cases = [
        (r#"{"de|"#, "default", r#"{"default": "#),
        (r#"{"de|": "deny"}"#, "default", r#"{"default": "deny"}"#),
        (r#"{de|}"#, "default", r#"{"default": }"#),
        (r#"{|: 1}"#, "mode", r#"{"mode": 1}"#),
        (r#"{"default": a|}"#, "allow", r#"{"default": "allow"}"#),
        (r#"{"default": "a|"}"#, "allow", r#"{"default": "allow"}"#),
        (r#"{"validate": t|}"#, "true", r#"{"validate": true}"#),
        (r#"{"hide": ["😀", "d|"]}"#, "delete \"all\"", r#"{"hide": ["😀", "delete \"all\""]}"#),
        (r#"{"tools": {"delete \"a|": {}}}"#, "delete \"all\"", r#"{"tools": {"delete \"all\"": {}}}"#),
    ];
    for (text, label, expected) in cases {
        assert_eq!(taken(text, label), expected, "{text}");
    }
}

#[test]
fn no_place_of_any_broken_text_makes_it_fail() {
    let text = "\u{feff}{ \"tools\": { \"é😀\\\"\": { \"deny_if\": [ { \"path\": \"args.\\u00\" // x\n /* } ] ,: tru \"";
    for end in 0..=text.len() {
        let Some(part) = text.get(..end) else { continue };
        for offset in 0..=utf16_offset(part, part.len()) + 1 {
            assert!(at(&known(), part, offset).len() <= MOST);
        }
    }
}
