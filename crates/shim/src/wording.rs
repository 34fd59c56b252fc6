//! Wording of the gate's own answers: what an agent reads when it says no, as whole answers: what happened, who decided, and what to do next.
//!
//! The next steps are one table ([`NextStep`]); what happened is the policy author's own words, or ours. An answer never
//! tells a model how to loosen anything, and never repeats arguments.

use std::borrow::Cow;

use callgate_controls::{Capped, Full};
use callgate_policy::{Keep, Kind, Limit, Refusal, Taking, UNIT, wait_words};
use callgate_protocol::id::IdKey;
use callgate_protocol::{NextStep, answer};

use crate::pins::Unaccepted;
use crate::schema::Misfit;

/// Our own JSON-RPC code for "refused by policy" where no tool result can be given. Outside the range that
/// JSON-RPC and MCP reserve for themselves.
pub const REFUSED: i64 = -31403;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INTERNAL: i64 = -32603;

/// To a request that came while the server was being started again, and could not wait any longer.
pub(crate) const RESTARTING: &str = "the server is being started again";

/// Which kind of answer a request expects that the server does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    /// `tools/call`: models see tool results, and only some clients show them protocol errors.
    ToolResult,
    Anything,
}

impl Expects {
    pub fn for_method(method: &str) -> Expects {
        if method == "tools/call" { Expects::ToolResult } else { Expects::Anything }
    }
}

/// The text of a tool result.
fn to_agent(reason: &str, next: &NextStep, call: Option<&str>) -> String {
    let text = next.after(&without_commands(reason));
    match call {
        Some(call) => format!("Callgate: {text} (call {call})"),
        None => format!("Callgate: {text}"),
    }
}

/// A reason may send a person to a page, or to what is saved, by a command of ours. An agent gets the page's code alone.
fn without_commands(reason: &str) -> Cow<'_, str> {
    const OURS: &str = "`callgate ";
    let mut text = Cow::Borrowed(reason);
    while let Some((before, rest)) = text.split_once(OURS)
        && let Some((command, after)) = rest.split_once('`')
    {
        let kept = match command.strip_prefix("explain ") {
            Some(code) => format!("{}{code}{after}", before.trim_end_matches("see ")),
            None => format!("{}{}", before.trim_end_matches([' ', '(']), after.trim_start_matches(')')),
        };
        text = Cow::Owned(kept);
    }
    text
}

/// The answer to a request that no rule refused and the server will not answer; with the call, if it is on record.
pub fn unanswered(
    expects: Expects,
    id: &IdKey,
    reason: &str,
    next: &NextStep,
    call: Option<&str>,
) -> Vec<u8> {
    match expects {
        Expects::ToolResult => {
            let meta = call.map(|call| ("callgate/call", call));
            answer::tool_refusal(id, &to_agent(reason, next, call), meta.as_slice())
        }
        // Read by a client, and perhaps by a person: nothing but what happened.
        Expects::Anything => answer::error(Some(id), INTERNAL, &format!("Callgate: {reason}")),
    }
}

/// The answer to a refused request.
pub fn refusal(
    expects: Expects,
    id: &IdKey,
    reason: &str,
    next: &NextStep,
    (call, rule): (&str, &str),
) -> Vec<u8> {
    let text = to_agent(reason, next, Some(call));
    match expects {
        Expects::ToolResult => {
            answer::tool_refusal(id, &text, &[("callgate/call", call), ("callgate/rule", rule)])
        }
        Expects::Anything => answer::error(Some(id), REFUSED, &text),
    }
}

/// The answer to a call that a person has not decided about yet.
pub(crate) fn pending(id: &IdKey, reason: &str, next: &NextStep, call: &str, rule: &str) -> Vec<u8> {
    let text = to_agent(reason, next, Some(call));
    let meta = [("callgate/call", call), ("callgate/rule", rule), ("callgate/approval", "pending")];
    answer::tool_refusal(id, &text, &meta)
}

/// A limit's sentence, with the time until it frees if time alone frees it, and what helps. `full`: the limit, if it is known.
pub(crate) fn capped(full: Option<&Taking<'_>>, tool: &str, cap: &Capped) -> (String, NextStep) {
    let words = full.map(|taking| taking.limit.refusal(tool)).unwrap_or_default();
    let words = words.trim_end_matches('.');
    let reason = match (cap.frees_in, full.map(|taking| &taking.limit.kind)) {
        (Some(wait), Some(Kind::Sum { .. })) => {
            format!("{words}; this amount can pass in {}", wait_words(wait))
        }
        // The server may be done sooner with what was given up.
        (Some(wait), Some(Kind::Concurrent)) => format!(
            "{words}; a cancelled call may still be at work, and counts for {} more at most",
            wait_words(wait)
        ),
        (Some(wait), _) => format!("{words}; the next call can pass in {}", wait_words(wait)),
        (None, _) => words.to_owned(),
    };
    let next = match full.map(|taking| (&taking.limit.kind, taking.limit.ceiling())) {
        Some((Kind::Sum { from, .. }, ceiling)) if cap.used < ceiling => {
            NextStep::SmallerAmount { most: amount(ceiling - cap.used), argument: from.text.clone() }
        }
        Some((Kind::Concurrent, _)) => NextStep::WaitForCalls,
        _ if cap.frees_in.is_some() => NextStep::WaitForLimit,
        _ => NextStep::AskUser,
    };
    (reason, next)
}

/// A call that asks for more than its budget ever holds, told how much of that is left. None: it cannot be read.
pub(crate) fn beyond_all(refusal: Refusal, limit: &Limit, reading: Option<Full>) -> Refusal {
    let Kind::Sum { from, .. } = &limit.kind else { return refusal };
    let left = reading.map_or(0, |full| limit.ceiling().saturating_sub(full.used));
    if left > 0 {
        let next = NextStep::SmallerAmount { most: amount(left), argument: from.text.clone() };
        return Refusal { next, ..refusal };
    }
    let words = refusal.reason.trim_end_matches('.');
    let (reason, next) = match reading.and_then(|full| full.frees_in) {
        Some(wait) => (
            format!("{words}, and nothing of that is left; the first of it is free in {}", wait_words(wait)),
            NextStep::WaitForLimit,
        ),
        None => (format!("{words}, and nothing of that is left"), NextStep::AskUser),
    };
    Refusal { reason, next, ..refusal }
}

/// Millionths as a decimal: `10`, `0.25`.
fn amount(millionths: u64) -> String {
    let (whole, rest) = (millionths / UNIT, millionths % UNIT);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Arguments that do not fit the tool's schema, or cannot be held against it.
pub(crate) fn misfit(tool: &str, misfit: &Misfit, keep: Keep) -> (String, NextStep) {
    let (why, next) = match misfit {
        // The place is made of the names of arguments.
        Misfit::Differs(_) if keep == Keep::Nothing => {
            ("its arguments do not fit the tool's own schema".to_owned(), NextStep::FixArguments)
        }
        Misfit::Differs(what) => (what.clone(), NextStep::FixArguments),
        Misfit::NotListedYet => (
            "its arguments cannot be checked: the server did not say in time what arguments its tools take"
                .to_owned(),
            NextStep::CallAgain,
        ),
        Misfit::Uncheckable(why) => (format!("its arguments cannot be checked: {why}"), NextStep::AskUser),
    };
    (format!("{tool:?} is refused because {why}"), next)
}

/// A tool whose definition is not known to be an accepted one.
pub(crate) fn unaccepted(tool: &str, why: &Unaccepted) -> (String, NextStep) {
    let (why, next) = match why {
        Unaccepted::Changed => {
            ("its server describes it otherwise than when the user accepted it", NextStep::AskUser)
        }
        Unaccepted::OtherProgram => (
            "the program behind its server is another than the one that the user accepted",
            NextStep::AskUser,
        ),
        Unaccepted::Unreadable => {
            ("the file with the definitions that the user accepted cannot be read", NextStep::TellUser)
        }
        Unaccepted::NoList => (
            "its server did not say in time how it describes its tools, so it is not known whether that is what the user accepted",
            NextStep::CallAgain,
        ),
        Unaccepted::NotListed => {
            ("the user accepted a definition of it, and its server does not list it now", NextStep::AskUser)
        }
        Unaccepted::Unpinnable => (
            "its definition cannot be pinned: its name looks like a secret, or the server lists too many tools",
            NextStep::AskUser,
        ),
    };
    (format!("{tool:?} is refused because {why}"), next)
}

pub fn unrecorded(cause: &str) -> String {
    format!("not forwarded, because the call could not be recorded ({cause})")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
