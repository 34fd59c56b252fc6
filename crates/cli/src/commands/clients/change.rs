//! `callgate clients diff`, `protect`, `unprotect`: shown first, then written.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::discover::Found;
use callgate_clients::ledger::Ledger;
use callgate_clients::plan::{Plan, PlannedAct};
use callgate_clients::secrets::restoration::Returned;
use callgate_clients::survey::{Entry, State};
use callgate_clients::{Client, ledger};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_programs::{Installed, Pair, place};
use callgate_wiring::view::EntryKey;
use callgate_wiring::{EntryChange, Timing, Written, launch_notes_of};

use super::selection::Selection;
use super::{display, quiet};
use crate::act::{desk, told};
use crate::args::{ChangeArgs, EntriesArgs, WhileRunning};
use crate::commands::starting;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn diff(args: &EntriesArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let binary = place(home.path());
    let act = PlannedAct::Protect { binary: text(&binary)? };
    let screen = Screen::new();
    Ok(Work::of(&home, args)?.show(&screen, act)?.close(&screen, act, true))
}

pub(crate) fn protect(args: &ChangeArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let binary = place(home.path());
    let work = Work::of(&home, &args.entries)?;
    let (screen, act) = (Screen::new(), PlannedAct::Protect { binary: text(&binary)? });
    if args.dry_run {
        let outcome = work.show(&screen, act)?;
        if let Some(start) = &args.start {
            starting::preview(&screen, &desk()?.server_starts(&outcome.keys).map_err(told)?, start);
        }
        return Ok(outcome.close(&screen, act, true));
    }
    let put = put_program(&home)?;
    let outcome = work.write(&screen, act, How::of(args));
    // Entries that were protected already start again by this alone.
    let mended = outcome.done.is_empty() && outcome.refused == 0 && put != Installed::Already;
    let code = match mended {
        true => {
            let path = display::path(&binary);
            screen.line(&format!(
                "Put {path} in place ({}): what is protected starts through it.",
                env!("CARGO_PKG_VERSION")
            ));
            ExitCode::SUCCESS
        }
        false => outcome.close(&screen, act, false),
    };
    let begun = match &args.start {
        Some(start) => begin(&screen, &outcome.keys, start)?,
        None => true,
    };
    if !outcome.done.is_empty() {
        screen.line("Then watch every call: callgate watch");
    }
    Ok(if begun { code } else { ExitCode::FAILURE })
}

/// The rules that were asked for, in force before a client starts these servers again.
fn begin(screen: &Screen, keys: &[EntryKey], start: &str) -> anyhow::Result<bool> {
    if keys.is_empty() {
        screen::hint(
            "--start is for servers that are put behind the gate now; for others: callgate scan SERVER --start …",
        );
        return Ok(true);
    }
    let desk = desk()?;
    let starts = desk.server_starts(keys).map_err(told)?;
    starting::begin(&desk, screen, &starts, start)
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
        return Ok(work.show(&screen, PlannedAct::Unprotect)?.close(&screen, PlannedAct::Unprotect, true));
    }
    confirm::loosening(&work.without_gates(), "unprotect")?;
    Ok(work.write(&screen, PlannedAct::Unprotect, How::of(args)).close(&screen, PlannedAct::Unprotect, false))
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

/// A change of the entries that a person means, told as it is made.
pub(in crate::commands) struct Work<'a> {
    home: &'a Home,
    selection: Selection,
}

impl<'a> Work<'a> {
    pub(in crate::commands) fn on(home: &'a Home, selection: Selection) -> Work<'a> {
        Work { home, selection }
    }

    fn of(home: &'a Home, args: &EntriesArgs) -> anyhow::Result<Work<'a>> {
        let selection = Selection::parse(home, args)?;
        if let Some(client) = selection.client()
            && selection.files().next().is_none()
        {
            bail!("{} has no configuration file here", client.name);
        }
        Ok(Work::on(home, selection))
    }

    /// What unprotecting does, in words.
    fn without_gates(&self) -> String {
        let mut gated: Vec<(&Client, Vec<String>)> = Vec::new();
        let is_gated = |entry: &Entry| matches!(entry.state, State::Protected { .. });
        for (file, entry) in self.selection.entries().filter(|(_, entry)| is_gated(entry)) {
            let name = entry.key.name.clone();
            match gated.iter_mut().find(|(client, _)| client.id == file.found.client.id) {
                Some((_, list)) => list.push(name),
                None => gated.push((file.found.client, vec![name])),
            }
        }
        let one = |(client, names): &(&Client, Vec<String>)| {
            format!("{} start {}", client.name, display::names(names))
        };
        match &gated[..] {
            [] => "let these clients start their servers without the gate".to_owned(),
            some => format!("let {} without the gate", some.iter().map(one).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Without writing.
    pub(in crate::commands) fn show(
        &self,
        screen: &Screen,
        act: PlannedAct<'_>,
    ) -> anyhow::Result<ChangeOutcome> {
        let ledger = ledger::read(self.home.path())?;
        let mut outcome = ChangeOutcome::default();
        let chosen = |entry: &Entry| self.selection.has(entry);
        let mut change = self.change(act, &chosen, &ledger);
        for file in self.selection.files() {
            match change.preview(file) {
                Ok(plan) => {
                    let entries = &plan.contents.entries;
                    display::diff(screen, &plan.found.path, (plan.before(), &plan.after), entries);
                    self.told(screen, &plan, act, &mut outcome);
                    launch_notes_told(screen, &plan, act);
                }
                Err(why) => left_alone(screen, &file.found, &why, &mut outcome),
            }
        }
        Ok(outcome)
    }

    pub(in crate::commands) fn write(&self, screen: &Screen, act: PlannedAct<'_>, how: How) -> ChangeOutcome {
        let ledger = ledger::read(self.home.path()).unwrap_or_default();
        let mut outcome = ChangeOutcome::default();
        let chosen = |entry: &Entry| self.selection.has(entry);
        let mut change = self.change(act, &chosen, &ledger);
        change.leave_secrets = how.leave_secrets;
        for file in self.selection.files() {
            let client = file.found.client;
            let changed = change.write(file, || match quiet(screen, client, how.running) {
                Ok(()) => Timing::Now,
                Err(why) => Timing::Never(why),
            });
            for returned in &changed.returned {
                secrets_back(screen, client, returned, &mut outcome);
            }
            match changed.written {
                Written::Done(plan) => {
                    self.told(screen, &plan, act, &mut outcome);
                    launch_notes_told(screen, &plan, act);
                }
                // Nothing waits behind a command that has ended.
                Written::Waits(_) => {}
                Written::Refused(why) => left_alone(screen, &file.found, &why, &mut outcome),
            }
        }
        outcome
    }

    fn change<'c>(
        &'c self,
        act: PlannedAct<'c>,
        chosen: &'c dyn Fn(&Entry) -> bool,
        ledger: &'c Ledger,
    ) -> EntryChange<'c> {
        let now_ms = SystemClock::default().now().wall_ms;
        EntryChange::new(self.home.path(), act, chosen, (ledger, &self.selection.surveyed), now_ms)
    }

    fn told(&self, screen: &Screen, plan: &Plan, act: PlannedAct<'_>, outcome: &mut ChangeOutcome) {
        if let PlannedAct::Protect { .. } = act
            && let Some(why) = plan.contents.no_list()
        {
            left_alone(screen, &plan.found, &why, outcome);
        }
        for edit in &plan.edits {
            let known = match edit.server == edit.key.name {
                true => String::new(),
                false => format!(" (known as {})", screen::quoted(&edit.server)),
            };
            let words = format!("{}{known}", display::name(&edit.key.name));
            outcome.keys.push(EntryKey {
                client: edit.key.client.clone(),
                path: edit.key.path.to_string_lossy().into_owned(),
                project: edit.key.project.clone(),
                name: edit.key.name.clone(),
            });
            match outcome.done.last_mut() {
                Some((client, list)) if client.id == plan.found.client.id => list.push(words),
                _ => outcome.done.push((plan.found.client, vec![words])),
            }
        }
        for refused in &plan.refused {
            let name = &refused.key.name;
            // What nobody can cover and nobody asked for by name is told of in the list, not as a failure.
            if !refused.not_coverable || self.selection.is_named(name) {
                outcome.refused += 1;
                let text = format!(
                    "{}: {} stays as it is: {}",
                    plan.found.client.name,
                    display::name(name),
                    refused.why
                );
                screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
            }
        }
    }
}

fn launch_notes_told(screen: &Screen, plan: &Plan, act: PlannedAct<'_>) {
    if let PlannedAct::Protect { .. } = act {
        display::launch_notes(screen, &launch_notes_of(plan));
    }
}

fn secrets_back(screen: &Screen, client: &Client, returned: &Returned<'_>, outcome: &mut ChangeOutcome) {
    let name = format!("{}: {}", client.name, display::name(&returned.entry.key.name));
    match &returned.moved {
        Ok(moved) => {
            screen.line(&format!("{name}: {} back in the file", moved.names.join(", ")));
            if !moved.left.is_empty() {
                let left = moved.left.join(", ");
                let text = format!("{name}: still in the keychain, until you remove it there: {left}");
                screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
            }
        }
        Err(why) => {
            outcome.refused += 1;
            let text = format!(
                "{name} stays behind the gate, because its secrets cannot be put back: {why}. Or take the gate away \
                 without them: --leave-secrets"
            );
            screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
        }
    }
}

fn left_alone(screen: &Screen, found: &Found, why: &str, outcome: &mut ChangeOutcome) {
    outcome.refused += 1;
    let text = format!("{}: {why}", display::path(&found.path));
    screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
}

pub(in crate::commands) fn done(act: PlannedAct<'_>, dry: bool) -> &'static str {
    match (act, dry) {
        (PlannedAct::Protect { .. }, false) => "protected",
        (PlannedAct::Protect { .. }, true) => "would protect",
        (PlannedAct::Unprotect, false) => "no longer protected:",
        (PlannedAct::Unprotect, true) => "would no longer protect",
        (PlannedAct::Place { .. }, false) => "placed",
        (PlannedAct::Place { .. }, true) => "would place",
        (PlannedAct::Remove, false) => "removed",
        (PlannedAct::Remove, true) => "would remove",
    }
}

#[derive(Default)]
pub(in crate::commands) struct ChangeOutcome {
    /// Per client, the entries that were edited.
    done: Vec<(&'static Client, Vec<String>)>,
    /// The same entries as the desk names them.
    keys: Vec<EntryKey>,
    refused: usize,
}

impl ChangeOutcome {
    /// Says what was done, or would be.
    pub(in crate::commands) fn told(&self, screen: &Screen, act: PlannedAct<'_>, dry: bool) {
        for (client, names) in &self.done {
            screen.line(&format!("{}: {} {}", client.name, done(act, dry), names.join(", ")));
            if !dry {
                screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
            }
        }
    }

    fn close(&self, screen: &Screen, act: PlannedAct<'_>, dry: bool) -> ExitCode {
        if self.done.is_empty() && self.refused == 0 {
            screen.line("Nothing to do: everything chosen is so already.");
        }
        self.told(screen, act, dry);
        if self.refused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
