//! Process trees as a person sees them: of running sessions, what dead ones left, and browsers that nobody owns; and ending them.

mod happened;

use std::collections::HashMap;

use callgate_store::history::record_event;
use callgate_store::mask::Masker;
use callgate_store::{EventKind, History, Lease, SessionId, Settings, StoreError, running};
use callgate_supervise::{ProcessId, identify};
use callgate_trees::{About, Here, What, suspects};

use crate::sampling::Sampler;
use crate::text::count;
use crate::view::{ElsewhereView, EndedView, LeftoverView, Strays, SuspectView, SweepView, TreeView};
use crate::{Desk, DeskError};

/// Sessions among which the end of one that left something is looked for.
const SESSIONS: usize = 2_000;

impl Desk {
    /// The trees of all running sessions, as of the sampler's last look.
    pub fn trees(&self, sampler: &Sampler, leases: &[Lease]) -> Vec<TreeView> {
        sampler.trees(leases, self.clock.now().wall_ms, &self.masker())
    }

    /// What dead sessions left, and browsers that nobody owns. Looks at every process of this person.
    pub fn strays(&self, sampler: &mut Sampler) -> Result<Strays, DeskError> {
        sampler.refresh();
        let masker = self.masker();
        let left = callgate_trees::leftovers(&self.home);
        let ends = if left.is_empty() { HashMap::new() } else { self.ends()? };
        let leftovers = left.into_iter().map(|left| {
            let pids: Vec<u32> = left.processes.iter().map(|process| process.id.pid).collect();
            let processes = sampler.views(&pids, &masker);
            let browsers = left.processes.iter().filter(|process| process.what.is_browser()).count();
            LeftoverView {
                ended_ms: ends.get(&left.session).copied().or(left.noted_ms),
                session: left.session,
                server: left.server,
                client: left.client,
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
            let processes = sampler.views(&pids, &masker);
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

    /// Ends what dead sessions left, and removes their temporary profiles.
    pub fn sweep(&self) -> Result<SweepView, DeskError> {
        let masker = self.masker();
        let swept = callgate_trees::sweep(&self.home);
        let ended = swept.processes.into_iter().map(|process| {
            let words: Vec<String> = process.command.split(' ').map(str::to_owned).collect();
            EndedView {
                pid: process.pid,
                what: What::of(&words, "process").to_string(),
                command: masker.command(&words).join(" "),
                session: Some(process.session),
                gone: process.gone,
            }
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
            let what = What::of(&words, "process").to_string();
            EndedView { pid: id.pid, what, command: masker.command(&words).join(" "), session: None, gone }
        });
        self.swept("that nobody owned", ended.collect(), Vec::new())
    }

    /// Ends the server of a running session with all that it started. The gate itself goes on as it does when a server ends by
    /// itself.
    pub fn end_tree(&self, sampler: &mut Sampler, session: &str) -> Result<SweepView, DeskError> {
        let id: Option<SessionId> = session.parse().ok();
        let lease = running(&self.home).into_iter().find(|lease| Some(lease.session) == id);
        let lease = lease.ok_or_else(|| {
            DeskError::NotFound("this session does not run any more; nothing was ended".to_owned())
        })?;
        sampler.sample(std::slice::from_ref(&lease), 0);
        let masker = self.masker();
        let tree = sampler.trees(std::slice::from_ref(&lease), 0, &masker).pop();
        // The gate and its keeper see to the rest.
        let own = [What::Gate.to_string(), What::Keeper.to_string()];
        let members = tree.into_iter().flat_map(|tree| tree.processes);
        let members: Vec<_> =
            members.filter(|one| one.pid != lease.pid && !own.contains(&one.what)).collect();
        let ids: Vec<ProcessId> = members.iter().filter_map(|one| identify(one.pid)).collect();
        let ended = callgate_supervise::end(&ids).into_iter().filter_map(|(id, gone)| {
            let one = members.iter().find(|one| one.pid == id.pid)?;
            let (what, command) = (one.what.clone(), one.command.clone());
            Some(EndedView { pid: id.pid, what, command, session: Some(session.to_owned()), gone })
        });
        let words = format!("of {}", crate::text::harmless(&lease.server));
        self.swept(&words, ended.collect(), Vec::new())
    }

    /// Brings the record of a running session's tree up to date. What fails is tried again at the next change.
    pub fn note_tree(&self, lease: &Lease) {
        let _later = callgate_trees::note(&self.home, &Here::now(), &About::from(lease), &self.masker());
    }

    /// Takes leave of trees that are gone, and of the temporary profiles that they left. Ends nothing.
    pub fn tidy_trees(&self) {
        let removed = callgate_trees::tidy(&self.home);
        let paths: Vec<String> = removed.iter().map(|path| path.display().to_string()).collect();
        if !paths.is_empty() {
            let words = format!("temporary profiles of dead sessions were removed: {}", paths.join(", "));
            let _noted = self.note(&words);
        }
    }

    fn masker(&self) -> Masker {
        Settings::read(&self.home).0.masker(&[])
    }

    /// When sessions ended, by their names.
    fn ends(&self) -> Result<HashMap<String, i64>, DeskError> {
        let rows = History::open_reader(&self.home)?.sessions(SESSIONS)?;
        Ok(rows.into_iter().filter_map(|row| Some((row.session.to_string(), row.end?.0))).collect())
    }

    /// What was ended is told, and on record.
    fn swept(
        &self,
        whose: &str,
        ended: Vec<EndedView>,
        profiles: Vec<String>,
    ) -> Result<SweepView, DeskError> {
        let gone = ended.iter().filter(|one| one.gone).count();
        let mut words = match ended.len() {
            0 => format!("No process {whose} was left."),
            all if gone == all => format!("{} {whose} ended.", processes(all)),
            all => format!("{gone} of {} {whose} ended; the others do not react.", processes(all)),
        };
        if !profiles.is_empty() {
            words.push_str(&format!(" {} removed.", count(profiles.len() as u64, "temporary profile")));
        }
        if !ended.is_empty() || !profiles.is_empty() {
            self.note(&words)?;
        }
        Ok(SweepView { words, ended, profiles })
    }

    fn note(&self, words: &str) -> Result<(), StoreError> {
        let now_ms = self.clock.now().wall_ms;
        record_event(&self.home, now_ms, EventKind::Swept, None, Some(self.origin), words)
    }
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
