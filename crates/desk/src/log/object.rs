//! One call as an object for a program (docs/json.md): what `--json` prints, what is copied and exported.

use std::fmt::Write as _;

use callgate_history::{BodyRow, CallRow};
use callgate_journal::Outcome;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::text::is_hidden;

/// The object of `--json`. Fields are only ever added.
#[derive(Debug, Serialize)]
pub struct CallObject<'a> {
    id: String,
    time: String,
    client: &'a str,
    server: &'a str,
    session: String,
    run: u32,
    method: &'a str,
    tool: &'a str,
    decision: &'static str,
    rule: &'a str,
    reason: &'a str,
    policy: &'a str,
    outcome: Option<&'static str>,
    duration_ms: Option<f64>,
    args: Option<Box<RawValue>>,
    args_bytes: u64,
    args_cut: bool,
    args_withheld: bool,
    result: Option<Box<RawValue>>,
    result_bytes: Option<u64>,
    result_cut: bool,
    result_withheld: bool,
    demo: bool,
    /// Only `show` gives it; null when the text is no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_text: Option<Option<String>>,
}

impl<'a> CallObject<'a> {
    pub fn of(call: &'a CallRow) -> CallObject<'a> {
        let text = |text: &'a Option<String>| text.as_deref().unwrap_or_default();
        CallObject {
            id: call.id.to_string(),
            time: iso(call.at_ms),
            client: call.client.as_deref().unwrap_or("unknown"),
            server: &call.server,
            session: call.session.to_string(),
            run: call.run,
            method: text(&call.method),
            tool: text(&call.tool),
            decision: call.decision.word(),
            rule: text(&call.rule),
            reason: text(&call.reason),
            policy: text(&call.policy),
            outcome: call.outcome.map(Outcome::word),
            duration_ms: call.duration.map(|took| took.as_micros() as f64 / 1000.0),
            args: call.args.as_ref().and_then(body),
            args_bytes: call.args.as_ref().map_or(0, |args| args.bytes),
            args_cut: call.args.as_ref().is_some_and(|args| args.cut),
            args_withheld: call.args.as_ref().is_some_and(|args| args.withheld),
            result: call.result.as_ref().and_then(body),
            result_bytes: call.result.as_ref().map(|result| result.bytes),
            result_cut: call.result.as_ref().is_some_and(|result| result.cut),
            result_withheld: call.result.as_ref().is_some_and(|result| result.withheld),
            demo: call.demo,
            policy_text: None,
        }
    }

    pub fn with_policy(mut self, text: Option<String>) -> Self {
        self.policy_text = Some(text);
        self
    }

    /// JSON says the same of a character that hides or that a terminal obeys when it is written as its number.
    pub fn line(&self) -> String {
        let line = serde_json::to_string(self).unwrap_or_default();
        let alive = |c: char| c >= '\u{7f}' && is_hidden(c);
        if !line.contains(alive) {
            return line;
        }
        let mut out = String::with_capacity(line.len() + 16);
        for c in line.chars() {
            if alive(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            } else {
                out.push(c);
            }
        }
        out
    }
}

/// As the JSON it is, number by number; what was cut is a string. Of what was not kept, names if there are any.
fn body(body: &BodyRow) -> Option<Box<RawValue>> {
    if body.withheld && body.text.is_empty() {
        return None;
    }
    if (!body.cut || body.withheld)
        && let Ok(raw) = RawValue::from_string(body.text.clone())
    {
        return Some(raw);
    }
    serde_json::value::to_raw_value(&body.text).ok()
}

/// A moment for machines.
pub(super) fn iso(wall_ms: i64) -> String {
    Timestamp::from_millisecond(wall_ms).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}
