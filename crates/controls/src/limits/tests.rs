#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;

use callgate_home::clock::ManualClock;
use proptest::prelude::*;

use super::*;

pub(super) fn limit(counter: &str, max: u32, seconds: u64, scope: Scope) -> Limit {
    Limit {
        pointer: format!("/limits/{counter}"),
        counter: counter.to_owned(),
        kind: callgate_policy::Kind::Calls(Duration::from_secs(seconds)),
        max: NonZeroU32::new(max).unwrap(),
        scope,
        on_deny: None,
        until_ms: None,
    }
}

/// One call's share.
pub(super) fn share(limit: &Limit) -> callgate_policy::Taking<'_> {
    callgate_policy::Taking { limit, amount: 1 }
}

pub(super) fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    crate::prepare_home(&home).unwrap();
    (folder, home)
}

pub(super) fn limits(home: &Home, server: &str, clock: &Arc<ManualClock>) -> Limits {
    Limits::new(home.clone(), server, SessionId::random(), clock.clone())
}

impl Limits {
    /// One more call, enforced, under a number of its own.
    pub(super) fn take_for(&mut self, client: &str, takings: &[Taking<'_>]) -> Result<(), NotTaken> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let seq = NEXT.fetch_add(1, Ordering::Relaxed);
        self.take(Counted { client, seq, observing: false, spend: None }, takings).map(drop)
    }
}

/// Brings everything from the log into the file, so that damage to the file is damage to the counters.
fn write_back(home: &Home) {
    let connection = crate::sqlite::open(&home.limits_db()).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
}

pub(super) fn is_capped(taken: Result<(), NotTaken>) -> Option<Capped> {
    match taken {
        Ok(()) => None,
        Err(NotTaken::Capped(capped)) => Some(capped),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn the_window_slides_and_says_when_it_frees() {
    let (_folder, home) = home();
    for scope in [Scope::Session, Scope::Grant] {
        let clock = Arc::new(ManualClock::new());
        let mut limits = limits(&home, "s", &clock);
        let limit = limit("x", 2, 60, scope);
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
        clock.advance(Duration::from_secs(30));
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
        let capped = is_capped(limits.take_for("c", &[share(&limit)])).unwrap();
        assert_eq!((capped.used, capped.frees_in), (2, Some(Duration::from_secs(30))));
        clock.advance(Duration::from_millis(29_999));
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
        clock.advance(Duration::from_millis(1));
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
        // The edge of a calendar minute gives no second helping.
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
    }
}

#[test]
fn all_limits_are_taken_or_none() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let (wide, narrow, session) = (
        limit("wide", 3, 60, Scope::Server),
        limit("narrow", 1, 60, Scope::All),
        limit("s", 9, 60, Scope::Session),
    );
    assert!(is_capped(limits.take_for("c", &[share(&wide), share(&narrow), share(&session)])).is_none());
    for _ in 0..5 {
        assert_eq!(
            is_capped(limits.take_for("c", &[share(&session), share(&wide), share(&narrow)]))
                .unwrap()
                .counter,
            "narrow"
        );
    }
    // The refused ones used up nothing of the other counters.
    assert!(is_capped(limits.take_for("c", &[share(&wide), share(&session)])).is_none());
    assert!(is_capped(limits.take_for("c", &[share(&wide), share(&session)])).is_none());
    assert!(is_capped(limits.take_for("c", &[share(&wide), share(&session)])).is_some());
    assert_eq!(limits.own.used("s", &session, clock.now().uptime_ms.cast_signed()), 3);
}

#[test]
fn two_limits_on_one_counter_count_a_call_once() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    for scope in [Scope::Session, Scope::Grant] {
        let mut limits = limits(&home, "s", &clock);
        let (minute, hour) = (limit("x", 2, 60, scope), limit("x", 3, 3600, scope));
        for _ in 0..2 {
            assert!(is_capped(limits.take_for("c", &[share(&minute), share(&hour)])).is_none());
        }
        assert!(is_capped(limits.take_for("c", &[share(&minute), share(&hour)])).is_some());
        clock.advance(Duration::from_secs(60));
        assert!(is_capped(limits.take_for("c", &[share(&minute), share(&hour)])).is_none());
        clock.advance(Duration::from_secs(60));
        assert!(
            is_capped(limits.take_for("c", &[share(&minute), share(&hour)])).is_some(),
            "three within the hour"
        );
        clock.advance(Duration::from_secs(3600));
    }
}

#[test]
fn scopes_keep_counters_apart() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let (mut one, mut two) = (limits(&home, "s1", &clock), limits(&home, "s2", &clock));
    let once = |scope| limit("x", 1, 60, scope);
    assert!(is_capped(one.take_for("c1", &[share(&once(Scope::Grant))])).is_none());
    assert!(is_capped(one.take_for("c2", &[share(&once(Scope::Grant))])).is_none());
    assert!(is_capped(two.take_for("c1", &[share(&once(Scope::Grant))])).is_none());
    assert!(is_capped(one.take_for("c1", &[share(&once(Scope::Grant))])).is_some());
    assert!(is_capped(one.take_for("c1", &[share(&once(Scope::Server))])).is_none());
    assert!(is_capped(one.take_for("c2", &[share(&once(Scope::Server))])).is_some());
    assert!(is_capped(one.take_for("c1", &[share(&once(Scope::Client))])).is_none());
    assert!(is_capped(two.take_for("c1", &[share(&once(Scope::Client))])).is_some());
    assert!(is_capped(one.take_for("c1", &[share(&once(Scope::All))])).is_none());
    assert!(is_capped(two.take_for("c2", &[share(&once(Scope::All))])).is_some());
    assert!(is_capped(two.take_for("c2", &[share(&once(Scope::Session))])).is_none());
}

#[test]
fn setting_the_wall_clock_empties_no_window() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 1, 60, Scope::Server);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    let year = 365 * 24 * 3600 * 1000;
    for jump in [year, -year, 2 * year, 0] {
        clock.set_wall(1_800_000_000_000 + jump);
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some(), "jump {jump}");
    }
    // After a reboot the wall clock is all there is; a step back does not count, a pause does.
    clock.reboot("boot-2", Duration::from_secs(10));
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
    clock.reboot("boot-3", Duration::from_secs(60));
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
}

#[test]
fn a_lost_database_counts_as_full() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut before = limits(&home, "s", &clock);
    let limit = limit("x", 5, 60, Scope::Server);
    assert!(is_capped(before.take_for("c", &[share(&limit)])).is_none(), "a new home is not full");

    let remove = || {
        for name in ["limits.db", "limits.db-wal", "limits.db-shm"] {
            let _gone = fs::remove_file(home.path().join(name));
        }
    };
    // Under a running session.
    remove();
    assert_eq!(
        is_capped(before.take_for("c", &[share(&limit)])).unwrap().frees_in,
        Some(Duration::from_secs(60))
    );
    clock.advance(Duration::from_secs(60));
    assert!(is_capped(before.take_for("c", &[share(&limit)])).is_none());
    // And between sessions.
    drop(before);
    remove();
    let mut after = limits(&home, "s", &clock);
    assert!(is_capped(after.take_for("c", &[share(&limit)])).is_some());
}

#[test]
fn a_deleted_log_counts_as_lost() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 2, 60, Scope::Server);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    fs::remove_file(home.path().join("limits.db-wal")).unwrap();
    // Whatever was in it, nothing more is let through than before.
    let passed = (0..5).filter(|_| is_capped(limits.take_for("c", &[share(&limit)])).is_none()).count();
    assert!(passed <= 1, "{passed}");
}

#[cfg(unix)]
#[test]
fn a_database_put_back_from_a_copy_counts_as_full() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let copy = home.path().join("copy");
    fs::copy(home.limits_db(), &copy).unwrap();
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 1, 60, Scope::Server);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    fs::rename(&copy, home.limits_db()).unwrap();
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
    assert!(is_capped(super::tests::limits(&home, "s", &clock).take_for("c", &[share(&limit)])).is_some());
}

#[test]
fn a_corrupt_database_is_kept_aside_and_counts_as_full() {
    for garbage in [vec![7u8; 5000], b"SQLite format 3\0garbage".to_vec(), Vec::new()] {
        let (_folder, home) = home();
        let clock = Arc::new(ManualClock::new());
        write_back(&home);
        fs::write(home.limits_db(), &garbage).unwrap();
        let mut limits = limits(&home, "s", &clock);
        let limit = limit("x", 5, 60, Scope::Server);
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
        // Its log goes along, under the name that a rescuer needs.
        let names = fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.file_name());
        let aside = names
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| name.contains("corrupt") && !name.ends_with("-wal") && !name.ends_with("-shm"))
            .count();
        assert_eq!(aside, usize::from(!garbage.is_empty()));
    }
}

#[test]
fn a_database_that_breaks_under_a_session_counts_as_full() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 500, 60, Scope::Server);
    for _ in 0..300 {
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    }
    drop(limits);
    write_back(&home);
    // In place, behind an intact first page.
    let mut bytes = fs::read(home.limits_db()).unwrap();
    assert!(bytes.len() > 8192);
    bytes[4096..].fill(0x5a);
    fs::write(home.limits_db(), bytes).unwrap();
    let mut limits = super::tests::limits(&home, "s", &clock);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_some());
}

#[test]
fn a_newer_format_is_refused_with_words() {
    let (_folder, home) = home();
    rusqlite::Connection::open(home.limits_db()).unwrap().pragma_update(None, "user_version", 9).unwrap();
    let clock = Arc::new(ManualClock::new());
    let refused = limits(&home, "s", &clock).take_for("c", &[share(&limit("x", 5, 60, Scope::Server))]);
    let Err(NotTaken::Store(error)) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("newer Callgate"), "{error}");
}

#[test]
fn a_locked_database_refuses_after_a_while() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 5, 60, Scope::Server);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    let other = rusqlite::Connection::open(home.limits_db()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = std::time::Instant::now();
    assert!(matches!(limits.take_for("c", &[share(&limit)]), Err(NotTaken::Store(_))));
    // Not for ever: on a machine that is full of other work it takes longer than the database waits.
    assert!(start.elapsed() < Duration::from_secs(30));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
}

#[test]
fn ten_sessions_share_one_limit_exactly() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let admitted: usize = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..10)
            .map(|index| {
                let (home, clock) = (&home, &clock);
                scope.spawn(move || {
                    let mut limits = limits(home, &format!("server{index}"), clock);
                    let limit = limit("shared", 333, 60, Scope::All);
                    (0..60).filter(|_| is_capped(limits.take_for("c", &[share(&limit)])).is_none()).count()
                })
            })
            .collect();
        sessions.into_iter().map(|session| session.join().unwrap()).sum()
    });
    assert_eq!(admitted, 333);
}

#[test]
fn old_admissions_are_removed() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 10, 60, Scope::Server);
    for _ in 0..2_000 {
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
        clock.advance(Duration::from_secs(20));
    }
    let rows: i64 = rusqlite::Connection::open(home.limits_db())
        .unwrap()
        .query_row("SELECT count(*) FROM admissions", (), |row| row.get(0))
        .unwrap();
    assert!(rows < 300, "{rows} rows for an hour of calls every 20 seconds");
}

#[test]
fn readings_show_without_taking() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let limit = limit("x", 3, 60, Scope::Grant);
    let mut limits = limits(&home, "s", &clock);
    for _ in 0..2 {
        assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    }
    let readings = Readings::open(&home, "s", "c", clock).unwrap();
    for _ in 0..5 {
        assert_eq!(readings.standing(&share(&limit)).used, 2);
    }
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    assert_eq!(readings.standing(&share(&limit)).frees_in, Some(Duration::from_secs(60)));
}

#[test]
fn a_wall_clock_set_back_before_a_reboot_delays_nothing_after_the_next_one() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut limits = limits(&home, "s", &clock);
    let limit = limit("x", 1, 1, Scope::Server);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    clock.set_wall(clock.now().wall_ms - 29_000);
    clock.reboot("second", Duration::ZERO);
    assert!(
        is_capped(limits.take_for("c", &[share(&limit)])).is_some(),
        "no time has passed that anybody could tell"
    );
    clock.advance(Duration::from_secs(4));
    clock.reboot("third", Duration::from_secs(5));
    assert!(
        is_capped(limits.take_for("c", &[share(&limit)])).is_none(),
        "nine seconds have, by one and the same wall clock"
    );
}

/// What may happen to a counter and its clocks.
#[derive(Clone, Debug)]
enum Step {
    Take,
    Pass(u64),
    SetWall(i64),
    Reboot(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Take),
        4 => (0u64..40_000).prop_map(Step::Pass),
        1 => (-100_000i64..100_000).prop_map(Step::SetWall),
        1 => (0u64..100_000).prop_map(Step::Reboot),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The model: the true time of every admission, on a ledger that stands still when the wall clock is set.
    #[test]
    fn the_window_is_exact_whatever_the_clocks_do(
        steps in proptest::collection::vec(step(), 1..60), max in 1u32..6, seconds in 1u64..60,
    ) {
        let (_folder, home) = home();
        let clock = Arc::new(ManualClock::new());
        let mut subject = limits(&home, "s", &clock);
        let limit = limit("x", max, seconds, Scope::Server);
        let (mut now, mut admitted, mut boots) = (0i64, Vec::<i64>::new(), 1);
        // Where ledger and wall stood at the last admission or at the first use in this boot, for the next reboot.
        let mut known: Option<(i64, i64)> = None;
        let mut rebooted = false;
        for step in steps {
            match step {
                Step::Pass(ms) => {
                    clock.advance(Duration::from_millis(ms));
                    now += ms.cast_signed();
                }
                Step::SetWall(by) => clock.set_wall(clock.now().wall_ms + by),
                Step::Reboot(off) => {
                    boots += 1;
                    clock.reboot(&format!("boot-{boots}"), Duration::from_millis(off));
                    rebooted = true;
                }
                Step::Reopen => subject = limits(&home, "s", &clock),
                Step::Take => {
                    let wall = clock.now().wall_ms;
                    if let Some((at, at_wall)) = known.filter(|_| rebooted) {
                        now = at + (wall - at_wall).max(1);
                        known = Some((now, wall));
                    }
                    rebooted = false;
                    known = known.or(Some((now, wall)));
                    let window = i64::try_from(seconds * 1000).unwrap();
                    let inside = admitted.iter().filter(|at| now - **at < window).count();
                    let capped = is_capped(subject.take_for("c", &[share(&limit)]));
                    prop_assert_eq!(capped.is_none(), inside < max as usize, "{} inside at {}", inside, now);
                    if capped.is_none() {
                        admitted.push(now);
                        known = Some((now, wall));
                    }
                }
            }
        }
    }
}

#[test]
fn a_narrow_limit_does_not_delete_what_a_wider_one_counts() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let (mut narrow, mut wide) = (limits(&home, "s", &clock), limits(&home, "s", &clock));
    let (few, many) = (limit("x", 10, 1, Scope::Server), limit("x", 200, 24 * 3600, Scope::Server));
    // The narrow one learns the counter first and never looks again.
    for _ in 0..2 {
        assert!(is_capped(narrow.take_for("c", &[share(&few)])).is_none());
    }
    assert!(is_capped(wide.take_for("c", &[share(&many)])).is_none());
    for _ in 3..200 {
        clock.advance(Duration::from_secs(120));
        assert!(is_capped(narrow.take_for("c", &[share(&few)])).is_none());
    }
    assert_eq!(is_capped(wide.take_for("c", &[share(&many)])).unwrap().used, 200);
}

#[test]
fn counters_of_an_older_format_go_on_counting() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let limit = limit("x", 2, 60, Scope::Server);
    assert!(is_capped(limits(&home, "s", &clock).take_for("c", &[share(&limit)])).is_none());
    let old = rusqlite::Connection::open(home.limits_db()).unwrap();
    old.execute_batch(
        "DROP TABLE amounts; DROP TABLE totals; DROP TABLE holds; DROP TABLE resets; PRAGMA user_version=1",
    )
    .unwrap();
    drop(old);
    let mut limits = super::tests::limits(&home, "s", &clock);
    assert!(is_capped(limits.take_for("c", &[share(&limit)])).is_none());
    assert_eq!(is_capped(limits.take_for("c", &[share(&limit)])).unwrap().used, 2);
    let total = Limit { kind: Kind::Total, ..limit };
    assert!(is_capped(limits.take_for("c", &[share(&total)])).is_none(), "nothing was lost");
}
