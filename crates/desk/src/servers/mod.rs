//! Every server that is known: from running sessions, from the history, and from `servers.json`.

pub(crate) mod falls;
pub(crate) mod listed;
mod stderr;

use std::collections::BTreeMap;
use std::sync::PoisonError;

use callgate_controls::catalogue;
use callgate_history::{EventRow, Failure, History, SessionRow};
use callgate_home::{Lease, SessionId, running};
use callgate_journal::EndReason;

use self::falls::Falls;
pub use self::stderr::{StderrEntry, StderrFollower};
use crate::protection::{Guarded, Guards};
use crate::standing::Standing;
use crate::text::{clip, day_start, harmless};
use crate::view::{Protection, ServerState, ServerView, SessionView, StandView};
use crate::{Desk, DeskError, codegen};

/// Servers are known from the sessions of so many days,
const DAYS: i64 = 30;
/// of which no more than this many are looked at.
const SESSIONS: usize = 2_000;
/// Sessions that are shown of a server.
const SHOWN: usize = 10;
/// Calls among which the last error is looked for.
const FAILURES: i64 = 5_000;
/// The longest text of an error.
const ERROR: usize = 300;

/// What is known of one server before it is shown.
#[derive(Default)]
struct Known {
    running: Vec<Lease>,
    /// Newest first.
    ended: Vec<SessionRow>,
    listed: Option<Vec<String>>,
}

impl Desk {
    /// Every server, the running ones first, then by name.
    pub fn servers(&self) -> Result<Vec<ServerView>, DeskError> {
        let now = self.clock.now();
        let history = History::open_reader(&self.home)?;
        let leases = running(&self.home);
        let mut known: BTreeMap<String, Known> = BTreeMap::new();
        let since_ms = now.wall_ms - DAYS * 24 * 60 * 60 * 1000;
        for row in history.sessions_since(since_ms, SESSIONS)?.into_iter().rev() {
            if !leases.iter().any(|lease| lease.session == row.session) {
                known.entry(row.server.clone()).or_default().ended.push(row);
            }
        }
        for lease in leases {
            known.entry(lease.server.clone()).or_default().running.push(lease);
        }
        let listed = listed::read(&self.home);
        for (name, command) in listed.servers {
            known.entry(name).or_default().listed = Some(command);
        }
        let failures = history.failures(FAILURES)?;
        let falls = Falls::since(&history, since_ms)?;
        let recorded = callgate_codegen_history::servers(&self.home, since_ms)?;
        let mut guards = Guards::read(&self.home, now.clone());
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.step(&history, now.wall_ms, day_start(now.wall_ms))?;
        let mut views = Vec::new();
        for (name, known) in known {
            let failure = failures.iter().find(|failure| failure.server == name);
            let mut look =
                Look { history: &history, standing: &mut standing, falls: &falls, now_ms: now.wall_ms };
            let mut view = look.view(&name, &known, &mut guards, failure)?;
            if let Ok(Some(list)) = catalogue::read(&self.home, &name) {
                view.tools = u32::try_from(list.tools.len()).unwrap_or(u32::MAX);
                view.codegen = codegen::offers(&list);
            }
            // A client need not ask for the tools before it uses them.
            view.codegen |= recorded.contains(&name);
            views.push(view);
        }
        views.sort_by_key(|view| view.state != ServerState::Running);
        Ok(views)
    }

    /// The end of what the server of a session wrote to its stderr; a server's name does as well.
    /// With a search only the lines that hold it, of all that is kept.
    pub fn stderr_tail(&self, session: &str, search: &str) -> Result<String, DeskError> {
        let id: Option<SessionId> = session.parse().ok();
        let server = match session.parse() {
            Ok(id) => {
                let live = running(&self.home).into_iter().find(|lease| lease.session == id);
                match live {
                    Some(lease) => Some(lease.server),
                    None => History::open_reader(&self.home)?
                        .sessions(SESSIONS)?
                        .into_iter()
                        .rev()
                        .find(|row| row.session == id)
                        .map(|row| row.server),
                }
            }
            Err(_) => None,
        };
        // A server may be called what a session could be.
        let id = id.filter(|_| server.is_some());
        let now_ms = self.clock.now().wall_ms;
        stderr::tail(&self.home, server.as_deref().unwrap_or(session), id, search, now_ms)
    }

    /// The last lines that a server wrote to its stderr, and a follower of what comes; of one session or of all.
    pub fn follow_stderr(
        &self,
        server: &str,
        session: Option<SessionId>,
        last: usize,
    ) -> Result<(Vec<StderrEntry>, StderrFollower), DeskError> {
        StderrFollower::open(&self.home, server, session, last)
    }

    /// Every server that is on record.
    pub fn server_names(&self) -> Result<Vec<String>, DeskError> {
        Ok(History::open_reader(&self.home)?.servers()?)
    }
}

struct Look<'a> {
    history: &'a History,
    standing: &'a mut Standing,
    falls: &'a Falls,
    now_ms: i64,
}

impl Look<'_> {
    fn view(
        &mut self,
        name: &str,
        known: &Known,
        guards: &mut Guards<'_>,
        failure: Option<&Failure>,
    ) -> Result<ServerView, DeskError> {
        let guarded = worst(known.running.iter().map(|lease| guards.of(lease)))
            .unwrap_or_else(|| guards.of_next_session(name));
        let mut sessions = Vec::new();
        for lease in known.running.iter().rev() {
            sessions.push(self.running(lease)?);
        }
        for row in known.ended.iter().take(SHOWN.saturating_sub(sessions.len())) {
            sessions.push(self.ended(row)?);
        }
        let command = match (known.running.last(), known.ended.first()) {
            (Some(lease), _) => lease.command.clone(),
            (None, Some(row)) => serde_json::from_str(&row.command).unwrap_or_default(),
            (None, None) => known.listed.clone().unwrap_or_default(),
        };
        let numbers = self.standing.tally.servers.get(name).cloned().unwrap_or_default();
        let last_call_ms = match (numbers.last_ms, known.ended.first()) {
            (Some(at), _) => Some(at),
            (None, Some(row)) => self.history.last_call_of(row.session, row.started_ms)?,
            (None, None) => None,
        };
        let (last_error, last_error_ms) = last_error(failure, self.falls.last_of(name), known.ended.first());
        let state = match (known.running.is_empty(), known.ended.is_empty()) {
            (false, _) => ServerState::Running,
            (true, false) => ServerState::Stopped,
            (true, true) => ServerState::NeverStarted,
        };
        Ok(ServerView {
            name: name.to_owned(),
            state,
            protection: guarded.protection,
            problem: guarded.problem.map(|problem| problem.1),
            command,
            sessions,
            calls_today: numbers.calls,
            refused_today: numbers.refused,
            calls_last_hour: numbers.last_hour(self.now_ms),
            last_call_ms,
            last_error,
            last_error_ms,
            tools: 0,
            codegen: false,
            added: known.listed.is_some(),
        })
    }

    fn running(&mut self, lease: &Lease) -> Result<SessionView, DeskError> {
        let (calls, refused) = self.standing.session(self.history, lease.session, lease.started_ms, false)?;
        Ok(SessionView {
            session: lease.session.to_string(),
            server: lease.server.clone(),
            client: lease.client.clone(),
            pid: Some(lease.pid),
            started_ms: lease.started_ms,
            ended_ms: None,
            end: None,
            policy: lease.policy_version.clone(),
            calls,
            refused,
            demo: lease.demo,
            stand: lease.stand.into(),
            stand_words: lease.stand_words.as_deref().map(|words| clip(&harmless(words), ERROR)),
            restarts: lease.restarts,
            restarted_ms: lease.restarted_ms,
        })
    }

    fn ended(&mut self, row: &SessionRow) -> Result<SessionView, DeskError> {
        let (calls, refused) =
            self.standing.session(self.history, row.session, row.started_ms, row.end.is_some())?;
        Ok(SessionView {
            session: row.session.to_string(),
            server: row.server.clone(),
            client: row.client.clone(),
            pid: None,
            started_ms: row.started_ms,
            ended_ms: Some(row.end.map_or(row.started_ms, |end| end.0)),
            end: Some(self.falls.end_of(row).to_owned()),
            policy: None,
            calls,
            refused,
            demo: row.demo,
            stand: StandView::default(),
            stand_words: None,
            restarts: 0,
            restarted_ms: None,
        })
    }
}

/// Of several sessions of one server, the one that is protected worst speaks for it.
fn worst(guarded: impl Iterator<Item = Guarded>) -> Option<Guarded> {
    let rank = |guarded: &Guarded| match guarded.protection {
        Protection::Broken => 0,
        Protection::Paused => 1,
        Protection::Observed => 2,
        Protection::WatchOnly | Protection::Enforcing if guarded.problem.is_some() => 3,
        Protection::WatchOnly => 4,
        Protection::Enforcing => 5,
    };
    guarded.min_by_key(rank)
}

/// The newest of a failed call, a server that fell, and a session that did not end as it should. What an event says about why
/// a server fell is more than what the end of its session says.
fn last_error(
    failure: Option<&Failure>,
    fall: Option<&EventRow>,
    last: Option<&SessionRow>,
) -> (Option<String>, Option<i64>) {
    let failed = failure.map(|failure| {
        let what = failure.outcome.word().replace('_', " ");
        let tool = failure.tool.as_deref().unwrap_or("a message");
        let said = failure.result.as_deref().map_or(String::new(), |result| format!(": {}", said(result)));
        (failure.at_ms, clip(&harmless(&format!("{tool}: {what}{said}")), ERROR))
    });
    let ended = last.and_then(|row| row.end).and_then(|(at, reason)| {
        let words = match reason {
            EndReason::ServerEnded => "the server ended by itself",
            EndReason::FailedToStart => "the server could not be started",
            EndReason::Lost => "the session was killed",
            EndReason::ClientClosed | EndReason::Signal => return None,
        };
        Some((at, words.to_owned()))
    });
    let ended = ended.filter(|(at, _)| fall.is_none_or(|fall| !falls::is_beside(fall.at_ms, *at)));
    let fell = fall.map(|fall| (fall.at_ms, clip(&harmless(&fall.text), ERROR)));
    match failed.into_iter().chain(ended).chain(fell).max_by_key(|error| error.0) {
        Some((at, words)) => (Some(words), Some(at)),
        None => (None, None),
    }
}

/// The words of an error in a result, if they can be found; the result as it is otherwise.
fn said(result: &str) -> String {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(result) else { return result.to_owned() };
    let words = value["content"][0]["text"].as_str().or(value["message"].as_str());
    words.map_or_else(|| result.to_owned(), str::to_owned)
}

#[cfg(test)]
mod tests;
