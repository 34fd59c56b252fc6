//! `callgate status`: what runs now, under which policy.

use std::process::ExitCode;
use std::time::Duration;

use callgate_policy::Policy;
use callgate_store::allowance::{self, What};
use callgate_store::clock::{Clock, SystemClock};
use callgate_store::home::read_private;
use callgate_store::pause::{self, Switch};
use callgate_store::{Home, Lease, Settings, running};
use jiff::Timestamp;
use serde_json::json;

use crate::args::StatusArgs;
use crate::commands::allowance::{described, ending};
use crate::commands::log::current;
use crate::duration::{iso, words};
use crate::screen::{self, Screen};

pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    home.prepare()?;
    let screen = Screen::new();
    let sessions = running(&home);
    let history = current(&home)?;
    for lease in &sessions {
        let state = State::of(&home, lease);
        let (calls, refused) = history.session_counts(lease.session)?;
        if args.json {
            let object = json!({
                "session": lease.session.to_string(), "server": lease.server,
                "client": lease.client.as_deref().unwrap_or("unknown"), "pid": lease.pid, "started": iso(lease.started_ms),
                "command": lease.command, "policy": lease.policy_version.as_deref().unwrap_or_default(),
                "protection": state.word, "problem": state.problem, "calls": calls, "refused": refused,
            });
            screen.line(&object.to_string());
        } else {
            print(&screen, lease, &state, calls, refused);
        }
    }
    if !args.json {
        summary(&home, &screen, sessions.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// How well a session is protected.
struct State {
    word: &'static str,
    style: anstyle::Style,
    problem: Option<String>,
}

impl State {
    fn of(home: &Home, lease: &Lease) -> State {
        if let Some(reason) = pause::reason(home, &lease.server) {
            return State { word: "paused", style: screen::WARN, problem: Some(reason) };
        }
        let now = SystemClock::default().now();
        if allowance::read(home).open(&lease.server, &now).any(|granted| granted.what == What::Observe) {
            let problem = Some("a person has set its policy aside for a while".to_owned());
            return State { word: "observed", style: screen::WARN, problem };
        }
        let problem = policy_problem(home, lease);
        match (&problem, &lease.policy_version) {
            // It never had a good policy: everything is refused.
            (_, None) => {
                let problem =
                    problem.or_else(|| Some("there was no usable policy when it started".to_owned()));
                State { word: "broken", style: screen::BAD, problem }
            }
            _ if lease.watch_only => State { word: "watch-only", style: screen::WARN, problem },
            _ => State { word: "enforcing", style: screen::GOOD, problem },
        }
    }
}

/// What is wrong with the policy file as it is now. A session may still run on an earlier, good one.
fn policy_problem(home: &Home, lease: &Lease) -> Option<String> {
    let own = home.policy(&lease.server);
    let path = if own.exists() { own } else { home.default_policy() };
    let text = match read_private(&path) {
        Ok(text) => text,
        Err(error) => return Some(format!("{} cannot be read: {error}", path.display())),
    };
    let in_force = lease.policy_version.as_deref()?;
    match Policy::parse(&text) {
        Err(report) => {
            let what = format!("{}: {}", path.display(), report.headline());
            Some(format!("{what}; policy {in_force} stays in force until this is mended"))
        }
        // Its own file was deleted: the session keeps what it had, and a new one would not have it.
        Ok(policy) if policy.version() != in_force => {
            Some(format!("this session keeps policy {in_force}, but a new one would get {}", path.display()))
        }
        Ok(_) => None,
    }
}

fn print(screen: &Screen, lease: &Lease, state: &State, calls: u64, refused: u64) {
    let client = lease.client.as_deref().unwrap_or("unknown");
    screen.line(&format!(
        "{}  {}  {}  {calls} calls, {refused} refused, up {}",
        screen::pad(&screen::harmless(&lease.server), 20),
        screen.paint(state.style, &screen::pad(state.word, 10)),
        screen::pad(&screen::harmless(client), 16),
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
    if let Some(problem) = &state.problem {
        screen.line(&format!("    {}", screen.paint(screen::BAD, &screen::harmless(problem))));
    }
}

fn summary(home: &Home, screen: &Screen, sessions: usize) {
    match sessions {
        0 => screen
            .line("No session runs. One begins when an AI client starts a server through `callgate run`."),
        1 => screen.line("1 session runs."),
        n => screen.line(&format!("{n} sessions run.")),
    }
    for problem in Settings::read(home).1 {
        screen.line(&screen.paint(screen::WARN, &screen::harmless(&problem)));
    }
    allowances(home, screen);
    match pause::read(home) {
        Switch::Broken(why) => {
            screen.line(&screen.paint(screen::BAD, &format!("Everything is paused, because {why}")))
        }
        Switch::Readable(pauses) if pauses.all.is_some() => {
            screen.line(&screen.paint(screen::WARN, "Everything is paused: callgate resume"));
        }
        Switch::Readable(pauses) => {
            for server in pauses.servers.keys() {
                let text = format!(
                    "Paused: {} (callgate resume {})",
                    screen::harmless(server),
                    screen::quoted(server)
                );
                screen.line(&screen.paint(screen::WARN, &text));
            }
        }
    }
}

/// What is let through for a while, and how to end it.
fn allowances(home: &Home, screen: &Screen) {
    let now = SystemClock::default().now();
    let allowances = allowance::read(home);
    for granted in allowances.all.iter().filter(|granted| granted.is_open(&now)) {
        if allowance::is_spent(home, &now, granted).unwrap_or(false) {
            continue;
        }
        let left = words(Duration::from_millis((granted.ends_ms - now.wall_ms).max(0).unsigned_abs()));
        let text = format!("For {left} more, {} ({})", described(granted), ending(granted));
        screen.line(&screen.paint(screen::WARN, &text));
    }
    if let Some(problem) = &allowances.problem {
        screen.line(&screen.paint(screen::WARN, &screen::harmless(problem)));
    }
}

fn age(started_ms: i64) -> String {
    let age = (Timestamp::now().as_millisecond() - started_ms).max(0).unsigned_abs();
    words(Duration::from_millis(age))
}
