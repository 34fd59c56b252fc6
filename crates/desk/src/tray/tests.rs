#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_controls::control::ServerCommand;

use super::*;
use crate::view::{Fix, IconState, Loosening, Need, Place, Restriction};

const NOW: i64 = 1_800_000_000_000;

fn overview() -> Overview {
    Overview {
        icon: IconState::Quiet,
        needs: Vec::new(),
        status: "1 server, 214 calls today, 2 refused".to_owned(),
        headline: "All quiet".to_owned(),
        unprotected: 0,
        servers_running: 1,
        sessions_running: 1,
        calls_today: 214,
        refused_today: 2,
        paused_all: false,
        paused_servers: Vec::new(),
        allowances: Vec::new(),
        recent: Vec::new(),
        alarms: Vec::new(),
        first_run: false,
        demo_running: false,
        ask_login: false,
    }
}

fn line(tool: &str, decision: Decision, outcome: Option<Outcome>) -> CallLine {
    CallLine {
        rev: 7,
        id: "k3f9x2ab-7".to_owned(),
        at_ms: NOW,
        server: "browser".to_owned(),
        client: Some("claude-desktop".to_owned()),
        session: "k3f9x2ab".to_owned(),
        tool: Some(tool.to_owned()),
        method: Some("tools/call".to_owned()),
        class: None,
        gist: String::new(),
        decision,
        refused: false,
        rule: None,
        reason: None,
        outcome,
        duration_us: None,
        bytes: 0,
        demo: false,
        times: 1,
        first_rev: 7,
        first_ms: NOW,
        tools: Vec::new(),
        fold_key: None,
        repeatable: false,
    }
}

fn server(name: &str, protection: Protection) -> ServerView {
    ServerView {
        name: name.to_owned(),
        state: ServerState::Running,
        protection,
        problem: None,
        command: Vec::new(),
        sessions: Vec::new(),
        calls_today: 1,
        refused_today: 0,
        calls_last_hour: 0,
        last_call_ms: None,
        last_error: None,
        last_error_ms: None,
        tools: 0,
        codegen: false,
        added: false,
    }
}

/// The menu as a person reads it: `[…]` is a line to read.
fn drawn(items: &[MenuItem], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    items
        .iter()
        .map(|item| match item {
            MenuItem::Label(text) => format!("{indent}[{text}]\n"),
            MenuItem::Entry { text, .. } => format!("{indent}{text}\n"),
            MenuItem::Submenu { text, items } => format!("{indent}{text} >\n{}", drawn(items, depth + 1)),
            MenuItem::Separator => format!("{indent}--\n"),
        })
        .collect()
}

fn acts(items: &[MenuItem]) -> Vec<TrayAct> {
    let mut found = Vec::new();
    for item in items {
        match item {
            MenuItem::Entry { act, .. } => found.push(act.clone()),
            MenuItem::Submenu { items, .. } => found.extend(acts(items)),
            MenuItem::Label(_) | MenuItem::Separator => {}
        }
    }
    found
}

fn full() -> (Overview, Vec<ServerView>) {
    let mut overview = overview();
    overview.needs = vec![
        Need {
            words: "Calls to files are paused".to_owned(),
            fix: Some(Fix::Resume { server: Some("files".to_owned()), client: None }),
            server: Some("files".to_owned()),
            serious: true,
        },
        Need {
            words: "settings.json cannot be understood".to_owned(),
            fix: Some(Fix::OpenSettings),
            server: None,
            serious: false,
        },
    ];
    overview.paused_servers = vec!["files".to_owned()];
    overview.recent = vec![
        CallLine { times: 412, ..line("playwright_click", Decision::Capped, Some(Outcome::NotSent)) },
        line("playwright_navigate", Decision::Denied, Some(Outcome::NotSent)),
        CallLine {
            method: Some("resources/read".to_owned()),
            ..line("file:///a", Decision::Allowed, Some(Outcome::Ok))
        },
        line("read", Decision::Allowed, None),
        line("read", Decision::Allowed, Some(Outcome::ToolError)),
    ];
    overview.allowances = vec![AllowanceView {
        id: "a1".to_owned(),
        server: "browser".to_owned(),
        tool: Some("playwright_delete".to_owned()),
        client: Some("cursor".to_owned()),
        words: "playwright_delete on browser is allowed for cursor".to_owned(),
        ends_ms: NOW + 11 * 60_000 + 1,
    }];
    overview.alarms = vec![Alarm {
        server: "browser".to_owned(),
        client: None,
        tool: Some("read".to_owned()),
        per_minute: 90,
        usual_per_minute: 4,
        since_ms: NOW,
        words: "read on browser: 90 calls a minute, usually 4".to_owned(),
    }];
    (overview, vec![server("browser", Protection::WatchOnly), server("files", Protection::Paused)])
}

fn approval(nth: usize) -> ApprovalView {
    ApprovalView {
        id: format!("k3v9q{nth}"),
        call: "k3f9x2-7".to_owned(),
        server: "files".to_owned(),
        client: "claude-desktop".to_owned(),
        tool: format!("write_{nth}\u{202e}"),
        class: None,
        rule: "/tools/write/action".to_owned(),
        reason: "look twice".to_owned(),
        difference: None,
        arguments: Some("{}".to_owned()),
        arguments_bytes: 2,
        complete: true,
        masked: 0,
        compared: None,
        opened_ms: NOW,
        expires_ms: NOW,
        held_until_ms: None,
        in_background: false,
        asked: 1,
        approved_lately: 0,
        denied_lately: 0,
        state: crate::view::ApprovalState::Open,
        decided_ms: None,
        decided_by: None,
        words: None,
        in_conversation: false,
    }
}

#[test]
fn the_menu_says_what_the_tool_of_a_waiting_call_and_of_a_recent_one_can_do() {
    let class = Some(crate::view::ClassBadge {
        class: crate::view::RiskClass::Destructive,
        severity: crate::view::RiskSeverity::Critical,
        confidence: crate::view::Confidence::High,
        corrected: false,
    });
    let waits = waiting(&ApprovalView { class, tool: "drop".to_owned(), ..approval(0) });
    let MenuItem::Submenu { text, .. } = waits else { panic!("{waits:?}") };
    assert_eq!(text, "drop on files waits, for Claude Desktop (Destructive, critical)");
    let called = call(&CallLine { class, ..line("drop", Decision::Denied, None) }, None);
    let MenuItem::Submenu { items, .. } = called else { panic!("{called:?}") };
    assert_eq!(items.first(), Some(&MenuItem::Label("Destructive, critical".to_owned())));
}

#[test]
fn calls_that_wait_can_be_denied_in_the_menu_and_grants_revoked_and_neither_fills_the_screen() {
    let grant = |nth: usize| GrantView {
        id: format!("g3v9q{nth}"),
        server: "files".to_owned(),
        client: "cursor".to_owned(),
        tool: "read_file".to_owned(),
        also: Vec::new(),
        words: "until the client restarts, in all of its chats".to_owned(),
        ends_ms: NOW + 90_000,
        calls_left: 9,
    };
    let approvals = ApprovalsView {
        open: (0..7).map(approval).collect(),
        ended: Vec::new(),
        grants: (0..2).map(grant).collect(),
    };
    let items =
        menu(&overview(), &[], &approvals, &Access::new(), &Memory::new(), &Recorded::new(), NOW).items;
    let drawn = drawn(&items, 0);
    let first =
        "write_0\\u{202e} on files waits, for Claude Desktop >\n  [look twice]\n  Open…\n  Deny write_0";
    assert!(drawn.contains(first), "{drawn}");
    assert!(drawn.contains("and 2 more…") && !drawn.contains("write_5"), "{drawn}");
    let granted = "read_file approved for Cursor for 2 more min >\n  [until the client restarts, in all of its chats]\n  Revoke\n";
    assert!(drawn.contains(granted), "{drawn}");
    let acts = acts(&items);
    assert!(acts.contains(&TrayAct::Deny { id: "k3v9q4".to_owned() }));
    assert!(acts.contains(&TrayAct::Revoke { id: "g3v9q1".to_owned() }));
    assert!(!acts.iter().any(|act| matches!(act, TrayAct::Approve { .. })), "a menu shows no arguments");
    assert_eq!(TrayAct::Revoke { id: "g".to_owned() }.step(), Step::Revoke("g".to_owned()));
}

#[test]
fn the_menu_says_what_needs_a_person_first_and_offers_everything_else_below() {
    let (overview, servers) = full();
    let time = local(NOW).strftime("%H:%M").to_string();
    let expected = format!(
        "\
[Calls to files are paused]
Resume files…
[settings.json cannot be understood]
Open the settings
read on browser: 90 calls a minute, usually 4 >
  Pause browser
  Cap read at 6 a minute
--
[1 server, 214 calls today, 2 refused]
--
{time} playwright_click: capped × 412 >
  Why
  Block playwright_click for Claude Desktop
  Cap playwright_click for Claude Desktop
{time} playwright_navigate: denied >
  Why
  Block playwright_navigate for Claude Desktop
  Cap playwright_navigate for Claude Desktop
{time} resources/read file:///a: allowed >
  Why
{time} read: running >
  Why
  Block read for Claude Desktop
  Cap read for Claude Desktop
{time} read: tool error >
  Why
  Block read for Claude Desktop
  Cap read for Claude Desktop
--
playwright_delete allowed for Cursor for 12 more min >
  [playwright_delete on browser is allowed for cursor]
  End now
--
browser: running, watch-only >
  [1 call today]
  Stop
  Restart
  Pause server
  Rules
files: paused >
  [1 call today]
  Stop
  Restart
  Resume server…
  Rules
--
Pause all
Stop everything
Open Callgate
Settings
Quit
"
    );
    assert_eq!(
        drawn(
            &menu(
                &overview,
                &servers,
                &ApprovalsView::default(),
                &Access::new(),
                &Memory::new(),
                &Recorded::new(),
                NOW
            )
            .items,
            0
        ),
        expected
    );
}

#[test]
fn a_quiet_menu_is_short() {
    let overview = Overview {
        status: "no servers running".to_owned(),
        servers_running: 0,
        paused_all: true,
        ..overview()
    };
    let expected = "[no servers running]\n--\nResume all…\nOpen Callgate\nSettings\nQuit\n";
    assert_eq!(
        drawn(
            &menu(
                &overview,
                &[],
                &ApprovalsView::default(),
                &Access::new(),
                &Memory::new(),
                &Recorded::new(),
                NOW
            )
            .items,
            0
        ),
        expected
    );
}

#[test]
fn every_act_comes_back_from_its_id_as_itself() {
    let (overview, mut servers) = full();
    servers.push(server("odd \"name\" & _ü\u{202e}", Protection::Broken));
    let acts = acts(
        &menu(
            &overview,
            &servers,
            &ApprovalsView::default(),
            &Access::new(),
            &Memory::new(),
            &Recorded::new(),
            NOW,
        )
        .items,
    );
    assert!(acts.len() > 20);
    for act in acts {
        assert_eq!(TrayAct::parse(&act.id()), Some(act));
    }
    for id in ["", "quit", "{\"do\":\"format_disk\"}", "{}"] {
        assert_eq!(TrayAct::parse(id), None, "{id}");
    }
}

#[test]
fn restricting_acts_at_once_and_loosening_only_asks() {
    let (overview, servers) = full();
    for act in acts(
        &menu(
            &overview,
            &servers,
            &ApprovalsView::default(),
            &Access::new(),
            &Memory::new(),
            &Recorded::new(),
            NOW,
        )
        .items,
    ) {
        match (&act, act.step()) {
            (TrayAct::Resume { server, .. }, step) => {
                let loosening = Loosening::Resume { server: server.clone(), client: None };
                assert_eq!(step, Step::Show(Place::Question { loosening }));
            }
            (TrayAct::Block { .. }, Step::Restrict(Restriction::Block { target, .. })) => {
                assert_eq!(target.client.as_deref(), Some("claude-desktop"), "this client with this server");
            }
            (TrayAct::Pause { .. }, Step::Restrict(Restriction::Pause { .. }))
            | (TrayAct::EndAllowance { .. }, Step::Restrict(Restriction::EndAllowance { .. }))
            | (TrayAct::Cap { max: None, .. }, Step::Cap(_))
            | (TrayAct::Cap { max: Some(_), .. }, Step::Restrict(Restriction::Cap { .. }))
            | (TrayAct::Stop { .. }, Step::Server { wish: ServerCommand::Stop, .. })
            | (TrayAct::Start { .. }, Step::Server { wish: ServerCommand::Start, .. })
            | (TrayAct::Restart { .. }, Step::Server { wish: ServerCommand::Restart, .. })
            | (TrayAct::StopEverything, Step::StopEverything)
            | (TrayAct::Quit, Step::Quit)
            | (_, Step::Show(_)) => {}
            (act, step) => panic!("{act:?} does {step:?}"),
        }
    }
}

#[test]
fn hostile_names_stay_short_and_on_their_line() {
    let hostile = format!("\u{202e}evil\n{}", "x".repeat(500));
    let mut overview = overview();
    overview.recent = vec![line(&hostile, Decision::Denied, Some(Outcome::NotSent))];
    overview.needs =
        vec![Need { words: hostile.clone(), fix: None, server: Some(hostile.clone()), serious: true }];
    let servers = [server(&hostile, Protection::Enforcing)];
    let drawn = drawn(
        &menu(
            &overview,
            &servers,
            &ApprovalsView::default(),
            &Access::new(),
            &Memory::new(),
            &Recorded::new(),
            NOW,
        )
        .items,
        0,
    );
    assert!(drawn.lines().all(|line| line.chars().count() <= 70), "{drawn}");
    assert!(!drawn.chars().any(|c| c != '\n' && callgate_text::is_hidden(c)), "{drawn}");
    assert!(drawn.contains("…: denied >"), "the decision is not pushed out: {drawn}");
}

#[test]
fn a_countdown_never_ends_early() {
    let cases = [
        (1, "1 more min"),
        (60_000, "1 more min"),
        (60_001, "2 more min"),
        (119 * 60_000, "119 more min"),
        (3 * 3_600_000, "3 more h"),
        (5 * 86_400_000, "5 more days"),
        (-5, "1 more min"),
    ];
    for (ms, words) in cases {
        assert_eq!(left(ms), words, "{ms}");
    }
}

#[test]
fn what_servers_take_stands_in_the_status_line_and_beside_each() {
    let servers = [server("browser", Protection::Enforcing), server("files", Protection::WatchOnly)];
    let memory = Memory::from([("browser".to_owned(), 742_123_456), ("files".to_owned(), 74_900_000)]);
    let drawn = drawn(
        &menu(
            &overview(),
            &servers,
            &ApprovalsView::default(),
            &Access::new(),
            &memory,
            &Recorded::new(),
            NOW,
        )
        .items,
        0,
    );
    for line in [
        "[1 server, 214 calls today, 2 refused, 810 MB]\n",
        "browser: running, 740 MB >\n",
        "files: running, watch-only, 74 MB >\n",
    ] {
        assert!(drawn.contains(line), "{line} in\n{drawn}");
    }
}

#[test]
fn what_would_end_with_a_server_is_said_where_it_is_stopped() {
    let servers = [server("browser", Protection::Enforcing), server("files", Protection::WatchOnly)];
    let recorded = Recorded::from([("browser".to_owned(), Recordings { sessions: 1, actions: 12 })]);
    let drawn = drawn(
        &menu(
            &overview(),
            &servers,
            &ApprovalsView::default(),
            &Access::new(),
            &Memory::new(),
            &recorded,
            NOW,
        )
        .items,
        0,
    );
    for (line, times) in [
        ("Stop (a recording of 12 actions ends)", 1),
        ("Restart (a recording of 12 actions ends)", 1),
        ("Stop everything (a recording of 12 actions ends)", 1),
        ("Stop\n", 1),
        ("Restart\n", 1),
    ] {
        assert_eq!(drawn.matches(line).count(), times, "{line} in\n{drawn}");
    }
}

#[test]
fn what_is_blocked_is_offered_to_be_allowed_and_not_to_be_blocked_again() {
    let place = crate::testing::TestHome::new();
    place.write_policy("files", crate::testing::POLICY);
    let session = place.session("files");
    session.calls("read", 1);
    session.refused("drop", callgate_journal::Decision::Denied, 1);
    let offered = || {
        let overview = place.desk.overview().unwrap();
        let access = place.desk.access_of(&overview.recent);
        let servers = place.desk.servers().unwrap();
        let menu = menu(
            &overview,
            &servers,
            &ApprovalsView::default(),
            &access,
            &Memory::new(),
            &Recorded::new(),
            NOW,
        );
        (drawn(&menu.items, 0), acts(&menu.items))
    };
    let (shown, _) = offered();
    assert!(shown.contains("  [Blocked now: ") && shown.contains("  Allow drop…"), "{shown}");
    assert!(shown.contains("Block read for ") && !shown.contains("Block drop"), "{shown}");
    let target = Target { server: "files".to_owned(), tool: Some("read".to_owned()), client: None };
    place.desk.restrict(&Restriction::Block { target: target.clone(), reason: None }).unwrap();
    let (shown, acts) = offered();
    assert!(shown.contains("  Allow read…") && !shown.contains("Block read"), "{shown}");
    let allow = TrayAct::Allow { target: target.clone() };
    assert!(acts.contains(&allow), "{acts:?}");
    assert_eq!(allow.step(), Step::Show(Place::Question { loosening: Loosening::Allow { target } }));
    // Nothing can be written into rules that cannot be read.
    place.write_policy("files", "{");
    let (shown, acts) = offered();
    assert!(shown.contains("[Its rules are broken: every call is refused]"), "{shown}");
    assert!(
        acts.contains(&TrayAct::Rules { server: "files".to_owned() }) && !shown.contains("Block "),
        "{shown}"
    );
}
