//! Calls that a person decides about: held, let through once, refused, given up, come again. The gate is the real one, and the
//! person decides through the same store as the window and the command line.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[cfg(unix)]
mod races;

use std::process::Stdio;
use std::time::{Duration, Instant};

use callgate_controls::approval::{Approval, Approvals, Decider, GrantScope, NotDecided, State, Verdict};
use callgate_controls::decider::{self, Presence};
use callgate_controls::patience;
use callgate_home::Home;
use callgate_home::clock::{Clock as _, Moment, SystemClock};
use callgate_tests::gate::{Bench, Gate, callgate_binary};
use callgate_tests::history::{Row, rows};
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, result_text, told};
use callgate_tests::terminal::when_asked;

const SOON: Duration = Duration::from_secs(20);
const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;
const ASKED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "reason": "look twice" } } }"#;
/// The same, with a client that has to have its answer soon.
const BRIEF: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask", "ask": { "hold": "1s" } } } }"#;

/// The same for tools whose definitions may change: else such a call is refused before anybody is asked.
fn unpinned(policy: &str) -> String {
    policy.replacen(r#""version": "1","#, r#""version": "1", "pin": "off","#, 1)
}

/// A gate, its client, and a person who may decide.
struct World {
    bench: Bench,
    session: Session,
    home: Home,
    presence: Option<Presence>,
}

impl World {
    fn new(policy: &str) -> World {
        World::with(policy, true)
    }

    fn with(policy: &str, present: bool) -> World {
        let bench = Bench::new(policy).unwrap();
        let session = bench.session("", &[]).unwrap();
        let home = Home::at(bench.home());
        let mut world = World { bench, session, home, presence: None };
        world.ping();
        world.presence = present.then(|| Presence::announce(&world.home).unwrap());
        world
    }

    /// Waits until there is a card for a call with this argument.
    fn card_of(&self, url: &str) -> Approval {
        let quoted = format!("\"{url}\"");
        let is_its =
            |one: &Approval| one.arguments.as_ref().is_some_and(|arguments| arguments.text.contains(&quoted));
        eventually(&format!("a card for {url}"), SOON, || self.open().into_iter().find(is_its))
    }

    fn call_with_token(&mut self, id: u32, url: &str) {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"danger","arguments":{{"url":"{url}"}},"_meta":{{"progressToken":"t{id}"}}}}}}"#
        );
        self.session.send(&call).unwrap();
    }

    /// What the client heard of the progress of such a call, and after how many lines.
    fn progress(&self, id: u32) -> Vec<(usize, f64)> {
        let token = format!(r#""progressToken":"t{id}""#);
        let text = self.session.out.text();
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(&token));
        let number = |line: &str| {
            let rest = line.split(r#""progress":"#).nth(1).unwrap();
            rest.split([',', '}']).next().unwrap().parse().unwrap()
        };
        lines.map(|(at, line)| (at, number(line))).collect()
    }

    fn ping(&mut self) {
        self.session.send(PING).unwrap();
        self.session.answer_within("99", SOON).unwrap();
    }

    fn store(&self) -> Approvals {
        Approvals::new(&self.home)
    }

    fn open(&self) -> Vec<Approval> {
        self.store().open(&now()).unwrap()
    }

    /// Waits until so many cards are there.
    fn cards(&self, many: usize) -> Vec<Approval> {
        eventually(&format!("{many} open approvals"), SOON, || {
            Some(self.open()).filter(|open| open.len() == many)
        })
    }

    fn decide(&self, approval: &Approval, verdict: &Verdict) {
        self.store().decide(&now(), approval.id, verdict, Decider::Window).unwrap();
        decider::ring(&self.home);
    }

    /// Waits until an equal call has joined a card.
    fn asked(&self, times: u32) -> Approval {
        eventually(&format!("a card that was asked {times} times"), SOON, || {
            self.open().into_iter().find(|one| one.asked == times)
        })
    }

    fn call(&mut self, id: u32, url: &str) {
        self.session.call(&id.to_string(), "danger", &format!(r#"{{"url":"{url}"}}"#)).unwrap();
    }

    fn said(&self, id: u32) -> String {
        let answer = self.session.answer_within(&id.to_string(), SOON).unwrap();
        told(&answer).or_else(|| result_text(&answer)).unwrap().to_owned()
    }

    /// How many calls of the tool got to the server.
    fn runs(&self) -> usize {
        self.bench.server_lines().iter().filter(|line| line.contains(r#""danger""#)).count()
    }

    fn row(&self, nth: usize) -> Row {
        let mut rows = rows(&self.bench).unwrap();
        rows.retain(|row| row.tool() == "danger");
        rows.remove(nth)
    }

    fn text(&self, nth: usize, member: &str) -> String {
        let row = self.row(nth).0;
        row.get(member).and_then(|text| text.as_text()).unwrap_or_default().to_owned()
    }
}

/// What a server wrote that is no message, by what `callgate events` says of it.
fn rows_of_noise(world: &World) -> String {
    let output = world.bench.callgate(["events", "--server", "shell", "--json"]).unwrap().output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn now() -> Moment {
    SystemClock::default().now()
}

#[test]
fn a_held_call_runs_once_after_a_yes_and_everything_else_goes_on_meanwhile() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    assert_eq!((card.tool.as_str(), card.client.as_str()), ("danger", "tester"));
    assert_eq!((card.rule.as_str(), card.reason.as_str()), ("/tools/danger/action", "look twice"));
    assert_eq!(card.arguments.as_ref().unwrap().text, r#"{"url":"a"}"#);
    assert!(card.held_until_ms.is_some());
    world.ping();
    assert!(result_text(&world.session.ask("2", "safe", "{}").unwrap()).unwrap().contains("safe ran"));
    assert_eq!(world.runs(), 0);
    assert_eq!((world.row(0).decision(), world.row(0).outcome()), ("asked", ""));
    world.decide(&card, &Verdict::Once);
    assert!(world.said(1).contains("danger ran"));
    assert_eq!(world.runs(), 1);
    assert_eq!((world.row(0).decision(), world.row(0).outcome()), ("allowed", "ok"));
    assert_eq!(world.text(0, "rule"), format!("(approval {})", card.id));
    assert!(world.text(0, "reason").starts_with("approved in the window after "));
    // The yes is used: the same call is asked about anew.
    world.call(3, "a");
    let again = world.cards(1).remove(0);
    assert_ne!(again.id, card.id);
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_call_that_outlasts_its_client_is_told_to_come_again_and_passes_once_after_a_yes() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert_eq!(
        world.said(1),
        "Callgate: Waiting for the user's approval (\"danger\" needs the user's approval). Call again with exactly the same arguments; do not change them, \
         and do not use another tool instead."
    );
    let card = world.cards(1).remove(0);
    assert_eq!(card.held_until_ms, None);
    assert_eq!((world.row(0).decision(), world.row(0).outcome()), ("asked", "not_sent"));
    world.decide(&card, &Verdict::Once);
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"));
    world.call(3, "a");
    assert!(world.said(3).contains("Waiting for the user's approval"));
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_no_reaches_the_model_with_the_persons_words() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Deny(Some("use the staging site".to_owned())));
    let said = world.said(1);
    assert!(
        said.starts_with("Callgate: the user said no: use the staging site. Do not make this call again"),
        "{said}"
    );
    assert_eq!((world.runs(), world.row(0).decision()), (0, "denied"));
    assert!(world.open().is_empty());
}

#[test]
fn nobody_there_is_said_at_once_and_the_card_stays() {
    let mut world = World::with(ASKED, false);
    world.call(1, "a");
    let said = world.said(1);
    assert!(
        said.starts_with(
            "Callgate: The user's approval is needed, and the user is away (look twice). Stop here"
        ),
        "{said}"
    );
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Once);
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"));
    assert_eq!(world.runs(), 1);
}

#[test]
fn other_arguments_are_another_question_that_says_so() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Once);
    assert!(world.said(1).contains("danger ran"));
    world.call(2, "b");
    let other = world.cards(1).remove(0);
    assert_eq!(other.difference.as_deref(), Some("its arguments are not those that were approved"));
    // An approval of one call lets no other through.
    world.call(3, "c");
    let cards = world.cards(2);
    world.decide(&cards[1], &Verdict::Once);
    assert!(world.said(3).contains("danger ran"));
    assert_eq!(world.cards(1)[0].id, other.id);
    assert_eq!(world.runs(), 2);
}

#[test]
fn equal_calls_are_one_card_and_one_yes_lets_one_of_them_through() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    world.call(2, "a");
    let card = world.asked(2);
    assert_eq!(world.open().len(), 1);
    world.decide(&card, &Verdict::Once);
    let next = eventually("the other one asks anew", SOON, || {
        world.open().into_iter().find(|one| one.id != card.id)
    });
    eventually("one of them runs", SOON, || (world.runs() == 1).then_some(()));
    world.decide(&next, &Verdict::Deny(None));
    let said = [world.said(1), world.said(2)];
    assert_eq!(said.iter().filter(|said| said.contains("danger ran")).count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| said.contains("the user said no")).count(), 1, "{said:?}");
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_call_that_its_client_gives_up_takes_its_card_with_it_and_a_late_yes_does_nothing() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    world.session.send(cancel).unwrap();
    world.cards(0);
    let late = world.store().decide(&now(), card.id, &Verdict::Once, Decider::Window);
    assert!(matches!(late, Err(NotDecided::Already { state: State::Withdrawn, .. })), "{late:?}");
    world.call(2, "a");
    world.cards(1);
    assert_eq!(world.runs(), 0);
    eventually("its row says so", SOON, || (world.row(0).decision() == "stopped").then_some(()));
}

#[test]
fn a_call_held_three_times_is_told_that_the_user_is_away() {
    let mut world = World::new(BRIEF);
    for id in 1..=3 {
        world.call(id, "a");
        assert!(world.said(id).contains("Call again with exactly the same arguments"), "{id}");
    }
    world.call(4, "a");
    assert!(world.said(4).contains("the user is away"));
    let card = world.cards(1).remove(0);
    assert_eq!(card.asked, 4);
    world.decide(&card, &Verdict::Once);
    world.call(5, "a");
    assert!(world.said(5).contains("danger ran"));
}

#[test]
fn a_block_or_a_pause_reaches_a_call_that_is_held_at_once() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    let deny = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "deny", "reason": "not today" } } }"#;
    world.bench.write_policy(deny).unwrap();
    assert!(world.said(1).contains("not today"));
    world.cards(0);
    assert!(world.store().decide(&now(), card.id, &Verdict::Once, Decider::Window).is_err(), "too late");
    assert_eq!((world.runs(), world.row(0).decision()), (0, "denied"));
    world.bench.write_policy(ASKED).unwrap();
    world.call(2, "b");
    world.cards(1);
    assert!(world.bench.callgate(["pause"]).unwrap().output().unwrap().status.success());
    assert!(world.said(2).contains("every call is refused until the user"));
    assert_eq!((world.runs(), world.row(1).decision()), (0, "paused"));
}

#[test]
fn a_yes_counts_under_the_rules_of_the_moment_it_is_used() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Waiting for the user's approval"));
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Once);
    let deny = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "deny", "reason": "not today" } } }"#;
    world.bench.write_policy(deny).unwrap();
    world.call(2, "a");
    assert!(world.said(2).contains("not today"));
    world.bench.write_policy(BRIEF).unwrap();
    world.call(3, "a");
    assert!(world.said(3).contains("danger ran"), "the yes was not used by what was refused");
    assert_eq!(world.runs(), 1);
}

#[test]
fn nobody_is_asked_about_a_call_that_its_limit_would_refuse() {
    let capped = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask",
        "limits": [ { "counter": "d", "window": "hour", "max": 1, "scope": "server" } ] } } }"#;
    let mut world = World::new(capped);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Once);
    assert!(world.said(1).contains("danger ran"));
    world.call(2, "b");
    assert!(world.said(2).contains("the next call can pass in"));
    assert!(world.open().is_empty());
    assert_eq!(world.row(1).decision(), "capped");
}

#[test]
fn a_burst_reaches_the_same_tool_until_it_is_revoked() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Grant(GrantScope::Burst));
    for id in 1..=3 {
        if id > 1 {
            world.call(id, &format!("{id}"));
        }
        assert!(world.said(id).contains("danger ran"), "{id}");
    }
    assert_eq!(world.text(2, "rule"), format!("(approval {})", card.id));
    assert_eq!(world.store().grants(&now()).unwrap()[0].calls_left, GrantScope::Burst.calls() - 3);
    assert!(world.store().revoke(&now(), card.id).unwrap());
    world.call(4, "4");
    world.cards(1);
    assert_eq!(world.runs(), 3);
}

#[test]
fn a_burst_reaches_the_tools_that_the_person_ticked() {
    let both =
        ASKED.replace(r#""danger""#, r#""wipe": { "action": "ask" }, "slow": { "action": "ask" }, "danger""#);
    let mut world = World::new(&both);
    world.call(1, "a");
    let card = world.card_of("a");
    world.session.call("2", "wipe", r#"{"url":"b"}"#).unwrap();
    world.card_of("b");
    world.decide(&card, &Verdict::Burst(vec!["wipe".to_owned()]));
    assert!(world.said(1).contains("danger ran"));
    assert!(world.said(2).contains("wipe ran"), "it waited already");
    world.session.call("3", "wipe", r#"{"url":"c"}"#).unwrap();
    assert!(world.said(3).contains("wipe ran"));
    world.session.call("4", "slow", r#"{"url":"d"}"#).unwrap();
    assert_eq!(world.card_of("d").tool, "slow");
}

#[test]
fn a_yes_for_a_conversation_reaches_another_gate_of_it_and_no_other_conversation() {
    let bench = Bench::new(ASKED).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let of = |conversation: &str| {
        let mut gate = bench.command(Gate::Callgate, &server).unwrap();
        gate.env("CLAUDE_CODE_SESSION_ID", conversation);
        let mut session = Session::start(gate).unwrap();
        session.send(PING).unwrap();
        session.answer_within("99", SOON).unwrap();
        session
    };
    let (session, mut again, mut other) = (of("c1"), of("c1"), of("c2"));
    let home = Home::at(bench.home());
    let presence = Some(Presence::announce(&home).unwrap());
    let mut world = World { bench, session, home, presence };
    world.call(1, "a");
    let card = world.card_of("a");
    assert!(card.in_conversation);
    world.decide(&card, &Verdict::Grant(GrantScope::Conversation));
    assert!(world.said(1).contains("danger ran"));
    again.call("1", "danger", r#"{"url":"b"}"#).unwrap();
    let answer = again.answer_within("1", SOON).unwrap();
    assert!(result_text(&answer).unwrap().contains("danger ran"));
    other.call("1", "danger", r#"{"url":"c"}"#).unwrap();
    world.card_of("c");
    assert_eq!(world.runs(), 2);
}

#[test]
fn what_one_session_was_granted_another_does_not_have() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Grant(GrantScope::Session));
    assert!(world.said(1).contains("danger ran"));
    let mut other = world.bench.session("", &[]).unwrap();
    other.call("1", "danger", r#"{"url":"b"}"#).unwrap();
    assert_ne!(world.cards(1)[0].session, card.session);
}

#[test]
fn a_yes_for_more_reaches_calls_that_wait_already_and_takes_their_cards() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.call(2, "b");
    world.cards(2);
    world.decide(&card, &Verdict::Grant(GrantScope::Burst));
    assert!(world.said(1).contains("danger ran"));
    assert!(world.said(2).contains("danger ran"));
    world.cards(0);
    assert_eq!(world.runs(), 2);
}

#[test]
fn a_grant_does_not_reach_a_tool_that_is_described_otherwise_and_its_call_is_answered_in_time() {
    let list = |words: &str| {
        format!(
            r#"send {{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{{"name":"danger","description":"{words}"}}]}}}}"#
        )
    };
    let bench = Bench::new(&unpinned(BRIEF)).unwrap();
    let script = format!("on tools/list 1\n{}\non tools/list 2\n{}\n", list("harmless"), list("not so"));
    let session = bench.session(&script, &[]).unwrap();
    let home = Home::at(bench.home());
    let mut world = World { bench, session, home, presence: None };
    world.ping();
    world.presence = Some(Presence::announce(&world.home).unwrap());
    world.session.send(r#"{"jsonrpc":"2.0","id":50,"method":"tools/list"}"#).unwrap();
    world.session.answer("50").unwrap();
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Grant(GrantScope::Session));
    assert!(world.said(1).contains("danger ran"));
    world.session.send(r#"{"jsonrpc":"2.0","id":51,"method":"tools/list"}"#).unwrap();
    world.session.answer("51").unwrap();
    // The list is read beside the calls: those that come before it was are still granted.
    let mut answers = (2..200).map(|id| {
        world.call(id, &id.to_string());
        world.said(id)
    });
    let refused = answers.find(|said| !said.contains("danger ran")).unwrap();
    assert!(refused.contains("Waiting for the user's approval"), "{refused}");
    assert_eq!(world.cards(1)[0].asked, 1, "asked about once, not again and again");
}

#[test]
fn a_no_after_the_client_stopped_waiting_is_heard_when_the_call_comes_again() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Call again with exactly the same arguments"));
    let card = world.cards(1).remove(0);
    world.decide(&card, &Verdict::Deny(Some("not this site".to_owned())));
    world.call(2, "a");
    assert!(world.said(2).contains("the user said no: not this site"));
    assert_eq!(world.runs(), 0);
}

#[test]
fn a_tool_that_is_described_otherwise_while_it_is_held_is_asked_about_anew() {
    let list = |words: &str| {
        format!(
            r#"send {{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{{"name":"danger","description":"{words}"}}]}}}}"#
        )
    };
    let bench = Bench::new(&unpinned(ASKED)).unwrap();
    let script = format!("on tools/list 1\n{}\non tools/list 2\n{}\n", list("harmless"), list("not so"));
    let session = bench.session(&script, &[]).unwrap();
    let home = Home::at(bench.home());
    let mut world = World { bench, session, home, presence: None };
    world.ping();
    world.presence = Some(Presence::announce(&world.home).unwrap());
    let listing = |world: &mut World, id: u32| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        world.session.send(&line).unwrap();
        world.session.answer(&id.to_string()).unwrap();
    };
    listing(&mut world, 50);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    listing(&mut world, 51);
    // The list is read beside the calls: the next question is put when it was.
    let other = eventually("a question about the other definition", SOON, || {
        world.call(2, "b");
        let open = world.open();
        open.into_iter().find(|one| one.arguments.as_ref().is_some_and(|args| args.text.contains("\"b\"")))
    });
    world.decide(&card, &Verdict::Once);
    let again = eventually("the held call asks anew", SOON, || {
        world.open().into_iter().find(|one| ![card.id, other.id].contains(&one.id))
    });
    assert_eq!(again.difference.as_deref(), Some("the server describes this tool otherwise than before"));
    assert_eq!(world.runs(), 0);
}

#[test]
fn a_client_that_leaves_has_its_answer_and_takes_its_card_with_it() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    world.session.close_input();
    assert!(world.said(1).contains("Waiting for the user's approval"));
    world.session.ended(SOON).unwrap();
    assert!(world.open().is_empty());
    assert!(world.store().decide(&now(), card.id, &Verdict::Once, Decider::Cli).is_err());
    assert_eq!((world.row(0).decision(), world.row(0).outcome(), world.runs()), ("asked", "not_sent", 0));
}

#[test]
fn of_ten_deciders_at_once_one_decides_and_the_call_runs_once() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    let decided: usize = std::thread::scope(|scope| {
        let deciders: Vec<_> = (0..10)
            .map(|_| {
                let (home, id) = (world.home.clone(), card.id);
                scope.spawn(move || {
                    Approvals::new(&home).decide(&now(), id, &Verdict::Once, Decider::Window).is_ok()
                })
            })
            .collect();
        deciders.into_iter().map(|one| usize::from(one.join().unwrap())).sum()
    });
    decider::ring(&world.home);
    assert_eq!(decided, 1);
    assert!(world.said(1).contains("danger ran"));
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_client_that_gave_a_token_hears_that_its_call_waits() {
    let mut world = World::new(ASKED);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","arguments":{},"_meta":{"progressToken":"t1"}}}"#;
    world.session.send(call).unwrap();
    let line = world.session.line_with("notifications/progress").unwrap();
    assert!(
        line.contains(r#""progressToken":"t1""#) && line.contains("Waiting for your approval in Callgate"),
        "{line}"
    );
}

#[test]
fn a_server_that_was_stopped_meanwhile_gets_nothing_and_the_yes_is_not_lost() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    assert!(world.bench.callgate(["stop", "corpus"]).unwrap().output().unwrap().status.success());
    world.decide(&card, &Verdict::Once);
    let said = world.said(1);
    assert!(said.contains("stopped"), "{said}");
    assert_eq!((world.runs(), world.row(0).decision()), (0, "stopped"));
    let command = world.bench.callgate(["start", "corpus"]).unwrap();
    assert!(when_asked(command, "Type", "start").unwrap().0.success());
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"), "the yes is still there");
}

#[test]
fn progress_of_a_held_call_grows_and_stops_with_its_answer() {
    let mut world = World::new(ASKED);
    world.call_with_token(1, "a");
    world.call_with_token(2, "b");
    let card = world.card_of("a");
    eventually("three signs of life", SOON, || (world.progress(1).len() >= 3).then_some(()));
    world.decide(&card, &Verdict::Once);
    assert!(world.said(1).contains("danger ran"));
    let heard = world.progress(1);
    assert!(heard.windows(2).all(|two| two[0].1 < two[1].1), "{heard:?}");
    let text = world.session.out.text();
    let answered = text.lines().position(|line| line.contains("danger ran")).unwrap();
    // The other call lives on, and its client hears so.
    let other = world.progress(2).len();
    eventually("another sign of life", SOON, || (world.progress(2).len() > other).then_some(()));
    assert!(world.progress(1).iter().all(|(at, _)| *at < answered), "nothing after the answer");
}

#[test]
fn three_different_calls_in_a_row_are_each_answered_before_the_clients_clock() {
    let mut world = World::new(BRIEF);
    for (id, url) in [(1, "a"), (2, "b"), (3, "c")] {
        let sent = Instant::now();
        world.call(id, url);
        assert!(world.said(id).contains("Waiting for the user's approval"));
        let took = sent.elapsed();
        assert!(took >= Duration::from_secs(1), "held for {took:?}");
        assert!(took < Duration::from_secs(10), "a client that waits for 10 s has its answer after {took:?}");
    }
    assert_eq!(world.cards(3).iter().filter(|card| card.held_until_ms.is_some()).count(), 0);
}

#[test]
fn a_decider_that_is_killed_leaves_nobody_to_wait_for_and_the_card_open() {
    let mut world = World::with(ASKED, false);
    let mut follower = world.bench.callgate(["approvals", "--follow"]).unwrap();
    let mut follower = follower.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("somebody to decide", SOON, || decider::is_present(&world.home).then_some(()));
    world.call(1, "a");
    let card = world.card_of("a");
    assert!(card.held_until_ms.is_some());
    follower.kill().unwrap();
    follower.wait().unwrap();
    assert!(world.said(1).contains("the user is away"));
    let card = world.store().get(&now(), card.id).unwrap().unwrap();
    assert_eq!((card.state, card.held_until_ms), (State::Open, None));
    world.decide(&card, &Verdict::Once);
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"));
    assert_eq!(world.runs(), 1);
}

#[cfg(unix)]
#[test]
fn a_gate_that_is_killed_while_it_holds_a_call_takes_its_card_with_it_and_a_late_yes_does_nothing() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.card_of("a");
    world.session.signal(rustix::process::Signal::KILL);
    world.session.ended(SOON).unwrap();
    world.cards(0);
    let late = world.store().decide(&now(), card.id, &Verdict::Once, Decider::Window);
    assert!(matches!(late, Err(NotDecided::Already { state: State::Withdrawn, .. })), "{late:?}");
    let card = world.store().get(&now(), card.id).unwrap().unwrap();
    assert_eq!((card.state, card.held_until_ms, card.arguments), (State::Withdrawn, None, None));
    // Its client starts the server anew, and the agent calls again: that is asked about.
    world.session = world.bench.session("", &[]).unwrap();
    world.call(2, "a");
    assert_ne!(world.card_of("a").id, card.id);
    assert_eq!(world.runs(), 0);
}

#[cfg(unix)]
#[test]
fn the_user_is_said_to_be_away_after_three_rounds_though_a_gate_was_killed_in_one() {
    let mut world = World::new(BRIEF);
    let mut other = world.bench.session("", &[]).unwrap();
    world.call(1, "a");
    other.call("1", "danger", r#"{"url":"a"}"#).unwrap();
    world.asked(2);
    other.signal(rustix::process::Signal::KILL);
    other.ended(SOON).unwrap();
    for id in 1..=3 {
        if id > 1 {
            world.call(id, "a");
        }
        assert!(world.said(id).contains("Call again with exactly the same arguments"), "{id}");
    }
    world.call(4, "a");
    assert!(world.said(4).contains("the user is away"));
}

#[test]
fn of_ten_gates_at_once_one_has_the_yes_and_the_call_runs_once() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Waiting for the user's approval"));
    let mut gates: Vec<Session> = (0..10).map(|_| world.bench.session("", &[]).unwrap()).collect();
    for gate in &mut gates {
        gate.send(PING).unwrap();
        gate.answer_within("99", SOON).unwrap();
    }
    world.decide(&world.card_of("a"), &Verdict::Once);
    for gate in &mut gates {
        gate.call("1", "danger", r#"{"url":"a"}"#).unwrap();
    }
    let said: Vec<String> = gates
        .iter()
        .map(|gate| {
            let answer = gate.answer_within("1", SOON).unwrap();
            told(&answer).or_else(|| result_text(&answer)).unwrap().to_owned()
        })
        .collect();
    let count = |words: &str| said.iter().filter(|said| said.contains(words)).count();
    assert_eq!((count("danger ran"), count("Waiting for the user's approval")), (1, 9), "{said:?}");
    assert_eq!(world.runs(), 1);
}

#[test]
fn a_limit_that_is_filled_while_a_call_is_held_refuses_it_after_the_yes() {
    let capped = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask",
        "limits": [ { "counter": "d", "window": "hour", "max": 1, "scope": "server" } ] } } }"#;
    let mut world = World::new(capped);
    world.call(1, "a");
    world.call(2, "b");
    world.cards(2);
    world.decide(&world.card_of("a"), &Verdict::Once);
    assert!(world.said(1).contains("danger ran"));
    world.decide(&world.card_of("b"), &Verdict::Once);
    assert!(world.said(2).contains("the next call can pass in"));
    assert_eq!((world.runs(), world.row(1).decision()), (1, "capped"));
}

#[test]
fn a_yes_until_the_restart_counts_under_the_policy_of_each_call() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.card_of("a");
    world.decide(&card, &Verdict::Grant(GrantScope::Session));
    assert!(world.said(1).contains("danger ran"));
    let deny = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "deny", "reason": "not today" } } }"#;
    world.bench.write_policy(deny).unwrap();
    world.call(2, "b");
    assert!(world.said(2).contains("not today"));
    let conditions = r#"{ "version": "1", "default": "ask", "tools": { "danger": { "action": "ask",
        "deny_if": [ { "conditions": [ { "path": "args.url", "op": "eq", "value": "c" } ], "on_deny": "not there" } ] } } }"#;
    world.bench.write_policy(conditions).unwrap();
    world.call(3, "c");
    assert!(world.said(3).contains("not there"));
    world.call(4, "d");
    assert!(world.said(4).contains("danger ran"), "it reaches what the other policy asks about");
    assert_eq!(world.runs(), 2);
}

#[test]
fn a_call_with_other_arguments_says_so_while_the_first_one_waits_and_after_a_no() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let first = world.card_of("a");
    assert_eq!(first.difference, None);
    world.call(2, "b");
    let words = "its arguments are not those of the call that waits already";
    assert_eq!(world.card_of("b").difference.as_deref(), Some(words));
    world.decide(&world.card_of("b"), &Verdict::Deny(None));
    world.decide(&first, &Verdict::Deny(None));
    assert!(world.said(1).contains("the user said no"));
    world.call(3, "c");
    let words = "its arguments are not those that were denied";
    assert_eq!(world.card_of("c").difference.as_deref(), Some(words));
}

#[test]
fn a_call_that_is_asked_about_anew_has_no_more_time_than_its_client_gives_it() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    world.call(2, "a");
    let card = world.asked(2);
    let until = card.held_until_ms.unwrap();
    eventually("half a second", SOON, || (now().wall_ms > card.opened_ms + 500).then_some(()));
    world.decide(&card, &Verdict::Once);
    let next = eventually("the other one asks anew", SOON, || {
        world.open().into_iter().find(|one| one.id != card.id)
    });
    assert!(next.held_until_ms.unwrap() <= until + 50, "{:?} after {until}", next.held_until_ms);
}

#[test]
fn a_client_that_hangs_up_by_its_clock_while_a_call_is_held_is_answered_sooner_next_time() {
    let mut world = World::new(ASKED);
    assert_eq!(patience::hold(&world.home, "tester", callgate_tests::gate::SERVER), patience::UNKNOWN);
    for _ in 0..2 {
        let sent = Instant::now();
        world.call(1, "a");
        world.card_of("a");
        eventually("five seconds", SOON, || (sent.elapsed() >= Duration::from_secs(5)).then_some(()));
        world.session.close_input();
        world.session.ended(SOON).unwrap();
        world.session = world.bench.session("", &[]).unwrap();
        world.ping();
    }
    assert_eq!(
        patience::hold(&world.home, "tester", callgate_tests::gate::SERVER),
        Duration::from_millis(3_750)
    );
}

impl World {
    /// What same-user code could do without Callgate.
    fn write_row(&self, sql: &str) {
        let now = now();
        let db = rusqlite::Connection::open(self.home.limits_db()).unwrap();
        let values: [(&str, &dyn rusqlite::ToSql); 3] = [
            (":now", &now.wall_ms),
            (":up", &now.uptime_ms.cast_signed()),
            (":boot", &now.boot.0.to_string()),
        ];
        let named = values.iter().filter(|(name, _)| sql.contains(name));
        assert_eq!(db.prepare(sql).unwrap().execute(&named.copied().collect::<Vec<_>>()[..]).unwrap(), 1);
    }

    fn events(&self, kind: &str) -> Vec<String> {
        let output = self.bench.callgate(["events", "--json"]).unwrap().output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let quoted = format!(r#""kind":"{kind}""#);
        text.lines().filter(|line| line.contains(&quoted)).map(str::to_owned).collect()
    }

    /// Waits until there is an event of this kind.
    fn event(&self, kind: &str) -> String {
        eventually(kind, SOON, || self.events(kind).pop())
    }
}

#[test]
fn what_a_person_decided_is_found_in_the_log_with_and_without_the_index() {
    let mut world = World::new(ASKED);
    world.session.ask("50", "safe", "{}").unwrap();
    for (id, url) in [(1, "needle"), (2, "hay")] {
        world.call(id, url);
        let approval = world.card_of(url).id.to_string();
        match id {
            1 => {
                let approve = world.bench.callgate(["approve", &approval]).unwrap();
                assert!(when_asked(approve, "Type approve", "approve").unwrap().0.success());
                assert!(world.said(id).contains("danger ran"));
            }
            _ => {
                assert!(
                    world.bench.callgate(["deny", &approval]).unwrap().output().unwrap().status.success()
                );
                assert!(world.said(id).contains("the user said no"));
            }
        }
    }
    let log = |words: &[&str]| {
        let all = [&["log", "--json", "--by-person"], words].concat();
        let output = world.bench.callgate(all).unwrap().output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = eventually("both in the log", SOON, || Some(log(&[])).filter(|all| all.len() == 2));
    assert!(all[0].contains("needle") && all[0].contains(r#""decision":"allowed""#), "{all:?}");
    assert!(all[1].contains("hay") && all[1].contains(r#""decision":"denied""#), "{all:?}");
    assert!(!world.home.path().join("search.db").exists(), "looked through one by one");
    assert_eq!(log(&["--grep", "needle"]), all[..1]);
    assert_eq!(log(&["--search", "needle"]), all[..1]);
    assert!(world.home.path().join("search.db").exists());
    assert_eq!(log(&["--search", "hay"]), all[1..]);
    assert!(log(&["--search", "safe"]).is_empty(), "nobody was asked about it");
}

#[test]
fn a_yes_that_somebody_wrote_into_the_database_is_told() {
    let mut world = World::new(BRIEF);
    world.call(1, "a");
    assert!(world.said(1).contains("Waiting for the user's approval"));
    let card = world.card_of("a");
    world.write_row(
        "UPDATE approvals SET state = 'approved', decided_ms = :now, decided_uptime_ms = :up, decided_boot = :boot,
           decided_by = 'window'",
    );
    world.write_row("INSERT INTO once(id, ends_ms) SELECT 'approval:' || id, :now + 60000 FROM approvals");
    world.call(2, "a");
    assert!(world.said(2).contains("danger ran"), "nobody can tell by the row");
    let told = world.event("forged_approval");
    assert!(told.contains(&format!("an approval ({}) that nobody is on record for", card.id)), "{told}");
    assert!(told.contains(r#""origin":"file""#) && told.contains(r#""server":"corpus""#), "{told}");
}

#[test]
fn a_yes_for_more_that_somebody_wrote_into_the_database_is_told_once() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.card_of("a");
    world.write_row(
        "INSERT INTO grants(id, server, client, session, tool, definition, scope, granted_ms, granted_uptime_ms, boot, ends_ms,
           idle_ms, used_ms, calls_left)
         SELECT id, server, client, session, tool, definition, 'session', :now, :up, :boot, :now + 60000, 60000, :now, 9 FROM approvals",
    );
    decider::ring(&world.home);
    assert!(world.said(1).contains("danger ran"));
    for id in 2..=3 {
        world.call(id, &format!("{id}"));
        assert!(world.said(id).contains("danger ran"), "{id}");
    }
    eventually("all of them on record", SOON, || (rows(&world.bench).unwrap().len() == 3).then_some(()));
    let told = world.events("forged_approval");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&format!("({})", card.id)), "{told:?}");
}

#[test]
fn a_yes_of_a_person_is_on_record_and_not_taken_for_a_forged_one() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let id = world.card_of("a").id.to_string();
    let command = world.bench.callgate(["approve", &id, "--until-restart"]).unwrap();
    assert!(when_asked(command, "Type approve", "approve").unwrap().0.success());
    assert!(world.said(1).contains("danger ran"));
    world.call(2, "b");
    assert!(world.said(2).contains("danger ran"));
    eventually("both on record", SOON, || (rows(&world.bench).unwrap().len() == 2).then_some(()));
    assert_eq!(world.events("decided").len(), 1);
    assert!(world.events("forged_approval").is_empty());
}

#[test]
fn a_policy_that_somebody_edits_to_allow_while_a_call_is_held_is_told_and_lets_the_held_one_not_through() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.card_of("a");
    world.bench.write_policy(r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let told = world.event("loosened");
    assert!(told.contains(r#""origin":"file""#) && told.contains("danger"), "{told}");
    assert_eq!((world.runs(), world.row(0).decision()), (0, "asked"));
    world.decide(&card, &Verdict::Deny(None));
    assert!(world.said(1).contains("the user said no"));
    assert_eq!(world.runs(), 0);
}

#[test]
fn what_an_agent_was_granted_in_one_chat_another_that_asked_for_the_same_does_not_have() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.card_of("a");
    let mut other = world.bench.session("", &[]).unwrap();
    other.call("1", "danger", r#"{"url":"a"}"#).unwrap();
    assert_eq!(world.asked(2).session, card.session, "the one that asked first");
    world.decide(&card, &Verdict::Grant(GrantScope::Session));
    assert!(world.said(1).contains("danger ran"));
    world.call(2, "b");
    assert!(world.said(2).contains("danger ran"));
    other.call("2", "danger", r#"{"url":"c"}"#).unwrap();
    assert_ne!(world.card_of("c").session, card.session);
}

#[test]
fn an_agent_cannot_approve_its_own_call() {
    let mut world = World::new(ASKED);
    world.call(1, "a");
    let card = world.cards(1).remove(0);
    let id = card.id.to_string();
    // Without a terminal.
    let piped = world.bench.callgate(["approve", &id]).unwrap().output().unwrap();
    assert!(!piped.status.success());
    assert!(String::from_utf8_lossy(&piped.stderr).contains("is done by a person"));
    // Below a session, at a terminal of its own: a server's shell tool.
    let script = format!("exec '{}' approve {id}", callgate_binary().unwrap().display());
    let mut below = world.bench.callgate(["run", "--server", "shell", "--client", "tester", "--"]).unwrap();
    below.args(["script", "-qec", &script, "/dev/null"]);
    let mut below = Session::start(below).unwrap();
    below.send("approve").unwrap();
    below.ended(SOON).unwrap();
    let said = rows_of_noise(&world);
    assert!(said.contains("runs below session"), "{said}");
    assert_eq!(world.cards(1)[0].state, State::Open);
    // A person can.
    let command = world.bench.callgate(["approve", &id]).unwrap();
    let (status, screen) = when_asked(command, "Type approve", "approve").unwrap();
    assert!(status.success(), "{screen}");
    assert!(world.said(1).contains("danger ran"));
    assert_eq!(world.text(0, "reason").split(" after").next(), Some("approved at the command line"));
}
