//! `callgate clients backups`: files as they were before each edit, and what they hold.

use std::process::ExitCode;

use anyhow::Context as _;
use callgate_clients::Client;
use callgate_clients::backup::{Backup, Backups};
use callgate_clients::backup_contents::{holds, is_first};
use callgate_clients::secrets::moving::refers;
use callgate_clients::secrets::purging::purge;
use callgate_clients::survey::entries;
use callgate_home::Home;
use callgate_keychain::SystemKeychain;
use serde_json::json;

use super::{display, look, named};
use crate::args::BackupsArgs;
use crate::confirm;
use crate::duration::iso;
use crate::screen::{self, Screen};

pub(crate) fn list(args: &BackupsArgs) -> anyhow::Result<ExitCode> {
    let client = args.client.as_ref().map(|client| named(client)).transpose()?;
    if args.purge_secrets {
        return purge_secrets(client);
    }
    let screen = Screen::new();
    let mut copies = Backups::of(Home::locate()?.path()).list().context("the backups cannot be read")?;
    copies.retain(|copy| client.is_none_or(|client| client.id == copy.client));
    for copy in &copies {
        if args.json {
            let held = holds(copy);
            let object = json!({
                "backup": copy.id(), "client": copy.client, "path": copy.path.display().to_string(),
                "at": iso(copy.at_ms), "bytes": copy.bytes, "first": is_first(copy, &copies),
                "servers": held.map(|held| held.servers), "gates": held.map(|held| held.gates),
                "secrets": held.map(|held| held.secrets), "references": held.map(|held| held.references),
            });
            screen.line(&object.to_string());
        } else {
            let size = format!("{} bytes", copy.bytes);
            screen.line(&format!(
                "{}  {}  {size:>12}  {}",
                copy.id(),
                iso(copy.at_ms),
                display::path(&copy.path)
            ));
            screen.line(&screen.paint(screen::DIM, &format!("  {}", described(copy, &copies))));
        }
    }
    if copies.is_empty() && !args.json {
        screen.line("No copies: no client's file has been edited.");
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known of it, in words.
fn described(copy: &Backup, copies: &[Backup]) -> String {
    let first = is_first(copy, copies).then(|| "the first copy".to_owned());
    let held = match holds(copy) {
        None => vec!["cannot be understood".to_owned()],
        Some(held) if held.servers == 0 => vec!["no servers".to_owned()],
        Some(held) => {
            let gates = match held.gates {
                0 => "no gates".to_owned(),
                some => screen::count(some, "gate"),
            };
            let kinds = [
                (held.secrets, "secret", " in plain text"),
                (held.references, "reference", " to the keychain"),
            ];
            let told = kinds.into_iter().filter(|(number, ..)| *number > 0);
            let told = told.map(|(number, what, where_)| screen::count(number, what) + where_);
            [screen::count(held.servers, "server"), gates].into_iter().chain(told).collect()
        }
    };
    first.into_iter().chain(held).collect::<Vec<_>>().join(", ")
}

/// Values that are in the keychain by now leave the copies; all else of a copy stays.
fn purge_secrets(client: Option<&Client>) -> anyhow::Result<ExitCode> {
    let (screen, home) = (Screen::new(), Home::locate()?);
    let mut files = look(&home, &[])?;
    files.retain(|file| client.is_none_or(|client| client.id == file.found.client.id));
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
