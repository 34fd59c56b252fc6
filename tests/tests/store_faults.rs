//! The disk, the databases and the policy fail: no forbidden call runs, and the client hears why.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::Write as _;
use std::path::Path;

use callgate_tests::gate::{Bench, DENY_POLICY, Gate, OPEN_POLICY};
use callgate_tests::history;
use callgate_tests::json::Json;
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session, is_refusal, result_text};
use callgate_tests::small_disk::SmallDisk;

/// A home on a disk of its own, with the corpus policy in it.
fn home_on_small_disk(options: &std::ffi::CStr) -> Option<(Bench, SmallDisk)> {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let disk = SmallDisk::over(&bench.home(), options)?;
    std::fs::create_dir(bench.home().join("policies")).unwrap();
    std::fs::write(bench.policy_file(), DENY_POLICY).unwrap();
    for (path, mode) in
        [(bench.home(), 0o700), (bench.home().join("policies"), 0o700), (bench.policy_file(), 0o600)]
    {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }
    Some((bench, disk))
}

fn text(answer: &Json) -> String {
    result_text(answer).unwrap_or_else(|| panic!("no tool result: {}", answer.to_text())).to_owned()
}

fn assert_not_recorded(answer: &Json) {
    assert!(is_refusal(answer), "{}", answer.to_text());
    let text = text(answer);
    assert!(text.starts_with("Callgate: not forwarded, because the call could not be recorded ("), "{text}");
}

#[test]
fn read_only_home_refuses_calls_and_says_so() {
    let Some((bench, disk)) = home_on_small_disk(c"size=8m") else { return };
    disk.read_only();
    let mut session = bench.session("", &[]).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#).unwrap();
    assert!(session.answer("0").unwrap().at(&["result", "tools"]).is_some(), "lists go on working");
    assert_not_recorded(&session.ask("1", "safe", "{}").unwrap());
    assert!(is_refusal(&session.ask("2", "danger", "{}").unwrap()));
    assert!(!String::from_utf8(bench.server_got()).unwrap().contains("tools/call"));
}

#[test]
fn full_disk_refuses_calls_until_there_is_room_again() {
    let Some((bench, _disk)) = home_on_small_disk(c"size=3m") else { return };
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "safe", r#"{"n":1}"#).unwrap();
    let filler = bench.home().join("filler");
    fill(&filler);
    // What is already reserved may still take a few records; no more than that.
    let refused =
        (2..2_000).find(|n| is_refusal(&session.ask(&n.to_string(), "safe", r#"{"x":1}"#).unwrap()));
    let n = refused.expect("calls went on although nothing could be recorded");
    assert_not_recorded(&session.ask("\"full\"", "safe", "{}").unwrap());
    let before = bench.server_lines().len();
    std::fs::remove_file(filler).unwrap();
    eventually("calls pass again", PATIENCE, || {
        let id = format!("\"again-{}\"", std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos());
        (!is_refusal(&session.ask(&id, "safe", "{}").unwrap())).then_some(())
    });
    assert_eq!(bench.server_lines().len(), before + 1);
    session.finish().unwrap();
    let recorded = history::rows(&bench).unwrap().iter().filter(|row| row.is_allowed()).count();
    assert_eq!(
        recorded,
        bench.server_lines().len(),
        "every forwarded call is on record (refused from {n} on)"
    );
}

fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [1 << 16, 4096, 512, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// The way to the same end without root: files may not grow beyond a size.
#[test]
fn files_that_may_not_grow_refuse_calls_too() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let inner = bench.command(Gate::Callgate, &server).unwrap();
    let mut limited = std::process::Command::new("sh");
    // XFSZ ignored: the write fails instead of the process. The server's own record stays far below the limit.
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    limited.env("CALLGATE_HOME", bench.home());
    let mut session = Session::start(limited).unwrap();
    assert_not_recorded(&session.ask("1", "safe", &format!(r#"{{"x":"{}"}}"#, "y".repeat(20_000))).unwrap());
    assert_eq!(bench.server_got(), b"");
}

/// Runs one session so that the databases exist, with one `slow` call counted.
fn used_home() -> Bench {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "slow", r#"{"n":1}"#).unwrap();
    session.ask("2", "safe", r#"{"n":2}"#).unwrap();
    session.finish().unwrap();
    bench
}

fn spoil(path: &Path) {
    // Neither header nor pages; and the side files must not heal it.
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    std::fs::write(path, b"this is not a database ".repeat(1_000)).unwrap();
}

fn delete(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
}

#[test]
fn corrupt_limits_count_as_full() {
    let bench = used_home();
    spoil(&bench.home().join("limits.db"));
    let mut session = bench.session("", &[]).unwrap();
    assert!(is_refusal(&session.ask("1", "slow", "{}").unwrap()), "a lost counter counts as full");
    assert_eq!(result_text(&session.ask("2", "safe", "{}").unwrap()), Some("safe ran"));
}

#[test]
fn deleted_limits_count_as_full() {
    let bench = used_home();
    delete(&bench.home().join("limits.db"));
    let mut session = bench.session("", &[]).unwrap();
    assert!(is_refusal(&session.ask("1", "slow", "{}").unwrap()), "a lost counter counts as full");
    assert_eq!(result_text(&session.ask("2", "safe", "{}").unwrap()), Some("safe ran"));
}

#[test]
fn limits_deleted_under_a_running_session_never_mean_unlimited() {
    for harm in [delete, spoil] {
        let bench = Bench::new(DENY_POLICY).unwrap();
        let mut session = bench.session("", &[]).unwrap();
        session.ask("1", "slow", "{}").unwrap();
        session.ask("2", "slow", "{}").unwrap();
        harm(&bench.home().join("limits.db"));
        assert!(is_refusal(&session.ask("3", "slow", "{}").unwrap()));
        let mut second = bench.session("", &[]).unwrap();
        assert!(is_refusal(&second.ask("1", "slow", "{}").unwrap()));
        let ran = bench.server_lines().iter().filter(|line| line.contains("\"slow\"")).count();
        assert_eq!(ran, 2);
    }
}

#[test]
fn corrupt_history_is_moved_aside_and_calls_go_on_being_recorded() {
    let bench = used_home();
    spoil(&bench.home().join("history.db"));
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(result_text(&session.ask("1", "safe", r#"{"n":3}"#).unwrap()), Some("safe ran"));
    session.finish().unwrap();
    let rows = history::rows(&bench).unwrap();
    assert!(rows.iter().any(|row| row.arg("n").as_deref() == Some("3")), "{rows:?}");
    let kept = std::fs::read_dir(bench.home()).unwrap().flatten().any(|entry| {
        entry.file_name().to_string_lossy().starts_with("history.db")
            && std::fs::read(entry.path()).is_ok_and(|bytes| bytes.starts_with(b"this is not"))
    });
    assert!(kept, "the old file is kept for recovery");
}

#[test]
fn history_deleted_or_replaced_under_a_running_session_loses_no_later_call() {
    for harm in [delete, spoil] {
        let bench = Bench::new(OPEN_POLICY).unwrap();
        let mut session = bench.session("", &[]).unwrap();
        session.ask("1", "safe", r#"{"n":1}"#).unwrap();
        harm(&bench.home().join("history.db"));
        session.ask("2", "safe", r#"{"n":2}"#).unwrap();
        session.finish().unwrap();
        // Whoever comes next brings in what the session had to leave behind.
        let mut next = bench.session("", &[]).unwrap();
        next.ask("3", "safe", r#"{"n":3}"#).unwrap();
        next.finish().unwrap();
        let rows = history::rows(&bench).unwrap();
        for mark in ["2", "3"] {
            assert_eq!(
                rows.iter().filter(|row| row.arg("n").as_deref() == Some(mark)).count(),
                1,
                "{rows:?}"
            );
        }
    }
}

#[test]
fn corrupt_policy_at_start_lets_lists_work_and_refuses_every_call_with_the_reason() {
    for broken in [
        "{ \"version\": \"1\", \"default\": ",
        "",
        "[]",
        "{\"version\":\"1\",\"default\":\"allow\",\"defualt\":1}",
        "\u{0}\u{0}",
    ] {
        let bench = Bench::new(broken).unwrap();
        let mut session = bench.session("", &[]).unwrap();
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
        assert!(session.answer("0").unwrap().get("result").is_some());
        session.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
        assert!(session.answer("1").unwrap().at(&["result", "tools"]).is_some());
        let answer = session.ask("2", "safe", "{}").unwrap();
        assert!(is_refusal(&answer), "{broken:?}: {}", answer.to_text());
        let text = text(&answer);
        assert!(text.contains("policy"), "{broken:?}: {text}");
        assert_eq!(history::rows(&bench).unwrap().iter().filter(|row| row.decision() == "broken").count(), 1);
    }
}

#[test]
fn broken_edit_at_run_time_leaves_the_last_good_policy_in_force() {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "safe", "{}").unwrap();
    bench.write_policy("{ \"default\": \"allow\", ").unwrap();
    assert_eq!(result_text(&session.ask("2", "safe", "{}").unwrap()), Some("safe ran"));
    assert!(is_refusal(&session.ask("3", "danger", "{}").unwrap()));
    std::fs::remove_file(bench.policy_file()).unwrap();
    assert!(is_refusal(&session.ask("4", "danger", "{}").unwrap()), "deleted is not allowed");
    assert_eq!(result_text(&session.ask("5", "safe", "{}").unwrap()), Some("safe ran"));
}

#[test]
fn good_edit_holds_for_the_next_call() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.send(r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#).unwrap();
    session.answer("0").unwrap();
    assert_eq!(result_text(&session.ask("1", "danger", "{}").unwrap()), Some("danger ran"));
    bench.write_policy(DENY_POLICY).unwrap();
    let denied = session.ask("2", "danger", "{}").unwrap();
    assert!(text(&denied).starts_with("Callgate: not from an agent"), "{}", text(&denied));
    session.line_with("notifications/tools/list_changed").unwrap();
}

#[test]
fn pause_refuses_from_the_next_call_on() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "safe", "{}").unwrap();
    let output = bench.callgate(["pause", "corpus"]).unwrap().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_refusal(&session.ask("2", "safe", "{}").unwrap()));
    assert_eq!(bench.server_lines().len(), 1);
}

#[test]
fn a_session_begun_on_a_full_disk_records_once_there_is_room() {
    let Some((bench, _disk)) = home_on_small_disk(c"size=3m") else { return };
    let filler = bench.home().join("filler");
    fill(&filler);
    let mut session = bench.session("", &[]).unwrap();
    assert_not_recorded(&session.ask("1", "safe", "{}").unwrap());
    std::fs::remove_file(filler).unwrap();
    assert_eq!(result_text(&session.ask("2", "safe", r#"{"n":2}"#).unwrap()), Some("safe ran"));
    assert!(is_refusal(&session.ask("3", "danger", "{}").unwrap()));
    session.finish().unwrap();
    let rows = history::rows(&bench).unwrap();
    assert_eq!(rows.iter().filter(|row| row.is_allowed()).count(), 1, "{rows:?}");
}

#[test]
fn calls_after_the_home_was_removed_do_not_run_unrecorded() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "safe", "{}").unwrap();
    // Out of the way first, in one step: the session goes on to make files in it while it is emptied.
    let gone = bench.path("gone");
    std::fs::rename(bench.home(), &gone).unwrap();
    std::fs::remove_dir_all(gone).unwrap();
    for id in ["2", "3"] {
        let answer = session.ask(id, "safe", "{}").unwrap();
        assert!(is_refusal(&answer), "{}", answer.to_text());
    }
    assert_eq!(bench.server_lines().len(), 1);
}

#[test]
fn a_removed_log_of_the_history_takes_no_call_with_it() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for n in 0..30 {
        session.ask(&n.to_string(), "safe", "{}").unwrap();
    }
    // By the session itself: its spool is empty but for its head.
    let emptied = || {
        let mut spools = std::fs::read_dir(bench.home().join("spool")).unwrap().flatten();
        spools.all(|spool| spool.metadata().unwrap().len() < 1024)
    };
    eventually("the calls are in the history", PATIENCE, || emptied().then_some(()));
    for log in ["history.db-wal", "history.db-shm"] {
        std::fs::remove_file(bench.home().join(log)).unwrap();
    }
    session.ask("30", "safe", "{}").unwrap();
    session.finish().unwrap();
    assert_eq!(history::rows(&bench).unwrap().len(), 31);
    let events = bench.callgate(["events"]).unwrap().output().unwrap();
    assert!(String::from_utf8_lossy(&events.stdout).contains("write-ahead log was removed"), "{events:?}");
}

#[test]
fn a_block_holds_at_once_though_others_write_the_history() {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    session.ask("1", "safe", "{}").unwrap();
    eventually("the session is in the history", PATIENCE, || {
        (history::rows(&bench).unwrap().len() == 1).then_some(())
    });
    // Holds what every writer of the history needs, for as long as the block takes.
    let others = rusqlite::Connection::open(bench.home().join("history.db")).unwrap();
    others.execute_batch("BEGIN IMMEDIATE").unwrap();
    for act in [["block", "corpus", "safe"], ["hide", "corpus", "slow"], ["cap", "corpus", "danger"]] {
        let rate: &[&str] = if act[0] == "cap" { &["1/minute"] } else { &[] };
        let output = bench.callgate(act.iter().chain(rate)).unwrap().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(is_refusal(&session.ask("2", "safe", "{}").unwrap()));
    others.execute_batch("COMMIT").unwrap();
    let output = bench.callgate(["policy", "history", "corpus"]).unwrap().output().unwrap();
    let made = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(made.matches("cli").count(), 3, "booked once each, with their origin: {made}");
}
