//! The screen as lines: a function of the list, the size and the time.

use callgate_desk::view::{CallDetail, CallLine, CapAdvice, Decision, LogEntry, Outcome};
use callgate_store as store;

use super::list::{List, Over};
use crate::duration::local;
use crate::screen::{self, Screen, clip, harmless, pad};

const KEYS: &str =
    "j/k move  Enter why  b block  c cap  h hide  u undo  P pause all  / search  f follow  ? help  q quit";

const HELP: &[(&str, &str)] = &[
    ("j k ↑ ↓", "choose a call"),
    ("g G", "the oldest here, the newest"),
    ("Enter", "why it was decided so, with arguments and result"),
    ("b", "block this tool for this client with this server"),
    ("c", "cap it: shows caps to choose from, with your own use beside them"),
    ("h", "hide it from this client, and refuse it"),
    ("u", "take the last of these back, within 10 seconds"),
    ("P", "pause all: every call of every server is refused until `callgate resume`"),
    ("/", "search tools, arguments, results and reasons, or find a call by its id; Esc ends the search"),
    ("f", "follow new calls, or stop following"),
    ("q", "leave; the gate goes on without this"),
    ("", "To loosen something use `callgate allow`, `observe` or `resume`: they ask first."),
];

/// As many lines as the screen has rows.
pub(super) fn screen(list: &List, (columns, rows): (usize, usize), now_ms: i64) -> Vec<String> {
    let paint = Screen::new();
    let mut lines = vec![head(&paint, list, columns)];
    let space = rows.saturating_sub(3);
    match &list.over {
        Over::Help => lines.extend(help(&paint, columns)),
        Over::Detail(detail) => lines.extend(detailed(&paint, detail, columns)),
        Over::Caps(offered) => lines.extend(caps(&paint, &offered.0, &offered.1, columns)),
        Over::Nothing | Over::Typing(_) => lines.extend(log(&paint, list, columns, space, now_ms)),
    }
    lines.truncate(space + 1);
    lines.resize(space + 1, String::new());
    lines.push(match &list.over {
        Over::Typing(text) => format!("/{}▏", clip(&harmless(text), columns.saturating_sub(3))),
        _ => paint.paint(screen::BOLD, &clip(&harmless(&list.said), columns)),
    });
    lines.push(paint.paint(screen::DIM, &clip(KEYS, columns)));
    lines
}

fn head(paint: &Screen, list: &List, columns: usize) -> String {
    let state = match (list.following, list.unseen) {
        (true, _) => "following".to_owned(),
        (false, 0) => "not following".to_owned(),
        (false, unseen) => format!("not following, {unseen} new"),
    };
    let searched = list.searched.as_deref().map(|text| format!("  search: {}", harmless(text)));
    paint.paint(screen::BOLD, &clip(&format!("Callgate  {state}{}", searched.unwrap_or_default()), columns))
}

fn log(paint: &Screen, list: &List, columns: usize, space: usize, now_ms: i64) -> Vec<String> {
    if list.entries.is_empty() {
        let words = match &list.searched {
            Some(_) => "Nothing matches. Esc ends the search.",
            None => {
                "No calls yet. One appears here as soon as an AI client makes it through `callgate run`; \
                     `callgate demo` in another terminal makes some."
            }
        };
        return vec![String::new(), clip(words, columns)];
    }
    // The selected entry in sight, the newest at the bottom.
    let end = (list.selected + space / 2 + 1).clamp(space.min(list.entries.len()), list.entries.len());
    let begin = end.saturating_sub(space);
    let shown = list.entries.iter().enumerate().take(end).skip(begin);
    shown.map(|(place, entry)| line(paint, entry, columns, place == list.selected, now_ms)).collect()
}

fn line(paint: &Screen, entry: &LogEntry, columns: usize, selected: bool, now_ms: i64) -> String {
    let mark = if selected { "▌" } else { " " };
    let time = |at_ms| local(at_ms).strftime("%H:%M:%S").to_string();
    let width = columns.saturating_sub(11);
    let (at_ms, text) = match entry {
        LogEntry::Call(call) => (call.at_ms, call_text(paint, call, width, now_ms)),
        LogEntry::Change(change) => {
            let words = format!("rules of {}: {} ({})", change.server, change.summary, change.origin);
            (change.at_ms, paint.paint(screen::WARN, &clip(&harmless(&words), width)))
        }
        LogEntry::Event(event) => {
            let words = format!("{}: {}", event.event.replace('_', " "), event.text);
            (event.at_ms, paint.paint(screen::WARN, &clip(&harmless(&words), width)))
        }
    };
    format!("{mark} {} {text}", paint.paint(screen::DIM, &time(at_ms)))
}

/// Client, server, tool, what came of it, how long it took, and the rest of the line for what it was about.
fn call_text(paint: &Screen, call: &CallLine, width: usize, now_ms: i64) -> String {
    let (mut word, style) = status(call);
    if call.times > 1 {
        word.push_str(&format!(" × {}", call.times));
    }
    let column = |text: &str, width| pad(&clip(&harmless(text), width), width);
    let narrow = width < 90;
    let (client, server, tool) = if narrow { (0, 10, 22) } else { (14, 14, 26) };
    let mut parts = Vec::new();
    if client > 0 {
        parts.push(column(call.client.as_deref().unwrap_or("unknown"), client));
    }
    parts.push(column(&call.server, server));
    parts.push(column(call.tool.as_deref().or(call.method.as_deref()).unwrap_or("(unreadable)"), tool));
    parts.push(paint.paint(style, &column(&word, 14)));
    parts.push(format!("{:>7}", took(call, now_ms)));
    let fixed = client + server + tool + 14 + 7 + 5 + usize::from(client > 0);
    let gist = if call.refused { call.reason.as_deref().unwrap_or_default() } else { &call.gist };
    parts.push(clip(&harmless(gist), width.saturating_sub(fixed)));
    parts.join(" ")
}

fn status(call: &CallLine) -> (String, anstyle::Style) {
    match (call.decision, call.outcome) {
        (Decision::Allowed | Decision::WouldDeny, None) => ("running".to_owned(), screen::ACCENT),
        (Decision::Allowed, Some(Outcome::Ok)) => ("allowed".to_owned(), screen::GOOD),
        (Decision::Allowed, Some(outcome)) => {
            (store::Outcome::from(outcome).word().replace('_', " "), screen::WARN)
        }
        (Decision::WouldDeny, Some(_)) => ("would deny".to_owned(), screen::WARN),
        (decision, _) => (store::Decision::from(decision).word().to_owned(), screen::BAD),
    }
}

/// `3 ms`, `1.2 s`; so far, while it runs; nothing when it never did.
fn took(call: &CallLine, now_ms: i64) -> String {
    let micros = match (call.duration_us, call.outcome) {
        _ if call.refused => return String::new(),
        (Some(micros), _) => micros,
        (None, None) => (now_ms - call.at_ms).max(0).unsigned_abs() * 1000,
        (None, Some(_)) => return String::new(),
    };
    match micros {
        0..1_000 => "<1 ms".to_owned(),
        1_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

fn detailed(paint: &Screen, detail: &CallDetail, columns: usize) -> Vec<String> {
    let call = &detail.line;
    let (word, style) = status(call);
    let tool = call.tool.as_deref().or(call.method.as_deref()).unwrap_or("(unreadable)");
    let mut lines = vec![
        format!("{}  {}", paint.paint(screen::BOLD, &harmless(tool)), paint.paint(style, &word)),
        format!(
            "call {}, {} with {}, session {}",
            call.id,
            harmless(call.client.as_deref().unwrap_or("unknown client")),
            harmless(&call.server),
            call.session
        ),
        String::new(),
        harmless(&detail.why.words),
    ];
    let counter = detail.why.counter.as_ref();
    lines.extend(counter.map(|counter| harmless(&format!("{}, {}", counter.words, counter.next))));
    lines.extend(detail.why.rule.as_ref().map(|rule| format!("rule {}", harmless(rule))));
    if let Some(excerpt) = &detail.why.excerpt {
        lines
            .extend(excerpt.lines().map(|line| paint.paint(screen::DIM, &format!("    {}", harmless(line)))));
    }
    for (name, body) in [("arguments", &detail.args), ("result", &detail.result)] {
        if let Some(body) = body {
            lines.push(String::new());
            lines.push(format!("{name} ({} bytes)", body.bytes));
            lines.push(format!("    {}", harmless(&body.text)));
        }
    }
    lines.push(String::new());
    lines.push(
        paint.paint(screen::DIM, &format!("any key closes this; all of it: callgate show {}", call.id)),
    );
    lines.into_iter().map(|line| fit(&line, columns)).collect()
}

fn caps(paint: &Screen, line: &CallLine, advice: &CapAdvice, columns: usize) -> Vec<String> {
    let tool = harmless(line.tool.as_deref().unwrap_or_default());
    let who = harmless(line.client.as_deref().unwrap_or("this client"));
    let mut lines = vec![
        paint.paint(screen::BOLD, &format!("Cap {tool} for {who} on {}", harmless(&line.server))),
        harmless(&advice.words),
        String::new(),
    ];
    for (place, choice) in advice.choices.iter().enumerate().take(9) {
        let advised = if choice.advised { "  from your own use" } else { "" };
        lines.push(format!("  {}  {}{advised}", place + 1, choice.words));
    }
    lines.push(String::new());
    let other = format!(
        "another one: callgate cap {} {} 10/minute",
        screen::quoted(&line.server),
        screen::quoted(&tool)
    );
    lines.push(paint.paint(screen::DIM, &format!("any other key closes this; {other}")));
    lines.into_iter().map(|line| fit(&line, columns)).collect()
}

fn help(paint: &Screen, columns: usize) -> Vec<String> {
    let line =
        |(keys, words): &(&str, &str)| format!("  {}  {words}", paint.paint(screen::BOLD, &pad(keys, 9)));
    HELP.iter().map(line).map(|line| fit(&line, columns)).collect()
}

/// Cut to the screen's width; colours do not count.
fn fit(line: &str, columns: usize) -> String {
    let mut room = columns;
    let mut out = String::with_capacity(line.len());
    let mut escape = false;
    for c in line.chars() {
        escape |= c == '\u{1b}';
        if escape {
            out.push(c);
            escape = c != 'm';
        } else if room > 0 {
            out.push(c);
            room -= 1;
        }
    }
    out
}
