//! `policy apply`: a policy from elsewhere into a server's own, with what it changes shown first.

use std::process::ExitCode;

use callgate_controls::catalogue::{self, Catalogue};
use callgate_desk::change::Change;
use callgate_desk::inventory::Purpose;
use callgate_desk::tool_changes::{self, WEEK_MS};
use callgate_home::Home;
use callgate_policy::Policy;
use callgate_policy::edit::{EditError, Edited, merge, replace};
use callgate_policy::lint::lint;
use callgate_review::ToolChange;
use jiff::Timestamp;

use super::check::print_problem;
use super::{prepared_home, simulate};
use crate::act;
use crate::args::ApplyArgs;
use crate::change;
use crate::commands::log;
use crate::screen::{self, Screen};

/// More lines than this say less.
const SHOWN: usize = 60;

pub(super) fn run(args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    if !args.new {
        act::known_server(&args.server, Purpose::Restrict)?;
    }
    let pasted = super::read(&args.file)?;
    let edit = |current: &str| -> anyhow::Result<Edited> {
        let edited = if args.how.merge { merge(current, &pasted) } else { replace(current, &pasted) };
        edited.map_err(|error| match error {
            EditError::Pasted(report) => {
                let file = args.file.display();
                let all = format!("{file} cannot be used; `callgate policy check {file}` says all of it");
                anyhow::Error::new(report).context(all)
            }
            other => other.into(),
        })
    };
    let planned = change::plan(&home, &args.server, &edit)?;
    let screen = Screen::new();
    if planned.edited().changed {
        show(&screen, &home, &args.server, &planned)?;
    }
    warn(&screen, &home, args, &planned);
    if args.dry_run {
        for line in &planned.edited().summary {
            screen.line(&format!("would change  {}", screen::harmless(line)));
        }
        for line in planned.loosened() {
            screen.line(&format!("would loosen  {}", screen.paint(screen::WARN, &screen::harmless(line))));
        }
        screen.line("Nothing was written (--dry-run).");
        return Ok(ExitCode::SUCCESS);
    }
    change::loosen(&home, &args.server, &edit, "apply", |change| {
        let loosened = change.loosened();
        Ok((!loosened.is_empty()).then(|| format!("loosen server {}: {}", args.server, loosened.join("; "))))
    })
}

/// What the policy would say that can never count, as far as the server's tools are known.
fn warn(screen: &Screen, home: &Home, args: &ApplyArgs, planned: &Change) {
    let known = catalogue::read(home, &args.server).ok().flatten();
    let tools = known.as_ref().map(Catalogue::server_tools);
    let now_ms = Timestamp::now().as_millisecond();
    for problem in lint(&planned.edited().text, tools.as_ref(), now_ms) {
        print_problem(screen, "the policy", &problem);
    }
}

/// Which tools change state, which of them were used this week, and which calls of it would have been decided otherwise.
fn show(screen: &Screen, home: &Home, server: &str, planned: &Change) -> anyhow::Result<()> {
    let now_ms = Timestamp::now().as_millisecond();
    let history = log::current(home)?;
    let in_force = planned.before().text();
    let new = Policy::parse(&planned.edited().text)?;
    let changes = tool_changes::between(home, &history, server, in_force, &new, now_ms)?;
    let width = changes.all.iter().map(|change| change.tool.chars().count()).max().unwrap_or(0).min(40);
    for change in changes.all.iter().take(SHOWN) {
        screen.line(&line(screen, change, width));
    }
    if changes.all.len() > SHOWN {
        screen.line(&format!("… and {} more", changes.all.len() - SHOWN));
    }
    screen.line(&changes.words());
    let difference = simulate::difference(home, &history, server, in_force, new, now_ms - WEEK_MS)?;
    simulate::print(screen, server, &difference);
    Ok(())
}

fn line(screen: &Screen, change: &ToolChange, width: usize) -> String {
    let style = if change.looser { screen::WARN } else { screen::DIM };
    let whose = change.client.as_ref().map(|client| format!(" for {}", screen::harmless(client)));
    let used = match change.used {
        0 => String::new(),
        calls => {
            format!("  ({} this week)", screen::count(usize::try_from(calls).unwrap_or(usize::MAX), "call"))
        }
    };
    format!(
        "  {}{}  {} → {}{used}",
        screen::pad(&screen::harmless(&change.tool), width),
        whose.unwrap_or_default(),
        screen::harmless(&change.before),
        screen.paint(style, &screen::harmless(&change.after)),
    )
}
