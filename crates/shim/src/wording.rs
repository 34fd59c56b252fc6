//! The sentences that an agent reads when the gate says no.
//!
//! Fixed templates plus the policy author's own words. They never tell a model how to loosen anything, and never
//! repeat arguments or server text.

use std::time::Duration;

use callgate_protocol::answer;
use callgate_protocol::id::IdKey;

/// Our own JSON-RPC code for "refused by policy" where no tool result can be given. Outside the range that
/// JSON-RPC and MCP reserve for themselves.
pub const REFUSED: i64 = -31403;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INTERNAL: i64 = -32603;

/// Which kind of answer the refused request expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    /// `tools/call`: models see tool results, and only some clients show them protocol errors.
    ToolResult,
    Anything,
}

/// The answer to a refused request.
pub fn refusal(expects: Expects, id: &IdKey, reason: &str, call: &str, rule: &str) -> Vec<u8> {
    let text = format!("Callgate: {} (call {call})", reason.trim_end_matches('.'));
    match expects {
        Expects::ToolResult => {
            answer::tool_refusal(id, &text, &[("callgate/call", call), ("callgate/rule", rule)])
        }
        Expects::Anything => answer::error(Some(id), REFUSED, &text),
    }
}

/// A cap's sentence, with the seconds until it frees.
pub fn capped(words: &str, frees_in: Duration) -> String {
    format!("{}; the next call can pass in {} s", words.trim_end_matches('.'), whole_seconds(frees_in))
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
        let text = capped("\"click\" has reached its cap of 10 calls per minute", Duration::from_millis(1));
        assert_eq!(
            text,
            "\"click\" has reached its cap of 10 calls per minute; the next call can pass in 1 s"
        );
    }
}
