//! What dead sessions left behind: processes, and the temporary profiles of their browsers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callgate_home::clock::wall_ms;
use callgate_home::{Home, SessionId, lease};
use callgate_supervise::{ProcessId, Recorded, SessionState, arguments, lives};

use crate::profiles;
use crate::record::{Here, Record, records};
use crate::text::Texts;
use crate::what::ProcessKind;

/// A record of another boot or pid namespace says nothing after so long: whoever wrote it is gone, or has its own Callgate.
const FOREIGN_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Does the record of this home know the session? Asked of whoever knows the record.
pub type OnRecord = fn(&Home, SessionId) -> bool;

/// What one dead session left running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftSession {
    pub session: String,
    /// From its record, where it has one.
    pub server: Option<String>,
    pub client: Option<String>,
    /// When it was last seen alive.
    pub noted_ms: Option<i64>,
    pub processes: Vec<Left>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub id: ProcessId,
    pub what: ProcessKind,
}

/// A process that a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub id: ProcessId,
    pub what: ProcessKind,
    /// As it is on record, secrets masked; only the program where it is not.
    pub command: String,
    pub session: String,
    /// From its session's record, where it has one.
    pub server: Option<String>,
    /// False for one that even SIGKILL did not end in time.
    pub gone: bool,
}

/// A dead session whose processes, if there are any, cannot be seen from here: written down under another boot or in another
/// pid namespace. Shown, never signalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    pub record: Record,
    pub other_boot: bool,
    pub noted_ms: Option<i64>,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweptAll {
    pub processes: Vec<Ended>,
    /// Temporary profiles that were removed.
    pub profiles: Vec<PathBuf>,
}

/// What runs of sessions of this home that are dead. Ends nothing.
pub fn leftovers(home: &Home, on_record: OnRecord) -> Vec<LeftSession> {
    let dead = dead(home, &Here::now());
    let mut found: BTreeMap<String, LeftSession> = BTreeMap::new();
    for left in callgate_supervise::leftovers(|session| state(home, session, on_record), &recorded(&dead)) {
        let record = of(&dead, &left.session);
        let entry = found.entry(left.session.clone()).or_insert_with(|| LeftSession {
            session: left.session,
            server: record.map(|record| record.server.clone()),
            client: record.and_then(|record| record.client.clone()),
            noted_ms: record.and_then(|record| Record::noted_ms(home, record.session)),
            processes: Vec::new(),
        });
        let arguments = arguments(left.id.pid);
        entry.processes.push(Left { id: left.id, what: ProcessKind::of(&arguments, "process") });
    }
    let mut found: Vec<LeftSession> = found.into_values().collect();
    for session in &mut found {
        session.processes.sort_by_key(|left| (left.id.start, left.id.pid));
    }
    found
}

/// Dead sessions of another boot or pid namespace.
pub fn elsewhere(home: &Home) -> Vec<Elsewhere> {
    let here = Here::now();
    let foreign = records(home).into_iter().filter(|record| !record.is_of(&here) && is_dead(home, record));
    let told = foreign.map(|record| Elsewhere {
        other_boot: record.boot != here.boot,
        noted_ms: Record::noted_ms(home, record.session),
        record,
    });
    told.collect()
}

/// The temporary profiles that [`sweep`] would remove. Ends and removes nothing.
pub fn removable(home: &Home, on_record: OnRecord) -> Vec<PathBuf> {
    let dead = dead(home, &Here::now());
    let left = callgate_supervise::leftovers(|session| state(home, session, on_record), &recorded(&dead));
    let ended: Vec<ProcessId> = left.into_iter().map(|one| one.id).collect();
    dead.iter().flat_map(|record| profiles::removable(home, record, &ended)).collect()
}

/// Ends what dead sessions left, and removes their temporary profiles. Blocks for a second or so when there is anything.
pub fn sweep(home: &Home, on_record: OnRecord) -> SweptAll {
    let dead = dead(home, &Here::now());
    let texts = Texts::of(&dead);
    let ended = callgate_supervise::sweep(|session| state(home, session, on_record), &recorded(&dead));
    let told = ended.into_iter().map(|one| Ended {
        id: one.id,
        what: ProcessKind::of(&one.arguments, &one.name),
        command: texts.shown(Some(one.id), &one.arguments, &one.name),
        server: of(&dead, &one.session).map(|record| record.server.clone()),
        session: one.session,
        gone: one.gone,
    });
    SweptAll { processes: told.collect(), profiles: tidy(home) }
}

/// Takes leave of the records of trees that are gone, with the temporary profiles that they name. Ends nothing. Cheap when
/// there are none. Returns what was removed.
pub fn tidy(home: &Home) -> Vec<PathBuf> {
    let here = Here::now();
    let now_ms = wall_ms();
    let mut removed = Vec::new();
    for record in records(home).into_iter().filter(|record| is_dead(home, record)) {
        let noted_ms = Record::noted_ms(home, record.session).unwrap_or(now_ms);
        if record.is_of(&here) {
            removed.extend(close(home, &record));
        } else if now_ms - noted_ms > FOREIGN_MS {
            Record::remove(home, record.session);
        }
    }
    removed
}

/// The same for one session, by its own shim at the end.
pub fn settle(home: &Home, session: SessionId) -> Vec<PathBuf> {
    let record = Record::read(home, session).filter(|record| record.is_of(&Here::now()));
    record.filter(|record| is_dead(home, record)).map(|record| close(home, &record)).unwrap_or_default()
}

/// The same by its keeper, the last of the tree, on its way out. By then the shim may be gone, or may be at its end.
pub fn settle_last(home: &Home, session: SessionId) -> Vec<PathBuf> {
    let record = Record::read(home, session).filter(|record| record.is_of(&Here::now()));
    record.map(|record| close(home, &record)).unwrap_or_default()
}

/// If nothing of the tree is left but whoever asks.
fn close(home: &Home, record: &Record) -> Vec<PathBuf> {
    if record.members.iter().any(|member| member.pid != std::process::id() && lives(member.id())) {
        return Vec::new();
    }
    let removed = match record.named_profiles().is_empty() {
        true => Vec::new(),
        // Nobody on record is there; somebody who came later may be.
        false if is_marked(home, record) => return Vec::new(),
        false => profiles::remove(home, record),
    };
    Record::remove(home, record.session);
    removed
}

/// Does somebody who is not on record carry the session's marker?
fn is_marked(home: &Home, record: &Record) -> bool {
    let only = |session: &str| match session == record.session.as_str() {
        // Its tree is on record here, so nobody else need be asked.
        true => state(home, session, |_, _| false),
        false => SessionState::Unknown,
    };
    !callgate_supervise::leftovers(only, &[]).is_empty()
}

fn dead(home: &Home, here: &Here) -> Vec<Record> {
    let all = records(home).into_iter();
    all.filter(|record| record.is_of(here) && is_dead(home, record)).collect()
}

fn of<'r>(records: &'r [Record], session: &str) -> Option<&'r Record> {
    records.iter().find(|record| record.session.as_str() == session)
}

fn is_dead(home: &Home, record: &Record) -> bool {
    !lease::is_live(home, record.session)
}

fn recorded(records: &[Record]) -> Vec<Recorded> {
    let of = |record: &Record| {
        let session = record.session.to_string();
        let members = record.members.iter();
        members.map(|member| Recorded { id: member.id(), session: session.clone() }).collect::<Vec<_>>()
    };
    records.iter().flat_map(of).collect()
}

/// A session of another home may be running: only what was here and is not any more has ended.
fn state(home: &Home, session: &str, on_record: OnRecord) -> SessionState {
    match session.parse() {
        Ok(session) if lease::is_live(home, session) => SessionState::Alive,
        Ok(session)
            if home.tree(session).exists() || lease::is_here(home, session) || on_record(home, session) =>
        {
            SessionState::Ended
        }
        _ => SessionState::Unknown,
    }
}
