//! `stop`, `start`, `restart`: what a person asks of the servers that run.

use std::process::ExitCode;

use callgate_desk::supervising::{self, Became, Whom};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::control::Wish;
use callgate_store::{Home, SessionId};

use crate::args::{ServerArgs, StopArgs};
use crate::change;
use crate::screen::{self, Screen};

pub(crate) fn stop(args: &StopArgs) -> anyhow::Result<ExitCode> {
    let Some(server) = &args.server else { return stop_everything() };
    ask(Wish::Stop, server, args.client.as_deref(), args.session)
}

pub(crate) fn start(args: &ServerArgs) -> anyhow::Result<ExitCode> {
    ask(Wish::Start, &args.server, args.client.as_deref(), args.session)
}

pub(crate) fn restart(args: &ServerArgs) -> anyhow::Result<ExitCode> {
    ask(Wish::Restart, &args.server, args.client.as_deref(), args.session)
}

fn ask(
    wish: Wish,
    server: &str,
    client: Option<&str>,
    session: Option<SessionId>,
) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let whom = Whom { server: Some(server), client, session };
    let asked = supervising::ask(&home, whom, wish, SystemClock::default().now().wall_ms)?;
    let became = supervising::await_all(&home, &asked);
    let screen = Screen::new();
    screen.line(&screen::harmless(&supervising::told(wish, server, &became)));
    if wish == Wish::Stop {
        screen.line(&format!("Start it again: callgate start {}", screen::quoted(server)));
    }
    Ok(if became.contains(&Became::Underway) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn stop_everything() -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let asked = supervising::stop_everything(&change::maker(&home, &SystemClock::default()))?;
    let became = supervising::await_all(&home, &asked);
    let screen = Screen::new();
    screen.line(&screen::harmless(&supervising::everything(&became)));
    screen.line("Let calls through again: callgate resume; start a server: callgate start SERVER");
    Ok(if became.contains(&Became::Underway) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
