#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;

use callgate_home::clock::{Clock as _, ManualClock};

use super::*;
use crate::testing::{count, events, home, info, policies};
use crate::{EndReason, Journal, PolicyEdit, catch_up, note_edit, record_event};

fn texts(home: &Home) -> Vec<String> {
    events(home).into_iter().map(|(_, text)| text).collect()
}

fn note(home: &Home, text: &str) -> Noted {
    let text = text.to_owned();
    let note = Note::Event { at_ms: 5, kind: EventKind::Note, server: None, origin: None, text };
    put(home, 5, &note).unwrap()
}

#[test]
fn an_act_does_not_wait_for_a_history_that_others_write() {
    let (_folder, home) = home();
    let others = open_writer(&home, 1).unwrap().connection;
    others.execute_batch("BEGIN IMMEDIATE").unwrap();
    record_event(&home, 5, EventKind::Paused, None, Some(Origin::Cli), "all paused").unwrap();
    assert_eq!(texts(&home), [""; 0], "the history was not to be had");
    others.execute_batch("COMMIT").unwrap();
    catch_up(&home, &ManualClock::new()).unwrap();
    assert_eq!(texts(&home), ["all paused"]);
    assert_eq!(waiting(&home.outbox()).len(), 0);
}

#[test]
fn a_note_is_booked_once_though_whoever_booked_it_was_killed_before_it_was_removed() {
    let (_folder, home) = home();
    let noted = note(&home, "once");
    let connection = open_writer(&home, 1).unwrap().connection;
    let _killed = book_inside(&connection, &home.outbox()).unwrap();
    assert!(noted.path.exists());
    noted.book();
    book(&home).unwrap();
    assert_eq!(texts(&home), ["once"]);
    note(&home, "another").book();
    let marks = "SELECT count(*) FROM meta WHERE key LIKE 'note:%'";
    let marks: i64 = connection.query_row(marks, (), |row| row.get(0)).unwrap();
    assert!(marks <= 1, "marks of notes that are gone do not pile up: {marks}");
}

#[test]
fn what_came_to_nothing_is_not_on_record() {
    let (_folder, home) = home();
    note(&home, "nothing").take_back();
    note(&home, "something").book();
    assert_eq!(texts(&home), ["something"]);
}

#[test]
fn a_session_that_sees_an_edit_first_still_says_whose_it_was() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let policy = r#"{"version":"1","default":"allow"}"#;
    journal.policy_seen("v1", policy, Origin::File);
    let edit = PolicyEdit {
        before: Some(("v1", policy)),
        version: "v2",
        server: "s",
        followers: &[],
        text: r#"{"version":"1","default":"deny"}"#,
        origin: Origin::Window,
        summary: "everything is denied",
        loosened: &[],
    };
    // Noted, made, seen by the session, and not booked yet.
    clock.advance(Duration::from_secs(1));
    let _unbooked = note_edit(&home, clock.now().wall_ms, &edit).unwrap();
    clock.advance(Duration::from_secs(1));
    journal.policy_seen("v2", edit.text, Origin::File);
    journal.end(EndReason::ClientClosed);
    assert_eq!(policies(&home), [("v1".to_owned(), Origin::File), ("v2".to_owned(), Origin::Window)]);
}

#[test]
fn a_note_that_only_a_newer_callgate_reads_stays_for_it() {
    let (_folder, home) = home();
    note(&home, "ours").book();
    let newer = home.outbox().join("000000000000009-1-0001.json");
    fs::write(&newer, r#"{"consent":{"text":"of a later version"}}"#).unwrap();
    book(&home).unwrap();
    assert_eq!(texts(&home), ["ours"]);
    assert!(newer.exists());
}

#[test]
fn notes_from_the_command_line_are_kept() {
    let (_folder, home) = home();
    record_event(&home, 5, EventKind::Loosened, Some("s"), Some(Origin::Cli), "allowed x; password=abc")
        .unwrap();
    let writer = open_writer(&home, 1).unwrap();
    for (at_ms, origin) in [(5, Origin::Cli), (6, Origin::File)] {
        notes::keep_policy(&writer.connection, "v2", "s", "{}", at_ms, origin).unwrap();
    }
    let kept = "allowed x; password=[masked, 3 characters]".to_owned();
    assert_eq!(events(&home), [(EventKind::Loosened, kept)]);
    assert_eq!(count(&home, "events WHERE origin = 'cli'"), 1);
    assert_eq!(count(&home, "policy_versions WHERE version = 'v2' AND origin = 'cli'"), 1);
}
