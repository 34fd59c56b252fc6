//! The screen as lines: a function of the list, the size and the time.

use callgate_desk::view::{ApprovalView, CallDetail, CallLine, CapAdvice, Decision, LogEntry, Outcome};
use callgate_journal as journal;
use callgate_text::local;

use super::list::{List, Over};
use crate::commands::approvals::{self, Shown, WORD};
use crate::layout::{Cells, Columns};
use crate::screen::{self, Screen, clip, harmless, pad};

/// The footer of each view: no key that does nothing there, what matters most first.
pub(super) fn keys(over: &Over) -> &'static str {
    match over {
        Over::Nothing => {
            "P pause all  j/k choose  Enter why  b block  c cap  h hide  u undo  / search  f follow  ? help  q quit"
        }
        Over::Detail(_) => {
            "P pause all  Esc back  b block  c cap  h hide  u undo  j/k next call  ? help  q quit"
        }
        Over::Waiting(_) => {
            "y approve  d deny  D deny and block  j/k next call  Esc back  P pause all  q quit"
        }
        Over::Approving { .. } => "Enter approves it once  Esc back",
        Over::Caps(_) => "P pause all  1-9 choose  u undo  q quit  any other key goes back",
        Over::Help => "P pause all  u undo  q quit  any other key goes back",
        Over::Typing(_) => "Enter search  Esc back",
    }
}

const HELP: &[(&str, &str)] = &[
    ("j k ↑ ↓", "choose a call, and hold it while others come; nothing is chosen while the log follows"),
    ("g G", "the oldest here; follow the newest"),
    ("Enter", "why it was decided so, with arguments and result"),
    ("b", "block this tool for this client with this server"),
    ("c", "cap it: shows caps to choose from, with your own use beside them"),
    ("h", "hide it from this client, and refuse it"),
    ("a", "calls that wait for your decision: y approves one, with a word to type, d denies it"),
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
    let said = match &list.over {
        Over::Typing(text) => vec![format!("/{}▏", clip(&harmless(text), columns.saturating_sub(3)))],
        Over::Approving { typed, .. } => {
            let asked = format!("Type {WORD} to let it through once: ");
            let room = columns.saturating_sub(asked.chars().count() + 1);
            vec![format!("{asked}{}▏", clip(&harmless(typed), room))]
        }
        _ => said(&paint, &list.said, columns, (rows / 5).max(1)),
    };
    let space = rows.saturating_sub(2 + said.len());
    match &list.over {
        Over::Help => lines.extend(help(&paint, columns)),
        Over::Detail(detail) => lines.extend(detailed(&paint, detail, columns)),
        Over::Caps(offered) => lines.extend(caps(&paint, &offered.0, &offered.1, columns)),
        Over::Waiting(id) | Over::Approving { id, .. } => match list.asked(id) {
            Some(asked) => lines.extend(card(&paint, asked, columns)),
            None => lines.push(format!("{id} does not wait any more.")),
        },
        Over::Nothing | Over::Typing(_) => lines.extend(log(&paint, list, columns, space, now_ms)),
    }
    lines.truncate(space + 1);
    lines.resize(space + 1, String::new());
    lines.extend(said);
    lines.push(paint.paint(screen::DIM, &clip(keys(&list.over), columns)));
    lines
}

/// What was said last, on as many lines as it takes, within reason: what it does not cover stands at its end.
fn said(paint: &Screen, words: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in harmless(words).split(' ') {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if line.is_empty() => word.clone_into(line),
            Some(line) if full || line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| paint.paint(screen::BOLD, &clip(line, columns))).collect()
}

fn head(paint: &Screen, list: &List, columns: usize) -> String {
    let state = match (list.selected, list.unseen) {
        (None, _) => "following".to_owned(),
        (Some(_), 0) => "not following".to_owned(),
        (Some(_), unseen) => format!("not following, {unseen} new"),
    };
    let searched = list.searched.as_deref().map(|text| format!("  search: {}", harmless(text)));
    let paused = list.paused.as_deref().map(|words| format!("  {}", harmless(words)));
    let waiting = match list.waiting.len() {
        0 => String::new(),
        1 => "  1 call waits for your decision (a)".to_owned(),
        many => format!("  {many} calls wait for your decision (a)"),
    };
    let head =
        format!("Callgate{}{waiting}  {state}{}", paused.unwrap_or_default(), searched.unwrap_or_default());
    paint.paint(screen::BOLD, &clip(&head, columns))
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
    // The chosen entry in sight, else the newest at the bottom.
    let centre = list.selected.unwrap_or(list.entries.len());
    let end = (centre + space / 2 + 1).clamp(space.min(list.entries.len()), list.entries.len());
    let begin = end.saturating_sub(space);
    let shown: Vec<(usize, &LogEntry)> = list.entries.iter().enumerate().take(end).skip(begin).collect();
    let today = local(now_ms).date();
    let dated = shown.iter().any(|(_, entry)| local(at_ms(entry)).date() != today);
    let table = Table {
        // The same for all, so that nothing moves when the next call comes.
        columns: Columns { time: if dated { 14 } else { 8 }, ..USUAL }.fitted(columns.saturating_sub(2)),
        time: if dated { "%m-%d %H:%M:%S" } else { "%H:%M:%S" },
        width: columns.saturating_sub(2),
        now_ms,
    };
    shown.iter().map(|(place, entry)| table.line(paint, entry, Some(*place) == list.selected)).collect()
}

const USUAL: Columns = Columns { client: 14, server: 14, tool: 32, status: 14, took: 7, ..Columns::NONE };

fn at_ms(entry: &LogEntry) -> i64 {
    match entry {
        LogEntry::Call(call) => call.at_ms,
        LogEntry::Change(change) => change.at_ms,
        LogEntry::Event(event) => event.at_ms,
    }
}

struct Table {
    columns: Columns,
    time: &'static str,
    width: usize,
    now_ms: i64,
}

impl Table {
    fn line(&self, paint: &Screen, entry: &LogEntry, selected: bool) -> String {
        let mark = if selected { "▌" } else { " " };
        let time = local(at_ms(entry)).strftime(self.time).to_string();
        let beside = |words: String| {
            let words = clip(&harmless(&words), self.width.saturating_sub(time.len() + 1));
            format!("{} {}", paint.paint(screen::DIM, &time), paint.paint(screen::WARN, &words))
        };
        let text = match entry {
            LogEntry::Call(call) => self.columns.line(paint, &cells(call, time, self.now_ms)),
            LogEntry::Change(change) => {
                beside(format!("rules of {}: {} ({})", change.server, change.summary, change.origin))
            }
            LogEntry::Event(event) => beside(format!("{}: {}", event.event.replace('_', " "), event.text)),
        };
        format!("{mark} {text}")
    }
}

/// Client, server, tool, what came of it, how long it took, and the rest of the line for what it was about.
fn cells(call: &CallLine, time: String, now_ms: i64) -> Cells {
    let (mut word, style) = status(call);
    if call.times > 1 {
        word.push_str(&format!(" × {}", call.times));
    }
    let gist = if call.refused { call.reason.as_deref().unwrap_or_default() } else { &call.gist };
    Cells {
        time,
        id: String::new(),
        client: harmless(call.client.as_deref().unwrap_or("unknown")),
        server: harmless(&call.server),
        tool: match call.tools.len() {
            0 => harmless(call.tool.as_deref().or(call.method.as_deref()).unwrap_or("(unreadable)")),
            many => format!("{many} tools"),
        },
        status: (word, style),
        took: took(call, now_ms),
        gist: harmless(gist),
    }
}

fn status(call: &CallLine) -> (String, anstyle::Style) {
    match (call.decision, call.outcome) {
        (Decision::Allowed | Decision::WouldDeny, None) => ("running".to_owned(), screen::ACCENT),
        (Decision::Allowed, Some(Outcome::Ok)) => ("allowed".to_owned(), screen::GOOD),
        (Decision::Allowed, Some(outcome)) => {
            (journal::Outcome::from(outcome).word().replace('_', " "), screen::WARN)
        }
        (Decision::WouldDeny, Some(_)) => ("would deny".to_owned(), screen::WARN),
        (decision, _) => (journal::Decision::from(decision).word().to_owned(), screen::BAD),
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
    lines.push(paint.paint(screen::DIM, &format!("Esc closes this; all of it: callgate show {}", call.id)));
    lines.into_iter().map(|line| fit(&line, columns)).collect()
}

/// A call that waits, with all of its arguments.
fn card(paint: &Screen, asked: &ApprovalView, columns: usize) -> Vec<String> {
    let lines = approvals::lines(paint, asked, Shown::Whole);
    lines.iter().flat_map(|line| folded(line, columns)).collect()
}

/// Can everything that a yes would be about be seen at once?
pub(super) fn shows_whole(asked: &ApprovalView, (columns, rows): (usize, usize)) -> bool {
    // The head, what is said or typed, and the keys.
    asked.complete && card(&Screen::new(), asked, columns).len() + 3 <= rows
}

/// Cut into pieces as wide as the screen; colours do not count, and what is not plain may be twice as wide.
fn folded(line: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let (mut used, mut escape) = (0, false);
    for c in line.chars() {
        escape |= c == '\u{1b}';
        let width = if escape { 0 } else { 1 + usize::from(!c.is_ascii()) };
        if used + width > columns.max(2) {
            lines.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(last) = lines.last_mut() {
            last.push(c);
        }
        escape &= c != 'm';
    }
    lines
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
