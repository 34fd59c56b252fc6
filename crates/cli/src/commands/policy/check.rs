//! `policy check` and `policy test`: is the file right, and does it do what its writer expects?

use std::process::ExitCode;

use anyhow::Context;
use callgate_policy::file::PolicyFile;
use callgate_policy::{
    Circumstances, NoRecordings, Policy, Problem, Severity, TestResult, Waived, run_tests,
};
use callgate_store::Disk;
use callgate_store::clock::wall_ms;
use serde_json::json;

use crate::args::CheckArgs;
use crate::screen::{self, Screen};

pub(super) fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let text = super::read(&args.file)?;
    let (problems, tests) = match Policy::parse(&text) {
        Ok(policy) => (policy.warnings().to_vec(), tests_of(&policy, &text)),
        Err(report) => (report.problems, Vec::new()),
    };
    let screen = Screen::new();
    for problem in &problems {
        if args.json {
            screen.line(&as_json(problem).to_string());
        } else {
            print_problem(&screen, args, problem);
        }
    }
    let failed = report_tests(&screen, args, &text, tests.iter().filter(|test| !test.passed));
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let good = errors == 0 && failed == 0;
    if !args.json {
        let word = match (errors, failed) {
            (0, 0) => screen.paint(screen::GOOD, "good"),
            (0, _) => screen.paint(screen::BAD, "not what its tests expect"),
            _ => screen.paint(screen::BAD, "broken"),
        };
        let mut counts =
            format!("{}, {}", screen::count(errors, "error"), screen::count(warnings, "warning"));
        if !tests.is_empty() {
            counts.push_str(&format!(
                ", {} of {} passed",
                tests.len() - failed,
                screen::count(tests.len(), "test")
            ));
        }
        screen.line(&format!("{}: {word}, {counts}", args.file.display()));
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn test(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let text = super::read(&args.file)?;
    let policy = Policy::parse(&text)
        .with_context(|| format!("{} cannot be tested, because it is broken", args.file.display()))?;
    let tests = tests_of(&policy, &text);
    let screen = Screen::new();
    let failed = report_tests(&screen, args, &text, tests.iter());
    if !args.json {
        let passed = tests.len() - failed;
        screen.line(&match tests.len() {
            0 => format!("{} carries no tests (docs/policy.md says how to write some)", args.file.display()),
            all => format!("{}: {passed} of {} passed", args.file.display(), screen::count(all, "test")),
        });
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tests_of(policy: &Policy, text: &str) -> Vec<TestResult> {
    let disk = Disk::new();
    let now =
        Circumstances { now_ms: wall_ms(), files: &disk, recordings: &NoRecordings, waived: Waived::Nothing };
    PolicyFile::parse(text).map(|file| run_tests(policy, &file, text, &now)).unwrap_or_default()
}

/// Prints these tests; how many of them failed.
fn report_tests<'t>(
    screen: &Screen,
    args: &CheckArgs,
    text: &str,
    tests: impl Iterator<Item = &'t TestResult>,
) -> usize {
    let mut failed = 0;
    for test in tests {
        failed += usize::from(!test.passed);
        let line = 1 + text[..test.place.offset.min(text.len())].matches('\n').count();
        if args.json {
            let object = json!({
                "test": test.name, "passed": test.passed, "line": line, "pointer": test.place.pointer,
                "wanted": test.wanted, "got": test.got,
            });
            screen.line(&object.to_string());
            continue;
        }
        let word = if test.passed {
            screen.paint(screen::GOOD, "passed")
        } else {
            screen.paint(screen::BAD, "failed")
        };
        let place = screen.paint(screen::DIM, &format!("{}:{line}", args.file.display()));
        screen.line(&format!("{word}  {}  {place}", screen::harmless(&test.name)));
        if !test.passed {
            screen.line(&format!("    wanted {}", screen::harmless(&test.wanted)));
            screen.line(&format!("    got    {}", screen::harmless(&test.got)));
        }
    }
    failed
}

fn print_problem(screen: &Screen, args: &CheckArgs, problem: &Problem) {
    let (style, word) = match problem.severity {
        Severity::Error => (screen::BAD, "error"),
        Severity::Warning => (screen::WARN, "warning"),
    };
    let place = format!("{}:{}:{}", args.file.display(), problem.line, problem.column);
    screen.line(&format!("{place}: {}: {}", screen.paint(style, word), screen::harmless(&problem.message)));
    if !problem.pointer.is_empty() {
        screen.line(&screen.paint(screen::DIM, &format!("    at {}", screen::harmless(&problem.pointer))));
    }
    if let Some(fix) = &problem.fix {
        screen.line(&format!("    fix: {}", screen::harmless(fix)));
    }
}

fn as_json(problem: &Problem) -> serde_json::Value {
    json!({
        "severity": problem.severity.to_string(),
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "message": problem.message,
        "fix": problem.fix,
    })
}
