//! `callgate servers`: what was added, and where it is placed.

use std::process::ExitCode;

use callgate_clients::entry::{How, Server};
use callgate_clients::own;
use callgate_clients::secrets::find::{self, Slot};
use callgate_clients::survey::{Entry, State, Surveyed};
use callgate_home::Home;
use callgate_wiring::masker_of;
use serde_json::json;

use super::wiring;
use crate::args::ServersArgs;
use crate::commands::clients::display;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ServersArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let home = Home::locate()?;
    let servers = own::read(home.path())?.servers;
    let wiring = wiring(&home)?;
    let look = wiring.look_at_clients()?;
    for server in &servers {
        let placed = own::entries_of(&look.surveyed, &look.ledger, &server.id.name, server.local());
        if args.json {
            screen.line(&object(server, &placed).to_string());
        } else {
            print(&screen, server, &placed);
        }
    }
    if servers.is_empty() && !args.json {
        screen.line("No server was added to Callgate. Add one: callgate add NAME --client CLIENT -- COMMAND");
    }
    Ok(ExitCode::SUCCESS)
}

/// What it starts, in one line; why it cannot be placed, if it cannot.
fn words(server: &Server) -> Result<Vec<String>, String> {
    match &server.how {
        How::Local(local) => {
            let words: Vec<_> = local.words().map(str::to_owned).collect();
            Ok(masker_of([local]).command(&words))
        }
        How::Remote => {
            Err("reached over the network; Callgate stands in front of programs on this machine".to_owned())
        }
        How::Odd(odd) => Err(odd.to_string()),
    }
}

fn print(screen: &Screen, server: &Server, placed: &[(&Surveyed, &Entry)]) {
    let name = screen::pad(&display::name(&server.id.name), 20);
    let room = Screen::columns().saturating_sub(24).max(40);
    let rest = match words(server) {
        Ok(words) => {
            screen::clip(&words.iter().map(|word| screen::quoted(word)).collect::<Vec<_>>().join(" "), room)
        }
        Err(why) => screen.paint(screen::WARN, &screen::clip(&screen::harmless(&why), room)),
    };
    screen.line(&format!("{}  {rest}", screen.paint(screen::BOLD, &name)));
    for (file, entry) in placed {
        let (word, style) = match entry.state {
            State::Protected { .. } => ("protected", screen::GOOD),
            State::Open => ("not protected", screen::WARN),
            State::NotCoverable(_) => ("not coverable", screen::DIM),
        };
        let state = screen.paint(style, &screen::pad(word, 13));
        screen.line(&format!("  {state}  {}  {}", file.found.client.name, display::path(&file.found.path)));
    }
    if placed.is_empty() && server.local().is_some() {
        let text = format!("  in no client: callgate add {} --client CLIENT", display::name(&server.id.name));
        screen.line(&screen.paint(screen::DIM, &text));
    }
}

fn object(server: &Server, placed: &[(&Surveyed, &Entry)]) -> serde_json::Value {
    let local = server.local();
    let variables: Vec<_> = local.into_iter().flat_map(|local| &local.env).map(|(name, _)| name).collect();
    let secrets =
        local.map(find::references).unwrap_or_default().into_iter().filter_map(|(slot, _)| match slot {
            Slot::Variable(name) => Some(name),
            Slot::Argument(_) | Slot::Header(_) => None,
        });
    let secrets: Vec<_> = secrets.collect();
    let command = words(server);
    let clients: Vec<_> = placed
        .iter()
        .map(|(file, entry)| {
            let state = match entry.state {
                State::Protected { .. } => "protected",
                State::Open => "not_protected",
                State::NotCoverable(_) => "not_coverable",
            };
            json!({ "client": file.found.client.id, "path": file.found.path.display().to_string(), "state": state })
        })
        .collect();
    json!({
        "name": server.id.name, "command": command.as_ref().ok(), "variables": variables, "secrets": secrets,
        "problem": command.as_ref().err(), "clients": clients,
    })
}
