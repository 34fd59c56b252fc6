//! Makes rule changes arrive while nobody calls.
//!
//! Enforcement does not depend on this: each group of lines looks for itself. But a client should hear at once that
//! its list of tools changed. Where no watcher can be had (inotify instances run out), the files are looked at
//! every 50 ms.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use callgate_store::Home;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::relay::Relay;

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
        let watcher = notify::recommended_watcher(move |_| {
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
                }
            })
            .ok()?;
        Some(Watch { _watcher: watcher })
    }
}
