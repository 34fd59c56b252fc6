//! Makes rule changes arrive while nobody calls, and what a person asks of the server.
//!
//! Enforcement does not depend on this: each group of lines looks for itself. But a client should hear at once that
//! its list of tools changed. Requests about the server are looked for here alone, because they change no judgement. Where
//! no watcher can be had (inotify instances run out), the files are looked at every 50 ms.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use callgate_store::{Home, control};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::relay::{News, Relay};

const POLL: Duration = Duration::from_millis(50);
/// With a watcher at work, a look now and then covers what it may have missed.
const ROUND: Duration = Duration::from_secs(30);

/// Keeps the watcher alive.
#[derive(Debug)]
pub(crate) struct Watch {
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    pub(crate) fn start(home: &Home, relay: Arc<Relay>) -> Option<Watch> {
        let (wake, woken) = mpsc::sync_channel(1);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading is what we do ourselves: woken by it, we would read again without end.
            if event.is_ok_and(|event| event.kind.is_access()) {
                return;
            }
            // Full means that a look is due anyway.
            let _due = wake.try_send(());
        })
        .and_then(|mut watcher| {
            for directory in [home.policies_dir(), home.control_dir()] {
                watcher.watch(&directory, RecursiveMode::NonRecursive)?;
            }
            Ok(watcher)
        })
        .ok();
        let every = if watcher.is_some() { ROUND } else { POLL };
        let (home, mut dealt_with) = (home.clone(), 0);
        thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(512 * 1024)
            .spawn(move || {
                loop {
                    match woken.recv_timeout(every) {
                        Err(RecvTimeoutError::Disconnected) => thread::sleep(every),
                        Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    }
                    relay.rules();
                    let request = control::read(&home, relay.journal.session());
                    if let Some(request) = request.filter(|request| request.turn != dealt_with) {
                        dealt_with = request.turn;
                        relay.tell(News::Asked(request));
                    }
                }
            })
            .ok()?;
        Some(Watch { _watcher: watcher })
    }
}
