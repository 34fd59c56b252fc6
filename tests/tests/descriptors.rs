//! File descriptors run out: at the start of a session, and while it runs.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use callgate_tests::gate::{Bench, Gate, SERVER};
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, error_message, result_text, told};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

const ALLOW: &str = r#"{ "version": "1", "default": "allow" }"#;
const DENY: &str = r#"{ "version": "1", "default": "deny" }"#;
const SOON: Duration = Duration::from_secs(20);

/// As many as it may have from now on; those that it has stay.
fn allow_descriptors(session: &Session, most: u64) {
    let pid = Pid::from_raw(session.pid().cast_signed()).unwrap();
    let limit = Rlimit { current: Some(most), maximum: Some(4096) };
    prlimit(Some(pid), Resource::Nofile, limit).unwrap();
}

/// Put in place at once, and old enough that it is not looked at again for being fresh.
fn put(bench: &Bench, name: &str, text: &str) {
    let draft = bench.path("draft");
    fs::write(&draft, text).unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o600)).unwrap();
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(&draft).unwrap().set_modified(hour_ago).unwrap();
    fs::rename(draft, bench.home().join(name)).unwrap();
}

fn call(session: &mut Session, id: &str) -> String {
    let answer = session.ask(id, "safe", "{}").unwrap();
    told(&answer).or_else(|| result_text(&answer)).unwrap().to_owned()
}

#[test]
fn a_block_that_could_not_be_read_is_read_as_soon_as_it_can_be() {
    let bench = Bench::new(ALLOW).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, "1"), "safe ran");
    allow_descriptors(&session, 3);
    put(&bench, &format!("policies/{SERVER}.json"), DENY);
    call(&mut session, "2");
    allow_descriptors(&session, 1024);
    assert!(call(&mut session, "3").contains("not on the list of allowed tools"));
    // And nothing loosens while a looser one cannot be read.
    allow_descriptors(&session, 3);
    put(&bench, &format!("policies/{SERVER}.json"), ALLOW);
    assert!(call(&mut session, "4").contains("not on the list of allowed tools"));
    allow_descriptors(&session, 1024);
    assert_eq!(call(&mut session, "5"), "safe ran");
}

#[test]
fn a_pause_switch_that_could_not_be_read_pauses_until_it_can_be() {
    let bench = Bench::new(ALLOW).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    assert_eq!(call(&mut session, "1"), "safe ran");
    allow_descriptors(&session, 3);
    put(&bench, "control/paused.json", r#"{"servers":{"another":{"since_ms":1}}}"#);
    assert!(call(&mut session, "2").contains("cannot be read"));
    allow_descriptors(&session, 1024);
    assert_eq!(call(&mut session, "3"), "safe ran");
}

#[test]
fn a_gate_with_few_descriptors_works_or_says_why_not() {
    for most in 8..=40_u32 {
        let bench = Bench::new(ALLOW).unwrap();
        let server = bench.fake_server("", &[]).unwrap();
        let gate = bench.command(Gate::Callgate, &server).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n $0; exec \"$@\"", &most.to_string()]).arg(gate.get_program());
        command.args(gate.get_args()).env("CALLGATE_HOME", bench.home());
        let mut session = Session::start(command).unwrap();
        session.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).unwrap();
        let first = session.answer_within("0", SOON).unwrap_or_else(|error| {
            panic!("{most}: {error}: {}", session.err.text());
        });
        let Some(why) = error_message(&first).filter(|why| why.contains("Callgate")).map(str::to_owned)
        else {
            // What it answers, it answers; a call may still be refused with words.
            let answer = session.ask("1", "safe", "{}").unwrap();
            assert!(told(&answer).or_else(|| result_text(&answer)).is_some(), "{most}");
            continue;
        };
        assert!(why.contains("too few file descriptors") && why.contains("ulimit -n"), "{most}: {why}");
        eventually("a person is told, too", SOON, || {
            session.err.text().contains("too few file descriptors").then_some(())
        });
        assert!(most < 28, "{most} are enough: {why}");
        session.close_input();
        assert_eq!(session.ended(SOON).unwrap().code(), Some(1), "{most}");
    }
}
