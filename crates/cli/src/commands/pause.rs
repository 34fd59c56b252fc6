//! `pause` and `resume`: the switch that refuses every call.

use std::collections::BTreeSet;
use std::process::ExitCode;

use callgate_desk::pausing::{self, scope};
use callgate_store::clock::SystemClock;
use callgate_store::{Home, Stand, lease, pause as switch};

use crate::args::PauseArgs;
use crate::change;
use crate::commands::edit;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn pause(args: &PauseArgs) -> anyhow::Result<ExitCode> {
    let home = prepared()?;
    let server = args.server.as_deref();
    pausing::pause(&change::maker(&home, &SystemClock::default()), server, None)?;
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
    if !pausing::is_paused(&switch::read(&home), server) {
        Screen::new().line(&format!("Nothing is paused for {}.", scope(server)));
        return Ok(ExitCode::SUCCESS);
    }
    confirm::loosening(&format!("let calls of {} pass again", scope(server)), "resume")?;
    pausing::resume(&change::maker(&home, &SystemClock::default()), server)?;
    let screen = Screen::new();
    screen.line(&format!("Resumed: calls of {} are judged by their policies again.", scope(server)));
    if server.is_some() && switch::reason(&home, server.unwrap_or_default()).is_some() {
        screen.line("All servers are still paused: callgate resume");
    }
    // What was stopped together with the pause does not come back with its end.
    let stopped: BTreeSet<String> = lease::running(&home)
        .into_iter()
        .filter(|lease| lease.stand == Stand::Stopped && server.is_none_or(|server| lease.server == server))
        .map(|lease| lease.server)
        .collect();
    for server in stopped {
        let words = format!(
            "{} is still stopped: callgate start {}",
            screen::harmless(&server),
            screen::quoted(&server)
        );
        screen.line(&screen.paint(screen::WARN, &words));
    }
    Ok(ExitCode::SUCCESS)
}

fn prepared() -> anyhow::Result<Home> {
    let home = Home::locate()?;
    home.prepare()?;
    Ok(home)
}
