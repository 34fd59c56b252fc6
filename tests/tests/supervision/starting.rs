//! Servers that do not get as far as serving.

use std::os::unix::fs::PermissionsExt as _;

use callgate_tests::gate::Gate;

use super::*;

#[test]
fn a_server_that_cannot_start_is_explained() {
    for (said, told) in [
        (
            "Error: listen EADDRINUSE: address already in use :::3000",
            "the port that it wants is in use by another program",
        ),
        ("browserType.launch: Executable doesn't exist at /x", "its browser is not installed"),
        ("AttributeError: no such thing", "(see `callgate explain CG-110`)"),
    ] {
        let bench = Bench::new(ALWAYS).unwrap();
        let mut session = bench.session(&format!("on initialize\nstderr {said}\nexit 1\n"), &[]).unwrap();
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
        let answer = session.answer("0").unwrap();
        let words = error_message(&answer).unwrap();
        assert!(words.starts_with("Callgate: the server ended (exit code 1) before it answered"), "{words}");
        assert!(words.contains(told) && words.ends_with(&format!("Its last words: {said}")), "{words}");
        session.ended(PATIENCE).unwrap();
        assert_eq!(servers(&bench).len(), 1, "what never served is not started again");
        let events = events(&bench);
        assert!(events[0].starts_with("start_failed: ") && events[0].contains(told), "{events:?}");
        assert!(callgate(&bench, &["status"]).contains(told));
    }
}

#[test]
fn a_first_installation_that_takes_its_time_is_told() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let npx = bench.path("npx");
    std::fs::write(&npx, "#!/bin/sh\nread hello\nread never\n").unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut session =
        Session::start(bench.command(Gate::Callgate, &[npx.into_os_string()]).unwrap()).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
    let told = eventually("it is told", PATIENCE, || {
        callgate(&bench, &["events"]).lines().find(|line| line.contains("CG-130")).map(str::to_owned)
    });
    assert!(told.contains("it has not answered after 10 s, and npx is at work"), "{told}");
}

#[test]
fn a_program_that_ends_well_before_it_served_is_told_too() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("on initialize\nexit 0\n", &[]).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
    let words = error_message(&session.answer("0").unwrap()).unwrap().to_owned();
    assert!(
        words.contains("ended (exit code 0) before it answered (see ") && words.contains("CG-110"),
        "{words}"
    );
    session.ended(PATIENCE).unwrap();
    assert!(events(&bench)[0].starts_with("start_failed: "), "{:?}", events(&bench));
}
