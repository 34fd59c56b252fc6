//! `callgate logs`, through the real binary.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod common;

use std::fs;

use common::Callgate;

/// Fails, and leaves a line about it.
fn failed(callgate: &Callgate, server: &str) {
    assert!(callgate.fail(&["stderr", server]).contains("is on record"));
}

#[test]
fn a_command_that_failed_is_logged_and_shown_with_its_time() {
    let callgate = Callgate::new();
    assert_eq!(callgate.say(&["logs"]), "", "before there is a home");
    callgate.say(&["status"]);
    failed(&callgate, "lou\u{1b}[2Jd");
    let piped = callgate.say(&["logs"]);
    assert_eq!(piped.lines().count(), 1, "{piped}");
    let time: Result<jiff::Timestamp, _> = piped.split(' ').next().unwrap().parse();
    assert!(time.is_ok() && piped.contains(" WARN  cli["), "{piped}");
    assert!(
        piped.contains("no server lou\\u{1b}[2Jd is on record") && piped.ends_with(" command=stderr\n"),
        "{piped}"
    );
    let (_, screen) = callgate.terminal(&["logs", "--program", "cli"]).end();
    assert!(screen.contains("today") && screen.contains("no server"), "{screen}");
    assert_eq!(callgate.say(&["logs", "--level", "error"]), "");
    assert_eq!(callgate.say(&["logs", "--program", "gate"]), "");
}

#[test]
fn what_cannot_be_shown_is_said_with_why() {
    let callgate = Callgate::new();
    callgate.say(&["status"]);
    assert!(callgate.fail(&["logs", "--program", "window"]).contains("gate, app, cli"));
    assert!(callgate.fail(&["logs", "--level", "loud"]).contains("error, warn, info"));
    fs::create_dir(callgate.home().join("diagnostics/gate.log")).unwrap();
    let complaint = callgate.fail(&["logs"]);
    assert!(complaint.contains("diagnostics cannot be read"), "{complaint}");
}
