//! What `callgate status` says of a server that keeps its client waiting: in the handshake, and in a call.

use callgate_home::clock::shift;
use callgate_tests::gate::Gate;

use super::*;

/// A session whose clock a test moves by what it writes into the bench's file `clock`.
fn session_with_a_clock(bench: &Bench, script: &str) -> Session {
    let server = bench.fake_server(script, &[]).unwrap();
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    command.env(shift::VARIABLE, bench.path("clock"));
    Session::start(command).unwrap()
}

fn move_clock(bench: &Bench, ms: u32) {
    let draft = bench.path("clock.draft");
    std::fs::write(&draft, ms.to_string()).unwrap();
    std::fs::rename(draft, bench.path("clock")).unwrap();
}

/// `callgate status`, so many milliseconds from now.
fn status(bench: &Bench, later_ms: u32) -> String {
    move_clock(bench, later_ms);
    let mut command = bench.callgate(["status"]).unwrap();
    let output = command.env(shift::VARIABLE, bench.path("clock")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn status_tells_of_a_server_stuck_in_its_handshake_and_forgets_it_when_it_has_answered() {
    const SAYS: &str =
        "it has not answered its client's first request after 10 s: it hangs, or takes its time";
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = session_with_a_clock(&bench, "on initialize\nhold\non ping\nanswer\nrelease\n");
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
    eventually("the server hears the handshake", PATIENCE, || {
        bench.server_lines().iter().any(|line| line.contains("\"initialize\"")).then_some(())
    });
    assert!(!status(&bench, 9_000).contains("not answered"), "too early to say");
    move_clock(&bench, 11_000);
    // Rules that are read anew have it look at what is due.
    bench.write_policy(&OPEN_POLICY.replace("allow\"", "allow\" ")).unwrap();
    eventually("the handshake that hangs is told", PATIENCE, || {
        status(&bench, 11_000).contains(SAYS).then_some(())
    });
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    session.answer("0").unwrap();
    eventually("nothing is said of a server that has answered", PATIENCE, || {
        (!status(&bench, 11_000).contains("not answered")).then_some(())
    });
    session.finish().unwrap();
}

#[test]
fn status_shows_a_call_that_its_server_does_not_answer_until_it_has() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = opened(&bench, "on danger\nhold\non safe 2\nanswer\nrelease\n");
    session.call("3", "danger", "{}").unwrap();
    let said = eventually("the call is told", PATIENCE, || {
        Some(status(&bench, 20_000)).filter(|said| said.contains("danger has not answered"))
    });
    assert!(said.contains("danger has not answered for 2") && said.contains("(callgate show "), "{said}");
    assert!(!status(&bench, 0).contains("has not answered"), "a call that is young hangs not");
    session.call("4", "safe", "{}").unwrap();
    session.answer("3").unwrap();
    eventually("the answered call is told no more", PATIENCE, || {
        (!status(&bench, 20_000).contains("has not answered")).then_some(())
    });
    session.finish().unwrap();
}
