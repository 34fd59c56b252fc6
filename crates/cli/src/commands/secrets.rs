//! `callgate secrets`: tokens and passwords in clients' files, by name. Their values are never shown.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use callgate_clients::secrets::checking::dead;
use callgate_clients::secrets::find::{self, Finding, Slot, Why};
use callgate_clients::secrets::listing::{ListedSecret, Stands, listed};
use callgate_clients::secrets::moving::{Edited, MoveError, refers};
use callgate_clients::survey::{Entry, State, Surveyed};
use callgate_home::Home;
use callgate_keychain::SystemKeychain;
use callgate_wiring::{SecretsEdit, WiringError};
use serde_json::json;

use super::clients::selection::Selection;
use super::clients::{display, wiring};
use crate::args::{SecretsArgs, SecretsCommand, SecretsListArgs, SecretsMoveArgs, SecretsRestoreArgs};
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &SecretsArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None => list(&args.list),
        Some(SecretsCommand::List(args)) => list(args),
        Some(SecretsCommand::Move(args)) => move_into(args),
        Some(SecretsCommand::Restore(args)) => restore(args),
    }
}

/// Every secret of these entries.
fn secrets(chosen: &Selection) -> impl Iterator<Item = (&Surveyed, &Entry, ListedSecret)> {
    let secrets = chosen.files().flat_map(|file| listed(file).map(move |(entry, all)| (file, entry, all)));
    secrets
        .filter(|(_, entry, _)| chosen.has(entry))
        .flat_map(|(file, entry, all)| all.into_iter().map(move |one| (file, entry, one)))
}

fn list(args: &SecretsListArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let home = Home::locate()?;
    let chosen = Selection::find(&home, args.client.as_ref(), &args.servers, &args.project)?;
    let (mut plain, mut moved, mut missing, mut movable) = (0, 0, 0, 0);
    let (dead, unknown) = dead(chosen.entries().map(|(_, entry)| entry));
    for (file, entry, one) in secrets(&chosen) {
        let is_missing = dead.iter().any(|dead| dead.entry.key == entry.key && dead.slot == one.slot);
        if args.json {
            object(&screen, file, entry, &one, is_missing);
            continue;
        }
        let known = format!("{}: {}", file.found.client.name, display::name(&entry.key.name));
        let (style, words) = match one.stands {
            Stands::InFile { length, .. } => (screen::WARN, format!("in the file, {length} characters")),
            Stands::InKeychain if is_missing => {
                (screen::BAD, "missing: not in the keychain any more".to_owned())
            }
            Stands::InKeychain => (screen::GOOD, "in the keychain".to_owned()),
        };
        let line = format!(
            "{}  {}  {}{}",
            screen::pad(&known, 28),
            screen::pad(&screen::harmless(&one.name), 28),
            screen.paint(style, &words),
            screen.paint(screen::DIM, &remark(entry, &one)),
        );
        screen.line(&line);
        match one.stands {
            Stands::InKeychain if is_missing => missing += 1,
            Stands::InKeychain => moved += 1,
            Stands::InFile { .. } => {
                plain += 1;
                movable += usize::from(cannot_move(entry).is_none());
            }
        }
    }
    if !args.json {
        let gone = if missing > 0 { format!(", {missing} missing") } else { String::new() };
        screen.line(&format!("{plain} in files, {moved} in the keychain{gone}."));
        if missing > 0 {
            screen.line(
                "Write missing values in their places, then move them again; a copy may hold them: callgate clients backups",
            );
        }
        if let Err(error) = unknown {
            let words = format!("Whether the keychain has them cannot be told: {error}");
            screen.line(&screen.paint(screen::WARN, &screen::harmless(&words)));
        }
        if movable > 0 {
            screen.line("Move them into the keychain: callgate secrets move --all");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remark(entry: &Entry, one: &ListedSecret) -> String {
    match (one.stands, cannot_move(entry)) {
        (Stands::InFile { .. }, Some(why)) => format!("  ({why})"),
        (Stands::InFile { why: Why::Looks, .. }, None) => "  (by its looks)".to_owned(),
        _ => String::new(),
    }
}

fn cannot_move(entry: &Entry) -> Option<&'static str> {
    match entry.state {
        State::Protected { .. } => None,
        State::Open => Some("not behind the gate"),
        State::NotCoverable(_) => Some("no gate can stand before it, so it stays"),
    }
}

fn object(screen: &Screen, file: &Surveyed, entry: &Entry, one: &ListedSecret, is_missing: bool) {
    let plain = match one.stands {
        Stands::InFile { length, why } => Some((length, why)),
        Stands::InKeychain => None,
    };
    let (kind, at) = match &one.slot {
        Slot::Variable(name) => ("variable", json!(name)),
        Slot::Argument(index) => ("argument", json!(index)),
        Slot::Header(name) => ("header", json!(name)),
    };
    let object = json!({
        "client": file.found.client.id, "path": file.found.path.display().to_string(), "project": entry.key.project,
        "name": entry.key.name, "secret": one.name, "kind": kind, "at": at,
        "state": match (plain, is_missing) {
            (Some(_), _) => "file",
            (None, false) => "keychain",
            (None, true) => "missing",
        },
        "length": plain.map(|(length, _)| length),
        "by": plain.map(|(_, why)| match why { Why::Name => "name", Why::Looks => "looks", Why::Both => "both" }),
        "why_not": plain.and_then(|_| cannot_move(entry)),
    });
    screen.line(&object.to_string());
}

fn move_into(args: &SecretsMoveArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let home = Home::locate()?;
    let chosen = Selection::parse(&home, &args.entries)?;
    knows(&chosen, &args.only)?;
    let meant = |finding: &Finding| args.only.is_empty() || args.only.contains(&finding.name);
    let (mut work, mut stays) = (Vec::new(), Vec::new());
    for (file, entry) in chosen.entries() {
        let mut found = entry.local().map(find::secrets).unwrap_or_default();
        found.retain(|finding| meant(finding));
        // What was moved before may have to be stored anew, for a command that a person has changed.
        if found.is_empty() && (args.yes || !refers(entry)) {
            continue;
        }
        let known = format!("{}: {}", file.found.client.name, display::name(&entry.key.name));
        if let Some(why) = unmovable(file, entry) {
            stays.push(format!("{known} stays as it is: {why}"));
            continue;
        }
        for one in &found {
            let (name, length) = (screen::harmless(&one.name), one.length());
            screen.line(&format!("{known}: {name} ({length} characters){}", slot(&one.slot)));
        }
        work.push((file, entry));
    }
    // Before anything is asked: nobody says yes to what is then refused.
    for words in &stays {
        screen.line(&screen.paint(screen::BAD, &screen::harmless(words)));
    }
    if work.is_empty() && !stays.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if work.is_empty() {
        screen.line("Nothing to move: no secret was found that is not in the keychain already.");
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes {
        confirm::asking(
            "move these values into the keychain and leave references in the clients' files",
            "move",
        )?;
    }
    let edited = if args.yes { Edited::Refuse } else { Edited::Accept };
    let done = change(&screen, &home, &work, args.force, SecretsEdit::Move(edited, &meant))?;
    if done.moved > 0 {
        screen.line(&format!(
            "{} moved into the keychain. Copies of the files from before hold the values still: {}. Put references there, \
             too: callgate clients backups --purge-secrets",
            done.moved,
            display::path(&home.path().join("backups"))
        ));
    }
    Ok(if stays.is_empty() { done.code() } else { ExitCode::FAILURE })
}

/// Why it would be refused, with the command that helps. A gate that cannot be put there is no matter of a command.
fn unmovable(file: &Surveyed, entry: &Entry) -> Option<String> {
    match entry.state {
        State::Protected { .. } => None,
        State::Open => Some(format!(
            "it is not behind the gate. Protect it first: callgate clients protect {} {}",
            file.found.client.id,
            display::name(&entry.key.name)
        )),
        State::NotCoverable(_) => Some("no gate can stand before it, so it stays".to_owned()),
    }
}

/// A name that is not there is a slip.
fn knows(chosen: &Selection, only: &[String]) -> anyhow::Result<()> {
    let there: BTreeSet<_> = secrets(chosen).map(|(_, _, one)| one.name).collect();
    match only.iter().find(|name| !there.contains(*name)) {
        Some(missing) => {
            bail!("no such secret: {}. `callgate secrets` lists them.", screen::quoted(missing))
        }
        None => Ok(()),
    }
}

fn slot(slot: &Slot) -> &'static str {
    match slot {
        Slot::Variable(_) | Slot::Header(_) => "",
        Slot::Argument(_) => {
            ", an argument: while the server runs, others on this machine can see it as before"
        }
    }
}

fn restore(args: &SecretsRestoreArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let home = Home::locate()?;
    let chosen = Selection::parse(&home, &args.entries)?;
    let work: Vec<_> = chosen.entries().filter(|(_, entry)| refers(entry)).collect();
    if work.is_empty() {
        screen.line("Nothing to put back: no entry refers to the keychain.");
        return Ok(ExitCode::SUCCESS);
    }
    for (file, entry) in &work {
        let names: Vec<_> = entry
            .local()
            .map(find::references)
            .unwrap_or_default()
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        let known = format!("{}: {}", file.found.client.name, display::name(&entry.key.name));
        screen.line(&format!("{known}: {}", screen::harmless(&names.join(", "))));
    }
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    confirm::loosening(
        "write these values into the clients' files, where every program can read them",
        "restore",
    )?;
    let done = change(&screen, &home, &work, args.force, SecretsEdit::PutBack)?;
    if done.moved > 0 {
        screen.line(&format!("{} back in the files.", done.moved));
    }
    Ok(done.code())
}

/// With the command that helps.
fn told(error: &WiringError) -> String {
    match error {
        WiringError::ClientRuns(client) => format!(
            "{} runs and would write its own copy over it. {} Or write at once and risk that it is lost: --force",
            client.name, client.reload
        ),
        WiringError::Secrets(MoveError::NotProtected) => format!("{error}: callgate clients protect"),
        WiringError::Secrets(MoveError::Unnamed) => {
            format!("{error}: callgate clients unprotect, then protect")
        }
        WiringError::Secrets(MoveError::Edited { .. }) => format!(
            "{error}. If you changed it yourself, say so at a terminal: the same command without --yes"
        ),
        error => error.to_string(),
    }
}

#[derive(Default)]
struct Done {
    moved: usize,
    refused: usize,
}

impl Done {
    fn code(&self) -> ExitCode {
        if self.refused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn change(
    screen: &Screen,
    home: &Home,
    work: &[(&Surveyed, &Entry)],
    force: bool,
    wish: SecretsEdit<'_>,
) -> anyhow::Result<Done> {
    callgate_controls::prepare_home(home)?;
    let keychain = SystemKeychain::open(home.path())
        .map_err(|error| anyhow::anyhow!("{error}. Nothing was changed."))?;
    let wiring = wiring(home)?;
    let mut done = Done::default();
    for (file, entry) in work {
        let client = file.found.client;
        let known = format!("{}: {}", client.name, display::name(&entry.key.name));
        let moved = wiring
            .not_while_it_runs(client, force)
            .and_then(|()| Ok(wiring.move_secrets((file, entry), wish, &keychain)?));
        match moved {
            Ok(moved) => {
                done.moved += moved.names.len();
                for left in &moved.left {
                    let text = format!(
                        "{known}: {left} is still in the keychain; remove it there once the server runs without it"
                    );
                    screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
                }
            }
            Err(error) => {
                done.refused += 1;
                let text = format!("{known}: {}", told(&error));
                screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
            }
        }
    }
    Ok(done)
}
