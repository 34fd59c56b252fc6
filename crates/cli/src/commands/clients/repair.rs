//! `callgate clients repair`: files that are left alone for their byte order mark, without it.

use std::process::ExitCode;

use callgate_clients::byte_order_mark::{RepairError, carry_out, plan};
use callgate_clients::survey::Surveyed;
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};

use super::quiet;
use super::{display, look, named};
use crate::args::RepairArgs;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &RepairArgs) -> anyhow::Result<ExitCode> {
    let client = args.client.as_deref().map(named).transpose()?;
    let (screen, home) = (Screen::new(), Home::locate()?);
    let (mut done, mut refused) = (0, 0);
    let surveyed = look(&home, &args.project)?;
    let meant = |file: &&Surveyed| client.is_none_or(|client| client.id == file.found.client.id);
    for file in surveyed.iter().filter(meant) {
        let path = display::path(&file.found.path);
        match one(&screen, &home, file, args) {
            Ok(words) => {
                done += 1;
                screen.line(&format!("{path}: {words}"));
                if !args.dry_run {
                    screen.line(&screen.paint(screen::DIM, &format!("  {}", file.found.client.reload)));
                }
            }
            Err(None) => {}
            Err(Some(why)) => {
                refused += 1;
                screen.line(&screen.paint(screen::BAD, &screen::harmless(&format!("{path}: {why}"))));
            }
        }
    }
    if done + refused == 0 {
        screen.line("Nothing to repair: no file begins with a byte order mark.");
    }
    Ok(if refused > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What was done; nothing, if there is nothing to do.
fn one(
    screen: &Screen,
    home: &Home,
    file: &Surveyed,
    args: &RepairArgs,
) -> Result<&'static str, Option<String>> {
    let told = |error: RepairError| match error {
        RepairError::Nothing => None,
        // Said in the list; a mark or not, it cannot be read.
        RepairError::File(_) => None,
        error => Some(error.to_string()),
    };
    plan(&file.found).map_err(told)?;
    if args.dry_run {
        return Ok("the byte order mark would go (3 bytes); every other byte stays");
    }
    quiet(screen, file.found.client, args.running).map_err(Some)?;
    let failed = |error: RepairError| Some(error.to_string());
    callgate_controls::prepare_home(home).map_err(|error| Some(error.to_string()))?;
    carry_out(home.path(), &file.found, SystemClock::default().now().wall_ms).map_err(failed)?;
    Ok("the byte order mark is gone; every other byte is as it was, and a copy is kept")
}
