//! Pause and a broken policy hold for everything that acts or discloses, not for tools alone; lists go on.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{Bench, OPEN_POLICY};
use callgate_tests::session::{Session, error_code};

const ACTING: [&str; 4] = [
    r#""method":"resources/read","params":{"uri":"file:///x"}"#,
    r#""method":"prompts/get","params":{"name":"x"}"#,
    r#""method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}"#,
    r#""method":"acme/run","params":{}"#,
];

fn ask(session: &mut Session, id: usize, request: &str) -> Option<i64> {
    session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{request}}}"#)).unwrap();
    error_code(&session.answer(&id.to_string()).unwrap())
}

/// Whatever acts is refused and never seen by the server; the handshake and the lists work.
fn assert_shut(bench: &Bench, session: &mut Session) {
    for (id, request) in ACTING.iter().enumerate() {
        assert_eq!(ask(session, id, request), Some(-31403), "{request}");
    }
    session.send(r#"{"jsonrpc":"2.0","method":"acme/happened"}"#).unwrap();
    assert_eq!(ask(session, 50, r#""method":"tools/list""#), None);
    assert_eq!(ask(session, 51, r#""method":"ping""#), None);
    let got = String::from_utf8(bench.server_got()).unwrap();
    assert!(!got.contains("acme/") && !got.contains("resources/read"), "{got}");
}

#[test]
fn a_broken_policy_refuses_every_method_that_acts() {
    let bench = Bench::new(r#"{ "version": "1", "default": "alow", "resources": {} }"#).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert_shut(&bench, &mut session);
}

#[test]
fn a_pause_refuses_every_method_that_acts() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    assert!(bench.callgate(["pause"]).unwrap().status().unwrap().success());
    let mut session = bench.session("", &[]).unwrap();
    assert_shut(&bench, &mut session);
}

#[test]
fn a_request_beside_tools_is_on_record() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    ask(&mut session, 1, ACTING[0]);
    session.finish().unwrap();
    let log = bench.callgate(["log", "--json"]).unwrap().output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains(r#""method":"resources/read""#) && log.contains("file:///x"), "{log}");
}

#[test]
fn a_resource_inside_callgates_own_folder_is_refused() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let uri = format!("file://{}/policies/corpus.json", bench.home().display());
    let request = format!(r#""method":"resources/read","params":{{"uri":"{uri}"}}"#);
    assert_eq!(ask(&mut session, 1, &request), Some(-31403));
}
