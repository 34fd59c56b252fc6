#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_controls::allowance::{self, AllowanceScope};
use callgate_home::clock::Clock as _;
use callgate_journal::Outcome as Ended;

use super::*;
use crate::testing::{POLICY, Session, TestHome};
use crate::view::{Clearing, Restriction};

fn started(id: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{{\"sessionId\":\"{id}\"}}"}}]}}"#)
}

fn record(session: &Session, id: &str) {
    session.called("start_codegen_session", r#"{"options":{"outputPath":"/out"}}"#, Ended::Ok, &started(id));
    session.called("playwright_navigate", r#"{"url":"http://localhost/"}"#, Ended::Ok, "{}");
    let fill = r##"{"selector":"#password","value":"hunter2hunter2"}"##;
    session.called("playwright_fill", fill, Ended::Ok, "{}");
    session.called("playwright_click", r##"{"selector":"#no"}"##, Ended::ToolError, "{}");
}

#[test]
fn a_clear_that_threw_actions_away_is_told_and_the_actions_are_there() {
    let place = TestHome::new();
    let session = place.session("playwright");
    record(&session, "A");
    let open = place.desk.codegen(Some("playwright")).unwrap();
    assert_eq!((open[0].state, open[0].actions, open[0].thrown_away), (CodegenState::Open, 3, false));
    session.called("clear_codegen_session", r#"{"sessionId":"A"}"#, Ended::Ok, "{}");
    record(&session, "B");
    let end = r#"{"content":[{"type":"text","text":"{\"filePath\":\"/out/b.spec.ts\"}"}]}"#;
    session.called("end_codegen_session", r#"{"sessionId":"B"}"#, Ended::Ok, end);
    record(&session, "C");
    session.end();

    let all = place.desk.codegen(None).unwrap();
    let told: Vec<_> = all
        .iter()
        .map(|one| (one.session.as_deref().unwrap(), one.state, one.thrown_away, one.file.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("C", CodegenState::Lost, true, None),
            ("B", CodegenState::Ended, false, Some("/out/b.spec.ts")),
            ("A", CodegenState::Cleared, true, None),
        ],
        "the newest first"
    );
    assert!(place.desk.codegen(Some("other")).unwrap().is_empty());
    let detail = place.desk.codegen_session("A").unwrap();
    assert_eq!(detail, place.desk.codegen_session(&detail.session.id).unwrap(), "by either name");
    let steps: Vec<_> =
        detail.actions.iter().map(|one| (one.tool.as_str(), one.gist.as_str(), one.failed)).collect();
    assert_eq!(
        steps,
        [
            ("playwright_navigate", "url: http://localhost/", false),
            ("playwright_fill", "selector: #password, value: [masked, 14 characters]", false),
            ("playwright_click", "selector: #no", true),
        ]
    );
}

#[test]
fn an_export_is_a_new_file_with_no_secret_in_it() {
    let place = TestHome::new();
    let session = place.session("playwright");
    record(&session, "A");
    session.end();
    let there = tempfile::tempdir().unwrap();
    let folder = there.path().join("no/such/folder/yet");
    let first = place.desk.export_codegen("A", &folder).unwrap();
    let second = place.desk.export_codegen("A", &folder).unwrap();
    assert!(first.path.contains("/playwright-A-"), "server and session are in the name: {first:?}");
    assert!(first.path.ends_with(".spec.ts") && first.path != second.path, "{first:?} {second:?}");
    assert_eq!(first.calls, 3);
    let text = std::fs::read_to_string(&first.path).unwrap();
    assert_eq!(text, place.desk.codegen_test("A").unwrap());
    assert!(text.contains(r##"await page.fill("#password", process.env.TEST_PASSWORD!);"##), "{text}");
    assert!(!text.contains("hunter2"));
    let error = place.desk.codegen_session("Z").unwrap_err();
    assert_eq!(error.to_string(), r#"there is no codegen session "Z" on record of the last 30 days"#);
}

#[test]
fn the_names_that_servers_give_sessions_lead_nowhere() {
    let place = TestHome::new();
    let session = place.session("playwright");
    let id = "../../../etc/cron.d/x y\u{202e}";
    record(&session, id);
    session.end();
    let folder = tempfile::tempdir().unwrap();
    let written = place.desk.export_codegen(id, folder.path()).unwrap();
    let name = written.path.strip_prefix(&format!("{}/", folder.path().display())).unwrap();
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name}");
}

#[test]
fn ended_then_cleared_is_ended_and_keeps_its_file() {
    let place = TestHome::new();
    let session = place.session("playwright");
    record(&session, "A");
    // Longer than what is kept of an answer.
    let text =
        serde_json::json!({ "filePath": "/out/a.spec.ts", "testCode": "x".repeat(300_000) }).to_string();
    let end = serde_json::json!({ "content": [{ "type": "text", "text": text }] }).to_string();
    session.called("end_codegen_session", r#"{"sessionId":"A"}"#, Ended::Ok, &end);
    session.called("clear_codegen_session", r#"{"sessionId":"A"}"#, Ended::Ok, "{}");
    session.end();
    let one = &place.desk.codegen(None).unwrap()[0];
    assert_eq!((one.state, one.thrown_away), (CodegenState::Ended, false), "no false alarm");
    assert_eq!(one.file.as_deref(), Some("/out/a.spec.ts"));
}

#[test]
fn a_test_goes_where_the_person_says_and_never_over_something_else() {
    let place = TestHome::new();
    let session = place.session("playwright");
    record(&session, "A");
    let folder = tempfile::tempdir().unwrap();
    let proposed = place.desk.codegen_file("A", folder.path()).unwrap();
    assert!(proposed.contains("playwright-A-") && proposed.ends_with(".spec.ts"), "{proposed}");
    let written = place.desk.export_codegen_as("A", &format!("  {proposed} ")).unwrap();
    assert_eq!((written.path.as_str(), written.calls), (proposed.as_str(), 3));
    assert_eq!(std::fs::read_to_string(&proposed).unwrap(), place.desk.codegen_test("A").unwrap());
    let next = place.desk.codegen_file("A", folder.path()).unwrap();
    assert_ne!(next, proposed, "that one is taken");
    let inside = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(inside("theirs.spec.ts"), "theirs").unwrap();
    for (path, why) in [
        (inside("theirs.spec.ts"), "is there already and was left as it is"),
        (proposed, "is there already and was left as it is"),
        (inside("login.sh"), "a Playwright test is called something.spec.ts"),
        (inside(".spec.ts"), "a Playwright test is called something.spec.ts"),
        (inside("spec.ts"), "a Playwright test is called something.spec.ts"),
        (inside("no/such/x.spec.ts"), "is not a folder"),
        ("login.spec.ts".to_owned(), "say the whole path"),
        (String::new(), "say the whole path"),
    ] {
        let error = place.desk.export_codegen_as("A", &path).unwrap_err().to_string();
        assert!(error.contains(why), "{path}: {error}");
    }
    assert_eq!(std::fs::read_to_string(inside("theirs.spec.ts")).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn a_clear_that_the_rules_let_pass_is_warned_of_before_and_one_click_refuses_it() {
    let place = TestHome::new();
    place.write_policy("playwright", POLICY);
    let session = place.session("playwright");
    let clearing = || place.desk.codegen(Some("playwright")).unwrap()[0].clearing.clone();
    session.called("start_codegen_session", "{}", Ended::Ok, &started("A"));
    assert_eq!(clearing(), None, "nothing to lose yet");
    session.called("playwright_navigate", r#"{"url":"http://localhost/"}"#, Ended::Ok, "{}");
    assert_eq!(clearing(), Some(Clearing::Passes { can_be_kept: true }));

    let done = place.desk.restrict(&keep()).unwrap();
    assert_eq!(clearing(), Some(Clearing::Kept));
    assert!(done.words.contains("refused until it has ended"), "{}", done.words);
    assert!(place.desk.restrict(&keep()).unwrap().words.starts_with("Nothing to change"));
    let undo = done.undo.unwrap().token;
    assert!(place.desk.give_reason(&undo, "why").is_err(), "the rule says its own");
    place.desk.undo(&undo).unwrap();
    assert_eq!(clearing(), Some(Clearing::Passes { can_be_kept: true }));

    session.end();
    assert_eq!(clearing(), None, "it is lost already");
}

fn keep() -> Restriction {
    Restriction::KeepRecordings { server: "playwright".to_owned() }
}

#[test]
fn a_recording_whose_name_is_kept_off_the_record_is_warned_of_as_well() {
    let place = TestHome::new();
    place.write_policy("playwright", POLICY);
    let session = place.session("playwright");
    // The answer that names it was not kept.
    session.called("start_codegen_session", "{}", Ended::Ok, "{}");
    session.called("playwright_navigate", r#"{"url":"http://localhost/"}"#, Ended::Ok, "{}");
    let one = place.desk.codegen(Some("playwright")).unwrap().remove(0);
    assert_eq!((one.state, one.session, one.actions), (CodegenState::Open, None, 1));
    assert_eq!(said(&place), "passes, can be kept");
    place.desk.restrict(&keep()).unwrap();
    assert_eq!(said(&place), "kept");
}

#[test]
fn what_is_said_of_a_clear_is_what_the_rules_would_do() {
    let kept = r#""codegen":{"keep_unfinished":true}"#;
    let policy = |rest: &str| format!(r#"{{"version":"1","default":"allow",{rest}}}"#);
    for (text, wanted) in [
        (policy(r#""tools":{}"#), "passes, can be kept"),
        (policy(kept), "kept"),
        (policy(&format!(r#""clients":{{"claude-ai":{{{kept}}}}}"#)), "kept"),
        (policy(&format!(r#""clients":{{"cursor":{{{kept}}}}}"#)), "passes, can be kept"),
        (policy(r#""codegen":{"keep_unfinished":false}"#), "passes, can be kept"),
        (policy(r#""codegen":{"own_sessions_only":true}"#), "passes, can be kept"),
        (policy(r#""hide":["clear_codegen_session"]"#), "refused"),
        (policy(r#""tools":{"clear_*":{"action":"deny"}}"#), "refused"),
        (policy(r#""all_tools":{"action":"deny"}"#), "refused"),
        (policy(&format!(r#""mode":"observe",{kept}"#)), "passes"),
        (policy(r#""mode":"observe""#), "passes"),
        (policy(r#""tools":{"clear_codegen_session":{"mode":"observe"}}"#), "passes"),
        ("{ broken".to_owned(), "refused"),
    ] {
        let place = TestHome::new();
        place.write_policy("playwright", &text);
        let session = place.session("playwright");
        record(&session, "A");
        assert_eq!(said(&place), wanted, "{text}");
    }
}

#[test]
fn a_pause_and_what_is_allowed_for_a_while_count_for_a_clear() {
    let place = TestHome::new();
    place.write_policy("playwright", POLICY);
    let session = place.session("playwright");
    record(&session, "A");
    place.desk.restrict(&keep()).unwrap();
    let grant = |what| {
        let lasts = std::time::Duration::from_secs(60);
        allowance::grant(&place.home, &place.clock.now(), "playwright", what, lasts).unwrap()
    };
    grant(AllowanceScope::Tool("clear_codegen_session".to_owned()));
    assert_eq!(said(&place), "kept", "it sets no condition aside");
    grant(AllowanceScope::Observe);
    assert_eq!(said(&place), "passes, can be kept");
    place.desk.restrict(&keep()).unwrap();
    assert_eq!(said(&place), "kept", "observing is over with it");
    place.desk.restrict(&Restriction::Pause { server: None, client: None, reason: None }).unwrap();
    assert_eq!(said(&place), "refused");
}

fn said(place: &TestHome) -> &'static str {
    match place.desk.codegen(Some("playwright")).unwrap()[0].clearing {
        Some(Clearing::Passes { can_be_kept: true }) => "passes, can be kept",
        Some(Clearing::Passes { can_be_kept: false }) => "passes",
        Some(Clearing::Kept) => "kept",
        Some(Clearing::Refused { .. }) => "refused",
        None => "nothing",
    }
}
