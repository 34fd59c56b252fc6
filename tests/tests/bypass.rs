//! Every case of the bypass corpus, through the real gate.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_tests::corpus::{Case, client_cases, server_cases};
use callgate_tests::gate::Gate;
use callgate_tests::runner::run;

/// Enough to keep two cores busy while cases wait for processes to start and end.
const AT_ONCE: usize = 6;

/// Runs the cases side by side; gives the violations of each that has any, in order.
fn violations(gate: Gate, cases: &[Case]) -> Vec<(String, Vec<String>)> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wrong = run(gate, case);
                    if !wrong.is_empty() {
                        found.lock().expect("no case panics").push((case.id.clone(), wrong));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no case panics");
    found.sort();
    found
}

fn assert_all_hold(cases: &[Case]) {
    let failed = violations(Gate::Callgate, cases);
    let report: Vec<_> = failed
        .iter()
        .map(|(id, wrong)| {
            let title = cases.iter().find(|case| case.id == *id).map_or("", |case| &case.title);
            format!("{id} ({title})\n    {}", wrong.join("\n").replace('\n', "\n    "))
        })
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} cases do not hold:\n{}",
        failed.len(),
        cases.len(),
        report.join("\n")
    );
}

/// `CASE=b01,f07` in the environment runs only those.
fn selected(cases: Vec<Case>) -> Vec<Case> {
    match std::env::var("CASE") {
        Ok(ids) => cases.into_iter().filter(|case| ids.split(',').any(|id| id == case.id)).collect(),
        Err(_) => cases,
    }
}

#[test]
fn no_bytes_of_a_client_smuggle_a_forbidden_call() {
    assert_all_hold(&selected(client_cases()));
}

#[test]
fn no_bytes_of_a_server_confuse_the_client() {
    assert_all_hold(&selected(server_cases()));
}

/// The control: where nothing is judged, the oracle must see it. These are the cases that ask no more of a gate than
/// not to forward, so that each of them convicts a bare pipe.
#[test]
fn oracle_catches_a_bare_pipe() {
    let cases: Vec<_> = client_cases().into_iter().filter(|case| !case.huge).collect();
    let caught = violations(Gate::BarePipe, &cases);
    let smuggled = caught.iter().filter(|(_, wrong)| wrong.iter().any(|text| text.starts_with("I1"))).count();
    let missed: Vec<_> =
        MUST_CONVICT.iter().filter(|id| !caught.iter().any(|(caught, _)| caught == *id)).collect();
    assert!(missed.is_empty(), "the oracle is blind to {missed:?}");
    assert!(
        smuggled >= 130,
        "only {smuggled} of {} cases showed a forbidden call behind a bare pipe",
        cases.len()
    );
}

/// One or more of each kind of reader difference.
const MUST_CONVICT: [&str; 24] = [
    "b01", "b02", "b04", "b08", "b11", "b18", "c04", "d03", "d06", "d10", "d14", "e01", "e08", "e20", "e28",
    "f01", "f07", "f12", "f19", "f30", "f36", "f39", "g36", "i04",
];
