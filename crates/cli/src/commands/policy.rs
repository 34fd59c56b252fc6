//! `policy check`, `policy explain`, `policy schema`.

use std::process::ExitCode;

use anyhow::Context;
use callgate_policy::{Call, Decision, Policy, Problem, SCHEMA, Severity, Target, Verdict, Window, decide};
use callgate_protocol::json::Raw;
use callgate_shim::gate::guard;
use callgate_shim::wording::whole_seconds;
use callgate_store::clock::SystemClock;
use callgate_store::home::read_private;
use callgate_store::limits::Readings;
use callgate_store::{Home, pause};
use serde_json::json;

use crate::args::{CheckArgs, ExplainArgs, PolicyArgs, PolicyCommand};
use crate::screen::{self, Screen};

pub(crate) fn run(args: PolicyArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        PolicyCommand::Check(args) => check(&args),
        PolicyCommand::Explain(args) => explain(&args),
        PolicyCommand::Schema => {
            Screen::new().line(SCHEMA.trim_end());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(&args.file)
        .with_context(|| format!("{} cannot be read", args.file.display()))?;
    let (problems, good) = match Policy::parse(&text) {
        Ok(policy) => (policy.warnings().to_vec(), true),
        Err(report) => (report.problems, false),
    };
    let screen = Screen::new();
    for problem in &problems {
        if args.json {
            screen.line(&as_json(problem).to_string());
        } else {
            print_problem(&screen, args, problem);
        }
    }
    if !args.json {
        let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let word =
            if good { screen.paint(screen::GOOD, "good") } else { screen.paint(screen::BAD, "broken") };
        let counts = format!("{}, {}", screen::count(errors, "error"), screen::count(warnings, "warning"));
        screen.line(&format!("{}: {word}, {counts}", args.file.display()));
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_problem(screen: &Screen, args: &CheckArgs, problem: &Problem) {
    let (style, word) = match problem.severity {
        Severity::Error => (screen::BAD, "error"),
        Severity::Warning => (screen::WARN, "warning"),
    };
    let place = format!("{}:{}:{}", args.file.display(), problem.line, problem.column);
    screen.line(&format!("{place}: {}: {}", screen.paint(style, word), screen::harmless(&problem.message)));
    if !problem.pointer.is_empty() {
        screen.line(&screen.paint(screen::DIM, &format!("    at {}", screen::harmless(&problem.pointer))));
    }
    if let Some(fix) = &problem.fix {
        screen.line(&format!("    fix: {}", screen::harmless(fix)));
    }
}

fn as_json(problem: &Problem) -> serde_json::Value {
    json!({
        "severity": problem.severity.to_string(),
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "message": problem.message,
        "fix": problem.fix,
    })
}

fn explain(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let raw = args.args.as_deref().map(Raw::parse).transpose().context("--args is not one JSON value")?;
    let policy = effective(&home, &args.server);
    let usage =
        Readings::open(&home, &args.server, &args.client, std::sync::Arc::new(SystemClock::default()))?;
    let call = Call { client: &args.client, target: Target::Tool { name: &args.tool, args: raw } };
    let verdict = match pause::reason(&home, &args.server) {
        Some(reason) => Verdict {
            decision: Decision::Deny,
            rule: "(paused)".to_owned(),
            reason,
            counters: Vec::new(),
            retry_after: None,
        },
        None => decide(&policy, &call, &usage),
    };
    print_verdict(args, &policy, &verdict);
    Ok(ExitCode::SUCCESS)
}

/// The policy that a gate started now would enforce.
fn effective(home: &Home, server: &str) -> Policy {
    let own = home.policy(server);
    let path = if own.exists() { own } else { home.default_policy() };
    let parsed = read_private(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| Policy::parse(&text).map_err(|report| report.to_string()));
    match parsed {
        Ok(mut policy) => {
            guard(&mut policy, home.path());
            policy
        }
        Err(reason) => Policy::refuse_all(format!("{}: {reason}", path.display())),
    }
}

fn print_verdict(args: &ExplainArgs, policy: &Policy, verdict: &Verdict) {
    let screen = Screen::new();
    let allowed = verdict.decision == Decision::Allow;
    if args.json {
        let counters: Vec<_> = verdict
            .counters
            .iter()
            .map(|counter| {
                json!({
                    "rule": counter.pointer, "counter": counter.counter, "scope": counter.scope.to_string(),
                    "used": counter.used, "max": counter.max, "window_s": counter.window.as_secs(),
                    "frees_in_s": counter.frees_in.map(|wait| wait.as_secs_f64()),
                })
            })
            .collect();
        let object = json!({
            "decision": if allowed { "allow" } else { "deny" },
            "kind": verdict.decision.word(),
            "rule": verdict.rule,
            "reason": verdict.reason,
            "retry_after_s": verdict.retry_after.map(|wait| wait.as_secs_f64()),
            "policy": policy.version(),
            "counters": counters,
        });
        return screen.line(&object.to_string());
    }
    let word = if allowed { screen.paint(screen::GOOD, "allow") } else { screen.paint(screen::BAD, "deny") };
    let gap = if allowed { "   " } else { "    " };
    screen.line(&format!(
        "{word}{gap}{} on {}",
        screen::harmless(&args.tool),
        screen::harmless(&args.server)
    ));
    screen.line(&format!("rule    {}", screen::harmless(&verdict.rule)));
    if !verdict.reason.is_empty() {
        screen.line(&format!("reason  {}", screen::harmless(&verdict.reason)));
    }
    for counter in &verdict.counters {
        let window = Window::from_seconds(counter.window.as_secs()).unwrap_or(Window::SECOND);
        screen.line(&format!(
            "count   {} of {} per {window}, by {} ({})",
            counter.used, counter.max, counter.scope, counter.pointer
        ));
    }
    if let Some(wait) = verdict.retry_after {
        screen.line(&format!("passes  in {} s", whole_seconds(wait)));
    }
}
