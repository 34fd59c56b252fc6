//! Class badges: what a tool can do in two words, wherever it is named: on cards, in notifications, the tray, the log, the rules.
//!
//! Asked for with every line that is shown, so that what was read is kept until it looks otherwise on the disk. Lost without harm.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use callgate_clients::System;
use callgate_controls::catalogue;
use callgate_controls::classes::{self, Classes};
use callgate_home::Home;
use callgate_risk::KnownServer;

use super::facts;
use super::installed::Installed;
use crate::view::{CallLine, ClassBadge, LogEntry};

/// What was installed is looked at again after this time: it is in the files of all clients.
const INSTALLED: Duration = Duration::from_secs(30);
/// Servers whose badges are kept. Their names are other people's.
const MOST: usize = 200;

/// The badges of one home.
#[derive(Debug)]
pub(crate) struct ClassBadges {
    home: Home,
    machine: System,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    installed: Option<(Instant, Installed)>,
    corrected: Classes,
    corrected_at: Stamp,
    servers: BTreeMap<String, ServerBadges>,
}

/// What one server listed last, read.
#[derive(Debug)]
struct ServerBadges {
    stamp: Stamp,
    known: Option<&'static KnownServer>,
    badges: BTreeMap<String, ClassBadge>,
}

/// When a file was written, and how long it is; none if it is not there.
type Stamp = Option<(Option<SystemTime>, u64)>;

fn stamp(path: &Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok(), meta.len()))
}

impl ClassBadges {
    pub(crate) fn new(home: &Home, machine: &System) -> ClassBadges {
        ClassBadges { home: home.clone(), machine: machine.clone(), kept: Mutex::default() }
    }

    /// As things are at this moment: each file is looked at once, however many badges are asked for.
    pub(crate) fn look(&self) -> Look<'_> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let corrected_at = stamp(&self.home.classes());
        if kept.corrected_at != corrected_at {
            // What cannot be read is told in Tools; here classes are as definitions have them.
            kept.corrected = classes::read(&self.home).unwrap_or_default();
            kept.corrected_at = corrected_at;
            kept.servers.clear();
        }
        Look { badges: self, kept, looked: BTreeSet::new() }
    }
}

/// Badges while nothing changes.
pub(crate) struct Look<'b> {
    badges: &'b ClassBadges,
    kept: MutexGuard<'b, Kept>,
    looked: BTreeSet<String>,
}

impl Look<'_> {
    /// None, if the server did not list it last.
    pub(crate) fn badge(&mut self, server: &str, tool: &str) -> Option<ClassBadge> {
        if !self.looked.contains(server) {
            self.read(server);
            self.looked.insert(server.to_owned());
        }
        self.kept.servers.get(server)?.badges.get(tool).copied()
    }

    fn read(&mut self, server: &str) {
        let ClassBadges { home, machine, .. } = self.badges;
        let Kept { installed, corrected, servers, .. } = &mut *self.kept;
        let stamp = stamp(&home.catalogue(server));
        if stamp.is_none() {
            servers.remove(server);
            return;
        }
        if installed.as_ref().is_none_or(|(at, _)| at.elapsed() > INSTALLED) {
            *installed = Some((Instant::now(), Installed::find(home, machine)));
        }
        let known = installed.as_ref().and_then(|(_, installed)| installed.known(server));
        let is_same = |one: &ServerBadges| {
            one.stamp == stamp && one.known.map(std::ptr::from_ref) == known.map(std::ptr::from_ref)
        };
        if servers.get(server).is_some_and(is_same) {
            return;
        }
        let listed = catalogue::read(home, server).ok().flatten();
        let listed = listed.map(|listed| listed.tools).unwrap_or_default();
        let badges = facts::badges(server, known, &listed, corrected.get(server));
        if servers.len() >= MOST {
            servers.clear();
        }
        servers.insert(server.to_owned(), ServerBadges { stamp, known, badges });
    }

    /// The badge of a line that is about one tool.
    pub(crate) fn of_line(&mut self, line: &CallLine) -> Option<ClassBadge> {
        let is_call = line.method.as_deref().is_none_or(|method| method == "tools/call");
        let tool = line.tool.as_deref().filter(|_| is_call && line.tools.len() < 2)?;
        self.badge(&line.server, tool)
    }

    pub(crate) fn put(&mut self, lines: &mut [CallLine]) {
        for line in lines {
            line.class = self.of_line(line);
        }
    }

    pub(crate) fn put_into(&mut self, entries: &mut [LogEntry]) {
        for entry in entries {
            if let LogEntry::Call(line) = entry {
                line.class = self.of_line(line);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#[path = "badges_tests.rs"]
mod tests;
