#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_journal::Outcome;

use crate::testing::TestHome;
use crate::tools::tests::lists;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const USED: &str = r#"{"name":"used","description":"Read it"}"#;
const IDLE: &str = r#"{"name":"idle","description":"Nobody ever calls this one"}"#;
const OTHER: &str = r#"{"name":"other","description":"Nor this"}"#;

fn home_with_a_week() -> TestHome {
    let home = TestHome::new();
    home.write_policy("play", r#"{"version":"1","default":"allow"}"#);
    lists(&home, "play", &[USED, IDLE, OTHER]);
    let session = home.session_of("play", "cursor");
    session.ends(
        "used",
        Outcome::Ok,
        &format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(4_000)),
    );
    session.end();
    home
}

#[test]
fn a_definition_and_an_answer_are_told_in_tokens_by_tool_and_client() {
    let home = home_with_a_week();
    let cost = home.desk.costs(Some("play")).unwrap().pop().unwrap();
    let idle = cost.tools.iter().find(|tool| tool.name == "idle").unwrap();
    assert_eq!(idle.definition, (IDLE.len() as u64).div_ceil(4));
    let used = cost.tools.iter().find(|tool| tool.name == "used").unwrap();
    assert!((1_000..1_050).contains(&used.results), "{used:?}");
    assert_eq!((used.calls, cost.calls, cost.results), (1, 1, used.results));
    assert_eq!(cost.clients, [("claude-ai".to_owned(), used.results)]);
    home.clock.advance(DAY * 8);
    let later = home.desk.costs(Some("play")).unwrap().pop().unwrap();
    assert_eq!((later.calls, later.results), (0, 0), "older than a week");
}

#[test]
fn tools_that_nobody_used_are_hidden_with_one_act_and_one_undo() {
    let home = home_with_a_week();
    assert_eq!(home.desk.costs(Some("play")).unwrap()[0].unused, None, "a day is not over yet");
    home.clock.advance(DAY * 12);
    let cost = home.desk.costs(Some("play")).unwrap().pop().unwrap();
    let unused = cost.unused.unwrap();
    assert_eq!(
        (unused.names.as_slice(), unused.days),
        (["idle".to_owned(), "other".to_owned()].as_slice(), 12)
    );
    assert!(
        unused.words.starts_with("2 tools that no agent used in 12 days cost about "),
        "{}",
        unused.words
    );
    let before = std::fs::read_to_string(home.home.policy("play")).unwrap();
    // One that was never said to be unused is not hidden by the way.
    let names = ["idle".to_owned(), "other".to_owned(), "used".to_owned()];
    let done = home.desk.hide_unused("play", &names).unwrap();
    assert_eq!(done.words, "Hid 2 tools of play that nobody used");
    let after = home.desk.costs(Some("play")).unwrap().pop().unwrap();
    assert!(after.unused.is_none() && after.definitions < cost.definitions);
    assert!(!std::fs::read_to_string(home.home.policy("play")).unwrap().contains("\"used\""));
    home.desk.undo(&done.undo.unwrap().token).unwrap();
    assert_eq!(std::fs::read_to_string(home.home.policy("play")).unwrap(), before);
}

#[test]
fn a_tool_that_was_used_a_moment_ago_stays_on_the_list() {
    let home = home_with_a_week();
    home.clock.advance(DAY * 40);
    let session = home.session_of("play", "cursor");
    session.calls("idle", 1);
    session.end();
    let names = ["idle".to_owned(), "used".to_owned()];
    home.desk.hide_unused("play", &names).unwrap();
    let text = std::fs::read_to_string(home.home.policy("play")).unwrap();
    assert!(text.contains("\"used\"") && !text.contains("\"idle\""), "{text}");
}

#[test]
fn the_page_of_a_server_has_its_classes_its_cost_and_who_starts_it() {
    let home = home_with_a_week();
    let page = home.desk.server_page("play").unwrap();
    assert_eq!((page.classes.tools, page.waiting, page.known), (3, 0, None));
    assert_eq!(page.cost.unwrap().server, "play");
}
