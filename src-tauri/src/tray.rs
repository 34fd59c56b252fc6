//! The tray: an icon that says how things stand, and a menu that is right at the moment it opens.
//!
//! What the menu says is decided by the desk; here it is drawn and clicked. Where no tray can be made, that is said once
//! and the window does without.

mod act;
mod icons;
#[cfg_attr(target_os = "linux", path = "tray/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "tray/other.rs")]
mod system;

use std::sync::{Mutex, PoisonError};

use callgate_desk::tray::{Menu, MenuItem, TrayAct, menu, tip, with_left};
use callgate_desk::view::IconState;
use callgate_text as text;
use tauri::AppHandle;

pub(crate) use act::perform;

use crate::state::AppState;
use crate::stderr::print_line;

/// All that the tray shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    icon: IconState,
    /// For the pointer that rests on the icon.
    tip: String,
    menu: Menu,
}

/// How things stand at this moment.
pub(crate) fn look(state: &AppState) -> Look {
    let desk = &state.desk;
    let memory = state.usage.memory();
    let told = state.overview().and_then(|overview| Ok((desk.servers()?, overview)));
    match told {
        Ok((servers, overview)) => Look {
            icon: overview.icon,
            tip: text::harmless(&tip(&overview, &memory)),
            menu: {
                let recorded = desk.recorded(&servers);
                let access = desk.access_of(&overview.recent);
                // Nobody was ever asked: nothing is opened for it.
                let asked = desk.home().approvals_bell().exists();
                let approvals = if asked { desk.approvals().ok() } else { None }.unwrap_or_default();
                let now_ms = state.clock.now().wall_ms;
                let menu = menu(&overview, &servers, &approvals, &access, &memory, &recorded, now_ms);
                match state.usage.left() {
                    Some(words) => with_left(menu, &words),
                    None => menu,
                }
            },
        },
        Err(error) => match &state.home_problem {
            Some(words) => unreadable(words),
            None => unreadable(&format!("Callgate cannot see how things stand: {error}")),
        },
    }
}

/// Nobody knows how well anything is protected: that is what it says.
fn unreadable(why: &str) -> Look {
    let words = text::harmless(why);
    let entry = |act, text: &str| MenuItem::Entry { act, text: text.to_owned() };
    let items = vec![
        MenuItem::Label(text::clip(&words, 100)),
        MenuItem::Separator,
        entry(TrayAct::Pause { server: None }, "Pause all"),
        entry(TrayAct::Open, "Open Callgate"),
        entry(TrayAct::Quit, "Quit"),
    ];
    Look { icon: IconState::NeedsYou, tip: format!("Needs you: {words}"), menu: Menu { items } }
}

/// The tray of this app, or why there is none.
#[derive(Debug, Default)]
pub(crate) struct Tray {
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    icon: Option<system::Icon>,
    shown: Option<Look>,
    /// Nobody shows it at this moment.
    problem: Option<String>,
    told: bool,
}

impl Tray {
    /// Makes the tray. On the main thread, once.
    pub(crate) fn start(&self, app: &AppHandle, look: Look) {
        let made = system::Icon::make(app, look.clone());
        let mut state = self.lock();
        match made {
            Ok(icon) => {
                state.icon = Some(icon);
                state.shown = Some(look);
            }
            Err(why) => state.lacks(why),
        }
    }

    /// Shows this, if it is something new.
    pub(crate) fn update(&self, look: &Look) {
        // The lock is not held while the desktop is told: it may ask back.
        let icon = {
            let mut state = self.lock();
            if state.shown.as_ref() == Some(look) {
                return;
            }
            state.shown = Some(look.clone());
            state.icon.clone()
        };
        if let Some(icon) = icon {
            icon.update(look);
        }
    }

    /// The icon shows this by itself now.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "elsewhere the tray shows what it is told")
    )]
    fn shows(&self, look: &Look) {
        self.lock().shown = Some(look.clone());
    }

    /// Is there an icon that somebody can click?
    pub(crate) fn works(&self) -> bool {
        let state = self.lock();
        state.icon.is_some() && state.problem.is_none()
    }

    /// Could somebody show it yet? A desktop may be slower than we are; a missing bus does not come.
    pub(crate) fn may_come(&self) -> bool {
        self.lock().icon.is_some()
    }

    /// Why there is none, in a sentence for the window.
    pub(crate) fn problem(&self) -> Option<String> {
        self.lock().problem.clone()
    }

    /// The desktop shows it again, or not any more.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "elsewhere the tray is always there"))]
    fn seen(&self, problem: Option<String>) {
        match problem {
            Some(why) => self.lock().lacks(why),
            None => {
                if self.lock().problem.take().is_some() {
                    print_line("the tray icon is shown now");
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Made {
    fn lacks(&mut self, why: String) {
        if !std::mem::replace(&mut self.told, true) {
            print_line(&format!(
                "there is no tray here: {why}. Closing the window quits the app; the gate goes on."
            ));
        }
        self.problem = Some(why);
    }
}
