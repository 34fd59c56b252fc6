//! Notifications: shown where the desktop can, skipped without a word where it cannot. Nothing waits for them.

#[cfg_attr(all(unix, not(target_os = "macos")), path = "notify/linux.rs")]
#[cfg_attr(target_os = "macos", path = "notify/macos.rs")]
#[cfg_attr(windows, path = "notify/windows.rs")]
mod system;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_desk::notices::{Notice, Topic};
use callgate_desk::tray::TrayAct;
use callgate_desk::view::Place;
use tauri::{AppHandle, Manager as _};

use crate::state::AppState;
use crate::{front, tray};

/// So many wait for a click at the same time, since the desktop may never say that one was closed. Others are shown
/// all the same, without a click.
const WAITING: usize = 24;

/// What a click on one was.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(any(windows, target_os = "macos"), expect(dead_code, reason = "clicks come back on Linux only"))]
enum Click {
    Notification,
    /// A button: what was written on it, whatever the notification says by now.
    Act(TrayAct),
    /// Closed, or gone.
    None,
}

/// How many threads wait for a click.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<AtomicUsize>);

/// One that waits, until it is dropped.
#[derive(Debug)]
struct WaitingPlace(Waiting);

impl Waiting {
    /// None: enough wait already.
    fn take(&self) -> Option<WaitingPlace> {
        let more = |waiting: usize| (waiting < WAITING).then_some(waiting + 1);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| WaitingPlace(self.clone()))
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Says what was done.
pub(crate) fn tell(app: &AppHandle, title: &str, body: &str) {
    let (title, body) = (title.to_owned(), body.to_owned());
    raise(app, Notice { title, body, acts: Vec::new(), opens: Place::Window, topic: None });
}

/// Shows it, and does what its buttons promise.
pub(crate) fn raise(app: &AppHandle, notice: Notice) {
    let (app, state) = (app.clone(), app.state::<AppState>());
    let (place, board) = (state.waiting.take(), state.board.clone());
    if let (Some(topic), Some(_)) = (notice.topic, &place) {
        board.begin(topic);
    }
    std::thread::spawn(move || {
        let Some(place) = place else {
            // Without buttons: nobody would hear them.
            return system::tell(&notice.title, &notice.body);
        };
        let click = system::show(&notice, &|id| {
            let instead = notice.topic.and_then(|topic| board.shown(topic, id, &notice.opens));
            if let Some(instead) = instead {
                // Whether it was closed is heard only after this.
                system::amend(&instead, id, &|| true);
            }
        });
        let opens = notice.topic.and_then(|topic| board.end(topic)).unwrap_or(notice.opens);
        drop(place);
        match click {
            Click::Notification => front::show(&app, opens),
            Click::Act(act) => tray::perform(&app, &act),
            Click::None => {}
        }
    });
}

/// Says it in place of what is shown about its topic.
pub(crate) fn amend(app: &AppHandle, notice: &Notice) {
    let board = app.state::<AppState>().board.clone();
    let Some(topic) = notice.topic else { return };
    if let Some(id) = board.amended(topic, notice) {
        let notice = notice.clone();
        std::thread::spawn(move || system::amend(&notice, id, &|| board.shows(topic, id)));
    }
}

/// What is on the desktop now and may be said anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board(Arc<Mutex<HashMap<Topic, OnBoard>>>);

#[derive(Debug)]
enum OnBoard {
    /// On its way there; with what has to be said instead by now.
    Coming(Option<Notice>),
    Shown {
        id: u32,
        /// Where a click on what it says by now leads.
        opens: Place,
    },
}

impl Board {
    fn all(&self) -> MutexGuard<'_, HashMap<Topic, OnBoard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, topic: Topic) {
        self.all().insert(topic, OnBoard::Coming(None));
    }

    /// The desktop calls it so; gives what has to be said instead by now.
    fn shown(&self, topic: Topic, id: u32, opens: &Place) -> Option<Notice> {
        let mut all = self.all();
        let Some(OnBoard::Coming(Some(instead))) = all.remove(&topic) else {
            all.insert(topic, OnBoard::Shown { id, opens: opens.clone() });
            return None;
        };
        all.insert(topic, OnBoard::Shown { id, opens: instead.opens.clone() });
        Some(instead)
    }

    /// What the desktop calls it, if it is there to be said anew.
    fn amended(&self, topic: Topic, notice: &Notice) -> Option<u32> {
        match self.all().get_mut(&topic)? {
            OnBoard::Shown { id, opens } => {
                *opens = notice.opens.clone();
                Some(*id)
            }
            OnBoard::Coming(instead) => {
                *instead = Some(notice.clone());
                None
            }
        }
    }

    /// Is it still there? The desktop would show anew what was closed in between, and nobody would hear its buttons.
    fn shows(&self, topic: Topic, id: u32) -> bool {
        matches!(self.all().get(&topic), Some(OnBoard::Shown { id: shown, .. }) if *shown == id)
    }

    /// Clicked or closed: who closed it does not want it back. Gives where it led.
    fn end(&self, topic: Topic) -> Option<Place> {
        match self.all().remove(&topic)? {
            OnBoard::Shown { opens, .. } => Some(opens),
            OnBoard::Coming(_) => None,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn undismissed_ones_take_up_the_clicks_and_give_them_back() {
        let waiting = Waiting::default();
        let mut places: Vec<WaitingPlace> = (0..WAITING).map(|_| waiting.take().unwrap()).collect();
        for _ in 0..100 {
            assert!(waiting.take().is_none(), "shown, but not waited for");
        }
        places.pop();
        assert!(waiting.take().is_some());
    }

    #[test]
    fn a_count_reaches_what_is_shown_or_coming_and_never_what_was_closed() {
        let (board, topic) = (Board::default(), Topic(1));
        let saying = |body: &str, opens: Place| Notice {
            title: "t".to_owned(),
            body: body.to_owned(),
            acts: Vec::new(),
            opens,
            topic: Some(topic),
        };
        assert_eq!(board.amended(topic, &saying("2 more", Place::Window)), None, "never shown");
        board.begin(topic);
        assert_eq!(board.amended(topic, &saying("3 more", Place::Servers)), None, "not there yet");
        assert_eq!(board.shown(topic, 7, &Place::Window).map(|one| one.body).as_deref(), Some("3 more"));
        assert_eq!(board.amended(topic, &saying("4 more", Place::Clients)), Some(7));
        assert!(board.shows(topic, 7) && !board.shows(topic, 8));
        assert_eq!(board.end(topic), Some(Place::Clients), "a click leads to what it says by now");
        assert!(!board.shows(topic, 7), "closed while it was on its way");
        assert_eq!(board.amended(topic, &saying("5 more", Place::Window)), None, "closed");
    }
}
