//! What a person asks of the servers that run: stop, start, start again. The sessions do it; here it is asked, and waited for.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use callgate_codegen::State;
use callgate_store::control::{self, Wish};
use callgate_store::history::CodegenSession;
use callgate_store::{Home, Lease, SessionId, Stand, running};

use crate::change::Maker;
use crate::pausing;
use crate::text::{count, name};
use crate::view::Done;
use crate::{Desk, DeskError};

/// How long a server may take to go and to come back before somebody who asked is told that it takes longer.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(25);

/// Which sessions are meant. What is not said does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whom<'a> {
    pub server: Option<&'a str>,
    pub client: Option<&'a str>,
    pub session: Option<SessionId>,
}

impl<'a> Whom<'a> {
    /// One session of a server by its name, or all.
    pub fn of(server: &'a str, session: Option<&str>) -> Result<Whom<'a>, DeskError> {
        let session = match session.map(str::parse::<SessionId>) {
            None => None,
            Some(Ok(session)) => Some(session),
            Some(Err(error)) => return Err(DeskError::NotFound(error.to_string())),
        };
        Ok(Whom { server: Some(server), session, client: None })
    }

    fn means(&self, lease: &Lease) -> bool {
        self.server.is_none_or(|server| lease.server == server)
            && self.client.is_none_or(|client| lease.client.as_deref() == Some(client))
            && self.session.is_none_or(|session| lease.session == session)
    }
}

/// A request that is on its way to a session.
#[derive(Clone, Debug)]
pub struct Asked {
    pub lease: Lease,
    turn: u64,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// The session has dealt with it, and this is how its server stands.
    Now(Stand, Option<String>),
    /// The session is over.
    Over,
    /// Not yet.
    Underway,
}

/// Asks it of every session that is meant. An error when none runs.
pub fn ask(home: &Home, whom: Whom<'_>, wish: Wish, now_ms: i64) -> Result<Vec<Asked>, DeskError> {
    let meant: Vec<Lease> = running(home).into_iter().filter(|lease| whom.means(lease)).collect();
    if meant.is_empty() {
        return Err(DeskError::NotFound(nobody(home, whom)));
    }
    let ask = |lease: Lease| {
        let request = control::ask(home, lease.session, wish, now_ms)
            .map_err(|error| DeskError::disk("the request cannot be written", error))?;
        Ok(Asked { lease, turn: request.turn })
    };
    meant.into_iter().map(ask).collect()
}

/// That none runs which is meant; and who runs the server, if it is another client or session than was named.
fn nobody(home: &Home, whom: Whom<'_>) -> String {
    let server = whom.server.map_or_else(|| "any server".to_owned(), name);
    let others = Whom { client: None, session: None, ..whom };
    let all = running(home);
    let others: BTreeSet<String> = all
        .iter()
        .filter(|lease| others.means(lease))
        .map(|lease| match &lease.client {
            Some(client) => format!("{} for {}", lease.session, name(client)),
            None => lease.session.to_string(),
        })
        .collect();
    if others.is_empty() {
        return format!("no session of {server} runs; a client starts one when it connects");
    }
    let wanted = match (whom.client, whom.session) {
        (Some(client), None) => format!("for {}", name(client)),
        (None, Some(session)) => format!("as {session}"),
        (client, session) => format!(
            "as {} for {}",
            session.map_or_else(String::new, |session| session.to_string()),
            client.map_or_else(String::new, name)
        ),
    };
    format!("{server} does not run {wanted}; it runs as {}", Vec::from_iter(others).join(", "))
}

/// Did a person stop any of these? To start it again takes back what they said.
pub fn is_stopped_by_person(home: &Home, whom: Whom<'_>) -> bool {
    // What its limits ended has a reason beside it.
    let by_person = |lease: &Lease| lease.stand == Stand::Stopped && lease.stand_words.is_none();
    running(home).iter().any(|lease| whom.means(lease) && by_person(lease))
}

/// Pauses every call, then stops every server: what runs is cancelled, and nothing is started by a client's next call.
pub fn stop_everything(maker: &Maker<'_>) -> Result<Vec<Asked>, DeskError> {
    pausing::pause(maker, None, None)?;
    match ask(maker.home, Whom::default(), Wish::Stop, maker.clock.now().wall_ms) {
        // The pause alone is what there was to do.
        Err(DeskError::NotFound(_)) => Ok(Vec::new()),
        asked => asked,
    }
}

/// Waits until the sessions have dealt with what they were asked, for a bounded time.
pub fn await_all(home: &Home, asked: &[Asked]) -> Vec<Became> {
    let until = Instant::now() + PATIENCE;
    loop {
        let leases = running(home);
        let became: Vec<Became> = asked
            .iter()
            .map(|asked| match leases.iter().find(|lease| lease.session == asked.lease.session) {
                None => Became::Over,
                Some(lease) if lease.turn >= asked.turn => {
                    Became::Now(lease.stand, lease.stand_words.clone())
                }
                Some(_) => Became::Underway,
            })
            .collect();
        if !became.contains(&Became::Underway) || Instant::now() >= until {
            return became;
        }
        thread::sleep(LOOK);
    }
}

/// What was done, in one sentence.
pub fn told(wish: Wish, whom: &str, became: &[Became]) -> String {
    let of = |stand: Stand| {
        became.iter().filter(|one| matches!(one, Became::Now(now, _) if *now == stand)).count()
    };
    let wanted = if wish == Wish::Stop { Stand::Stopped } else { Stand::Running };
    let (done, verb) = (of(wanted), if wish == Wish::Stop { "Stopped" } else { "Running" });
    let mut words = format!("{verb}: {whom} in {}", count(done as u64, "session"));
    if wish == Wish::Stop && done > 0 {
        words.push_str("; its processes are ended, and its calls are refused until it is started");
    }
    let failed = became.iter().find_map(|one| match one {
        Became::Now(stand, said) if *stand != wanted => Some(said.clone().unwrap_or_default()),
        _ => None,
    });
    if let Some(said) = failed.filter(|said| !said.is_empty()) {
        words.push_str(&format!("; but {said}"));
    }
    let late = became.iter().filter(|one| **one == Became::Underway).count();
    if late > 0 {
        words.push_str(&format!("; {} still at it", count(late as u64, "session")));
    }
    let over = became.iter().filter(|one| **one == Became::Over).count();
    if over > 0 {
        words.push_str(&format!("; {} over", count(over as u64, "session")));
    }
    words
}

impl Desk {
    /// What ends with the servers of these sessions, in sentences: calls that run, and recordings that are open.
    pub fn at_stake(&self, whom: Whom<'_>) -> Result<Vec<String>, DeskError> {
        let meant: Vec<SessionId> =
            running(&self.home).iter().filter(|lease| whom.means(lease)).map(|lease| lease.session).collect();
        if meant.is_empty() {
            return Ok(Vec::new());
        }
        let open = self.codegen_sessions(whom.server)?;
        let history = self.record()?;
        let mut calls = 0;
        for session in &meant {
            calls += history.open_calls(*session)?;
        }
        let mut words = Vec::new();
        if calls > 0 {
            let are = if calls == 1 { "runs and is" } else { "run and are" };
            words.push(format!("{} {are} answered with an error", count(calls, "call")));
        }
        let is_open = |one: &CodegenSession| {
            matches!(one.session.state, State::Open | State::Starting) && meant.contains(&one.gate())
        };
        for one in open.iter().filter(|one| is_open(one) && one.session.recorded > 0) {
            let of = one.session.id.as_deref().map(|id| format!(" {}", name(id))).unwrap_or_default();
            words.push(format!(
                "the codegen session{of} of {} is open: the server loses it; its {} stay saved in Callgate",
                name(&one.session.client),
                count(one.session.recorded as u64, "action"),
            ));
        }
        Ok(words)
    }

    /// Stops, starts or restarts a server, in one session or in all, and waits until that is done.
    pub fn ask_server(&self, server: &str, session: Option<&str>, wish: Wish) -> Result<Done, DeskError> {
        let whom = Whom::of(server, session)?;
        // What cannot be told is no reason not to stop it.
        let lost = if wish == Wish::Start { Vec::new() } else { self.at_stake(whom).unwrap_or_default() };
        let asked = ask(&self.home, whom, wish, self.clock.now().wall_ms)?;
        let mut words = told(wish, &name(server), &await_all(&self.home, &asked));
        for one in lost {
            words.push_str(&format!(". Before that, {one}"));
        }
        Ok(Done { words, undo: None, server: Some(server.to_owned()), version: None, ends_ms: None })
    }

    /// Pauses every call and stops every server.
    pub fn stop_everything(&self) -> Result<Done, DeskError> {
        let asked = stop_everything(&self.maker())?;
        let words = everything(&await_all(&self.home, &asked));
        Ok(Done { words, undo: None, server: None, version: None, ends_ms: None })
    }
}

/// What is said of [`stop_everything`].
pub fn everything(became: &[Became]) -> String {
    let paused = "Paused every server";
    if became.is_empty() {
        format!("{paused}; none was running")
    } else {
        format!("{paused}. {}", told(Wish::Stop, "every server", became))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_and_what_was_not_is_told_in_one_sentence() {
        let stopped = || Became::Now(Stand::Stopped, None);
        let running = || Became::Now(Stand::Running, None);
        let down = || Became::Now(Stand::Down, Some("it crashed".to_owned()));
        for (wish, became, words) in [
            (
                Wish::Stop,
                vec![stopped(), stopped()],
                "Stopped: files in 2 sessions; its processes are ended, and its calls are refused until it is started",
            ),
            (Wish::Start, vec![running()], "Running: files in 1 session"),
            (Wish::Restart, vec![running(), down()], "Running: files in 1 session; but it crashed"),
            (
                Wish::Restart,
                vec![Became::Underway, Became::Over],
                "Running: files in 0 sessions; 1 session still at it; 1 session over",
            ),
        ] {
            assert_eq!(told(wish, "files", &became), words);
        }
        assert_eq!(everything(&[]), "Paused every server; none was running");
    }
}
