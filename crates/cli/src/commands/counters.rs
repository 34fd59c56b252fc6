//! `callgate counters`: what a server's limits have counted, and one of them started anew.

use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_desk::inventory::Purpose;
use callgate_policy::{Policy, UNIT};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::counters::CounterRow;
use callgate_store::history::record_event;
use callgate_store::{CounterKind, EventKind, Home, Origin, counters};
use serde_json::json;

use crate::act;
use crate::args::CountersArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &CountersArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    act::known_server(&args.server, Purpose::Loosen)?;
    match &args.reset {
        Some(counter) => reset(&home, &args.server, counter),
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
    for row in &rows {
        if args.json {
            let object = json!({
                "counter": row.counter, "kind": row.kind.word(), "scope": row.scope.word(), "client": row.client,
                "used": used(row), "window_s": row.window.map(|window| window.as_secs()), "lost": row.lost,
            });
            screen.line(&object.to_string());
        } else {
            let client = row.client.as_deref().map(|client| format!("  {}", screen::harmless(client)));
            screen.line(&format!(
                "{}  {}  {}  {}{}",
                screen::pad(&screen::harmless(&row.counter), 32),
                screen::pad(row.kind.word(), 10),
                screen::pad(row.scope.word(), 7),
                if row.lost {
                    "used up, because the counters were lost".to_owned()
                } else {
                    used(row).to_string()
                },
                client.unwrap_or_default(),
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// In whole units; a sum is counted in millionths.
fn used(row: &CounterRow) -> f64 {
    let unit = if row.kind == CounterKind::Sum { UNIT } else { 1 };
    row.used as f64 / unit as f64
}

fn reset(home: &Home, server: &str, counter: &str) -> anyhow::Result<ExitCode> {
    let listed =
        counters::list(home, server, &SystemClock::default())?.iter().any(|row| row.counter == counter);
    // Counters that were lost are used up without being on any list.
    let named = || {
        let policy =
            crate::change::current(home, server).ok().and_then(|(_, text)| Policy::parse(&text).ok());
        policy.is_some_and(|policy| policy.all_limits().any(|limit| limit.counter == counter))
    };
    if !listed && !named() {
        bail!(
            "server {server} has no counter {counter:?}; `callgate counters {}` lists them",
            screen::quoted(server)
        );
    }
    let what = format!(
        "start the counter \"{}\" of server {server} anew (also for other servers, if they share it)",
        screen::harmless(counter)
    );
    confirm::loosening(&what, "reset")?;
    let now = SystemClock::default().now().wall_ms;
    record_event(home, now, EventKind::Loosened, Some(server), Some(Origin::Cli), &what)
        .context("this cannot be recorded, so it was not done")?;
    counters::reset(home, server, counter, &SystemClock::default())?;
    Screen::new().line(&format!("The counter \"{}\" of {server} starts anew.", screen::harmless(counter)));
    Ok(ExitCode::SUCCESS)
}
