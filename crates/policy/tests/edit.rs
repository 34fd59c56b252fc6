//! Edits of a policy file: what changes, and that nothing else does.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::num::NonZeroU32;

use callgate_policy::edit::{Edit, EditError, apply, apply_for};
use callgate_policy::{Call, Circumstances, DEFAULT_POLICY, Judgement, Policy, Window, compare};

fn block(tool: &str) -> Edit {
    Edit::Block { tool: tool.to_owned(), reason: None }
}

fn hide(tool: &str) -> Edit {
    Edit::Hide { tool: tool.to_owned() }
}

fn cap(tool: &str, max: u32) -> Edit {
    Edit::Cap { tool: tool.to_owned(), max: NonZeroU32::new(max).unwrap(), window: Window::MINUTE }
}

fn allow(tool: &str) -> Edit {
    Edit::Allow { tool: tool.to_owned() }
}

/// Applies the edit, checks that a second time changes nothing, returns the text.
fn edited(text: &str, edit: &Edit) -> String {
    let once = apply(text, edit).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(once.changed, once.text != text);
    assert_eq!(once.changed, once.summary.iter().any(|line| !line.starts_with("but ")), "{:?}", once.summary);
    let twice = apply(&once.text, edit).unwrap();
    assert_eq!((twice.text.as_str(), twice.changed), (once.text.as_str(), false));
    let buts: Vec<&String> = once.summary.iter().filter(|line| line.starts_with("but ")).collect();
    assert_eq!(twice.summary.iter().collect::<Vec<_>>(), buts);
    once.text
}

fn decision(text: &str, tool: &str) -> String {
    match Policy::parse(text).unwrap().judge(&Call::tool("c", tool, None), &Circumstances::timeless()) {
        Judgement::Pass(pass) => format!("{} {}", pass.rule, pass.limits.len()),
        Judgement::Refuse(refusal) => format!("{:?} {}", refusal.kind, refusal.rule),
    }
}

const COMMENTED: &str = r#"// my rules
{
  "version": "1",
  "default": "allow", // for now

  "tools": {
    "a": {}, // first

    /* second */
    "b": { "action": "allow", "limits": [] } // no comma here
    // the end
  }
}
"#;

#[test]
fn a_cap_can_be_taken_back_and_nothing_else_goes_with_it() {
    let capped = edited(COMMENTED, &cap("b", 5));
    assert_eq!(decision(&capped, "b"), "/tools/b 1");
    let uncapped = edited(&capped, &Edit::Uncap { tool: "b".to_owned() });
    assert_eq!(decision(&uncapped, "b"), "/tools/b 0");
    assert!(uncapped.contains("/* second */") && uncapped.contains("// no comma here"));
    let other = r#"{"version":"1","default":"allow","tools":{"b":{"limits":[{"counter":"own","window":"minute","max":2}]}}}"#;
    assert_eq!(edited(other, &Edit::Uncap { tool: "b".to_owned() }), other);
}

#[test]
fn blocking_a_tool_without_a_rule_adds_one_at_the_end() {
    let edit = Edit::Block { tool: "c".to_owned(), reason: Some("not \"now\"".to_owned()) };
    insta::assert_snapshot!(edited(COMMENTED, &edit), @r#"
    // my rules
    {
      "version": "1",
      "default": "allow", // for now

      "tools": {
        "a": {}, // first

        /* second */
        "b": { "action": "allow", "limits": [] }, // no comma here
        "c": {
          "action": "deny",
          "reason": "not \"now\""
        }
        // the end
      }
    }
    "#);
}

#[test]
fn blocking_a_tool_with_a_rule_changes_its_action_only() {
    insta::assert_snapshot!(edited(COMMENTED, &block("b")), @r#"
    // my rules
    {
      "version": "1",
      "default": "allow", // for now

      "tools": {
        "a": {}, // first

        /* second */
        "b": { "action": "deny", "limits": [] } // no comma here
        // the end
      }
    }
    "#);
}

#[test]
fn blocking_a_tool_with_an_empty_rule_fills_it() {
    let text = edited(COMMENTED, &block("a"));
    assert!(text.contains("    \"a\": {\n      \"action\": \"deny\"\n    }, // first\n"), "{text}");
}

#[test]
fn a_cap_is_added_once_and_then_replaced() {
    let text = edited(DEFAULT_POLICY, &cap("x", 10));
    insta::assert_snapshot!(text, @r#"
    // Watch only, with a safety net: every call is let through and kept in the history, at most 300 a minute in a session.
    {
      "version": "1",
      "default": "allow",
      "all_tools": {
        "limits": [
          {
            "counter": "safety_net",
            "window": "minute",
            "max": 300,
            "scope": "session",
            "on_deny": "more than 300 calls in a minute: this looks like a loop"
          }
        ]
      },
      "tools": {
        "x": {
          "limits": [
            {
              "counter": "x_cap",
              "window": "minute",
              "max": 10,
              "scope": "grant"
            }
          ]
        }
      }
    }
    "#);
    let tighter = edited(&text, &cap("x", 5));
    assert_eq!(tighter, text.replace("\"max\": 10", "\"max\": 5"));
}

#[test]
fn a_raised_cap_is_made_and_called_looser() {
    let text = edited(DEFAULT_POLICY, &cap("x", 10));
    let raised = edited(&text, &cap("x", 11));
    assert_eq!(raised, text.replace("\"max\": 10", "\"max\": 11"));
    let loosened =
        |a: &str, b: &str| compare::loosened(&Policy::parse(a).unwrap(), &Policy::parse(b).unwrap());
    assert_eq!(
        loosened(&text, &raised),
        ["\"x\": the cap was 10 per minute per client, is now 11 per minute per client"]
    );
    assert!(loosened(&raised, &text).is_empty());
}

#[test]
fn a_cap_must_not_let_a_denied_tool_through() {
    let text = common::SEEDS[0];
    assert!(matches!(apply(text, &cap("end_codegen_session", 5)), Err(EditError::NotAllowed { .. })));
    let text = edited(text, &cap("get_codegen_session", 5));
    assert_eq!(decision(&text, "get_codegen_session"), "/tools/get_codegen_session 1");
}

#[test]
fn a_cap_must_not_let_out_a_look_alike_of_a_hidden_tool() {
    let text = r#"{ "version": "1", "default": "allow", "hide": ["Alpha"] }"#;
    assert!(matches!(apply(text, &cap("alpha", 5)), Err(EditError::NotAllowed { .. })));
    assert_eq!(decision(&edited(text, &cap("Alpha", 5)), "Alpha"), "Hidden /hide/0");
}

#[test]
fn hiding_and_allowing_again_gives_the_same_text_back() {
    for text in common::SEEDS.iter().chain([&COMMENTED, &DEFAULT_POLICY]) {
        let hidden = edited(text, &hide("zzz"));
        assert_eq!(
            decision(&hidden, "zzz"),
            format!("Hidden /hide/{}", usize::from(text.contains("\"hide\"")))
        );
        let again = edited(&hidden, &allow("zzz"));
        if text.contains("\"default\": \"allow\"") {
            assert_eq!(again.replace(",\n  \"hide\": []", ""), **text);
        }
        assert!(matches!(decision(&again, "zzz").as_str(), "/tools/zzz 0" | "/default 1" | "/default 0"));
    }
}

#[test]
fn the_samples_keep_their_shape() {
    insta::assert_snapshot!(edited(common::SEEDS[4], &hide("x")), @r#"
    {
    "version": "1",
    "default": "deny",
    "hide": [
    "clear_codegen_session",
    "x"
    ]
    }
    "#);
    insta::assert_snapshot!(edited(common::SEEDS[4], &allow("clear_codegen_session")), @r#"
    {
    "version": "1",
    "default": "deny",
    "hide": [],
    "tools": {
    "clear_codegen_session": {}
    }
    }
    "#);
    insta::assert_snapshot!(edited(common::SEEDS[0], &allow("x")), @r#"
    {
    "version": "1",
    "default": "deny",
    "tools": {
    "get_codegen_session": {},
    "x": {}
    }
    }
    "#);
}

#[test]
fn allowing_takes_back_what_denies_and_leaves_the_rest() {
    let text = r#"{ "version": "1", "default": "deny", "hide": ["a", "x", "b"], "tools": {
    "x": {
      "action": "deny", // for a reason
      "reason": "old",
      "deny_if": [ { "conditions": [], "on_deny": "blocked" }, { "path": "args.p", "op": "eq", "value": 1 } ],
      "limits": [ { "counter": "x", "window": "hour", "max": 5 } ],
    },
} }"#;
    insta::assert_snapshot!(edited(text, &allow("x")), @r#"
    { "version": "1", "default": "deny", "hide": ["a", "b"], "tools": {
        "x": {
          // for a reason
          "deny_if": [ { "path": "args.p", "op": "eq", "value": 1 } ],
          "limits": [ { "counter": "x", "window": "hour", "max": 5 } ],
        },
    } }
    "#);
}

#[test]
fn one_line_files_stay_on_one_line() {
    let text = r#"{"version":"1","default":"allow"}"#;
    assert_eq!(edited(text, &hide("x")), r#"{"version":"1","default":"allow", "hide": ["x"]}"#);
    assert_eq!(
        edited(text, &cap("x", 5)),
        r#"{"version":"1","default":"allow", "tools": { "x": { "limits": [{ "counter": "x_cap", "window": "minute", "max": 5, "scope": "grant" }] } }}"#
    );
    let trailing = r#"{ "version": "1", "default": "allow", "hide": ["a",], }"#;
    assert_eq!(
        edited(trailing, &hide("x")),
        r#"{ "version": "1", "default": "allow", "hide": ["a", "x",], }"#
    );
}

#[test]
fn tabs_crlf_and_a_byte_order_mark_are_kept() {
    let text = "\u{feff}{\r\n\t\"version\": \"1\",\r\n\t\"default\": \"allow\"\r\n}\r\n";
    let expected = "\u{feff}{\r\n\t\"version\": \"1\",\r\n\t\"default\": \"allow\",\r\n\t\"tools\": {\r\n\t\t\"x\": {\r\n\t\t\t\"action\": \"deny\"\r\n\t\t}\r\n\t}\r\n}\r\n";
    assert_eq!(edited(text, &block("x")), expected);
}

#[test]
fn comments_in_empty_places_stay() {
    let text = "{ \"version\": \"1\", \"default\": \"allow\", \"tools\": { // none yet\n} }\n";
    let new = edited(text, &block("x"));
    assert!(new.contains("\"tools\": { // none yet\n"), "{new}");
    assert_eq!(decision(&new, "x"), "Denied /tools/x/action");
}

#[test]
fn an_empty_object_becomes_a_policy_that_still_refuses_everything_else() {
    let text = edited("{}", &block("x"));
    assert_eq!(decision(&text, "x"), "Denied /tools/x/action");
    assert_eq!(decision(&text, "y"), "Denied /default");
    assert_eq!(decision(&edited("{}\n", &allow("x")), "x"), "/tools/x 0");
    assert!(matches!(apply("{}", &cap("x", 5)), Err(EditError::NotAllowed { .. })));
}

#[test]
fn edits_that_cannot_be_made_say_why() {
    assert!(matches!(apply("{ \"version\": \"1\" ", &block("x")), Err(EditError::Broken(_))));
    assert!(matches!(apply("{ \"version\": \"1\" }", &block("x")), Err(EditError::Broken(_))));
    assert!(matches!(apply("", &block("x")), Err(EditError::Broken(_))));
    let when = callgate_policy::edit::When::StartsWith { path: "args.a".to_owned(), prefix: "b".to_owned() };
    let refuse = Edit::Refuse { tool: Some("x*".to_owned()), when, reason: None };
    assert!(matches!(apply(COMMENTED, &refuse), Err(EditError::NotATool(_))));
    assert!(matches!(apply(COMMENTED, &hide("a\nb")), Err(EditError::NotATool(_))));
    let hidden = r#"{ "version": "1", "default": "allow", "hide": ["*"] }"#;
    assert!(matches!(apply(hidden, &allow("x")), Err(EditError::StillRefused { .. })));
    let blocked = r#"{ "version": "1", "default": "allow", "all_tools": { "action": "deny" } }"#;
    assert!(matches!(apply(blocked, &allow("x")), Err(EditError::StillRefused { .. })));
    // Naming a tool takes it out of a pattern's reach: that would open it.
    let pattern = r#"{ "version": "1", "default": "allow", "tools": { "x*": { "action": "deny" } } }"#;
    assert!(apply(pattern, &cap("xy", 5)).is_err());
}

fn block_server(reason: Option<&str>) -> Edit {
    Edit::BlockServer { reason: reason.map(str::to_owned) }
}

#[test]
fn blocking_a_server_and_allowing_it_again_gives_the_same_text_back() {
    for text in common::SEEDS.iter().chain([&COMMENTED, &DEFAULT_POLICY]) {
        let blocked = edited(text, &block_server(Some("not today")));
        for tool in ["a", "b", "get_codegen_session", "unknown"] {
            assert_eq!(decision(&blocked, tool), "Denied /all_tools/action", "{tool}\n{blocked}");
        }
        assert_eq!(edited(&blocked, &Edit::AllowServer), **text);
    }
}

#[test]
fn allowing_a_server_leaves_what_is_said_of_single_tools_and_the_limits_of_all() {
    let text = r#"{ "version": "1", "default": "allow", "hide": ["h"], "all_tools": { "action": "deny", "reason": "r", "deny_if": [ { "conditions": [] }, { "path": "args.p", "op": "eq", "value": 1 } ], "rate_limit": "5/minute" }, "tools": { "x": { "action": "deny" } } }"#;
    let open = edited(text, &Edit::AllowServer);
    assert_eq!(
        open,
        r#"{ "version": "1", "default": "allow", "hide": ["h"], "all_tools": { "deny_if": [ { "path": "args.p", "op": "eq", "value": 1 } ], "rate_limit": "5/minute" }, "tools": { "x": { "action": "deny" } } }"#
    );
    assert_eq!(decision(&open, "x"), "Denied /tools/x/action");
    assert_eq!(decision(&open, "h"), "Hidden /hide/0");
    assert_eq!(decision(&open, "y"), "/default 1");
    let again = edited(&open, &block_server(None));
    assert_eq!(decision(&again, "y"), "Denied /all_tools/action");
}

#[test]
fn a_tool_of_a_blocked_server_can_be_capped_only_if_it_is_open_without_the_block() {
    let blocked = |default: &str| {
        format!(r#"{{ "version": "1", "default": "{default}", "all_tools": {{ "action": "deny" }} }}"#)
    };
    let capped = edited(&blocked("allow"), &cap("x", 5));
    assert_eq!(decision(&capped, "x"), "Denied /all_tools/action");
    assert_eq!(decision(&edited(&capped, &Edit::AllowServer), "x"), "/tools/x 1");
    assert!(matches!(apply(&blocked("deny"), &cap("x", 5)), Err(EditError::NotAllowed { .. })));
}

#[test]
fn a_tool_that_a_pattern_denies_is_allowed_by_a_rule_of_its_own() {
    let text = r#"{ "version": "1", "default": "allow", "tools": { "x*": { "action": "deny" } } }"#;
    let open = edited(text, &allow("xy"));
    assert_eq!(decision(&open, "xy"), "/tools/xy 0");
    assert_ne!(decision(&open, "xz"), "/default 0");
}

/// Is a call of the tool refused before and after every rule that ends?
fn refused_at_all_times(text: &str, client: &str, tool: &str) -> bool {
    let policy = Policy::parse(text).unwrap();
    // 2020-01-01 and 2100-01-01 lie between these moments.
    [i64::MIN, 1_600_000_000_000, 5_000_000_000_000, i64::MAX].into_iter().all(|now_ms| {
        let circumstances = Circumstances { now_ms, ..Circumstances::timeless() };
        matches!(policy.judge(&Call::tool(client, tool, None), &circumstances), Judgement::Refuse(_))
    })
}

const PAST_AND_FUTURE: [&str; 2] = ["2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"];

#[test]
fn a_blocked_tool_is_not_let_through_by_the_end_of_its_rule() {
    for until in PAST_AND_FUTURE {
        for action in ["", r#", "action": "deny""#] {
            let text = format!(
                r#"{{ "version": "1", "default": "allow", "tools": {{ "x": {{ "until": "{until}"{action} }} }} }}"#
            );
            assert!(!refused_at_all_times(&text, "c", "x"));
            assert!(refused_at_all_times(&edited(&text, &block("x")), "c", "x"), "{text}");
            let said = apply(&text, &block("x")).unwrap().summary.join("\n");
            assert!(
                said.contains(&format!("the rule no longer ends by itself (\"until\" was {until:?})")),
                "{said}"
            );
        }
        let server = format!(
            r#"{{ "version": "1", "default": "allow", "all_tools": {{ "until": "{until}", "mode": "observe" }}, "tools": {{ "x": {{}} }} }}"#
        );
        let blocked = edited(&server, &block_server(None));
        assert!(
            refused_at_all_times(&blocked, "c", "x") && refused_at_all_times(&blocked, "c", "y"),
            "{blocked}"
        );
        let said = apply(&server, &block_server(None)).unwrap().summary.join("\n");
        assert!(said.contains("no longer ends") && said.contains("no longer only observed"), "{said}");
    }
}

#[test]
fn a_blocked_tool_is_not_only_observed_by_its_own_rule() {
    let text = r#"{ "version": "1", "default": "allow", "tools": { "x": { "mode": "observe" } } }"#;
    for edit in [block("x"), hide("x")] {
        assert!(refused_at_all_times(&edited(text, &edit), "c", "x"), "{edit:?}");
        let said = apply(text, &edit).unwrap().summary;
        assert!(said.contains(&"the rule is no longer only observed".to_owned()), "{said:?}");
    }
}

#[test]
fn a_rule_of_its_own_does_not_put_a_tool_on_record_that_a_pattern_kept_off_it() {
    for (kept, text) in [
        ("none", r#"{ "version": "1", "default": "allow", "tools": { "mail_*": { "record": "none" } } }"#),
        ("keys", r#"{ "version": "1", "default": "allow", "tools": { "*": { "record": "keys" } } }"#),
    ] {
        for edit in [block("mail_send"), cap("mail_send", 5), allow("mail_send")] {
            let after = edited(text, &edit);
            let (old, new) = (Policy::parse(text).unwrap(), Policy::parse(&after).unwrap());
            assert_eq!(compare::loosened(&old, &new), Vec::<String>::new(), "{edit:?} {after}");
            let said = format!("\"record\": \"{kept}\"");
            assert_eq!(after.matches(&said).count(), if after == text { 1 } else { 2 }, "{after}");
        }
    }
    // What is wanted for every tool is not said again.
    let all = r#"{ "version": "1", "default": "allow", "record": "none" }"#;
    assert_eq!(edited(all, &block("x")).matches("record").count(), 1);
}

#[test]
fn a_block_that_is_only_observed_from_above_says_so() {
    let everyone = [
        r#"{ "version": "1", "default": "allow", "mode": "observe" }"#,
        r#"{ "version": "1", "default": "allow", "tools": {}, "all_tools": { "mode": "observe", "until": "2100-01-01T00:00:00Z" } }"#,
    ];
    for text in everyone {
        for edit in [block("x"), hide("x")] {
            let said = apply(text, &edit).unwrap().summary;
            assert_eq!(
                said.last().unwrap(),
                "but \"x\" is only observed: the policy refuses nothing here until its \"mode\" is changed"
            );
            edited(text, &edit);
        }
    }
    let said = |text: &str| apply(text, &block_server(None)).unwrap().summary.join("\n");
    assert!(said(everyone[0]).contains("but the block is only observed: the policy refuses nothing here"));
    assert!(!said(everyone[1]).contains("but "), "its own mode was taken out");
    let client = r#"{ "version": "1", "default": "allow", "clients": { "cur*": { "mode": "observe" } } }"#;
    for edit in [block("x"), block_server(None)] {
        let blocked = apply(client, &edit).unwrap();
        assert!(blocked.summary.join("\n").contains("only observed for the client \"cur*\""), "{blocked:?}");
        assert!(refused_at_all_times(&blocked.text, "c", "x"));
    }
    let tool = r#"{ "version": "1", "default": "allow", "tools": { "x": { "mode": "observe" } } }"#;
    assert!(said(tool).contains("but \"x\" is only observed by its own rule"), "{}", said(tool));
}

#[test]
fn a_cap_does_not_bring_back_a_tool_whose_pattern_has_ended() {
    for until in PAST_AND_FUTURE {
        let text = format!(
            r#"{{ "version": "1", "default": "deny", "tools": {{ "x*": {{ "until": "{until}" }} }} }}"#
        );
        assert!(matches!(apply(&text, &cap("xy", 5)), Err(EditError::NotAllowed { .. })), "{text}");
    }
    // Refused only between two moments.
    let between = r#"{ "version": "1", "default": "allow", "tools": { "xy*": { "until": "2020-01-01T00:00:00Z" }, "x*": { "action": "deny", "until": "2100-01-01T00:00:00Z" } } }"#;
    assert!(matches!(apply(between, &cap("xyz", 5)), Err(EditError::NotAllowed { .. })));
}

fn is_refused(text: &str, tool: &str) -> bool {
    let refused = decision(text, tool);
    refused.starts_with("Denied") || refused.starts_with("Hidden")
}

/// Rules for names of their own, which patterns do not reach by themselves.
const OWN_RULES: &str = r#"{
  "version": "1",
  "default": "allow",
  "tools": {
    "write_file": { "limits": [ { "counter": "own", "window": "minute", "max": 2 } ] }
  }
}
"#;

#[test]
fn a_blocked_pattern_blocks_every_tool_that_fits_also_one_with_a_rule_of_its_own() {
    let blocked = apply(OWN_RULES, &block("write_*")).unwrap();
    for tool in ["write_file", "write_x", "write_"] {
        assert!(is_refused(&blocked.text, tool), "{tool}: {}", blocked.text);
    }
    assert!(!is_refused(&blocked.text, "read_file"));
    assert!(!blocked.summary.iter().any(|line| line.starts_with("but ")), "{:?}", blocked.summary);
    let allowed = apply(&blocked.text, &Edit::Allow { tool: "write_*".to_owned() }).unwrap();
    assert_eq!(allowed.text, OWN_RULES, "allow is its inverse");
    // A rule for more of the name takes its tools away, and that is said.
    let more =
        OWN_RULES.replace("\"tools\": {", "\"tools\": { \"*_link\": { \"rate_limit\": \"9/minute\" },");
    let shorter = apply(&more, &block("w*")).unwrap();
    assert!(shorter.summary.iter().any(|line| line.contains("\"*_link\"")), "{:?}", shorter.summary);
    let hidden = apply(OWN_RULES, &Edit::Hide { tool: "write_*".to_owned() }).unwrap();
    assert!(
        is_refused(&hidden.text, "write_file") && is_refused(&hidden.text, "write_link"),
        "{}",
        hidden.text
    );
    let shown = apply(&hidden.text, &Edit::Allow { tool: "write_*".to_owned() }).unwrap();
    assert_eq!(shown.text, OWN_RULES);
}

#[test]
fn a_hidden_pattern_is_hidden_though_its_own_text_would_be_hidden_as_a_tool() {
    for (text, tool) in [
        // A tool of this name is not listed, and so hidden; those that fit are.
        (
            r#"{ "version": "1", "default": "deny", "unlisted": "hide", "tools": { "write_file": {} } }"#,
            "write_file",
        ),
        (r#"{ "version": "1", "default": "allow", "hide": ["*_?"] }"#, "write_file"),
        (r#"{ "version": "1", "default": "allow", "hide": ["write_x"] }"#, "write_file"),
    ] {
        assert!(!is_refused(text, tool), "{text}");
        let hidden = edited(text, &hide("write_*"));
        assert!(is_refused(&hidden, tool), "{hidden}");
    }
    for text in [
        r#"{ "version": "1", "default": "allow", "hide": ["write_*"] }"#,
        r#"{ "version": "1", "default": "allow", "hide": ["w*"] }"#,
    ] {
        assert!(!apply(text, &hide("write_*")).unwrap().changed, "{text}");
    }
}

#[test]
fn a_block_that_is_there_already_says_that_it_is_only_observed() {
    let there = r#"{ "version": "1", "default": "allow", "mode": "observe", "hide": ["y"], "tools": { "x": { "action": "deny" } } }"#;
    for edit in [block("x"), hide("y")] {
        let again = apply(there, &edit).unwrap();
        assert!(!again.changed);
        assert!(
            again.summary.join("\n").contains("is only observed: the policy refuses nothing"),
            "{again:?}"
        );
    }
}

#[test]
fn a_blocked_pattern_says_which_of_its_tools_are_only_observed_for_a_client() {
    let text = r#"{ "version": "1", "default": "allow",
        "clients": { "cursor": { "tools": { "write_file": { "mode": "observe" }, "read_file": { "mode": "observe" } } } } }"#;
    for edit in [block("write_*"), hide("write_*")] {
        let said = apply(text, &edit).unwrap().summary.join("\n");
        assert!(said.contains("but \"write_file\" is only observed for the client \"cursor\""), "{said}");
        assert!(!said.contains("read_file") && !said.contains("but \"write_*\""), "{said}");
    }
}

#[test]
fn a_cap_must_not_let_out_a_tool_that_is_hidden_because_nothing_lists_it() {
    let text = r#"{ "version": "1", "default": "deny", "unlisted": "hide", "tools": { "x": {} } }"#;
    assert!(matches!(apply(text, &cap("y", 5)), Err(EditError::NotAllowed { .. })));
    let hidden =
        r#"{ "version": "1", "default": "deny", "unlisted": "hide", "hide": ["y"], "tools": { "x": {} } }"#;
    assert!(is_refused(&edited(hidden, &cap("y", 5)), "y"));
}

#[test]
fn a_capped_pattern_counts_all_its_tools_together() {
    let capped = apply(OWN_RULES, &cap("write_*", 10)).unwrap();
    let policy = Policy::parse(&capped.text).unwrap();
    for tool in ["write_file", "write_x"] {
        let Judgement::Pass(pass) = policy.judge(&Call::tool("c", tool, None), &Circumstances::timeless())
        else {
            panic!("{tool} is refused")
        };
        assert!(
            pass.limits.iter().any(|taking| taking.limit.counter == "write_*_cap"),
            "{tool}: {}",
            capped.text
        );
    }
    let uncapped = apply(&capped.text, &Edit::Uncap { tool: "write_*".to_owned() }).unwrap();
    assert_eq!(uncapped.text, OWN_RULES);
    assert!(
        matches!(
            apply(r#"{"version":"1","default":"deny"}"#, &cap("a*", 1)),
            Err(EditError::NotAllowed { .. })
        ),
        "a limit lists its tools, and listed is allowed"
    );
}

#[test]
fn allowing_a_tool_for_everyone_takes_back_what_was_blocked_for_single_clients() {
    let text = r#"{ "version": "1", "default": "allow" }"#;
    let mut blocked = text.to_owned();
    for client in ["cursor", "claude-desktop"] {
        blocked = apply_for(&blocked, Some(client), &block("x")).unwrap().text;
    }
    let allowed = apply(&blocked, &Edit::Allow { tool: "x".to_owned() }).unwrap();
    assert_eq!(allowed.text, text);
    let whole = apply_for(text, Some("cursor"), &Edit::BlockServer { reason: None }).unwrap();
    assert_eq!(apply(&whole.text, &Edit::AllowServer).unwrap().text, text);
}
