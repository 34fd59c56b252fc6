//! `trees/<session>.json`: who was seen in the tree of a session. Replaced whole, read by anybody, removed when nothing that it
//! names is left.

use std::fs;
use std::io;
use std::path::PathBuf;

use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, Lease, SessionId, atomic, lease};
use callgate_supervise::{ProcessId, lives};
use serde::{Deserialize, Serialize};

/// Members that are kept: what has more is a fork bomb, and its marker finds the rest.
pub(crate) const MOST: usize = 1_000;

/// What is known of one session's tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub session: SessionId,
    pub server: String,
    #[serde(default)]
    pub client: Option<String>,
    /// As the client's file has it, secrets masked. A profile that is named here was chosen by a person.
    #[serde(default)]
    pub command: Vec<String>,
    /// Numbers of processes mean nothing under another boot,
    pub boot: String,
    /// or in another pid namespace.
    #[serde(default)]
    pub pid_namespace: Option<String>,
    pub began_ms: i64,
    #[serde(default)]
    pub keeper: Option<Numbered>,
    #[serde(default)]
    pub server_process: Option<Numbered>,
    /// Everyone below the shim, the keeper and the server among them.
    #[serde(default)]
    pub members: Vec<Member>,
    /// Profiles of members that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<PathBuf>,
}

/// A process by number and start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    pub pid: u32,
    pub start: u64,
}

impl From<ProcessId> for Numbered {
    fn from(ProcessId { pid, start }: ProcessId) -> Numbered {
        Numbered { pid, start }
    }
}

/// One process that was seen in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub pid: u32,
    pub start: u64,
    /// Secrets masked, perhaps cut.
    pub command: String,
    /// Nothing but its program: whoever wrote it down did not know the session's secrets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
    /// What its command line names as `--user-data-dir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<PathBuf>,
}

impl Member {
    pub fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start: self.start }
    }
}

/// The world in which the numbers of this process' neighbours mean something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    pub(crate) boot: String,
    pub(crate) pid_namespace: Option<String>,
}

impl Here {
    pub fn now() -> Here {
        Here::by(&SystemClock::new())
    }

    /// The boot as this clock has it.
    pub fn by(clock: &dyn Clock) -> Here {
        Here { boot: clock.now().boot.0.to_string(), pid_namespace: lease::pid_namespace() }
    }

    /// Is the process that holds this lease one that can be seen from here? A container that shares the home holds leases
    /// as well: its numbers are those of other processes here, which must be neither shown, nor written down, nor ended.
    pub fn has(&self, lease: &Lease) -> bool {
        let same = self.boot == lease.boot && self.pid_namespace == lease.pid_namespace;
        same && match lease.process_start {
            Some(start) => lives(ProcessId { pid: lease.pid, start }),
            // Not told where there is one world only.
            None => lease.pid_namespace.is_none(),
        }
    }

    /// Why it cannot; for people.
    pub fn why_not(&self, lease: &Lease) -> Option<&'static str> {
        if self.has(lease) {
            None
        } else if self.boot != lease.boot {
            Some("runs on another machine, or since before this one was started")
        } else {
            Some("runs in another pid namespace, as in a container")
        }
    }
}

impl Record {
    /// Do its numbers mean anything here?
    pub fn is_of(&self, here: &Here) -> bool {
        self.boot == here.boot && self.pid_namespace == here.pid_namespace
    }

    /// What browsers of this tree were told to keep their profiles in, each once.
    pub(crate) fn named_profiles(&self) -> Vec<&PathBuf> {
        let of_members = self.members.iter().filter_map(|member| member.profile.as_ref());
        let mut named: Vec<&PathBuf> = of_members.chain(&self.profiles).collect();
        named.sort();
        named.dedup();
        named
    }

    pub fn read(home: &Home, session: SessionId) -> Option<Record> {
        let text = callgate_home::read_private(&home.tree(session)).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        // The name of the file is what it is looked up by.
        (record.session == session).then_some(record)
    }

    pub(crate) fn write(&self, home: &Home) -> io::Result<()> {
        atomic::swap(&home.tree(self.session), &serde_json::to_vec_pretty(self)?)
    }

    pub(crate) fn remove(home: &Home, session: SessionId) {
        // One that cannot be removed is looked at again by the next sweep.
        let _gone = fs::remove_file(home.tree(session));
    }

    /// When it was last brought up to date.
    pub(crate) fn noted_ms(home: &Home, session: SessionId) -> Option<i64> {
        let changed = fs::metadata(home.tree(session)).and_then(|meta| meta.modified()).ok()?;
        let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    }
}

/// Every record that can be read, of living sessions and of dead ones.
pub fn records(home: &Home) -> Vec<Record> {
    let listing = fs::read_dir(home.trees_dir()).into_iter().flatten().flatten();
    let sessions = listing.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_suffix(".json")?.parse::<SessionId>().ok()
    });
    let mut found: Vec<Record> = sessions.filter_map(|session| Record::read(home, session)).collect();
    found.sort_by_key(|record| (record.began_ms, record.session));
    found
}
