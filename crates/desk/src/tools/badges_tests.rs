use callgate_journal::{Decision, Outcome};
use callgate_protocol::json::Raw;
use callgate_redaction::Masker;
use callgate_risk::{RiskClass, RiskSeverity};

use super::*;
use crate::testing::TestHome;
use crate::view::{CallFilter, PageFrom};

const DROP: &str = r#"{"name":"delete_file","description":"Delete a file for good"}"#;
const READ: &str = r#"{"name":"delete_file","description":"Read a file"}"#;

fn lists(home: &TestHome, definition: &str) {
    let raw = Raw::parse(definition).unwrap();
    let listed = [("delete_file", raw)].into_iter();
    catalogue::write(&home.home, &Masker::default(), "files", 1, listed).unwrap();
}

fn badge(home: &TestHome) -> Option<ClassBadge> {
    home.desk.badges.look().badge("files", "delete_file")
}

#[test]
fn a_badge_is_what_the_server_listed_last_and_what_a_person_says_wins() {
    let home = TestHome::new();
    assert_eq!(badge(&home), None);
    lists(&home, DROP);
    let found = badge(&home).unwrap();
    assert_eq!((found.class, found.severity), (RiskClass::Destructive, RiskSeverity::Critical));
    assert_eq!(found.words(), "Destructive, critical");
    assert_eq!(home.desk.badges.look().badge("files", "another"), None);
    home.desk.correct_class("files", "delete_file", Some(RiskClass::Write)).unwrap();
    let corrected = badge(&home).unwrap();
    assert_eq!((corrected.class, corrected.corrected), (RiskClass::Write, true));
    home.desk.correct_class("files", "delete_file", None).unwrap();
    assert_eq!(badge(&home), Some(found));
    std::fs::remove_file(home.home.catalogue("files")).unwrap();
    assert_eq!(badge(&home), None);
    lists(&home, READ);
    assert!(badge(&home).is_some(), "read again");
}

#[test]
fn rows_of_the_log_have_the_badge_of_their_tool_on_a_page_when_followed_and_in_the_tray() {
    let home = TestHome::new();
    lists(&home, DROP);
    let session = home.session("files");
    let filter = CallFilter::default();
    let mut follower = home.desk.follow(&filter, 0).unwrap();
    session.ends("delete_file", Outcome::Ok, "{}");
    session.ends("unlisted", Outcome::Ok, "{}");
    let classes = |entries: &[LogEntry]| -> Vec<(String, Option<RiskClass>)> {
        let lines = entries.iter().filter_map(|entry| match entry {
            LogEntry::Call(line) => Some((line.tool.clone()?, line.class.map(|badge| badge.class))),
            LogEntry::Change(_) | LogEntry::Event(_) => None,
        });
        lines.collect()
    };
    let expected = [("delete_file".to_owned(), Some(RiskClass::Destructive)), ("unlisted".to_owned(), None)];
    let page = home.desk.log_page(&filter, &PageFrom::Newest, 50).unwrap();
    assert_eq!(classes(&page.entries), expected);
    let batch = follower.next().unwrap().unwrap();
    assert_eq!(classes(&batch.entries), expected);
    let recent = home.desk.overview().unwrap().recent;
    let words: Vec<_> = recent.iter().map(|line| line.class.map(ClassBadge::words)).collect();
    assert_eq!(words, [None, Some("Destructive, critical".to_owned())]);
    let id = recent[1].id.clone();
    assert_eq!(
        home.desk.call(&id).unwrap().line.class.map(|badge| badge.class),
        Some(RiskClass::Destructive)
    );
    session.end();
}

#[test]
fn rules_and_the_notification_of_a_block_say_what_a_tool_can_do() {
    let home = TestHome::new();
    lists(&home, DROP);
    home.write_policy(
        "files",
        r#"{"version":"1","default":"allow","tools":{"delete_file":{"action":"deny"}}}"#,
    );
    let rules = home.desk.rules("files").unwrap();
    assert_eq!(rules.tools[0].class.map(|badge| badge.class), Some(RiskClass::Destructive));
    assert!(home.desk.news(false).unwrap().is_empty(), "what was is in the log");
    let session = home.session("files");
    session.refused("delete_file", Decision::Denied, 1);
    let told = home.desk.news(false).unwrap();
    assert!(
        format!("{told:?}").contains("Blocked: delete_file on files (Destructive, critical)"),
        "{told:?}"
    );
    session.end();
}
