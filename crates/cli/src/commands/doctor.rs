//! `callgate doctor`: what can keep the gate from working, and what mends it. Only looks.

use std::process::ExitCode;
use std::sync::Arc;

use callgate_desk::Desk;
use callgate_desk::findings::{Area, Code, Finding, Gravity};
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use callgate_journal::Origin;
use serde_json::json;

use crate::args::DoctorArgs;
use crate::screen::{self, Screen};

/// As wide as the longest word for how bad something is.
const MARGIN: usize = 9;

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let findings = Desk::new(Home::locate()?, Arc::new(SystemClock::default()), Origin::Cli).doctor();
    match args.json {
        true => findings.iter().for_each(|finding| screen.line(&object(finding))),
        false => print(&screen, &findings),
    }
    let problem = findings.iter().any(|finding| finding.gravity == Gravity::Problem);
    Ok(if problem { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn object(finding: &Finding) -> String {
    let fix = finding.fix.as_ref();
    let object = json!({
        "code": finding.code.word(), "severity": finding.gravity.word(), "area": finding.area.word(),
        "about": finding.about, "client": finding.client, "names": finding.names, "what": finding.sentence(),
        "fix": fix.map(|fix| &fix.words), "command": fix.and_then(|fix| fix.command.as_ref()),
    });
    object.to_string()
}

/// What there is to say, area by area; what is in order, in one line at the end.
fn print(screen: &Screen, findings: &[Finding]) {
    for area in Area::ALL {
        let mut told = findings
            .iter()
            .filter(|finding| finding.area == area && finding.gravity != Gravity::Ok)
            .peekable();
        if told.peek().is_some() {
            screen.line(&screen.paint(screen::BOLD, area.title()));
            told.for_each(|finding| one(screen, finding));
        }
    }
    let count = |gravity| findings.iter().filter(|finding| finding.gravity == gravity).count();
    let (problems, warnings) = (count(Gravity::Problem), count(Gravity::Warning));
    let ending = match (problems, warnings) {
        (0, 0) => screen.paint(screen::GOOD, "Everything is in order."),
        _ => format!("{}, {}.", screen::count(problems, "problem"), screen::count(warnings, "warning")),
    };
    screen.line(&format!("{ending} {}", sums(findings)));
}

fn one(screen: &Screen, finding: &Finding) {
    let style = match finding.gravity {
        Gravity::Ok => screen::GOOD,
        Gravity::Note => screen::DIM,
        Gravity::Warning => screen::WARN,
        Gravity::Problem => screen::BAD,
    };
    let word = screen.paint(style, &screen::pad(finding.gravity.word(), MARGIN));
    let blank = " ".repeat(MARGIN);
    let width = Screen::columns().saturating_sub(MARGIN + 2).clamp(40, 100);
    for (n, line) in wrapped(&finding.sentence(), width).iter().enumerate() {
        screen.line(&format!("  {}{line}", if n == 0 { &word } else { &blank }));
    }
    let Some(fix) = &finding.fix else { return };
    match &fix.command {
        Some(command) => {
            screen.line(&format!("  {blank}{}:", screen.paint(screen::DIM, &fix.words)));
            // Never broken: it is to be pasted.
            screen.line(&format!("  {blank}  {}", screen.paint(screen::ACCENT, command)));
        }
        None => {
            for line in wrapped(&fix.words, width) {
                screen.line(&format!("  {blank}{}", screen.paint(screen::DIM, &line)));
            }
        }
    }
}

/// `3 servers behind the gate, 4 programs found. Nothing was changed.`
fn sums(findings: &[Finding]) -> String {
    let of = |code| findings.iter().filter(move |finding| finding.code == code);
    let gated: usize = of(Code::EntryProtected).map(|finding| finding.names.len()).sum();
    let programs = of(Code::ProgramOk).count();
    format!(
        "{} behind the gate, {} found. Nothing was changed.",
        screen::count(gated, "server"),
        screen::count(programs, "program")
    )
}

/// The text in lines of at most `width` characters, broken at blanks.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let fits = |line: &String| line.chars().count() + word.chars().count() < width;
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if fits(line) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_lose_nothing() {
        let text = "a sentence of some words, and averyveryverylongwordthatdoesnotfit anywhere";
        let lines = wrapped(text, 20);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| line.chars().count() <= 20 || !line.contains(' ')), "{lines:?}");
    }
}
