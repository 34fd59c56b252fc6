//! `callgate status`: what runs now, under which policy.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use callgate_controls::allowance::{self, Allowance, AllowanceScope};
use callgate_desk::findings::{Code, Finding, Gravity};
use callgate_desk::protection::{Guarded, Guards};
use callgate_desk::view::Protection;
use callgate_desk::{Desk, allowing};
use callgate_history::History;
use callgate_home::clock::{Clock, SystemClock, wall_ms};
use callgate_home::{Home, Lease, Stand, running};
use callgate_journal::{EventKind, Origin};
use callgate_text::span;
use serde_json::json;

use crate::args::StatusArgs;
use crate::commands::approvals::granted;
use crate::commands::log::current;
use crate::duration::iso;
use crate::screen::{self, Screen};

/// How far back failed starts are shown, in milliseconds, how many of them, and among how many events.
const LATELY: i64 = 24 * 60 * 60 * 1000;
const FAILURES: usize = 3;
const EVENTS: usize = 1_000;
/// A call that runs for longer is shown: most take a moment, and one that hangs keeps its agent waiting.
const LONG_CALL_MS: i64 = 10_000;
/// So many of a session.
const LONG_CALLS: usize = 3;

pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let screen = Screen::new();
    let sessions = running(&home);
    let history = current(&home)?;
    let mut guards = Guards::read(&home, SystemClock::default().now());
    for lease in &sessions {
        let state = guards.for_session(lease);
        let (calls, refused) = history.session_counts(lease.session)?;
        if args.json {
            let object = json!({
                "session": lease.session.to_string(), "server": lease.server,
                "client": lease.client.as_deref().unwrap_or("unknown"), "pid": lease.pid, "started": iso(lease.started_ms),
                "command": lease.command, "policy": lease.policy_version.as_deref().unwrap_or_default(),
                "stand": lease.stand.word(), "stand_words": lease.stand_words, "restarts": lease.restarts,
                "protection": state.protection.word(), "problem": state.problem.map(|problem| problem.1), "calls": calls, "refused": refused,
            });
            screen.line(&object.to_string());
        } else {
            print(&screen, lease, &state, calls, refused);
            long_calls(&screen, &history, lease)?;
        }
    }
    if !args.json {
        start_failures(&screen, &history)?;
        summary(&Desk::new(home, Arc::new(SystemClock::default()), Origin::Cli), &screen, &sessions);
    }
    Ok(ExitCode::SUCCESS)
}

/// In the colour of how well that is.
fn style(protection: Protection) -> anstyle::Style {
    match protection {
        Protection::Enforcing => screen::GOOD,
        Protection::WatchOnly | Protection::Observed | Protection::Paused => screen::WARN,
        Protection::Broken => screen::BAD,
    }
}

fn print(screen: &Screen, lease: &Lease, state: &Guarded, calls: u64, refused: u64) {
    let client = lease.client.as_deref().unwrap_or("unknown");
    screen.line(&format!(
        "{}  {}  {}  {}, {refused} refused, up {}",
        screen::pad(&screen::harmless(&lease.server), 20),
        screen.paint(style(state.protection), &screen::pad(state.protection.word(), 10)),
        screen::pad(&screen::harmless(client), 16),
        screen::count(usize::try_from(calls).unwrap_or(usize::MAX), "call"),
        age(lease.started_ms),
    ));
    let command = screen::clip(
        &screen::harmless(&lease.command.join(" ")),
        Screen::columns().saturating_sub(40).max(40),
    );
    let policy = lease.policy_version.as_deref().unwrap_or("none");
    screen.line(&screen.paint(
        screen::DIM,
        &format!("    session {}, pid {}, policy {policy}, {command}", lease.session, lease.pid),
    ));
    if lease.stand != Stand::Running || lease.restarts > 0 || lease.stand_words.is_some() {
        let times = if lease.restarts > 0 {
            format!(", started again {}", screen::count(lease.restarts as usize, "time"))
        } else {
            String::new()
        };
        let words = lease.stand_words.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
        let text = screen::harmless(&format!("server {}{times}{words}", lease.stand.word()));
        screen.line(&format!("    {}", screen.paint(screen::WARN, &text)));
    }
    if let Some((_, problem)) = &state.problem {
        screen.line(&format!("    {}", screen.paint(screen::BAD, &screen::harmless(problem))));
    }
}

/// Calls that their server has not answered for a while.
fn long_calls(screen: &Screen, history: &History, lease: &Lease) -> anyhow::Result<()> {
    let before = wall_ms() - LONG_CALL_MS;
    let calls: Vec<_> =
        history.running_calls(lease.session)?.into_iter().filter(|call| call.at_ms < before).collect();
    for call in calls.iter().take(LONG_CALLS) {
        let what = call.tool.as_deref().or(call.method.as_deref()).unwrap_or("(unreadable)");
        let text = format!("{what} has not answered for {} (callgate show {})", age(call.at_ms), call.id);
        screen.line(&format!("    {}", screen.paint(screen::WARN, &screen::harmless(&text))));
    }
    if let more @ 1.. = calls.len().saturating_sub(LONG_CALLS) {
        screen.line(&screen.paint(screen::DIM, &format!("    and {}", screen::count(more, "more call"))));
    }
    Ok(())
}

/// Servers that did not get as far as serving lately: nothing else here would show them.
fn start_failures(screen: &Screen, history: &History) -> anyhow::Result<()> {
    let since = wall_ms() - LATELY;
    let events = history.events(Some(since), EVENTS)?;
    let failed: Vec<_> = events.iter().filter(|event| event.kind == EventKind::StartFailed).rev().collect();
    for event in failed.iter().take(FAILURES) {
        let server = event.server.as_deref().unwrap_or_default();
        let text = format!("{server} did not start {} ago: {}", age(event.at_ms), event.text);
        screen.line(&screen.paint(screen::BAD, &screen::harmless(&text)));
    }
    if let more @ 1.. = failed.len().saturating_sub(FAILURES) {
        screen.line(&screen.paint(screen::DIM, &format!("and {more} more: callgate events")));
    }
    Ok(())
}

fn summary(desk: &Desk, screen: &Screen, sessions: &[Lease]) {
    match sessions.len() {
        0 => screen
            .line("No session runs. One begins when an AI client starts a server through `callgate run`."),
        1 => screen.line("1 session runs."),
        n => screen.line(&format!("{n} sessions run.")),
    }
    for finding in desk.needs().iter().filter(|finding| !is_told_of_its_session(finding, sessions)) {
        let style = if finding.gravity == Gravity::Problem { screen::BAD } else { screen::WARN };
        let command = finding.fix.as_ref().and_then(|fix| fix.command.as_ref());
        let command = command.map(|command| format!(" ({command})")).unwrap_or_default();
        screen.line(&screen.paint(style, &format!("{}{command}", finding.words)));
    }
    allowances(desk.home(), screen);
    // What cannot be read is among the findings.
    for grant in desk.approvals().unwrap_or_default().grants {
        screen.line(&granted(screen, &grant));
    }
}

/// Said above, with each session of the server.
fn is_told_of_its_session(finding: &Finding, sessions: &[Lease]) -> bool {
    let of_policy = matches!(finding.code, Code::PolicyBroken | Code::PolicyUnread | Code::PolicyGone);
    of_policy && sessions.iter().any(|lease| Some(&lease.server) == finding.server.as_ref())
}

/// What is let through for a while, and how to end it.
fn allowances(home: &Home, screen: &Screen) {
    let now = SystemClock::default().now();
    let allowances = allowance::read(home);
    // A server that is only observed is among the findings.
    let open = |granted: &&Allowance| granted.is_open(&now) && granted.what != AllowanceScope::Observe;
    for granted in allowances.all.iter().filter(open) {
        if allowance::is_spent(home, &now, granted).unwrap_or(false) {
            continue;
        }
        let left = span(Duration::from_millis((granted.ends_ms - now.wall_ms).max(0).unsigned_abs()));
        let text = format!("For {left} more, {} ({})", allowing::described(granted), ending(granted));
        screen.line(&screen.paint(screen::WARN, &text));
    }
}

/// The command that ends an allowance before its time.
fn ending(granted: &Allowance) -> String {
    format!("callgate allow --end {}", granted.id)
}

fn age(started_ms: i64) -> String {
    let age = (wall_ms() - started_ms).max(0).unsigned_abs();
    span(Duration::from_millis(age))
}
