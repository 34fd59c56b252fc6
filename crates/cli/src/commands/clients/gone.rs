//! `callgate clients gone`: servers that a file has lost all at once are gone on purpose, and not told of any more.

use std::process::ExitCode;

use callgate_clients::drift::{Drift, drift, take_note};
use callgate_clients::{ledger, queue};
use callgate_home::Home;

use super::{display, look, named};
use crate::args::GoneArgs;
use crate::confirm;
use crate::screen::Screen;

pub(crate) fn run(args: &GoneArgs) -> anyhow::Result<ExitCode> {
    let client = named(&args.client)?;
    let (screen, home) = (Screen::new(), Home::locate()?);
    let surveyed = look(&home, &[])?;
    let (ledger, waiting) = (ledger::read(home.path())?, queue::read(home.path())?);
    let mut wiped =
        drift(&surveyed, &ledger, &waiting, &callgate_programs::place(home.path()).to_string_lossy());
    wiped.retain(|drift| matches!(drift, Drift::Wiped { client: of, .. } if of == client.id));
    if wiped.is_empty() {
        screen
            .line(&format!("Nothing to take note of: no file of {} has lost all its servers.", client.name));
        return Ok(ExitCode::SUCCESS);
    }
    let what = format!("forget which servers of {} were behind the gate", client.name);
    confirm::asking(&what, "gone")?;
    let mut held = ledger::hold(home.path())?;
    for drift in &wiped {
        take_note(drift, &surveyed, &mut held.ledger);
    }
    held.save()?;
    for drift in &wiped {
        let Drift::Wiped { path, lost, .. } = drift else { continue };
        queue::forget(home.path(), lost)?;
        let names: Vec<_> = lost.iter().map(|key| display::name(&key.name)).collect();
        screen.line(&format!("{}: {} gone on purpose", display::path(path), names.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}
