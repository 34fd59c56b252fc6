//! The guard's eyes: clients' files are looked at when the app starts, when one of their folders changes, and while a change
//! waits for a client to quit.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tauri::{AppHandle, Manager as _, Runtime};

use crate::say::say;
use crate::state::AppState;

/// A program that writes a file does so in several steps.
const SETTLING: Duration = Duration::from_millis(400);
/// Steps that are waited for, at most.
const STEPS: u32 = 5;
/// How often a client is looked for that a change waits for.
const WAITING: Duration = Duration::from_secs(2);
/// Folders appear, watchers miss things: look at least this often.
const AT_LEAST: Duration = Duration::from_secs(300);

/// Looks until the app ends.
pub fn start<R: Runtime>(app: &AppHandle<R>) {
    let app = app.clone();
    std::thread::spawn(move || {
        let state = app.state::<AppState>();
        let woken = app.clone();
        let mut watcher = watcher(move || woken.state::<AppState>().guarding.wake());
        let mut watched = BTreeSet::new();
        loop {
            if let Some(watcher) = &mut watcher {
                watch(watcher, &mut watched, state.desk.client_folders());
            }
            if let Err(error) = state.desk.watch_over_clients() {
                say(&format!("clients' files were not looked at: {error}"));
            }
            state.pulse.wake();
            let patience = if state.desk.has_queued() { WAITING } else { AT_LEAST };
            if state.guarding.wait(patience) {
                // What never comes to rest is looked at all the same.
                let _unrest = (0..STEPS).all(|_| state.guarding.wait(SETTLING));
            }
        }
    });
}

/// Calls when something other than reading happened: we read these files ourselves. Without one (too many of them, a strange
/// file system) looking now and then has to do.
fn watcher(changed: impl Fn() + Send + 'static) -> Option<RecommendedWatcher> {
    let told = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            changed();
        }
    };
    notify::recommended_watcher(told).ok()
}

/// Folders that went away and came back are new to the watcher.
fn watch(watcher: &mut RecommendedWatcher, watched: &mut BTreeSet<PathBuf>, folders: Vec<PathBuf>) {
    watched.retain(|folder| folder.is_dir());
    for folder in folders {
        if !watched.contains(&folder) && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
            watched.insert(folder);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pulse::Pulse;

    #[test]
    fn a_file_that_is_only_read_wakes_nobody_and_one_that_is_replaced_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, "{}").unwrap();
        let pulse = Arc::new(Pulse::default());
        let woken = Arc::clone(&pulse);
        let mut watcher = watcher(move || woken.wake()).unwrap();
        let mut watched = BTreeSet::new();
        watch(&mut watcher, &mut watched, vec![folder.path().to_owned()]);
        watch(&mut watcher, &mut watched, vec![folder.path().to_owned()]);
        assert_eq!(watched.len(), 1);
        std::fs::read(&file).unwrap();
        assert!(!pulse.wait(SETTLING), "reading is no change");
        std::fs::write(folder.path().join("new"), "{}").unwrap();
        std::fs::rename(folder.path().join("new"), &file).unwrap();
        assert!(pulse.wait(Duration::from_secs(20)));
    }
}
