//! Clicks in the tray and on notifications. What restricts is done at once and said; what loosens only opens the window.

use callgate_controls::approval::Decider;
use callgate_desk::tray::{Step, TrayAct};
use callgate_desk::view::Done;
use callgate_desk::{Desk, DeskError};
use tauri::{AppHandle, Manager as _};

use crate::state::AppState;
use crate::{front, notify, start};

/// Does what an entry promises, without keeping the desktop waiting.
pub(crate) fn perform(app: &AppHandle, act: &TrayAct) {
    match act.step() {
        Step::Restrict(restriction) => at_once(app, move |desk| desk.restrict(&restriction)),
        Step::Cap(target) => at_once(app, move |desk| desk.cap_as_advised(&target)),
        Step::Show(place) => front::show(app, place),
        Step::Quit => start::quit(app),
        Step::Server { server, wish } => at_once(app, move |desk| desk.ask_server(&server, None, wish)),
        Step::Deny(id) => at_once(app, move |desk| desk.deny(&id, Decider::Tray)),
        Step::Approve { id, key } => at_once(app, move |desk| desk.approve_as_offered(&id, &key)),
        Step::Revoke(id) => at_once(app, move |desk| desk.revoke_grant(&id)),
        Step::StopEverything => at_once(app, Desk::stop_everything),
    }
}

fn at_once(app: &AppHandle, act: impl FnOnce(&Desk) -> Result<Done, DeskError> + Send + 'static) {
    let app = app.clone();
    std::thread::spawn(move || {
        let state = app.state::<AppState>();
        let words = match act(&state.desk) {
            Ok(done) => done.in_full(),
            Err(error) => format!("This was not done: {error}"),
        };
        state.ticker.wake();
        notify::tell(&app, "Callgate", &words);
    });
}
