//! What commands share: the desk, and which question of a kind is the newest.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use callgate_desk::view::{ErrorCode, IconState, Need, Overview, UiError};
use callgate_desk::{Desk, DeskError};
use callgate_home::Home;
use callgate_home::clock::Clock;
use callgate_journal::Origin;
use callgate_wiring::{Wiring, WiringError};
use tauri::{AppHandle, Manager as _, Runtime};

use crate::approval_window::ApprovalWindow;
use crate::demo::Demo;
use crate::front::Front;
use crate::notify::{Board, Waiting};
use crate::presence::PersonPresence;
use crate::stream::Following;
use crate::ticker::Ticker;
use crate::tray::Tray;
use crate::usage::UsageSampler;

/// Shared by all commands.
#[derive(Debug)]
pub struct AppState {
    pub(crate) desk: Arc<Desk>,
    /// The newest count of the log: older ones end.
    pub(crate) counting: Latest,
    /// The newest look at the effect of a draft.
    pub(crate) trying: Latest,
    /// The newest follower of the log.
    pub(crate) following: Following,
    /// The newest look at what servers take.
    pub(crate) sampling: Latest,
    /// What servers take.
    pub(crate) usage: Arc<UsageSampler>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) front: Front,
    pub(crate) approval_window: ApprovalWindow,
    pub(crate) tray: Tray,
    pub(crate) ticker: Ticker,
    /// Wakes the guard over clients' files.
    pub(crate) guarding: Ticker,
    pub(crate) demo: Demo,
    pub(crate) waiting: Waiting,
    pub(crate) board: Board,
    /// A person can decide about calls here.
    pub(crate) presence: PersonPresence,
    /// A person wants the app to end.
    pub(crate) quitting: AtomicBool,
    /// Why nothing could be written into the home when the app started, if nothing could.
    pub(crate) home_problem: Option<String>,
}

impl AppState {
    pub fn new(home: Home, clock: Arc<dyn Clock>, home_problem: Option<String>) -> AppState {
        AppState {
            presence: PersonPresence::new(&home),
            desk: Arc::new(Desk::new(home, Arc::clone(&clock), Origin::Window)),
            counting: Latest::default(),
            trying: Latest::default(),
            following: Following::default(),
            sampling: Latest::default(),
            usage: Arc::default(),
            clock,
            front: Front::default(),
            approval_window: ApprovalWindow::default(),
            tray: Tray::default(),
            ticker: Ticker::default(),
            guarding: Ticker::default(),
            demo: Demo::default(),
            waiting: Waiting::default(),
            board: Board::default(),
            quitting: AtomicBool::new(false),
            home_problem,
        }
    }

    /// The page is seen from the start: whatever it is in, no window of ours is hidden or shown.
    #[must_use]
    pub fn seen(self) -> AppState {
        self.front.see();
        self
    }

    /// How things stand, with what only the app can know of them.
    pub(crate) fn overview(&self) -> Result<Overview, DeskError> {
        let mut overview = self.desk.overview()?;
        if let Some(words) = self.home_problem.as_ref().filter(|_| self.is_home_unusable()) {
            // Whatever else is wrong comes of it.
            overview.needs = vec![need(words.clone(), true)];
            overview.icon = IconState::NeedsYou;
            overview.headline = format!("Needs you: {words}");
        }
        // Said in the window, because nothing else can say it.
        overview.needs.extend(self.tray.problem().map(|why| {
            let words =
                format!("There is no tray icon: {why}. Closing this window quits the app; the gate goes on.");
            need(words, false)
        }));
        Ok(overview)
    }

    /// Is it still so? Somebody may have made room meanwhile.
    fn is_home_unusable(&self) -> bool {
        let home = self.desk.home();
        // The app's own lock is the one thing that nobody else opens.
        let lock = std::fs::File::options().write(true).open(home.app_lock());
        let unlockable = lock.is_err_and(|error| error.kind() != std::io::ErrorKind::NotFound);
        unlockable || callgate_controls::prepare_home(home).is_err() || home.check_writable().is_err()
    }

    /// The window is gone: nothing that it asked for is wanted any more.
    pub(crate) fn forget_questions(&self) {
        for latest in [&self.counting, &self.trying, &self.sampling] {
            drop(latest.begin());
        }
        let _ended = self.following.begin();
        self.front.wake_waiting();
    }
}

fn need(words: String, serious: bool) -> Need {
    Need { words, fix: None, server: None, serious }
}

/// Of several questions of one kind only the newest is worth an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latest(Arc<AtomicU32>);

impl Latest {
    /// Begins a question; says later whether a newer one came.
    pub(crate) fn begin(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let mine = self.next();
        let newest = self.clone();
        move || !newest.is(mine)
    }

    /// The number of a question that is the newest from now on.
    pub(crate) fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Makes it an older one, unless it is already; says whether it was the newest.
    pub(crate) fn end(&self, number: u32) -> bool {
        let next = number.wrapping_add(1);
        self.0.compare_exchange(number, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub(crate) fn is(&self, number: u32) -> bool {
        self.0.load(Ordering::Relaxed) == number
    }
}

/// What cannot be done, in words.
pub(crate) fn sorry(message: String) -> UiError {
    UiError { code: ErrorCode::Failed, message, detail: None }
}

/// Where files for the person go: the folder for downloads; without one, the home folder.
pub(crate) fn folder_for_files<R: Runtime>(app: &AppHandle<R>) -> Result<PathBuf, UiError> {
    let downloads = app.path().download_dir().ok().filter(|folder| folder.is_dir());
    let folder = downloads.or_else(|| app.path().home_dir().ok());
    folder.ok_or_else(|| sorry("There is no folder to write the file to.".to_owned()))
}

/// Asks the desk on a thread that may wait for the disk.
pub(crate) async fn run_on_desk<T: Send + 'static>(
    state: &AppState,
    question: impl FnOnce(&Desk) -> Result<T, DeskError> + Send + 'static,
) -> Result<T, UiError> {
    let desk = Arc::clone(&state.desk);
    aside(move || question(&desk)).await
}

/// The same, of clients' files.
pub(crate) async fn run_on_wiring<T: Send + 'static>(
    state: &AppState,
    question: impl FnOnce(&Wiring) -> Result<T, WiringError> + Send + 'static,
) -> Result<T, UiError> {
    run_on_desk(state, move |desk| Ok(question(desk.wiring())?)).await
}

/// The same, of all that the app knows.
pub(crate) async fn run_on_app<R: Runtime, T: Send + 'static>(
    app: &AppHandle<R>,
    question: impl FnOnce(&AppState) -> Result<T, DeskError> + Send + 'static,
) -> Result<T, UiError> {
    let app = app.clone();
    aside(move || question(&app.state::<AppState>())).await
}

async fn aside<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, DeskError> + Send + 'static,
) -> Result<T, UiError> {
    match tauri::async_runtime::spawn_blocking(question).await {
        Ok(answer) => answer.map_err(|error| logged(error.into())),
        Err(error) => {
            let message = "Callgate could not finish this; `callgate logs` says more.".to_owned();
            Err(logged(UiError { code: ErrorCode::Failed, message, detail: Some(error.to_string()) }))
        }
    }
}

/// What a person can do nothing about by asking in another way is for whoever looks into it.
fn logged(error: UiError) -> UiError {
    if error.code == ErrorCode::Failed {
        tracing::warn!(detail = error.detail, "{}", error.message);
    }
    error
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::SystemClock;

    use super::*;

    #[test]
    fn a_folder_that_can_be_used_again_is_no_longer_told_to_be_unusable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        std::fs::write(&path, "in the way").unwrap();
        let why = "nothing can be written".to_owned();
        let state = AppState::new(Home::at(&path), Arc::new(SystemClock::new()), Some(why.clone()));
        let told = || state.overview().unwrap().needs.iter().any(|need| need.words == why);
        assert!(told());
        std::fs::remove_file(&path).unwrap();
        assert!(!told(), "somebody mended it meanwhile");
    }
}
