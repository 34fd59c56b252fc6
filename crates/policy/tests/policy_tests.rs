//! Policies that hold tests of their own: what is said about each.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::file::PolicyFile;
use callgate_policy::{Circumstances, Policy, run_tests};
use common::disk::FakeDisk;

fn results(text: &str) -> Vec<String> {
    results_in(text, &Circumstances::timeless())
}

fn results_in(text: &str, circumstances: &Circumstances<'_>) -> Vec<String> {
    let (policy, file) = (Policy::parse(text).unwrap(), PolicyFile::parse(text).unwrap());
    let said = run_tests(&policy, &file, text, circumstances);
    said.iter()
        .map(|test| {
            assert!(test.place.pointer.starts_with("/tests/"), "{:?}", test.place);
            let passed = if test.passed { "ok  " } else { "FAIL" };
            format!("{passed} {} | {} | {}", test.name, test.wanted, test.got)
        })
        .collect()
}

#[test]
fn the_tests_of_a_policy_end_as_the_table_says() {
    let mut failures = Vec::new();
    for section in common::cases("policy_tests.txt") {
        let found = results(&section.policy);
        if found != section.lines {
            failures.push(format!("== {}\n{}\n", section.title, found.join("\n")));
        }
    }
    assert!(failures.is_empty(), "these sections now read:\n\n{}", failures.join("\n"));
}

#[test]
fn arguments_are_found_behind_a_byte_order_mark() {
    let text = "\u{feff}{ \"version\": \"1\", \"default\": \"allow\", \"tools\": { \"x\": { \"require\": [ { \"path\": \"args.ä\", \"op\": \"eq\", \"value\": 1 } ] } }, \"tests\": [ { \"tool\": \"x\", \"args\": { \"ä\": 1 }, \"expect\": \"allow\" } ] }";
    assert_eq!(results(text), ["ok   x {\"ä\":1} | allow | allow by /tools/x"]);
}

#[test]
fn tests_are_judged_with_the_time_and_the_disk_of_who_runs_them() {
    let text = r#"{ "version": "1", "default": "allow", "tools": {
        "x": { "require": [ { "path": "args.p", "op": "inside", "value": "~/work" } ] },
        "y": { "action": "deny", "until": "2026-01-01T00:00:00Z" } },
      "tests": [ { "tool": "x", "args": { "p": "/home/me/work/a" }, "expect": "allow" },
        { "tool": "y", "expect": "allow" } ] }"#;
    let disk = FakeDisk { home: Some("/home/me".to_owned()), ..FakeDisk::default() };
    let circumstances = Circumstances { now_ms: i64::MAX, files: &disk, ..Circumstances::timeless() };
    let passed = |circumstances: &Circumstances<'_>| {
        results_in(text, circumstances).iter().filter(|line| line.starts_with("ok")).count()
    };
    assert_eq!((passed(&Circumstances::timeless()), passed(&circumstances)), (0, 2));
}
