//! What can keep the gate from working, looked for in one go, with what mends each thing. `callgate doctor` prints it.
//!
//! Looks and changes nothing: no counter is brought up to date, no person asked for a password, and the files that try whether a
//! call could be recorded are gone at once. What takes long has a limit of its own. One file an area; each gives its findings and never fails, because a thing that cannot be looked at is
//! a finding.

mod clients;
mod entries;
mod finding;
mod gate;
mod home;
mod keychain;
mod policies;
mod programs;
mod record;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeSet;

use callgate_clients::ledger;
use callgate_store::Home;

use crate::Desk;
use crate::clients::Look;

pub use finding::{Area, Code, Finding, Gravity, Remedy};

/// What the areas look at.
struct Visit<'d> {
    home: &'d Home,
    clients: Look<'d>,
    /// There is a home; without one there are no policies and no record, and nothing is wrong with that.
    at_home: bool,
    /// The servers that are known here; `None` if something that may know more could not be read.
    servers: Option<BTreeSet<String>>,
    now_ms: i64,
}

impl Desk {
    /// Everything that was looked at, area by area; within each, the worst first.
    pub fn doctor(&self) -> Vec<Finding> {
        let home = self.home();
        // Without it, nobody knows what lost its gate; all else can be told.
        let ledger = ledger::read(home.path());
        let (ledger, broken) = match ledger {
            Ok(ledger) => (ledger, None),
            Err(error) => (Default::default(), Some(error)),
        };
        let visit = Visit {
            home,
            clients: self.look_by(ledger),
            at_home: home.path().symlink_metadata().is_ok(),
            servers: self.inventory().every_server(),
            now_ms: self.clock.now().wall_ms,
        };
        let broken_ledger = broken.map(|error| clients::broken_ledger(&visit, &error));
        let areas: [fn(&Visit<'_>) -> Vec<Finding>; 8] = [
            home::check,
            gate::check,
            policies::check,
            record::check,
            clients::check,
            entries::check,
            programs::check,
            keychain::check,
        ];
        let mut findings: Vec<_> =
            areas.iter().flat_map(|check| check(&visit)).chain(broken_ledger).collect();
        findings.sort_by_key(|finding| (finding.area, std::cmp::Reverse(finding.gravity)));
        findings
    }
}
