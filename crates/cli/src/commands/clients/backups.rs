//! `callgate clients backups` and `restore`: files as they were before each edit.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::backup::{Backup, Backups};
use callgate_clients::ledger::Key;
use callgate_clients::names::Names;
use callgate_clients::restore::{self, lost_in_wipe, restore_wiped};
use callgate_clients::secrets::moving::refers;
use callgate_clients::secrets::purging::purge;
use callgate_clients::survey::entries;
use callgate_clients::{change, file, ledger, program};
use callgate_secrets::SystemKeychain;
use callgate_store::Home;
use callgate_store::clock::{Clock as _, SystemClock};
use serde_json::json;

use super::change::{put_program, text};
use super::{look, may_run, named, shown};
use crate::args::{BackupsArgs, RestoreArgs};
use crate::confirm;
use crate::duration::iso;
use crate::screen::{self, Screen};

pub(crate) fn list(args: &BackupsArgs) -> anyhow::Result<ExitCode> {
    if let Some(client) = &args.client {
        named(client)?;
    }
    if args.purge_secrets {
        return purge_secrets(args);
    }
    let screen = Screen::new();
    let mut copies = Backups::of(Home::locate()?.path()).list().context("the backups cannot be read")?;
    copies.retain(|copy| args.client.as_ref().is_none_or(|client| *client == copy.client));
    for copy in &copies {
        if args.json {
            let object = json!({
                "backup": copy.id(), "client": copy.client, "path": copy.path.display().to_string(),
                "at": iso(copy.at_ms), "bytes": copy.bytes,
            });
            screen.line(&object.to_string());
        } else {
            let size = format!("{} bytes", copy.bytes);
            screen.line(&format!(
                "{}  {}  {size:>12}  {}",
                copy.id(),
                iso(copy.at_ms),
                shown::path(&copy.path)
            ));
        }
    }
    if copies.is_empty() && !args.json {
        screen.line("No copies: no client's file has been edited.");
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn restore(args: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let found = Backups::of(home.path()).find(&args.backup).context("the backups cannot be read")?;
    let Some(copy) = &found else {
        bail!("there is no copy {:?}; `callgate clients backups` lists them", args.backup);
    };
    let bytes = copy.read().with_context(|| format!("{} cannot be read", copy.copy.display()))?;
    let client = named(&copy.client)?;
    if args.dry_run {
        let now = file::read(&copy.path).map(|now| now.bytes).unwrap_or_default();
        let now = String::from_utf8_lossy(&now);
        let mut entries = change::entries_in(copy, &copy.path);
        entries.extend(change::entries_in(copy, &copy.copy));
        shown::diff(&Screen::new(), &copy.path, (&now, &String::from_utf8_lossy(&bytes)), &entries);
        return Ok(ExitCode::SUCCESS);
    }
    if client.caches && may_run(client) && !args.force {
        bail!(
            "{0} runs and would write its own copy over it. {1} Or insist with --force",
            client.name,
            client.reload
        );
    }
    let lost = lost_in_wipe(home.path(), copy)?;
    let path = shown::path(&copy.path);
    if lost.is_empty() {
        let what = format!("put {path} back as it was, without the gates it has now");
        confirm::loosening(&what, "restore")?;
    } else {
        let what = format!("put {path} back as it was, and the gate in front of what was behind it");
        confirm::asking(&what, "restore")?;
    }
    let screen = Screen::new();
    let gated = put_back(&screen, &home, copy, &bytes, &lost)?;
    screen.line(&format!("{path} is as it was at {}.", iso(copy.at_ms)));
    screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
    Ok(if gated { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether every server that was behind the gate before a wipe is so again.
fn put_back(screen: &Screen, home: &Home, copy: &Backup, bytes: &[u8], lost: &[Key]) -> anyhow::Result<bool> {
    let now_ms = SystemClock::default().now().wall_ms;
    let failed = || format!("{} cannot be put back", shown::path(&copy.path));
    if lost.is_empty() {
        restore::restore(home.path(), copy, bytes, now_ms).with_context(failed)?;
        return Ok(true);
    }
    put_program(home)?;
    let binary = program::place(home.path());
    let mut names = Names::of(entries(&look(home, &[])?), &ledger::read(home.path())?);
    let gates = restore_wiped(home.path(), copy, bytes, (lost, text(&binary)?), &mut names, now_ms);
    let told = |words: &str| screen.line(&screen.paint(screen::BAD, &screen::harmless(words)));
    match gates.with_context(failed)? {
        Ok(plan) => {
            for edit in &plan.edits {
                screen.line(&format!("{} is behind the gate again", shown::name(&edit.key.name)));
            }
            for refused in &plan.refused {
                told(&format!("{} is not behind the gate: {}", shown::name(&refused.key.name), refused.why));
            }
            Ok(plan.refused.is_empty())
        }
        Err(error) => {
            told(&format!("its servers are not behind the gate: {error}"));
            Ok(false)
        }
    }
}

/// Values that are in the keychain by now leave the copies; all else of a copy stays.
fn purge_secrets(args: &BackupsArgs) -> anyhow::Result<ExitCode> {
    let (screen, home) = (Screen::new(), Home::locate()?);
    let mut files = look(&home, &[])?;
    files.retain(|file| args.client.as_ref().is_none_or(|client| client == file.found.client.id));
    if !entries(&files).any(refers) {
        screen.line("Nothing to take out of copies: no entry refers to the keychain.");
        return Ok(ExitCode::SUCCESS);
    }
    confirm::asking(
        "put references in place of the values that are in the keychain now, in every copy of these clients' files. Such a copy \
         needs the keychain from then on: after `clients restore`, `callgate secrets restore` writes the values, and one that was \
         put back into its file before that is in no copy any more",
        "purge",
    )?;
    let keychain = SystemKeychain::open(home.path())
        .map_err(|error| anyhow::anyhow!("{error}. Nothing was changed."))?;
    let purged = purge(home.path(), &files, &keychain)?;
    let warn = |text: String| screen.line(&screen.paint(screen::WARN, &screen::harmless(&text)));
    for (copy, why) in &purged.stuck {
        warn(format!("{copy} stays as it is: {why}"));
    }
    for (name, why) in &purged.unread {
        warn(format!("{name} cannot be looked for: {why}"));
    }
    screen.line(&match purged.rewritten.len() {
        0 => "No copy was rewritten.".to_owned(),
        some => format!("References are in place of values in {some} of the copies."),
    });
    let whole = purged.stuck.is_empty() && purged.unread.is_empty();
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
