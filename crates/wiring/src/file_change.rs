//! One file of a client, changed: the gate put in front of its entries or taken away. The window and the command line both go
//! this way, file by file, and differ only in what they do about a client that runs, and in how they tell of it.

use std::fmt;
use std::path::Path;

use callgate_clients::change::{carry_out, repair};
use callgate_clients::ledger::{Ledger, LedgerKey};
use callgate_clients::names::NameRegistry;
use callgate_clients::plan::{Plan, PlannedAct, plan};
use callgate_clients::secrets::restoration::{Returned, Returning};
use callgate_clients::survey::{Entry, Surveyed, entries};

/// A change of some entries, in whatever file they are.
pub struct EntryChange<'c> {
    home: &'c Path,
    act: PlannedAct<'c>,
    /// Puts a gate back that was lost: the binary that it was.
    pub lost_gate: Option<&'c str>,
    /// The entries that are meant.
    chosen: &'c dyn Fn(&Entry) -> bool,
    ledger: &'c Ledger,
    /// Who has which name at the gate.
    names: NameRegistry,
    /// Takes gates away although references to the keychain are left behind them.
    pub leave_secrets: bool,
    now_ms: i64,
    /// Asks for the keychain once, whatever the number of files.
    returning: Returning<'c>,
}

/// What is done to a file now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timing {
    Now,
    /// Its client runs, and would write over it: when that has quit.
    Later,
    /// For the same reason, not at all.
    Never(String),
}

/// What became of one file.
#[derive(Debug)]
pub struct FileChange<'f> {
    /// Secrets that were put back into it first. Where that failed, the entry keeps its gate.
    pub returned: Vec<Returned<'f>>,
    pub written: Written,
}

#[derive(Debug)]
pub enum Written {
    Done(Box<Plan>),
    Waits(Box<Plan>),
    /// Why all of it stays as it is.
    Refused(String),
}

impl fmt::Debug for EntryChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryChange").field("act", &self.act).finish_non_exhaustive()
    }
}

impl<'c> EntryChange<'c> {
    pub fn new(
        home: &'c Path,
        act: PlannedAct<'c>,
        chosen: &'c dyn Fn(&Entry) -> bool,
        (ledger, surveyed): (&'c Ledger, &[Surveyed]),
        now_ms: i64,
    ) -> EntryChange<'c> {
        let names = NameRegistry::of(entries(surveyed), ledger);
        let (returning, lost_gate, leave_secrets) = (Returning::to(home), None, false);
        EntryChange { home, act, lost_gate, chosen, ledger, names, leave_secrets, now_ms, returning }
    }

    /// What it would write into this file.
    pub fn preview(&mut self, file: &Surveyed) -> Result<Plan, String> {
        plan(&file.found, self.act, self.chosen, &mut self.names, self.ledger)
            .map_err(|error| error.to_string())
    }

    /// Writes it. `timing` is asked only if there is anything to write.
    pub fn write<'f>(&mut self, file: &'f Surveyed, timing: impl FnOnce() -> Timing) -> FileChange<'f> {
        let left = |written| FileChange { returned: Vec::new(), written };
        let planned = match self.preview(file) {
            Ok(planned) => planned,
            Err(why) => return left(Written::Refused(why)),
        };
        let keys: Vec<LedgerKey> = planned.edits.iter().map(|edit| edit.key.clone()).collect();
        match timing_of(&keys, timing) {
            Timing::Now => {}
            Timing::Later => return left(Written::Waits(Box::new(planned))),
            Timing::Never(why) => return left(Written::Refused(why)),
        }
        let returned = match self.act {
            // Without its gate, a server would get references in place of its secrets. What keeps its gate keeps them.
            PlannedAct::Unprotect if !self.leave_secrets => {
                let of_edit = |entry: &Entry| keys.contains(&entry.key);
                self.returning.put_back(file, &of_edit, self.now_ms)
            }
            _ => Vec::new(),
        };
        let is_stuck = |entry: &Entry| {
            returned.iter().any(|returned| returned.moved.is_err() && returned.entry.key == entry.key)
        };
        let free = |entry: &Entry| (self.chosen)(entry) && !is_stuck(entry);
        let written = match self.lost_gate {
            Some(binary) => repair(self.home, &file.found, binary, &keys, &mut self.names, self.now_ms),
            None => carry_out(self.home, &file.found, self.act, &free, &mut self.names, self.now_ms),
        };
        let written = match written {
            Ok(plan) => Written::Done(Box::new(plan)),
            Err(error) => Written::Refused(error.to_string()),
        };
        FileChange { returned, written }
    }
}

fn timing_of(keys: &[LedgerKey], timing: impl FnOnce() -> Timing) -> Timing {
    if keys.is_empty() { Timing::Now } else { timing() }
}
