//! `callgate clients restore`: a client's file put back as a copy has it.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use callgate_clients::backup::Backups;
use callgate_clients::backup_contents::{Gates, gates};
use callgate_clients::restore::{Wanted, lost_in_wipe};
use callgate_clients::{change, file};
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_wiring::References;

use super::change::put_program;
use super::{display, named, quiet, wiring};
use crate::args::{RestoreArgs, WhileRunning};
use crate::confirm;
use crate::duration::iso;
use crate::screen::{self, Screen};

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
        display::diff(&Screen::new(), &copy.path, (&now, &String::from_utf8_lossy(&bytes)), &entries);
        return Ok(ExitCode::SUCCESS);
    }
    let (screen, running) = (Screen::new(), WhileRunning { force: args.force, wait: args.wait });
    // Who will not wait is told before they are asked anything; who will is asked before they wait.
    if !running.wait {
        quiet(&screen, client, running).map_err(anyhow::Error::msg)?;
    }
    let references = References::check(&change::entries_in(copy, &copy.copy));
    match &references {
        References::Dead(words) if !args.force => {
            bail!(
                "{words} Nothing was changed. Another copy may hold them: callgate clients backups. Or insist with --force"
            )
        }
        told => told.words().into_iter().for_each(|words| screen.line(&screen.paint(screen::WARN, words))),
    }
    let lost = lost_in_wipe(home.path(), copy)?;
    let path = display::path(&copy.path);
    if lost.is_empty() {
        agreed(&path, &gates(copy))?;
    } else {
        let what = format!("put {path} back as it was, and the gate in front of what was behind it");
        confirm::asking(&what, "restore")?;
    }
    // What is wished for while it waits is newer.
    let since_ms = SystemClock::default().now().wall_ms;
    quiet(&screen, client, running).map_err(anyhow::Error::msg)?;
    // It may have lost its servers when it quit.
    let gates_return = !lost_in_wipe(home.path(), copy)?.is_empty();
    let gated = put_back(&screen, &home, Wanted { copy, bytes: &bytes, since_ms }, gates_return)?;
    screen.line(&format!("{path} is as it was at {}.", iso(copy.at_ms)));
    screen.line(&screen.paint(screen::DIM, &format!("  {}", client.reload)));
    Ok(if gated { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether every server that was behind the gate before a wipe is so again.
fn put_back(screen: &Screen, home: &Home, wanted: Wanted<'_>, gates_return: bool) -> anyhow::Result<bool> {
    if gates_return {
        put_program(home)?;
    }
    let gates = wiring(home)?.put_back(wanted);
    let told = |words: &str| screen.line(&screen.paint(screen::BAD, &screen::harmless(words)));
    match gates.with_context(|| format!("{} cannot be put back", display::path(&wanted.copy.path)))? {
        None => Ok(true),
        Some(Ok(plan)) => {
            for edit in &plan.edits {
                screen.line(&format!("{} is behind the gate again", display::name(&edit.key.name)));
            }
            for refused in &plan.refused {
                told(&format!(
                    "{} is not behind the gate: {}",
                    display::name(&refused.key.name),
                    refused.why
                ));
            }
            Ok(plan.refused.is_empty())
        }
        Some(Err(error)) => {
            told(&format!("its servers are not behind the gate: {error}"));
            Ok(false)
        }
    }
}

/// Asks for what is true of this file and this copy.
fn agreed(path: &str, gates: &Gates) -> anyhow::Result<()> {
    let (what, loosens) = question(path, gates);
    match loosens {
        true => confirm::loosening(&what, "restore"),
        false => confirm::asking(&what, "restore"),
    }
}

/// In words, and whether it loosens the gate.
fn question(path: &str, gates: &Gates) -> (String, bool) {
    let named = |words: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{words} {}", display::names(names)))
    };
    let parts = [
        named("without the gate in front of", &gates.lost),
        named("with the gate in front of", &gates.won),
        named("without the servers", &gates.gone),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let rest = match parts.is_empty() {
        true => ". No gate comes or goes with it".to_owned(),
        false => format!(", {}", parts.join(", ")),
    };
    (format!("put {path} back as it was{rest}"), !gates.lost.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_which_gates_are_lost_and_which_are_won() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let table = [
            (&[][..], &[][..], &[][..], "put F back as it was. No gate comes or goes with it", false),
            (&["a"], &[], &[], "put F back as it was, without the gate in front of a", true),
            (&[], &["a", "b"], &[], "put F back as it was, with the gate in front of a, b", false),
            (&[], &[], &["c"], "put F back as it was, without the servers c", false),
        ];
        for (lost, won, gone, words, loosens) in table {
            let gates = Gates { lost: names(lost), won: names(won), gone: names(gone) };
            assert_eq!(question("F", &gates), (words.to_owned(), loosens));
        }
    }
}
