//! Races around a decision, and a property over a whole gate: nothing runs that nobody approved, and every call has one answer.

use std::collections::BTreeMap;

use callgate_tests::terminal::at_terminal;
use proptest::prelude::*;

use super::*;

const DENIED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "deny", "reason": "not today" } } }"#;

impl World {
    fn cancel(&mut self, id: u32) {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        self.session.send(&line).unwrap();
    }

    /// How many answers the client has got to this request.
    fn answers(&self, id: u32) -> usize {
        let text = self.session.out.text();
        let its = |line: &&str| {
            line.contains(&format!(r#""id":{id},"#)) || line.contains(&format!(r#""id":{id}}}"#))
        };
        text.lines().filter(its).count()
    }

    fn state(&self, card: &Approval) -> State {
        self.store().get(&now(), card.id).unwrap().unwrap().state
    }
}

#[test]
fn a_no_that_races_the_clients_cancellation_leaves_no_card_no_run_and_one_answer_at_most() {
    let mut world = World::new(ASKED);
    for id in 1..=8_u32 {
        world.call(id, &format!("u{id}"));
        let card = world.card_of(&format!("u{id}"));
        let (home, deny) = (world.home.clone(), Verdict::Deny(None));
        let denied = std::thread::scope(|scope| {
            let denying = scope.spawn(move || {
                let denied = Approvals::new(&home).decide(&now(), card.id, &deny, Decider::Window).is_ok();
                decider::ring(&home);
                denied
            });
            world.cancel(id);
            denying.join().unwrap()
        });
        world.cards(0);
        let state = if denied { State::Denied } else { State::Withdrawn };
        assert_eq!(world.state(&card), state, "{id}");
    }
    world.ping();
    assert!((1..=8).all(|id| world.answers(id) <= 1));
    assert_eq!(world.runs(), 0);
}

#[test]
fn a_no_that_races_the_end_of_the_clients_time_is_heard_now_or_when_the_call_comes_again() {
    let mut world = World::new(BRIEF);
    for id in 1..=5_u32 {
        let (url, again) = (format!("u{id}"), id + 100);
        world.call(id, &url);
        let card = world.card_of(&url);
        let end = card.held_until_ms.unwrap();
        eventually("the end of its time", SOON, || (now().wall_ms >= end - 3 + i64::from(id)).then_some(()));
        world.decide(&card, &Verdict::Deny(Some("no".to_owned())));
        if !world.said(id).contains("the user said no") {
            assert!(
                world.said(id).contains("Call again with exactly the same arguments"),
                "{}",
                world.said(id)
            );
            world.call(again, &url);
            assert!(world.said(again).contains("the user said no: no"), "{}", world.said(again));
        }
        assert_eq!((world.answers(id), world.state(&card)), (1, State::Denied));
    }
    assert_eq!(world.runs(), 0);
}

#[test]
fn a_yes_outlives_the_decider_that_gave_it() {
    let mut world = World::with(BRIEF, false);
    let mut follower = world.bench.callgate(["approvals", "--follow"]).unwrap();
    let mut follower = follower.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("somebody to decide", SOON, || decider::is_present(&world.home).then_some(()));
    world.call(1, "a");
    assert!(world.said(1).contains("Call again with exactly the same arguments"));
    let id = world.card_of("a").id.to_string();
    let approve = world.bench.callgate(["approve", &id]).unwrap();
    assert!(at_terminal(approve, "approve").unwrap().0.success());
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert!(!decider::is_present(&world.home));
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"));
    world.call(3, "a");
    assert!(world.said(3).contains("the user is away"));
    assert_eq!(world.runs(), 1);
}

#[test]
fn of_the_command_line_and_the_window_at_once_one_decides() {
    let mut world = World::new(ASKED);
    let mut ran = 0;
    for id in 1..=5_u32 {
        let url = format!("u{id}");
        world.call(id, &url);
        let card = world.card_of(&url);
        let mut deny = world.bench.callgate(["deny", &card.id.to_string()]).unwrap();
        let mut deny = deny.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The window is this process; now and then it comes first, else the command.
        if id % 2 == 0 {
            eventually("the command decides", SOON, || (world.state(&card) != State::Open).then_some(()));
        }
        let here = world.store().decide(&now(), card.id, &Verdict::Once, Decider::Window);
        decider::ring(&world.home);
        let there = deny.wait().unwrap().success();
        assert_ne!(here.is_ok(), there, "{id}: {here:?}");
        ran += usize::from(here.is_ok());
        let words = if there { "the user said no" } else { "danger ran" };
        assert!(world.said(id).contains(words), "{id}: {}", world.said(id));
    }
    assert_eq!(world.runs(), ran);
}

#[test]
fn arguments_that_change_after_a_late_yes_are_another_question_and_the_yes_waits_for_its_own() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Waiting for the user's approval"));
    let card = world.card_of("a");
    world.decide(&card, &Verdict::Once);
    world.call(2, "b");
    let other = world.card_of("b");
    assert_eq!(other.difference.as_deref(), Some("its arguments are not those that were approved"));
    assert!(world.said(2).contains("Waiting for the user's approval"));
    assert_eq!(world.runs(), 0);
    world.call(3, "a");
    assert!(world.said(3).contains("danger ran"));
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_rule_that_becomes_a_no_between_a_yes_and_its_retry_refuses_the_retry_for_good() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Waiting for the user's approval"));
    world.decide(&world.card_of("a"), &Verdict::Once);
    world.bench.write_policy(DENIED).unwrap();
    for id in 2..=3 {
        world.call(id, "a");
        assert!(world.said(id).contains("not today"));
    }
    assert_eq!(world.runs(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    /// One of a few calls; the same one is a repetition.
    Ask(u8),
    /// On one of the cards that are open.
    Decide(usize, bool),
    /// One of the calls that were made.
    Cancel(usize),
    /// Every call is refused from here on, or asked about again.
    Rules(bool),
    /// The gate is killed, and its client starts another.
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Step::Ask),
        4 => (0..4_usize, any::<bool>()).prop_map(|(which, yes)| Step::Decide(which, yes)),
        2 => (0..8_usize).prop_map(Step::Cancel),
        1 => any::<bool>().prop_map(Step::Rules),
        1 => Just(Step::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 40, ..ProptestConfig::default() })]

    /// Whatever a client, persons and the policy do in whatever order: no more calls reach the server than somebody approved,
    /// and none of them has two answers. What is not cancelled has one when its session ends in order.
    #[test]
    fn no_gate_lets_more_through_than_was_approved_or_answers_twice(steps in prop::collection::vec(step(), 4..16)) {
        let mut world = World::new(ASKED);
        let (mut yeses, mut next) = (0, 0);
        // Of the session that runs: whether each call was cancelled.
        let mut calls: BTreeMap<u32, bool> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Ask(which) => {
                    next += 1;
                    calls.insert(next, false);
                    world.call(next, &format!("u{which}"));
                }
                Step::Decide(which, yes) => {
                    let open = world.open();
                    let Some(card) = open.get(which.min(open.len().saturating_sub(1))) else { continue };
                    let verdict = if yes { Verdict::Once } else { Verdict::Deny(None) };
                    let decided = world.store().decide(&now(), card.id, &verdict, Decider::Window).is_ok();
                    decider::ring(&world.home);
                    yeses += usize::from(yes && decided);
                }
                Step::Cancel(which) => {
                    let Some((id, cancelled)) = calls.iter_mut().nth(which) else { continue };
                    *cancelled = true;
                    world.cancel(*id);
                }
                Step::Rules(deny) => world.bench.write_policy(if deny { DENIED } else { ASKED }).unwrap(),
                Step::Kill => {
                    world.session.signal(rustix::process::Signal::KILL);
                    world.session.ended(SOON).unwrap();
                    prop_assert!(calls.keys().all(|id| world.answers(*id) <= 1));
                    calls.clear();
                    world.session = world.bench.session("", &[]).unwrap();
                    world.ping();
                }
            }
        }
        world.session.close_input();
        world.session.ended(SOON).unwrap();
        for (id, cancelled) in &calls {
            let answers = world.answers(*id);
            prop_assert!(answers == 1 || (*cancelled && answers == 0), "{id}: {answers} answers");
        }
        prop_assert!(world.runs() <= yeses, "{} ran, {yeses} were approved", world.runs());
        prop_assert!(world.open().iter().all(|card| card.held_until_ms.is_none()));
    }
}
