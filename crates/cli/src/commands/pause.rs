//! `pause` and `resume`: the switch that refuses every call.

use std::process::ExitCode;

use anyhow::Context;
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::history::record_event;
use callgate_store::{EventKind, Home, Origin, pause as switch};

use crate::args::PauseArgs;
use crate::commands::edit;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn pause(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let home = prepared()?;
    let server = args.server.as_deref();
    switch::pause(&home, server, None, &SystemClock::default().now())
        .context("the pause cannot be written")?;
    if let Some(server) = server {
        edit::strangers(&home, server, None);
    }
    let resume = server.map_or_else(String::new, |server| format!(" {}", screen::quoted(server)));
    let screen = Screen::new();
    screen.line(&format!("Paused: every call of {} is refused from now on.", scope(server)));
    screen.line(&format!("Let them through again: callgate resume{resume}"));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn resume(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let home = prepared()?;
    let server = args.server.as_deref();
    if !anything_paused(&home, server) {
        Screen::new().line(&format!("Nothing is paused for {}.", scope(server)));
        return Ok(ExitCode::SUCCESS);
    }
    confirm::loosening(&format!("let calls of {} pass again", scope(server)), "resume")?;
    switch::resume(&home, server).context("the pause cannot be lifted")?;
    let screen = Screen::new();
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

/// Is there a pause of this server's own (or, without one, any pause at all)?
fn anything_paused(home: &Home, server: Option<&str>) -> bool {
    match (switch::read(home), server) {
        (switch::Switch::Broken(_), _) => true,
        (switch::Switch::Readable(pauses), Some(server)) => pauses.servers.contains_key(server),
        (switch::Switch::Readable(pauses), None) => pauses != switch::Pauses::default(),
    }
}

fn scope(server: Option<&str>) -> String {
    server.map_or_else(|| "all servers".to_owned(), |server| format!("server {server}"))
}

fn prepared() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    home.prepare()?;
    Ok(home)
}
