#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::num::NonZeroU32;

use callgate_home::clock::ManualClock;

use super::*;
use crate::database::open_writer;
use crate::testing::{call, count, events, home, info};
use crate::{EndReason, Event, Journal, Origin, Outcome};

fn trim_all(home: &Home, settings: &Settings, now: i64) -> usize {
    let writer = open_writer(home, now).unwrap();
    let mut steps = 0;
    while trim(&writer.connection, settings, now, Ceiling::of(settings).history(0, 0)).unwrap()
        == RemovalProgress::More
    {
        steps += 1;
        assert!(steps < 10_000);
    }
    steps
}

fn calls(home: &Home) -> i64 {
    count(home, "calls")
}

#[test]
fn calls_beyond_their_days_go_and_the_rest_stays() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let settings = Settings { history_days: NonZeroU32::new(7).unwrap(), ..Settings::default() };
    for _ in 0..10 {
        let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
        call(&journal, "a", "{}");
        journal.end(EndReason::ClientClosed);
        clock.advance(Duration::from_secs(24 * 60 * 60));
    }
    trim_all(&home, &settings, clock.now().wall_ms);
    assert_eq!(calls(&home), 7);
    assert_eq!(count(&home, "sessions"), 7);
}

#[test]
fn what_ages_out_leaves_one_row_a_day_and_loosenings_stay() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let settings = Settings { history_days: NonZeroU32::new(7).unwrap(), ..Settings::default() };
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    for _ in 0..700 {
        call(&journal, "a", "{}");
    }
    journal.event(Event { kind: EventKind::Loosened, text: "x is allowed" });
    journal.event(Event { kind: EventKind::Noise, text: "hum" });
    journal.policy_seen("v1", "{}", Origin::File);
    clock.advance(Duration::from_secs(1));
    journal.policy_seen("v2", "{ }", Origin::File);
    journal.end(EndReason::ClientClosed);
    let day = Duration::from_secs(24 * 60 * 60);
    clock.advance(day * 8);
    // In three steps, one row.
    trim_all(&home, &settings, clock.now().wall_ms);
    let rows = events(&home);
    let kinds: Vec<EventKind> = rows.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [EventKind::Loosened, EventKind::Expired], "{rows:?}");
    assert!(rows[1].1.contains("700 calls and 1 event of s ("), "{rows:?}");
    assert_eq!(count(&home, "policy_changes WHERE server = 's'"), 2);
    // For ever a row a day would be without end, too.
    for _ in 0..400 {
        let writer = open_writer(&home, 0).unwrap();
        let old = clock.now().wall_ms - 9 * 24 * 60 * 60 * 1000;
        let sql = "INSERT INTO events(at_ms, kind, server, text) VALUES (?1, 'noise', 's', 'hum')";
        writer.connection.execute(sql, [old]).unwrap();
        trim(&writer.connection, &settings, clock.now().wall_ms, 0).unwrap();
        clock.advance(day);
    }
    let rows = events(&home);
    let expired: Vec<_> = rows.iter().filter(|(kind, _)| *kind == EventKind::Expired).collect();
    assert_eq!(expired.len(), 367);
    assert!(expired[0].1.contains("700 calls and 35 events of s ("), "{}", expired[0].1);
}

#[test]
fn a_home_full_of_loosenings_keeps_its_ceiling_and_the_newest_of_them() {
    let (_folder, home) = home();
    let clock = ManualClock::new();
    let settings = Settings::default();
    let (kept, now) = (removals::KEPT_LOOSENINGS, clock.now().wall_ms);
    let writer = open_writer(&home, 0).unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
               INSERT INTO events(at_ms, kind, server, text) SELECT ?2 + i, 'loosened', 's', 'x ' || i FROM n";
    writer.connection.execute(sql, (kept + 700, now)).unwrap();
    let trimmed = |room: i64| {
        (0..100).take_while(|_| !trim(&writer.connection, &settings, now, room).unwrap().is_done()).count()
    };
    // With room for them they stay, however old.
    trimmed(i64::MAX / 2);
    assert_eq!(events(&home).len(), usize::try_from(kept).unwrap() + 700);
    assert!(trimmed(0) < 100, "it comes to an end");
    let rows = events(&home);
    let left: Vec<&str> =
        rows.iter().filter(|(kind, _)| *kind == EventKind::Loosened).map(|(_, text)| text.as_str()).collect();
    assert_eq!((left.len(), left.last()), (usize::try_from(kept).unwrap(), Some(&"x 2700")));
    let (_, told) = rows.iter().find(|(kind, _)| *kind == EventKind::Expired).unwrap();
    assert!(told.contains("700 events of s ("), "{told}");
}

#[test]
fn the_ceiling_holds_in_short_steps() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let large = format!(r#"{{"x":"{}"}}"#, "y".repeat(8_000));
    for _ in 0..400 {
        call(&journal, "a", &large);
    }
    journal.end(EndReason::ClientClosed);
    let settings = Settings { history_megabytes: NonZeroU32::new(1).unwrap(), ..Settings::default() };
    let steps = trim_all(&home, &settings, clock.now().wall_ms);
    assert!(steps > 1, "{steps}");
    let left = calls(&home);
    assert!(left > 20 && left < 140, "{left}");
    let writer = open_writer(&home, 0).unwrap();
    writer.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
    assert!(fs::metadata(home.history_db()).unwrap().len() < 3 << 20, "free pages are given back");
}

#[test]
fn a_session_keeps_house_by_itself() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let old = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    call(&old, "a", "{}");
    old.end(EndReason::ClientClosed);
    fs::write(home.settings(), r#"{"history":{"days":1,"megabytes":"many"}}"#).unwrap();
    clock.advance(Duration::from_secs(2 * 24 * 60 * 60));
    let new = Journal::open(&home, &info("s"), clock).unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while calls(&home) > 0 && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(calls(&home), 0);
    let events = events(&home);
    assert!(events.iter().any(|(kind, _)| *kind == EventKind::BadSettings), "{events:?}");
    new.end(EndReason::ClientClosed);
}

#[test]
fn old_logs_go_and_fresh_ones_stay() {
    let folder = tempfile::tempdir().unwrap();
    for (name, hours) in [("fresh", 0), ("young", 2), ("old", 5), ("ancient", 24 * 40)] {
        let path = folder.path().join(name);
        fs::write(&path, vec![0; 1000]).unwrap();
        let time = SystemTime::now() - Duration::from_secs(hours * 3600);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let left = || {
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    limit_logs(folder.path(), 1 << 20, 30);
    assert_eq!(left(), ["fresh", "old", "young"]);
    limit_logs(folder.path(), 2_000, 30);
    assert_eq!(left(), ["fresh", "young"]);
    limit_logs(folder.path(), 0, 30);
    assert_eq!(left(), ["fresh"]);
}

#[test]
fn what_no_call_refers_to_goes_before_any_call_does() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    call(&journal, "a", "{}");
    let large = "y".repeat(50_000);
    for version in 0..60 {
        clock.advance(Duration::from_secs(1));
        journal.policy_seen(&format!("edit-{version}"), &large, Origin::File);
    }
    // The call's own; then the oldest edit is put back and in force.
    journal.policy_seen("v1", "{}", Origin::File);
    clock.advance(Duration::from_secs(1));
    journal.policy_seen("edit-0", &large, Origin::File);
    journal.end(EndReason::ClientClosed);
    let settings = Settings { history_megabytes: NonZeroU32::new(1).unwrap(), ..Settings::default() };
    trim_all(&home, &settings, clock.now().wall_ms);
    assert_eq!(calls(&home), 1);
    let known = |version: &str| count(&home, &format!("policy_versions WHERE version = '{version}'")) > 0;
    assert_eq!(["v1", "edit-0", "edit-1", "edit-59"].map(known), [true, true, false, false]);
}

#[test]
fn names_of_calls_that_are_gone_do_not_stay_for_ever() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    for tool in 0..700 {
        let one = call(&journal, &format!("tool-{tool}"), "{}");
        if tool % 100 == 0 {
            assert!(journal.drained(Duration::from_secs(10)));
            journal.settle_one(&one, Outcome::Ok);
        }
    }
    assert!(journal.drained(Duration::from_secs(10)));
    let settings = Settings::default();
    clock.advance(Duration::from_secs(100 * 24 * 60 * 60));
    call(&journal, "tool-699", "{}");
    assert!(journal.drained(Duration::from_secs(10)));
    trim_all(&home, &settings, clock.now().wall_ms);
    assert_eq!(["calls", "contexts", "changes"].map(|table| count(&home, table)), [1, 1, 0]);
    // And the session, which remembers them, goes on with new ones.
    call(&journal, "tool-5", "{}");
    journal.end(EndReason::ClientClosed);
    assert_eq!(calls(&home), 2);
}

/// What the home takes on the disk, the program left out.
fn home_bytes(home: &Home) -> u64 {
    folder_bytes(home.path(), 0, &|_| false)
}

#[test]
fn the_log_of_the_history_does_not_grow_over_many_short_sessions() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let mut longest = 0;
    for _ in 0..12 {
        let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
        // Apart, so that each is a transaction of its own, as in ordinary use.
        for _ in 0..20 {
            call(&journal, "a", "{}");
            assert!(journal.drained(Duration::from_secs(10)));
        }
        journal.end(EndReason::ClientClosed);
        longest = longest.max(wal::bytes(&home.history_db()));
    }
    assert_eq!(calls(&home), 240);
    // 240 transactions wrote some 8 MB into it.
    assert!(longest < 3 << 20, "{longest}");
}

#[test]
fn the_ceiling_holds_while_several_sessions_write_as_fast_as_they_can() {
    let (_folder, home) = home();
    fs::write(home.settings(), r#"{"history":{"megabytes":8}}"#).unwrap();
    let clock = Arc::new(ManualClock::new());
    let args = format!(r#"{{"x":"{}"}}"#, "y".repeat(1_400));
    let most = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
                    let mut most = 0;
                    for number in 0..6_000 {
                        let call = call(&journal, "a", &args);
                        journal.settle_one(&call, Outcome::Ok);
                        if number % 50 == 0 {
                            most = most.max(home_bytes(&home));
                        }
                    }
                    journal.end(EndReason::ClientClosed);
                    most.max(home_bytes(&home))
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).max().unwrap()
    });
    // 18,000 calls of one and a half kilobytes: three times the ceiling.
    assert!(most <= (8 << 20) * 5 / 4, "{most}");
    let left = calls(&home);
    assert!(left > 1_000, "{left}");
}

#[test]
fn names_that_only_one_call_ever_had_do_not_push_every_call_out() {
    let (_folder, home) = home();
    fs::write(home.settings(), r#"{"history":{"megabytes":4}}"#).unwrap();
    let journal = Journal::open(&home, &info("s"), Arc::new(ManualClock::new())).unwrap();
    let long = "n".repeat(900);
    let mut most = 0;
    for number in 0..6_000 {
        call(&journal, &format!("{number}{long}"), "{}");
        if number % 100 == 0 {
            assert!(journal.drained(Duration::from_secs(20)));
            most = most.max(home_bytes(&home));
        }
    }
    journal.end(EndReason::ClientClosed);
    assert!(most <= (4 << 20) * 3 / 2, "{most}");
    let left = calls(&home);
    assert!(left > 300, "{left}");
}

#[test]
fn names_of_calls_that_are_gone_make_room_before_other_calls_do() {
    let (_folder, home) = home();
    fs::write(home.settings(), r#"{"history":{"megabytes":4}}"#).unwrap();
    let clock = Arc::new(ManualClock::new());
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let long = "n".repeat(900);
    for number in 0..1_500 {
        call(&journal, &format!("{number}{long}"), "{}");
    }
    journal.end(EndReason::ClientClosed);
    let before = calls(&home);
    let mut filer = Filer::open(&home, 0).unwrap();
    let mut housekeeping = Housekeeping::new(home.clone(), clock, Duration::ZERO);
    let room = i64::try_from(home_bytes(&home) / 2).unwrap();
    while pages(&filer).unwrap().exceeds(room, ROOMY) {
        housekeeping.trim_to(&mut filer, room).unwrap();
    }
    let left = calls(&home);
    assert!(left * 5 >= before * 2, "{left} of {before} calls are left in half of the room");
}
