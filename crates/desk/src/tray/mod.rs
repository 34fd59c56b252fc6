//! The tray menu as data: what needs a person first, then how things stand, then what can be done.
//!
//! A function of what the desk says at this moment, so that the menu is right when it opens. Text of servers and agents
//! is made harmless and short here; marks for keyboard access are the shell's business.

mod act;
mod menu_registry;

use std::collections::BTreeMap;

use callgate_text::{clip, count, harmless, local, size, subject};
use callgate_wiring::client_name;

use crate::acts::cap_for;
use crate::allowing::EVERY_TOOL;
use crate::interruption::{Recorded, Recordings};
use crate::view::{Alarm, Target};
use crate::view::{
    AllowanceView, ApprovalView, ApprovalsView, CallLine, Decision, GrantView, Outcome, Overview, Protection,
    ServerState, ServerView, StandView, ToolAccess,
};

pub use act::{Step, TrayAct};
pub use menu_registry::{Clicked, Node, Opening, PublishedMenus};

/// The longest text of an entry.
const TEXT: usize = 60;
/// The longest text about what dead sessions left: the number at its end is what matters.
const LEFT: usize = 90;
/// The longest text of a line about one call.
const CALL: usize = 40;
/// The longest name inside a text.
const NAME: usize = 24;
/// Lines of causes: more would push the rest off the screen.
const NEEDS: usize = 6;
/// Servers, likewise.
const SERVERS: usize = 20;
/// Calls that wait, and what is let through for a while, likewise.
const APPROVALS: usize = 5;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Menu {
    pub items: Vec<MenuItem>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MenuItem {
    /// A line to read, not to click.
    Label(String),
    Entry {
        act: TrayAct,
        text: String,
    },
    Submenu {
        text: String,
        items: Vec<MenuItem>,
    },
    Separator,
}

impl MenuItem {
    fn entry(act: TrayAct, text: impl Into<String>) -> MenuItem {
        MenuItem::Entry { act, text: text.into() }
    }
}

/// What the process trees of each running server take, as far as it is known.
pub type Memory = BTreeMap<String, u64>;

/// What a pointer that rests on the icon reads: the need first, then how things stand.
pub fn tip(overview: &Overview, memory: &Memory) -> String {
    format!("{} (Callgate: {})", overview.headline, status(overview, memory))
}

/// How things stand in one line: "3 servers, 214 calls today, 2 refused, 810 MB".
pub fn status(overview: &Overview, memory: &Memory) -> String {
    match memory.values().sum() {
        0 => overview.status.clone(),
        bytes => format!("{}, {}", overview.status, roughly(bytes)),
    }
}

/// Two digits: more would change at every look, and say no more.
fn roughly(bytes: u64) -> String {
    let mut unit = 1;
    while bytes / unit >= 100 {
        unit *= 10;
    }
    size(bytes / unit * unit)
}

/// How the tools of the last calls stand now, by the calls' ids: nobody is offered to block what is blocked.
pub type Access = BTreeMap<String, ToolAccess>;

/// The whole menu. `recorded`: what would be lost by ending servers; `now_ms` is the wall clock.
pub fn menu(
    overview: &Overview,
    servers: &[ServerView],
    approvals: &ApprovalsView,
    access: &Access,
    memory: &Memory,
    recorded: &Recorded,
    now_ms: i64,
) -> Menu {
    let parts = [
        needs(overview),
        some(&approvals.open, waiting),
        vec![MenuItem::Label(shown(&status(overview, memory), TEXT))],
        overview.recent.iter().take(5).map(|line| call(line, access.get(&line.id))).collect(),
        overview.allowances.iter().map(|one| allowance(one, now_ms)).collect(),
        some(&approvals.grants, |grant| granted(grant, now_ms)),
        running(overview, servers, memory, recorded),
        whole(overview, recorded),
    ];
    let mut items = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !items.is_empty() {
            items.push(MenuItem::Separator);
        }
        items.extend(part);
    }
    Menu { items }
}

/// The same, with what dead sessions left above it all.
#[must_use]
pub fn with_left(menu: Menu, words: &str) -> Menu {
    let mut items = vec![
        MenuItem::Label(shown(words, LEFT)),
        MenuItem::entry(TrayAct::Servers, "Look at them"),
        MenuItem::Separator,
    ];
    items.extend(menu.items);
    Menu { items }
}

/// Each cause, and under it what mends it.
fn needs(overview: &Overview) -> Vec<MenuItem> {
    let mut items = Vec::new();
    for need in overview.needs.iter().take(NEEDS) {
        items.push(MenuItem::Label(shown(&need.words, TEXT)));
        if let Some(fix) = &need.fix {
            let (act, text) = TrayAct::mends(fix);
            items.push(MenuItem::entry(act, text));
        }
    }
    if overview.unprotected > 0 {
        let is = if overview.unprotected == 1 { "is" } else { "are" };
        let servers = count(u64::from(overview.unprotected), "server");
        items.push(MenuItem::Label(format!("{servers} {is} not protected")));
        items.push(MenuItem::entry(TrayAct::Clients, "Protect…"));
    }
    let left = overview.needs.len().saturating_sub(NEEDS);
    if left > 0 {
        items.push(MenuItem::entry(TrayAct::Open, format!("{left} more…")));
    }
    for alarm in &overview.alarms {
        items.push(alarmed(alarm));
    }
    items
}

fn alarmed(alarm: &Alarm) -> MenuItem {
    let server = alarm.server.clone();
    let target = Target { server: server.clone(), tool: alarm.tool.clone(), client: alarm.client.clone() };
    let max = cap_for(alarm);
    let (pause, cap) =
        (format!("Pause {}", shown(&server, NAME)), format!("{} at {max} a minute", named("Cap", &target)));
    MenuItem::Submenu {
        text: shown(&alarm.words, TEXT),
        items: vec![
            MenuItem::entry(TrayAct::Pause { server: Some(server) }, pause),
            MenuItem::entry(TrayAct::Cap { target, max: Some(max) }, cap),
        ],
    }
}

fn call(line: &CallLine, access: Option<&ToolAccess>) -> MenuItem {
    let time = local(line.at_ms).strftime("%H:%M").to_string();
    let word = word(line.decision, line.outcome);
    let times = if line.times > 1 { format!(" × {}", line.times) } else { String::new() };
    // The word at the end matters most: the name gives way to it.
    let around = time.chars().count() + 1 + 2 + word.chars().count() + times.chars().count();
    let name =
        shown(&subject(line.method.as_deref(), line.tool.as_deref()), CALL.saturating_sub(around).max(8));
    let target = Target {
        server: line.server.clone(),
        tool: line.tool.clone().filter(|_| is_tool_call(line)),
        client: line.client.clone(),
    };
    let mut items: Vec<MenuItem> = line.class.iter().map(|class| MenuItem::Label(class.words())).collect();
    items.push(MenuItem::entry(TrayAct::Why { call: line.id.clone() }, "Why"));
    // Only a tool has a rule of its own.
    if target.tool.is_some() {
        items.extend(offered(target, access));
    }
    MenuItem::Submenu { text: format!("{time} {name}: {word}{times}"), items }
}

/// What can be done about a tool, by how it stands now.
fn offered(target: Target, access: Option<&ToolAccess>) -> Vec<MenuItem> {
    let (block, cap) = (named("Block", &target), named("Cap", &target));
    match access {
        Some(ToolAccess::Blocked(blocked)) => {
            let allow = format!("{}…", named("Allow", &blocked.target));
            vec![
                MenuItem::Label(shown(&blocked.words, TEXT)),
                MenuItem::entry(TrayAct::Allow { target: blocked.target.clone() }, allow),
            ]
        }
        Some(ToolAccess::Unknown) => vec![
            MenuItem::Label("Its rules are broken: every call is refused".to_owned()),
            MenuItem::entry(TrayAct::Rules { server: target.server }, "Open its rules"),
        ],
        _ => vec![
            MenuItem::entry(TrayAct::Block { target: target.clone() }, block),
            MenuItem::entry(TrayAct::Cap { target, max: None }, cap),
        ],
    }
}

/// "Block get_ticket for Claude Desktop": whoever clicks knows what is meant.
fn named(verb: &str, target: &Target) -> String {
    let tool = target.tool.as_deref().map_or_else(|| shown(&target.server, NAME), |tool| shown(tool, NAME));
    let whom = target.client.as_deref().map(|client| format!(" for {}", shown(&client_name(client), NAME)));
    format!("{verb} {tool}{}", whom.unwrap_or_default())
}

fn is_tool_call(line: &CallLine) -> bool {
    line.method.as_deref().is_none_or(|method| method == "tools/call")
}

/// What came of it, in the one word that matters most.
fn word(decision: Decision, outcome: Option<Outcome>) -> String {
    match (decision, outcome) {
        (Decision::Allowed | Decision::WouldDeny, None) => "running".to_owned(),
        (Decision::Allowed, Some(Outcome::Ok)) => "allowed".to_owned(),
        (Decision::Allowed, Some(outcome)) => {
            callgate_journal::Outcome::from(outcome).word().replace('_', " ")
        }
        (Decision::WouldDeny, Some(_)) => "would deny".to_owned(),
        (decision, _) => callgate_journal::Decision::from(decision).word().to_owned(),
    }
}

/// The first few; the rest is in the window.
fn some<T>(all: &[T], item: impl Fn(&T) -> MenuItem) -> Vec<MenuItem> {
    let mut items: Vec<MenuItem> = all.iter().take(APPROVALS).map(item).collect();
    let left = all.len().saturating_sub(APPROVALS);
    if left > 0 {
        items.push(MenuItem::entry(TrayAct::Approvals, format!("and {left} more…")));
    }
    items
}

/// A call that waits for a decision. A yes is said where all of it can be seen.
fn waiting(one: &ApprovalView) -> MenuItem {
    let (tool, server) = (shown(&one.tool, NAME), shown(&one.server, NAME));
    let class = one.class.map_or_else(String::new, |class| format!(" ({})", class.words()));
    MenuItem::Submenu {
        text: format!("{tool} on {server} waits, for {}{class}", shown(&client_name(&one.client), NAME)),
        items: vec![
            MenuItem::Label(shown(&one.reason, TEXT)),
            MenuItem::entry(TrayAct::Approvals, "Open…"),
            MenuItem::entry(TrayAct::Deny { id: one.id.clone() }, format!("Deny {tool}")),
        ],
    }
}

fn granted(grant: &GrantView, now_ms: i64) -> MenuItem {
    let (tool, client) = (shown(&grant.tool, NAME), shown(&client_name(&grant.client), NAME));
    MenuItem::Submenu {
        text: format!("{tool} approved for {client} for {}", left(grant.ends_ms - now_ms)),
        items: vec![
            MenuItem::Label(shown(&grant.words, TEXT)),
            MenuItem::entry(TrayAct::Revoke { id: grant.id.clone() }, "Revoke"),
        ],
    }
}

fn allowance(one: &AllowanceView, now_ms: i64) -> MenuItem {
    let left = left(one.ends_ms - now_ms);
    let what = match &one.tool {
        Some(tool) if tool == EVERY_TOOL => format!("every tool of {} allowed", shown(&one.server, NAME)),
        Some(tool) => format!("{} allowed", shown(tool, NAME)),
        None => format!("{} only watched", shown(&one.server, NAME)),
    };
    let whom = one
        .client
        .as_deref()
        .map(|client| format!(" for {}", shown(&client_name(client), NAME)))
        .unwrap_or_default();
    MenuItem::Submenu {
        text: format!("{what}{whom} for {left}"),
        items: vec![
            MenuItem::Label(shown(&one.words, TEXT)),
            MenuItem::entry(TrayAct::EndAllowance { id: one.id.clone() }, "End now"),
        ],
    }
}

/// Rounded up: a menu never says that something is over while it lasts.
fn left(ms: i64) -> String {
    let minutes = ms.max(0).unsigned_abs().div_ceil(60_000).max(1);
    match minutes {
        0..120 => format!("{minutes} more min"),
        120..2_880 => format!("{} more h", minutes.div_ceil(60)),
        _ => format!("{} more days", minutes.div_ceil(1_440)),
    }
}

fn running(
    overview: &Overview,
    servers: &[ServerView],
    memory: &Memory,
    recorded: &Recorded,
) -> Vec<MenuItem> {
    let running: Vec<&ServerView> =
        servers.iter().filter(|server| server.state == ServerState::Running).collect();
    let shown = running.iter().take(SERVERS);
    let mut items: Vec<MenuItem> = shown
        .map(|one| server(overview, one, memory.get(&one.name).copied(), recorded.get(&one.name)))
        .collect();
    if running.len() > SERVERS {
        items.push(MenuItem::entry(TrayAct::Open, format!("{} more…", running.len() - SERVERS)));
    }
    items
}

fn server(
    overview: &Overview,
    server: &ServerView,
    memory: Option<u64>,
    recorded: Option<&Recordings>,
) -> MenuItem {
    let name = server.name.clone();
    let mut items = Vec::new();
    if let Some(problem) = &server.problem {
        items.push(MenuItem::Label(shown(problem, TEXT)));
    }
    items.push(MenuItem::Label(format!("{} today", count(server.calls_today, "call"))));
    if server.sessions.iter().any(|session| session.stand.is_still()) {
        items.push(MenuItem::entry(TrayAct::Start { server: name.clone() }, "Start"));
    } else {
        items.push(MenuItem::entry(TrayAct::Stop { server: name.clone() }, ending("Stop", recorded)));
        items.push(MenuItem::entry(TrayAct::Restart { server: name.clone() }, ending("Restart", recorded)));
    }
    let one = Some(name.clone());
    items.push(match overview.paused_servers.contains(&name) {
        true => MenuItem::entry(TrayAct::Resume { server: one, client: None }, "Resume server…"),
        false => MenuItem::entry(TrayAct::Pause { server: one }, "Pause server"),
    });
    items.push(MenuItem::entry(TrayAct::Rules { server: name }, "Rules"));
    let state = standing(server).unwrap_or_else(|| state(server.protection));
    let memory = memory.map(|bytes| format!(", {}", roughly(bytes))).unwrap_or_default();
    MenuItem::Submenu { text: format!("{}: {state}{memory}", shown(&server.name, NAME)), items }
}

/// An entry that ends servers at once says before what ends with them: a menu asks nothing.
fn ending(act: &str, recorded: Option<&Recordings>) -> String {
    match recorded {
        Some(recorded) => format!("{act} ({})", recorded.words()),
        None => act.to_owned(),
    }
}

/// That a server does not run although a client is connected, in words.
fn standing(server: &ServerView) -> Option<&'static str> {
    server.sessions.iter().filter(|session| session.ended_ms.is_none()).find_map(|session| {
        match session.stand {
            StandView::Running => None,
            StandView::Starting => Some("starting"),
            StandView::Stopped if session.stand_words.is_some() => Some("ended by its limits"),
            StandView::Stopped => Some("stopped"),
            StandView::Down => Some("crash loop"),
        }
    })
}

/// How well a server is watched, in words.
fn state(protection: Protection) -> &'static str {
    match protection {
        Protection::Enforcing => "running",
        Protection::WatchOnly => "running, watch-only",
        Protection::Observed => "running, only watched for a while",
        Protection::Paused => "paused",
        Protection::Broken => "policy broken, all calls refused",
    }
}

/// What is about everything.
fn whole(overview: &Overview, recorded: &Recorded) -> Vec<MenuItem> {
    let pause = match overview.paused_all {
        true => MenuItem::entry(TrayAct::Resume { server: None, client: None }, "Resume all…"),
        false => MenuItem::entry(TrayAct::Pause { server: None }, "Pause all"),
    };
    let mut items = vec![pause];
    if overview.servers_running > 0 {
        let all = Recordings::all(recorded);
        items.push(MenuItem::entry(TrayAct::StopEverything, ending("Stop everything", all.as_ref())));
    }
    items.extend([
        MenuItem::entry(TrayAct::Open, "Open Callgate"),
        MenuItem::entry(TrayAct::Settings, "Settings"),
        MenuItem::entry(TrayAct::Quit, "Quit"),
    ]);
    items
}

/// Text of others: nothing hidden in it, and short.
fn shown(text: &str, width: usize) -> String {
    clip(&harmless(text), width)
}

#[cfg(test)]
mod tests;
