//! Edits of a policy file: what changes, and that nothing else does.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::num::NonZeroU32;

use callgate_policy::edit::{Edit, EditError, apply};
use callgate_policy::{Call, DEFAULT_POLICY, Judgement, Policy, Window, compare};

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
    assert_eq!(once.changed, !once.summary.is_empty(), "{:?}", once.summary);
    let twice = apply(&once.text, edit).unwrap();
    assert_eq!((twice.text.as_str(), twice.changed, twice.summary.len()), (once.text.as_str(), false, 0));
    once.text
}

fn decision(text: &str, tool: &str) -> String {
    match Policy::parse(text).unwrap().judge(&Call::tool("c", tool, None)) {
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
        ["\"x\": the cap was 10 per minute by grant, is now 11 per minute by grant"]
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
    assert!(matches!(apply(COMMENTED, &block("x*")), Err(EditError::NotATool(_))));
    assert!(matches!(apply(COMMENTED, &hide("a\nb")), Err(EditError::NotATool(_))));
    let hidden = r#"{ "version": "1", "default": "allow", "hide": ["*"] }"#;
    assert!(matches!(apply(hidden, &allow("x")), Err(EditError::StillRefused { .. })));
    let blocked = r#"{ "version": "1", "default": "allow", "all_tools": { "action": "deny" } }"#;
    assert!(matches!(apply(blocked, &allow("x")), Err(EditError::StillRefused { .. })));
    // Naming a tool takes it out of a pattern's reach: that would open it.
    let pattern = r#"{ "version": "1", "default": "allow", "tools": { "x*": { "action": "deny" } } }"#;
    assert!(apply(pattern, &cap("xy", 5)).is_err());
}
