//! `stop`, `start`, `restart`, `cancel`: what a person asks of the servers that run, and of their calls.

use std::process::ExitCode;
use std::sync::Arc;

use callgate_controls::control::ServerCommand;
use callgate_controls::pause;
use callgate_desk::Desk;
use callgate_desk::inventory::Purpose;
use callgate_desk::supervising::{self, RestartHold, StoppedAll, Whom};
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, SessionId};
use callgate_journal::Origin;

use crate::act;
use crate::args::{CancelArgs, ServerArgs, StopArgs};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn stop(args: &StopArgs) -> anyhow::Result<ExitCode> {
    let Some(server) = &args.server else { return stop_everything() };
    ask(ServerCommand::Stop, server, args.client.as_deref(), args.session)
}

/// For anybody, as to stop is: at worst an agent ends its own call.
pub(crate) fn cancel(args: &CancelArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let (came, done) = desk(&home).cancel_call(&args.call)?;
    Screen::new().line(&screen::harmless(&done.words));
    Ok(code(came.is_over()))
}

pub(crate) fn start(args: &ServerArgs) -> anyhow::Result<ExitCode> {
    ask(ServerCommand::Start, &args.server, args.client.as_deref(), args.session)
}

pub(crate) fn restart(args: &ServerArgs) -> anyhow::Result<ExitCode> {
    ask(ServerCommand::Restart, &args.server, args.client.as_deref(), args.session)
}

fn ask(
    wish: ServerCommand,
    server: &str,
    client: Option<&str>,
    session: Option<SessionId>,
) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let whom = Whom { server: Some(server), client, session };
    permitted(&home, whom, wish, server)?;
    let screen = Screen::new();
    let desk = desk(&home);
    if wish != ServerCommand::Start {
        // What cannot be told is no reason not to stop it.
        tell_lost(&screen, &desk.at_stake(whom).unwrap_or_default());
    }
    let asked = supervising::ask(&home, whom, wish, SystemClock::default().now().wall_ms);
    if asked.is_err() {
        // A name that nobody knows is rather mistyped than at rest.
        act::known_server(server, Purpose::Loosen)?;
    }
    let asked = asked?;
    let became = desk.await_all(wish, &asked);
    screen.line(&screen::harmless(&supervising::told(wish, server, &became)));
    let done = became.iter().all(|one| one.is(wish));
    if wish == ServerCommand::Stop {
        let only = desk.only_option(server, None);
        let server = screen::quoted(server);
        screen.line(&format!("Start it again: callgate start {server}"));
        screen.line(&format!(
            "A client that connects anew starts it as well; to refuse its calls too: callgate pause {server}{only}"
        ));
    } else if !done {
        screen.line("What happened to it: callgate events -n 10; how it stands: callgate status");
    } else if let Some(why) = pause::reason(&home, server) {
        let words = format!("Its calls are still refused, because {why}: callgate resume");
        screen.line(&screen.paint(screen::WARN, &screen::harmless(&words)));
    }
    Ok(code(done))
}

fn desk(home: &Home) -> Desk {
    Desk::new(home.clone(), Arc::new(SystemClock::default()), Origin::Cli)
}

fn tell_lost(screen: &Screen, lost: &[String]) {
    for lost in lost {
        screen.line(&screen.paint(screen::WARN, &format!("Ends with it: {}", screen::harmless(lost))));
    }
}

fn code(done: bool) -> ExitCode {
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// To stop is for anybody. An agent with a shell must not bring back what a person stopped, nor what waits for one.
fn permitted(home: &Home, whom: Whom<'_>, wish: ServerCommand, server: &str) -> anyhow::Result<()> {
    let word = match wish {
        ServerCommand::Stop => return Ok(()),
        ServerCommand::Start => "start",
        ServerCommand::Restart => "restart",
    };
    let server = screen::harmless(server);
    match supervising::kept(home, whom) {
        Some(RestartHold::Stopped) => {
            confirm::loosening(&format!("start {server}, which was stopped by a person"), word)
        }
        Some(RestartHold::Down) => {
            let what = format!("start {server}, which its limits ended or which crashed too often");
            confirm::asking(&what, word)
        }
        None => confirm::not_below_a_session(&format!("{word} {server}")),
    }
}

fn stop_everything() -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let StoppedAll { became, lost } = desk(&home).stop_all()?;
    let screen = Screen::new();
    tell_lost(&screen, &lost);
    screen.line(&screen::harmless(&supervising::everything(&became)));
    screen.line("Let calls through again: callgate resume; start a server: callgate start SERVER");
    Ok(code(became.iter().all(|one| one.is(ServerCommand::Stop))))
}
