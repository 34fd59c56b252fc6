#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::Duration;

use callgate_home::Home;
use callgate_home::clock::{Clock as _, ManualClock};
use proptest::prelude::*;

use super::*;

const COMMAND: [u8; 32] = [1; 32];
const DEFINITION: [u8; 32] = [2; 32];
const HOLD: Duration = Duration::from_secs(45);

struct Place {
    _folder: tempfile::TempDir,
    store: Approvals,
    clock: ManualClock,
    session: SessionId,
    calls: u64,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        crate::prepare_home(&home).unwrap();
        let (store, session) = (Approvals::new(&home), SessionId::random());
        Place { _folder: folder, store, clock: ManualClock::new(), session, calls: 0 }
    }

    fn ask(&mut self, digest: u8) -> Asked {
        self.calls += 1;
        let digest = [digest; 32];
        let question = Question {
            subject: subject("tool", &DEFINITION, &digest),
            call: self.session.call(self.calls),
            rule: "/tools/tool/action",
            reason: "why",
            arguments: None,
            hold: HOLD,
            expires: EXPIRES,
        };
        self.store.ask(&self.clock.now(), &question).unwrap()
    }

    fn open(&mut self) -> Vec<Approval> {
        self.store.open(&self.clock.now()).unwrap()
    }

    fn decide(&mut self, id: ApprovalId, verdict: &Verdict) -> Result<Decided, NotDecided> {
        self.store.decide(&self.clock.now(), id, verdict, Decider::Window)
    }

    /// What a gate does with a call that comes: looks for leave, and spends it.
    fn pass(&mut self, tool: &str, definition: &[u8; 32], digest: u8) -> Option<ApprovalId> {
        let (now, digest) = (self.clock.now(), [digest; 32]);
        let subject = subject(tool, definition, &digest);
        let leave = self.store.leave(&now, &subject, self.session).unwrap()?;
        let id = leave.approval.id;
        let spent = self.store.transaction(&now, |db| db.spend(&id.spend_key(), &now)).unwrap();
        spent.then_some(id)
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
fn a_no_that_nobody_heard_is_told_to_the_next_equal_call_once() {
    let mut place = Place::new();
    let id = opened(place.ask(7));
    place.store.release(&place.clock.now(), id, Release::OutOfTime).unwrap();
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
    place.store.release(&place.clock.now(), id, Release::OutOfTime).unwrap();
    assert!(place.decide(id, &Verdict::Once).unwrap().is_held);
}

#[test]
fn nobody_there_uses_up_no_round() {
    let mut place = Place::new();
    for _ in 0..ROUNDS + 2 {
        let id = opened(place.ask(7));
        place.store.release(&place.clock.now(), id, Release::NobodyThere).unwrap();
    }
    for _ in 0..ROUNDS {
        let id = opened(place.ask(7));
        place.store.release(&place.clock.now(), id, Release::OutOfTime).unwrap();
    }
    assert!(matches!(place.ask(7), Asked::Ignored(_)));
}

#[derive(Clone, Debug)]
enum Step {
    Ask(u8),
    Release(usize, bool),
    Decide(usize, bool),
    Pass(u8),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3u8).prop_map(Step::Ask),
        (0..8usize, any::<bool>()).prop_map(|(which, gone)| Step::Release(which, gone)),
        (0..8usize, any::<bool>()).prop_map(|(which, yes)| Step::Decide(which, yes)),
        (0..3u8).prop_map(Step::Pass),
        (0..2_000u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: nothing passes without a yes of its own, and each yes is used once at most.
    #[test]
    fn no_interleaving_lets_a_call_through_that_nobody_approved(steps in prop::collection::vec(step(), 1..60)) {
        let mut place = Place::new();
        let mut asked: Vec<(ApprovalId, u8)> = Vec::new();
        let mut yes: Vec<(ApprovalId, u8)> = Vec::new();
        for step in steps {
            match step {
                Step::Ask(digest) => {
                    if let Asked::Open(id) | Asked::Ignored(id) = place.ask(digest)
                        && !asked.contains(&(id, digest))
                    {
                        prop_assert!(asked.iter().all(|(known, _)| *known != id), "one card, one call");
                        asked.push((id, digest));
                    }
                }
                Step::Release(which, gone) => {
                    let Some((id, _)) = asked.get(which) else { continue };
                    let why = if gone { Release::Withdrawn } else { Release::OutOfTime };
                    place.store.release(&place.clock.now(), *id, why).unwrap();
                }
                Step::Decide(which, is_yes) => {
                    let Some(card) = asked.get(which).copied() else { continue };
                    let verdict = if is_yes { Verdict::Once } else { Verdict::Deny(None) };
                    let was_open = place.open().iter().any(|one| one.id == card.0);
                    let decided = place.decide(card.0, &verdict).is_ok();
                    prop_assert_eq!(decided, was_open);
                    if decided && is_yes {
                        yes.push(card);
                    }
                }
                Step::Pass(digest) => {
                    if let Some(id) = place.pass("tool", &DEFINITION, digest) {
                        let used = yes.iter().position(|known| *known == (id, digest));
                        prop_assert!(used.is_some(), "nobody approved {id}");
                        yes.remove(used.unwrap());
                    }
                }
                Step::Wait(seconds) => place.clock.advance(Duration::from_secs(seconds)),
            }
            let open = place.open();
            let mut digests: Vec<u8> = asked
                .iter()
                .filter(|(id, _)| open.iter().any(|one| one.id == *id))
                .map(|(_, digest)| *digest)
                .collect();
            let cards = digests.len();
            digests.sort_unstable();
            digests.dedup();
            prop_assert_eq!(cards, digests.len(), "equal calls share a card");
        }
    }
}
