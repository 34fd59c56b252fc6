//! Why a call was decided as it was: in words, by the rule as it was then, and how its counter stands now.

use std::sync::Arc;
use std::time::Duration;

use callgate_controls::limits::Readings;
use callgate_history::CallRow;
use callgate_home::read_private;
use callgate_journal::Decision;
use callgate_policy::{Kind, Limit, Policy, Scope, Taking, UNIT, Usage, Window, excerpt};

use crate::Desk;
use crate::view::{Counter, Why};

/// How the gate goes on after the reason of a capped call.
const WAIT_THEN: [&str; 2] = ["; the next call can pass in ", "; this amount can pass in "];

/// `policy`: the text that decided, if it is still kept.
pub(super) fn why(desk: &Desk, call: &CallRow, policy: Option<&str>) -> Why {
    let then = policy.zip(call.rule.as_deref()).and_then(|(text, rule)| excerpt(text, rule));
    let today = today(desk, &call.server);
    let now = today.as_deref().zip(call.rule.as_deref()).and_then(|(text, rule)| excerpt(text, rule));
    // A rule that is not a place in the policy (a pause, a malformed message) cannot have changed there.
    let changed_since = then.is_some() && then != now;
    let counter = counter(desk, call, [today.as_deref(), policy]);
    let mut words = words(call);
    if counter.is_some() && call.decision == Decision::Capped {
        // How long it was to wait then is of no use beside how long it is now.
        let then = WAIT_THEN.iter().find_map(|then| words.rfind(then));
        words.truncate(then.unwrap_or(words.len()));
    }
    Why { words, rule: call.rule.clone(), counter, excerpt: then, policy: call.policy.clone(), changed_since }
}

pub(super) fn today(desk: &Desk, server: &str) -> Option<String> {
    let own = desk.home().policy(server);
    let path = if own.exists() { own } else { desk.home().default_policy() };
    read_private(&path).ok()
}

fn words(call: &CallRow) -> String {
    let reason = call.reason.as_deref().filter(|reason| !reason.is_empty());
    let word = match call.decision {
        Decision::Allowed => {
            let by = match call.rule.as_deref() {
                Some("/default") => "no rule is about it, and the default is to allow",
                Some(_) => "its rule allows it",
                None => "nothing is said against it",
            };
            return format!("Allowed: {}", reason.unwrap_or(by));
        }
        Decision::Denied => "Denied",
        Decision::Capped => "Capped",
        Decision::Hidden => "Hidden",
        Decision::Paused => "Paused",
        Decision::Malformed => "Not one unambiguous message",
        Decision::Broken => "The policy cannot be used",
        Decision::Unrecorded => "It could not be recorded",
        Decision::Unsupported => "A rule that this version cannot apply",
        Decision::WouldDeny => "Only watched; it would be refused",
        Decision::Stopped => "Not sent to its server",
        Decision::Asked => "Waits for your decision",
    };
    reason.map_or_else(|| word.to_owned(), |reason| format!("{word}: {reason}"))
}

/// How the counter of the limit that decided stands now: by today's limit at that place, else by the one that was there.
fn counter(desk: &Desk, call: &CallRow, policies: [Option<&str>; 2]) -> Option<Counter> {
    let rule = call.rule.as_deref()?;
    let limit = policies.into_iter().flatten().find_map(|text| {
        let policy = Policy::parse(text).ok()?;
        policy.all_limits().find(|limit| limit.pointer == rule).cloned()
    })?;
    // A session's own counters are in its memory, and nobody else can read them.
    if limit.scope == Scope::Session {
        return None;
    }
    let client = call.client.as_deref().unwrap_or("unknown");
    let readings = Readings::open(desk.home(), &call.server, client, Arc::clone(&desk.clock)).ok()?;
    let is_sum = matches!(limit.kind, Kind::Sum { .. });
    let amount = if is_sum { UNIT } else { 1 };
    let standing = readings.standing(&Taking { limit: &limit, amount });
    let used = if is_sum { standing.used.div_ceil(UNIT) } else { standing.used };
    let now = desk.clock.now().wall_ms;
    let frees_ms =
        standing.frees_in.map(|wait| now.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)));
    let window = window(&limit);
    let max = u64::from(limit.max.get());
    let words = format!("{used} of {max} {}", within(&window));
    Some(Counter { used, max, frees_ms, words, next: next(used, max, standing.frees_in), window })
}

fn window(limit: &Limit) -> String {
    match limit.window() {
        Some(window) => Window::from_seconds(window.as_secs()).unwrap_or(Window::SECOND).to_string(),
        None => match limit.kind {
            Kind::Concurrent => "at once".to_owned(),
            _ => "in all".to_owned(),
        },
    }
}

fn within(window: &str) -> String {
    match window {
        "at once" | "in all" => window.to_owned(),
        "second" | "minute" | "hour" | "day" | "week" => format!("this {window}"),
        _ => format!("in {window}"),
    }
}

fn next(used: u64, max: u64, frees_in: Option<Duration>) -> String {
    match frees_in {
        _ if used < max => "the next call passes".to_owned(),
        Some(wait) => format!("the next call passes in {}", span_words(wait)),
        None => "time alone frees nothing".to_owned(),
    }
}

/// Rounded up, so that nobody comes too early.
fn span_words(span: Duration) -> String {
    match span.as_millis().div_ceil(1000) {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5_999 => format!("{} min", seconds.div_ceil(60)),
        seconds @ 6_000..=172_799 => format!("{} h", seconds.div_ceil(3_600)),
        seconds => format!("{} days", seconds.div_ceil(86_400)),
    }
}
