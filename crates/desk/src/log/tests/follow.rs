//! What comes in, for whoever keeps up and for whoever does not.

use super::*;

#[test]
fn whoever_is_far_behind_sees_the_newest_and_how_many_there_were() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "t", client: "c", ..SeedCall::default() };
    let running = seeder.call(&SeedCall { seq: 1, outcome: None, ..call }).unwrap();
    seeder.keep().unwrap();
    let mut follower = fixture.desk.follow(&CallFilter::default(), running).unwrap();
    for seq in 2..=8_001 {
        seeder.call(&SeedCall { seq, ..call }).unwrap();
    }
    seeder.settle(running, Outcome::Ok, 9, "{}").unwrap();
    for seq in 8_002..=9_001 {
        seeder.call(&SeedCall { seq, ..call }).unwrap();
    }
    seeder.keep().unwrap();
    let batch = follower.next().unwrap().unwrap();
    assert_eq!(batch.skipped + batch.entries.len() as u64, 9_000 + 1, "all, and the one that is over now");
    assert_eq!(spans(&batch.entries)[0], (running, running, 1));
    assert_eq!(follower.next().unwrap(), None);
}

#[test]
fn whoever_wants_each_call_misses_none_however_far_behind() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let refused = SeedCall {
        session: key,
        tool: "t",
        client: "c",
        decision: Decision::Capped,
        rule: "/tools/t/limits/0",
        ..SeedCall::default()
    };
    let first = seeder.call(&SeedCall { seq: 1, ..refused }).unwrap();
    seeder.keep().unwrap();
    let each = CallFilter { only: Some(Only::Calls), unfolded: true, ..CallFilter::default() };
    let mut follower = fixture.desk.follow(&each, first).unwrap();
    let made: Vec<i64> = (2..=8_001).map(|seq| seeder.call(&SeedCall { seq, ..refused }).unwrap()).collect();
    seeder.keep().unwrap();
    let mut told = Vec::new();
    while let Some(batch) = follower.next().unwrap() {
        assert!(batch.skipped == 0 && !batch.reset, "{} {}", batch.skipped, batch.reset);
        told.extend(spans(&batch.entries));
    }
    assert_eq!(told, made.iter().map(|rev| (*rev, *rev, 1)).collect::<Vec<_>>());
}

#[test]
fn whoever_is_far_behind_is_told_of_every_call_that_ended_meanwhile() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "t", client: "c", ..SeedCall::default() };
    let running: Vec<i64> =
        (1..=6_500).map(|seq| seeder.call(&SeedCall { seq, outcome: None, ..call }).unwrap()).collect();
    seeder.keep().unwrap();
    let mut follower = fixture.desk.follow(&CallFilter::default(), running[running.len() - 1]).unwrap();
    for rev in &running {
        seeder.settle(*rev, Outcome::Ok, 9, "{}").unwrap();
    }
    seeder.call(&SeedCall { seq: 7_000, ..call }).unwrap();
    seeder.keep().unwrap();
    let mut over = Vec::new();
    let mut batches = 0;
    while let Some(batch) = follower.next().unwrap() {
        batches += 1;
        assert!(batch.entries.len() <= 2_500 && !batch.reset, "no batch without bounds");
        over.extend(spans(&batch.entries).into_iter().map(|(rev, _, _)| rev));
    }
    over.sort_unstable();
    over.dedup();
    let newest = over.pop().unwrap();
    assert!(newest > running[running.len() - 1] && batches > 3, "{newest} {batches}");
    assert_eq!(over, running);
}

#[test]
fn whoever_is_so_far_behind_that_changes_are_no_longer_on_record_is_told_to_read_anew() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "t", client: "c", ..SeedCall::default() };
    let running = seeder.call(&SeedCall { seq: 1, outcome: None, ..call }).unwrap();
    seeder.keep().unwrap();
    let mut follower = fixture.desk.follow(&CallFilter::default(), running).unwrap();
    seeder.skip(60_000);
    seeder.call(&SeedCall { seq: 2, ..call }).unwrap();
    seeder.keep().unwrap();
    let batch = follower.next().unwrap().unwrap();
    assert!(batch.reset, "{batch:?}");
    seeder.call(&SeedCall { seq: 3, ..call }).unwrap();
    seeder.keep().unwrap();
    assert!(!follower.next().unwrap().unwrap().reset, "once");
}

#[test]
fn a_history_that_cannot_be_followed_is_told_once_and_so_is_that_it_can_be_again() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "t", client: "c", ..SeedCall::default() };
    let first = seeder.call(&SeedCall { seq: 1, ..call }).unwrap();
    seeder.keep().unwrap();
    let mut follower = fixture.desk.follow(&CallFilter::default(), first).unwrap();
    assert_eq!(follower.tell(), None);
    let (path, away) = (fixture.home.history_db(), fixture.home.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    std::fs::create_dir(&path).unwrap();
    let problem = follower.tell().unwrap().problem.unwrap();
    assert!(
        problem.starts_with("New calls cannot be shown: ") && problem.contains("tried again"),
        "{problem}"
    );
    assert!(follower.is_troubled());
    assert_eq!(follower.tell(), None, "told once");
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&away, &path).unwrap();
    let over = follower.tell().unwrap();
    assert_eq!((over.problem, over.entries.len(), follower.is_troubled()), (None, 0, false));
    seeder.call(&SeedCall { seq: 2, ..call }).unwrap();
    seeder.keep().unwrap();
    assert_eq!(follower.tell().unwrap().entries.len(), 1);
}

#[test]
fn whoever_is_far_behind_is_told_of_every_event_and_change_before_the_newest_calls() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let key = session(&mut seeder, "aaaaaa", "s", 0);
    let call = SeedCall { session: key, tool: "t", client: "c", ..SeedCall::default() };
    let first = seeder.call(&SeedCall { seq: 1, ..call }).unwrap();
    seeder.keep().unwrap();
    let only_events = CallFilter { only: Some(Only::Events), ..CallFilter::default() };
    let mut followers =
        [CallFilter::default(), only_events].map(|filter| fixture.desk.follow(&filter, first).unwrap());
    seeder.event(1_000, EventKind::Paused, Some("s"), None, "paused").unwrap();
    seeder.change(1_000, "s", ("v1", "{}"), Some("v0"), Origin::Cli, "t is capped").unwrap();
    for seq in 2..=8_001 {
        seeder.call(&SeedCall { seq, ..call }).unwrap();
    }
    seeder.keep().unwrap();
    for (follower, expected) in followers.iter_mut().zip([2, 1]) {
        let batch = follower.next().unwrap().unwrap();
        assert_eq!(
            (beside(&batch.entries).len(), batch.reset),
            (expected, false),
            "or it says that some are missing"
        );
        assert!(batch.entries.is_sorted_by_key(super::super::line::rev));
        assert_eq!(follower.next().unwrap(), None);
    }
    // More of them than are worth telling one by one.
    for at_ms in 0..6_000 {
        seeder.event(at_ms, EventKind::Paused, Some("s"), None, "paused").unwrap();
    }
    seeder.keep().unwrap();
    for follower in &mut followers {
        assert!(follower.next().unwrap().unwrap().reset);
        assert_eq!(follower.next().unwrap(), None);
    }
}

/// Another history in the place of the one that there is, with so many calls.
fn replace_history(fixture: &Fixture, calls: u64) {
    for suffix in ["", "-wal", "-shm"] {
        let mut path = fixture.home.history_db().into_os_string();
        path.push(suffix);
        // Kept, so that the new one is not given the same number by the file system.
        let mut away = path.clone();
        away.push(".away");
        let _not_there = std::fs::rename(&path, &away);
    }
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    if calls > 0 {
        let key = session(&mut seeder, "bbbbbb", "new", 0);
        for seq in 1..=calls {
            seeder.call(&SeedCall { session: key, seq, tool: "t", ..SeedCall::default() }).unwrap();
        }
    }
    seeder.keep().unwrap();
}

#[test]
fn whoever_shows_a_history_that_was_replaced_is_told_to_read_anew() {
    // Also when the new one is longer than what was shown, or has nothing in it.
    for calls in [400, 0] {
        let fixture = fixture();
        let mut seeder = Seeder::open(&fixture.home).unwrap();
        let key = session(&mut seeder, "aaaaaa", "s", 0);
        for seq in 1..=300 {
            seeder.call(&SeedCall { session: key, seq, tool: "t", ..SeedCall::default() }).unwrap();
        }
        seeder.keep().unwrap();
        let page = fixture.desk.log_page(&CallFilter::default(), &PageFrom::Newest, 50).unwrap();
        let follow = || fixture.desk.follow(&CallFilter::default(), page.rev).unwrap();
        let (mut quiet, mut troubled) = (follow(), follow());
        assert_eq!((quiet.next().unwrap(), troubled.tell()), (None, None));
        // One of them looks when there is none that could be read.
        let (path, away) = (fixture.home.history_db(), fixture.home.path().join("away"));
        std::fs::rename(&path, &away).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(troubled.tell().unwrap().problem.is_some());
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&away, &path).unwrap();
        drop(seeder);
        replace_history(&fixture, calls);
        for follower in [&mut quiet, &mut troubled] {
            let batch = follower.tell().unwrap();
            assert!(batch.reset && batch.problem.is_none(), "{calls} calls: {batch:?}");
            let mut shown = spans(&batch.entries).len() as u64;
            while let Some(batch) = follower.tell() {
                assert!(!batch.reset, "once");
                shown += spans(&batch.entries).len() as u64;
            }
            assert_eq!(shown, calls);
        }
    }
}

#[test]
fn the_first_history_of_all_replaces_nothing() {
    let fixture = fixture();
    let mut follower = fixture.desk.follow(&CallFilter::default(), 0).unwrap();
    assert_eq!(follower.next().unwrap(), None);
    replace_history(&fixture, 3);
    let batch = follower.next().unwrap().unwrap();
    assert_eq!((spans(&batch.entries).len(), batch.reset), (3, false));
}
