//! A server that never reads, a client that never reads: the session still ends when it has to, and takes its tree along.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsString;
use std::io::Write;
use std::process::ChildStdin;
use std::thread;
use std::time::Duration;

use callgate_tests::gate::{Bench, DENY_POLICY, Gate, OPEN_POLICY};
use callgate_tests::processes::{children, eventually};
use callgate_tests::session::{PATIENCE, Session, call_line, gone, is_refusal};
use rustix::process::Signal;

/// The promise, and some air for the machine.
const ENDED: Duration = Duration::from_secs(8);

fn shell(script: &str) -> [OsString; 3] {
    ["sh".into(), "-c".into(), script.into()]
}

/// A session whose server sleeps and never reads, with the pid of that server.
fn deaf(bench: &Bench) -> (Session, std::process::ChildStdout, u32) {
    let command = bench.command(Gate::Callgate, &shell("exec sleep 1000")).unwrap();
    let (session, stdout) = Session::start_unread(command).unwrap();
    let server = eventually("the server", PATIENCE, || {
        let keeper = *children(session.pid()).first()?;
        children(keeper).first().copied()
    });
    (session, stdout, server)
}

/// Writes a call that no pipe holds, from a thread of its own, and waits until the pipes are full.
fn fill(session: &mut Session) {
    let mut input: ChildStdin = session.take_input().unwrap();
    let line = call_line("1", "safe", &format!(r#"{{"text":"{}"}}"#, "x".repeat(3_000_000)));
    thread::spawn(move || {
        // Fails when the session ends, which is the point.
        let _ended = writeln!(input, "{line}");
        input
    });
}

#[test]
fn a_signal_ends_a_session_whose_server_never_reads() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let (mut session, _stdout, server) = deaf(&bench);
    fill(&mut session);
    session.signal(Signal::TERM);
    assert_eq!(session.ended(ENDED).unwrap().code(), Some(143));
    gone("server", server, ENDED);
}

/// The signal may come at any moment once the server can be seen, also before the shim listens for it.
#[test]
fn a_signal_while_a_session_starts_ends_it_in_order() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    for _ in 0..20 {
        let command = bench.command(Gate::Callgate, &shell("exec cat")).unwrap();
        let (mut session, _stdout) = Session::start_unread(command).unwrap();
        let keeper = eventually("the keeper", PATIENCE, || children(session.pid()).first().copied());
        // Kept open: a closed input would be a reason of its own to end.
        let _input = session.take_input().unwrap();
        session.signal(Signal::TERM);
        assert_eq!(session.ended(ENDED).unwrap().code(), Some(143));
        gone("keeper", keeper, ENDED);
    }
}

#[test]
fn a_client_that_dies_is_noticed_although_the_server_never_reads() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let (mut session, stdout, server) = deaf(&bench);
    fill(&mut session);
    drop(stdout);
    session.ended(ENDED).unwrap();
    gone("server", server, ENDED);
}

#[test]
fn unread_answers_do_not_keep_a_session_from_ending() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let (mut session, _stdout) =
        Session::start_unread(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
    for id in 1..=4_000 {
        session.call(&id.to_string(), "danger", "{}").unwrap();
    }
    session.close_input();
    session.signal(Signal::TERM);
    session.ended(ENDED).unwrap();
}

#[test]
fn a_server_that_ends_while_the_client_does_not_read_ends_the_session() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let server = bench.fake_server("on danger\nexit 3\n", &[]).unwrap();
    let (mut session, _stdout) =
        Session::start_unread(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
    for id in 1..=2_000 {
        session.call(&id.to_string(), "never", "{}").unwrap();
    }
    session.call("0", "danger", "{}").unwrap();
    assert_eq!(session.ended(2 * ENDED).unwrap().code(), Some(3));
}

#[test]
fn every_request_is_answered_when_the_server_has_closed_its_input() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let command = bench.command(Gate::Callgate, &shell("exec 0<&-; exec sleep 1000")).unwrap();
    let mut session = Session::start(command).unwrap();
    // The first may still find the pipe open; whoever comes later must not.
    for id in 1..=5 {
        session.call(&format!("{id}"), "safe", "{}").unwrap();
        session.send(&format!(r#"{{"jsonrpc":"2.0","id":"list {id}","method":"tools/list"}}"#)).unwrap();
        if session.answer_within(&format!("\"list {id}\""), Duration::from_secs(3)).is_ok() {
            let answer = session.answer(&format!("{id}")).unwrap();
            assert!(is_refusal(&answer), "{answer:?}");
            return;
        }
    }
    panic!("no request was ever answered: {}", session.out.text());
}
