//! `callgate events`: what happened beside the calls. Loosenings with their origin first of all, then pauses, broken
//! policies, noise, what was swept or forgotten.

use std::process::ExitCode;

use callgate_history::{CallFilter, EventFilter, EventRow};
use callgate_home::Home;
use callgate_journal::{EventKind, Origin};
use callgate_text::local;
use serde_json::json;

use crate::act;
use crate::args::EventsArgs;
use crate::commands::log::current;
use crate::duration::iso;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &EventsArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let screen = Screen::new();
    let filter = EventFilter {
        server: args.server.clone(),
        kind: args.kind.as_deref().map(str::parse).transpose()?,
        since_ms: args.since.map(|since| since.0),
        until_ms: args.until.map(|until| until.0),
    };
    let events = current(&home)?.events_matching(&filter, args.limit)?;
    for event in &events {
        screen.line(&if args.json { object(event).to_string() } else { line(&screen, event) });
    }
    if events.is_empty() && !args.json {
        let asked = filter.server.is_some() || filter.kind.is_some() || filter.since_ms.is_some();
        let words = if asked { "No events match." } else { "Nothing happened beside calls." };
        let unknown = act::unknown(&CallFilter { server: filter.server, ..CallFilter::default() });
        screen::hint(&[Some(words.to_owned()), unknown].into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    Ok(ExitCode::SUCCESS)
}

fn object(event: &EventRow) -> serde_json::Value {
    json!({
        "time": iso(event.at_ms),
        "kind": event.kind.word(),
        "server": event.server,
        "session": event.session.map(|session| session.to_string()),
        "origin": event.origin.map(Origin::word),
        "text": event.text,
    })
}

fn line(screen: &Screen, event: &EventRow) -> String {
    let style = match event.kind {
        EventKind::Loosened
        | EventKind::LooseningRefused
        | EventKind::ForgedApproval
        | EventKind::PolicyBroken
        | EventKind::Gap
        | EventKind::DatabaseMovedAside
        | EventKind::GateContested
        | EventKind::Crashed
        | EventKind::StartFailed => screen::BAD,
        EventKind::Paused
        | EventKind::KeeperLost
        | EventKind::Noise
        | EventKind::Swept
        | EventKind::GateRepaired
        | EventKind::Stopped
        | EventKind::Restarted
        | EventKind::Limit
        | EventKind::Installing => screen::WARN,
        _ => screen::DIM,
    };
    let kind = event.kind.word().replace('_', " ");
    let kind = match event.origin {
        Some(origin) => format!("{kind} ({origin})"),
        None => kind,
    };
    let time = local(event.at_ms).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let server = event.server.as_deref().map(screen::harmless).unwrap_or_default();
    let line = [
        screen.paint(screen::DIM, &time),
        screen::pad(&server, 16),
        screen.paint(style, &screen::pad(&kind, 20)),
        screen::harmless(&event.text),
    ];
    line.join("  ").trim_end().to_owned()
}
