//! One call as a line for a person.

use callgate_desk::text;
use callgate_store::history::CallRow;
use callgate_store::{Decision, Outcome};

use crate::duration::local;
use crate::screen::{self, Screen};

/// What the log calls the thing that was asked for.
pub(crate) fn subject(call: &CallRow) -> String {
    screen::harmless(&text::subject(call.method.as_deref(), call.tool.as_deref()))
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
    // A name that is cut can be copied by nobody; only a terminal has columns to keep.
    let cut = |text: &str, column| screen::clip(text, if width == usize::MAX { width } else { column });
    let column = |text: &str, width| screen::pad(&cut(text, width), width);
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
