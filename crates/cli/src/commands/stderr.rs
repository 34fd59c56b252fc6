//! `callgate stderr`: what a server wrote to its error output, with times, perhaps as it comes.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use callgate_desk::StderrEntry;
use callgate_text::local;
use jiff::civil::Date;

use crate::act::desk;
use crate::args::StderrArgs;
use crate::duration::{day, local_iso};
use crate::screen::{self, Screen, harmless};

const LOOK: Duration = Duration::from_millis(150);

pub(crate) fn run(args: &StderrArgs) -> anyhow::Result<ExitCode> {
    let desk = desk()?;
    let (lines, mut follower) = desk.follow_stderr(&args.server, args.session, args.limit)?;
    let screen = Screen::new();
    if lines.is_empty() && !args.follow && args.limit > 0 {
        let known = desk.server_names()?;
        if !known.contains(&args.server) {
            let known: Vec<String> = known.iter().map(|server| harmless(server)).collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            bail!("no server {} is on record (known: {known})", harmless(&args.server));
        }
        screen::hint(&format!("Nothing of {} is kept that it wrote to stderr.", harmless(&args.server)));
    }
    let mut lister = Lister { screen: &screen, terminal: io::stdout().is_terminal(), last: None };
    lines.iter().for_each(|line| lister.put(line));
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK);
        follower.news()?.iter().for_each(|line| lister.put(line));
    }
}

struct Lister<'s> {
    screen: &'s Screen,
    terminal: bool,
    last: Option<Date>,
}

impl Lister<'_> {
    fn put(&mut self, line: &StderrEntry) {
        // In a pipe, too: behind most of them is a terminal.
        let text = harmless(&plain(&line.text));
        if !self.terminal {
            let stamp = line
                .stamp
                .map(|(at_ms, session)| format!("{} {session} ", local_iso(at_ms)))
                .unwrap_or_default();
            return self.screen.line(&format!("{stamp}{text}"));
        }
        let Some((at_ms, session)) = line.stamp else { return self.screen.line(&text) };
        let at = local(at_ms);
        if self.last != Some(at.date()) {
            let today = jiff::Zoned::now().date();
            self.screen.line(&self.screen.paint(screen::BOLD, &day(at.date(), today)));
            self.last = Some(at.date());
        }
        let stamp = self.screen.paint(screen::DIM, &format!("{} {session}", at.strftime("%H:%M:%S")));
        self.screen.line(&format!("{stamp} {text}"));
    }
}

/// Without colours, which a server that thinks it writes to a terminal may use, and with blanks for tabs.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let after = &rest[at + 2..];
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|end| after[*end..].starts_with('m')) {
            Some(end) => {
                out.push_str(&rest[..at]);
                rest = &after[end + 1..];
            }
            // No colour: it is shown as what it is.
            None => {
                out.push_str(&rest[..at + 2]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_whatever_moves_the_cursor_is_shown() {
        let said = "\u{1b}[1;31mError\u{1b}[0m:\tno\u{1b}[2J\u{202e}";
        assert_eq!(harmless(&plain(said)), "Error:    no\\u{1b}[2J\\u{202e}");
    }
}
