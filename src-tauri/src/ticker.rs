//! The heartbeat: looks at the home about once a second, and does something only when something changed.
//!
//! A look is a handful of file times; the tray, notifications and the window's idle time hang on it. With nothing
//! running it costs next to nothing.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use callgate_desk::notices::Telling;
use callgate_home::Home;
use tauri::{AppHandle, Manager as _};

use crate::state::AppState;
use crate::{approval_window, front, heap, notify, tray};

const TICK: Duration = Duration::from_secs(1);
/// Sessions die without touching a file, allowances end, a day begins: with sessions running, look this often at least.
const AT_LEAST: Duration = Duration::from_secs(5);
/// And with nothing running.
const AT_LEAST_IDLE: Duration = Duration::from_secs(30);
/// What trees that are gone left on the disk is looked for this often.
const TIDY: Duration = Duration::from_secs(60);
/// What questions took and no longer need is given back to the system this often; it takes about a millisecond.
const GIVE_BACK: Duration = Duration::from_secs(10);

/// Wakes somebody before their time: the heartbeat, the guard.
#[derive(Debug, Default)]
pub(crate) struct Ticker {
    woken: Mutex<bool>,
    signal: Condvar,
}

impl Ticker {
    /// Something was done: show it now.
    pub(crate) fn wake(&self) {
        *self.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.signal.notify_all();
    }

    /// Waits for the next beat; `true` if somebody did not want to wait.
    pub(crate) fn wait(&self, beat: Duration) -> bool {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut woken, _) = self
            .signal
            .wait_timeout_while(woken, beat, |woken| !*woken)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *woken)
    }
}

/// Beats until the app ends.
pub(crate) fn start(app: &AppHandle) {
    let app = app.clone();
    std::thread::spawn(move || {
        let mut tick = Tick::default();
        loop {
            let woken = app.state::<AppState>().ticker.wait(TICK);
            tick.once(&app, woken);
        }
    });
}

#[derive(Default)]
struct Tick {
    seen: Option<Vec<Stamp>>,
    looked: Option<Instant>,
    busy: bool,
    tidied: Option<Instant>,
    given_back: Option<Instant>,
}

impl Tick {
    fn once(&mut self, app: &AppHandle, woken: bool) {
        let state = app.state::<AppState>();
        front::let_go_if_idle(app);
        let stamps = stamps(state.desk.home());
        let least = if self.busy { AT_LEAST } else { AT_LEAST_IDLE };
        let due = self.looked.is_none_or(|at| at.elapsed() >= least);
        if !woken && !due && self.seen.as_ref() == Some(&stamps) {
            return;
        }
        self.busy = !callgate_home::running(state.desk.home()).is_empty();
        self.seen = Some(stamps);
        self.looked = Some(Instant::now());
        if self.busy {
            state.usage.keep_up(&state.desk, state.clock.now().wall_ms);
        }
        if self.tidied.is_none_or(|at| at.elapsed() >= TIDY) {
            self.tidied = Some(Instant::now());
            state.desk.tidy_trees();
            state.usage.look_for_left(&state.desk);
        }
        if self.given_back.is_none_or(|at| at.elapsed() >= GIVE_BACK) {
            self.given_back = Some(Instant::now());
            heap::give_back();
        }
        state.tray.update(&tray::look(&state));
        approval_window::update(app);
        // What cannot be read now is told when it can.
        for telling in state.desk.news(state.front.is_in_front()).unwrap_or_default() {
            match telling {
                Telling::Raise(notice) => notify::raise(app, notice),
                Telling::Amend(notice) => notify::amend(app, &notice),
            }
        }
    }
}

/// Length and time of a file; none if it is not there.
type Stamp = Option<(u64, SystemTime)>;

fn stamps(home: &Home) -> Vec<Stamp> {
    let mut paths: Vec<PathBuf> = vec![
        home.history_db(),
        beside(&home.history_db(), "-wal"),
        home.paused(),
        home.allowances(),
        home.approvals_bell(),
        home.settings(),
        home.policies_dir(),
        home.leases_dir(),
    ];
    // An editor may write a policy in place, which its folder does not show.
    let policies = std::fs::read_dir(home.policies_dir()).into_iter().flatten().flatten();
    let mut policies: Vec<PathBuf> = policies.map(|entry| entry.path()).take(200).collect();
    policies.sort();
    paths.append(&mut policies);
    paths.iter().map(|path| stamp(path)).collect()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

/// Keeps the text index up, in steps with as much rest in between; with a longer one after it caught up, since calls
/// come one by one and each step has a price of its own.
pub(crate) fn keep_index(app: &AppHandle) {
    const REST: Duration = Duration::from_secs(2);
    const CAUGHT_UP: Duration = Duration::from_millis(500);
    let app = app.clone();
    std::thread::spawn(move || {
        let state = app.state::<AppState>();
        let files = [state.desk.home().history_db(), beside(&state.desk.home().history_db(), "-wal")];
        let mut seen = None;
        loop {
            let stamps: Vec<Stamp> = files.iter().map(|path| stamp(path)).collect();
            if seen.as_ref() == Some(&stamps) {
                // Nothing was written for a while: sessions that were killed leave long logs.
                let _later = callgate_controls::write_back(state.desk.home());
                std::thread::park_timeout(REST);
                continue;
            }
            let began = Instant::now();
            // What fails (a full disk, a history that is being repaired) is tried again after a rest.
            match state.desk.index_step() {
                Ok(true) => std::thread::park_timeout(began.elapsed()),
                Ok(false) => {
                    // As it was before the step: what came meanwhile is news.
                    seen = Some(stamps);
                    std::thread::park_timeout(CAUGHT_UP);
                }
                Err(_) => std::thread::park_timeout(REST * 15),
            }
        }
    });
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn every_change_that_the_tray_shows_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let mut last = stamps(&home);
        let writes = [
            home.paused(),
            home.allowances(),
            home.settings(),
            home.policy("files"),
            home.history_db(),
            home.leases_dir().join("x.json"),
        ];
        for path in writes {
            for text in ["a", "ab"] {
                std::fs::write(&path, text).unwrap();
                let now = stamps(&home);
                // A lease that is rewritten says nothing that the tray shows.
                if text == "a" || !path.starts_with(home.leases_dir()) {
                    assert_ne!(now, last, "{}", path.display());
                }
                last = now;
            }
        }
        assert_eq!(stamps(&home), last);
    }

    #[test]
    fn a_wake_up_is_not_lost_when_nobody_waits_yet() {
        let ticker = Ticker::default();
        ticker.wake();
        assert!(ticker.wait(TICK));
        assert!(!ticker.wait(TICK));
    }
}
