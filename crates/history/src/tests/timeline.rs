use super::*;

const STRICT: &str = r#"{"version":"1","default":"deny"}"#;
const OPEN: &str = r#"{"version":"1","default":"allow"}"#;
const CLOSED: &str = r#"{"version":"1","default":"deny","hide":["x"]}"#;

fn version(text: &str) -> String {
    Policy::parse(text).unwrap().version().to_owned()
}

/// A session that finds these policies in force, one after the other.
fn session(home: &Home, clock: &Arc<ManualClock>, policies: &[&str]) {
    let journal = Journal::open(home, &info("s"), clock.clone()).unwrap();
    for text in policies {
        clock.advance(Duration::from_secs(1));
        journal.policy_seen(&version(text), text, Origin::File);
    }
    journal.end(EndReason::ClientClosed);
}

fn timeline(home: &Home) -> Vec<PolicyChange> {
    History::open_reader(home).unwrap().timeline("s").unwrap()
}

/// Each change as its version, the one before, and where it came from.
fn steps(home: &Home) -> Vec<(String, Option<String>, Origin)> {
    timeline(home).into_iter().map(|change| (change.version, change.previous, change.origin)).collect()
}

fn loosened(home: &Home) -> Vec<String> {
    let events = History::open_reader(home).unwrap().events(None, 99).unwrap();
    let loosened = events.into_iter().filter(|event| event.kind == EventKind::Loosened);
    loosened.map(|event| event.text).collect()
}

fn edit(home: &Home, clock: &ManualClock, text: &str) {
    clock.advance(Duration::from_secs(1));
    let edit = PolicyEdit {
        before: None,
        version: &version(text),
        server: "s",
        followers: &[],
        text,
        origin: Origin::Cli,
        summary: "x is hidden",
        loosened: &[],
    };
    note_edit(home, clock.now().wall_ms, &edit).unwrap().book();
}

#[test]
fn a_policy_loosened_between_sessions_leaves_a_row_and_an_event() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    session(&home, &clock, &[STRICT]);
    assert_eq!(timeline(&home)[0].summary, "first seen");
    assert_eq!(loosened(&home), Vec::<String>::new());
    // The file was changed, or deleted so that the default counts: no difference to who only sees what is in force.
    session(&home, &clock, &[OPEN]);
    session(&home, &clock, &[OPEN]);
    let file = Origin::File;
    assert_eq!(steps(&home), [(version(STRICT), None, file), (version(OPEN), Some(version(STRICT)), file)]);
    assert_eq!(loosened(&home).len(), 1, "once, not by every session");
    assert_eq!(timeline(&home)[1].summary, "default deny → allow");
    session(&home, &clock, &[CLOSED]);
    assert_ne!(timeline(&home)[2].summary, "the file was changed", "in words");
}

#[test]
fn what_a_running_session_tells_is_not_told_again() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    session(&home, &clock, &[STRICT, OPEN]);
    assert_eq!(steps(&home).len(), 2);
    assert_eq!(loosened(&home), Vec::<String>::new(), "the session itself says what it saw become looser");
}

#[test]
fn an_edit_by_command_is_one_change_with_its_own_words() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    session(&home, &clock, &[STRICT]);
    edit(&home, &clock, CLOSED);
    session(&home, &clock, &[CLOSED]);
    session(&home, &clock, &[STRICT]);
    edit(&home, &clock, CLOSED);
    let (strict, closed) = (version(STRICT), version(CLOSED));
    assert_eq!(
        steps(&home),
        [
            (strict.clone(), None, Origin::File),
            (closed.clone(), Some(strict.clone()), Origin::Cli),
            (strict.clone(), Some(closed.clone()), Origin::File),
            (closed, Some(strict), Origin::Cli),
        ]
    );
    assert_eq!(timeline(&home)[1].summary, "x is hidden");
}

#[test]
fn forgetting_takes_no_change_of_the_rules_away() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    session(&home, &clock, &[STRICT, OPEN, CLOSED]);
    clock.advance(Duration::from_secs(60));
    let before = timeline(&home);
    assert_eq!(before.len(), 3);
    for what in [Forget::Before(clock.now().wall_ms), Forget::Server("s".to_owned()), Forget::All] {
        forget(&home, &what, BY, clock.as_ref()).unwrap();
        assert_eq!(timeline(&home), before);
    }
    let history = History::open_reader(&home).unwrap();
    assert!(history.policy_text(&version(OPEN), "s").unwrap().is_some(), "what it was can still be read");
}
