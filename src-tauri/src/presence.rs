//! Whether a person is there to decide about calls: while the app runs, the screen is not locked, and they have not said that they
//! are not to be disturbed. Gates hold no call for somebody who cannot see it, and tell the agent at once.

#[cfg_attr(target_os = "linux", path = "presence/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "presence/other.rs")]
mod screen;

use std::sync::{Mutex, PoisonError};

use callgate_controls::decider;
use callgate_home::Home;
use tauri::{AppHandle, Manager as _};

use crate::state::AppState;

#[derive(Debug)]
pub(crate) struct PersonPresence {
    home: Home,
    /// None while nobody is there, or if it cannot be said to the gates.
    said: Mutex<Option<decider::Presence>>,
}

impl PersonPresence {
    /// Somebody has started the app.
    pub(crate) fn new(home: &Home) -> PersonPresence {
        let presence = PersonPresence { home: home.clone(), said: Mutex::new(None) };
        presence.set(true);
        presence
    }

    pub(crate) fn set(&self, is_there: bool) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        match is_there {
            true if said.is_none() => *said = decider::Presence::announce(&self.home).ok(),
            true => {}
            false => *said = None,
        }
    }
}

/// Follows the desktop until the app ends.
pub(crate) fn start(app: &AppHandle) {
    let app = app.clone();
    std::thread::spawn(move || {
        screen::follow(|is_away| app.state::<AppState>().presence.set(!is_away));
    });
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn gates_know_whether_somebody_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let presence = PersonPresence::new(&home);
        for (is_there, why) in [(true, "unlocked"), (false, "locked"), (false, "still"), (true, "back")] {
            presence.set(is_there);
            assert_eq!(decider::is_present(&home), is_there, "{why}");
        }
        drop(presence);
        assert!(!decider::is_present(&home));
    }
}
