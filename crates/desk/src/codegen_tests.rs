#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_store::Outcome as Ended;

use super::*;
use crate::testing::{Place, Session};

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
    let place = Place::new();
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
    let place = Place::new();
    let session = place.session("playwright");
    record(&session, "A");
    session.end();
    let folder = tempfile::tempdir().unwrap();
    let first = place.desk.export_codegen("A", folder.path()).unwrap();
    let second = place.desk.export_codegen("A", folder.path()).unwrap();
    assert!(first.path.ends_with(".spec.ts") && first.path != second.path, "{first:?} {second:?}");
    assert_eq!(first.calls, 3);
    let text = std::fs::read_to_string(&first.path).unwrap();
    assert_eq!(text, place.desk.codegen_test("A").unwrap());
    assert!(text.contains(r##"await page.fill("#password", process.env.TEST_PASSWORD!);"##), "{text}");
    assert!(!text.contains("hunter2"));
    let error = place.desk.codegen_session("Z").unwrap_err();
    assert_eq!(error.to_string(), r#"there is no codegen session "Z" on record of the last 30 days"#);
}
