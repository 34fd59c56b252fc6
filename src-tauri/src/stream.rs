//! What the window follows: the log as it grows, and what servers take.
//!
//! The page asks for the log batch by batch: what it has not asked for stays in the history, so nothing piles up before a
//! page that cannot keep up. An answer is data to the web engine. A message that is pushed is a script, and it keeps the
//! compiled form of some thousand of them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use callgate_desk::view::{LogBatch, Usage};
use callgate_desk::{DeskError, Follower};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _, Runtime};

use crate::front::Front;
use crate::state::{AppState, Latest};
use crate::stderr::print_line;

/// How soon a call is on the screen.
const FRAME: Duration = Duration::from_millis(33);
/// Where many come, nobody reads them one by one: so often the rows are drawn anew.
const CROWD: Duration = Duration::from_millis(100);
/// More lines than this in one batch are many.
const FEW: usize = 3;
/// Two looks so far apart tell what share of a core a server takes.
const SAMPLE: Duration = Duration::from_secs(2);
/// After an error, so that a history that cannot be read is not hammered.
const TROUBLE: Duration = Duration::from_secs(2);
/// Nobody sees it; somebody who does again is told of at once.
const HIDDEN: Duration = Duration::from_secs(10);

/// The one who follows the log. A newer one ends it.
#[derive(Debug, Default)]
pub(crate) struct Following {
    newest: Latest,
    /// There while nobody waits for its next batch.
    resting: Mutex<Option<Resting>>,
}

#[derive(Debug)]
struct Resting {
    id: u32,
    follower: Follower,
    /// Not asked before this.
    due: Instant,
}

impl Following {
    /// Ends the present one, and answers the number of the next.
    pub(crate) fn begin(&self) -> u32 {
        let id = self.newest.next();
        // It holds the history open.
        drop(self.lock().take());
        id
    }

    /// Ends this one, if no newer one did.
    pub(crate) fn end(&self, id: u32) {
        if self.newest.end(id) {
            drop(self.lock().take_if(|resting| resting.id == id));
        }
    }

    /// Lets this one follow, unless a newer one was begun meanwhile.
    pub(crate) fn hold(&self, id: u32, follower: Follower) {
        self.rest(Resting { id, follower, due: Instant::now() });
    }

    /// Waits for what is new.
    pub(crate) fn next(&self, id: u32, front: &Front) -> Result<LogBatch, DeskError> {
        let taken = self.lock().take_if(|resting| resting.id == id);
        let Resting { mut follower, due, .. } = taken.ok_or(DeskError::Cancelled)?;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        while self.newest.is(id) {
            if !front.is_visible() {
                front.wait_until_visible(HIDDEN);
                continue;
            }
            if let Some(batch) = follower.tell() {
                if let Some(problem) = &batch.problem {
                    print_line(problem);
                }
                let pause = if batch.entries.len() > FEW { CROWD } else { FRAME };
                self.rest(Resting { id, follower, due: Instant::now() + pause });
                return Ok(batch);
            }
            std::thread::park_timeout(if follower.is_troubled() { TROUBLE } else { FRAME });
        }
        Err(DeskError::Cancelled)
    }

    fn rest(&self, resting: Resting) {
        let mut place = self.lock();
        if self.newest.is(resting.id) {
            *place = Some(resting);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Resting>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what each running session took in the last quarter of an hour, and then what it takes, until a newer question or the end
/// of the window.
pub(crate) fn sample<R: Runtime>(
    app: &AppHandle<R>,
    usages: Channel<Vec<Usage>>,
    ended: impl Fn() -> bool + Send + 'static,
) {
    let app = app.clone();
    std::thread::spawn(move || {
        if usages.send(app.state::<AppState>().usage.past()).is_err() {
            return;
        }
        while !ended() {
            let state = app.state::<AppState>();
            if !state.front.is_visible() {
                state.front.wait_until_visible(HIDDEN);
                continue;
            }
            let now = state.usage.sample(&state.desk, state.clock.now().wall_ms).unwrap_or_default();
            if usages.send(now).is_err() {
                return;
            }
            std::thread::park_timeout(SAMPLE);
        }
    });
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::sync::Arc;

    use callgate_desk::Desk;
    use callgate_desk::view::CallFilter;
    use callgate_home::Home;
    use callgate_home::clock::SystemClock;
    use callgate_journal::Origin;

    use super::*;

    fn desk(folder: &tempfile::TempDir) -> Desk {
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        Desk::new(home, Arc::new(SystemClock::new()), Origin::Window)
    }

    fn begun(following: &Following, desk: &Desk) -> u32 {
        let id = following.begin();
        following.hold(id, desk.follow(&CallFilter::default(), 0).unwrap());
        id
    }

    fn rests(following: &Following) -> Option<u32> {
        following.lock().as_ref().map(|resting| resting.id)
    }

    #[test]
    fn only_the_newest_follower_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let (desk, front, following) = (desk(&folder), Front::default(), Following::default());
        let old = begun(&following, &desk);
        let new = begun(&following, &desk);
        assert!(matches!(following.next(old, &front), Err(DeskError::Cancelled)));
        // Neither a late question nor a late end of the old one touches the new one.
        following.end(old);
        assert_eq!(rests(&following), Some(new));
        following.end(new);
        assert!(matches!(following.next(new, &front), Err(DeskError::Cancelled)));
    }

    #[test]
    fn one_that_was_opened_too_late_does_not_follow() {
        let folder = tempfile::tempdir().unwrap();
        let (desk, following) = (desk(&folder), Following::default());
        let late = following.begin();
        let new = begun(&following, &desk);
        following.hold(late, desk.follow(&CallFilter::default(), 0).unwrap());
        assert_eq!(rests(&following), Some(new));
    }

    #[test]
    fn whoever_waits_behind_a_hidden_window_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (desk, front, following) = (desk(&folder), Front::default(), Following::default());
        let id = begun(&following, &desk);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| following.next(id, &front));
            while rests(&following).is_some() {
                std::thread::yield_now();
            }
            let _ended = following.begin();
            front.wake_waiting();
            assert!(matches!(waits.join().unwrap(), Err(DeskError::Cancelled)));
        });
    }
}
