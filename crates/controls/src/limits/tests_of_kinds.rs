#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::{BTreeMap, BTreeSet};

use callgate_home::clock::ManualClock;
use callgate_home::lease;
use callgate_policy::file::Path;
use proptest::prelude::*;

use super::tests::{home, is_capped, limit, limits, share};
use super::*;
use crate::counters::{list, reset};

fn of_kind(kind: Kind, max: u32, scope: Scope) -> Limit {
    Limit { kind, ..limit("x", max, 1, scope) }
}

fn sum(max: u32, seconds: u64, scope: Scope) -> Limit {
    let from = Path::parse("args.amount").unwrap();
    of_kind(Kind::Sum { window: Duration::from_secs(seconds), from }, max, scope)
}

const SCOPES: [Scope; 2] = [Scope::Session, Scope::Server];

#[test]
fn a_total_never_frees() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let three = of_kind(Kind::Total, 3, scope);
        for _ in 0..3 {
            assert!(is_capped(limits.take_for("c", &[share(&three)])).is_none());
            clock.advance(Duration::from_secs(30 * 24 * 3600));
        }
        let capped = is_capped(limits.take_for("c", &[share(&three)])).unwrap();
        assert_eq!((capped.used, capped.frees_in, capped.window), (3, None, None));
    }
}

#[test]
fn amounts_add_up_and_say_exactly_when_there_is_room() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let ten = sum(10, 60, scope);
        let mut spend = |amount: u64| is_capped(limits.take_for("c", &[Taking { limit: &ten, amount }]));
        assert_eq!(spend(4_000_001), None);
        clock.advance(Duration::from_secs(10));
        assert_eq!(spend(5_000_000), None);
        clock.advance(Duration::from_secs(10));
        assert_eq!(spend(999_999), None, "exactly full");
        let wait = |capped: Option<Capped>| capped.unwrap().frees_in;
        assert_eq!(wait(spend(1)), Some(Duration::from_secs(40)), "the first of them goes");
        assert_eq!(wait(spend(4_000_001)), Some(Duration::from_secs(40)));
        assert_eq!(wait(spend(4_000_002)), Some(Duration::from_secs(50)), "the second has to go too");
        assert_eq!(wait(spend(10_000_000)), Some(Duration::from_secs(60)));
        assert_eq!(wait(spend(10_000_001)), None, "more than the whole never fits");
        assert_eq!(wait(spend(u64::MAX)), None);
        assert_eq!(spend(0), None);
        clock.advance(Duration::from_millis(39_999));
        assert!(spend(1).is_some());
        clock.advance(Duration::from_millis(1));
        assert_eq!(spend(4_000_001), None);
    }
}

#[test]
fn amounts_too_large_to_add_fill_the_window_and_nothing_else() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let widest = sum(u32::MAX, 1, scope);
        let observed = |seq| Counted { client: "c", seq, observing: true, spend: None };
        for seq in 0..200 {
            limits.take(observed(seq), &[Taking { limit: &widest, amount: u64::MAX }]).unwrap();
        }
        assert!(is_capped(limits.take_for("c", &[share(&widest)])).is_some());
        clock.advance(Duration::from_secs(1));
        let all = Taking { limit: &widest, amount: widest.ceiling() };
        for _ in 0..3_000 {
            assert!(is_capped(limits.take_for("c", &[all])).is_none());
            clock.advance(Duration::from_secs(1));
        }
    }
}

#[test]
fn a_place_is_free_when_its_call_is_over() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let _lease = lease::take(&home, limits.session).unwrap();
        let two = of_kind(Kind::Concurrent, 2, scope);
        let mut next = 0;
        let mut start = |limits: &mut Limits| {
            next += 1;
            let call = Counted { client: "c", seq: next, observing: false, spend: None };
            is_capped(limits.take(call, &[share(&two)]).map(drop)).map_or(Ok(next), Err)
        };
        let (one, other) = (start(&mut limits).unwrap(), start(&mut limits).unwrap());
        clock.advance(Duration::from_secs(24 * 3600));
        let capped = start(&mut limits).unwrap_err();
        assert_eq!((capped.used, capped.frees_in), (2, None));
        limits.free([(one, false)]);
        limits.free([(one, false)]);
        let third = start(&mut limits).unwrap();
        start(&mut limits).unwrap_err();
        // Given up by the client: it may still run.
        limits.free([(other, true)]);
        limits.free([(third, true)]);
        clock.advance(Duration::from_millis(59_999));
        assert_eq!(start(&mut limits).unwrap_err().frees_in, Some(Duration::from_millis(1)));
        limits.free([(third, false)]);
        start(&mut limits).unwrap();
        start(&mut limits).unwrap_err();
        clock.advance(Duration::from_millis(1));
        start(&mut limits).unwrap();
        start(&mut limits).unwrap_err();
    }
}

#[test]
fn the_place_of_a_cancelled_call_is_free_when_its_server_is_gone() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let _lease = lease::take(&home, limits.session).unwrap();
        let two = of_kind(Kind::Concurrent, 2, scope);
        let call = |seq| Counted { client: "c", seq, observing: false, spend: None };
        limits.take(call(1), &[share(&two)]).unwrap();
        limits.take(call(2), &[share(&two)]).unwrap();
        limits.free([(1, true)]);
        let capped = is_capped(limits.take(call(3), &[share(&two)]).map(drop)).unwrap();
        assert_eq!((capped.used, capped.frees_in), (2, Some(Duration::from_secs(60))));
        limits.free_given_up();
        limits.take(call(4), &[share(&two)]).unwrap();
        let capped = is_capped(limits.take(call(5), &[share(&two)]).map(drop)).unwrap();
        assert_eq!(
            (capped.used, capped.frees_in),
            (2, None),
            "a call that somebody waits for keeps its place"
        );
    }
}

#[test]
fn places_of_sessions_that_are_gone_are_free() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let (mut one, mut two) = (limits(&home, "s", &clock), limits(&home, "t", &clock));
    let leases = [&one, &two].map(|limits| lease::take(&home, limits.session).unwrap());
    let only = of_kind(Kind::Concurrent, 1, Scope::All);
    assert!(is_capped(one.take_for("c", &[share(&only)])).is_none());
    assert!(is_capped(two.take_for("c", &[share(&only)])).is_some());
    let [of_one, _of_two] = leases;
    drop(of_one);
    assert!(is_capped(two.take_for("c", &[share(&only)])).is_none());
    assert!(is_capped(two.take_for("c", &[share(&only)])).is_some());
}

#[test]
fn a_place_that_could_not_be_given_back_is_given_back_with_the_next_take() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let _lease = lease::take(&home, limits.session).unwrap();
    let only = of_kind(Kind::Concurrent, 1, Scope::All);
    let call = |seq| Counted { client: "c", seq, observing: false, spend: None };
    limits.take(call(1), &[share(&only)]).unwrap();
    let other = rusqlite::Connection::open(home.limits_db()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    limits.free([(1, false)]);
    assert_eq!(limits.unfreed.len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    limits.take(call(2), &[share(&only)]).unwrap();
    assert!(limits.unfreed.is_empty());
}

#[test]
fn an_observed_call_counts_above_the_maximum() {
    let (_folder, home) = home();
    for scope in SCOPES {
        for (kind, max) in [
            (Kind::Calls(Duration::from_secs(60)), 2),
            (Kind::Total, 2),
            (Kind::Concurrent, 2),
            (sum(1, 60, scope).kind, 1),
        ] {
            let clock = Arc::new(ManualClock::new());
            let mut limits = limits(&home, "s", &clock);
            let _lease = lease::take(&home, limits.session).unwrap();
            let mut limit = of_kind(kind, max, scope);
            limit.counter = format!("{:?}", CounterKind::of(&limit));
            let taking = Taking { limit: &limit, amount: limit.ceiling().div_ceil(2) };
            let observed = |seq| Counted { client: "c", seq, observing: true, spend: None };
            let over: Vec<bool> =
                (0..6).map(|seq| limits.take(observed(seq), &[taking]).unwrap().over.is_some()).collect();
            assert_eq!(over, [false, false, true, true, true, true], "{limit:?}");
            assert!(is_capped(limits.take_for("c", &[taking])).is_some(), "{limit:?}");
        }
    }
}

#[test]
fn kinds_of_one_name_are_separate_counters() {
    let (_folder, home) = home();
    for scope in SCOPES {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let _lease = lease::take(&home, limits.session).unwrap();
        let kinds = [
            of_kind(Kind::Calls(Duration::from_secs(60)), 1, scope),
            of_kind(Kind::Total, 2, scope),
            of_kind(Kind::Concurrent, 3, scope),
            sum(4, 60, scope),
        ];
        for limit in &kinds {
            let taking = Taking { limit, amount: limit.ceiling() / u64::from(limit.max.get()) };
            for _ in 0..limit.max.get() {
                assert!(is_capped(limits.take_for("c", &[taking])).is_none(), "{limit:?}");
            }
            assert!(is_capped(limits.take_for("c", &[taking])).is_some(), "{limit:?}");
        }
    }
}

#[test]
fn a_reset_forgives_a_loss_for_one_counter_of_one_server() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let lose = || {
        for name in ["limits.db", "limits.db-wal", "limits.db-shm"] {
            let _gone = std::fs::remove_file(home.path().join(name));
        }
    };
    lose();
    let mut here = limits(&home, "here", &clock);
    let _lease = lease::take(&home, here.session).unwrap();
    let kinds = [
        of_kind(Kind::Total, 2, Scope::Grant),
        of_kind(Kind::Concurrent, 2, Scope::Server),
        sum(2, 3600, Scope::All),
        of_kind(Kind::Calls(Duration::from_secs(3600)), 2, Scope::Client),
    ];
    clock.advance(Duration::from_secs(60));
    for limit in &kinds {
        let capped = is_capped(here.take_for("c", &[share(limit)])).unwrap();
        let left = limit.window().map(|window| window - Duration::from_secs(60));
        // The file is found missing at the first take, so that is when it was lost.
        assert_eq!(capped.frees_in.is_some(), left.is_some(), "{limit:?}");
    }
    assert!(reset(&home, "here", "x", clock.as_ref()).unwrap().is_empty(), "nothing was counted yet");
    for limit in &kinds {
        assert!(is_capped(here.take_for("c", &[share(limit)])).is_none(), "{limit:?}");
    }
    let mut there = limits(&home, "there", &clock);
    let total = of_kind(Kind::Total, 2, Scope::Server);
    assert!(is_capped(there.take_for("c", &[share(&total)])).is_some(), "the loss still counts there");
    // A second loss is not forgiven with the first.
    lose();
    assert!(is_capped(here.take_for("c", &[share(&kinds[0])])).is_some());
}

#[test]
fn counters_are_listed_and_set_back_under_a_running_session() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let _lease = lease::take(&home, limits.session).unwrap();
    let total = of_kind(Kind::Total, 2, Scope::Grant);
    let amount = sum(9, 60, Scope::Server);
    let mut other = of_kind(Kind::Concurrent, 1, Scope::Server);
    other.counter = "y".to_owned();
    for _ in 0..2 {
        let sum = Taking { limit: &amount, amount: 1_500_000 };
        assert!(is_capped(limits.take_for("c", &[share(&total), sum])).is_none());
    }
    assert!(is_capped(limits.take_for("c", &[share(&other)])).is_none());
    let shown = |rows: &[crate::counters::CounterRow]| {
        rows.iter().map(|row| (row.counter.clone(), row.kind, row.used)).collect::<BTreeSet<_>>()
    };
    let x = BTreeSet::from([
        ("x".to_owned(), CounterKind::Total, 2),
        ("x".to_owned(), CounterKind::Sum, 3_000_000),
    ]);
    let mut all = x.clone();
    all.insert(("y".to_owned(), CounterKind::Concurrent, 1));
    let rows = list(&home, "s", clock.as_ref()).unwrap();
    assert_eq!(shown(&rows), all);
    assert!(rows.iter().all(|row| !row.lost));
    assert_eq!(list(&home, "elsewhere", clock.as_ref()).unwrap(), []);
    assert_eq!(reset(&home, "elsewhere", "x", clock.as_ref()).unwrap(), []);
    assert!(is_capped(limits.take_for("c", &[share(&total)])).is_some());
    assert_eq!(shown(&reset(&home, "s", "x", clock.as_ref()).unwrap()), x);
    for _ in 0..2 {
        assert!(is_capped(limits.take_for("c", &[share(&total)])).is_none());
    }
    assert!(is_capped(limits.take_for("c", &[share(&total)])).is_some());
    assert!(is_capped(limits.take_for("c", &[share(&other)])).is_some(), "another name");
}

#[test]
fn ten_sessions_share_every_kind_exactly() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let total = of_kind(Kind::Total, 77, Scope::All);
    let places = of_kind(Kind::Concurrent, 5, Scope::All);
    let amount = sum(100, 60, Scope::All);
    let sessions: Vec<_> = (0..10).map(|index| limits(&home, &format!("s{index}"), &clock)).collect();
    let _leases: Vec<_> = sessions.iter().map(|limits| lease::take(&home, limits.session).unwrap()).collect();
    // Who is under way, as their own threads see it: never more than there are places.
    let under_way = std::sync::Mutex::new((0u64, 0u64));
    let taken: (u64, u64) = std::thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .into_iter()
            .map(|mut limits| {
                let (total, places, amount, under_way) = (&total, &places, &amount, &under_way);
                scope.spawn(move || {
                    let mut counts = (0, 0);
                    for seq in 0..40 {
                        let call = Counted { client: "c", seq, observing: false, spend: None };
                        let spent = Taking { limit: amount, amount: 3_000_000 };
                        counts.1 += u64::from(limits.take(call, &[spent]).is_ok());
                        if limits.take(call, &[share(total), share(places)]).is_ok() {
                            counts.0 += 1;
                            let mut now = under_way.lock().unwrap();
                            now.0 += 1;
                            now.1 = now.1.max(now.0);
                            now.0 -= u64::from(seq % 2 == 0);
                            drop(now);
                            if seq % 2 == 0 {
                                limits.free([(seq, false)]);
                            } else {
                                std::thread::yield_now();
                                under_way.lock().unwrap().0 -= 1;
                                limits.free([(seq, false)]);
                            }
                        }
                    }
                    counts
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    assert!(taken.0 <= 77 && taken.1 == 33, "{taken:?}");
    assert!(under_way.lock().unwrap().1 <= 5);
}

/// What may happen to several sessions that share counters.
#[derive(Clone, Debug)]
enum Step {
    Take { who: usize, limits: BTreeSet<usize>, amount: u64, observing: bool },
    Settle(usize),
    Cancel(usize),
    Pass(u64),
    Kill(usize),
    Reopen(usize),
}

const SESSIONS: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    let amount = prop_oneof![4 => 0u64..3_000_000, 1 => Just(5_000_000), 1 => Just(u64::MAX)];
    let take =
        (0..SESSIONS, proptest::collection::btree_set(0..8usize, 1..5), amount, prop::bool::weighted(0.2));
    prop_oneof![
        10 => take.prop_map(|(who, limits, amount, observing)| Step::Take { who, limits, amount, observing }),
        3 => (0..9usize).prop_map(Step::Settle),
        2 => (0..9usize).prop_map(Step::Cancel),
        5 => (0u64..30_000).prop_map(Step::Pass),
        1 => (0..SESSIONS).prop_map(Step::Kill),
        1 => (0..SESSIONS).prop_map(Step::Reopen),
    ]
}

/// Everything that was ever taken, looked through from the start each time.
#[derive(Default)]
struct Model {
    taken: BTreeMap<String, Vec<(i64, u64)>>,
    held: BTreeMap<String, Vec<(u64, Option<i64>)>>,
}

impl Model {
    fn used(&self, key: &str, limit: &Limit, now: i64) -> u64 {
        let taken = self.taken.get(key).map_or(&[][..], Vec::as_slice);
        match &limit.kind {
            Kind::Calls(window) | Kind::Sum { window, .. } => {
                let edge = now - i64::try_from(window.as_millis()).unwrap();
                let inside = taken.iter().filter(|(at, _)| *at > edge).map(|(_, amount)| *amount);
                inside.fold(0, u64::saturating_add)
            }
            Kind::Total => taken.len() as u64,
            Kind::Concurrent => {
                let held = self.held.get(key).map_or(&[][..], Vec::as_slice);
                held.iter().filter(|(_, frees)| frees.is_none_or(|frees| frees > now)).count() as u64
            }
        }
    }

    fn has_room(&self, key: &str, taking: &Taking<'_>, now: i64) -> bool {
        self.used(key, taking.limit, now).saturating_add(taking.amount) <= taking.limit.ceiling()
    }

    /// The first moment at which it would fit, if only time passes.
    fn frees_in(&self, key: &str, taking: &Taking<'_>, now: i64) -> Option<Duration> {
        let moments: Vec<i64> = match taking.limit.window() {
            Some(window) => {
                let window = i64::try_from(window.as_millis()).unwrap();
                self.taken.get(key).into_iter().flatten().map(|(at, _)| at + window).collect()
            }
            None => self.held.get(key).into_iter().flatten().filter_map(|(_, frees)| *frees).collect(),
        };
        let first =
            moments.into_iter().filter(|at| *at > now).filter(|at| self.has_room(key, taking, *at)).min()?;
        Some(Duration::from_millis((first - now).unsigned_abs()))
    }

    fn free(&mut self, call: u64, frees: Option<i64>) {
        for held in self.held.values_mut() {
            match frees {
                None => held.retain(|(known, _)| *known != call),
                Some(_) => held
                    .iter_mut()
                    .filter(|(known, until)| *known == call && until.is_none())
                    .for_each(|(_, until)| *until = frees),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sessions on one home and counters in memory agree with a model that only ever adds up.
    #[test]
    fn no_interleaving_exceeds_a_limit_of_any_kind(steps in proptest::collection::vec(step(), 1..80)) {
        let (_folder, home) = home();
        let clock = Arc::new(ManualClock::new());
        let named = |limit: Limit, counter: &str| Limit { counter: counter.to_owned(), ..limit };
        let calls = |scope| of_kind(Kind::Calls(Duration::from_secs(20)), 3, scope);
        let all = [
            named(calls(Scope::All), "a"),
            named(of_kind(Kind::Total, 9, Scope::Server), "a"),
            named(of_kind(Kind::Concurrent, 2, Scope::All), "a"),
            named(sum(4, 30, Scope::Grant), "a"),
            named(calls(Scope::Session), "a"),
            named(of_kind(Kind::Total, 5, Scope::Session), "a"),
            named(of_kind(Kind::Concurrent, 2, Scope::Session), "a"),
            named(sum(2, 15, Scope::Session), "a"),
        ];
        let start = || {
            let limits = limits(&home, "s", &clock);
            let lease = lease::take(&home, limits.session).unwrap();
            (limits, lease)
        };
        let mut sessions: Vec<_> = (0..SESSIONS).map(|_| start()).collect();
        let (mut model, mut memory) = (Model::default(), Counters::for_limits(&all));
        // Calls under way: their number and who made them.
        let mut open: Vec<(u64, SessionId)> = Vec::new();
        let mut next = 0;
        for step in steps {
            let now = clock.now().uptime_ms.cast_signed();
            match step {
                Step::Pass(ms) => clock.advance(Duration::from_millis(ms)),
                Step::Reopen(who) => sessions[who].0.shared = None,
                Step::Kill(who) => {
                    let dead = sessions[who].0.session;
                    sessions[who] = start();
                    for (call, _) in open.iter().filter(|(_, session)| *session == dead) {
                        model.free(*call, None);
                        memory.release(*call);
                    }
                    open.retain(|(_, session)| *session != dead);
                }
                Step::Settle(nth) if nth < open.len() => {
                    let (call, session) = open.remove(nth);
                    let (limits, _) = sessions.iter_mut().find(|(l, _)| l.session == session).unwrap();
                    limits.free([(call, false)]);
                    model.free(call, None);
                    memory.release(call);
                }
                Step::Cancel(nth) if nth < open.len() => {
                    let (call, session) = open[nth];
                    let (limits, _) = sessions.iter_mut().find(|(l, _)| l.session == session).unwrap();
                    limits.free([(call, true)]);
                    model.free(call, Some(now + 60_000));
                    memory.cancelled(call, now);
                }
                Step::Settle(_) | Step::Cancel(_) => {}
                Step::Take { who, limits: chosen, amount, observing } => {
                    next += 1;
                    let subject = &mut sessions[who].0;
                    let session = subject.session;
                    let takings: Vec<Taking<'_>> = chosen
                        .iter()
                        .map(|index| &all[*index])
                        .map(|limit| match limit.kind {
                            Kind::Sum { .. } => Taking { limit, amount },
                            _ => share(limit),
                        })
                        .collect();
                    let keys: Vec<String> =
                        takings.iter().map(|taking| key(taking.limit, "c", "s", session.as_str())).collect();
                    let full: Vec<usize> = (0..keys.len())
                        .filter(|index| !model.has_room(&keys[*index], &takings[*index], now))
                        .collect();
                    for (index, taking) in takings.iter().enumerate() {
                        let found = memory.full(&keys[index], taking, now);
                        prop_assert_eq!(found.is_some(), full.contains(&index), "memory, {:?}", taking);
                        let used = memory.used(&keys[index], taking.limit, now);
                        prop_assert_eq!(
                            used.min(taking.limit.ceiling()),
                            model.used(&keys[index], taking.limit, now).min(taking.limit.ceiling())
                        );
                        if let Some(found) = found {
                            prop_assert_eq!(found.frees_in, model.frees_in(&keys[index], taking, now));
                        }
                    }
                    let call = Counted { client: "c", seq: next, observing, spend: None };
                    match subject.take(call, &takings) {
                        Ok(taken) => {
                            prop_assert!(observing || full.is_empty(), "{:?} were full", full);
                            prop_assert_eq!(taken.over, full.first().copied());
                            prop_assert_eq!(taken.at, clock.now());
                            open.push((next, session));
                            for (key, taking) in keys.iter().zip(&takings) {
                                match taking.limit.kind {
                                    Kind::Concurrent => {
                                        model.held.entry(key.clone()).or_default().push((next, None));
                                    }
                                    _ => model.taken.entry(key.clone()).or_default().push((now, taking.amount)),
                                }
                                memory.take(key, taking, now, next);
                            }
                        }
                        Err(NotTaken::Capped(capped)) => {
                            // Of several, a session's own are asked first.
                            let own = |index: &&usize| takings[**index].limit.scope == Scope::Session;
                            let first = *full.iter().find(own).or(full.first()).unwrap();
                            let of = |limit: &Limit| (limit.pointer.clone(), limit.window(), limit.max);
                            prop_assert!(!observing);
                            prop_assert_eq!(
                                (capped.pointer, capped.window, capped.max), of(takings[first].limit));
                            prop_assert_eq!(
                                capped.frees_in, model.frees_in(&keys[first], &takings[first], now));
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}
