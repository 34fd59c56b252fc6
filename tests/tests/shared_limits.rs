//! One cap, many gates: restarts, several shims at once, exact numbers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{Bench, DENY_POLICY, Gate};
use callgate_tests::session::{Session, is_refusal};

const MAX: usize = 25;

fn shared_policy() -> String {
    format!(
        r#"{{ "version": "1", "default": "deny", "tools": {{ "slow": {{ "limits": [
            {{ "counter": "all", "window": "hour", "max": {MAX}, "scope": "server" }} ] }} }} }}"#
    )
}

/// Calls `slow` and says whether it was admitted.
fn admitted(session: &mut Session, id: usize) -> bool {
    !is_refusal(&session.ask(&id.to_string(), "slow", "{}").unwrap())
}

#[test]
fn k14_a_restart_gives_nothing_back() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let outcomes: Vec<_> = (0..4)
        .map(|_| {
            let mut session = bench.session("", &[]).unwrap();
            let outcome = admitted(&mut session, 1);
            session.finish().unwrap();
            outcome
        })
        .collect();
    assert_eq!(outcomes, [true, true, false, false]);
}

#[test]
fn k15_two_gates_share_one_cap() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut first = bench.session("", &[]).unwrap();
    let mut second = bench.session("", &[]).unwrap();
    let outcomes = [
        admitted(&mut first, 1),
        admitted(&mut second, 1),
        admitted(&mut first, 2),
        admitted(&mut second, 2),
    ];
    assert_eq!(outcomes, [true, true, false, false]);
}

#[test]
fn ten_gates_at_once_admit_exactly_the_maximum() {
    let bench = Bench::new(&shared_policy()).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let total: usize = std::thread::scope(|scope| {
        let gates: Vec<_> = (0..10)
            .map(|_| {
                scope.spawn(|| {
                    let mut session =
                        Session::start(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
                    let count = (0..10).filter(|id| admitted(&mut session, *id)).count();
                    session.finish().unwrap();
                    count
                })
            })
            .collect();
        gates.into_iter().map(|gate| gate.join().unwrap()).sum()
    });
    assert_eq!(total, MAX);
    let ran = bench.server_lines().iter().filter(|line| line.contains("\"slow\"")).count();
    assert_eq!(ran, MAX, "what the servers received");
    let rows = callgate_tests::history::rows(&bench).unwrap();
    assert_eq!(rows.iter().filter(|row| row.is_allowed()).count(), MAX);
    assert_eq!(rows.iter().filter(|row| row.decision() == "capped").count(), 100 - MAX);
}

#[test]
fn thirty_gates_starting_at_once_all_serve() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..30 {
            scope.spawn(|| {
                let mut session = Session::start(bench.command(Gate::Callgate, &server).unwrap()).unwrap();
                let answer = session.ask("1", "safe", "{}").unwrap();
                assert!(!is_refusal(&answer), "{}", answer.to_text());
            });
        }
    });
}
