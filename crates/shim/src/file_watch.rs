//! File watch: makes rule changes arrive while nobody calls, and what a person asks of the server and of single calls.
//!
//! Enforcement does not depend on this: each group of lines looks for itself. But a client should hear at once that
//! its list of tools changed. Requests about the server are looked for here alone, because they change no judgement. Where
//! no watcher can be had (inotify instances run out), the files are looked at every 50 ms.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use callgate_controls::control;
use callgate_home::{CallId, Home};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::relay::{News, Relay};
use crate::rule_source::MOMENT;

const POLL: Duration = Duration::from_millis(50);
/// With a watcher at work, a look now and then covers what it may have missed.
const ROUND: Duration = Duration::from_secs(30);

/// Keeps the watcher alive.
#[derive(Debug)]
pub(crate) struct FileWatch {
    _watcher: Option<RecommendedWatcher>,
}

impl FileWatch {
    pub(crate) fn start(home: &Home, relay: Arc<Relay>) -> Option<FileWatch> {
        let (wake, woken) = mpsc::sync_channel(1);
        let watcher = watcher(&[home.policies_dir(), home.control_dir(), home.pins_dir()], move |_| {
            // Full means that a look is due anyway.
            let _due = wake.try_send(());
        });
        if watcher.is_none() {
            tracing::warn!("no file watcher can be had: rule files are looked at every {POLL:?} instead");
        }
        let every = if watcher.is_some() { ROUND } else { POLL };
        let (home, mut dealt_with) = (home.clone(), 0);
        let mut cancelled: HashSet<CallId> = HashSet::new();
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(512 * 1024)
            .spawn(move || {
                // What was asked before anybody watched is not to wait for a round.
                loop {
                    relay.rules();
                    relay.approvals.ring();
                    let request = control::read(&home, relay.journal.session());
                    if let Some(request) = request.filter(|request| request.turn != dealt_with) {
                        dealt_with = request.turn;
                        relay.tell(News::Control(request));
                    }
                    let named = control::cancellations(&home, relay.journal.session());
                    named.iter().filter(|call| !cancelled.contains(call)).for_each(|call| {
                        relay.tell(News::Cancel(*call));
                    });
                    // What the file no longer names is not asked for again.
                    cancelled = named.into_iter().collect();
                    // What is told only if it lasts is looked at again when it has.
                    let every = if relay.rule_source.has_untold() { every.min(MOMENT) } else { every };
                    match woken.recv_timeout(every) {
                        Err(RecvTimeoutError::Disconnected) => thread::sleep(every),
                        Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    }
                }
            })
            .ok()?;
        Some(FileWatch { _watcher: watcher })
    }
}

/// Tells of what changes in these directories. Reading changes nothing: it is what we do ourselves, and woken by it we would
/// read again without end.
fn watcher(
    directories: &[PathBuf],
    mut changed: impl FnMut(notify::Result<Event>) + Send + 'static,
) -> Option<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if !event.as_ref().is_ok_and(|event| event.kind.is_access()) {
            changed(event);
        }
    })
    .ok()?;
    for directory in directories {
        watcher.watch(directory, RecursiveMode::NonRecursive).ok()?;
    }
    Some(watcher)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_session_does_not_wake_itself_by_reading_what_it_was_asked() {
        let folder = tempfile::tempdir().unwrap();
        let (asked, later) = (folder.path().join("asked"), folder.path().join("later"));
        fs::write(&asked, "stop").unwrap();
        let (tell, told) = mpsc::channel();
        let _watcher = watcher(&[folder.path().to_owned()], move |event| tell.send(event).unwrap()).unwrap();
        fs::read(&asked).unwrap();
        fs::write(&later, "").unwrap();
        // Events come in their order: whatever the reading had caused would be here first.
        let first = told.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(first.paths, [later]);
    }
}
