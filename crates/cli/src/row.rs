//! One call in words for a person.

use callgate_history::CallRow;
use callgate_journal::{Decision, Outcome};
use callgate_text as text;

use crate::layout::Cells;
use crate::screen;

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

/// The log's line of a call. `times` says how often the same happened in a row; a gist that is `whole` is what was sent,
/// else it is short.
pub(crate) fn cells(call: &CallRow, time: String, times: u32, whole: bool) -> Cells {
    let (mut status, style) = status(call);
    if times > 1 {
        status.push_str(&format!(" × {times}"));
    }
    let args = call.args.as_ref();
    let gist = match call.decision {
        Decision::Allowed if whole => args.map(|args| args.text.clone()).unwrap_or_default(),
        Decision::Allowed => {
            callgate_desk::gist(args.map(|args| args.text.as_str()), args.is_some_and(|args| args.withheld))
        }
        _ => call.reason.clone().unwrap_or_default(),
    };
    Cells {
        time,
        id: call.id.to_string(),
        client: screen::harmless(call.client.as_deref().unwrap_or("unknown")),
        server: screen::harmless(&call.server),
        tool: subject(call),
        status: (status, style),
        took: took(call),
        gist: screen::harmless(&gist),
    }
}
