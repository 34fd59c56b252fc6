//! `callgate sweep`: ends what dead sessions left, and says what. Browsers that nobody owns only by their numbers, and after
//! a person's word.

use std::process::ExitCode;

use anyhow::bail;
use callgate_desk::view::{SuspectView, SweepView};
use serde_json::json;

use super::ps::{look, print_strays, processes, stray_objects};
use crate::args::SweepArgs;
use crate::confirm;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let (desk, mut sampler) = look()?;
    if args.dry_run || !args.suspects.is_empty() {
        let strays = desk.strays(&mut sampler)?;
        if !args.suspects.is_empty() {
            let chosen = chosen(&args.suspects, &strays.suspects)?;
            let ids: Vec<String> = chosen.iter().map(|one| one.id.clone()).collect();
            if !args.dry_run {
                let count = chosen.iter().map(|one| usize::try_from(one.processes).unwrap_or(0)).sum();
                let what = format!("end {} ({})", screen::count(chosen.len(), "browser"), processes(count));
                confirm::asking(&what, "end")?;
                return Ok(tell(&screen, args.json, &desk.end_suspects(&ids)?));
            }
            for one in chosen {
                screen.line(&format!("{}  {}", one.pid, screen::harmless(&one.command)));
            }
            return Ok(ExitCode::SUCCESS);
        }
        match args.json {
            true => stray_objects(&screen, &strays),
            false => print_strays(&screen, &strays),
        }
        for path in desk.sweepable_profiles() {
            match args.json {
                true => screen.line(&json!({ "kind": "profile", "path": path }).to_string()),
                false => screen.line(&format!("would be removed: {}", screen::harmless(&path))),
            }
        }
        if !args.json && strays.leftovers.is_empty() {
            screen.line("No process of a dead session is left.");
        }
        return Ok(ExitCode::SUCCESS);
    }
    Ok(tell(&screen, args.json, &desk.sweep()?))
}

/// Those that were asked for; a number that is not on the list ends nothing at all.
fn chosen(pids: &[u32], suspects: &[SuspectView]) -> anyhow::Result<Vec<SuspectView>> {
    let mut chosen = Vec::new();
    for pid in pids {
        match suspects.iter().find(|one| one.pid == *pid) {
            Some(one) => chosen.push(one.clone()),
            None => bail!(
                "process {pid} is none of those that `callgate ps --suspects` lists; nothing was ended. \
                 It may have ended by itself: look again."
            ),
        }
    }
    Ok(chosen)
}

/// What was ended; the exit code says whether all of it is gone.
fn tell(screen: &Screen, as_json: bool, swept: &SweepView) -> ExitCode {
    for one in &swept.ended {
        if as_json {
            let object = json!({
                "kind": "ended", "pid": one.pid, "what": one.what, "command": one.command,
                "session": one.session, "gone": one.gone,
            });
            screen.line(&object.to_string());
        } else {
            let done = if one.gone { "ended" } else { "does not react" };
            let line = format!("{:>8}  {}  {done}", one.pid, screen::pad(&screen::harmless(&one.what), 20));
            let command =
                screen::clip(&screen::harmless(&one.command), Screen::columns().saturating_sub(44).max(20));
            screen.line(&format!("{line}  {}", screen.paint(screen::DIM, &command)));
        }
    }
    for path in &swept.profiles {
        match as_json {
            true => screen.line(&json!({ "kind": "profile_removed", "path": path }).to_string()),
            false => screen.line(&format!("removed {}", screen::harmless(path))),
        }
    }
    if !as_json {
        screen.line(&swept.words);
    }
    if swept.ended.iter().all(|one| one.gone) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
