//! Edits for one client: what changes for it, and that nothing changes for anyone else.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::num::NonZeroU32;

use callgate_policy::edit::{Edit, EditError, When, apply, apply_for, present_cap, revert};
use callgate_policy::{Call, Circumstances, DEFAULT_POLICY, Judgement, Policy, Window, compare};
use callgate_protocol::json::Raw;

const OPEN: &str = "// mine\n{\n  \"version\": \"1\",\n  \"default\": \"allow\" // open\n}\n";
const CLOSED: &str = r#"{ "version": "1", "default": "deny", "tools": { "read": {} } }"#;

fn block(tool: &str) -> Edit {
    Edit::Block { tool: tool.to_owned(), reason: None }
}

fn hide(tool: &str) -> Edit {
    Edit::Hide { tool: tool.to_owned() }
}

fn allow(tool: &str) -> Edit {
    Edit::Allow { tool: tool.to_owned() }
}

fn cap(tool: &str, max: u32) -> Edit {
    Edit::Cap { tool: tool.to_owned(), max: NonZeroU32::new(max).unwrap(), window: Window::MINUTE }
}

fn cap_all(max: u32) -> Edit {
    Edit::CapServer { max: NonZeroU32::new(max).unwrap(), window: Window::MINUTE }
}

fn refuse(tool: Option<&str>, when: When) -> Edit {
    Edit::Refuse { tool: tool.map(str::to_owned), when, reason: None }
}

fn starts_with(prefix: &str) -> When {
    When::StartsWith { path: "args.url".to_owned(), prefix: prefix.to_owned() }
}

/// Applies the edit for "cursor", checks that a second time changes nothing, returns the text.
fn edited(text: &str, edit: &Edit) -> String {
    edited_for(text, Some("cursor"), edit)
}

fn edited_for(text: &str, client: Option<&str>, edit: &Edit) -> String {
    let once = apply_for(text, client, edit).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(once.changed, once.text != text);
    assert_eq!(once.changed, once.summary.iter().any(|line| !line.starts_with("but ")), "{:?}", once.summary);
    let twice = apply_for(&once.text, client, edit).unwrap();
    assert_eq!((twice.text.as_str(), twice.changed), (once.text.as_str(), false));
    assert!(twice.summary.iter().all(|line| line.starts_with("but ")), "{:?}", twice.summary);
    once.text
}

fn judged(text: &str, client: &str, tool: &str, args: &str) -> String {
    let policy = Policy::parse(text).unwrap();
    let call = Call::tool(client, tool, Some(Raw::parse(args).unwrap()));
    match policy.judge(&call, &Circumstances::timeless()) {
        Judgement::Pass(pass) => format!("{} {}", pass.rule, pass.limits.len()),
        Judgement::Refuse(refusal) => format!("{:?} {}", refusal.kind, refusal.rule),
    }
}

fn decision(text: &str, client: &str, tool: &str) -> String {
    judged(text, client, tool, "{}")
}

#[test]
fn a_block_for_one_client_is_for_that_client_alone() {
    let text = edited(OPEN, &Edit::Block { tool: "x".to_owned(), reason: Some("why".to_owned()) });
    insta::assert_snapshot!(text, @r#"
    // mine
    {
      "version": "1",
      "default": "allow", // open
      "clients": {
        "cursor": {
          "tools": {
            "x": {
              "action": "deny",
              "reason": "why"
            }
          }
        }
      }
    }
    "#);
    assert_eq!(decision(&text, "cursor", "x"), "Denied /clients/cursor/tools/x/action");
    assert_eq!(decision(&text, "claude", "x"), "/default 0");
    assert_eq!(decision(&text, "cursor", "y"), "/default 0");
}

#[test]
fn every_kind_of_edit_reaches_the_client_and_nobody_else() {
    for (edit, tool, args, decided) in [
        (hide("x"), "x", "{}", "Hidden /clients/cursor/hide/0"),
        (cap("x", 5), "x", "{}", "/clients/cursor/tools/x 1"),
        (cap_all(5), "x", "{}", "/default 1"),
        (Edit::BlockServer { reason: None }, "x", "{}", "Denied /clients/cursor/all_tools/action"),
        (
            refuse(Some("x"), starts_with("file:")),
            "x",
            r#"{"url":"file:///etc/passwd"}"#,
            "Denied /clients/cursor/tools/x/deny_if/0",
        ),
        (
            refuse(None, starts_with("file:")),
            "y",
            r#"{"url":"file:///etc/passwd"}"#,
            "Denied /clients/cursor/all_tools/deny_if/0",
        ),
    ] {
        let text = edited(OPEN, &edit);
        assert_eq!(judged(&text, "cursor", tool, args), decided, "{text}");
        assert_eq!(judged(&text, "claude", tool, args), "/default 0", "{text}");
        let (old, new) = (Policy::parse(OPEN).unwrap(), Policy::parse(&text).unwrap());
        assert_eq!(compare::loosened(&old, &new), Vec::<String>::new());
    }
}

#[test]
fn a_client_is_found_however_it_is_spelled() {
    let text = r#"{ "version": "1", "default": "allow", "clients": { "Cursor": { "hide": ["y"] } } }"#;
    let blocked = edited(text, &block("x"));
    assert_eq!(blocked.matches("ursor").count(), 1, "{blocked}");
    assert_eq!(decision(&blocked, "cursor", "x"), "Denied /clients/Cursor/tools/x/action");
}

#[test]
fn what_a_pattern_says_of_a_client_is_not_lost_by_rules_of_its_own() {
    let text = "{\n  \"version\": \"1\",\n  \"default\": \"allow\",\n  \"clients\": {\n    \"cur*\": {\n      // keep out\n      \"hide\": [\"secret\"]\n    }\n  }\n}\n";
    let blocked = edited(text, &block("x"));
    assert_eq!(decision(&blocked, "cursor", "secret"), "Hidden /clients/cursor/hide/0", "{blocked}");
    assert_eq!(decision(&blocked, "cursor", "x"), "Denied /clients/cursor/tools/x/action");
    assert_eq!(decision(&blocked, "curious", "secret"), "Hidden /clients/cur*/hide/0");
    assert_eq!(decision(&blocked, "curious", "x"), "/default 0");
    assert_eq!(blocked.matches("// keep out").count(), 2, "{blocked}");
    let said = apply_for(text, Some("cursor"), &block("x")).unwrap().summary.join("\n");
    assert!(said.contains("they begin as those of \"cur*\""), "{said}");
    // Nothing is copied for nothing.
    assert_eq!(edited(text, &hide("secret")), text);
}

#[test]
fn allowing_takes_back_what_was_said_for_the_client_and_leaves_no_trace() {
    for edit in [block("x"), hide("x")] {
        let there_and_back = edited(&edited(OPEN, &edit), &allow("x"));
        assert_eq!(there_and_back, OPEN);
    }
    assert_eq!(edited(&edited(OPEN, &cap("x", 5)), &Edit::Uncap { tool: "x".to_owned() }), OPEN);
    assert_eq!(edited(&edited(OPEN, &cap_all(5)), &Edit::UncapServer), OPEN);
    assert_eq!(edited(&edited(OPEN, &Edit::BlockServer { reason: None }), &Edit::AllowServer), OPEN);
    // For everyone and back, a cap of all tools too.
    let everyone = edited_for(DEFAULT_POLICY, None, &cap_all(5));
    assert_eq!(decision(&everyone, "claude", "x"), "/default 2");
    assert_eq!(edited_for(&everyone, None, &Edit::UncapServer), DEFAULT_POLICY);
}

#[test]
fn a_client_is_not_let_into_what_is_refused_to_everyone() {
    let still = |text: &str, edit: &Edit| apply_for(text, Some("cursor"), edit).unwrap_err().to_string();
    let blocked = edited_for(OPEN, None, &block("x"));
    let both = edited(&blocked, &block("x"));
    assert!(still(&both, &allow("x")).contains("/tools/x/action"));
    assert!(still(CLOSED, &allow("x")).contains("/default"));
    let server = edited_for(OPEN, None, &Edit::BlockServer { reason: None });
    let both = edited(&server, &Edit::BlockServer { reason: None });
    assert!(matches!(
        apply_for(&both, Some("cursor"), &Edit::AllowServer),
        Err(EditError::StillBlocked { .. })
    ));
    // A default of its own is the client's own denial: there its rules may list the tool.
    let own = r#"{ "version": "1", "default": "allow", "clients": { "cursor": { "default": "deny" } } }"#;
    assert_eq!(decision(&edited(own, &allow("x")), "cursor", "x"), "/clients/cursor/tools/x 0");
}

#[test]
fn limits_and_conditions_for_a_client_do_not_list_a_tool_that_is_refused() {
    for edit in [cap("x", 5), refuse(Some("x"), starts_with("a"))] {
        for text in [
            CLOSED,
            r#"{ "version": "1", "default": "deny", "tools": { "x": { "until": "2020-01-01T00:00:00Z" } } }"#,
            r#"{ "version": "1", "default": "allow", "clients": { "cursor": { "default": "deny" } } }"#,
        ] {
            let refused = apply_for(text, Some("cursor"), &edit);
            assert!(matches!(refused, Err(EditError::NotAllowed { .. })), "{refused:?}\n{text}");
        }
        assert!(apply_for(CLOSED, None, &edit).is_err());
    }
    // A pattern's conditions would be lost to a tool that gets a rule of its own.
    let pattern = r#"{ "version": "1", "default": "allow", "tools": { "x*": { "require": [{ "path": "args.a", "op": "exists", "value": false }] } } }"#;
    assert!(matches!(apply(pattern, &refuse(Some("xy"), starts_with("a"))), Err(EditError::WouldLoosen(_))));
}

#[test]
fn a_cap_for_the_client_and_one_for_everyone_count_each_by_itself() {
    let everyone = edited_for(OPEN, None, &cap("x", 10));
    let both = edited(&edited(&everyone, &cap("x", 5)), &cap_all(50));
    let both = edited_for(&both, None, &cap_all(60));
    assert_eq!(decision(&both, "cursor", "x"), "/tools/x 4");
    assert_eq!(decision(&both, "claude", "x"), "/tools/x 2");
    let shown = |client, tool| present_cap(&both, client, tool).map(|rate| rate.to_string());
    assert_eq!(shown(Some("Cursor"), Some("x")).as_deref(), Some("5/minute"));
    assert_eq!(shown(None, Some("x")).as_deref(), Some("10/minute"));
    assert_eq!(shown(Some("cursor"), None).as_deref(), Some("50/minute"));
    assert_eq!(shown(None, None).as_deref(), Some("60/minute"));
    assert_eq!((shown(Some("claude"), Some("x")), shown(None, Some("y"))), (None, None));
    let explained =
        edited(&both, &Edit::ExplainCap { tool: Some("x".to_owned()), reason: "slowly".to_owned() });
    assert_eq!(explained.replace(", \"on_deny\": \"slowly\"", "").matches("slowly").count(), 1);
    assert_eq!(edited(OPEN, &Edit::ExplainCap { tool: None, reason: "r".to_owned() }), OPEN);
}

#[test]
fn keeping_recordings_is_one_flag_beside_what_is_there_for_everyone_or_one_client() {
    let keep = Edit::KeepUnfinished;
    let everyone = edited_for(OPEN, None, &keep);
    assert!(everyone.starts_with("// mine") && everyone.contains("// open"), "{everyone}");
    assert!(everyone.contains("\"keep_unfinished\": true"), "{everyone}");
    assert_eq!(revert(&everyone, OPEN, &everyone).unwrap().text, OPEN);
    let taken_back = OPEN.replace("\"allow\"", "\"allow\", \"codegen\": { \"keep_unfinished\": false }");
    let again = edited_for(&taken_back, None, &keep);
    assert_eq!(again, taken_back.replace("false", "true"));
    let one = edited(OPEN, &keep);
    let clear = |client| judged(&one, client, "clear_codegen_session", r#"{"sessionId":"A"}"#);
    assert_eq!(clear("cursor"), "Denied /clients/cursor/codegen/keep_unfinished");
    assert_eq!(clear("claude"), "/default 0");
}

#[test]
fn names_that_mean_more_than_one_client_are_refused() {
    for client in ["", " ", "cur*", "c?", "\u{200b}", "\u{ff0a}", "a\nb"] {
        let refused = apply_for(OPEN, Some(client), &block("x"));
        assert!(matches!(refused, Err(EditError::NotAClient(_))), "{client:?}: {refused:?}");
    }
}

#[test]
fn a_block_for_a_client_that_is_only_observed_says_so() {
    let text = r#"{ "version": "1", "default": "allow", "mode": "observe", "clients": { "zed": { "mode": "observe" } } }"#;
    let said = apply_for(text, Some("cursor"), &block("x")).unwrap().summary.join("\n");
    assert!(said.contains("only observed for the client \"cursor\"") && !said.contains("zed"), "{said}");
    let said =
        apply_for(text, Some("cursor"), &Edit::BlockServer { reason: None }).unwrap().summary.join("\n");
    assert!(said.contains("only observed for the client \"cursor\"") && !said.contains("zed"), "{said}");
}

#[test]
fn arguments_are_compared_as_they_are_meant() {
    let denied = "Denied /tools/x/deny_if/0";
    for (prefix, args, is) in [
        ("file:", r#"{"url":"file:///etc"}"#, denied),
        // Whoever opens addresses does not mind case and blanks.
        ("file:", r#"{"url":" FILE:///etc"}"#, denied),
        ("file:", r#"{"url":"https://file:"}"#, "/tools/x 0"),
        ("/etc/(.*)[", r#"{"url":"/etc/(.*)[x"}"#, denied),
        ("/etc/(.*)[", r#"{"url":"/etc/passwd"}"#, "/tools/x 0"),
        ("/etc", r#"{"url":"a/etc"}"#, "/tools/x 0"),
        ("a\nb", "{\"url\":\"a\\nbc\"}", denied),
        ("^", r#"{"url":"^x"}"#, denied),
    ] {
        let text = edited_for(OPEN, None, &refuse(Some("x"), starts_with(prefix)));
        assert_eq!(judged(&text, "c", "x", args), is, "{prefix} {args}\n{text}");
    }
    for (value, args, is) in [
        (r#""a""#, r#"{"url":"a"}"#, denied),
        (r#""a""#, r#"{"url":"ab"}"#, "/tools/x 0"),
        ("1.50", r#"{"url":1.5}"#, denied),
        ("true", r#"{"url":true}"#, denied),
        ("null", r#"{"url":null}"#, denied),
    ] {
        let when = When::Equals { path: "args.url".to_owned(), value: value.to_owned() };
        let text = edited_for(OPEN, None, &refuse(Some("x"), when));
        assert_eq!(judged(&text, "c", "x", args), is, "{value} {args}\n{text}");
    }
    let when = When::NotInside { path: "args.path".to_owned(), folder: "/srv/project".to_owned() };
    let text = edited_for(OPEN, None, &refuse(Some("x"), when));
    assert_eq!(judged(&text, "c", "x", r#"{"path":"/srv/project/a"}"#), "/tools/x 0", "{text}");
    for args in [r#"{"path":"/srv/project/../etc"}"#, r#"{"path":"/etc"}"#, "{}"] {
        assert_eq!(judged(&text, "c", "x", args), "Denied /tools/x/require/0", "{args}");
    }
}

#[test]
fn a_condition_that_makes_no_rule_says_why() {
    for when in [
        starts_with(""),
        When::StartsWith { path: "url".to_owned(), prefix: "a".to_owned() },
        When::Equals { path: "args.a".to_owned(), value: "{}".to_owned() },
        When::Equals { path: "args.a".to_owned(), value: "1, 2".to_owned() },
        When::NotInside { path: "args.a".to_owned(), folder: String::new() },
    ] {
        let refused = apply(OPEN, &refuse(Some("x"), when.clone()));
        assert!(matches!(refused, Err(EditError::NotARule(_))), "{when:?}: {refused:?}");
    }
}

#[test]
fn a_reason_given_later_joins_the_condition_that_is_there() {
    let when = starts_with("file:");
    let text = edited(OPEN, &refuse(Some("x"), when.clone()));
    let told = Edit::Refuse { tool: Some("x".to_owned()), when, reason: Some("no files".to_owned()) };
    let with = edited(&text, &told);
    assert_eq!(with.matches("regex").count(), 1, "{with}");
    assert!(with.contains("\"on_deny\": \"no files\""), "{with}");
}

#[test]
fn of_two_blocks_for_one_client_either_can_be_taken_back_alone() {
    let one = edited(OPEN, &block("x"));
    let both = edited(&one, &block("y"));
    let reverted = revert(&both, OPEN, &one).unwrap().text;
    assert_eq!(reverted, edited(OPEN, &block("y")));
    assert_eq!(revert(&both, &one, &both).unwrap().text, one);
    // Not where that would take with it what the client had by a pattern.
    let pattern = r#"{ "version": "1", "default": "allow", "clients": { "cur*": { "hide": ["secret"] } } }"#;
    let one = edited(pattern, &block("x"));
    let both = edited(&one, &block("y"));
    assert!(revert(&both, pattern, &one).is_err());
    assert_eq!(revert(&one, pattern, &one).unwrap().text, pattern);
}
