//! Process trees as a person sees them: of running sessions, what dead ones left, and browsers that nobody owns; and ending them.

mod server_events;

use std::collections::{BTreeMap, HashMap};

use callgate_controls::Settings;
use callgate_history::{History, SessionRow};
use callgate_home::{Lease, SessionId, StoreError, running};
use callgate_journal::{EndReason, EventKind, is_on_record, record_event};
use callgate_redaction::Masker;
use callgate_supervise::{ObservedProcess, ProcessId, arguments, lives, tree_of};
use callgate_text::count;
use callgate_trees::{About, Here, ProcessKind, Record, Texts, suspects};

use crate::sampling::{Sampler, Telling};
use crate::view::{ElsewhereView, EndedView, LeftoverView, Strays, SuspectView, SweepView, TreeView};
use crate::{Desk, DeskError};

/// Sessions among which the end of one that left something is looked for.
const SESSIONS: usize = 2_000;

impl Desk {
    /// What process trees are looked at with. None if this system does not tell.
    pub fn sampler(&self) -> Option<Sampler> {
        Sampler::new(self.here())
    }

    /// The trees of all running sessions, as of the sampler's last look.
    pub fn trees(&self, sampler: &Sampler, leases: &[Lease]) -> Vec<TreeView> {
        sampler.trees(leases, self.clock.now().wall_ms, &self.texts())
    }

    /// What dead sessions left, and browsers that nobody owns. Looks at every process of this person.
    pub fn strays(&self, sampler: &mut Sampler) -> Result<Strays, DeskError> {
        sampler.refresh();
        let (masker, texts) = (self.masker(), self.texts());
        let left = callgate_trees::leftovers(&self.home, is_on_record);
        let rows = if left.is_empty() { HashMap::new() } else { self.session_rows()? };
        let leftovers = left.into_iter().map(|left| {
            let pids: Vec<u32> = left.processes.iter().map(|process| process.id.pid).collect();
            let processes = sampler.views(&pids, Telling::Session(&texts));
            let browsers = left.processes.iter().filter(|process| process.what.is_browser()).count();
            // It may have been killed before anybody wrote its tree down.
            let row = rows.get(&left.session);
            let (ended_ms, seen_ms) = ended_or_seen(row.and_then(|row| row.end), left.noted_ms);
            LeftoverView {
                ended_ms,
                seen_ms,
                session: left.session,
                server: left.server.or_else(|| row.map(|row| row.server.clone())),
                client: left.client.or_else(|| row.and_then(|row| row.client.clone())),
                memory_bytes: processes.iter().map(|process| process.memory_bytes).sum(),
                browsers: number(browsers),
                processes,
            }
        });
        let elsewhere = callgate_trees::elsewhere(&self.home).into_iter().map(|one| ElsewhereView {
            session: one.record.session.to_string(),
            server: one.record.server,
            client: one.record.client,
            noted_ms: one.noted_ms,
            other_boot: one.other_boot,
            processes: number(one.record.members.len()),
        });
        let suspects = suspects::suspects(&self.home).into_iter().map(|suspect| {
            let pids: Vec<u32> = suspect.tree.iter().map(|id| id.pid).collect();
            let processes = sampler.views(&pids, Telling::Stranger(&masker));
            let first = processes.iter().find(|process| process.pid == suspect.id.pid);
            SuspectView {
                id: named(suspect.id),
                pid: suspect.id.pid,
                command: masker.command(&suspect.arguments).join(" "),
                profile: suspect.profile.display().to_string(),
                processes: number(suspect.tree.len()),
                memory_bytes: processes.iter().map(|process| process.memory_bytes).sum(),
                started_ms: first.map_or(0, |process| process.started_ms),
            }
        });
        Ok(Strays {
            leftovers: leftovers.collect(),
            elsewhere: elsewhere.collect(),
            suspects: suspects.collect(),
        })
    }

    /// What dead sessions left, in one line: "12 processes of a session of playwright that ended are left: 470 MB". Cheap
    /// when there is nothing.
    pub fn left_words(&self) -> Option<String> {
        if callgate_trees::leftovers(&self.home, is_on_record).is_empty() {
            return None;
        }
        let left = self.strays(&mut self.sampler()?).ok()?.leftovers;
        let number: usize = left.iter().map(|one| one.processes.len()).sum();
        let bytes: u64 = left.iter().map(|one| one.memory_bytes).sum();
        let whose = match left.as_slice() {
            [] => return None,
            [one] => match &one.server {
                Some(server) => format!("a session of {} that ended", callgate_text::harmless(server)),
                None => "a session that ended".to_owned(),
            },
            all => format!("{} sessions that ended", all.len()),
        };
        let verb = if number == 1 { "is" } else { "are" };
        Some(format!("{} of {whose} {verb} left: {}", processes(number), callgate_text::size(bytes)))
    }

    /// The temporary profiles that a sweep would remove now.
    pub fn sweepable_profiles(&self) -> Vec<String> {
        callgate_trees::removable(&self.home, is_on_record)
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    /// Ends what dead sessions left, and removes their temporary profiles.
    pub fn sweep(&self) -> Result<SweepView, DeskError> {
        let swept = callgate_trees::sweep(&self.home, is_on_record);
        // Nobody may have written its tree down, or the name of its server.
        let unknown = swept.processes.iter().any(|process| process.server.is_none());
        let rows = if unknown { self.session_rows().unwrap_or_default() } else { HashMap::new() };
        let ended = swept.processes.into_iter().map(|process| EndedView {
            pid: process.id.pid,
            what: process.what.to_string(),
            command: process.command,
            server: process.server.or_else(|| rows.get(&process.session).map(|row| row.server.clone())),
            session: Some(process.session),
            gone: process.gone,
        });
        let profiles = swept.profiles.iter().map(|path| path.display().to_string()).collect();
        self.swept("of dead sessions", ended.collect(), profiles)
    }

    /// Ends browsers that nobody owns: those of these that still are such. `ids` are those of [`SuspectView`].
    pub fn end_suspects(&self, ids: &[String]) -> Result<SweepView, DeskError> {
        let masker = self.masker();
        let wanted: Option<Vec<ProcessId>> = ids.iter().map(|id| parse(id)).collect();
        let wanted =
            wanted.ok_or_else(|| DeskError::BadInput("this is no process of the list".to_owned()))?;
        let known = suspects::suspects(&self.home);
        let ended = suspects::end(&self.home, &wanted).into_iter().map(|(id, gone)| {
            let words = known.iter().find(|one| one.id == id).map(|one| one.arguments.clone());
            let words = words.unwrap_or_default();
            let what = ProcessKind::of(&words, "process").to_string();
            let command = masker.command(&words).join(" ");
            EndedView { pid: id.pid, what, command, session: None, server: None, gone }
        });
        self.swept("that nobody owned", ended.collect(), Vec::new())
    }

    /// Ends the server of a running session with all that it started. The gate itself goes on as it does when a server ends by
    /// itself.
    pub fn end_tree(&self, session: &str) -> Result<SweepView, DeskError> {
        let id: Option<SessionId> = session.parse().ok();
        let lease = running(&self.home).into_iter().find(|lease| Some(lease.session) == id);
        let lease = lease.ok_or_else(|| {
            DeskError::NotFound("this session does not run any more; nothing was ended".to_owned())
        })?;
        let here = self.here();
        if let Some(why) = here.why_not(&lease) {
            let words = format!(
                "this session {why}: its processes cannot be seen from here, and nothing was ended. Stop the server \
                 instead; its own gate ends them."
            );
            return Err(DeskError::Conflict(words));
        }
        let record = Record::read(&self.home, lease.session).filter(|record| record.is_of(&here));
        let members = below_keeper(&lease, record.as_ref());
        let texts = self.texts();
        // Told before they are gone.
        let told: HashMap<ProcessId, (String, String)> = members
            .iter()
            .map(|one| {
                let words = arguments(one.id.pid);
                let command = texts.shown(Some(one.id), &words, &one.name);
                (one.id, (ProcessKind::of(&words, &one.name).to_string(), command))
            })
            .collect();
        let ids: Vec<ProcessId> = members.iter().map(|one| one.id).collect();
        let ended = callgate_supervise::end(&ids).into_iter().filter_map(|(id, gone)| {
            let (what, command) = told.get(&id)?.clone();
            let (session, server) = (Some(session.to_owned()), Some(lease.server.clone()));
            Some(EndedView { pid: id.pid, what, command, session, server, gone })
        });
        let words = format!("of {}", callgate_text::harmless(&lease.server));
        self.swept(&words, ended.collect(), Vec::new())
    }

    /// Brings the record of a running session's tree up to date. What fails is tried again at the next change.
    pub fn note_tree(&self, lease: &Lease) {
        let here = self.here();
        if let Some(about) = About::of(lease, &here) {
            let _later = callgate_trees::note(&self.home, &here, &about, None);
        }
    }

    /// Takes leave of trees that are gone, and of the temporary profiles that they left. Ends nothing.
    pub fn tidy_trees(&self) {
        let removed = callgate_trees::tidy(&self.home);
        let paths: Vec<String> = removed.iter().map(|path| path.display().to_string()).collect();
        if !paths.is_empty() {
            let words = format!("temporary profiles of dead sessions were removed: {}", paths.join(", "));
            let _noted = self.note(None, &words);
        }
    }

    fn here(&self) -> Here {
        Here::by(&*self.clock)
    }

    fn texts(&self) -> Texts {
        Texts::read(&self.home, &self.here())
    }

    /// For what belongs to no session: it knows none of their secrets.
    fn masker(&self) -> Masker {
        Settings::read(&self.home).0.masker(&[])
    }

    /// What is on record of sessions, by their names.
    fn session_rows(&self) -> Result<HashMap<String, SessionRow>, DeskError> {
        let rows = History::open_reader(&self.home)?.sessions(SESSIONS)?;
        Ok(rows.into_iter().map(|row| (row.session.to_string(), row)).collect())
    }

    /// What was ended is told, and on record.
    fn swept(
        &self,
        whose: &str,
        ended: Vec<EndedView>,
        profiles: Vec<String>,
    ) -> Result<SweepView, DeskError> {
        let mut words = outcome(whose, &ended.iter().collect::<Vec<_>>());
        // Each server is told of its own.
        let mut by_server: BTreeMap<Option<&str>, Vec<&EndedView>> = BTreeMap::new();
        for one in &ended {
            by_server.entry(one.server.as_deref()).or_default().push(one);
        }
        for (server, of) in &by_server {
            self.note(*server, &outcome(whose, of))?;
        }
        if !profiles.is_empty() {
            let removed = format!("{} removed.", count(profiles.len() as u64, "temporary profile"));
            self.note(None, &removed)?;
            words.push_str(&format!(" {removed}"));
        }
        Ok(SweepView { words, ended, profiles })
    }

    fn note(&self, server: Option<&str>, words: &str) -> Result<(), StoreError> {
        let now_ms = self.clock.now().wall_ms;
        record_event(&self.home, now_ms, EventKind::Swept, server, Some(self.origin), words)
    }
}

/// When a dead session ended; of one that nobody saw end, when it was last seen.
fn ended_or_seen(end: Option<(i64, EndReason)>, noted_ms: Option<i64>) -> (Option<i64>, Option<i64>) {
    match end {
        // Filed with the time of its last record.
        Some((at_ms, EndReason::Lost)) => (None, noted_ms.max(Some(at_ms))),
        Some((at_ms, _)) => (Some(at_ms), None),
        None => (None, noted_ms),
    }
}

/// "3 processes of dead sessions ended."
fn outcome(whose: &str, ended: &[&EndedView]) -> String {
    let gone = ended.iter().filter(|one| one.gone).count();
    match ended.len() {
        0 => format!("No process {whose} was left."),
        all if gone == all => format!("{} {whose} ended.", processes(all)),
        all => format!("{gone} of {} {whose} ended; the others do not react.", processes(all)),
    }
}

/// Everyone in a session's tree but the gate and its keeper, which see to the rest. By who they are, never by what they are
/// called: a server's program may have any name.
fn below_keeper(lease: &Lease, record: Option<&Record>) -> Vec<ObservedProcess> {
    let mut seen = tree_of(lease.pid);
    let keeper = record.and_then(|record| record.keeper).map(|keeper| (keeper.pid, keeper.start));
    // In the first second nobody has written it down. It alone is started by the gate itself.
    let unwritten = |one: &ObservedProcess| {
        keeper.is_none() && one.parent == Some(lease.pid) && one.name == "callgate-keeper"
    };
    seen.retain(|one| Some((one.id.pid, one.id.start)) != keeper && !unwritten(one));
    // Who has left the tree, where orphans do not come back to it.
    for member in record.into_iter().flat_map(|record| &record.members) {
        let id = member.id();
        let is_own = id.pid == lease.pid || Some((id.pid, id.start)) == keeper;
        if !is_own && !seen.iter().any(|one| one.id == id) && lives(id) {
            seen.push(ObservedProcess { id, parent: None, name: "process".to_owned() });
        }
    }
    seen
}

fn processes(number: usize) -> String {
    format!("{number} {}", if number == 1 { "process" } else { "processes" })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn named(id: ProcessId) -> String {
    format!("{}:{}", id.pid, id.start)
}

fn parse(id: &str) -> Option<ProcessId> {
    let (pid, start) = id.split_once(':')?;
    Some(ProcessId { pid: pid.parse().ok()?, start: start.parse().ok()? })
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
