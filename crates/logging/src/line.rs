//! One line of a diagnostic log: when, how grave, which program, process and session, where in the code, what.

use std::fmt::{self, Write as _};
use std::panic::PanicHookInfo;

use callgate_home::{SessionId, clock};
use callgate_redaction::Masker;
use callgate_text::harmless;
use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

use crate::Program;

/// What is kept of a longer text.
const MOST_BYTES: usize = 4096;

/// An event on its way to the file. Masked and escaped by whoever writes it, so that nobody else waits for that.
#[derive(Debug)]
pub(crate) struct LogEvent {
    at_ms: i64,
    level: Level,
    target: &'static str,
    message: String,
    fields: Vec<(&'static str, String)>,
}

impl LogEvent {
    pub(crate) fn new(level: Level, target: &'static str, message: String) -> LogEvent {
        LogEvent { at_ms: clock::wall_ms(), level, target, message, fields: Vec::new() }
    }

    pub(crate) fn from_event(event: &Event<'_>) -> LogEvent {
        let mut entry = LogEvent::new(*event.metadata().level(), event.metadata().target(), String::new());
        event.record(&mut entry);
        entry
    }

    pub(crate) fn line(&self, program: Program, session: Option<SessionId>, masker: &Masker) -> String {
        let mut text = harmless(&masker.keep_line(&self.message));
        for (name, value) in &self.fields {
            // Writing into a string cannot fail.
            let _ = write!(text, " {name}={}", quoted(&masker.keep_line(value)));
        }
        if text.len() > MOST_BYTES {
            text.truncate(text.floor_char_boundary(MOST_BYTES));
            text.push('…');
        }
        let at = Timestamp::from_millisecond(self.at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let session = session.map_or_else(|| "-".to_owned(), |session| session.to_string());
        let (program, process) = (program.name(), std::process::id());
        let time = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        format!("{time} {} {program} {process} {session} {}: {text}\n", self.level, self.target)
    }
}

impl Visit for LogEvent {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.fields.push((name, value.to_owned())),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// A plain word as it is, anything else in quotes: no value can pass for another field.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./@:+~".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("\"{}\"", harmless(&value.replace('\\', "\\\\").replace('"', "\\\""))),
    }
}

/// Where it was, and what it says if those are words of the program's own: a formatted text may quote what a call said.
pub(crate) fn of_panic(program: Program, panic: &PanicHookInfo<'_>) -> String {
    let words = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("a panic");
    let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().map(|name| format!(" in thread {name}")).unwrap_or_default();
    let entry = LogEvent::new(Level::ERROR, "panic", format!("{words}{place}{thread}"));
    entry.line(program, None, &Masker::new(&[]))
}

/// A line as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// In milliseconds since 1970.
    pub at_ms: i64,
    pub level: Level,
    pub program: Program,
    pub process: u32,
    pub session: Option<SessionId>,
    /// Where in the code.
    pub target: String,
    pub text: String,
}

impl LogLine {
    /// Reads a line, without its end; none if it is not ours, or not whole.
    pub(crate) fn read(line: &str) -> Option<LogLine> {
        let mut words = line.splitn(7, ' ');
        let mut word = || words.next();
        let at: Timestamp = word()?.parse().ok()?;
        let level = word()?.parse().ok()?;
        let program = word()?;
        Some(LogLine {
            at_ms: at.as_millisecond(),
            level,
            program: Program::ALL.into_iter().find(|one| one.name() == program)?,
            process: word()?.parse().ok()?,
            session: match word()? {
                "-" => None,
                session => Some(session.parse().ok()?),
            },
            target: word()?.strip_suffix(':')?.to_owned(),
            text: word()?.to_owned(),
        })
    }
}
