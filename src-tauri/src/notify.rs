//! Notifications: shown where the desktop can, skipped without a word where it cannot. Nothing waits for them.

#[cfg_attr(all(unix, not(target_os = "macos")), path = "notify/linux.rs")]
#[cfg_attr(target_os = "macos", path = "notify/macos.rs")]
#[cfg_attr(windows, path = "notify/windows.rs")]
mod system;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_desk::notices::Notice;
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
    Button(usize),
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
    raise(app, Notice { title, body, acts: Vec::new(), opens: Place::Window });
}

/// Shows it, and does what its buttons promise.
pub(crate) fn raise(app: &AppHandle, notice: Notice) {
    let (app, waiting) = (app.clone(), app.state::<AppState>().waiting.clone());
    let place = waiting.take();
    std::thread::spawn(move || {
        let Some(place) = place else {
            // Without buttons: nobody would hear them.
            return system::tell(&notice.title, &notice.body);
        };
        let buttons: Vec<&str> = notice.acts.iter().map(|(_, text)| text.as_str()).collect();
        let click = system::show(&notice.title, &notice.body, &buttons);
        drop(place);
        match click {
            Click::Notification => front::show(&app, notice.opens),
            Click::Button(number) => {
                if let Some((act, _)) = notice.acts.get(number) {
                    let act: &TrayAct = act;
                    tray::perform(&app, act);
                }
            }
            Click::None => {}
        }
    });
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
}
