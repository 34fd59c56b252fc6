//! `policy history`, `policy diff`, `policy revert`: what a server's policy was, and back to it.

use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_desk::inventory::Purpose;
use callgate_desk::view::Loosening;
use callgate_history::{History, PolicyChange};
use callgate_home::Home;
use callgate_journal::Origin;
use callgate_text::local;
use callgate_wiring::unified;
use serde_json::json;

use super::prepared_home;
use crate::act;
use crate::args::{DiffArgs, RevertArgs, VersionsArgs};
use crate::change;
use crate::commands::log;
use crate::duration::iso;
use crate::screen::{self, Screen};

/// To below the words of a change.
const INDENT: &str = "                                                 ";

pub(super) fn history(args: &VersionsArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let changes = log::current(&home)?.timeline(&args.server)?;
    let screen = Screen::new();
    if changes.is_empty() {
        act::known_server(&args.server, Purpose::Look)?;
    }
    if changes.is_empty() && !args.json {
        screen.line(&format!(
            "No policy of {} is on record yet. The first is, when the server is first started or a policy written.",
            screen::harmless(&args.server)
        ));
    }
    for (number, change) in (1..).zip(&changes) {
        if args.json {
            let object = json!({
                "change": number, "at": iso(change.at_ms), "version": change.version, "previous": change.previous,
                "origin": change.origin.word(), "summary": change.summary,
            });
            screen.line(&object.to_string());
        } else {
            print(&screen, number, change);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(screen: &Screen, number: usize, change: &PolicyChange) {
    let style = if change.origin == Origin::File { screen::WARN } else { screen::DIM };
    let summary = screen::harmless(&change.summary);
    let mut parts = summary.split("; ");
    screen.line(&format!(
        "{}  {}  {}  {}  {}",
        screen::pad(&format!("#{number}"), 4),
        local(change.at_ms).strftime("%Y-%m-%d %H:%M:%S"),
        screen.paint(screen::ACCENT, &change.version),
        screen.paint(style, &screen::pad(change.origin.word(), 8)),
        parts.next().unwrap_or_default(),
    ));
    // One thing a line: a change can have dozens of parts.
    for part in parts {
        screen.line(&format!("{INDENT}{part}"));
    }
}

pub(super) fn diff(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let history = log::current(&home)?;
    let from = match &args.from {
        Some(version) => text_of(&history, &args.server, version)?,
        None => {
            let last = last_change(&history, &args.server)?;
            let Some(previous) = last.previous else {
                bail!("the policy of {} has had no change since it is on record", args.server)
            };
            text_of(&history, &args.server, &previous)?
        }
    };
    let to = match &args.to {
        Some(version) => text_of(&history, &args.server, version)?,
        None => now(&home, &args.server)?,
    };
    let screen = Screen::new();
    if from.text == to.text {
        screen.line(&format!("{} and {} are the same.", from.name, to.name));
        return Ok(ExitCode::SUCCESS);
    }
    for line in unified(&from.text, &to.text, (&from.name, &to.name)).lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => screen::GOOD,
            Some(b'-') => screen::BAD,
            Some(b'@') => screen::ACCENT,
            _ => screen::DIM,
        };
        screen.line(&screen.paint(style, &screen::harmless(line)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn revert(args: &RevertArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let history = log::current(&home)?;
    let server = args.server.as_str();
    let change = match &args.version {
        None => last_change(&history, server)?,
        Some(which) => change_named(&history, server, which)?,
    };
    act::ask(&Loosening::Revert { server: server.to_owned(), change: change.id }, "revert")
}

/// A change by its number (`#3`), or by the version that it made, if only one did.
fn change_named(history: &History, server: &str, which: &str) -> anyhow::Result<PolicyChange> {
    let changes = history.timeline(server)?;
    if let Some(number) = which.strip_prefix('#') {
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let change = place.and_then(|place| changes.into_iter().nth(place));
        return change.with_context(|| {
            format!(
                "{which} is no change of {server}; `callgate policy history {}` numbers them",
                screen::quoted(server)
            )
        });
    }
    let version = full_version(history, server, which)?;
    let made: Vec<(usize, PolicyChange)> =
        (1..).zip(changes).filter(|(_, change)| change.version == version).collect();
    match made.as_slice() {
        [] => bail!("no change of {server} made version {version}: it was there from the start"),
        [(_, only)] => Ok(only.clone()),
        several => {
            let numbers: Vec<String> = several.iter().map(|(number, _)| format!("'#{number}'")).collect();
            bail!("version {version} was made more than once; say which change: {}", numbers.join(" or "))
        }
    }
}

/// A text and what to call it.
struct NamedText {
    name: String,
    text: String,
}

fn now(home: &Home, server: &str) -> anyhow::Result<NamedText> {
    let (path, text) = change::current(home, server)?;
    Ok(NamedText { name: path.display().to_string(), text })
}

fn last_change(history: &History, server: &str) -> anyhow::Result<PolicyChange> {
    let last = history.timeline(server)?.pop();
    if last.is_none() {
        act::known_server(server, Purpose::Look)?;
    }
    last.with_context(|| format!("no policy of {server} is on record: nobody has changed it yet"))
}

/// A version by its first characters, or what a change left by the change's number (`#3`), as `revert` takes it.
fn text_of(history: &History, server: &str, version: &str) -> anyhow::Result<NamedText> {
    let version = match version.starts_with('#') {
        true => change_named(history, server, version)?.version,
        false => full_version(history, server, version)?,
    };
    let found = history.policy_text(&version, server)?;
    let found = found.with_context(|| format!("the text of version {version} is no longer kept"))?;
    Ok(NamedText { name: format!("version {version}"), text: found.text })
}

/// A version may be named by its first characters.
fn full_version(history: &History, server: &str, start: &str) -> anyhow::Result<String> {
    let changes = history.timeline(server)?;
    let mut known: Vec<&str> = changes
        .iter()
        .flat_map(|change| [Some(change.version.as_str()), change.previous.as_deref()])
        .flatten()
        .filter(|version| version.starts_with(start))
        .collect();
    known.sort_unstable();
    known.dedup();
    match known.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => bail!(
            "{start:?} is no version of {server}; `callgate policy history {}` lists them",
            screen::quoted(server)
        ),
        several => bail!("{start:?} may be {}", several.join(" or ")),
    }
}
