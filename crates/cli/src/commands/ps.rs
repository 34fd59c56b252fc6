//! `callgate ps`: every process of every running server, what it takes, and what dead sessions left.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use callgate_desk::Desk;
use callgate_desk::sampling::Sampler;
use callgate_desk::text::size;
use callgate_desk::view::{LeftoverView, ProcessView, Strays, SuspectView, TreeView};
use callgate_home::clock::{SystemClock, wall_ms};
use callgate_home::{Home, running};
use callgate_journal::Origin;
use serde_json::{Value, json};

use crate::args::PsArgs;
use crate::duration::{iso, words};
use crate::screen::{self, Screen};

/// The share of a core is a difference of two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(300);

pub(crate) fn run(args: &PsArgs) -> anyhow::Result<ExitCode> {
    let (desk, mut sampler) = look()?;
    let screen = Screen::new();
    let leases = running(desk.home());
    sampler.sample(&leases, wall_ms());
    if !leases.is_empty() {
        thread::sleep(BETWEEN_LOOKS);
    }
    sampler.sample(&leases, wall_ms());
    let strays = desk.strays(&mut sampler)?;
    let trees = desk.trees(&sampler, &leases);
    let suspects: &[SuspectView] = if args.suspects { &strays.suspects } else { &[] };
    if args.json {
        trees.iter().for_each(|tree| screen.line(&tree_object(tree).to_string()));
        stray_objects(&screen, &strays);
        suspects.iter().for_each(|one| screen.line(&suspect_object(one).to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    trees.iter().for_each(|tree| print_tree(&screen, tree));
    totals(&screen, &trees);
    print_strays(&screen, &strays);
    print_suspects(&screen, suspects, args.suspects);
    Ok(ExitCode::SUCCESS)
}

/// The desk, and what it looks with.
pub(super) fn look() -> anyhow::Result<(Desk, Sampler)> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let desk = Desk::new(home, Arc::new(SystemClock::default()), Origin::Cli);
    let sampler = desk.sampler().context("this system does not tell what processes take")?;
    Ok((desk, sampler))
}

fn print_tree(screen: &Screen, tree: &TreeView) {
    let client = tree.client.as_deref().unwrap_or("unknown client");
    screen.line(&format!(
        "{}  {}  {}",
        screen.paint(screen::BOLD, &screen::harmless(&tree.server)),
        screen::harmless(client),
        screen.paint(
            screen::DIM,
            &format!(
                "session {}, up {}, {}, {}, {}",
                tree.session,
                age(tree.started_ms),
                processes(tree.processes.len()),
                size(tree.memory_bytes),
                share(tree.cpu_percent),
            )
        ),
    ));
    if let Some(why) = &tree.elsewhere {
        let text = format!("    It {why}: its processes cannot be seen or ended from here.");
        screen.line(&screen.paint(screen::DIM, &text));
    }
    print_processes(screen, &tree.processes);
}

pub(super) fn print_processes(screen: &Screen, processes: &[ProcessView]) {
    for one in processes {
        let indent = usize::try_from(one.depth).unwrap_or(0).min(12) * 2;
        let what = format!("{}{}", " ".repeat(indent), screen::clip(&screen::harmless(&one.what), 32));
        let line = format!(
            "  {:>8}  {:>7}  {:>7}  {:>10}  {}",
            one.pid,
            share(one.cpu_percent),
            size(one.memory_bytes),
            age(one.started_ms),
            screen::pad(&what, 28),
        );
        let room = Screen::columns().saturating_sub(line.chars().count() + 2).max(16);
        let command = screen::clip(&screen::harmless(&one.command), room);
        screen.line(&format!("{line}  {}", screen.paint(screen::DIM, &command)));
    }
}

fn totals(screen: &Screen, trees: &[TreeView]) {
    if trees.is_empty() {
        return screen.line("No session runs.");
    }
    let all: usize = trees.iter().map(|tree| tree.processes.len()).sum();
    let memory = trees.iter().map(|tree| tree.memory_bytes).sum();
    let cpu = trees.iter().map(|tree| tree.cpu_percent).sum();
    let sessions = screen::count(trees.len(), "session");
    screen.line(&format!("{sessions}, {}, {}, {} of a core.", processes(all), size(memory), share(cpu)));
}

pub(super) fn print_strays(screen: &Screen, strays: &Strays) {
    for left in &strays.leftovers {
        screen.line(&screen.paint(screen::WARN, &leftover(left)));
        print_processes(screen, &left.processes);
    }
    match strays.leftovers.iter().map(|left| left.processes.len()).sum() {
        0_usize if strays.leftovers.is_empty() => {}
        1 => screen.line("End it: callgate sweep"),
        _ => screen.line("End them: callgate sweep"),
    }
    for one in &strays.elsewhere {
        let whence = if one.other_boot { "under another boot" } else { "in another pid namespace" };
        let text = format!(
            "Session {} of {} was recorded {whence} with {}; what is left of it cannot be seen from here, and is left alone.",
            one.session,
            screen::harmless(&one.server),
            processes(usize::try_from(one.processes).unwrap_or(0)),
        );
        screen.line(&screen.paint(screen::DIM, &text));
    }
}

/// "12 processes of a session of playwright that ended 2 days ago (k3v9qa): 470 MB"; of one that nobody saw end, "that was
/// last seen 2 days ago".
fn leftover(left: &LeftoverView) -> String {
    let whose = left.server.as_deref().map(|server| format!(" of {}", screen::harmless(server)));
    let when = match (left.ended_ms, left.seen_ms) {
        (Some(at), _) => format!("that ended {} ago", age(at)),
        (None, Some(at)) => format!("that was last seen {} ago", age(at)),
        (None, None) => "that ended".to_owned(),
    };
    let (processes, memory) = (processes(left.processes.len()), size(left.memory_bytes));
    let whose = whose.unwrap_or_default();
    format!("{processes} of a session{whose} {when} ({}): {memory}", left.session)
}

fn print_suspects(screen: &Screen, suspects: &[SuspectView], asked: bool) {
    for one in suspects {
        let count = processes(usize::try_from(one.processes).unwrap_or(0));
        let text = format!(
            "A browser that nobody owns: pid {}, {count}, {}, up {}, profile {}",
            one.pid,
            size(one.memory_bytes),
            age(one.started_ms),
            screen::harmless(&one.profile),
        );
        screen.line(&screen.paint(screen::WARN, &text));
        let command =
            screen::clip(&screen::harmless(&one.command), Screen::columns().saturating_sub(6).max(40));
        screen.line(&screen.paint(screen::DIM, &format!("    {command}")));
    }
    match suspects {
        [] if asked => screen.line("No browser is left over from elsewhere."),
        [] => {}
        [one, ..] => {
            screen.line(&format!("End those that you do not need: callgate sweep --suspects {}", one.pid))
        }
    }
}

fn tree_object(tree: &TreeView) -> Value {
    json!({
        "kind": "tree", "session": tree.session, "server": tree.server,
        "client": tree.client.as_deref().unwrap_or("unknown"), "started": iso(tree.started_ms),
        "elsewhere": tree.elsewhere, "cpu_percent": tree.cpu_percent, "memory_bytes": tree.memory_bytes,
        "processes": tree.processes.iter().map(process_object).collect::<Vec<_>>(),
    })
}

fn process_object(one: &ProcessView) -> Value {
    json!({
        "pid": one.pid, "depth": one.depth, "what": one.what, "command": one.command,
        "cpu_percent": one.cpu_percent, "memory_bytes": one.memory_bytes, "started": iso(one.started_ms),
    })
}

pub(super) fn stray_objects(screen: &Screen, strays: &Strays) {
    for left in &strays.leftovers {
        let object = json!({
            "kind": "leftover", "session": left.session, "server": left.server, "client": left.client,
            "ended": left.ended_ms.map(iso), "last_seen": left.seen_ms.map(iso), "memory_bytes": left.memory_bytes,
            "processes": left.processes.iter().map(process_object).collect::<Vec<_>>(),
        });
        screen.line(&object.to_string());
    }
    for one in &strays.elsewhere {
        let object = json!({
            "kind": "elsewhere", "session": one.session, "server": one.server, "client": one.client,
            "noted": one.noted_ms.map(iso), "why": if one.other_boot { "boot" } else { "pid_namespace" },
            "processes": one.processes,
        });
        screen.line(&object.to_string());
    }
}

fn suspect_object(one: &SuspectView) -> Value {
    json!({
        "kind": "suspect", "pid": one.pid, "command": one.command, "profile": one.profile,
        "processes": one.processes, "memory_bytes": one.memory_bytes, "started": iso(one.started_ms),
    })
}

pub(super) fn processes(number: usize) -> String {
    format!("{number} {}", if number == 1 { "process" } else { "processes" })
}

fn share(percent: f32) -> String {
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn age(since_ms: i64) -> String {
    words(Duration::from_millis((wall_ms() - since_ms).max(0).unsigned_abs()))
}
