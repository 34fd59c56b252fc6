use super::*;

const NOON: i64 = 1_800_000_000_000;

fn rows(tool: &str, minute_ms: i64, calls: u64) -> Tallied {
    Tallied {
        server: "s".to_owned(),
        client: "c".to_owned(),
        tool: tool.to_owned(),
        refused: false,
        minute_ms: minute_ms.div_euclid(MINUTE_MS) * MINUTE_MS,
        calls,
        last_ms: minute_ms,
    }
}

/// Somebody who made so many calls in each of a hundred minutes.
fn used_to(calls: u64) -> Alarms {
    let mut learned = Learned::default();
    for minute in 0..100 {
        learned.add(&[rows("t", NOON - (500 + minute) * MINUTE_MS, calls)]);
    }
    let mut alarms = Alarms::default();
    alarms.know(learned);
    alarms
}

/// Somebody whose history is empty.
fn without_a_past() -> Alarms {
    let mut alarms = Alarms::default();
    alarms.know(Learned::default());
    alarms
}

#[test]
fn nothing_is_unusual_before_the_past_is_known() {
    let mut alarms = Alarms::default();
    assert_eq!(alarms.step(NOON, &[rows("t", NOON, 500)]), []);
    assert_eq!(alarms.raised(), []);
    // Once it is, what goes on is looked at with that in mind.
    alarms.know(Learned::default());
    assert_eq!(alarms.step(NOON + 1_000, &[]).len(), 1);
}

#[test]
fn what_is_unusual_depends_on_what_is_usual() {
    // What a minute usually has, what this one has, whether that is worth an alarm.
    let cases = [
        (Some(2), 29, false),
        (Some(2), 30, true),
        (Some(20), 59, false),
        (Some(20), 60, true),
        (Some(400), 1_000, false),
        (Some(400), 1_200, true),
        (None, 59, false),
        (None, 60, true),
    ];
    for (usual, calls, raised) in cases {
        let mut alarms = usual.map_or_else(without_a_past, used_to);
        let new = alarms.step(NOON + 59_000, &[rows("t", NOON, calls)]);
        assert_eq!(!new.is_empty(), raised, "{usual:?} {calls}");
        assert_eq!(alarms.raised(), new);
        if let Some(alarm) = new.first() {
            assert_eq!(u64::from(alarm.usual_per_minute), usual.unwrap_or_default());
            assert_eq!(u64::from(alarm.per_minute), calls);
        }
    }
}

#[test]
fn one_burst_raises_one_alarm_and_the_next_burst_another() {
    let mut alarms = used_to(2);
    let mut raised = 0;
    let mut second = NOON;
    // Three minutes of a burst, looked at every second; five of quiet; the same again.
    for _ in 0..2 {
        for _ in 0..180 {
            raised += alarms.step(second, &[rows("t", second, 2)]).len();
            second += 1_000;
        }
        assert_eq!(alarms.raised().len(), 1);
        for _ in 0..300 {
            raised += alarms.step(second, &[]).len();
            second += 1_000;
        }
        assert_eq!(alarms.raised(), [], "it ends by itself");
    }
    assert_eq!(raised, 2);
}

#[test]
fn a_burst_over_the_turn_of_a_minute_is_one_burst() {
    let mut alarms = used_to(2);
    let turn = NOON.div_euclid(MINUTE_MS) * MINUTE_MS;
    assert_eq!(alarms.step(turn - 1_000, &[rows("t", turn - 1_000, 20)]), []);
    assert_eq!(alarms.step(turn + 1_000, &[rows("t", turn + 1_000, 20)]).len(), 1);
}

#[test]
fn refused_calls_raise_no_alarm_and_tools_are_told_apart() {
    let mut alarms = without_a_past();
    let refused = Tallied { refused: true, ..rows("t", NOON, 5_000) };
    assert_eq!(alarms.step(NOON, &[refused]), []);
    let many: Vec<Tallied> = (0..50).map(|n| rows(&format!("t{n}"), NOON, 40)).collect();
    assert_eq!(alarms.step(NOON, &many), [], "each by itself is within the usual");
}

#[test]
fn names_without_end_do_not_fill_the_memory() {
    let mut alarms = without_a_past();
    let many: Vec<Tallied> = (0..6_000).map(|n| rows(&format!("t{n}"), NOON, 1)).collect();
    alarms.step(NOON, &many);
    assert!(alarms.now.len() <= MOST);
    // Wave after wave, each settled before the next one comes.
    for wave in 1..4 {
        let at = NOON + wave * 10 * MINUTE_MS;
        let many: Vec<Tallied> = (0..3_000).map(|n| rows(&format!("w{wave}-{n}"), at, 1)).collect();
        alarms.step(at, &many);
        alarms.step(at + 5 * MINUTE_MS, &[]);
    }
    assert!(alarms.usual.len() <= MOST && alarms.now.is_empty());
}
