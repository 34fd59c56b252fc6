//! The approval window: small, above all others, there while a call waits for a decision and nobody looks at the main window.
//! It never takes the keyboard by itself: what is typed elsewhere decides nothing here.
//!
//! It shows the same cards as the section of that name, by the same page. Whether it stays above is for the desktop to say
//! (Wayland has no word for it).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tauri::{AppHandle, LogicalPosition, Manager as _, WebviewWindow, WindowEvent};

use crate::front;
use crate::state::AppState;
use crate::stderr::print_line;

const LABEL: &str = "approvals";
/// How the page is asked for the cards alone.
const ADDRESS: &str = "?approvals";
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 430.0;
/// To the edges of the screen.
const MARGIN: f64 = 16.0;
/// So long it stays after a decision: as long as that can be undone, and some more.
const READING: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(crate) struct ApprovalWindow {
    /// What waited when the person closed it: only what comes later brings it back.
    put_off: Mutex<BTreeSet<String>>,
    /// When it last said something that is to be read: what to tell a client that has stopped waiting.
    told: Mutex<Option<Instant>>,
}

impl ApprovalWindow {
    /// Is it wanted for any of these?
    fn is_wanted(&self, waiting: &[String]) -> bool {
        let mut put_off = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        put_off.retain(|id| waiting.contains(id));
        waiting.iter().any(|id| !put_off.contains(id))
    }

    /// Its words are worth reading, though nothing waits any more.
    pub(crate) fn tells(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_being_read(&self) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < READING)
    }

    fn put_off(&self, waiting: Vec<String>) {
        self.put_off.lock().unwrap_or_else(PoisonError::into_inner).extend(waiting);
    }
}

/// Shows it or takes it away, by what waits now.
pub(crate) fn update(app: &AppHandle) {
    let state = app.state::<AppState>();
    let Ok(waiting) = state.desk.waiting_approvals() else { return };
    let is_wanted = state.approval_window.is_wanted(&waiting) && !state.front.is_in_front();
    let is_there = app.get_webview_window(LABEL).is_some();
    // Asked again and again: the main thread is woken only for something.
    if is_wanted == is_there || is_there && state.approval_window.is_being_read() {
        return;
    }
    front::on_main(app, move |app| {
        let done = match app.get_webview_window(LABEL) {
            Some(window) if !is_wanted => window.destroy(),
            None if is_wanted => show(app),
            _ => Ok(()),
        };
        if let Err(error) = done {
            print_line(&format!("the approval window cannot be shown or taken away: {error}"));
        }
    });
}

fn show(app: &AppHandle) -> tauri::Result<()> {
    let mut builder = front::confined(app, LABEL, ADDRESS)
        .title("Callgate: waiting for you")
        .inner_size(WIDTH, HEIGHT)
        .min_inner_size(360.0, 240.0)
        .always_on_top(true)
        .skip_taskbar(true)
        .focused(false);
    if let Some(at) = corner(app) {
        builder = builder.position(at.x, at.y);
    }
    let window = builder.build()?;
    window.set_background_color(Some(front::ground(app, &window)))?;
    closes_for_now(app, &window);
    window.show()
}

/// The cross is no decision.
fn closes_for_now(app: &AppHandle, window: &WebviewWindow) {
    let app = app.clone();
    window.on_window_event(move |event| {
        if let WindowEvent::CloseRequested { .. } = event {
            let state = app.state::<AppState>();
            state.approval_window.put_off(state.desk.waiting_approvals().unwrap_or_default());
        }
    });
}

/// The lower right one of the main screen, beside what the desktop keeps for itself.
fn corner(app: &AppHandle) -> Option<LogicalPosition<f64>> {
    let screen = app.primary_monitor().ok()??;
    let (area, scale) = (screen.work_area(), screen.scale_factor());
    let (at, size) = (area.position.to_logical::<f64>(scale), area.size.to_logical::<f64>(scale));
    let beside = |start: f64, length: f64, own: f64| (start + length - own - MARGIN).max(start);
    Some(LogicalPosition::new(beside(at.x, size.width, WIDTH), beside(at.y, size.height, HEIGHT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_off_brings_no_window_back_and_the_next_call_does() {
        let window = ApprovalWindow::default();
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert!(!window.is_wanted(&[]));
        assert!(window.is_wanted(&ids(&["a"])));
        window.put_off(ids(&["a"]));
        assert!(!window.is_wanted(&ids(&["a"])));
        assert!(window.is_wanted(&ids(&["a", "b"])));
        assert!(!window.is_wanted(&ids(&["a"])), "the other one was decided");
        assert!(!window.is_wanted(&[]));
        assert!(window.is_wanted(&ids(&["a"])), "asked about anew");
    }
}
