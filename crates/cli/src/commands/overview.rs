//! `callgate overview`: everything that agents can call from this machine, what of it is behind the gate, and what to do next.

use std::process::ExitCode;

use anyhow::bail;
use callgate_desk::Desk;
use callgate_desk::view::{
    ClassCounts, StepKind, SurfaceClient, SurfaceServer, SurfaceStep, SurfaceView, ToolsFrom,
};
use callgate_home::Home;
use callgate_wiring::view::EntryState;
use serde_json::json;

use super::clients::change::put_program;
use crate::act::{desk, told};
use crate::args::OverviewArgs;
use crate::confirm;
use crate::screen::{self, BAD, BOLD, DIM, GOOD, Screen, WARN, clip, count, harmless, pad, quoted};

/// The widest that names get.
const NAME: usize = 28;

pub(crate) fn run(args: &OverviewArgs) -> anyhow::Result<ExitCode> {
    let (desk, screen) = (desk()?, Screen::new());
    let mut code = ExitCode::SUCCESS;
    if !args.scan.is_empty() {
        confirm::not_below_a_session("start servers")?;
        put_program(&Home::locate()?)?;
        for name in &args.scan {
            if !scan(&desk, &screen, name)? {
                code = ExitCode::FAILURE;
            }
        }
    }
    let view = desk.surface().map_err(told)?;
    if args.json {
        screen.line(&as_json(&view).to_string());
        return Ok(code);
    }
    if let Some(problem) = &view.problem {
        screen::hint(problem);
    }
    for client in &view.clients {
        show(&screen, client);
    }
    for why in &view.unread {
        screen.line(&screen.paint(BAD, &format!("left alone: {}", harmless(why))));
    }
    if !view.clients.is_empty() {
        screen.line(&screen.paint(BOLD, &harmless(&view.words)));
    }
    if let Some(next) = &view.next {
        screen.line(&next_words(next));
    }
    Ok(code)
}

/// Starts every server of this name that a client has, once, and asks it for its tools. `false`: one of them did not say.
fn scan(desk: &Desk, screen: &Screen, name: &str) -> anyhow::Result<bool> {
    let view = desk.surface().map_err(told)?;
    let rows = view.clients.iter().flat_map(|client| client.servers.iter().map(move |row| (client, row)));
    let meant: Vec<_> =
        rows.filter(|(_, row)| (row.name == name || row.server == name) && row.entry.is_some()).collect();
    if meant.is_empty() {
        bail!("no client here has a server {}. `callgate overview` lists them", quoted(name));
    }
    let (mut seen, mut all) = (Vec::new(), true);
    for (client, row) in meant {
        let Some(entry) = row.entry.as_ref().filter(|_| !seen.contains(&(&row.server, &row.command))) else {
            continue;
        };
        seen.push((&row.server, &row.command));
        if let Some(why) = &row.why {
            screen.line(&format!("{} in {}: {why}", harmless(&row.name), client.name));
            all = false;
            continue;
        }
        screen.line(&format!("Starting {} as {} would: {}", harmless(&row.name), client.name, row.command));
        let answer = desk.wiring().test_server(entry)?;
        match answer.problem {
            Some(problem) => {
                all = false;
                screen.line(&screen.paint(BAD, &format!("  {}", harmless(&problem))));
            }
            None => screen.line(&screen.paint(
                DIM,
                &format!("  it lists {}", count(answer.tools.unwrap_or_default() as usize, "tool")),
            )),
        }
    }
    Ok(all)
}

fn show(screen: &Screen, client: &SurfaceClient) {
    screen.line(&screen.paint(BOLD, &harmless(&client.name)));
    let widest = client.servers.iter().map(|row| harmless(&row.name).chars().count()).max().unwrap_or(0);
    for row in &client.servers {
        let (word, style) = match row.state {
            EntryState::Protected if row.watch_only => ("watch only", WARN),
            EntryState::Protected => ("protected", GOOD),
            EntryState::Tampered => ("not as protected", BAD),
            EntryState::Open => ("not gated", BAD),
            EntryState::NotCoverable => ("not coverable", DIM),
        };
        let name = pad(&clip(&harmless(&row.name), NAME), widest.min(NAME));
        let told = match (&row.why, row.from) {
            (Some(why), _) => why.clone(),
            (None, ToolsFrom::Nothing) => "not known yet what it can do".to_owned(),
            (None, _) => classes_words(row.classes),
        };
        let from = match (row.from, &row.known) {
            (ToolsFrom::Catalogue, Some(known)) => format!(", by the catalogue ({known})"),
            _ => String::new(),
        };
        let look = match row.findings {
            0 => String::new(),
            some => format!(", {} to look at", count(some as usize, "thing")),
        };
        let room = Screen::columns().saturating_sub(widest.min(NAME) + 22).max(40);
        let rest = clip(&harmless(&format!("{told}{look}{from}")), room);
        screen.line(&format!("  {}  {name}  {rest}", screen.paint(style, &pad(word, 16))));
    }
}

/// "91 tools, 9 critical: 30 read, 20 write, 32 execute, 8 destructive, 1 financial".
pub(super) fn classes_words(counts: ClassCounts) -> String {
    let ClassCounts { tools, read, write, execute, destructive, financial, critical } = counts;
    let classes = [
        (read, "read"),
        (write, "write"),
        (execute, "execute"),
        (destructive, "destructive"),
        (financial, "financial"),
    ];
    let classes: Vec<String> =
        classes.iter().filter(|(some, _)| *some > 0).map(|(some, word)| format!("{some} {word}")).collect();
    let sum = count(tools as usize, "tool");
    match classes.is_empty() {
        true => sum,
        false => format!("{sum}, {critical} critical: {}", classes.join(", ")),
    }
}

fn next_words(next: &SurfaceStep) -> String {
    let one = match &next.entries[..] {
        [entry] => format!("{} {}", quoted(&entry.client), quoted(&entry.name)),
        _ => "--all".to_owned(),
    };
    let server = next.server.as_deref().map(quoted).unwrap_or_default();
    let command = match next.kind {
        StepKind::Add => "callgate add NAME -- COMMAND".to_owned(),
        StepKind::Protect => format!("callgate clients protect {one} --start recommended"),
        StepKind::Scan => format!("callgate overview --scan {server}"),
        StepKind::Rules => format!("callgate scan {server} -o rules.json"),
    };
    format!("{} Next: {command}", harmless(&next.words))
}

fn as_json(view: &SurfaceView) -> serde_json::Value {
    let server = |row: &SurfaceServer| {
        json!({
            "name": row.name, "server": row.server, "state": row.state, "why": row.why, "file": row.shown,
            "command": row.command, "known": row.known, "from": row.from, "watch_only": row.watch_only,
            "findings": row.findings, "classes": row.classes,
        })
    };
    let client = |client: &SurfaceClient| {
        json!({
            "client": client.id, "name": client.name,
            "servers": client.servers.iter().map(server).collect::<Vec<_>>(),
        })
    };
    json!({
        "clients": view.clients.iter().map(client).collect::<Vec<_>>(),
        "total": view.total, "servers": view.servers, "open": view.open, "unknown": view.unknown,
        "unread": view.unread, "words": view.words,
        "next": view.next.as_ref().map(|next| json!({ "kind": next.kind, "words": next.words })),
    })
}
