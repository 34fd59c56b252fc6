//! One call as a line for a person and as an object for a program (docs/json.md).

use callgate_store::history::{BodyRow, CallRow};
use callgate_store::{Decision, Outcome};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::duration::{iso, local};
use crate::screen::{self, Screen};

/// The object of `--json`. Fields are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct CallObject<'a> {
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
    pub(crate) fn of(call: &'a CallRow) -> CallObject<'a> {
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

    pub(crate) fn with_policy(mut self, text: Option<String>) -> Self {
        self.policy_text = Some(text);
        self
    }

    pub(crate) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
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

/// What the log calls the thing that was asked for.
pub(crate) fn subject(call: &CallRow) -> String {
    let text = match (call.method.as_deref(), call.tool.as_deref()) {
        (Some("tools/call") | None, Some(tool)) => tool.to_owned(),
        (Some(method), Some(name)) => format!("{method} {name}"),
        (Some(method), None) => method.to_owned(),
        (None, None) => "(no readable message)".to_owned(),
    };
    screen::harmless(&text)
}

/// What came of it, in the one word that matters most.
pub(crate) fn status(call: &CallRow) -> (String, anstyle::Style) {
    match (call.decision, call.outcome) {
        (Decision::Allowed, None) => ("running".to_owned(), screen::ACCENT),
        (Decision::Allowed, Some(Outcome::Ok)) => ("allowed".to_owned(), screen::GOOD),
        (Decision::Allowed, Some(outcome)) => (outcome.word().replace('_', " "), screen::WARN),
        (Decision::WouldDeny, None) => ("running".to_owned(), screen::ACCENT),
        (Decision::WouldDeny, Some(_)) => ("would deny".to_owned(), screen::WARN),
        (decision, _) => (decision.word().to_owned(), screen::BAD),
    }
}

/// `3 ms`, `1.2 s`; empty while it runs or when it never did.
pub(crate) fn took(call: &CallRow) -> String {
    match call.duration {
        Some(_) if call.decision.is_refused() => String::new(),
        Some(took) if took.as_millis() < 1 => "<1 ms".to_owned(),
        Some(took) if took.as_millis() < 1000 => format!("{} ms", took.as_millis()),
        Some(took) => format!("{:.1} s", took.as_secs_f64()),
        None => String::new(),
    }
}

/// Widths of the log's columns before the gist, which takes what is left.
const ID: usize = 10;
const SERVER: usize = 14;
const SUBJECT: usize = 24;
const STATUS: usize = 14;
const TOOK: usize = 6;

/// The log's line. `width` is the width of the terminal; `times` says how often the same happened in a row.
pub(crate) fn line(screen: &Screen, call: &CallRow, width: usize, times: usize) -> String {
    let (mut status, style) = status(call);
    if times > 1 {
        status.push_str(&format!(" × {times}"));
    }
    let time = local(call.at_ms).strftime("%H:%M:%S").to_string();
    let gist = match call.decision {
        Decision::Allowed => call.args.as_ref().map(|args| args.text.as_str()),
        _ => call.reason.as_deref(),
    };
    let fixed = time.len() + ID + SERVER + SUBJECT + STATUS + TOOK + 6 * 2;
    let gist = screen::clip(&screen::harmless(gist.unwrap_or_default()), width.saturating_sub(fixed).max(24));
    let column = |text: &str, width| screen::pad(&screen::clip(text, width), width);
    let line = [
        screen.paint(screen::DIM, &time),
        screen.paint(screen::DIM, &column(&call.id.to_string(), ID)),
        column(&screen::harmless(&call.server), SERVER),
        column(&subject(call), SUBJECT),
        screen.paint(style, &column(&status, STATUS)),
        format!("{:>TOOK$}", took(call)),
        gist,
    ];
    line.join("  ").trim_end().to_owned()
}
