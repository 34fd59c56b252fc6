//! Where a person is asked, as far as it is known before there is a call.
#![expect(clippy::unwrap_used, reason = "tests")]

use callgate_policy::{AskedIn, Policy, Questioned};

const NOW_MS: i64 = 1_772_388_000_000;

fn questioned(policy: &str, client: &str, tool: &str) -> Option<Questioned> {
    Policy::parse(policy).unwrap().questioned(client, tool, NOW_MS)
}

#[test]
fn a_tool_is_questioned_where_the_nearest_rule_says() {
    let policy = r#"{ "version": "1", "default": "allow", "ask": { "where": "callgate" }, "hide": ["hidden"],
        "all_tools": { "ask_if": [ { "path": "args.all", "op": "exists" } ] },
        "tools": {
            "a": { "action": "ask" },
            "b": { "action": "ask", "ask": { "where": "client" } },
            "c*": { "action": "ask", "ask": { "where": "both" } },
            "d": { "action": "deny" }, "hidden": { "action": "ask" },
            "e": { "action": "ask", "mode": "observe" },
            "f": { "action": "ask", "until": "2026-01-01T00:00:00Z" } },
        "clients": { "strict": { "ask": { "where": "both" } }, "mild": { "ask": { "where": "client" } } } }"#;
    let always = |asked_in| Some(Questioned { always: true, asked_in });
    let sometimes = |asked_in| Some(Questioned { always: false, asked_in });
    for (client, tool, expected) in [
        ("x", "a", always(AskedIn::Callgate)),
        ("x", "b", always(AskedIn::Client)),
        ("x", "c1", always(AskedIn::Both)),
        ("x", "d", None),
        ("x", "hidden", None),
        ("x", "A", None),
        ("x", "e", None),
        ("x", "f", sometimes(AskedIn::Callgate)),
        ("x", "other", sometimes(AskedIn::Callgate)),
        ("strict", "a", always(AskedIn::Both)),
        ("strict", "b", always(AskedIn::Both)),
        ("mild", "a", always(AskedIn::Callgate)),
    ] {
        assert_eq!(questioned(policy, client, tool), expected, "{client} {tool}");
    }
}

#[test]
fn what_is_not_said_is_callgate_and_the_client_where_nobody_could_decide() {
    let policy = r#"{ "version": "1", "default": "ask", "tools": { "a": {} },
        "clients": { "mild": { "ask": { "where": "client" } }, "strict": { "ask": { "where": "callgate" } } } }"#;
    let at = |client| questioned(policy, client, "x").map(|said| said.asked_in);
    assert_eq!(
        [at("x"), at("mild"), at("strict")],
        [AskedIn::Either, AskedIn::Either, AskedIn::Callgate].map(Some)
    );
    assert_eq!(questioned(policy, "x", "a"), None, "a listed tool is allowed");
    let quiet = r#"{ "version": "1", "default": "allow", "ask": { "where": "client" } }"#;
    assert!(!Policy::parse(quiet).unwrap().speaks_of_asking());
}
