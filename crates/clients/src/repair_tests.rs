use std::path::PathBuf;

use super::*;
use crate::ledger::LedgerRow;
use crate::queue::Todo;

const NOW: i64 = 1_789_000_000_000;
const MINUTE: i64 = 60_000;

fn key(name: &str) -> LedgerKey {
    LedgerKey { client: "cursor".into(), path: "/c.json".into(), project: None, name: name.into() }
}

/// With a row for `git`, mended so many minutes ago.
fn ledger(minutes_ago: &[i64], rests: Option<Rests>) -> Ledger {
    let mut ledger = Ledger::default();
    ledger.put(row("git"));
    let mended = Mended {
        at_ms: minutes_ago.iter().map(|minutes| NOW - minutes * MINUTE).collect(),
        rests,
        ..Mended::new(&key("git"))
    };
    ledger.mended.push(mended);
    ledger
}

fn row(name: &str) -> LedgerRow {
    LedgerRow {
        key: key(name),
        server: name.into(),
        original: "00".into(),
        text: None,
        loads: None,
        at_ms: 1,
    }
}

fn moved(name: &str, binary: &str) -> Drift {
    Drift::Moved { key: key(name), binary: binary.to_owned() }
}

/// What is done, in a word.
fn done(drift: Drift, ledger: &Ledger) -> &'static str {
    let Repairs { again, contested } = repairs(&[drift], true, ledger, &[], NOW);
    match (&again[..], &contested[..]) {
        ([], []) => "nothing",
        ([_], []) => "put back",
        ([], [_]) => "left",
        _ => "both",
    }
}

#[test]
fn only_a_gate_of_ours_is_put_back_by_itself() {
    let (client, path) = ("cursor".to_owned(), PathBuf::from("/c.json"));
    let table = [
        ("a lost gate", Drift::LostGate { key: key("git") }, "put back"),
        ("our program elsewhere", moved("git", "/old/bin/callgate"), "put back"),
        ("our program on Windows", moved("git", r"C:\old\Callgate.exe"), "put back"),
        ("another program", moved("git", "/old/bin/callgate-evil"), "nothing"),
        ("a gate that somebody else wrote", moved("theirs", "/usr/bin/callgate"), "nothing"),
        (
            "a wiped file",
            Drift::Wiped { client: client.clone(), path: path.clone(), lost: vec![key("git")] },
            "nothing",
        ),
        ("a new entry", Drift::New { key: key("new") }, "nothing"),
        ("a removed entry", Drift::Removed { key: key("git") }, "nothing"),
        ("an edited entry", Drift::Edited { key: key("git") }, "nothing"),
        ("a gate that was changed", Drift::Tampered { key: key("git"), how: Vec::new() }, "nothing"),
        ("a shadowed file", Drift::Shadowed { path: path.clone(), by: path.clone() }, "nothing"),
        ("an unreadable file", Drift::Unreadable { client, path, why: "why".to_owned() }, "nothing"),
    ];
    for (what, drift, expected) in table {
        assert_eq!(done(drift, &ledger(&[], None)), expected, "{what}");
    }
}

#[test]
fn a_gate_is_put_back_three_times_within_an_hour_and_then_left() {
    let table: &[(&[i64], Option<Rests>, &str)] = &[
        (&[], None, "put back"),
        (&[1], None, "put back"),
        (&[2, 1], None, "put back"),
        (&[3, 2, 1], None, "left"),
        (&[59, 2, 1], None, "left"),
        // An hour is an hour.
        (&[60, 2, 1], None, "put back"),
        (&[600, 500, 1], None, "put back"),
        // It was said that it is left, and stays so however much time passes.
        (&[3, 2, 1], Some(Rests::Contested), "nothing"),
        (&[6000, 6000, 6000], Some(Rests::Contested), "nothing"),
        (&[], Some(Rests::Declined), "nothing"),
        // A clock that was set back by ten minutes, and by a day.
        (&[-10, -11, -12], None, "left"),
        (&[-1440, -1441, -1442], None, "put back"),
    ];
    for (minutes_ago, rests, expected) in table {
        let what = format!("{minutes_ago:?} {rests:?}");
        assert_eq!(
            done(Drift::LostGate { key: key("git") }, &ledger(minutes_ago, *rests)),
            *expected,
            "{what}"
        );
        assert_eq!(done(moved("git", "/old/callgate"), &ledger(minutes_ago, *rests)), *expected, "{what}");
    }
}

#[test]
fn nothing_is_done_while_it_is_switched_off_or_waits_for_its_client_already() {
    let drifts = [Drift::LostGate { key: key("git") }];
    let worn_out = ledger(&[3, 2, 1], None);
    assert_eq!(repairs(&drifts, false, &Ledger::default(), &[], NOW), Repairs::default());
    assert_eq!(repairs(&drifts, false, &worn_out, &[], NOW), Repairs::default());
    for todo in [Todo::Protect, Todo::Unprotect, Todo::Repair] {
        let waiting = [Queued { key: key("git"), todo: todo.clone(), since_ms: 1 }];
        assert_eq!(repairs(&drifts, true, &worn_out, &waiting, NOW), Repairs::default(), "{todo:?}");
    }
}

#[test]
fn each_entry_has_a_count_of_its_own() {
    let mut ledger = ledger(&[3, 2, 1], None);
    ledger.put(row("notes"));
    let drifts = ["git", "notes"].map(|name| Drift::LostGate { key: key(name) });
    let expected = Repairs { again: vec![key("notes")], contested: vec![key("git")] };
    assert_eq!(repairs(&drifts, true, &ledger, &[], NOW), expected);
}

#[test]
fn a_persons_own_protect_or_unprotect_starts_the_count_anew_and_our_own_does_not() {
    let mut by_us = ledger(&[2, 1], None);
    by_us.put_again(row("git"), NOW);
    assert_eq!(done(Drift::LostGate { key: key("git") }, &by_us), "left");
    assert_eq!(by_us.mended(&key("git")).map(|mended| mended.at_ms.len()), Some(MOST));
    by_us.put_again(row("git"), NOW);
    assert_eq!(by_us.mended(&key("git")).map(|mended| mended.at_ms.len()), Some(MOST), "no more than needed");

    let mut by_a_person = by_us.clone();
    by_a_person.rest(&key("git"), Rests::Contested);
    assert_eq!(done(Drift::LostGate { key: key("git") }, &by_a_person), "nothing");
    by_a_person.put(row("git"));
    assert_eq!(done(Drift::LostGate { key: key("git") }, &by_a_person), "put back");

    by_us.leave_open(&key("git"));
    assert_eq!(by_us.mended, []);
}
