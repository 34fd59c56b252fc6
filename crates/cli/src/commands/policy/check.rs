//! `policy check` and `policy test`: is the file right, and does it do what its writer expects?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use callgate_controls::Disk;
use callgate_controls::catalogue::{self, Catalogue};
use callgate_desk::inventory::Purpose;
use callgate_home::Home;
use callgate_home::clock::wall_ms;
use callgate_policy::file::PolicyFile;
use callgate_policy::lint::{ServerTools, diagnose};
use callgate_policy::{
    Circumstances, NoRecordings, Policy, Problem, Severity, TestResult, Waived, run_tests,
};
use serde_json::json;

use crate::args::{CheckArgs, TestArgs};
use crate::screen::{self, Screen};

/// A policy that is looked at, and what its server listed last, if that is known.
struct CheckedPolicy {
    /// What it is called in what is printed.
    shown: String,
    text: String,
    known: Option<Catalogue>,
}

pub(super) fn check(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let mut good = true;
    for subject in subjects(args)? {
        good &= check_one(&screen, args.json, &subject);
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Is it a policy, and what its tests expect?
fn check_one(screen: &Screen, json: bool, subject: &CheckedPolicy) -> bool {
    let CheckedPolicy { shown, text, known } = subject;
    let tools = known.as_ref().map(Catalogue::server_tools);
    let problems = diagnose(text, tools.as_ref(), wall_ms());
    let tests = Policy::parse(text).map(|policy| tests_of(policy, text, tools)).unwrap_or_default();
    for problem in &problems {
        if json {
            screen.line(&as_json(shown, problem).to_string());
        } else {
            print_problem(screen, shown, problem);
        }
    }
    let failed = report_tests(screen, (shown, json), text, tests.iter().filter(|test| !test.passed));
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if !json {
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
        if let Some(known) = known {
            let number = screen::count(known.tools.len(), "tool");
            counts.push_str(&format!("; held against {number} of {}", screen::harmless(&known.server)));
        }
        screen.line(&format!("{shown}: {word}, {counts}"));
    }
    errors == 0 && failed == 0
}

/// The file, the server's policy, or all policies that there are, the default one last.
fn subjects(args: &CheckArgs) -> anyhow::Result<Vec<CheckedPolicy>> {
    let home = Home::locate()?;
    let tools_of = |server: &str| catalogue::read(&home, server).ok().flatten();
    let Some(what) = &args.what else {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(home.policies_dir())
            .with_context(|| format!("{} cannot be read", home.policies_dir().display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.extension().is_some_and(|end| end == "json") && *path != home.default_policy()
            })
            .collect();
        paths.sort();
        paths.push(home.default_policy());
        return paths.iter().map(|path| of_file(&home, path, None)).collect();
    };
    let server = what.to_str().filter(|name| !what.exists() && *what != *Path::new("-") && is_name(name));
    let Some(server) = server else {
        return Ok(vec![of_file(&home, what, args.server.as_deref())?]);
    };
    let own = home.policy(server);
    if !own.exists() {
        crate::act::known_server(server, Purpose::Look).with_context(|| format!("{server} is no file"))?;
    }
    // A server without a policy of its own follows the default one.
    let path = if own.exists() { own } else { home.default_policy() };
    Ok(vec![CheckedPolicy {
        known: tools_of(args.server.as_deref().unwrap_or(server)),
        ..of_file(&home, &path, None)?
    }])
}

/// Nobody writes a path to a file that is not there and means a server.
fn is_name(text: &str) -> bool {
    !text.contains(['/', '\\']) && !text.ends_with(".json") && !text.ends_with(".jsonc")
}

fn of_file(home: &Home, path: &Path, server: Option<&str>) -> anyhow::Result<CheckedPolicy> {
    let text = super::read(path)?;
    let known = match server {
        Some(server) => Some(catalogue::read(home, server)?.with_context(|| {
            format!("no list of the tools of {server} is known: it is there once a client has asked for it")
        })?),
        // Links lead to the same file.
        None => catalogue::of_policy(home, &path.canonicalize().unwrap_or_else(|_| path.to_owned())),
    };
    Ok(CheckedPolicy { shown: path.display().to_string(), text, known })
}

pub(super) fn test(args: &TestArgs) -> anyhow::Result<ExitCode> {
    let text = super::read(&args.file)?;
    let shown = args.file.display().to_string();
    let policy =
        Policy::parse(&text).with_context(|| format!("{shown} cannot be tested, because it is broken"))?;
    let known = Home::locate().ok().and_then(|home| catalogue::of_policy(&home, &args.file));
    let tests = tests_of(policy, &text, known.as_ref().map(Catalogue::server_tools));
    let screen = Screen::new();
    let failed = report_tests(&screen, (&shown, args.json), &text, tests.iter());
    if !args.json {
        let passed = tests.len() - failed;
        screen.line(&match tests.len() {
            0 => format!("{shown} carries no tests (docs/policy.md says how to write some)"),
            all => format!("{shown}: {passed} of {} passed", screen::count(all, "test")),
        });
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tests_of(mut policy: Policy, text: &str, tools: Option<ServerTools>) -> Vec<TestResult> {
    if let Some(tools) = tools {
        policy.know_tools(tools);
    }
    let disk = Disk::new();
    let now =
        Circumstances { now_ms: wall_ms(), files: &disk, recordings: &NoRecordings, waived: Waived::Nothing };
    PolicyFile::parse(text).map(|file| run_tests(&policy, &file, text, &now)).unwrap_or_default()
}

/// Prints these tests; how many of them failed.
fn report_tests<'t>(
    screen: &Screen,
    (shown, json): (&str, bool),
    text: &str,
    tests: impl Iterator<Item = &'t TestResult>,
) -> usize {
    let mut failed = 0;
    for test in tests {
        failed += usize::from(!test.passed);
        let line = 1 + text[..test.place.offset.min(text.len())].matches('\n').count();
        if json {
            let object = json!({
                "file": shown, "test": test.name, "passed": test.passed, "line": line, "pointer": test.place.pointer,
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
        let place = screen.paint(screen::DIM, &format!("{shown}:{line}"));
        screen.line(&format!("{word}  {}  {place}", screen::harmless(&test.name)));
        if !test.passed {
            screen.line(&format!("    wanted {}", screen::harmless(&test.wanted)));
            screen.line(&format!("    got    {}", screen::harmless(&test.got)));
        }
    }
    failed
}

pub(super) fn print_problem(screen: &Screen, shown: &str, problem: &Problem) {
    let (style, word) = match problem.severity {
        Severity::Error => (screen::BAD, "error"),
        Severity::Warning => (screen::WARN, "warning"),
    };
    let place = format!("{shown}:{}:{}", problem.line, problem.column);
    screen.line(&format!("{place}: {}: {}", screen.paint(style, word), screen::harmless(&problem.message)));
    if !problem.pointer.is_empty() {
        screen.line(&screen.paint(screen::DIM, &format!("    at {}", screen::harmless(&problem.pointer))));
    }
    if let Some(fix) = &problem.fix {
        screen.line(&format!("    fix: {}", screen::harmless(fix)));
    }
}

fn as_json(shown: &str, problem: &Problem) -> serde_json::Value {
    json!({
        "file": shown,
        "severity": problem.severity.to_string(),
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "message": problem.message,
        "fix": problem.fix,
    })
}
