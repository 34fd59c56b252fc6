//! What rows of the log can offer: how their tools stand at this moment, not when they were called.

use callgate_controls::catalogue;
use callgate_journal::Decision;
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;

use crate::testing::Place;
use crate::view::{AccessQuery, Answer, Loosening, Restriction, Target, ToolAccess};

const POLICY: &str = r#"{"version":"1","default":"allow","tools":{
    "drop":{"action":"deny"},
    "send":{"limits":[{"counter":"send","window":"minute","max":3}]}
}}"#;

fn query(tool: &str, rule: Option<&str>) -> AccessQuery {
    AccessQuery {
        server: "files".to_owned(),
        client: Some("claude-ai".to_owned()),
        tool: Some(tool.to_owned()),
        rule: rule.map(str::to_owned),
    }
}

fn target(tool: &str) -> Target {
    let query = query(tool, None);
    Target { server: query.server, tool: query.tool, client: query.client }
}

fn confirm(place: &Place, loosening: &Loosening) {
    let Answer::Ask(question) = place.desk.loosen(loosening).unwrap() else {
        panic!("loosening is asked about")
    };
    place.desk.confirm(&question.token).unwrap();
}

#[test]
fn rows_know_what_is_blocked_capped_and_open_by_now() {
    let place = Place::new();
    place.write_policy("files", POLICY);
    let limit = Some("/tools/send/limits/0");
    let rows = [query("read", None), query("send", limit), query("drop", Some("/tools/drop"))];
    let kinds = || -> Vec<&'static str> {
        place
            .desk
            .access(&rows)
            .iter()
            .map(|access| match access {
                ToolAccess::Open => "open",
                ToolAccess::Ruled => "ruled",
                ToolAccess::Blocked(_) => "blocked",
                ToolAccess::Paused => "paused",
                ToolAccess::Unknown => "unknown",
            })
            .collect()
    };
    assert_eq!(kinds(), ["open", "ruled", "blocked"]);
    place.desk.restrict(&Restriction::Block { target: target("read"), reason: None }).unwrap();
    assert_eq!(kinds(), ["blocked", "ruled", "blocked"]);
    let everyone = Target { client: None, ..target("drop") };
    confirm(&place, &Loosening::Allow { target: everyone });
    assert_eq!(kinds(), ["blocked", "ruled", "open"], "what was denied and is allowed by now");
    place
        .desk
        .restrict(&Restriction::Pause { server: Some("files".to_owned()), client: None, reason: None })
        .unwrap();
    assert_eq!(kinds(), ["paused"; 3]);
    confirm(&place, &Loosening::Resume { server: None, client: None });
    place.write_policy("files", "{");
    assert_eq!(kinds(), ["unknown"; 3]);
}

#[test]
fn rows_of_a_paused_client_are_not_open() {
    let place = Place::new();
    place.write_policy("files", POLICY);
    for server in [Some("files".to_owned()), None] {
        let client = Some("claude-ai".to_owned());
        place.desk.restrict(&Restriction::Pause { server, client: client.clone(), reason: None }).unwrap();
        let other = AccessQuery { client: Some("cursor".to_owned()), ..query("read", None) };
        assert_eq!(place.desk.access(&[query("read", None), other]), [ToolAccess::Paused, ToolAccess::Open]);
        confirm(&place, &Loosening::Resume { server: None, client });
    }
}

#[test]
fn what_is_allowed_for_a_while_is_open_and_its_limits_go_on_counting() {
    let place = Place::new();
    place.write_policy("files", POLICY);
    let session = place.session("files");
    session.refused("drop", Decision::Denied, 1);
    let allow = |tool: &str| Loosening::AllowFor {
        server: "files".to_owned(),
        tool: tool.to_owned(),
        client: Some("claude-ai".to_owned()),
        seconds: 900,
    };
    confirm(&place, &allow("drop"));
    let rows = [query("drop", Some("/tools/drop")), query("send", Some("/tools/send/limits/0"))];
    assert_eq!(place.desk.access(&rows), [ToolAccess::Open, ToolAccess::Ruled]);
    let observe = Loosening::Observe {
        server: "files".to_owned(),
        client: Some("claude-ai".to_owned()),
        seconds: 1_800,
    };
    confirm(&place, &observe);
    assert_eq!(place.desk.access(&rows), [ToolAccess::Open, ToolAccess::Open]);
}

#[test]
fn a_tool_that_was_listed_and_never_called_can_be_chosen() {
    let place = Place::new();
    place.write_policy("tickets", POLICY);
    let session = place.session("tickets");
    session.calls("get_ticket", 1);
    let definition = Raw::parse(r#"{"name":"send_email"}"#).unwrap();
    catalogue::write(&place.home, &Masker::new(&[]), "tickets", 1, [("send_email", definition)]).unwrap();
    let tools: Vec<String> = place.desk.choices().unwrap().tools.into_iter().map(|one| one.tool).collect();
    assert_eq!(tools, ["get_ticket", "send_email"]);
}
