//! One app a home: an OS lock says who is first, and a bell file tells the first what a second start wants.
//!
//! The disk is the only thing between the processes of Callgate: this works without D-Bus, over every desktop, and ends
//! with the process however it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use callgate_desk::view::Place;
use callgate_home::{Home, Locked, atomic, try_lock};
use notify::{RecursiveMode, Watcher as _};

use crate::route;

/// How long a second start waits for the first to hear it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often either side looks when nothing tells it to.
const LOOK: Duration = Duration::from_millis(50);
const SLOW_LOOK: Duration = Duration::from_secs(1);

/// What became of a start.
#[derive(Debug)]
pub(crate) enum Claim {
    /// This is the app, as long as the lock lives.
    First(Locked),
    /// Another one runs and has shown its window.
    Heard,
    /// Another one runs and does not answer.
    Deaf,
}

fn bell_path(home: &Home) -> PathBuf {
    home.path().join("bell").join("app")
}

/// Becomes the app, or asks the one that runs to show itself.
pub(crate) fn claim(home: &Home, wanted: Option<&Place>) -> io::Result<Claim> {
    claim_within(home, wanted, PATIENCE)
}

fn claim_within(home: &Home, wanted: Option<&Place>, patience: Duration) -> io::Result<Claim> {
    let (lock, bell) = (home.app_lock(), bell_path(home));
    if let Some(locked) = try_lock(&lock)? {
        // Rung for somebody who is gone.
        let _none = std::fs::remove_file(&bell);
        return Ok(Claim::First(locked));
    }
    ring(home, wanted.unwrap_or(&Place::Window))?;
    let deadline = Instant::now() + patience;
    while bell.exists() {
        // The first may have been about to end when the bell rang.
        if let Some(locked) = try_lock(&lock)? {
            let _mine = std::fs::remove_file(&bell);
            return Ok(Claim::First(locked));
        }
        if Instant::now() >= deadline {
            return Ok(Claim::Deaf);
        }
        std::thread::park_timeout(LOOK);
    }
    Ok(Claim::Heard)
}

/// Asks the app to show its window at this place.
pub(crate) fn ring(home: &Home, wanted: &Place) -> io::Result<()> {
    let word = route::name(wanted).unwrap_or_else(|| "window".to_owned());
    atomic::replace(&bell_path(home), word.as_bytes())
}

/// What a second start wants, if one came.
fn answer(bell: &Path) -> Option<Place> {
    let word = match callgate_home::read_private(bell) {
        // One that is hung up just now is read the next time, not taken down unread.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        read => read.ok(),
    };
    // Whatever it says: it was heard.
    std::fs::remove_file(bell).ok()?;
    Some(word.as_deref().and_then(route::named).unwrap_or(Place::Window))
}

/// Hears the bell for as long as the app lives, on a thread of its own.
pub(crate) fn listen(home: &Home, heard: impl Fn(Place) + Send + 'static) {
    let bell = bell_path(home);
    let (rang, rings) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |_event| {
        let _nobody = rang.send(());
    });
    let folder = bell.parent().map(Path::to_owned).unwrap_or_default();
    std::thread::spawn(move || {
        // Without a watcher (too many of them, a strange file system) looking now and then has to do.
        let watching = watcher.ok().and_then(|mut watcher| {
            watcher.watch(&folder, RecursiveMode::NonRecursive).ok().map(|()| watcher)
        });
        loop {
            if let Some(place) = answer(&bell) {
                heard(place);
            }
            if watching.is_none()
                || rings.recv_timeout(SLOW_LOOK) == Err(mpsc::RecvTimeoutError::Disconnected)
            {
                std::thread::park_timeout(SLOW_LOOK);
            }
            while rings.try_recv().is_ok() {}
        }
    });
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        (folder, home)
    }

    #[test]
    fn a_second_start_is_heard_by_the_first_with_what_it_wants() {
        let (_folder, home) = home();
        let first = claim(&home, None).unwrap();
        assert!(matches!(first, Claim::First(_)));
        let (sender, heard) = mpsc::channel();
        listen(&home, move |place| sender.send(place).unwrap());
        let call = Place::Call { id: "abcde-1".to_owned() };
        for wanted in [None, Some(call), Some(Place::Settings)] {
            assert!(matches!(claim(&home, wanted.as_ref()).unwrap(), Claim::Heard));
            let place = heard.recv_timeout(Duration::from_secs(10)).unwrap();
            assert_eq!(place, wanted.unwrap_or(Place::Window));
        }
    }

    #[test]
    fn a_second_start_takes_over_when_the_first_ends() {
        let (_folder, home) = home();
        let first = claim(&home, None).unwrap();
        let second = {
            let home = home.clone();
            std::thread::spawn(move || claim(&home, None).unwrap())
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while !bell_path(&home).exists() && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        drop(first);
        assert!(matches!(second.join().unwrap(), Claim::First(_)));
    }

    #[test]
    fn a_first_that_does_not_answer_is_said_to_be_deaf() {
        let (_folder, home) = home();
        let _first = claim(&home, None).unwrap();
        assert!(matches!(claim_within(&home, None, Duration::from_millis(120)).unwrap(), Claim::Deaf));
    }

    #[test]
    fn nonsense_in_the_bell_only_shows_the_window() {
        let (_folder, home) = home();
        let bell = bell_path(&home);
        assert_eq!(answer(&bell), None);
        for text in ["", "ask:resume", "call:", "\u{0}"] {
            atomic::replace(&bell, text.as_bytes()).unwrap();
            assert_eq!(answer(&bell), Some(Place::Window), "{text:?}");
        }
    }
}
