//! `callgate uninstall`: every client as it was before Callgate, checked, and Callgate's own traces gone or kept as one likes.
//!
//! The order is what keeps servers working: clients first, then a look whether anything still names the gate, and only if
//! nothing does, the program that they started. Done twice, it finds nothing to do.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::backup::Backups;
use callgate_clients::gate_mentions::{Remains, remains};
use callgate_clients::ledger::LedgerKey;
use callgate_clients::plan::PlannedAct;
use callgate_clients::running::remembers;
use callgate_clients::secrets::find::references;
use callgate_clients::survey::{Surveyed, copied_before, entries};
use callgate_clients::{Client, ledger, queue, table};
use callgate_desk::login;
use callgate_home::{Home, Lease, running, try_lock};

use super::clients::change::{How, Work};
use super::clients::selection::Selection;
use super::clients::{display, look, person};
use super::own;
use crate::args::UninstallArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &UninstallArgs) -> anyhow::Result<ExitCode> {
    let (screen, home) = (Screen::new(), Home::locate()?);
    let mut there = There::look(&home, args)?;
    if there.is_nothing() && !(args.delete_history && there.home) {
        screen.line("Nothing to take away: no client names the gate, and its program is not there.");
        kept(&screen, &home);
        return Ok(ExitCode::SUCCESS);
    }
    there.tell(&screen);
    if args.dry_run {
        return there.show(&screen, &home, args);
    }
    if app_runs(&home) {
        bail!(
            "Callgate's app runs, and would put back what is removed. Quit it from its tray icon or window, then try again"
        );
    }
    confirm::loosening(&there.what(args, &home), "uninstall")?;
    let delete = there.home && wants_deletion(args, &home)?;
    if !there.restore(&screen, &home, args)? {
        screen.line(&screen.paint(screen::WARN, &format!(
            "Kept: {}, so that what is left goes on working. Mend what is said above, then run this again.",
            display::path(home.path())
        )));
        return Ok(ExitCode::FAILURE);
    }
    remove(&screen, &home, &there, delete)
}

/// What of Callgate is there to be taken away.
struct There {
    /// The files that name the gate.
    files: Vec<Surveyed>,
    remains: Vec<Remains>,
    /// Entries that start the gate of another home.
    others: BTreeSet<LedgerKey>,
    queued: usize,
    login: bool,
    program: bool,
    home: bool,
    sessions: Vec<Lease>,
}

impl There {
    fn look(home: &Home, args: &UninstallArgs) -> anyhow::Result<There> {
        let mut files = everywhere(home, args)?;
        let found = still_there(home, &files);
        let others = entries(&files)
            .filter(|entry| entry.server.gated.as_ref().is_some_and(|gate| !is_ours(home, &gate.binary)))
            .map(|entry| entry.key.clone())
            .collect();
        files.retain(|file| found.iter().any(|one| matches!(one, Remains::Gated(key) if is_in(file, key))));
        Ok(There {
            files,
            remains: found,
            others,
            queued: queue::read(home.path()).unwrap_or_default().len(),
            login: login::is_there(),
            program: callgate_programs::is_installed(home.path()),
            home: home.path().symlink_metadata().is_ok(),
            sessions: running(home),
        })
    }

    fn is_nothing(&self) -> bool {
        self.remains.is_empty() && self.queued == 0 && !self.login && !self.program
    }

    /// Entries whose gate is to be taken away.
    fn gated(&self) -> BTreeSet<&LedgerKey> {
        let gated = self.remains.iter().filter_map(|one| match one {
            Remains::Gated(key) => Some(key),
            Remains::Odd(_) | Remains::Unreadable { .. } => None,
        });
        gated.collect()
    }

    fn what(&self, args: &UninstallArgs, home: &Home) -> String {
        let gate = match self.gated().len() {
            0 => String::new(),
            gated => format!("take the gate away from {}, ", screen::count(gated, "server")),
        };
        let delete = match args.delete_history {
            true => format!(", and delete {}", display::path(home.path())),
            false => String::new(),
        };
        format!("{gate}remove Callgate's own program{delete}")
    }

    /// What a person should know before.
    fn tell(&self, screen: &Screen) {
        for key in &self.others {
            let text = format!("{} starts the gate of another home, and stays as it is.", whose(key));
            screen.line(&screen.paint(screen::DIM, &text));
        }
        if !self.sessions.is_empty() {
            let names: BTreeSet<_> =
                self.sessions.iter().map(|lease| screen::quoted(&lease.server)).collect();
            let text = format!(
                "{} through the gate now: {}. What runs goes on, with its gate, until its client starts it anew.",
                run_now(self.sessions.len()),
                names.into_iter().collect::<Vec<_>>().join(", ")
            );
            screen.line(&screen.paint(screen::WARN, &text));
        }
    }

    /// All of it, without doing it.
    fn show(self, screen: &Screen, home: &Home, args: &UninstallArgs) -> anyhow::Result<ExitCode> {
        for (key, names) in self.secrets().into_iter().filter(|_| !args.leave_secrets) {
            let text = format!("{}: {} would come back from the keychain", whose(key), names.join(", "));
            screen.line(&screen::harmless(&text));
        }
        let There { files, remains, others, queued, login, program, .. } = self;
        Work::on(home, Selection::all(files, others)).show(screen, PlannedAct::Unprotect)?.told(
            screen,
            PlannedAct::Unprotect,
            true,
        );
        if queued > 0 {
            screen.line(&format!(
                "{} that wait for a client to quit would be dropped",
                screen::count(queued, "change")
            ));
        }
        if login {
            screen.line("Callgate would no longer be started at login");
        }
        if program {
            screen
                .line(&format!("{} would be removed", display::path(&callgate_programs::place(home.path()))));
        }
        let fate = if args.delete_history {
            "deleted"
        } else if args.keep_history {
            "kept"
        } else {
            "kept, or deleted if you say so when asked"
        };
        screen.line(&format!("{} would be {fate}", display::path(home.path())));
        let mut odd = remains.iter().filter(|one| !matches!(one, Remains::Gated(_))).peekable();
        let code = if odd.peek().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        odd.for_each(|one| stuck(screen, one));
        Ok(code)
    }

    /// What comes back from the keychain, by name.
    fn secrets(&self) -> Vec<(&LedgerKey, Vec<String>)> {
        let gated = self.gated();
        let restored = entries(&self.files).filter(|entry| gated.contains(&entry.key));
        let named = restored.filter_map(|entry| Some((&entry.key, references(entry.local()?))));
        let named = named.map(|(key, found)| (key, found.into_iter().map(|(_, name)| name).collect()));
        named.filter(|(_, names): &(_, Vec<String>)| !names.is_empty()).collect()
    }

    /// Every client as it was; says whether nothing names the gate any more.
    fn restore(&mut self, screen: &Screen, home: &Home, args: &UninstallArgs) -> anyhow::Result<bool> {
        // What waits would put the gate back when its client has quit. A queue that cannot be read does nothing.
        if self.queued > 0 {
            queue::remove(home.path(), |_| true)
                .context("what waits for clients to quit cannot be dropped")?;
        }
        let how = How { running: args.running, leave_secrets: args.leave_secrets };
        let (files, others) = (std::mem::take(&mut self.files), std::mem::take(&mut self.others));
        let work = Work::on(home, Selection::all(files, others));
        work.write(screen, PlannedAct::Unprotect, how).told(screen, PlannedAct::Unprotect, false);
        let left = still_there(home, &everywhere(home, args)?);
        left.iter().for_each(|one| stuck(screen, one));
        let unaware = unaware(home)?;
        unaware.iter().for_each(|client| may_write_back(screen, client));
        Ok(left.is_empty() && unaware.is_empty())
    }
}

/// Every file that may name the gate. What is only in the ledger, or only in the copies, counts as well: a file that is
/// overlooked here is left with servers that do not start.
fn everywhere(home: &Home, args: &UninstallArgs) -> anyhow::Result<Vec<Surveyed>> {
    let until = "Until then it cannot be told which files name the gate, and nothing is removed";
    ledger::read(home.path()).map_err(|error| anyhow::anyhow!("{error}. {until}"))?;
    let mut files = look(home, &args.project)?;
    let copied = Backups::of(home.path()).files().map_err(|error| {
        let folder = display::path(&home.path().join("backups"));
        anyhow::anyhow!("{folder} cannot be read: {error}; make it readable. {until}")
    })?;
    files.extend(copied_before(&files, &copied));
    // An administrator's file is theirs.
    files.retain(|file| !file.found.managed());
    Ok(files)
}

/// Clients that run since before their files were written, and write them back from memory.
fn unaware(home: &Home) -> anyhow::Result<Vec<&'static Client>> {
    let (person, ledger) = (person()?, ledger::read(home.path())?);
    let written = ledger.written_ms.iter().filter_map(|(id, at_ms)| Some((table::client(id)?, *at_ms)));
    let unaware = written.filter(|(client, at_ms)| remembers(client, &person, *at_ms));
    Ok(unaware.map(|(client, _)| client).collect())
}

fn may_write_back(screen: &Screen, client: &Client) {
    let text = format!(
        "{} runs and may write its file back with the gate in it, which then has to be there. {}",
        client.name, client.reload
    );
    screen.line(&screen.paint(screen::WARN, &text));
}

/// What names the gate of this home, or one that is nobody's.
fn still_there(home: &Home, files: &[Surveyed]) -> Vec<Remains> {
    let binary = callgate_programs::place(home.path());
    remains(files, &binary.to_string_lossy(), &|binary| is_ours(home, binary))
}

/// Every gate is, except that of another home: a path that leads nowhere, or into the package that is about to be removed,
/// would leave a server that does not start.
fn is_ours(home: &Home, binary: &str) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    Home::around(Path::new(binary)).is_none_or(|other| real(other.path()) == real(home.path()))
}

fn is_in(file: &Surveyed, key: &LedgerKey) -> bool {
    file.found.client.id == key.client && file.found.path == key.path
}

fn whose(key: &LedgerKey) -> String {
    let client = table::client(&key.client).map_or(key.client.as_str(), |client| client.name);
    format!("{client}: {}", display::name(&key.name))
}

fn stuck(screen: &Screen, left: &Remains) {
    let text = match left {
        Remains::Gated(key) => format!("{} still starts through the gate.", whose(key)),
        Remains::Odd(key) => format!(
            "{} ({}) names Callgate's program in a way that Callgate does not write. Write there what it should start.",
            whose(key),
            display::path(&key.path)
        ),
        Remains::Unreadable { path, why, .. } => {
            format!(
                "{} names Callgate's program, and cannot be edited: {why}. Mend the file.",
                display::path(path)
            )
        }
    };
    screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
}

fn run_now(sessions: usize) -> String {
    format!("{} run{}", screen::count(sessions, "session"), if sessions == 1 { "s" } else { "" })
}

fn app_runs(home: &Home) -> bool {
    let lock = home.app_lock();
    // Looked at only if it is there: asking makes it.
    lock.exists() && matches!(try_lock(&lock), Ok(None))
}

/// Asks, unless it was said. Whoever only presses Enter keeps everything.
fn wants_deletion(args: &UninstallArgs, home: &Home) -> anyhow::Result<bool> {
    if args.keep_history || args.delete_history {
        return Ok(args.delete_history);
    }
    let mut err = io::stderr();
    write!(
        err,
        "Policies, history, settings and copies of clients' files are in {}.\nType delete to delete them, or press Enter to keep them: ",
        display::path(home.path())
    )
    .and_then(|()| err.flush())
    .context("the terminal cannot be written")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).context("the terminal cannot be read")?;
    Ok(typed.trim() == "delete")
}

/// What is left when no client needs it any more.
fn remove(screen: &Screen, home: &Home, there: &There, delete: bool) -> anyhow::Result<ExitCode> {
    if there.login {
        match login::remove() {
            Ok(()) => screen.line("Callgate is no longer started at login."),
            Err(why) => bail!(
                "every client is as it was, but Callgate is still started at login: {why}. Remove that entry, then run this again"
            ),
        }
    }
    let sessions = running(home);
    if delete && !sessions.is_empty() {
        bail!(
            "every client is as it was, but {} was not deleted: {} still through the gate and would be refused everything. Quit the \
             clients, then run this again",
            display::path(home.path()),
            run_now(sessions.len())
        );
    }
    callgate_programs::remove(home.path()).with_context(|| {
        format!("{} cannot be removed", display::path(&callgate_programs::place(home.path())))
    })?;
    if delete {
        own::forget_secrets(screen, home);
        let others = home.erase()?;
        screen.line(&format!("{} is deleted.", display::path(home.path())));
        for other in others {
            screen.line(
                &screen.paint(
                    screen::DIM,
                    &format!("  {} is not Callgate's, and stays.", display::path(&other)),
                ),
            );
        }
    } else {
        kept(screen, home);
    }
    screen.line("Nothing names Callgate's gate any more. Remove its package the way it was installed.");
    Ok(ExitCode::SUCCESS)
}

fn kept(screen: &Screen, home: &Home) {
    if home.path().exists() {
        screen.line(&format!(
            "Policies, history, settings and copies of clients' files are kept in {}. Delete them with: callgate uninstall \
             --delete-history",
            display::path(home.path())
        ));
    }
}
