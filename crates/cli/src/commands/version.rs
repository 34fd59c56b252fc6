//! `callgate version`: which version this is, of both programs.

use std::process::ExitCode;

use callgate_programs::{Pair, version_of};

use super::clients::display;
use crate::screen::{self, Screen};

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let (screen, ours) = (Screen::new(), env!("CARGO_PKG_VERSION"));
    screen.line(&format!("callgate {ours}"));
    let Some(pair) = Pair::brought().transpose()? else {
        screen.line(
            &screen.paint(
                screen::WARN,
                "The gate, callgate, is not beside this program: install Callgate again.",
            ),
        );
        return Ok(ExitCode::FAILURE);
    };
    let text = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let gate = version_of(&pair.gate).map_or_else(|| "does not run".to_owned(), text);
    screen.line(&format!("gate      {gate:<8} {}", display::path(&pair.gate)));
    screen.line(&format!("commands  {ours:<8} {}", display::path(&pair.partner)));
    if gate == ours {
        return Ok(ExitCode::SUCCESS);
    }
    let differ = "They differ, and belong together: start Callgate's app, which puts both in place, or install Callgate again.";
    screen.line(&screen.paint(screen::WARN, differ));
    Ok(ExitCode::FAILURE)
}
