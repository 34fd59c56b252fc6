//! `callgate logs`: what Callgate's own programs logged, as one, perhaps as it comes.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use callgate_home::Home;
use callgate_logging::{LogLine, Program, last_lines};
use callgate_text::local;
use jiff::civil::Date;
use serde_json::json;
use tracing::Level;

use crate::args::LogsArgs;
use crate::duration::{day, iso, local_iso};
use crate::screen::{self, Screen, harmless};

const LOOK: Duration = Duration::from_millis(150);

pub(crate) fn run(args: &LogsArgs) -> anyhow::Result<ExitCode> {
    let home = Home::locate()?;
    let is_asked =
        |program: &Program| args.program.is_empty() || args.program.iter().any(|name| name == program.name());
    let programs: Vec<Program> = Program::ALL.into_iter().filter(is_asked).collect();
    let least: Level = args.level.parse()?;
    let wanted = |line: &LogLine| line.level <= least;
    let unread = || format!("the logs in {} cannot be read", home.path().join("diagnostics").display());
    let (lines, mut follower) = last_lines(&home, &programs, args.limit, wanted).with_context(unread)?;
    if lines.is_empty() && !args.follow && !args.json {
        screen::hint("Nothing is logged that fits this.");
    }
    let screen = Screen::new();
    let mut lister =
        Lister { screen: &screen, json: args.json, terminal: io::stdout().is_terminal(), last: None };
    lines.iter().for_each(|line| lister.put(line));
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK);
        follower
            .news()
            .with_context(unread)?
            .iter()
            .filter(|line| wanted(line))
            .for_each(|line| lister.put(line));
    }
}

struct Lister<'s> {
    screen: &'s Screen,
    json: bool,
    terminal: bool,
    last: Option<Date>,
}

impl Lister<'_> {
    fn put(&mut self, line: &LogLine) {
        if self.json {
            return self.screen.line(&object(line).to_string());
        }
        let session = line.session.map(|session| format!(" {session}")).unwrap_or_default();
        // Escaped when it was written; but the file is anybody's who runs as this person.
        let text = harmless(&line.text);
        let level = self.screen.paint(style(line.level), &format!("{:<5}", line.level));
        if !self.terminal {
            let (at, process) = (local_iso(line.at_ms), line.process);
            return self
                .screen
                .line(&format!("{at} {level} {}[{process}]{session} {text}", line.program.name()));
        }
        let at = local(line.at_ms);
        if self.last != Some(at.date()) {
            let today = jiff::Zoned::now().date();
            self.screen.line(&self.screen.paint(screen::BOLD, &day(at.date(), today)));
            self.last = Some(at.date());
        }
        let head = format!("{} {:<4}{session}", at.strftime("%H:%M:%S"), line.program.name());
        self.screen.line(&format!("{} {level} {text}", self.screen.paint(screen::DIM, &head)));
    }
}

fn style(level: Level) -> anstyle::Style {
    match level {
        Level::ERROR => screen::BAD,
        Level::WARN => screen::WARN,
        _ => screen::DIM,
    }
}

fn object(line: &LogLine) -> serde_json::Value {
    json!({
        "time": iso(line.at_ms),
        "level": line.level.as_str().to_ascii_lowercase(),
        "program": line.program.name(),
        "process": line.process,
        "session": line.session.map(|session| session.to_string()),
        "target": line.target,
        "text": line.text,
    })
}
