//! Findings: what is wrong, or good to know, each with a code, how bad it is, a sentence and what mends it.
//!
//! One check for each thing, whoever tells it. The quick ones run every second: they are what the tray, the window's header
//! and `callgate status` say needs a person. All of them together are `callgate doctor`. A check looks and changes nothing:
//! no counter is brought up to date, no person asked for a password, and the files that try whether a call could be recorded
//! are gone at once. It never fails either, because a thing that cannot be looked at is a finding.

mod clients;
mod definitions;
mod drift;
mod entries;
mod finding;
mod gate;
mod home;
mod keychain;
mod launch;
mod policies;
mod programs;
mod record;
mod stopped_policies;
mod switches;
#[cfg(all(test, unix))]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;

use callgate_clients::ledger;
use callgate_controls::pause::{self, Switch};
use callgate_home::clock::Moment;
use callgate_home::{Home, HomeError, Lease, running};
use callgate_wiring::{GuardReport, Look, display};

use crate::protection::Guards;
use crate::{Desk, DeskError};

pub(crate) use definitions::PinFiles;
pub use finding::{Area, Code, Finding, Gravity, Remedy};
pub(crate) use stopped_policies::StoppedPolicies;

/// Sentences about clients' files at most: more would hide the rest of what needs a person.
const CLIENT_NEEDS: usize = 8;

/// Where the checks look.
struct Checkup<'d> {
    home: &'d Home,
    /// The folder that paths are shown from.
    person: &'d Path,
    now: Moment,
    /// There is a home; without one there are no policies and no record, and nothing is wrong with that.
    at_home: bool,
}

impl Checkup<'_> {
    fn shown(&self, path: &Path) -> String {
        display::path(self.person, path)
    }

    /// Of a file or a folder.
    fn finding(&self, area: Area, code: Code, gravity: Gravity, path: &Path, words: &str) -> Finding {
        Finding::new(area, code, gravity, &self.shown(path), words)
    }
}

/// The sessions that run, with the files that decide about their calls.
pub(crate) struct Sessions<'d> {
    pub(crate) leases: Vec<Lease>,
    pub(crate) guards: Guards<'d>,
    pub(crate) switch: Switch,
}

/// What the dear checks look at, too.
struct Visit<'d> {
    checkup: Checkup<'d>,
    clients: Look<'d>,
    /// The servers that are known here; `None` if something that may know more could not be read.
    servers: Option<BTreeSet<String>>,
}

impl Desk {
    fn checkup(&self) -> Checkup<'_> {
        let at_home = self.home.path().symlink_metadata().is_ok();
        Checkup { home: &self.home, person: &self.wiring.machine().home, now: self.clock.now(), at_home }
    }

    pub(crate) fn sessions_now(&self) -> Sessions<'_> {
        Sessions {
            leases: running(&self.home),
            guards: Guards::read(&self.home, self.clock.now()),
            switch: pause::read(&self.home),
        }
    }

    /// The quick checks of everything but clients' files.
    pub(crate) fn quick_findings(&self, sessions: &mut Sessions<'_>) -> Vec<Finding> {
        let checkup = self.checkup();
        let (stopped, pins) = {
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            (cache.stopped.look(&self.home, &sessions.leases), cache.pins.look(&self.home))
        };
        let mut found: Vec<_> = home::unwritable_now(&checkup).into_iter().collect();
        found.extend(switches::approvals(&checkup));
        found.extend(switches::pauses(&checkup, &sessions.switch));
        found.extend(policies::of_sessions(&checkup, sessions));
        found.extend(definitions::of_files(&checkup, &pins));
        found.extend(switches::allowances(&checkup, &sessions.guards.allowances));
        found.extend(policies::default(&checkup, sessions));
        found.extend(policies::of_stopped(&checkup, &stopped));
        found.extend(home::settings(&checkup));
        found
    }

    pub(crate) fn unusable_home(&self, error: &HomeError) -> Finding {
        home::unusable(&self.checkup(), error)
    }

    pub(crate) fn unusable_history(&self, error: &DeskError) -> Finding {
        record::unusable_history(&self.checkup(), error)
    }

    /// What needs a person, worst first; for a face that does not stay, so clients' files are looked at now.
    pub fn needs(&self) -> Vec<Finding> {
        let mut found = self.quick_findings(&mut self.sessions_now());
        found.extend(self.client_findings(&self.wiring.report_now()));
        found.sort_by_key(|finding| Reverse(finding.gravity));
        found
    }

    /// What is wrong with clients' files.
    pub(crate) fn client_findings(&self, report: &GuardReport) -> Vec<Finding> {
        let checkup = self.checkup();
        let mut found: Vec<_> = report.undone.iter().map(clients::undone).collect();
        found.extend(report.broken_ledger.iter().map(|error| clients::broken_ledger(&checkup, error)));
        let drift = report.drift.iter().map(|group| drift::finding(&checkup, group));
        found.extend(drift.filter(|finding| finding.gravity > Gravity::Note).take(CLIENT_NEEDS));
        found.extend(report.broken_queue.iter().map(|error| clients::broken_queue(&checkup, error)));
        found
    }

    /// Everything that was looked at, area by area; within each, the worst first.
    pub fn doctor(&self) -> Vec<Finding> {
        // Without it, nobody knows what lost its gate; all else can be told.
        let (ledger, broken) = match ledger::read(self.home.path()) {
            Ok(ledger) => (ledger, None),
            Err(error) => (Default::default(), Some(error)),
        };
        let visit = Visit {
            checkup: self.checkup(),
            clients: self.wiring.look_by(ledger),
            servers: self.inventory().every_server(),
        };
        let mut findings: Vec<_> =
            broken.iter().map(|error| clients::broken_ledger(&visit.checkup, error)).collect();
        findings.extend(home::check(&visit.checkup));
        findings.extend(gate::check(&visit));
        if visit.checkup.at_home {
            findings.extend(policies::check(&visit, &mut self.sessions_now()));
            findings.extend(definitions::of_files(&visit.checkup, &PinFiles::default().look(&self.home)));
            findings.extend(record::check(&visit.checkup));
        }
        for check in [clients::check, entries::check, launch::check, programs::check, keychain::check] {
            findings.extend(check(&visit));
        }
        findings.sort_by_key(|finding| (finding.area, Reverse(finding.gravity)));
        findings
    }
}
