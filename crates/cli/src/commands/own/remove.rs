//! `callgate remove`: a server of one's own out of the clients, and out of `servers.json`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use callgate_clients::entry::Server;
use callgate_clients::ledger::LedgerKey;
use callgate_clients::own::{self, placing};
use callgate_clients::plan::{PlannedAct, plan};
use callgate_clients::secrets::lazy_keychain::Lazily;
use callgate_clients::survey::{Entry, Surveyed};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_wiring::{Look, RemovalPlan, masker_of};

use super::{left_behind, refused, wiring};
use crate::args::RemoveArgs;
use crate::commands::clients::{display, named, quiet};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &RemoveArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let screen = Screen::new();
    let clients: BTreeSet<&str> =
        args.client.iter().map(|id| Ok(named(id)?.id)).collect::<anyhow::Result<_>>()?;
    let wiring = wiring(&home)?;
    let look = wiring.look_at_clients()?;
    let RemovalPlan { files, stays, gone, .. } = RemovalPlan::find(home.path(), &look, &args.name, &clients)?;
    let removing = Removing { home: &home, args, clients, look: &look };
    let is_listed = own::read(home.path())?.servers.iter().any(|server| server.id.name == args.name);
    for client in stays {
        let text = format!(
            "{}: the same server is there, but not by Callgate's hand, so it stays. Take it out as well: --client {}",
            client.name, client.id
        );
        screen.line(&screen.paint(screen::DIM, &text));
    }
    if files.is_empty() && gone.is_empty() && (!is_listed || !args.client.is_empty()) {
        let whom = if args.client.is_empty() { "Callgate" } else { "these clients" };
        bail!("{whom} added no server {} here; `callgate servers` lists them", display::name(&args.name));
    }
    if args.dry_run {
        return removing.show(&screen, &files);
    }
    if !args.yes {
        let mut from: Vec<_> = files.iter().map(|(file, _)| file.found.client.name).collect();
        from.extend((is_listed && args.client.is_empty()).then_some("Callgate's own list"));
        from.extend(from.is_empty().then_some("what Callgate remembers"));
        confirm::asking(&format!("take {} out of {}", display::name(&args.name), from.join(", ")), "remove")?;
    }
    let keychain = Lazily::at(home.path());
    let all = removing.take_out(&screen, &files, &keychain);
    placing::forget_gone(home.path(), &gone)?;
    if !args.client.is_empty() || !is_listed {
        return Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if !all {
        bail!("{} stays in Callgate's own list until it is out of every client", display::name(&args.name));
    }
    if let Some(server) = own::forget(home.path(), &args.name)? {
        if let Some(local) = server.local() {
            let open = || keychain.open();
            left_behind(&screen, &placing::forget_own_secrets(home.path(), &args.name, local, &open));
        }
        let path = display::path(&own::path(home.path()));
        screen.line(&format!("{} is no longer in {path}.", display::name(&args.name)));
    }
    Ok(ExitCode::SUCCESS)
}

struct Removing<'a> {
    home: &'a Home,
    args: &'a RemoveArgs,
    clients: BTreeSet<&'a str>,
    look: &'a Look<'a>,
}

impl Removing<'_> {
    fn show(&self, screen: &Screen, files: &[(&Surveyed, Vec<LedgerKey>)]) -> anyhow::Result<ExitCode> {
        for (file, keys) in files {
            let chosen = |entry: &Entry| keys.contains(&entry.key);
            let mut names = self.look.names();
            match plan(&file.found, PlannedAct::Remove, &chosen, &mut names, &self.look.ledger) {
                Ok(plan) => {
                    let texts = (plan.before(), plan.after.as_str());
                    display::diff(screen, &plan.found.path, texts, &plan.contents.entries);
                    plan.refused.iter().for_each(|one| refused(screen, file.found.client.name, &one.why));
                }
                Err(error) => refused(screen, file.found.client.name, &error.to_string()),
            }
        }
        if self.clients.is_empty() {
            let home = self.home.path();
            let (before, after) = own::preview_forget(home, &self.args.name)?;
            let listing = own::read(home)?;
            let locals = listing.servers.iter().filter_map(Server::local);
            display::masked_diff(screen, &own::path(home), (&before, &after), &masker_of(locals));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Whether all of it is out.
    fn take_out(
        &self,
        screen: &Screen,
        files: &[(&Surveyed, Vec<LedgerKey>)],
        keychain: &Lazily<'_>,
    ) -> bool {
        let now_ms = SystemClock::default().now().wall_ms;
        let open = || keychain.open();
        let mut names = self.look.names();
        let mut all = true;
        for (file, keys) in files {
            let client = file.found.client;
            let taken = quiet(screen, client, self.args.running).and_then(|()| {
                placing::take_out(self.home.path(), &file.found, keys, &mut names, &open, now_ms)
                    .map_err(|error| error.to_string())
            });
            match taken {
                Ok(taken) => {
                    left_behind(screen, &taken.left);
                    for one in &taken.plan.refused {
                        all = false;
                        refused(screen, client.name, &one.why);
                    }
                    if !taken.plan.edits.is_empty() {
                        let path = display::path(&file.found.path);
                        let name = display::name(&self.args.name);
                        screen.line(&format!("{}: removed {name} from {path}", client.name));
                        screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
                    }
                }
                Err(why) => {
                    all = false;
                    refused(screen, client.name, &why);
                }
            }
        }
        all
    }
}
