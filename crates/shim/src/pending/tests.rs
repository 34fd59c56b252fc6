use super::*;
use callgate_protocol::lists::List;
use proptest::prelude::*;

fn key(lexeme: &str) -> IdKey {
    IdKey::from_lexeme(lexeme).unwrap()
}

fn other() -> PendingRequest {
    PendingRequest::new(RequestKind::Other)
}

fn ended(reason: &str) -> Intake {
    Intake::Closed(reason.into())
}

#[test]
fn a_subscription_keeps_no_session_open() {
    let pending = Pending::default();
    pending.enter(key("1"), PendingRequest { lasting: true, ..other() }, 0).unwrap();
    assert!(pending.wait_empty(Duration::ZERO));
    pending.enter(key("2"), other(), 0).unwrap();
    assert!(!pending.wait_empty(Duration::ZERO));
    assert_eq!(pending.sever(ended("gone")).len(), 2, "and is told the end like everybody else");
}

#[test]
fn an_answer_on_its_way_keeps_a_session_open() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    let delivering = pending.delivering();
    assert!(pending.answer(&key("1"), 0).is_some());
    assert!(!pending.wait_empty(Duration::ZERO), "the client does not have it yet");
    drop(delivering);
    assert!(pending.wait_empty(Duration::ZERO));
}

#[test]
fn an_id_is_answered_once() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    assert_eq!(pending.enter(key("1"), other(), 0), Err(NotEntered::IdInUse));
    assert!(pending.answer(&key(r#""1""#), 0).is_none(), "a string is another id");
    assert!(pending.answer(&key("1"), 0).is_some());
    assert!(pending.answer(&key("1"), 0).is_none());
}

#[test]
fn a_cancelled_request_is_owed_nothing_but_may_still_be_answered() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    pending.cancel(&key("1"));
    assert!(pending.wait_empty(Duration::ZERO));
    assert_eq!(pending.enter(key("1"), other(), 0), Err(NotEntered::IdInUse), "its answer may be on the way");
    assert!(pending.answer(&key("1"), 0).is_some());
    assert_eq!(pending.enter(key("1"), other(), 0), Ok(()));
}

#[test]
fn nothing_enters_after_the_end_and_everybody_is_told() {
    let pending = Pending::default();
    for id in ["3", "1", "2"] {
        pending.enter(key(id), other(), 0).unwrap();
    }
    let left: Vec<String> = pending.sever(ended("gone")).iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(left, ["3", "1", "2"], "in the order in which they were asked");
    pending.set_intake(Intake::Open);
    assert_eq!(pending.enter(key("4"), other(), 1), Err(NotEntered::Closed("gone".into())));
    assert!(pending.sever(ended("gone again")).is_empty());
}

#[test]
fn a_request_waits_for_one_server_alone() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    assert_eq!(pending.sever(Intake::Starting { until }).len(), 1);
    assert!(pending.answer(&key("1"), 0).is_none(), "it has its answer");
    assert_eq!(pending.enter(key("2"), other(), 1), Err(NotEntered::Starting(until)));
    assert!(pending.enter_own(key("\"own\""), other(), 1), "the gate's own need no open intake");
    assert!(!pending.enter_own(key("\"late\""), other(), 0));
    pending.set_intake(Intake::Open);
    assert_eq!(pending.enter(key("1"), other(), 0), Err(NotEntered::Stale));
    assert_eq!(pending.enter(key("1"), other(), 1), Ok(()));
    assert!(pending.answer(&key("1"), 0).is_none(), "a late answer of the server before");
    assert!(pending.answer(&key("1"), 1).is_some());
}

#[test]
fn a_server_is_put_to_sleep_only_between_calls_and_woken_by_the_first_who_wants_it() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    assert!(pending.sever_if_idle(Intake::Idle, || false).is_none(), "somebody waits");
    pending.answer(&key("1"), 0).unwrap();
    assert!(pending.sever_if_idle(Intake::Idle, || true).is_none(), "it holds something");
    assert_eq!(pending.sever_if_idle(Intake::Idle, || false).map(|left| left.len()), Some(0));
    assert_eq!(pending.enter(key("2"), other(), 1), Err(NotEntered::Idle));
    let until = Instant::now();
    assert!(pending.wake(until) && !pending.wake(until));
    assert_eq!(pending.enter(key("2"), other(), 1), Err(NotEntered::Starting(until)));
}

#[test]
fn a_ping_does_not_keep_an_idle_server_awake() {
    let pending = Pending::default();
    pending.enter(key("1"), other(), 0).unwrap();
    assert_eq!(pending.use_of(), (false, 0));
    let list = PendingRequest::new(RequestKind::List { list: List::Tools, cursor: None });
    pending.enter(key("2"), list, 0).unwrap();
    assert_eq!(pending.use_of(), (true, 1));
}

/// What may happen to the table, in any order. Generations are given relative to the one of this moment.
#[derive(Clone, Debug)]
enum Step {
    Enter { id: u8, behind: u32 },
    Answer { id: u8, behind: u32 },
    Cancel { id: u8 },
    Hold { id: u8 },
    EnterHeld { id: u8, behind: u32 },
    Release { id: u8 },
    Sever { open: bool },
    Open,
    Rest,
}

fn step() -> impl Strategy<Value = Step> {
    let (id, behind) = (0_u8..6, 0_u32..3);
    prop_oneof![
        4 => (id.clone(), behind.clone()).prop_map(|(id, behind)| Step::Enter { id, behind }),
        4 => (id.clone(), behind.clone()).prop_map(|(id, behind)| Step::Answer { id, behind }),
        1 => id.clone().prop_map(|id| Step::Cancel { id }),
        2 => id.clone().prop_map(|id| Step::Hold { id }),
        2 => (id.clone(), behind).prop_map(|(id, behind)| Step::EnterHeld { id, behind }),
        1 => id.prop_map(|id| Step::Release { id }),
        1 => any::<bool>().prop_map(|open| Step::Sever { open }),
        1 => Just(Step::Open),
        1 => Just(Step::Rest),
    ]
}

proptest! {
    /// Each request that was entered or held and not cancelled leaves the table exactly once: by an answer of the server
    /// that it was entered for, when that server goes, by whoever held it, or at the end.
    #[test]
    fn every_request_gets_one_answer_across_all_servers(steps in prop::collection::vec(step(), 0..60)) {
        let pending = Pending::default();
        // Who is owed an answer, by which server.
        let mut owed: HashMap<u8, Generation> = HashMap::new();
        let mut held: HashMap<u8, Ticket> = HashMap::new();
        // Tickets of requests that are not held any more.
        let mut spent: HashMap<u8, Ticket> = HashMap::new();
        let name = |id: u8| key(&id.to_string());
        for step in steps {
            let now = pending.generation();
            match step {
                Step::Enter { id, behind } => {
                    let meant = now.saturating_sub(behind);
                    if pending.enter(name(id), other(), meant).is_ok() {
                        prop_assert_eq!(meant, now, "only the server of this moment can be asked");
                        prop_assert_eq!(owed.insert(id, now), None, "one question under one id at a time");
                        prop_assert!(!held.contains_key(&id));
                    }
                }
                Step::Hold { id } => {
                    if let Ok(ticket) = pending.hold(name(id), Expects::Anything) {
                        prop_assert_eq!(held.insert(id, ticket), None);
                        prop_assert!(!owed.contains_key(&id));
                    }
                }
                Step::EnterHeld { id, behind } => {
                    let meant = now.saturating_sub(behind);
                    let mut posted = false;
                    for ticket in spent.get(&id).into_iter().chain(held.get(&id)).copied().collect::<Vec<_>>() {
                        let entered = pending.enter_held(&name(id), ticket, other(), meant, || posted = true);
                        prop_assert_eq!(entered.is_ok(), posted, "posted if it is entered, and only then");
                        if posted {
                            prop_assert_eq!(meant, now);
                            prop_assert_eq!(held.remove(&id), Some(ticket), "by the ticket that counts");
                            prop_assert_eq!(owed.insert(id, now), None);
                            spent.insert(id, ticket);
                        }
                    }
                }
                Step::Release { id } => {
                    if let Some(ticket) = spent.get(&id) {
                        prop_assert!(!pending.release(&name(id), *ticket), "answered twice");
                    }
                    if let Some(ticket) = held.remove(&id) {
                        prop_assert!(pending.release(&name(id), ticket));
                        spent.insert(id, ticket);
                    }
                }
                Step::Answer { id, behind } => {
                    let from = now.saturating_sub(behind);
                    let answered = pending.answer(&name(id), from).is_some();
                    if answered && owed.remove(&id).is_some() {
                        prop_assert_eq!(from, now, "by the server that it was entered for");
                    } else if !answered && from == now {
                        prop_assert!(!owed.contains_key(&id), "an answer that is owed is not lost");
                    }
                }
                Step::Cancel { id } => {
                    let cancelled = pending.cancel(&name(id));
                    prop_assert_eq!(matches!(cancelled, Cancelled::Held), held.contains_key(&id));
                    owed.remove(&id);
                    spent.extend(held.remove(&id).map(|ticket| (id, ticket)));
                }
                Step::Sever { open } => {
                    let intake = if open { Intake::Open } else { Intake::Starting { until: Instant::now() } };
                    let left = pending.sever(intake);
                    prop_assert_eq!(left.len(), owed.len());
                    for (id, _) in left {
                        let id = id.to_string().parse().unwrap();
                        prop_assert_eq!(owed.remove(&id), Some(now));
                    }
                }
                Step::Open => pending.set_intake(Intake::Open),
                Step::Rest => {
                    let rested = pending.sever_if_idle(Intake::Idle, || false);
                    let nobody = owed.is_empty() && held.is_empty();
                    prop_assert_eq!(rested.is_some(), nobody, "never while somebody waits");
                }
            }
        }
        prop_assert_eq!(pending.sever(ended("over")).len(), owed.len() + held.len());
    }
}
