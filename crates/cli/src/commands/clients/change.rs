//! `callgate clients diff`, `protect`, `unprotect`: shown first, then written.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::change::carry_out;
use callgate_clients::discover::Found;
use callgate_clients::ledger::Key;
use callgate_clients::names::Names;
use callgate_clients::plan::{Act, Plan, plan};
use callgate_clients::secrets::returning::Returning;
use callgate_clients::survey::{Entry, State, Surveyed, entries};
use callgate_clients::{Client, ledger};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_programs::{Installed, Pair, place};

use super::{look, named, quiet, shown};
use crate::args::{ChangeArgs, EntriesArgs, WhileRunning};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn diff(args: &EntriesArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let binary = place(home.path());
    let act = Act::Protect { binary: text(&binary)? };
    let screen = Screen::new();
    Ok(Work::of(&home, args)?.show(&screen, act)?.close(&screen, act, true))
}

pub(crate) fn protect(args: &ChangeArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let binary = place(home.path());
    let work = Work::of(&home, &args.entries)?;
    let (screen, act) = (Screen::new(), Act::Protect { binary: text(&binary)? });
    if args.dry_run {
        return Ok(work.show(&screen, act)?.close(&screen, act, true));
    }
    let put = put_program(&home)?;
    let outcome = work.write(&screen, act, How::of(args));
    // Entries that were protected already start again by this alone.
    let mended = outcome.done.is_empty() && outcome.refused == 0 && put != Installed::Already;
    let code = match mended {
        true => {
            let path = shown::path(&binary);
            screen.line(&format!(
                "Put {path} in place ({}): what is protected starts through it.",
                env!("CARGO_PKG_VERSION")
            ));
            ExitCode::SUCCESS
        }
        false => outcome.close(&screen, act, false),
    };
    if !outcome.done.is_empty() {
        screen.line("Then watch every call: callgate watch");
    }
    Ok(code)
}

/// The program that clients start, and its partner, are in their places from here on.
pub(in crate::commands) fn put_program(home: &Home) -> anyhow::Result<Installed> {
    callgate_controls::prepare_home(home)?;
    let brought = Pair::brought()
        .context("the gate, callgate, is not beside this program: install Callgate again")??;
    let installed = brought
        .install_unless_newer(env!("CARGO_PKG_VERSION"), home.path())
        .with_context(|| format!("{} cannot be written", place(home.path()).display()))?;
    callgate_desk::sweep_programs(home);
    Ok(installed)
}

/// A configuration file holds text.
pub(in crate::commands) fn text(binary: &Path) -> anyhow::Result<&str> {
    binary.to_str().with_context(|| {
        format!("{} cannot be written into a client's file: it is not text", binary.display())
    })
}

pub(crate) fn unprotect(args: &ChangeArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let (screen, work) = (Screen::new(), Work::of(&home, &args.entries)?);
    if args.dry_run {
        return Ok(work.show(&screen, Act::Unprotect)?.close(&screen, Act::Unprotect, true));
    }
    confirm::loosening(&work.without_gates(), "unprotect")?;
    Ok(work.write(&screen, Act::Unprotect, How::of(args)).close(&screen, Act::Unprotect, false))
}

/// How a change is made.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct How {
    pub(in crate::commands) running: WhileRunning,
    pub(in crate::commands) leave_secrets: bool,
}

impl How {
    fn of(args: &ChangeArgs) -> How {
        How { running: args.running, leave_secrets: args.leave_secrets }
    }
}

/// The entries that a person means.
pub(in crate::commands) struct Work<'a> {
    home: &'a Home,
    client: Option<&'static Client>,
    servers: BTreeSet<&'a str>,
    /// Entries that are not meant, whatever the rest says.
    besides: BTreeSet<Key>,
    surveyed: Vec<Surveyed>,
    returning: Returning<'a>,
}

impl<'a> Work<'a> {
    /// Every entry of these files, besides some.
    pub(in crate::commands) fn on(
        home: &'a Home,
        surveyed: Vec<Surveyed>,
        besides: BTreeSet<Key>,
    ) -> Work<'a> {
        let (client, servers) = (None, BTreeSet::new());
        Work { home, client, servers, besides, surveyed, returning: Returning::to(home.path()) }
    }

    fn of(home: &'a Home, args: &'a EntriesArgs) -> anyhow::Result<Work<'a>> {
        let client = match (&args.client, args.all) {
            (Some(id), _) => Some(named(id)?),
            (None, true) => None,
            (None, false) => bail!("name a client (`callgate clients` lists them), or say --all"),
        };
        let servers = args.servers.iter().map(String::as_str).collect();
        let work = Work { client, servers, ..Work::on(home, look(home, &args.project)?, BTreeSet::new()) };
        if let Some(client) = client
            && work.files().next().is_none()
        {
            bail!("{} has no configuration file here", client.name);
        }
        work.knows_the_names()?;
        Ok(work)
    }

    /// Before anything is written: a name that is not there is a slip, and so may be the others.
    fn knows_the_names(&self) -> anyhow::Result<()> {
        let there: BTreeSet<_> =
            self.files().flat_map(Surveyed::entries).map(|entry| entry.key.name.as_str()).collect();
        let missing: Vec<_> = self.servers.difference(&there).map(|name| screen::quoted(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let unread = self.files().any(|file| file.read.is_err());
        let unread = if unread { " Not every file could be read." } else { "" };
        bail!("no such server: {}. `callgate clients` lists them.{unread}", missing.join(", "));
    }

    /// Who has which name at the gate now.
    fn names(&self) -> Names {
        let ledger = ledger::read(self.home.path()).unwrap_or_default();
        Names::of(entries(&self.surveyed), &ledger)
    }

    pub(in crate::commands) fn files(&self) -> impl Iterator<Item = &Surveyed> {
        self.surveyed.iter().filter(|file| self.client.is_none_or(|client| client.id == file.found.client.id))
    }

    fn chosen(&self, entry: &Entry) -> bool {
        let named = self.servers.is_empty() || self.servers.contains(entry.key.name.as_str());
        named && !self.besides.contains(&entry.key)
    }

    /// What unprotecting does, in words.
    fn without_gates(&self) -> String {
        let mut gated: Vec<(&Client, Vec<String>)> = Vec::new();
        for file in self.files() {
            let is_meant =
                |entry: &&Entry| self.chosen(entry) && matches!(entry.state, State::Protected { .. });
            let names = file.entries().iter().filter(is_meant).map(|entry| entry.key.name.clone());
            match gated.iter_mut().find(|(client, _)| client.id == file.found.client.id) {
                Some((_, list)) => list.extend(names),
                None => gated.push((file.found.client, names.collect())),
            }
        }
        gated.retain(|(_, names)| !names.is_empty());
        let one = |(client, names): &(&Client, Vec<String>)| {
            format!("{} start {}", client.name, shown::names(names))
        };
        match &gated[..] {
            [] => "let these clients start their servers without the gate".to_owned(),
            some => format!("let {} without the gate", some.iter().map(one).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Without writing.
    pub(in crate::commands) fn show(&self, screen: &Screen, act: Act<'_>) -> anyhow::Result<Outcome> {
        let ledger = ledger::read(self.home.path())?;
        let (mut outcome, mut names) = (Outcome::default(), self.names());
        for file in self.files() {
            let made = plan(&file.found, act, &|entry| self.chosen(entry), &mut names, &ledger);
            match made {
                Ok(plan) => {
                    let entries = &plan.contents.entries;
                    shown::diff(screen, &plan.found.path, (plan.before(), &plan.after), entries);
                    self.told(screen, &plan, act, &mut outcome);
                }
                Err(error) => left_alone(screen, &file.found, &error.to_string(), &mut outcome),
            }
        }
        Ok(outcome)
    }

    pub(in crate::commands) fn write(&self, screen: &Screen, act: Act<'_>, how: How) -> Outcome {
        let (mut outcome, mut names) = (Outcome::default(), self.names());
        let now_ms = SystemClock::default().now().wall_ms;
        for file in self.files() {
            let found = &file.found;
            let written = self.would_write(file, act);
            if written && let Err(why) = quiet(screen, found.client, how.running) {
                left_alone(screen, found, &why, &mut outcome);
                continue;
            }
            let stuck = match act {
                Act::Unprotect if !how.leave_secrets => self.secrets_back(screen, file, &mut outcome, now_ms),
                _ => BTreeSet::new(),
            };
            let chosen = |entry: &Entry| self.chosen(entry) && !stuck.contains(&entry.key);
            match carry_out(self.home.path(), found, act, &chosen, &mut names, now_ms) {
                Ok(plan) => self.told(screen, &plan, act, &mut outcome),
                Err(error) => left_alone(screen, found, &error.to_string(), &mut outcome),
            }
        }
        outcome
    }

    /// Without its gate, a server would get references in place of its secrets. Returns the entries whose secrets stay where
    /// they are.
    fn secrets_back(
        &self,
        screen: &Screen,
        file: &Surveyed,
        outcome: &mut Outcome,
        now_ms: i64,
    ) -> BTreeSet<Key> {
        let mut stuck = BTreeSet::new();
        for returned in self.returning.put_back(file, &|entry| self.chosen(entry), now_ms) {
            let entry = returned.entry;
            let name = format!("{}: {}", file.found.client.name, shown::name(&entry.key.name));
            match returned.moved {
                Ok(moved) => {
                    screen.line(&format!("{name}: {} back in the file", moved.names.join(", ")));
                    if !moved.left.is_empty() {
                        let left = moved.left.join(", ");
                        let text =
                            format!("{name}: still in the keychain, until you remove it there: {left}");
                        screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
                    }
                }
                Err(why) => {
                    outcome.refused += 1;
                    stuck.insert(entry.key.clone());
                    let text = format!(
                        "{name} stays behind the gate, because its secrets cannot be put back: {why}. Or take the gate away \
                         without them: --leave-secrets"
                    );
                    screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
                }
            }
        }
        stuck
    }

    fn would_write(&self, file: &Surveyed, act: Act<'_>) -> bool {
        let ledger = ledger::read(self.home.path()).unwrap_or_default();
        plan(&file.found, act, &|entry| self.chosen(entry), &mut self.names(), &ledger)
            .is_ok_and(|plan| !plan.changes_nothing())
    }

    fn told(&self, screen: &Screen, plan: &Plan, act: Act<'_>, outcome: &mut Outcome) {
        if let Act::Protect { .. } = act
            && let Some(why) = plan.contents.no_list()
        {
            left_alone(screen, &plan.found, &why, outcome);
        }
        for edit in &plan.edits {
            let known = match edit.server == edit.key.name {
                true => String::new(),
                false => format!(" (known as {})", screen::quoted(&edit.server)),
            };
            let words = format!("{}{known}", shown::name(&edit.key.name));
            match outcome.done.last_mut() {
                Some((client, list)) if client.id == plan.found.client.id => list.push(words),
                _ => outcome.done.push((plan.found.client, vec![words])),
            }
        }
        for refused in &plan.refused {
            let name = &refused.key.name;
            // What nobody can cover and nobody asked for by name is told of in the list, not as a failure.
            if !refused.not_coverable || self.servers.contains(name.as_str()) {
                outcome.refused += 1;
                let text = format!(
                    "{}: {} stays as it is: {}",
                    plan.found.client.name,
                    shown::name(name),
                    refused.why
                );
                screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
            }
        }
    }
}

fn left_alone(screen: &Screen, found: &Found, why: &str, outcome: &mut Outcome) {
    outcome.refused += 1;
    let text = format!("{}: {why}", shown::path(&found.path));
    screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
}

pub(in crate::commands) fn done(act: Act<'_>, dry: bool) -> &'static str {
    match (act, dry) {
        (Act::Protect { .. }, false) => "protected",
        (Act::Protect { .. }, true) => "would protect",
        (Act::Unprotect, false) => "no longer protected:",
        (Act::Unprotect, true) => "would no longer protect",
        (Act::Place { .. }, false) => "placed",
        (Act::Place { .. }, true) => "would place",
        (Act::Remove, false) => "removed",
        (Act::Remove, true) => "would remove",
    }
}

#[derive(Default)]
pub(in crate::commands) struct Outcome {
    /// Per client, the entries that were edited.
    done: Vec<(&'static Client, Vec<String>)>,
    refused: usize,
}

impl Outcome {
    /// Says what was done, or would be.
    pub(in crate::commands) fn told(&self, screen: &Screen, act: Act<'_>, dry: bool) {
        for (client, names) in &self.done {
            screen.line(&format!("{}: {} {}", client.name, done(act, dry), names.join(", ")));
            if !dry {
                screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
            }
        }
    }

    fn close(&self, screen: &Screen, act: Act<'_>, dry: bool) -> ExitCode {
        if self.done.is_empty() && self.refused == 0 {
            screen.line("Nothing to do: everything chosen is so already.");
        }
        self.told(screen, act, dry);
        if self.refused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
