//! What the table of tools says.

use callgate_desk::view::{
    Action, ErrorCode, Restriction, RulesView, ServerState, Severity, Target, ToolRule, ToolState, UiError,
};
use callgate_policy::Policy;

use crate::world::{SERVER, World};

const POLICY: &str = r#"{
  // the shop
  "version": "1",
  "default": "deny",
  "hide": ["wipe", "secret_*"],
  "all_tools": { "limits": [ { "counter": "all", "window": "minute", "max": 60, "scope": "session" } ] },
  "tools": {
    "get": {},
    "get_*": { "limits": [ { "window": "minute", "max": 10 } ] },
    "buy": { "require": [ { "path": "args.sum", "op": "lte", "value": 5 } ] },
    "pay": { "action": "ask" },
    "sell": { "action": "deny", "reason": "not yours", "record": "none" },
    "drop": { "action": "deny", "reason": "no" }
  },
  "clients": { "cursor": { "tools": { "get": { "action": "deny" } } } }
}
"#;

fn row<'v>(view: &'v RulesView, name: &str) -> &'v ToolRule {
    view.tools.iter().find(|tool| tool.name == name).unwrap()
}

#[test]
fn every_tool_is_in_the_table_with_its_state_and_where_that_comes_from() {
    let mut world = World::with(POLICY);
    world.lists(&[
        ("get", r#"{"name":"get","description":"Gets one."}"#),
        ("get_all", "{}"),
        ("secret_key", "{}"),
        ("new", "{}"),
    ]);
    let policy = Policy::parse(POLICY).unwrap();
    let mut session = world.session("claude-ai");
    session.call(&policy, "get", "{}");
    world.advance(60);
    session.call(&policy, "made up", "{}");
    session.call(&policy, "drop", "{}");
    world.advance(60);
    session.call(&policy, "drop", "{}");
    session.end();
    let view = world.desk.rules(SERVER).unwrap();
    assert!(view.own && !view.observing);
    assert_eq!(view.default_action, Action::Deny);
    assert_eq!(view.version.as_deref(), Some(policy.version()));
    assert_eq!(view.clients, ["claude-ai", "cursor"]);
    assert_eq!(view.counted_since_ms, None);
    assert_eq!(view.for_all.as_ref().unwrap().words, "at most 60 calls per minute, per session");
    let expected = [
        ("get_*", ToolState::Cap, "at most 10 calls per minute, per client", "its own rule"),
        ("secret_*", ToolState::Hide, "hidden", "its own rule"),
        ("buy", ToolState::Custom, "required that args.sum is at most 5", "its own rule"),
        ("drop", ToolState::Deny, "denied: \"no\"", "its own rule"),
        ("get", ToolState::Allow, "allowed", "its own rule"),
        ("get_all", ToolState::Cap, "at most 10 calls per minute, per client", "the pattern get_*"),
        ("made up", ToolState::Deny, "denied", "the default"),
        ("new", ToolState::Deny, "denied", "the default"),
        ("pay", ToolState::Ask, "asked about", "its own rule"),
        ("secret_key", ToolState::Hide, "hidden", "the pattern secret_*"),
        (
            "sell",
            ToolState::Deny,
            "denied: \"not yours\"; neither arguments nor results are recorded",
            "its own rule",
        ),
        ("wipe", ToolState::Hide, "hidden", "its own rule"),
    ];
    let shown: Vec<_> = view
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.state, tool.words.as_str(), tool.from.as_str()))
        .collect();
    assert_eq!(shown, expected);
    let (get, drop, sell) = (row(&view, "get"), row(&view, "drop"), row(&view, "sell"));
    assert!(get.listed && get.draft.is_some() && !get.pattern && row(&view, "get_*").pattern);
    assert_eq!(get.description.as_deref(), Some("Gets one."));
    assert_eq!((get.calls, get.hits, get.last_hit_ms), (1, 0, None));
    assert_eq!((drop.calls, drop.hits), (2, 2));
    assert_eq!(drop.last_hit_ms.unwrap() - get.last_call_ms.unwrap(), 120_000);
    assert!(sell.draft.is_none(), "the form cannot hold what is kept of it");
    let [for_cursor] = get.clients.as_slice() else { panic!("{:?}", get.clients) };
    assert_eq!((for_cursor.client.as_str(), for_cursor.state), ("cursor", ToolState::Deny));
}

#[test]
fn a_block_of_all_tools_is_shown_at_every_tool() {
    let text =
        r#"{"version":"1","default":"allow","all_tools":{"action":"deny","reason":"stop"},"tools":{"x":{}}}"#;
    let view = World::with(text).desk.rules(SERVER).unwrap();
    let x = row(&view, "x");
    assert_eq!(
        (x.state, x.words.as_str(), x.from.as_str()),
        (ToolState::Deny, "denied: \"stop\"", "the rule for all tools",)
    );
    assert_eq!(x.draft.as_ref().unwrap().action, Action::Allow, "its own rule is still its own");
}

#[test]
fn what_a_person_decides_is_a_state_of_its_own_however_it_is_written() {
    let text = r#"{"version":"1","default":"ask","tools":{"open":{"ask_if":[{"path":"args.url","op":"regex","value":"^http:"}]},
        "read":{},"all":{"ask_if":[{"conditions":[]}]},"gone":{"action":"deny"}}}"#;
    let mut world = World::with(text);
    world.session("cursor").end();
    world.lists(&[("new", "{}")]);
    let view = world.desk.rules(SERVER).unwrap();
    let states: Vec<_> = view.tools.iter().map(|tool| (tool.name.as_str(), tool.state)).collect();
    let (ask, custom) = (ToolState::Ask, ToolState::Custom);
    let expected =
        [("all", ask), ("gone", ToolState::Deny), ("new", ask), ("open", custom), ("read", ToolState::Allow)];
    assert_eq!(states, expected);
    assert!(row(&view, "open").draft.is_some(), "the form holds when it is asked about");
    let summary = world.desk.rules_summary().unwrap();
    let one = summary.iter().find(|one| one.server == SERVER).unwrap();
    assert_eq!((one.asked, one.denied, one.custom), (2, 1, 1), "asked about is not denied");
    world.write(
        &text.replace("\"default\":\"ask\"", "\"default\":\"allow\",\"all_tools\":{\"action\":\"ask\"}"),
    );
    let view = world.desk.rules(SERVER).unwrap();
    assert_eq!((row(&view, "read").state, row(&view, "gone").state), (ask, ToolState::Deny));
    assert_eq!(row(&view, "read").from, "the rule for all tools");
}

#[test]
fn a_broken_policy_is_shown_with_what_is_wrong() {
    let world = World::with("{\"version\": \"1\",\n \"default\": \"alow\"}");
    let view = world.desk.rules(SERVER).unwrap();
    assert!(view.version.is_none() && view.tools.is_empty());
    assert_eq!(view.default_action, Action::Deny);
    let [only] = view.diagnostics.as_slice() else { panic!("{:?}", view.diagnostics) };
    assert_eq!((only.line, only.severity, only.pointer.as_deref()), (2, Severity::Error, Some("/default")));
}

#[test]
fn a_policy_that_cannot_be_read_is_a_diagnostic_too() {
    let world = World::new();
    std::fs::create_dir(world.home.policy(SERVER)).unwrap();
    let view = world.desk.rules(SERVER).unwrap();
    assert!(view.own && view.text.is_empty() && view.tools.is_empty());
    assert!(view.diagnostics[0].message.contains("cannot be read"), "{:?}", view.diagnostics);
}

#[test]
fn a_server_without_a_policy_has_the_default_ones_rules_and_an_unknown_one_none() {
    let mut world = World::new();
    let error = UiError::from(world.desk.rules("nobody").unwrap_err());
    assert_eq!(error.code, ErrorCode::NotFound, "{}", error.message);
    world.session("claude-ai").end();
    let view = world.desk.rules(SERVER).unwrap();
    assert!(!view.own && view.path.ends_with("_default.json"));
    assert_eq!(
        (view.default_action, view.clients.as_slice()),
        (Action::Allow, &["claude-ai".to_owned()][..])
    );
    assert!(view.for_all.is_some_and(|all| all.draft.is_none()), "its limit has words of its own");
}

#[test]
fn names_that_an_agent_makes_up_do_not_flood_the_table() {
    let mut world = World::with(r#"{"version":"1","default":"deny"}"#);
    let policy = Policy::parse(&world.text()).unwrap();
    let mut session = world.session("x");
    for i in 0..600 {
        world.advance(1);
        session.call(&policy, &format!("tool{i}"), "{}");
    }
    session.end();
    let view = world.desk.rules(SERVER).unwrap();
    assert_eq!(view.tools.len(), 500);
    assert!(view.tools.iter().any(|tool| tool.name == "tool599"), "the newest are there");
}

#[test]
fn a_blocked_tool_reads_as_denied_also_if_its_calls_are_kept_off_the_record() {
    let world = World::with(
        r#"{
  "version": "1",
  "default": "allow",
  "hide": ["gone"],
  "tools": {
    "pay_*": { "record": "none" },
    "gone": { "record": "keys" },
    "few": { "record": "keys", "limits": [ { "window": "minute", "max": 10 } ] },
    "asked": { "action": "ask", "record": "keys", "pin": "enforce" },
    "pinned": { "action": "deny", "pin": "enforce" },
    "watched": { "action": "deny", "mode": "observe" },
    "for_now": { "action": "deny", "until": "2099-01-01T00:00:00Z" }
  }
}"#,
    );
    let target = Target { server: SERVER.to_owned(), tool: Some("pay_all".to_owned()), client: None };
    world.desk.restrict(&Restriction::Block { target, reason: None }).unwrap();
    let view = world.desk.rules(SERVER).unwrap();
    assert!(view.diagnostics.iter().all(|one| one.severity != Severity::Error), "{:?}", view.diagnostics);
    assert_eq!(view.text.matches("\"none\"").count(), 2, "still off the record: {}", view.text);
    let expected = [
        ("pay_all", ToolState::Deny),
        ("pay_*", ToolState::Allow),
        ("gone", ToolState::Hide),
        ("few", ToolState::Cap),
        ("asked", ToolState::Ask),
        ("pinned", ToolState::Deny),
        ("watched", ToolState::Custom),
        ("for_now", ToolState::Custom),
    ];
    for (tool, state) in expected {
        assert_eq!(row(&view, tool).state, state, "{tool}");
    }
    assert_eq!(row(&view, "pay_all").draft, None, "a form would lose what it says of the record");
}

#[test]
fn a_tool_that_a_client_may_not_call_says_so_however_that_is_written() {
    let world = World::with(
        r#"{"version":"1","default":"allow","tools":{"get":{}},"clients":{
            "cursor":{"tools":{"get":{"action":"deny"}}},
            "zed":{"all_tools":{"action":"deny","reason":"not here"}},
            "cody":{"default":"deny"},
            "claude":{"tools":{"put":{"action":"deny"}}}}}"#,
    );
    world.lists(&[("get", "{}"), ("new", "{}")]);
    let view = world.desk.rules(SERVER).unwrap();
    let refused = |name: &str| -> Vec<&str> {
        let clients = row(&view, name).clients.iter();
        clients.filter(|rule| rule.state == ToolState::Deny).map(|rule| rule.client.as_str()).collect()
    };
    assert_eq!(row(&view, "get").state, ToolState::Allow);
    assert_eq!(refused("get"), ["cursor", "zed"]);
    assert_eq!(refused("new"), ["zed", "cody"]);
    let zed = row(&view, "get").clients.iter().find(|rule| rule.client == "zed").unwrap();
    assert_eq!(zed.words, "denied: \"not here\"");
}

#[test]
fn the_overview_lists_the_default_policy_and_servers_that_never_ran() {
    let mut world = World::with(
        r#"{"version": "1", "default": "allow", "hide": ["h"], "tools": {"x": {"action": "deny"}}}"#,
    );
    world.lists(&[("x", "{}"), ("y", "{}"), ("h", "{}")]);
    world.session("cursor").end();
    std::fs::write(
        world.home.path().join("servers.json"),
        r#"{"mcpServers": {"waiting": {"command": "node"}}}"#,
    )
    .unwrap();
    let rows = world.desk.rules_summary().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row.server.as_str()).collect();
    assert_eq!(names, ["_default", SERVER, "waiting"]);
    let [default, shop, waiting] = rows.as_slice() else { panic!() };
    assert!(default.is_default && default.own);
    assert_eq!(default.followers, 1, "the one without a policy of its own");
    assert_eq!((shop.own, shop.tools, shop.denied, shop.hidden, shop.capped), (true, 3, 1, 1, 0));
    assert_eq!((waiting.own, waiting.state), (false, ServerState::NeverStarted));
    // And its rules can be opened before it ever ran.
    assert!(!world.desk.rules("waiting").unwrap().own);
}
