//! `pause` and `resume`: the switch that refuses every call.

use std::process::ExitCode;

use anyhow::Context;
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::record_event;
use callgate_store::{EventKind, Home, Origin, pause as switch};

use crate::args::PauseArgs;
use crate::confirm;
use crate::screen::Screen;

pub(crate) fn pause(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let home = prepared()?;
    let server = args.server.as_deref();
    switch::pause(&home, server, None, &SystemClock::default().now())
        .context("the pause cannot be written")?;
    let resume = server.map_or_else(String::new, |server| format!(" {server}"));
    let screen = Screen::new();
    screen.line(&format!("Paused: every call of {} is refused from now on.", scope(server)));
    screen.line(&format!("Let them through again: callgate resume{resume}"));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn resume(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let home = prepared()?;
    let server = args.server.as_deref();
    confirm::loosening(&format!("calls of {} pass again", scope(server)), "resume")?;
    let resumed = switch::resume(&home, server).context("the pause cannot be lifted")?;
    let screen = Screen::new();
    if !resumed {
        screen.line(&format!("Nothing was paused for {}.", scope(server)));
        return Ok(ExitCode::SUCCESS);
    }
    let now = SystemClock::default().now().wall_ms;
    record_event(
        &home,
        now,
        EventKind::Loosened,
        server,
        Some(Origin::Cli),
        &format!("{} resumed", scope(server)),
    )?;
    screen.line(&format!("Resumed: calls of {} are judged by their policies again.", scope(server)));
    if server.is_some() && switch::reason(&home, server.unwrap_or_default()).is_some() {
        screen.line("All servers are still paused: callgate resume");
    }
    Ok(ExitCode::SUCCESS)
}

fn scope(server: Option<&str>) -> String {
    server.map_or_else(|| "all servers".to_owned(), |server| format!("server {server}"))
}

fn prepared() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    home.prepare()?;
    Ok(home)
}
