//! Loosening is not for agents: it takes a person at a terminal, and their word.
//!
//! Code of the same user cannot be kept out by permissions; this only makes sure that an agent does not loosen its
//! own gate by the way, with a shell tool and one command line. SECURITY.md says what remains possible.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use callgate_desk::view::Question;
use callgate_home::clock::wall_ms;
use callgate_home::lease::Lease;
use callgate_home::{Home, lease};
use callgate_journal::{EventKind, Origin, record_event};
use callgate_supervise::{Ancestry, ProcessId};
use callgate_text::{harmless, name};
use callgate_wiring::client_name;

/// Asks a person to type `word`, after saying what it would do (`what`: "let agents call x").
pub(crate) fn loosening(what: &str, word: &str) -> anyhow::Result<()> {
    person(what, ("This loosens the gate: it would", "Loosening"), word)
}

/// Asks a person to type `word` in answer to the desk's questions, with all that they loosen.
pub(crate) fn questions<'q>(all: impl IntoIterator<Item = &'q Question>, word: &str) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    let mut asked = Vec::new();
    for question in all {
        asked.push(harmless(&question.words));
        lines.push(harmless(&question.words));
        lines.extend(question.loosened.iter().map(|line| format!("  - {}", harmless(line))));
    }
    typed(&format!("do this unasked: {}", asked.join(" ")), &lines.join("\n"), "Loosening", word)
}

/// Which of several is meant; `None` where nobody can be asked.
pub(crate) fn choose(question: &str, answers: &str) -> anyhow::Result<Option<String>> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    prompt(&format!("{question}\nType {answers}: ")).map(Some)
}

/// The same for what is no loosening, but nothing that an agent should do by the way either.
pub(crate) fn asking(what: &str, word: &str) -> anyhow::Result<()> {
    person(what, ("This would", "This"), word)
}

/// The same for what cannot be brought back; `words` say it, and what goes.
pub(crate) fn forgetting(words: &str, word: &str) -> anyhow::Result<()> {
    typed("forget what is on record", words, "Forgetting", word)
}

/// Nothing is asked, but a server that the gate watches does not do it.
pub(crate) fn not_below_a_session(what: &str) -> anyhow::Result<()> {
    not_below(what, "This")
}

/// The same for what lets calls through, or forgets them: nor does a client, whose shell tool stands beside the gate.
pub(crate) fn not_below_a_client(what: &str) -> anyhow::Result<()> {
    not_below(what, "This")?;
    not_of_client(what, "This")
}

/// What a client started is its agent's, as far as can be told. Each try is on record.
fn not_of_client(what: &str, subject: &str) -> anyhow::Result<()> {
    let Ok(home) = Home::locate() else { return Ok(()) };
    let leases = lease::running(&home);
    // Numbers of another namespace are not ours.
    let here = lease::pid_namespace();
    let gates: Vec<(ProcessId, &Lease)> = leases
        .iter()
        .filter(|lease| lease.pid_namespace == here)
        .filter_map(|lease| Some((ProcessId { pid: lease.pid, start: lease.process_start? }, lease)))
        .collect();
    let ids: Vec<ProcessId> = gates.iter().map(|(id, _)| *id).collect();
    let Some((gate, process)) = callgate_supervise::client_above(&ids) else { return Ok(()) };
    let Some((_, lease)) = gates.iter().find(|(id, _)| *id == gate) else { return Ok(()) };
    let started = format!("{} (process {})", name(&process.name), process.id.pid);
    let client = lease.client.as_deref().map(client_name);
    let client = client.map_or_else(|| "the client".to_owned(), |client| format!("{client}, the client"));
    refused(&home, what, &format!("below {started}, {client} of session {}", lease.session), &lease.server);
    bail!(
        "refused to {what}; nothing was changed. This command was started by {started}, {client} of session {} of {}: what \
         a client starts is taken for its agent's. {subject} is done by a person: use Callgate's window, or a terminal that this \
         client did not open.",
        lease.session,
        name(&lease.server)
    );
}

fn refused(home: &Home, what: &str, from: &str, server: &str) {
    let text = format!("refused at the command line, {from}: {what}");
    let kind = EventKind::LooseningRefused;
    // It is refused all the same.
    let server = Some(server).filter(|server| !server.is_empty());
    let _noted = record_event(home, wall_ms(), kind, server, Some(Origin::Cli), &text);
}

fn not_below(what: &str, subject: &str) -> anyhow::Result<()> {
    if let Some(session) = callgate_supervise::session_above() {
        if let Ok(home) = Home::locate() {
            let server = lease::running(&home).into_iter().find(|lease| lease.session.as_str() == session);
            let server = server.map(|lease| lease.server).unwrap_or_default();
            refused(&home, what, &format!("below session {}", harmless(&session)), &server);
        }
        bail!(
            "refused to {what}; nothing was changed. This command runs below session {session}, which the gate itself \
             watches. {subject} is done by a person: open a terminal of your own and run it there."
        );
    }
    if let Some(why) = unseen() {
        if let Ok(home) = Home::locate() {
            refused(&home, what, "from where it cannot be seen who started it", "");
        }
        bail!("refused to {what}; nothing was changed. {why}");
    }
    Ok(())
}

/// Why it cannot be told whether a session started this process: a pid namespace (a container, a sandbox) shows nobody outside of
/// it. One that is older than every session elsewhere was started by none of them.
fn unseen() -> Option<String> {
    let since_ms = match callgate_supervise::ancestry() {
        Ancestry::Whole => return None,
        Ancestry::Since { since_ms } => since_ms,
        Ancestry::Unknown => {
            return Some(
                "It cannot be seen who started this command (`/proc` does not tell), so it may be a server that the gate \
                 watches. Run it in a terminal outside of this sandbox."
                    .to_owned(),
            );
        }
    };
    let home = Home::locate().ok()?;
    if !is_as_it_lies(&home) {
        return Some(format!(
            "It runs in a pid namespace of its own, and {} is put together from several places there, so it cannot be seen \
             which sessions run. Run it in a terminal outside of this sandbox.",
            home.path().display()
        ));
    }
    let here = lease::pid_namespace();
    let older = lease::running(&home).into_iter().find(|lease| {
        lease.started_ms <= since_ms + CLOCK_MS
            && (lease.pid_namespace.is_none() || lease.pid_namespace != here)
    })?;
    Some(format!(
        "It runs in a container or sandbox (a pid namespace of its own) that is younger than session {} of {}, so it cannot be \
         seen whether that session started it. Run it in a terminal outside, or when that session has ended.",
        older.session, older.server
    ))
}

/// Processes and sessions are dated by two clocks.
const CLOCK_MS: i64 = 2_000;

/// Is the home one folder, with nothing mounted or linked into it? Who makes a namespace may do that, and hide the sessions.
fn is_as_it_lies(home: &Home) -> bool {
    let folders = [home.policies_dir(), home.control_dir(), home.leases_dir()];
    let linked = folders.iter().any(|folder| !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()));
    let (Ok(real), Ok(mounts)) =
        (home.path().canonicalize(), std::fs::read_to_string("/proc/self/mountinfo"))
    else {
        return false;
    };
    let inside = |line: &str| {
        let point = line.split(' ').nth(4).unwrap_or_default().replace("\\040", " ");
        let point = std::path::Path::new(&point);
        point.starts_with(&real) && point != real
    };
    !linked && !mounts.lines().any(inside)
}

fn person(what: &str, (opening, subject): (&str, &str), word: &str) -> anyhow::Result<()> {
    typed(what, &format!("{opening} {what}."), subject, word)
}

fn typed(what: &str, question: &str, subject: &str, word: &str) -> anyhow::Result<()> {
    not_below(what, subject)?;
    not_of_client(what, subject)?;
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!(
            "refused to {what}; nothing was changed. {subject} needs a person at a terminal: run this command in one, \
             without pipes."
        );
    }
    let answer = prompt(&format!("{question}\nType {word} to go on: "))?;
    if answer != word {
        bail!("{answer:?} is not {word:?}; nothing was changed");
    }
    Ok(())
}

fn prompt(words: &str) -> anyhow::Result<String> {
    let mut err = io::stderr();
    write!(err, "{words}").context("the terminal cannot be written")?;
    err.flush().context("the terminal cannot be written")?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).context("the terminal cannot be read")?;
    Ok(typed.trim().to_owned())
}
