//! One question for all: ten shims that start at once and find the keychain locked must not ask ten times.
//!
//! Whoever talks to the keychain holds `control/keychain.lock`. Those who come while it is held wait, for a bounded time, and
//! find the keychain open. A person who says no says it to all who waited at that moment: the time of the no is in the file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use callgate_secrets::KeychainError;

/// How often a waiting one looks.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Turn {
    /// Released when the process ends, however it ends.
    lock: File,
}

impl Turn {
    /// Waits for our turn. Nobody is kept from a keychain by a home that cannot be written: then there is no queue.
    pub(crate) fn take(home: &Path, limit: Duration) -> Result<Option<Turn>, KeychainError> {
        Turn::take_since(home, limit, now_ms())
    }

    /// `since`: when we began to wait.
    fn take_since(home: &Path, limit: Duration, since: u128) -> Result<Option<Turn>, KeychainError> {
        let began = Instant::now();
        let Some(mut lock) = open(home) else { return Ok(None) };
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if began.elapsed() < limit => thread::sleep(LOOK),
                Err(TryLockError::WouldBlock) => return Err(KeychainError::Busy(limit)),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        let mut text = String::new();
        let _unread = (&mut lock).take(32).read_to_string(&mut text);
        match text.trim().parse::<u128>() {
            // A no from the future was said before the clock was set back.
            Ok(refused) if (since..=now_ms()).contains(&refused) => Err(KeychainError::Denied),
            _ => Ok(Some(Turn { lock })),
        }
    }

    /// A person said no.
    pub(crate) fn refused(&self) {
        // Without it the next one asks again, which is no more than a nuisance.
        let mut lock = &self.lock;
        let _written =
            lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| write!(lock, "{}", now_ms()));
    }
}

fn open(home: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    crate::system::private(&mut options);
    options.open(home.join("control").join("keychain.lock")).ok()
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("control")).unwrap();
        home
    }

    const SOON: Duration = Duration::from_millis(30);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn one_at_a_time_and_nobody_waits_for_ever() {
        let home = home();
        let first = Turn::take(home.path(), SOON).unwrap().unwrap();
        assert_eq!(Turn::take(home.path(), SOON).unwrap_err(), KeychainError::Busy(SOON));
        let waiting = thread::spawn({
            let home = home.path().to_owned();
            move || Turn::take(&home, LONG).unwrap().is_some()
        });
        drop(first);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_no_is_for_all_who_wait_and_for_nobody_after() {
        let home = home();
        let first = Turn::take(home.path(), SOON).unwrap().unwrap();
        let while_asked = now_ms();
        first.refused();
        let after = now_ms() + 1;
        drop(first);
        assert_eq!(Turn::take_since(home.path(), SOON, while_asked).unwrap_err(), KeychainError::Denied);
        assert!(Turn::take_since(home.path(), SOON, after).unwrap().is_some());
    }

    #[test]
    fn a_no_from_before_the_clock_was_set_back_is_over() {
        let home = home();
        let later = now_ms() + 3_600_000;
        std::fs::write(home.path().join("control/keychain.lock"), later.to_string()).unwrap();
        assert!(Turn::take(home.path(), SOON).unwrap().is_some());
    }

    #[test]
    fn a_home_that_cannot_be_written_keeps_nobody_away() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Turn::take(file.path(), SOON).unwrap().is_none());
    }
}
