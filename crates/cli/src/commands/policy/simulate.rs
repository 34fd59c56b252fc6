//! `policy simulate`: what a policy would have done to the calls of the past.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_policy::edit::{Edit, apply, merge};
use callgate_policy::{Policy, Rate};
use callgate_review::{Example, Progress, Simulation, simulate};
use callgate_shim::gate::guard;
use callgate_store::{Disk, Home, catalogue};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::prepared_home;
use crate::args::SimulateArgs;
use crate::change;
use crate::commands::log;
use crate::duration::{iso, local};
use crate::screen::{self, Screen};

/// How many rules and calls are shown.
const SHOWN: usize = 12;

pub(super) fn run(args: &SimulateArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let history = log::current(&home)?;
    let server = server(&home, args, &history.servers()?)?;
    let text = match &args.file {
        Some(file) => super::read(file)?,
        None => changed(&change::current(&home, &server)?.1, &args.rule)?,
    };
    let mut policy =
        Policy::parse(&text).context("this policy is broken; `callgate policy check` says all of it")?;
    guard(&mut policy, home.path(), None);
    catalogue::describe(&home, &server, &mut policy);
    let watched = stderr().is_terminal();
    let progress = |progress: Progress| {
        if watched {
            // A line that is written over; when it cannot be written, nothing is lost.
            drop(write!(
                stderr(),
                "\r{} calls, up to {}",
                progress.rows,
                local(progress.at_ms).strftime("%Y-%m-%d %H:%M")
            ));
        }
        ControlFlow::Continue(())
    };
    let simulation = simulate(&history, &policy, &server, args.since.0, &Disk::new(), progress)?;
    if watched {
        drop(write!(stderr(), "\r\u{1b}[K"));
    }
    if args.json {
        Screen::new().line(&as_json(&server, &simulation).to_string());
    } else {
        print(&server, &simulation);
    }
    Ok(ExitCode::SUCCESS)
}

/// Whose calls: as told, else by the file's name, else the only server there is.
fn server(home: &Home, args: &SimulateArgs, known: &[String]) -> anyhow::Result<String> {
    if let Some(server) = &args.server {
        return Ok(server.clone());
    }
    let of_file = |file: &Path| {
        known.iter().find(|server| {
            home.policy(server).file_name() == file.file_name()
                || file.file_stem().is_some_and(|stem| stem == server.as_str())
        })
    };
    if let Some(server) = args.file.as_deref().and_then(of_file) {
        return Ok(server.clone());
    }
    match known {
        [only] => Ok(only.clone()),
        [] => bail!("there are no calls on record yet: start a server through `callgate run` first"),
        several => bail!("say whose calls with --server: {}", several.join(", ")),
    }
}

/// The present policy with the changes made to it.
fn changed(current: &str, changes: &[String]) -> anyhow::Result<String> {
    let mut text = current.to_owned();
    for change in changes {
        text = match change.trim_start().starts_with('{') {
            true => merge(&text, change).with_context(|| format!("--rule {change}"))?.text,
            false => apply(&text, &edit(change)?).with_context(|| format!("--rule {change:?}"))?.text,
        };
    }
    Ok(text)
}

/// The words of the commands that change a policy.
fn edit(change: &str) -> anyhow::Result<Edit> {
    let words: Vec<&str> = change.split_whitespace().collect();
    let tool = |tool: &str| tool.to_owned();
    Ok(match words.as_slice() {
        ["block"] => Edit::BlockServer { reason: None },
        ["block", name] => Edit::Block { tool: tool(name), reason: None },
        ["hide", name] => Edit::Hide { tool: tool(name) },
        ["allow"] => Edit::AllowServer,
        ["allow", name] => Edit::Allow { tool: tool(name) },
        ["cap", name, "none"] => Edit::Uncap { tool: tool(name) },
        ["cap", name, rate] => {
            let rate: Rate = rate.parse().with_context(|| format!("{rate:?} is no rate"))?;
            Edit::Cap { tool: tool(name), max: rate.max, window: rate.window }
        }
        _ => bail!(
            "{change:?} is no change: write \"block TOOL\", \"hide TOOL\", \"cap TOOL 10/minute\", \"allow TOOL\", or a part of \
             a policy as JSON"
        ),
    })
}

fn print(server: &str, simulation: &Simulation) {
    let screen = Screen::new();
    for (n, sentence) in simulation.sentences(Timestamp::now().as_millisecond()).iter().enumerate() {
        if n == 0 {
            let style = if simulation.refused == 0 { screen::GOOD } else { screen::BOLD };
            let line = format!("Policy {} on {}: {sentence}.", simulation.policy, screen::harmless(server));
            screen.line(&screen.paint(style, &line));
        } else {
            screen.line(&format!("  {}", screen::harmless(sentence)));
        }
    }
    for effect in simulation.rules.iter().take(SHOWN) {
        let counts: Vec<String> = [
            (effect.denied, "denied"),
            (effect.hidden, "hidden"),
            (effect.capped, "capped"),
            (effect.asked, "asked"),
            (effect.unsupported, "refused (not built yet)"),
            (effect.observed, "only observed"),
            (effect.untold, "cannot be told"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
        screen.line(&format!(
            "\n{}  {}",
            screen.paint(screen::ACCENT, &screen::harmless(&effect.rule)),
            counts.join(", ")
        ));
        if !effect.reason.is_empty() {
            screen.line(&screen.paint(screen::DIM, &format!("    {}", screen::harmless(&effect.reason))));
        }
    }
    if simulation.rules.len() > SHOWN {
        screen.line(&format!("\n… and {} rules more (--json has them all)", simulation.rules.len() - SHOWN));
    }
    let refused = (&simulation.newly_refused_examples, simulation.newly_refused);
    list(&screen, "Let through then, refused by this policy", refused);
    let passed = (&simulation.newly_passed_examples, simulation.newly_passed);
    list(&screen, "Refused then, let through by this policy", passed);
}

fn list(screen: &Screen, title: &str, (examples, all): (&Vec<Example>, u64)) {
    if examples.is_empty() {
        return;
    }
    let which = if examples.len() as u64 == all { String::new() } else { format!(", the newest of {all}") };
    screen.line(&format!("\n{title}{which}:"));
    for example in examples {
        screen.line(&format!(
            "  {}  {}  {}  {}  {}",
            local(example.at_ms).strftime("%m-%d %H:%M:%S"),
            screen::pad(&example.id.to_string(), 10),
            screen::pad(&screen::harmless(&example.tool), 28),
            screen::pad(example.ruling.word(), 8),
            screen.paint(screen::DIM, &screen::harmless(&example.rule)),
        ));
    }
}

fn as_json(server: &str, simulation: &Simulation) -> Value {
    let examples = |examples: &[Example]| -> Vec<Value> {
        let one = |example: &Example| {
            json!({
                "call": example.id.to_string(), "at": iso(example.at_ms), "tool": example.tool,
                "ruling": example.ruling.word(), "rule": example.rule, "reason": example.reason,
            })
        };
        examples.iter().map(one).collect()
    };
    let rules: Vec<Value> = simulation
        .rules
        .iter()
        .map(|effect| {
            json!({
                "rule": effect.rule, "denied": effect.denied, "hidden": effect.hidden, "capped": effect.capped,
                "asked": effect.asked, "unsupported": effect.unsupported, "observed": effect.observed,
                "cannot_tell": effect.untold, "newly_refused": effect.newly, "reason": effect.reason,
                "examples": effect.examples.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    let tools: Vec<Value> = simulation
        .tools
        .iter()
        .map(|effect| {
            json!({
                "tool": effect.tool, "calls": effect.calls, "refused": effect.refused, "observed": effect.observed,
                "cannot_tell": effect.untold, "newly_refused": effect.newly_refused, "newly_passed": effect.newly_passed,
            })
        })
        .collect();
    json!({
        "server": server, "policy": simulation.policy, "since": iso(simulation.since_ms), "calls": simulation.calls,
        "passed": simulation.passed, "observed": simulation.observed, "refused": simulation.refused,
        "capped": simulation.capped, "asked": simulation.asked, "cannot_tell": simulation.untold,
        "unchecked": simulation.unchecked, "newly_refused": simulation.newly_refused,
        "newly_passed": simulation.newly_passed, "left_out": simulation.left_out.all(),
        "rules": rules, "tools": tools,
        "newly_refused_calls": examples(&simulation.newly_refused_examples),
        "newly_passed_calls": examples(&simulation.newly_passed_examples),
    })
}
