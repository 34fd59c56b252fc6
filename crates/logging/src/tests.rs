//! What reaches a log, and what does not.

use std::sync::Arc;
use std::time::Duration;

use callgate_home::{CappedFile, Home};
use callgate_redaction::{Masker, Secret};
use callgate_text::is_hidden;
use proptest::prelude::*;
use tracing::level_filters::LevelFilter;
use tracing::{Level, error, info, warn};

use crate::subscriber::LineSubscriber;
use crate::writer::{Thread, WAITING, Writer};
use crate::{LogLine, Program, last_lines};

const LONG: Duration = Duration::from_secs(20);

struct Place {
    home: Home,
    _folder: tempfile::TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    home.prepare_with(|_| Ok(())).unwrap();
    Place { home, _folder: folder }
}

/// The lines that `work` leaves in a session that knows this secret.
fn logged(secret: &str, work: impl FnOnce()) -> Vec<LogLine> {
    let Place { home, _folder } = place();
    let writer = Arc::new(Writer::new(Program::Gate, home.diagnostics("gate")));
    writer.of_session("k3v9qa".parse().unwrap(), Masker::new(&[Secret::new(secret.to_owned())]));
    let subscriber = LineSubscriber::new(LevelFilter::INFO, writer.clone());
    tracing::subscriber::with_default(subscriber, work);
    writer.flush(LONG);
    let text = std::fs::read_to_string(home.diagnostics("gate")).unwrap_or_default();
    assert!(text.chars().all(|c| c == '\n' || !is_hidden(c)), "{text:?}");
    let (lines, _) = last_lines(&home, &[Program::Gate], usize::MAX, |_| true).unwrap();
    assert_eq!(lines.len(), text.lines().count(), "all of it reads back: {text:?}");
    lines
}

fn texts(lines: &[LogLine]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn an_event_is_one_line_with_its_fields() {
    let lines = logged("none", || {
        info!(target: "callgate_shim::session", version = "9a41", name = "a b", none = None::<&str>, "rules read");
        warn!(target: "callgate_shim::session", "no watcher");
    });
    assert_eq!(texts(&lines), ["rules read version=9a41 name=\"a b\"", "no watcher"]);
    let line = &lines[0];
    assert_eq!((line.level, line.program, line.process), (Level::INFO, Program::Gate, std::process::id()));
    assert_eq!((line.target.as_str(), line.session), ("callgate_shim::session", "k3v9qa".parse().ok()));
}

#[test]
fn other_libraries_and_lower_levels_are_not_written() {
    let lines = logged("none", || {
        warn!(target: "zbus::connection", "handshake with token abc");
        tracing::debug!(target: "callgate_shim::session", "detail");
    });
    assert_eq!(texts(&lines), Vec::<&str>::new());
}

#[test]
fn secrets_are_masked_by_name_by_look_and_by_what_the_session_knows() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let known = "Zq7-kd\"02\npp";
    let cases: [&dyn Fn(); 6] = [
        &|| warn!(target: "callgate_app", "cannot start: {token}"),
        &|| warn!(target: "callgate_app", "cannot start: GITHUB_TOKEN=hunter2hunter2"),
        &|| warn!(target: "callgate_app", "said {known} twice: {known}"),
        &|| warn!(target: "callgate_app", error = known, "as a text"),
        &|| warn!(target: "callgate_app", error = %known, "as shown"),
        &|| warn!(target: "callgate_app", error = ?known, "as it is debugged"),
    ];
    for case in cases {
        let lines = logged(known, case);
        let text = &lines[0].text;
        assert!(lines.len() == 1 && text.contains("[masked"), "{text}");
        assert!(
            ["a1B2", "hunter2", "kd\\\"02", "kd\"02", "pp"].iter().all(|part| !text.contains(part)),
            "{text}"
        );
    }
}

#[test]
fn what_comes_faster_than_it_can_be_written_is_counted_and_holds_nobody_up() {
    let Place { home, _folder } = place();
    let writer = Arc::new(Writer::new(Program::Gate, home.diagnostics("gate")));
    let set_thread = |thread| writer.queue.lock().unwrap().thread = thread;
    let subscriber = LineSubscriber::new(LevelFilter::INFO, writer.clone());
    tracing::subscriber::with_default(subscriber, || {
        set_thread(Thread::Writing);
        (0..1_000).for_each(|n| info!(target: "callgate_app", "event {n}"));
        set_thread(Thread::None);
        info!(target: "callgate_app", "one more");
    });
    writer.flush(LONG);
    let (lines, _) = last_lines(&home, &[Program::Gate], usize::MAX, |_| true).unwrap();
    let mut texts = texts(&lines);
    let told = format!("{} events came too fast and were dropped", 1_001 - WAITING);
    assert_eq!(texts.pop(), Some(told.as_str()));
    assert_eq!(texts, (0..WAITING).map(|n| format!("event {n}")).collect::<Vec<_>>());
}

#[test]
fn a_follower_misses_nothing_when_the_log_is_begun_anew() {
    let Place { home, _folder } = place();
    let mut file = CappedFile::new(home.diagnostics("app"), 120);
    let (_, mut follower) = last_lines(&home, &[Program::App], 10, |_| true).unwrap();
    let mut seen: Vec<LogLine> = Vec::new();
    for n in 0..9 {
        file.append(format!("2026-11-18T00:00:0{n}.000Z INFO app 7 - callgate_app: {n}\n").as_bytes())
            .unwrap();
        if n % 2 == 0 {
            seen.extend(follower.news().unwrap());
        }
    }
    assert_eq!(texts(&seen), ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[test]
fn the_logs_of_all_programs_are_one_by_time_and_what_is_no_line_is_passed_over() {
    let Place { home, _folder } = place();
    let line = |second: u32, program: &str, level: &str| {
        format!("2026-11-18T00:00:0{second}.000Z {level} {program} 7 - callgate: {second}\n")
    };
    let write = |program: &str, text: String| std::fs::write(home.diagnostics(program), text).unwrap();
    write("gate", format!("{}torn 2026{}", line(1, "gate", "INFO"), line(4, "gate", "WARN")));
    write("app", [line(2, "app", "INFO"), line(5, "app", "INFO")].concat());
    write("cli", line(3, "cli", "ERROR") + "2026-11-18T00:00:06.000Z INFO cli 7 - callgate: not whole");
    let read = |most, worst| last_lines(&home, &Program::ALL, most, |line| line.level <= worst).unwrap().0;
    assert_eq!(texts(&read(10, Level::INFO)), ["1", "2", "3", "5"]);
    assert_eq!(texts(&read(2, Level::INFO)), ["3", "5"]);
    assert_eq!(texts(&read(10, Level::ERROR)), ["3"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever it says, an event is one line that reads back as itself, with nothing in it that hides or moves text.
    #[test]
    fn no_text_can_forge_a_line(message in "(?s).{0,80}", value in "(?s).{0,80}", lines in 1usize..4) {
        let forged = "2026-11-18T00:00:00.000Z INFO gate 1 - callgate: all is well";
        let hostile = format!("{message}{}{value}", format!("\r\n{forged}\u{202e}").repeat(lines));
        let found = logged("none", || error!(target: "callgate_app", said = hostile, again = %hostile, "{hostile}"));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!((found[0].level, found[0].target.as_str()), (Level::ERROR, "callgate_app"));
    }
}
