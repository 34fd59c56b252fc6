//! `callgate counters`: what a server's limits have counted, and one of them started anew.

use std::process::ExitCode;

use callgate_controls::CounterKind;
use callgate_controls::counters::{self, CounterRow};
use callgate_desk::inventory::Purpose;
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_policy::{Limit, Policy, UNIT, Window};
use serde_json::json;

use crate::act;
use crate::args::CountersArgs;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &CountersArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let purpose = if args.reset.is_some() { Purpose::Loosen } else { Purpose::Look };
    act::known_server(&args.server, purpose)?;
    match &args.reset {
        Some(counter) => act::reset(&args.server, counter),
        None => list(&home, args),
    }
}

fn list(home: &Home, args: &CountersArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let rows = counters::list(home, &args.server, &SystemClock::default())?;
    if rows.is_empty() && !args.json {
        screen.line(&format!(
            "Nothing was counted for {} beyond its running sessions.",
            screen::harmless(&args.server)
        ));
    }
    let limits = limits(home, &args.server);
    if !rows.is_empty() && !args.json {
        let head = format!(
            "{}  {}  {}  {}  client",
            screen::pad("counter", 32),
            screen::pad("kind", 10),
            screen::pad("scope", 7),
            screen::pad("used", 24)
        );
        screen.line(&screen.paint(screen::DIM, &head));
    }
    for row in &rows {
        let limit = limits.iter().find(|limit| limit.counter == row.counter && limit.scope == row.scope);
        if args.json {
            let object = json!({
                "counter": row.counter, "kind": row.kind.word(), "scope": row.scope.word(), "client": row.client,
                "used": used(row), "max": limit.map(|limit| limit.max), "window_s": row.window.map(|window| window.as_secs()), "lost": row.lost,
            });
            screen.line(&object.to_string());
        } else {
            let used = match row.lost {
                true => "used up: the counters were lost".to_owned(),
                false => standing(row, limit),
            };
            screen.line(&format!(
                "{}  {}  {}  {}  {}",
                screen::pad(&screen::harmless(&row.counter), 32),
                screen::pad(row.kind.word(), 10),
                screen::pad(row.scope.word(), 7),
                screen::pad(&used, 24),
                row.client.as_deref().map(screen::harmless).unwrap_or_default(),
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// "3 of 10 a minute"; a counter that no rule names any more has no maximum.
fn standing(row: &CounterRow, limit: Option<&Limit>) -> String {
    let used = used(row);
    let Some(limit) = limit else { return format!("{used}, no limit now") };
    let max = limit.max;
    match limit.window() {
        Some(window) => {
            let window =
                Window::from_seconds(window.as_secs()).map_or_else(|_| String::new(), |one| one.to_string());
            format!("{used} of {max} per {window}")
        }
        None if row.kind == CounterKind::Concurrent => format!("{used} of {max} at once"),
        None => format!("{used} of {max} in all"),
    }
}

/// The limits of the policy that counts for a server.
fn limits(home: &Home, server: &str) -> Vec<Limit> {
    let policy = crate::change::current(home, server).ok().and_then(|(_, text)| Policy::parse(&text).ok());
    policy.map(|policy| policy.all_limits().cloned().collect()).unwrap_or_default()
}

/// In whole units; a sum is counted in millionths.
fn used(row: &CounterRow) -> f64 {
    let unit = if row.kind == CounterKind::Sum { UNIT } else { 1 };
    row.used as f64 / unit as f64
}
