//! What a person sees and does, without a window: the log, the acts, the rules, the servers, how things stand.
//!
//! The app and the command line are two faces of this crate. It owns no process and no thread: everything here is a
//! function of the home folder, the clock and what was asked. It must not know of windows, trays or terminals.

#![forbid(unsafe_code)]

mod acts;
pub mod alarms;
pub mod allowing;
mod approvals;
mod cancel;
pub mod change;
mod clearing;
mod codegen;
mod demo;
mod error;
pub mod findings;
pub mod interruption;
pub mod inventory;
mod log;
pub mod login;
mod news;
pub mod notices;
mod overview;
mod overview_cache;
pub mod pausing;
mod pins;
mod programs;
pub mod protection;
mod recent;
mod rules;
pub mod sampling;
mod servers;
mod settings;
pub mod supervising;
mod tally;
#[cfg(test)]
mod testing;
pub mod tool_changes;
mod tools;
pub mod tray;
mod trees;
pub mod view;
#[cfg(test)]
mod wiring_tests;

use std::sync::{Arc, Mutex};

use callgate_clients::System;
use callgate_home::Home;
use callgate_home::clock::Clock;
use callgate_journal::Origin;
use callgate_wiring::Wiring;

use tools::badges::ClassBadges;

pub use callgate_history::Forget;
pub use demo::Program;
pub use error::DeskError;
pub use log::{CallObject, Follower, MOST_TOOLS, gist};
pub use pins::{PIN_RULE, refused_by_pin};
pub use programs::sweep_programs;
pub use servers::{StderrEntry, StderrFollower};
pub use settings::{SettingChange, SettingValue};

/// One person's view of one home. Every answer is read afresh from the disk; only what waits for a second step is kept.
#[derive(Debug)]
pub struct Desk {
    home: Home,
    clock: Arc<dyn Clock>,
    /// Where changes that are made here come from.
    origin: Origin,
    /// Questions that were asked and acts that can be undone.
    waiting: acts::Waiting,
    /// Numbers as of the last look.
    cache: Mutex<overview_cache::OverviewCache>,
    indexing: log::Indexing,
    wiring: Wiring,
    badges: Arc<ClassBadges>,
}

impl Desk {
    pub fn new(home: Home, clock: Arc<dyn Clock>, origin: Origin) -> Desk {
        let (waiting, indexing) = (acts::Waiting::default(), log::Indexing::default());
        // Without a home directory there are no clients' files either.
        let machine = System::here(std::env::home_dir().unwrap_or_default());
        let badges = Arc::new(ClassBadges::new(&home, &machine));
        let wiring = Wiring::new(home.clone(), Arc::clone(&clock), machine);
        Desk { home, clock, origin, waiting, cache: Mutex::default(), indexing, wiring, badges }
    }

    /// The same with clients' files elsewhere.
    #[must_use]
    pub fn on(self, machine: System) -> Desk {
        let badges = Arc::new(ClassBadges::new(&self.home, &machine));
        let wiring = Wiring::new(self.home.clone(), Arc::clone(&self.clock), machine);
        Desk { wiring, badges, ..self }
    }

    /// The clients of this person, and the gate in their files.
    pub fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    pub fn home(&self) -> &Home {
        &self.home
    }
}
