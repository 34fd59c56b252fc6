#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_home::clock::{Clock as _, ManualClock};
use callgate_home::{Home, lease};
use proptest::prelude::*;

use super::*;

const COMMAND: [u8; 32] = [1; 32];
const DEFINITION: [u8; 32] = [2; 32];
const HOLD: Duration = Duration::from_secs(45);

struct Place {
    _folder: tempfile::TempDir,
    home: Home,
    store: Approvals,
    clock: ManualClock,
    session: SessionId,
    /// There as long as the session's gate lives.
    lease: Option<lease::Held>,
    calls: u64,
    /// Calls that are held, by their cards.
    held: Vec<(ApprovalId, CallId)>,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        crate::prepare_home(&home).unwrap();
        let (store, session) = (Approvals::new(&home), SessionId::random());
        let lease = Some(lease::take(&home, session).unwrap());
        let (clock, held) = (ManualClock::new(), Vec::new());
        Place { _folder: folder, home, store, clock, session, lease, calls: 0, held }
    }

    /// The gate is killed, and its client starts another.
    fn kill(&mut self) {
        self.session = SessionId::random();
        self.lease = Some(lease::take(&self.home, self.session).unwrap());
    }

    /// A gate beside the one that there is, which goes on: its session and its lease.
    fn another(&mut self) -> (SessionId, Option<lease::Held>) {
        let session = SessionId::random();
        let lease = lease::take(&self.home, session).unwrap();
        (std::mem::replace(&mut self.session, session), self.lease.replace(lease))
    }

    /// The gate that held this card's last call holds it no more.
    fn release(&mut self, id: ApprovalId, why: Release) {
        let Some(at) = self.held.iter().rposition(|(card, _)| *card == id) else { return };
        let held = self.held.remove(at);
        self.store.release(&self.clock.now(), held, why).unwrap();
    }

    fn ask(&mut self, digest: u8) -> Asked {
        self.ask_about(&DEFINITION, digest)
    }

    fn ask_about(&mut self, definition: &[u8; 32], digest: u8) -> Asked {
        self.ask_with(definition, digest, None)
    }

    fn ask_with(&mut self, definition: &[u8; 32], digest: u8, arguments: Option<&Arguments>) -> Asked {
        self.calls += 1;
        let (digest, call) = ([digest; 32], self.session.call(self.calls));
        let question = Question {
            subject: subject("tool", definition, &digest),
            call,
            rule: "/tools/tool/action",
            reason: "why",
            arguments,
            hold: HOLD,
            expires: EXPIRES,
        };
        let asked = self.store.ask(&self.clock.now(), &question).unwrap();
        if let Asked::Open(id) = asked {
            self.held.push((id, call));
        }
        asked
    }

    fn card(&mut self, id: ApprovalId) -> Approval {
        self.store.get(&self.clock.now(), id).unwrap().unwrap()
    }

    fn difference(&mut self, asked: Asked) -> Option<String> {
        let id = opened(asked);
        self.card(id).difference
    }

    fn open(&mut self) -> Vec<Approval> {
        self.store.open(&self.clock.now()).unwrap()
    }

    fn decide(&mut self, id: ApprovalId, verdict: &Verdict) -> Result<Decided, NotDecided> {
        self.store.decide(&self.clock.now(), id, verdict, Decider::Window)
    }

    /// What a gate does with a call that comes: looks for leave, and spends it.
    fn pass(&mut self, tool: &str, definition: &[u8; 32], digest: u8) -> Option<ApprovalId> {
        self.pass_by(tool, definition, digest).map(|leave| leave.approval.id)
    }

    fn pass_by(&mut self, tool: &str, definition: &[u8; 32], digest: u8) -> Option<Leave> {
        let (now, digest) = (self.clock.now(), [digest; 32]);
        let subject = subject(tool, definition, &digest);
        let leave = self.store.leave(&now, &subject, self.session).unwrap()?;
        let key = leave.spend_key();
        let spent = self.store.transaction(&now, |db| db.spend(&key, &now)).unwrap();
        spent.then_some(leave)
    }
}

fn subject<'a>(tool: &'a str, definition: &'a [u8; 32], digest: &'a [u8; 32]) -> Subject<'a> {
    Subject { server: "s", command: &COMMAND, client: "c", tool, definition, digest }
}

fn opened(asked: Asked) -> ApprovalId {
    match asked {
        Asked::Open(id) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_yes_is_for_the_same_call_for_ten_minutes_and_once() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    assert_eq!(place.pass("tool", &DEFINITION, 7), None, "nobody has decided");
    assert!(place.decide(id, &Verdict::Once).unwrap().is_held);
    assert_eq!(place.pass("tool", &DEFINITION, 8), None, "other arguments");
    assert_eq!(place.pass("tool", &[9; 32], 7), None, "another definition");
    assert_eq!(place.pass("other", &DEFINITION, 7), None, "another tool");
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id));
    assert_eq!(place.pass("tool", &DEFINITION, 7), None, "used");
    let id = opened(place.ask(7));
    place.decide(id, &Verdict::Once).unwrap();
    place.clock.advance(USABLE);
    assert_eq!(place.pass("tool", &DEFINITION, 7), None, "too late");
}

#[test]
fn nobody_decided_in_an_hour_is_missed_and_a_late_click_does_nothing() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.clock.advance(EXPIRES);
    assert!(matches!(
        place.decide(id, &Verdict::Once),
        Err(NotDecided::Already { state: State::Missed, .. })
    ));
    assert!(place.open().is_empty());
    assert_eq!(place.pass("tool", &DEFINITION, 7), None);
    assert_ne!(opened(place.ask(7)), id, "it is asked about anew");
}

#[test]
fn a_session_cannot_ask_for_more_than_anybody_could_answer() {
    let mut place = Place::new();
    for digest in 0..u8::try_from(MOST_PER_SESSION).unwrap() {
        opened(place.ask(digest));
    }
    assert_eq!(place.ask(255), Asked::TooMany);
    opened(place.ask(0));
}

#[test]
fn a_burst_ends_when_it_is_idle_used_up_or_revoked() {
    let mut place = Place::new();
    let grant = |place: &mut Place| {
        let id = opened(place.ask(7));
        place.decide(id, &Verdict::Grant(GrantScope::Burst)).unwrap();
        assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id), "the call itself");
        id
    };
    let id = grant(&mut place);
    assert_eq!(place.pass("tool", &DEFINITION, 1), Some(id));
    assert_eq!(place.pass("other", &DEFINITION, 1), None);
    assert_eq!(place.pass("tool", &[9; 32], 1), None, "described otherwise");
    place.clock.advance(Duration::from_secs(59));
    assert_eq!(place.pass("tool", &DEFINITION, 2), Some(id));
    place.clock.advance(Duration::from_secs(60));
    assert_eq!(place.pass("tool", &DEFINITION, 3), None, "idle");
    let id = grant(&mut place);
    let more = (0..40).filter(|_| place.pass("tool", &DEFINITION, 4).is_some()).count();
    assert_eq!(more, GrantScope::Burst.calls() as usize - 1, "used up");
    assert!(!place.store.revoke(&place.clock.now(), id).unwrap());
    let id = grant(&mut place);
    assert!(place.store.revoke(&place.clock.now(), id).unwrap());
    assert_eq!(place.pass("tool", &DEFINITION, 5), None, "revoked");
}

#[test]
fn a_yes_for_more_stays_with_the_session_that_asked_first_unless_that_is_gone() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    let first = place.another();
    assert_eq!(opened(place.ask(7)), id, "another chat joins the card");
    assert_eq!(place.card(id).session, first.0);
    place.decide(id, &Verdict::Grant(GrantScope::Session)).unwrap();
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id), "the call itself, whoever is first");
    assert_eq!(place.pass("tool", &DEFINITION, 1), None, "not in the session that asked last");
    let last = std::mem::replace(&mut place.session, first.0);
    assert_eq!(place.pass("tool", &DEFINITION, 1), Some(id));
    // Its gate goes while another one waits for the same.
    let mut place = Place::new();
    let id = opened(place.ask(7));
    let first = place.another();
    assert_eq!(opened(place.ask(7)), id);
    drop(first);
    let decided = place.decide(id, &Verdict::Grant(GrantScope::Session)).unwrap();
    assert_eq!(decided.approval.session, place.session);
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id));
    assert_eq!(place.pass("tool", &DEFINITION, 1), Some(id));
    assert_ne!(place.session, last);
}

#[test]
fn a_burst_reaches_the_tools_that_were_ticked_as_they_are_described_when_they_come() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.decide(id, &Verdict::Burst(vec!["read".to_owned(), "tool".to_owned()])).unwrap();
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id), "the call itself");
    assert_eq!(place.pass("write", &DEFINITION, 1), None, "nobody ticked it");
    let (now, there) = (place.clock.now(), [9; 32]);
    let standing = place.store.look(&now, place.session, &[id]).unwrap().unwrap();
    assert!(
        standing.is_granted(&subject("read", &there, &[1; 32])),
        "a call that waits already is reached, too"
    );
    assert_eq!(place.pass("read", &there, 1), Some(id));
    assert_eq!(place.pass("read", &there, 2), Some(id));
    assert_eq!(place.pass("read", &[8; 32], 3), None, "described otherwise since");
    assert_eq!(place.pass("tool", &there, 4), None, "the one that was asked about is the one that was seen");
    let more = (0..40).filter(|_| place.pass("read", &there, 5).is_some()).count();
    assert_eq!(more, GrantScope::Burst.calls() as usize - 3, "one number for all of them");
    let first = place.session;
    place.kill();
    assert_ne!(place.session, first);
    assert_eq!(place.pass("read", &there, 6), None);
}

#[test]
fn a_yes_for_a_conversation_reaches_its_other_gates_and_no_other_conversation_or_program() {
    let mut place = Place::new();
    let told = |place: &mut Place, which: Option<&str>| {
        place.store = Approvals::of_conversation(&place.home, which.map(str::to_owned));
    };
    told(&mut place, Some("c1"));
    let id = opened(place.ask(7));
    assert!(place.card(id).in_conversation);
    place.decide(id, &Verdict::Grant(GrantScope::Conversation)).unwrap();
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id));
    assert_eq!(place.pass("tool", &DEFINITION, 1), Some(id));
    // The server is started anew in the same conversation.
    place.kill();
    assert_eq!(place.pass("tool", &DEFINITION, 2), Some(id));
    for other in [Some("c2"), None] {
        told(&mut place, other);
        assert_eq!(place.pass("tool", &DEFINITION, 3), None, "{other:?}");
    }
    told(&mut place, Some("c1"));
    let (now, digest, command) = (place.clock.now(), [4; 32], [5; 32]);
    let another = Subject { command: &command, ..subject("tool", &DEFINITION, &digest) };
    assert_eq!(
        place.store.leave(&now, &another, place.session).unwrap(),
        None,
        "another program under the name"
    );
    place.clock.advance(GrantScope::Conversation.idle());
    assert_eq!(place.pass("tool", &DEFINITION, 5), None, "idle");
}

#[test]
fn a_yes_until_the_restart_ends_after_half_an_hour_without_a_call_and_after_eight_hours() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    assert!(!place.card(id).in_conversation);
    place.decide(id, &Verdict::Grant(GrantScope::Session)).unwrap();
    let mut passed = 0;
    for _ in 0..20 {
        place.clock.advance(Duration::from_mins(29));
        passed += usize::from(place.pass("tool", &DEFINITION, 1).is_some());
    }
    assert_eq!(passed, 16, "eight hours and no longer");
    let id = opened(place.ask(7));
    place.decide(id, &Verdict::Grant(GrantScope::Session)).unwrap();
    place.clock.advance(Duration::from_mins(30));
    assert_eq!(place.pass("tool", &DEFINITION, 1), None, "idle");
}

#[test]
fn a_no_that_nobody_heard_is_told_to_the_next_equal_call_once() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.release(id, Release::OutOfTime);
    place.decide(id, &Verdict::Deny(Some("not there".to_owned()))).unwrap();
    assert_eq!(place.ask(7), Asked::Denied(id, Some("not there".to_owned())));
    assert_ne!(opened(place.ask(7)), id);
}

#[test]
fn a_yes_between_the_look_and_the_question_is_not_missed() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.decide(id, &Verdict::Once).unwrap();
    assert_eq!(place.ask(7), Asked::Approved(id));
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id));
    assert_ne!(opened(place.ask(7)), id, "the call that asked first may ask again");
}

#[test]
fn of_two_equal_calls_the_one_that_is_still_held_keeps_the_card_waiting() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.clock.advance(Duration::from_secs(30));
    opened(place.ask(7));
    place.clock.advance(Duration::from_secs(15));
    place.held.swap(0, 1);
    place.release(id, Release::OutOfTime);
    assert!(place.decide(id, &Verdict::Once).unwrap().is_held);
}

#[test]
fn nobody_there_uses_up_no_round() {
    let mut place = Place::new();
    for _ in 0..ROUNDS + 2 {
        let id = opened(place.ask(7));
        place.release(id, Release::NobodyThere);
    }
    for _ in 0..ROUNDS {
        let id = opened(place.ask(7));
        place.release(id, Release::OutOfTime);
    }
    assert!(matches!(place.ask(7), Asked::Ignored(_)));
}

#[test]
fn what_a_killed_gate_held_keeps_no_round_from_being_counted() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    // The same call in another session of the client, which is killed while both are held.
    let first = place.another();
    assert_eq!(opened(place.ask(7)), id);
    place.held.pop();
    (place.session, place.lease) = first;
    for round in 0..ROUNDS {
        if round > 0 {
            assert_eq!(opened(place.ask(7)), id);
        }
        assert!(place.card(id).held_until_ms.is_some(), "the other gate goes on");
        place.release(id, Release::OutOfTime);
    }
    assert_eq!(place.ask(7), Asked::Ignored(id));
    assert_eq!(place.card(id).held_until_ms, None);
}

#[test]
fn a_card_whose_gates_are_gone_says_so_and_a_late_click_does_nothing() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    let kept = opened(place.ask(8));
    place.release(kept, Release::OutOfTime);
    place.kill();
    let open: Vec<ApprovalId> = place.open().iter().map(|one| one.id).collect();
    assert_eq!(open, [kept], "its client was told to come again");
    assert!(matches!(
        place.decide(id, &Verdict::Once),
        Err(NotDecided::Already { state: State::Withdrawn, .. })
    ));
    let card = place.card(id);
    assert_eq!((card.state, card.held_until_ms, card.arguments), (State::Withdrawn, None, None));
    assert_eq!(place.pass("tool", &DEFINITION, 7), None);
    assert_ne!(opened(place.ask(7)), id, "it is asked about anew");
}

#[test]
fn a_new_card_says_what_is_different_while_the_first_one_waits_and_after_a_no() {
    let mut place = Place::new();
    let first = place.ask(1);
    assert_eq!(place.difference(first), None);
    let asked = place.ask(2);
    let words = "its arguments are not those of the call that waits already";
    assert_eq!(place.difference(asked).as_deref(), Some(words));
    let asked = place.ask_about(&[9; 32], 1);
    let words = "the server describes this tool otherwise than before";
    assert_eq!(place.difference(asked).as_deref(), Some(words));
    let mut place = Place::new();
    let first = opened(place.ask(1));
    place.decide(first, &Verdict::Deny(None)).unwrap();
    let asked = place.ask(1);
    assert_eq!(place.difference(asked), None, "the same call");
    let again = place.held.pop().unwrap().0;
    place.decide(again, &Verdict::Deny(None)).unwrap();
    let asked = place.ask(2);
    assert_eq!(place.difference(asked).as_deref(), Some("its arguments are not those that were denied"));
}

#[test]
fn another_program_under_the_same_name_is_said_to_be_one() {
    let mut place = Place::new();
    let first = opened(place.ask(1));
    place.decide(first, &Verdict::Once).unwrap();
    let (digest, command) = ([1; 32], [5; 32]);
    let question = Question {
        subject: Subject { command: &command, ..subject("tool", &DEFINITION, &digest) },
        call: place.session.call(99),
        rule: "",
        reason: "",
        arguments: None,
        hold: HOLD,
        expires: EXPIRES,
    };
    let asked = place.store.ask(&place.clock.now(), &question).unwrap();
    let words = "what is started under this server's name is not what it was";
    assert_eq!(place.difference(asked).as_deref(), Some(words));
}

#[test]
fn a_file_from_before_is_taken_over_with_its_open_questions() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.release(id, Release::OutOfTime);
    let before = "ALTER TABLE approvals DROP COLUMN masked; ALTER TABLE approvals ADD COLUMN holders INTEGER NOT NULL DEFAULT 1; ALTER TABLE approvals ADD COLUMN held_until_ms INTEGER;
         DROP TABLE waiting; PRAGMA user_version = 3";
    rusqlite::Connection::open(place.home.limits_db()).unwrap().execute_batch(before).unwrap();
    place.store = Approvals::new(&place.home);
    assert_eq!(opened(place.ask(7)), id);
    assert_eq!(place.card(id).asked, 2);
    assert_ne!(opened(place.ask(8)), id);
}

#[test]
fn a_file_from_before_masked_values_were_counted_is_taken_over() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.release(id, Release::OutOfTime);
    let before = "ALTER TABLE approvals DROP COLUMN masked; PRAGMA user_version = 4";
    rusqlite::Connection::open(place.home.limits_db()).unwrap().execute_batch(before).unwrap();
    place.store = Approvals::new(&place.home);
    assert_eq!(opened(place.ask(7)), id);
    let text = r#"{"password":"[masked, 9 characters]"}"#.to_owned();
    let arguments = Arguments { text, bytes: 30, complete: true, masked: 1 };
    let asked = opened(place.ask_with(&DEFINITION, 8, Some(&arguments)));
    assert_eq!(place.card(asked).arguments, Some(arguments));
}

#[test]
fn the_call_that_was_approved_last_is_of_the_same_tool_and_not_the_one_that_waits() {
    let mut place = Place::new();
    let last = |place: &mut Place, id| {
        let card = place.card(id);
        place.store.approved_last(&place.clock.now(), &card).unwrap()
    };
    let mut calls = Vec::new();
    for digest in [1, 2] {
        let id = opened(place.ask(digest));
        assert_eq!(last(&mut place, id), calls.last().copied());
        place.decide(id, &Verdict::Once).unwrap();
        calls.push(place.card(id).call);
        place.clock.advance(Duration::from_secs(1));
    }
    let denied = opened(place.ask(3));
    place.decide(denied, &Verdict::Deny(None)).unwrap();
    let waits = opened(place.ask(4));
    assert_eq!(last(&mut place, waits), calls.last().copied());
}

#[test]
fn a_gate_that_waits_reads_only_what_others_have_written() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    let (now, session) = (place.clock.now(), place.session);
    let look = |place: &mut Place| place.store.look(&now, session, &[id]).unwrap();
    assert_eq!(look(&mut place).unwrap().of(id), (State::Open, None));
    for _ in 0..3 {
        assert!(look(&mut place).is_none(), "nobody has written");
    }
    let mut window = Approvals::new(&place.home);
    window.decide(&now, id, &Verdict::Grant(GrantScope::Burst), Decider::Window).unwrap();
    let standing = look(&mut place).unwrap();
    assert_eq!(standing.of(id).0, State::Approved);
    let (here, there) = ([3; 32], [9; 32]);
    assert!(standing.is_granted(&subject("tool", &DEFINITION, &here)));
    assert!(!standing.is_granted(&subject("tool", &there, &here)), "described otherwise");
    assert!(look(&mut place).is_none());
    opened(place.ask_about(&there, 1));
    assert!(look(&mut place).is_some(), "a question in between");
}

#[derive(Clone, Debug)]
enum Step {
    Ask(u8),
    Release(usize, bool),
    Decide(usize, u8),
    Revoke(usize),
    Pass(u8),
    Wait(u64),
    Kill,
}

/// What a yes lets through, as the model has it.
#[derive(Clone, Debug)]
struct Yes {
    id: ApprovalId,
    digest: u8,
    session: SessionId,
    at_ms: i64,
    /// The very call that was asked about may still pass.
    unused: bool,
    /// Of one for more: its scope, how many calls are left, and when it was used last.
    more: Option<(GrantScope, u32, i64)>,
}

impl Yes {
    fn is_for_call(&self, digest: u8, now_ms: i64) -> bool {
        self.unused && self.digest == digest && now_ms - self.at_ms < ms(USABLE)
    }

    fn is_for_more(&self, session: SessionId, now_ms: i64) -> bool {
        self.more.is_some_and(|(scope, left, used_ms)| {
            self.session == session
                && left > 0
                && now_ms - used_ms < ms(scope.idle())
                && now_ms - self.at_ms < ms(scope.longest())
        })
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3u8).prop_map(Step::Ask),
        (0..8usize, any::<bool>()).prop_map(|(which, gone)| Step::Release(which, gone)),
        (0..8usize, 0..4u8).prop_map(|(which, how)| Step::Decide(which, how)),
        (0..8usize).prop_map(Step::Revoke),
        (0..3u8).prop_map(Step::Pass),
        prop_oneof![0..90u64, 0..2_000u64].prop_map(Step::Wait),
        Just(Step::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: nothing passes without a yes that reaches it, each yes for a call is used once at
    /// most, each for more no longer and no oftener than it says; and what somebody said yes to passes.
    #[test]
    fn no_interleaving_lets_a_call_through_that_nobody_approved(steps in prop::collection::vec(step(), 1..60)) {
        let mut place = Place::new();
        let mut asked: Vec<(ApprovalId, u8)> = Vec::new();
        let mut yes: Vec<Yes> = Vec::new();
        for step in steps {
            let now_ms = place.clock.now().wall_ms;
            let session = place.session;
            let reached = |yes: &[Yes], digest: u8| {
                yes.iter().any(|one| one.is_for_call(digest, now_ms) || one.is_for_more(session, now_ms))
            };
            match step {
                Step::Ask(digest) => match place.ask(digest) {
                    Asked::Open(id) | Asked::Ignored(id) => {
                        prop_assert!(!reached(&yes, digest), "somebody has said yes");
                        if !asked.contains(&(id, digest)) {
                            prop_assert!(asked.iter().all(|(known, _)| *known != id), "one card, one call");
                            asked.push((id, digest));
                        }
                    }
                    Asked::Approved(_) => prop_assert!(reached(&yes, digest), "nobody has said yes"),
                    Asked::Denied(..) | Asked::TooMany => prop_assert!(!reached(&yes, digest)),
                },
                Step::Release(which, gone) => {
                    let Some((id, _)) = asked.get(which) else { continue };
                    place.release(*id, if gone { Release::Withdrawn } else { Release::OutOfTime });
                }
                Step::Decide(which, how) => {
                    let Some((id, digest)) = asked.get(which).copied() else { continue };
                    let scope = [None, None, Some(GrantScope::Burst), Some(GrantScope::Session)][usize::from(how)];
                    let verdict = match (how, scope) {
                        (0, _) => Verdict::Deny(None),
                        (_, None) => Verdict::Once,
                        (_, Some(scope)) => Verdict::Grant(scope),
                    };
                    let open = place.open();
                    let card = open.iter().find(|one| one.id == id);
                    let decided = place.decide(id, &verdict);
                    prop_assert_eq!(decided.is_ok(), card.is_some());
                    if let Some(card) = card.filter(|_| how > 0) {
                        let more = scope.map(|scope| (scope, scope.calls() - 1, now_ms));
                        yes.push(Yes { id, digest, session: card.session, at_ms: now_ms, unused: true, more });
                    }
                }
                Step::Revoke(which) => {
                    let Some((id, _)) = asked.get(which).copied() else { continue };
                    place.store.revoke(&place.clock.now(), id).unwrap();
                    for one in yes.iter_mut().filter(|one| one.id == id) {
                        (one.unused, one.more) = (false, None);
                    }
                }
                Step::Pass(digest) => {
                    let passed = place.pass_by("tool", &DEFINITION, digest);
                    prop_assert_eq!(passed.is_some(), reached(&yes, digest));
                    let Some(leave) = passed else { continue };
                    let used = yes.iter_mut().find(|one| one.id == leave.approval.id);
                    prop_assert!(used.is_some(), "nobody approved {}", leave.approval.id);
                    let used = used.unwrap();
                    match leave.scope {
                        None => {
                            prop_assert!(used.is_for_call(digest, now_ms), "{used:?}");
                            used.unused = false;
                        }
                        Some(_) => {
                            prop_assert!(used.is_for_more(session, now_ms), "{used:?}");
                            used.more = used.more.map(|(scope, left, _)| (scope, left - 1, now_ms));
                        }
                    }
                }
                Step::Wait(seconds) => place.clock.advance(Duration::from_secs(seconds)),
                Step::Kill => place.kill(),
            }
            let (open, now_ms) = (place.open(), place.clock.now().wall_ms);
            let mut digests: Vec<u8> = asked
                .iter()
                .filter(|(id, _)| open.iter().any(|one| one.id == *id))
                .map(|(_, digest)| *digest)
                .collect();
            let cards = digests.len();
            digests.sort_unstable();
            digests.dedup();
            prop_assert_eq!(cards, digests.len(), "equal calls share a card");
            let waits = |card: &Approval| card.held_until_ms.is_some_and(|until| until > now_ms);
            let of_others = open.iter().find(|card| waits(card) && card.session != place.session);
            prop_assert!(of_others.is_none(), "a gate that is gone waits: {of_others:?}");
        }
    }
}

#[test]
fn a_clients_answer_is_for_its_own_call_alone_and_counts_once() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    let now = place.clock.now();
    let mut answer = |id, definition: u8, digest: u8, yes| {
        let (definition, digest) = ([definition; 32], [digest; 32]);
        place.store.answer(&now, (id, &subject("tool", &definition, &digest)), yes).map(drop)
    };
    assert!(matches!(answer(id, 2, 8, true), Err(NotDecided::Unknown(_))), "other arguments");
    assert!(matches!(answer(id, 3, 7, true), Err(NotDecided::Unknown(_))), "another definition");
    answer(id, 2, 7, true).unwrap();
    for again in [true, false] {
        let late = answer(id, 2, 7, again);
        assert!(matches!(late, Err(NotDecided::Already { state: State::Approved, .. })), "{late:?}");
    }
    assert_eq!(place.card(id).decided_by, Some(Decider::Client));
    assert_eq!(place.pass("tool", &DEFINITION, 7), Some(id));
    assert_eq!(place.pass("tool", &DEFINITION, 7), None);
    // The call that brings a no hears it: the next one is another question.
    let id = opened(place.ask(8));
    place.release(id, Release::NobodyThere);
    let digest = [8; 32];
    place.store.answer(&now, (id, &subject("tool", &DEFINITION, &digest)), false).unwrap();
    assert_ne!(opened(place.ask(8)), id);
}

#[test]
fn a_rule_of_the_record_leads_to_its_approval_whoever_answered() {
    let id: ApprovalId = "k3v9qa".parse().unwrap();
    for rule in [id.rule(), id.rule_in_client()] {
        assert_eq!(ApprovalId::of_rule(&rule), Some(id), "{rule}");
    }
    assert!(!id.rule_in_client().starts_with(RULE), "a person's are told from a client's by how they begin");
}
