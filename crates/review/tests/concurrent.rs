//! Limits on calls under way, replayed: how long each call counts.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::ops::ControlFlow;
use std::time::Duration;

use callgate_history::History;
use callgate_journal::Outcome;
use callgate_policy::{AsWritten, Policy};
use callgate_review::{ReplayedRow, Ruling, judge_again};
use common::{SERVER, World};
use proptest::prelude::*;

const OPEN: &str = r#"{ "version": "1", "default": "allow" }"#;
const CLOSED: &str = r#"{ "version": "1", "default": "deny" }"#;

fn at_once(max: usize) -> Policy {
    let limit = format!(r#"{{ "counter": "one", "kind": "concurrent", "max": {max}, "scope": "server" }}"#);
    let text = format!(r#"{{ "version": "1", "default": "allow", "all_tools": {{ "limits": [{limit}] }} }}"#);
    Policy::parse(&text).unwrap()
}

/// Which calls pass, in the order of time.
fn passes(history: &History, policy: &Policy) -> Vec<bool> {
    let mut passes = Vec::new();
    judge_again(history, policy, SERVER, 0, &AsWritten, |row| {
        if let ReplayedRow::Judged(judged) = row {
            passes.push(judged.ruling == Ruling::Passed);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    passes
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call that the rules of then let through, or refuse.
    Call(usize, bool),
    /// The server answers the oldest open call of a session.
    Answer(usize),
    Restart(usize),
    Wait(u64),
}

/// One call of the model: when it began, and when it was over, as far as anybody could see.
struct Modelled {
    session: usize,
    from: u64,
    to: Option<u64>,
}

/// Plays the steps in a real home and in a model that knows nothing but times.
fn play(steps: &[Step], max: usize) -> (Vec<bool>, Vec<bool>) {
    let (open, closed) = (Policy::parse(OPEN).unwrap(), Policy::parse(CLOSED).unwrap());
    let mut world = World::new();
    for client in ["claude", "cursor"] {
        world.session(client);
    }
    let (mut now, mut calls) = (0, Vec::<Modelled>::new());
    for step in steps {
        match *step {
            Step::Call(session, allowed) => {
                world.tool(session, if allowed { &open } else { &closed }, "t", "{}");
                let to = (!allowed).then_some(now);
                calls.push(Modelled { session, from: now, to });
            }
            Step::Answer(session) => {
                world.answer(session, 0, Outcome::Ok);
                let open = calls.iter_mut().find(|call| call.session == session && call.to.is_none());
                open.into_iter().for_each(|call| call.to = Some(now));
            }
            Step::Restart(session) => {
                world.restart(session);
                let left = calls.iter_mut().filter(|call| call.session == session && call.to.is_none());
                left.for_each(|call| call.to = Some(now));
            }
            Step::Wait(ms) => {
                world.advance(Duration::from_millis(ms));
                now += ms;
            }
        }
        world.advance(Duration::from_millis(1));
        now += 1;
    }
    let mut running: Vec<Option<u64>> = Vec::new();
    let expected = calls.iter().map(|call| {
        running.retain(|to| to.is_none_or(|to| to > call.from));
        let passes = running.len() < max;
        if passes {
            running.push(call.to);
        }
        passes
    });
    let expected = expected.collect();
    (passes(&world.history(), &at_once(max)), expected)
}

#[test]
fn a_call_that_was_refused_then_occupies_no_place_of_calls_under_way() {
    use Step::{Answer, Call, Wait};
    // One call that was denied, then three of a millisecond each, a second apart.
    let mut steps = vec![Call(0, false), Wait(1_000)];
    for _ in 0..3 {
        steps.extend([Call(0, true), Answer(0), Wait(1_000)]);
    }
    let (found, expected) = play(&steps, 1);
    assert_eq!(found, [true; 4]);
    assert_eq!(found, expected);
}

#[test]
fn how_long_a_call_counts_as_under_way() {
    use Step::{Answer, Call, Restart, Wait};
    let cases: &[(&str, &[Step], &[bool])] = &[
        ("two at once", &[Call(0, true), Call(0, true), Answer(0)], &[true, false]),
        ("one after the other", &[Call(0, true), Answer(0), Call(0, true)], &[true, true]),
        ("never answered, session goes on", &[Call(0, true), Wait(90_000), Call(1, true)], &[true, false]),
        ("never answered, session over", &[Call(0, true), Restart(0), Call(1, true)], &[true, true]),
        ("another session's end frees nothing", &[Call(0, true), Restart(1), Call(1, true)], &[true, false]),
        (
            "refused then, beside one that runs",
            &[Call(0, true), Call(1, false), Answer(0), Call(1, true)],
            &[true, false, true],
        ),
        ("refused then, twice in a row", &[Call(0, false), Call(1, false)], &[true, true]),
    ];
    for (name, steps, expected) in cases {
        let (found, modelled) = play(steps, 1);
        assert_eq!(found, *expected, "{name}");
        assert_eq!(modelled, *expected, "the model: {name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn as_many_run_at_once_as_a_model_of_times_says(
        max in 1..4usize,
        steps in prop::collection::vec(prop_oneof![
            5 => (0..2usize, prop::bool::weighted(0.7)).prop_map(|(session, allowed)| Step::Call(session, allowed)),
            3 => (0..2usize).prop_map(Step::Answer),
            1 => (0..2usize).prop_map(Step::Restart),
            2 => (0..5_000u64).prop_map(Step::Wait),
        ], 1..60),
    ) {
        let (found, expected) = play(&steps, max);
        prop_assert_eq!(found, expected);
    }
}
