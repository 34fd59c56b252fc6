//! Bringing the history up to date from any process: what live sessions have not moved yet is filed, and what dead
//! sessions left behind is filed, closed and removed. Doing it twice, or at once with the owner, changes nothing.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use callgate_home::clock::Clock;
use callgate_home::{Home, SessionId, StoreError, lease};
use tracing::{info, warn};

use crate::EndReason;
use crate::filing::Filer;
use crate::outbox;
use crate::spool::reader::{Head, Reader};

const TRANSACTION: Duration = Duration::from_micros(3_500);

/// What there was to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaughtUp {
    /// Sessions that go on.
    pub live: usize,
    /// Sessions that were found dead and are now closed.
    pub closed: usize,
    /// Spools that could not be read or filed; they stay where they are.
    pub failed: usize,
}

/// How long somebody who files for others waits for a turn; without one it takes what SQLite gives.
const BRIEFLY: Duration = Duration::from_millis(100);

/// Files everything that spools hold at this moment.
pub fn catch_up(home: &Home, clock: &dyn Clock) -> Result<CaughtUp, StoreError> {
    let mut caught_up = CaughtUp::default();
    let sessions = lease::sessions(home);
    // A history that is busy gets them with the next spool.
    let _later = outbox::book(home);
    if sessions.is_empty() {
        return Ok(caught_up);
    }
    let mut filer = Filer::open(home, clock.now().wall_ms)?;
    for session in sessions {
        match one(home, &mut filer, session, clock, true) {
            Ok(true) => caught_up.closed += 1,
            Ok(false) => caught_up.live += 1,
            Err(_) => caught_up.failed += 1,
        }
    }
    Ok(caught_up)
}

/// Only what dead sessions left: the live ones look after themselves.
pub(crate) fn dead_sessions(home: &Home, clock: &dyn Clock) {
    let dead: Vec<SessionId> =
        lease::sessions(home).into_iter().filter(|session| !lease::is_live(home, *session)).collect();
    if dead.is_empty() {
        return;
    }
    // What fails here is tried again by the next session.
    let Ok(mut filer) = Filer::open(home, clock.now().wall_ms) else { return };
    for session in dead {
        if let Err(error) = one(home, &mut filer, session, clock, false) {
            warn!(dead = %session, %error, "what a dead session left cannot be filed");
        }
    }
}

/// `true` if the session was dead and is now closed.
fn one(
    home: &Home,
    filer: &mut Filer,
    session: SessionId,
    clock: &dyn Clock,
    live_too: bool,
) -> Result<bool, StoreError> {
    let held = lease::take_over(home, session);
    if held.is_none() && !live_too {
        return Ok(false);
    }
    let path = home.spool(session);
    match Reader::open(&path) {
        Ok((mut reader, Head::Session(opened))) => {
            while {
                let _turn = filer.turn(BRIEFLY);
                filer.file(&opened, &mut reader, TRANSACTION)?
            } {}
            if held.is_some() {
                let at_ms = changed_ms(&path).unwrap_or_else(|| clock.now().wall_ms);
                filer.close(&opened, at_ms, EndReason::Lost)?;
            }
        }
        // A newer Callgate knows what to do with it.
        Ok((_, Head::Foreign)) => return Ok(false),
        // It died before it recorded anything, or after everything was filed.
        Ok((_, Head::Empty)) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io("read", &path, &error)),
    }
    let Some(held) = held else { return Ok(false) };
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(StoreError::io("remove", &path, &error));
        }
        _ => {}
    }
    lease::remove(home, session, held);
    info!(dead = %session, "filed what a dead session left");
    Ok(true)
}

/// When the file was last written: the last sign of life.
fn changed_ms(path: &Path) -> Option<i64> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}
