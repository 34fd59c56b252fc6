//! `policy simulate`: what a policy would have decided otherwise than the rules in force, over the calls of the past.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use callgate_controls::Disk;
use callgate_controls::catalogue::{self, Catalogue};
use callgate_desk::view::Target;
use callgate_history::History;
use callgate_home::Home;
use callgate_policy::edit::{Edit, apply, merge};
use callgate_policy::lint::lint;
use callgate_policy::{Policy, Rate};
use callgate_review::{CallsApart, ComparisonRequest, Difference, Example, Progress, Simulation, compare};
use callgate_shim::rule_source::guard;
use callgate_text::local;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::prepared_home;
use crate::args::SimulateArgs;
use crate::change;
use crate::commands::log;
use crate::duration::iso;
use crate::screen::{self, Screen};

/// How many rules, tools and calls are shown.
const SHOWN: usize = 12;

pub(super) fn run(args: &SimulateArgs) -> anyhow::Result<ExitCode> {
    let home = prepared_home()?;
    let history = log::current(&home)?;
    let server = server(&home, args, &history.servers()?)?;
    let in_force = change::current(&home, &server)?.1;
    let text = match &args.file {
        Some(file) => super::read(file)?,
        None => changed(&in_force, args, &server)?,
    };
    let policy =
        Policy::parse(&text).context("this policy is broken; `callgate policy check` says all of it")?;
    warn(&home, &server, &in_force, &text);
    let difference = difference(&home, &history, &server, &in_force, policy, args.since.0)?;
    if args.json {
        Screen::new().line(&as_json(&server, &difference).to_string());
    } else if args.file.is_none() && args.rule.is_empty() {
        print_present(&server, &difference.changed);
    } else {
        print(&Screen::new(), &server, &difference);
    }
    Ok(ExitCode::SUCCESS)
}

/// Holds a policy against the text in force, with the guard of Callgate's own folder in both.
pub(super) fn difference(
    home: &Home,
    history: &History,
    server: &str,
    in_force: &str,
    mut changed: Policy,
    since_ms: i64,
) -> anyhow::Result<Difference> {
    // Broken rules refuse everything, and so they count.
    let mut today = Policy::parse(in_force).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    for policy in [&mut today, &mut changed] {
        guard(policy, home.path(), None);
        catalogue::describe(home, server, policy);
    }
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
    let question = ComparisonRequest { server, since_ms, files: &Disk::new(), examples: SHOWN };
    let difference = compare(history, &today, &changed, &question, progress)?;
    if watched {
        drop(write!(stderr(), "\r\u{1b}[K"));
    }
    Ok(difference)
}

/// Whose calls: as told, else by the file's name, else the only server there is.
fn server(home: &Home, args: &SimulateArgs, known: &[String]) -> anyhow::Result<String> {
    if let Some(server) = &args.server {
        crate::act::known_server(server, callgate_desk::inventory::Purpose::Look)?;
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
fn changed(current: &str, args: &SimulateArgs, server: &str) -> anyhow::Result<String> {
    let mut text = current.to_owned();
    for change in &args.rule {
        text = match change.trim_start().starts_with('{') {
            true => merge(&text, change).with_context(|| format!("--rule {change}"))?.text,
            false => {
                let edit = edit(change)?;
                if let Some(tool) = edit.tool().filter(|_| !args.new) {
                    let (server, tool) = (server.to_owned(), Some(tool.to_owned()));
                    crate::act::known(&Target { server, tool, client: None })
                        .with_context(|| format!("--rule {change:?}"))?;
                }
                apply(&text, &edit).with_context(|| format!("--rule {change:?}"))?.text
            }
        };
    }
    Ok(text)
}

/// What these rules say that can never count, unless the rules in force say so already: on the side, for a program reads
/// the answer.
fn warn(home: &Home, server: &str, in_force: &str, text: &str) {
    let known = catalogue::read(home, server).ok().flatten();
    let tools = known.as_ref().map(Catalogue::server_tools);
    let found = |text: &str| lint(text, tools.as_ref(), Timestamp::now().as_millisecond());
    let before: Vec<String> = found(in_force).into_iter().map(|problem| problem.message).collect();
    for problem in found(text).iter().filter(|problem| !before.contains(&problem.message)) {
        let fix = problem.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
        screen::hint(&screen::harmless(&format!("{}{fix}", problem.message)));
    }
}

/// The words of the commands that change a policy.
fn edit(change: &str) -> anyhow::Result<Edit> {
    let words: Vec<&str> = change.split_whitespace().collect();
    let tool = |tool: &str| tool.to_owned();
    Ok(match words.as_slice() {
        ["block"] => Edit::BlockServer { reason: None },
        ["block", name] => Edit::Block { tool: tool(name), reason: None },
        ["ask", name] => Edit::Ask { tool: tool(name), reason: None },
        ["hide", name] => Edit::Hide { tool: tool(name) },
        ["allow"] => Edit::AllowServer,
        ["allow", name] => Edit::Allow { tool: tool(name) },
        ["cap", "none"] => Edit::UncapServer,
        ["cap", name, "none"] => Edit::Uncap { tool: tool(name) },
        ["cap", rate] => {
            let Rate { max, window } = rate.parse().with_context(|| format!("{rate:?} is no rate"))?;
            Edit::CapServer { max, window }
        }
        ["cap", name, rate] => {
            let rate: Rate = rate.parse().with_context(|| format!("{rate:?} is no rate"))?;
            Edit::Cap { tool: tool(name), max: rate.max, window: rate.window }
        }
        _ => bail!(
            "{change:?} is no change: write \"block TOOL\", \"ask TOOL\", \"hide TOOL\", \"cap TOOL 10/minute\", \"allow TOOL\", or a part of \
             a policy as JSON"
        ),
    })
}

/// The difference first; what is the same under both is small print.
pub(super) fn print(screen: &Screen, server: &str, difference: &Difference) {
    let now_ms = Timestamp::now().as_millisecond();
    let style = if difference.is_none() { screen::GOOD } else { screen::BOLD };
    let headline = format!("{}: {}", screen::harmless(server), difference.headline(now_ms));
    screen.line(&screen.paint(style, &headline));
    for sentence in difference.details(now_ms) {
        screen.line(&screen.paint(screen::DIM, &format!("  {}", screen::harmless(&sentence))));
    }
    let shown = difference.tools.iter().take(SHOWN);
    let width = shown.clone().map(|one| one.tool.chars().count()).max().unwrap_or(0).min(40);
    for one in shown {
        screen.line(&format!(
            "  {}  {} more, {} fewer",
            screen::pad(&screen::harmless(&one.tool), width),
            one.more,
            one.fewer
        ));
    }
    if difference.tools.len() > SHOWN {
        screen.line(&format!("  … and {} tools more (--json has them all)", difference.tools.len() - SHOWN));
    }
    list(screen, "Refused or asked about by these rules, not by today's", &difference.more);
    list(screen, "Refused or asked about by today's rules, not by these", &difference.fewer);
}

/// The rules in force over the same calls: there is nothing to compare them with.
fn print_present(server: &str, simulation: &Simulation) {
    let screen = Screen::new();
    for (n, sentence) in simulation.sentences(Timestamp::now().as_millisecond()).iter().enumerate() {
        if n == 0 {
            let style = if simulation.refused == 0 { screen::GOOD } else { screen::BOLD };
            let line = format!(
                "{}: the rules in force ({}) {sentence}.",
                screen::harmless(server),
                simulation.policy
            );
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
}

fn list(screen: &Screen, title: &str, apart: &CallsApart) {
    if apart.examples.is_empty() {
        return;
    }
    let all = apart.calls;
    let which =
        if apart.examples.len() as u64 == all { String::new() } else { format!(", the newest of {all}") };
    screen.line(&format!("\n{title}{which}:"));
    for example in &apart.examples {
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

fn as_json(server: &str, difference: &Difference) -> Value {
    let simulation = &difference.changed;
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
    let apart: Vec<Value> = difference
        .tools
        .iter()
        .map(|one| json!({ "tool": one.tool, "more": one.more, "fewer": one.fewer }))
        .collect();
    let words: Vec<String> = {
        let now_ms = Timestamp::now().as_millisecond();
        std::iter::once(difference.headline(now_ms)).chain(difference.details(now_ms)).collect()
    };
    json!({
        "server": server,
        "difference": {
            "words": words, "today": difference.today.policy, "refused_today": difference.today.refused,
            "more": difference.more.calls, "fewer": difference.fewer.calls, "otherwise": difference.otherwise,
            "noted": difference.noted, "cannot_tell": difference.unclear, "tools": apart,
            "more_calls": examples(&difference.more.examples),
            "fewer_calls": examples(&difference.fewer.examples),
        },
        "policy": simulation.policy, "since": iso(simulation.since_ms), "calls": simulation.calls,
        "passed": simulation.passed, "observed": simulation.observed, "refused": simulation.refused,
        "capped": simulation.capped, "asked": simulation.asked, "asked_an_hour": simulation.asked_an_hour, "cannot_tell": simulation.untold,
        "unchecked": simulation.unchecked, "newly_refused": simulation.newly_refused,
        "newly_passed": simulation.newly_passed, "left_out": simulation.left_out.all(),
        "rules": rules, "tools": tools,
        "newly_refused_calls": examples(&simulation.newly_refused_examples),
        "newly_passed_calls": examples(&simulation.newly_passed_examples),
    })
}
