//! The sentences that an agent reads when the gate says no.
//!
//! Fixed templates plus the policy author's own words. They never tell a model how to loosen anything, and never
//! repeat arguments or server text.

use std::time::Duration;

use callgate_policy::Keep;
use callgate_protocol::answer;
use callgate_protocol::id::IdKey;

use crate::schema::Misfit;

/// Our own JSON-RPC code for "refused by policy" where no tool result can be given. Outside the range that
/// JSON-RPC and MCP reserve for themselves.
pub const REFUSED: i64 = -31403;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL: i64 = -32603;
/// Of the revisions with a handshake.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// To a request that came while the server was being started again, and could not wait any longer.
pub(crate) const RESTARTING: &str = "the server is being started again; call again in a moment";

/// Which kind of answer a request expects that the server does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    /// `tools/call`: models see tool results, and only some clients show them protocol errors.
    ToolResult,
    Anything,
}

impl Expects {
    pub fn of(method: &str) -> Expects {
        if method == "tools/call" { Expects::ToolResult } else { Expects::Anything }
    }
}

fn sentence(reason: &str, call: &str) -> String {
    format!("Callgate: {} (call {call})", reason.trim_end_matches('.'))
}

/// The answer to a request that no rule refused and the server will not answer; with the call, if it is on record.
pub fn unanswered(expects: Expects, id: &IdKey, reason: &str, call: Option<&str>) -> Vec<u8> {
    match (expects, call) {
        (Expects::ToolResult, Some(call)) => {
            answer::tool_refusal(id, &sentence(reason, call), &[("callgate/call", call)])
        }
        (Expects::ToolResult, None) => answer::tool_refusal(id, &format!("Callgate: {reason}"), &[]),
        (Expects::Anything, _) => answer::error(Some(id), INTERNAL, &format!("Callgate: {reason}")),
    }
}

/// The answer to a refused request.
pub fn refusal(expects: Expects, id: &IdKey, reason: &str, call: &str, rule: &str) -> Vec<u8> {
    let text = sentence(reason, call);
    match expects {
        Expects::ToolResult => {
            answer::tool_refusal(id, &text, &[("callgate/call", call), ("callgate/rule", rule)])
        }
        Expects::Anything => answer::error(Some(id), REFUSED, &text),
    }
}

/// A cap's sentence, with the seconds until it frees if time alone frees it.
pub fn capped(words: &str, frees_in: Option<Duration>) -> String {
    let words = words.trim_end_matches('.');
    match frees_in {
        Some(wait) => format!("{words}; the next call can pass in {} s", whole_seconds(wait)),
        None => words.to_owned(),
    }
}

/// Arguments that do not fit the tool's schema, or cannot be held against it.
pub(crate) fn misfit(tool: &str, misfit: &Misfit, keep: Keep) -> String {
    match misfit {
        // The place is made of the names of arguments.
        Misfit::Differs(_) if keep == Keep::Nothing => {
            format!("{tool:?} is refused because its arguments do not fit the tool's own schema")
        }
        Misfit::Differs(what) => format!("{tool:?} is refused because {what}"),
        Misfit::Uncheckable(why) => {
            format!("{tool:?} is refused because its arguments cannot be checked: {why}")
        }
    }
}

/// What a server says of a resource or prompt that it does not have.
pub fn not_found(id: &IdKey, method: &str, name: &str, stateless: bool) -> Vec<u8> {
    let (code, text) = match method {
        "prompts/get" => (INVALID_PARAMS, format!("Unknown prompt: {name}")),
        // The revision without a handshake has no code of its own for it.
        _ if stateless => (INVALID_PARAMS, format!("Resource not found: {name}")),
        _ => (RESOURCE_NOT_FOUND, format!("Resource not found: {name}")),
    };
    answer::error(Some(id), code, &text)
}

/// Rounded up, and never "0 s".
pub fn whole_seconds(wait: Duration) -> u128 {
    wait.as_millis().div_ceil(1000).max(1)
}

pub fn unrecorded(cause: &str) -> String {
    format!("not forwarded, because the call could not be recorded ({cause})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_says_when_it_frees_and_never_zero() {
        let text =
            capped("\"click\" has reached its cap of 10 calls per minute", Some(Duration::from_millis(1)));
        assert_eq!(
            text,
            "\"click\" has reached its cap of 10 calls per minute; the next call can pass in 1 s"
        );
        assert_eq!(capped("2 at once.", None), "2 at once", "no time to tell");
    }
}
