//! `callgate add`: a server of one's own, placed in clients behind the gate from the start.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::System;
use callgate_clients::discover::{Found, file_for_new};
use callgate_clients::entry::{NewServer, Server};
use callgate_clients::own::{self, Wanted, placing};
use callgate_clients::plan::Plan;
use callgate_clients::secrets::find::{self, Slot};
use callgate_clients::secrets::lazy_keychain::Lazily;
use callgate_clients::table::clients;
use callgate_desk::Desk;
use callgate_desk::view::ServerStart;
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_secrets::Secret;
use callgate_wiring::{Look, launch_notes, masker_of};

use super::{refused, wiring};
use crate::act::{desk, told};
use crate::args::AddArgs;
use crate::commands::clients::change::{put_program, text};
use crate::commands::clients::{display, named, person, quiet};
use crate::commands::starting;
use crate::hidden;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &AddArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let screen = Screen::new();
    let wiring = wiring(&home)?;
    let mut adding = Adding::new(&home, args, wiring.look_at_clients()?)?;
    let is_new = !own::check(home.path(), &adding.wanted)?;
    adding.warn(&screen);
    display::launch_notes(&screen, &launch_notes(&args.name, &adding.wanted.server.local()));
    let ready = adding.look_ahead(&screen)?;
    if args.dry_run {
        adding.show(&screen)?;
        if let Some(start) = &args.start {
            starting::preview(&screen, &adding.starts(&desk()?)?, start);
        }
        return Ok(code(ready));
    }
    if !ready && !args.all_clients {
        bail!("nothing was added");
    }
    put_program(&home)?;
    let keychain = Lazily::at(home.path());
    if is_new && !args.secret.is_empty() {
        // Before anybody is asked for a value that could not be kept.
        keychain.open().map_err(|error| anyhow::anyhow!("{error}. Nothing was added."))?;
        adding.wanted.secrets = hidden::ask_all(&args.secret)?;
    }
    if is_new {
        let opened = (!args.secret.is_empty()).then(|| keychain.open()).transpose();
        let opened = opened.map_err(|error| anyhow::anyhow!("{error}. Nothing was added."))?;
        own::add(home.path(), &adding.wanted, opened)?;
        let path = display::path(&own::path(home.path()));
        screen.line(&format!("{} is in {path} now.", display::name(&args.name)));
    }
    let begun = match &args.start {
        Some(start) => {
            let desk = desk()?;
            starting::begin(&desk, &screen, &adding.starts(&desk)?, start)?
        }
        None => true,
    };
    let placed = adding.place(&screen, &keychain)?;
    if adding.targets.is_empty() {
        screen.line(&format!("In no client yet. Place it: callgate add {} --client CLIENT", args.name));
    }
    Ok(code(ready && placed && begun))
}

fn code(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a person wants.
struct Adding<'a> {
    home: &'a Home,
    args: &'a AddArgs,
    wanted: Wanted,
    /// The files that it goes into.
    targets: Vec<Found>,
    look: Look<'a>,
    binary: String,
}

impl<'a> Adding<'a> {
    fn new(home: &'a Home, args: &'a AddArgs, look: Look<'a>) -> anyhow::Result<Adding<'a>> {
        let binary = text(&callgate_programs::place(home.path()))?.to_owned();
        let targets = targets(args)?;
        Ok(Adding { home, args, wanted: wanted(home, args)?, targets, look, binary })
    }

    /// Values that anybody could read in these files.
    fn warn(&self, screen: &Screen) {
        for one in find::secrets(&self.wanted.server.local()) {
            let text = match &one.slot {
                Slot::Variable(name) => format!(
                    "{name} looks like a secret, and would stand readable in these files. Keep it in the keychain: --secret {name}"
                ),
                _ => format!(
                    "{} looks like a secret, and would stand readable in these files and in every list of processes. If the \
                     server takes it from a variable, use --secret",
                    one.name
                ),
            };
            screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
        }
    }

    fn starts(&self, desk: &Desk) -> anyhow::Result<Vec<ServerStart>> {
        let local = self.wanted.server.local();
        let words = local.words().map(str::to_owned).collect();
        Ok(vec![desk.start_of(&self.args.name, words).map_err(told)?])
    }

    fn plan(&self, found: &Found) -> Result<Plan, String> {
        let (server, ledger) = (self.wanted.whole(), &self.look.ledger);
        placing::preview(found, &self.binary, &server, &mut self.look.names(), ledger)
            .map_err(|error| error.to_string())
    }

    /// Before anything is written: says what stands in the way. Those that it does go on into are left.
    fn look_ahead(&mut self, screen: &Screen) -> anyhow::Result<bool> {
        let mut good = Vec::new();
        let before = self.targets.len();
        for found in &self.targets {
            let who = found.client.name;
            let why = match self.plan(found) {
                Err(why) => Some(format!("{}: {why}", display::path(&found.path))),
                Ok(plan) if !plan.refused.is_empty() => plan.refused.first().map(|one| one.why.clone()),
                Ok(plan) if plan.changes_nothing() || self.args.dry_run => None,
                Ok(_) => quiet(screen, found.client, self.args.running).err(),
            };
            match why {
                Some(why) => refused(screen, who, &why),
                None => good.push(found.clone()),
            }
        }
        self.targets = good;
        Ok(self.targets.len() == before)
    }

    /// Without writing.
    fn show(&self, screen: &Screen) -> anyhow::Result<()> {
        let (new, listing) = (self.wanted.server.local(), own::read(self.home.path())?);
        let masker = masker_of(listing.servers.iter().filter_map(Server::local).chain([&new]));
        let (before, after) = own::preview(self.home.path(), &self.wanted)?;
        display::masked_diff(screen, &own::path(self.home.path()), (&before, &after), &masker);
        for found in &self.targets {
            if let Ok(plan) = self.plan(found) {
                let entries = plan.contents.entries.iter().filter_map(|entry| entry.local());
                let new = self.wanted.server.local();
                let masker = masker_of(entries.chain([&new]));
                display::masked_diff(screen, &found.path, (plan.before(), &plan.after), &masker);
            }
        }
        Ok(())
    }

    /// Whether it is everywhere now where it should be.
    fn place(&self, screen: &Screen, keychain: &Lazily<'_>) -> anyhow::Result<bool> {
        let mut names = self.look.names();
        let now_ms = SystemClock::default().now().wall_ms;
        let open = || keychain.open();
        let mut all = true;
        for found in &self.targets {
            let client = found.client;
            let placed = placing::place(
                self.home.path(),
                found,
                &self.args.name,
                &self.binary,
                &mut names,
                &open,
                now_ms,
            );
            match placed {
                Ok(plan) if !plan.refused.is_empty() => {
                    all = false;
                    plan.refused.iter().for_each(|one| refused(screen, client.name, &one.why));
                }
                Ok(plan) if plan.edits.is_empty() => {
                    screen.line(&format!(
                        "{}: {} is there already.",
                        client.name,
                        display::name(&self.args.name)
                    ));
                }
                Ok(_) => {
                    let name = display::name(&self.args.name);
                    let path = display::path(&found.path);
                    screen.line(&format!("{}: placed {name} behind the gate, in {path}", client.name));
                    screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
                }
                Err(error) => {
                    all = false;
                    refused(screen, client.name, &error.to_string());
                }
            }
        }
        Ok(all)
    }
}

/// The files of the clients that are named.
fn targets(args: &AddArgs) -> anyhow::Result<Vec<Found>> {
    let system = System::here(person()?);
    if args.all_clients {
        return Ok(clients().iter().filter_map(|client| file_for_new(&system, client)).collect());
    }
    let mut ids: Vec<&String> = args.client.iter().collect();
    ids.dedup();
    ids.into_iter()
        .map(|id| {
            let client = named(id)?;
            file_for_new(&system, client).with_context(|| {
                format!(
                    "{} has no configuration file here that a server could be added to, and none that Callgate would make. Add \
                     a first server in {0} itself; nothing was added",
                    client.name
                )
            })
        })
        .collect()
}

/// What it is to be, the values of its secrets still unknown.
fn wanted(home: &Home, args: &AddArgs) -> anyhow::Result<Wanted> {
    let Some((program, rest)) = args.command.split_first() else {
        if !args.env.is_empty() || !args.secret.is_empty() {
            bail!("say what it starts, too: callgate add {} … -- COMMAND", args.name);
        }
        let Some(local) = own::find(home.path(), &args.name)? else {
            bail!(
                "there is no server {} yet. Say what it starts: callgate add {} -- COMMAND",
                display::name(&args.name),
                screen::quoted(&args.name)
            );
        };
        return Ok(Wanted { server: NewServer::of(&args.name, &local), secrets: Vec::new() });
    };
    let env = args.env.iter().map(|one| {
        let (name, value) = one.split_once('=').with_context(|| {
            format!(
                "{} is no variable with a value: --env NAME=VALUE",
                screen::quoted(one.split(' ').next().unwrap_or_default())
            )
        })?;
        Ok((name.to_owned(), value.to_owned()))
    });
    let server = NewServer {
        name: args.name.clone(),
        program: absolute(program)?,
        args: rest.to_vec(),
        env: env.collect::<anyhow::Result<_>>()?,
    };
    let secrets = args.secret.iter().map(|name| (name.clone(), Secret::new(String::new())));
    Ok(Wanted { server, secrets: secrets.collect() })
}

/// A client starts it from a folder of its own: `./server` has to say where.
fn absolute(program: &str) -> anyhow::Result<String> {
    let path = std::path::Path::new(program);
    if path.is_absolute() || path.components().count() < 2 {
        return Ok(program.to_owned());
    }
    let path =
        std::path::absolute(path).with_context(|| format!("{} is no path", screen::quoted(program)))?;
    // `./` in the middle of it is what is left of what was typed.
    let path: std::path::PathBuf = path.components().collect();
    Ok(text(&path)?.to_owned())
}
