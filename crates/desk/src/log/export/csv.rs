//! Comma-separated values (RFC 4180). A cell that a table program would take for a formula begins with an apostrophe.

use callgate_history::{BodyRow, CallRow};
use callgate_journal::Outcome;

use super::super::object::iso;
use crate::text::harmless;

pub(super) const HEAD: &str =
    "id,time,client,server,session,method,tool,decision,rule,reason,outcome,duration_ms,args,result\r\n";

pub(super) fn line(call: &CallRow) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let body = |body: &Option<BodyRow>| body.as_ref().map(|body| body.text.clone()).unwrap_or_default();
    let took = call.duration.map(|took| format!("{:.3}", took.as_secs_f64() * 1000.0));
    let cells = [
        call.id.to_string(),
        iso(call.at_ms),
        text(&call.client),
        call.server.clone(),
        call.session.to_string(),
        text(&call.method),
        text(&call.tool),
        call.decision.word().to_owned(),
        text(&call.rule),
        text(&call.reason),
        call.outcome.map(Outcome::word).unwrap_or_default().to_owned(),
        took.unwrap_or_default(),
        body(&call.args),
        body(&call.result),
    ];
    let mut line = cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}

/// Programs take these at the beginning for the start of a formula, some also after blanks and in their wide forms.
fn is_formula(text: &str) -> bool {
    let first = text.trim_start_matches([' ', '\u{a0}', '\u{feff}']).chars().next();
    matches!(first, Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '%' | '＝' | '＋' | '－' | '＠'))
}

/// What a terminal obeys and what hides, as its number; a cell may have lines.
fn shown(text: &str) -> String {
    let lines = |c: char| matches!(c, '\n' | '\r' | '\t');
    text.split_inclusive(lines)
        .map(|line| match line.strip_suffix(lines) {
            Some(rest) => harmless(rest) + &line[rest.len()..],
            None => harmless(line),
        })
        .collect()
}

pub(super) fn cell(text: &str) -> String {
    let text = shown(text);
    let safe = if is_formula(&text) { format!("'{text}") } else { text };
    if safe.contains(['"', ',', '\r', '\n', '\'', ';', '\t']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}
