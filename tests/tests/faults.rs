//! The gate stopped at every labelled point, flooded, ignored and shouted at.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use callgate_home::failpoint;
use callgate_tests::gate::{Bench, DENY_POLICY, Gate, OPEN_POLICY};
use callgate_tests::history::{self, Row};
use callgate_tests::json::{Dialect, Json};
use callgate_tests::oracle::client_messages;
use callgate_tests::processes::{eventually, resident};
use callgate_tests::session::{PATIENCE, Session, call_line, is_refusal};

/// The marks (`args.n`) of the calls that the server received.
fn marks_at_server(bench: &Bench) -> Vec<String> {
    let lines = bench.server_lines();
    let calls = lines.iter().filter_map(|line| Json::parse(line, Dialect::Strict));
    calls.filter_map(|call| Some(call.at(&["params", "arguments", "n"])?.to_text())).collect()
}

fn rows_by_mark(rows: &[Row]) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for mark in rows.iter().filter_map(|row| row.arg("n")) {
        *count.entry(mark).or_default() += 1;
    }
    count
}

/// Every received call is in the history, and nothing is there twice.
fn assert_recorded_once(bench: &Bench, context: &str) {
    let rows = history::rows(bench).unwrap();
    let recorded = rows_by_mark(&rows);
    for mark in marks_at_server(bench) {
        assert_eq!(
            recorded.get(&mark),
            Some(&1),
            "{context}: call {mark} reached the server; the history has {recorded:?}"
        );
    }
    assert!(recorded.values().all(|count| *count == 1), "{context}: recorded twice: {recorded:?}");
}

/// A session with permitted, capped and denied calls that ends in good order if nothing stops it. The pipes may break
/// at any moment.
fn busy_session(bench: &Bench, point: Option<&str>, first: usize) -> std::process::ExitStatus {
    let server = bench.fake_server("", &[]).unwrap();
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    if let Some(point) = point {
        command.env(failpoint::VARIABLE, point);
    }
    let mut session = Session::start(command).unwrap();
    for n in first..first + 6 {
        let tool = ["safe", "slow", "danger"][n % 3];
        let alive = session.call(&n.to_string(), tool, &format!(r#"{{"n":{n}}}"#)).is_ok();
        if !alive || session.answer(&n.to_string()).is_err() {
            break;
        }
    }
    session.close_input();
    session.ended(PATIENCE).unwrap()
}

#[test]
fn stopped_at_any_point_every_received_call_is_on_record_once() {
    // All points, then the verdict: one bad point must not hide the others.
    let mut unreached = Vec::new();
    for point in failpoint::POINTS {
        let bench = Bench::new(DENY_POLICY).unwrap();
        let status = busy_session(&bench, Some(point), 1);
        if status.signal() != Some(9) {
            unreached.push(*point);
        }
        assert_recorded_once(&bench, point);
        // Whoever comes next takes over what was left, and adds nothing twice.
        assert!(busy_session(&bench, None, 101).success(), "{point}: the next session");
        assert_recorded_once(&bench, &format!("{point}, after the next session"));
    }
    assert!(
        unreached.is_empty(),
        "points that no session came by (is the binary built with `failpoints`?): {unreached:?}"
    );
}

#[test]
fn stopped_at_any_point_a_cap_is_never_exceeded() {
    for point in
        failpoint::POINTS.iter().filter(|point| point.starts_with("admit.") || point.starts_with("commit."))
    {
        let bench = Bench::new(DENY_POLICY).unwrap();
        for start in [Some(*point), Some(*point), None] {
            let server = bench.fake_server("", &[]).unwrap();
            let mut command = bench.command(Gate::Callgate, &server).unwrap();
            command.envs(start.map(|point| (failpoint::VARIABLE, point)));
            let mut session = Session::start(command).unwrap();
            for n in 1..=3 {
                if session.call(&n.to_string(), "slow", "{}").is_err()
                    || session.answer(&n.to_string()).is_err()
                {
                    break;
                }
            }
        }
        let ran = bench.server_lines().iter().filter(|line| line.contains("\"slow\"")).count();
        assert!(ran <= 2, "{point}: slow ran {ran} times");
    }
}

#[test]
fn kill_in_the_middle_of_heavy_traffic_loses_no_record() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let mut input = session.take_input().unwrap();
    let writer = std::thread::spawn(move || {
        for n in 1..100_000 {
            let line = call_line(&n.to_string(), "safe", &format!(r#"{{"n":{n}}}"#)) + "\n";
            if std::io::Write::write_all(&mut input, line.as_bytes()).is_err() {
                return;
            }
        }
    });
    eventually("some hundred calls", PATIENCE, || (bench.server_got().len() > 60_000).then_some(()));
    session.signal(rustix::process::Signal::KILL);
    session.ended(PATIENCE).unwrap();
    writer.join().unwrap();
    assert_recorded_once(&bench, "killed under load");
}

#[test]
fn flood_from_the_server_keeps_memory_small_and_loses_nothing() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.call("1", "flood", r#"{"lines":100000,"bytes":200}"#).unwrap();
    session.answer_within("1", PATIENCE * 2).unwrap();
    assert_eq!(session.out.text().lines().count(), 100_001);
    let resident = resident(session.pid()).unwrap();
    assert!(resident < 40 << 20, "the shim holds {resident} bytes");
}

#[test]
fn client_that_stops_reading_slows_the_server_down_instead_of_filling_memory() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let (mut session, stdout) =
        Session::start_unread(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
    session.call("1", "flood", r#"{"lines":120000,"bytes":500}"#).unwrap();
    let most = highest_memory(&session, Duration::from_secs(3));
    assert!(most < 40 << 20, "the shim held {most} bytes");
    session.start_reading(stdout);
    session.answer_within("1", PATIENCE * 2).unwrap();
}

#[test]
fn client_that_never_reads_while_calls_are_denied_does_not_hang_the_session() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let (mut session, stdout) =
        Session::start_unread(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
    let mut input = session.take_input().unwrap();
    let writer = std::thread::spawn(move || {
        for n in 1..=2_000 {
            let line = call_line(&n.to_string(), "danger", "{}") + "\n";
            std::io::Write::write_all(&mut input, line.as_bytes()).unwrap();
        }
        input
    });
    let most = highest_memory(&session, Duration::from_secs(2));
    assert!(most < 40 << 20, "the shim held {most} bytes");
    session.start_reading(stdout);
    drop(writer.join().unwrap());
    session.ended(PATIENCE).unwrap();
    session.out.wait_closed(PATIENCE).unwrap();
    let (messages, wrong) = client_messages(&session.out.bytes());
    assert_eq!((messages.len(), wrong), (2_000, vec![]));
    assert_eq!(bench.server_got(), b"");
}

/// Watches the memory for a while; this is a measurement over time, not a wait for something.
fn highest_memory(session: &Session, during: Duration) -> u64 {
    let end = std::time::Instant::now() + during;
    let mut most = 0;
    while std::time::Instant::now() < end {
        most = most.max(resident(session.pid()).unwrap_or(0));
        std::thread::park_timeout(Duration::from_millis(20));
    }
    most
}

#[test]
fn noise_on_stdout_is_dropped_and_the_session_lives_on() {
    let noise = "on safe\nsend starting…\nsend {\"half\":\nsend ‹FF FE›\nsend ‹5000×noise ›\nraw \nanswer\n";
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session(noise, &[]).unwrap();
    for n in 1..=50 {
        session.ask(&n.to_string(), "safe", "{}").unwrap();
    }
    let (messages, wrong) = client_messages(&session.out.bytes());
    assert_eq!((messages.len(), wrong), (50, vec![]));
}

#[test]
fn silent_server_holds_up_nobody_else() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session("on safe 1\nhold\n", &[]).unwrap();
    session.call("1", "safe", "{}").unwrap();
    assert!(is_refusal(&session.ask("2", "danger", "{}").unwrap()));
    session.ask("3", "safe", "{}").unwrap();
    session.ask("4", "slow", "{}").unwrap();
}

#[test]
fn answer_longer_than_the_gate_can_judge_becomes_an_error() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    let answer = session.ask("1", "big", r#"{"bytes":80000000}"#).unwrap();
    assert!(is_refusal(&answer), "{:.300}", answer.to_text());
    session.ask("2", "safe", "{}").unwrap();
}
