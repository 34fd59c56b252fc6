//! Sessions take turns at filing: one at a time writes into the history, empties its log and makes room.
//!
//! SQLite lets only one write anyway, but its log can begin anew only in a moment in which nobody does, and of twenty who
//! poll for its lock somebody always writes. The turn is about order alone: SQLite's own lock keeps the rows right, also
//! where nothing can be locked here.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use callgate_home::private;

/// Between two looks whether it is one's turn. A turn takes some milliseconds; twenty who look all the time would take the
/// processor from the one who has it.
const SHORTEST: Duration = Duration::from_micros(500);
const LONGEST: Duration = Duration::from_millis(8);

/// Lasts until it is dropped, or until its process ends in whatever way.
#[derive(Debug)]
pub struct FilingTurn {
    _lock: Option<File>,
}

impl FilingTurn {
    /// None if others had it for as long as `patience`.
    pub fn take(history: &Path, patience: Duration) -> Option<FilingTurn> {
        let began = Instant::now();
        let path = history.with_extension("turn");
        // A folder that cannot be written to is told of by whoever writes the history.
        let Ok(file) = private::options().write(true).create(true).truncate(false).open(path) else {
            return Some(FilingTurn { _lock: None });
        };
        let mut pause = SHORTEST;
        loop {
            match file.try_lock() {
                Ok(()) => return Some(FilingTurn { _lock: Some(file) }),
                Err(TryLockError::Error(_)) => return Some(FilingTurn { _lock: None }),
                Err(TryLockError::WouldBlock) if began.elapsed() >= patience => return None,
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(pause);
                    pause = LONGEST.min(2 * pause);
                }
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let take = || FilingTurn::take(&folder.path().join("history.db"), Duration::ZERO);
        let first = take().unwrap();
        assert!(take().is_none());
        drop(first);
        assert!(take().is_some());
    }

    #[test]
    fn where_nothing_can_be_locked_there_are_no_turns() {
        let folder = tempfile::tempdir().unwrap();
        assert!(FilingTurn::take(&folder.path().join("gone/history.db"), Duration::ZERO).is_some());
    }
}
