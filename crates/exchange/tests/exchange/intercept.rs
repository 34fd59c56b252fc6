//! Intercept's reference, shape by shape: the YAML, what comes out of it for calls, what the report says.

use crate::gate::{Gate, Section, cases, name_and_args};
use callgate_exchange::{Note, intercept};

/// `+90s` turns the clock, `note 3 stricter …` wants a note, `no notes` wants none about a line, all else is a call.
fn expectation(line: &str, gate: &mut Gate, notes: &[Note], text: &str) -> Result<(), String> {
    if let Some(seconds) = line.strip_prefix('+') {
        gate.now += seconds.trim_end_matches('s').parse::<u64>().unwrap();
        return Ok(());
    }
    if let Some(wanted) = line.strip_prefix("policy ") {
        let flat = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
        return if flat(text).contains(&flat(wanted)) { Ok(()) } else { Err(format!("not in\n{text}")) };
    }
    if line == "no notes" {
        let found: Vec<_> = notes.iter().filter(|n| n.line.is_some()).map(ToString::to_string).collect();
        return if found.is_empty() { Ok(()) } else { Err(found.join("\n")) };
    }
    if let Some(wanted) = line.strip_prefix("note ") {
        let (at, rest) = wanted.split_once(' ').unwrap();
        let (severity, words) = rest.split_once(' ').unwrap();
        let line = if at == "-" { None } else { Some(at.parse::<usize>().unwrap()) };
        let fits = |n: &Note| {
            n.line == line && n.severity.word().replace(' ', "-") == severity && n.text.contains(words)
        };
        let shown: Vec<_> = notes.iter().map(ToString::to_string).collect();
        return if notes.iter().any(fits) { Ok(()) } else { Err(shown.join("\n")) };
    }
    let (call, expected) = line.rsplit_once(" -> ").unwrap_or_else(|| panic!("{line}"));
    let (tool, args) = name_and_args(call.trim());
    let found = match gate.call(&tool, args.as_deref()) {
        Ok(()) => "allow".to_owned(),
        Err((_, reason)) => format!("deny | {reason}"),
    };
    let compared = if expected.contains(" | ") { &found } else { found.split(" | ").next().unwrap() };
    if compared == expected.trim() { Ok(()) } else { Err(format!("found {found}\n{text}")) }
}

#[test]
fn every_shape_of_the_reference_decides_as_intercept_does() {
    let mut failures = Vec::new();
    for Section { title, source, lines } in cases("intercept.txt") {
        let imported = intercept::import(&source).unwrap_or_else(|report| panic!("{title}:\n{report}"));
        let mut gate = Gate::new(&imported.text);
        assert!(!lines.is_empty(), "{title} expects nothing");
        for line in lines {
            if let Err(why) = expectation(&line, &mut gate, &imported.notes, &imported.text) {
                failures.push(format!("{title}: {line}\n{why}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_error_of_the_reference_is_told_with_place_and_fix_and_all_at_once() {
    let mut failures = Vec::new();
    for Section { title, source, lines } in cases("intercept_errors.txt") {
        let found: Vec<String> = match intercept::import(&source) {
            Ok(imported) => vec![format!("imported:\n{}", imported.text)],
            Err(report) => {
                assert!(
                    report.problems.iter().all(|p| p.fix.is_some()),
                    "{title}: a problem has no fix\n{report}"
                );
                report.problems.iter().map(|p| format!("{}:{} {}", p.line, p.column, p.message)).collect()
            }
        };
        if found != lines {
            failures.push(format!(
                "{title}\n  expected\n{}\n  found\n{}",
                lines.join("\n"),
                found.join("\n")
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn texts_that_grow_when_read_are_refused() {
    let mut bomb = String::from("version: \"1\"\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..9 {
        let aliases = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{aliases}]\n"));
    }
    let deep = format!("version: {}", "[".repeat(100));
    let deeper = format!("version: {}", "[".repeat(100_000));
    let stairs: String = (0..300).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    for (text, wanted) in [
        (bomb, "aliases make this too large"),
        (deep, "nested too deeply"),
        (deeper, "this is not YAML: recursion limit exceeded"),
        (stairs, "nested too deeply"),
        ("x".repeat((1 << 20) + 1), "the file has 1048577 bytes; a policy has at most 1048576"),
    ] {
        let report = intercept::import(&text).unwrap_err();
        assert_eq!(report.problems[0].message, wanted);
    }
}
