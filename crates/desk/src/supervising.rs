//! What a person asks of the servers that run: stop, start, start again. The sessions do it; here it is asked, and waited for.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use callgate_controls::control::{self, ServerCommand};
use callgate_controls::pause::PauseScope;
use callgate_home::{Home, Lease, SessionId, Stand, running};
use callgate_journal::catch_up;
use callgate_text::{count, name};

use crate::pausing;
use crate::servers::falls::Falls;
use crate::view::Done;
use crate::{Desk, DeskError};

/// How long a server may take to go and to come back before somebody who asked is told that it takes longer.
const PATIENCE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(25);
/// How long a server that was started has to stay before it is said to run: one that crashes at once is gone by then.
const SETTLING: Duration = Duration::from_millis(700);
/// How the sessions say that a server does not run; whoever asked is told so already.
const DOES_NOT_RUN: &str = "the server does not run: ";

/// Which sessions are meant. What is not said does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whom<'a> {
    pub server: Option<&'a str>,
    pub client: Option<&'a str>,
    pub session: Option<SessionId>,
}

impl<'a> Whom<'a> {
    /// One session of a server by its name, or all.
    pub fn from_names(server: &'a str, session: Option<&str>) -> Result<Whom<'a>, DeskError> {
        let session = match session.map(str::parse::<SessionId>) {
            None => None,
            Some(Ok(session)) => Some(session),
            Some(Err(error)) => return Err(DeskError::NotFound(error.to_string())),
        };
        Ok(Whom { server: Some(server), session, client: None })
    }

    pub(crate) fn means(&self, lease: &Lease) -> bool {
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
    at_ms: i64,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// The session has dealt with it, and this is how its server stands.
    Now(Stand, Option<String>),
    /// The session is over; why, if that is on record.
    Over(Option<String>),
    /// Not yet; what is in the way, if anything.
    Underway(Option<String>),
}

impl Became {
    /// Is it as it was asked for?
    pub fn is(&self, wish: ServerCommand) -> bool {
        match self {
            Became::Now(stand, _) => *stand == wanted(wish),
            // Nothing runs any more, which is all that somebody who stops it asks for.
            Became::Over(_) => wish == ServerCommand::Stop,
            Became::Underway(_) => false,
        }
    }
}

fn wanted(wish: ServerCommand) -> Stand {
    if wish == ServerCommand::Stop { Stand::Stopped } else { Stand::Running }
}

/// What became of [`Desk::stop_all`].
#[derive(Clone, Debug)]
pub struct StoppedAll {
    pub became: Vec<Became>,
    /// What ended with the servers, in sentences.
    pub lost: Vec<String>,
}

/// Asks it of every session that is meant. An error when none runs.
pub fn ask(home: &Home, whom: Whom<'_>, wish: ServerCommand, now_ms: i64) -> Result<Vec<Asked>, DeskError> {
    let meant: Vec<Lease> = running(home).into_iter().filter(|lease| whom.means(lease)).collect();
    if meant.is_empty() {
        return Err(DeskError::NotFound(nobody(home, whom)));
    }
    let ask = |lease: Lease| {
        let request = control::ask(home, lease.session, wish, now_ms)
            .map_err(|error| DeskError::disk("the request cannot be written", error))?;
        Ok(Asked { lease, turn: request.turn, at_ms: now_ms })
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

/// Why only a person starts a server again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RestartHold {
    /// Its limits ended it, or it crashed too often: its clients are told that a person has to start it.
    Down,
    /// A person did. To start it takes back what they said.
    Stopped,
}

/// Whether any of these is kept from running; the strongest reason.
pub fn kept(home: &Home, whom: Whom<'_>) -> Option<RestartHold> {
    let kept = |lease: &Lease| match lease.stand {
        // What its limits ended has a reason beside it.
        Stand::Stopped if lease.stand_words.is_none() => Some(RestartHold::Stopped),
        Stand::Stopped | Stand::Down => Some(RestartHold::Down),
        Stand::Running | Stand::Starting => None,
    };
    running(home).iter().filter(|lease| whom.means(lease)).filter_map(kept).max()
}

/// What was done, in one sentence.
pub fn told(wish: ServerCommand, whom: &str, became: &[Became]) -> String {
    let done = became.iter().filter(|one| matches!(one, Became::Now(now, _) if *now == wanted(wish))).count();
    let sessions = count(done as u64, "session");
    let mut words = match (wish, done) {
        (ServerCommand::Stop, 0) => format!("Stopped: {whom} in {sessions}"),
        (ServerCommand::Stop, _) => format!(
            "Stopped: {whom} in {sessions}; the processes are ended, and calls are refused until a person starts it"
        ),
        (ServerCommand::Start | ServerCommand::Restart, 0) => format!("Not running: {whom}"),
        (ServerCommand::Start | ServerCommand::Restart, _) => format!("Running: {whom} in {sessions}"),
    };
    let failed = became.iter().find_map(|one| match one {
        Became::Now(stand, said) if *stand != wanted(wish) => said.as_deref(),
        _ => None,
    });
    if let Some(said) = failed.filter(|said| !said.is_empty()) {
        let but = if done > 0 { "but " } else { "" };
        words.push_str(&format!("; {but}{}", said.strip_prefix(DOES_NOT_RUN).unwrap_or(said)));
    }
    let mut underway = Vec::new();
    let mut over = Vec::new();
    for one in became {
        match one {
            Became::Underway(said) => underway.push(said),
            Became::Over(said) => over.push(said),
            Became::Now(..) => {}
        }
    }
    for (those, state) in [(underway, "still at it"), (over, "over")] {
        if !those.is_empty() {
            words.push_str(&format!("; {} {state}", count(those.len() as u64, "session")));
        }
        if let Some(said) = those.into_iter().flatten().next() {
            words.push_str(&format!(" ({said})"));
        }
    }
    words
}

impl Desk {
    /// Stops, starts or restarts a server, in one session or in all, and waits until that is done.
    pub fn ask_server(
        &self,
        server: &str,
        session: Option<&str>,
        wish: ServerCommand,
    ) -> Result<Done, DeskError> {
        let whom = Whom::from_names(server, session)?;
        // What cannot be told is no reason not to stop it.
        let lost =
            if wish == ServerCommand::Start { Vec::new() } else { self.at_stake(whom).unwrap_or_default() };
        let asked = ask(&self.home, whom, wish, self.clock.now().wall_ms)?;
        let words = with_lost(told(wish, &name(server), &self.await_all(wish, &asked)), &lost);
        Ok(Done::said(words, Some(server)))
    }

    /// Waits until the sessions have dealt with what they were asked, for a bounded time.
    pub fn await_all(&self, wish: ServerCommand, asked: &[Asked]) -> Vec<Became> {
        let until = Instant::now() + PATIENCE;
        let mut calm: Option<Instant> = None;
        loop {
            let leases = running(&self.home);
            let became: Vec<Became> = asked.iter().map(|asked| asked.became(&leases)).collect();
            let underway = became.iter().any(|one| matches!(one, Became::Underway(_)));
            let since = (!underway).then(|| *calm.get_or_insert_with(Instant::now));
            calm = since;
            let settled =
                since.is_some_and(|since| wish == ServerCommand::Stop || since.elapsed() >= SETTLING);
            if settled || Instant::now() >= until {
                return self.with_reasons(asked, became);
            }
            thread::sleep(LOOK);
        }
    }

    /// Why sessions are over that were just asked for something.
    fn with_reasons(&self, asked: &[Asked], mut became: Vec<Became>) -> Vec<Became> {
        if became.iter().any(|one| matches!(one, Became::Over(_))) {
            let _behind = catch_up(&self.home, self.clock.as_ref());
            let since_ms = asked.iter().map(|asked| asked.at_ms).min().unwrap_or_default();
            let falls = self.record().ok().and_then(|history| Falls::since(&history, since_ms).ok());
            for (asked, one) in asked.iter().zip(&mut became) {
                if let Became::Over(why) = one {
                    let fall = falls.as_ref().and_then(|falls| falls.last_in(asked.lease.session));
                    *why = fall.map(|event| event.text.clone());
                }
            }
        }
        became
    }

    /// Pauses every call, then stops every server: what runs is cancelled, and nothing is started by a client's next call.
    pub fn stop_all(&self) -> Result<StoppedAll, DeskError> {
        pausing::begin(&self.edit_context(), PauseScope::default(), None)?;
        // Nothing new begins from here on, and what cannot be told is no reason not to stop it.
        let lost = self.at_stake(Whom::default()).unwrap_or_default();
        let asked = match ask(&self.home, Whom::default(), ServerCommand::Stop, self.clock.now().wall_ms) {
            // The pause alone is what there was to do.
            Err(DeskError::NotFound(_)) => Vec::new(),
            asked => asked?,
        };
        Ok(StoppedAll { became: self.await_all(ServerCommand::Stop, &asked), lost })
    }

    /// The same, in words.
    pub fn stop_everything(&self) -> Result<Done, DeskError> {
        let StoppedAll { became, lost } = self.stop_all()?;
        let words = with_lost(everything(&became), &lost);
        Ok(Done::said(words, None))
    }
}

impl Asked {
    fn became(&self, leases: &[Lease]) -> Became {
        match leases.iter().find(|lease| lease.session == self.lease.session) {
            None => Became::Over(None),
            Some(lease) if lease.turn >= self.turn && lease.stand != Stand::Starting => {
                Became::Now(lease.stand, lease.stand_words.clone())
            }
            Some(lease) => Became::Underway(lease.stand_words.clone()),
        }
    }
}

/// What was done where nobody was asked before, and what ended with it.
fn with_lost(mut words: String, lost: &[String]) -> String {
    for one in lost {
        words.push_str(&format!(". Before that, {one}"));
    }
    words
}

/// What is said of [`Desk::stop_all`].
pub fn everything(became: &[Became]) -> String {
    let paused = "Paused every server";
    if became.is_empty() {
        format!("{paused}; none was running")
    } else {
        format!("{paused}. {}", told(ServerCommand::Stop, "every server", became))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::Clock as _;
    use callgate_journal::{Event, EventKind};

    use super::*;
    use crate::testing::TestHome;

    #[test]
    fn a_server_that_crashes_right_after_its_start_is_not_said_to_run() {
        let place = TestHome::new();
        let session = place.session("files");
        let whom = Whom { server: Some("files"), ..Whom::default() };
        let asked = ask(&place.home, whom, ServerCommand::Start, place.clock.now().wall_ms).unwrap();
        // It serves, as far as its session says;
        session.journal.update_lease(|lease| lease.turn = asked[0].turn).unwrap();
        let became = thread::scope(|scope| {
            let waiting = scope.spawn(|| place.desk.await_all(ServerCommand::Start, &asked));
            // and is gone a moment later.
            session.journal.event(Event { kind: EventKind::Crashed, text: "exit code 3 [CG-120]" });
            session.end();
            waiting.join().unwrap()
        });
        assert_eq!(became, [Became::Over(Some("exit code 3 [CG-120]".to_owned()))]);
        assert_eq!(
            told(ServerCommand::Start, "files", &became),
            "Not running: files; 1 session over (exit code 3 [CG-120])"
        );
    }

    #[test]
    fn a_server_that_stays_is_said_to_run() {
        let place = TestHome::new();
        let session = place.session("files");
        let whom = Whom { server: Some("files"), ..Whom::default() };
        let asked = ask(&place.home, whom, ServerCommand::Start, place.clock.now().wall_ms).unwrap();
        session.journal.update_lease(|lease| lease.turn = asked[0].turn).unwrap();
        let became = place.desk.await_all(ServerCommand::Start, &asked);
        assert_eq!(became, [Became::Now(Stand::Running, None)]);
    }

    #[test]
    fn only_what_was_asked_for_counts_as_done() {
        let now = |stand| Became::Now(stand, None);
        for (became, stopped, started) in [
            (now(Stand::Running), false, true),
            (now(Stand::Stopped), true, false),
            (now(Stand::Down), false, false),
            (Became::Over(None), true, false),
            (Became::Underway(None), false, false),
        ] {
            assert_eq!(
                (became.is(ServerCommand::Stop), became.is(ServerCommand::Start)),
                (stopped, started),
                "{became:?}"
            );
        }
    }

    #[test]
    fn what_was_done_and_what_was_not_is_told_in_one_sentence() {
        let stopped = || Became::Now(Stand::Stopped, None);
        let running = || Became::Now(Stand::Running, None);
        let down = || Became::Now(Stand::Down, Some("it crashed".to_owned()));
        for (wish, became, words) in [
            (
                ServerCommand::Stop,
                vec![stopped(), stopped()],
                "Stopped: files in 2 sessions; the processes are ended, and calls are refused until a person starts it",
            ),
            (ServerCommand::Start, vec![running()], "Running: files in 1 session"),
            (ServerCommand::Restart, vec![running(), down()], "Running: files in 1 session; but it crashed"),
            (
                ServerCommand::Restart,
                vec![Became::Underway(None), Became::Over(None)],
                "Not running: files; 1 session still at it; 1 session over",
            ),
            (
                ServerCommand::Start,
                vec![Became::Now(Stand::Down, Some("the server does not run: exit code 3".to_owned()))],
                "Not running: files; exit code 3",
            ),
            (
                ServerCommand::Start,
                vec![Became::Over(Some("exit code 127 [CG-101]".to_owned()))],
                "Not running: files; 1 session over (exit code 127 [CG-101])",
            ),
            (
                ServerCommand::Start,
                vec![Became::Underway(Some("it crashed".to_owned())), running()],
                "Running: files in 1 session; 1 session still at it (it crashed)",
            ),
        ] {
            assert_eq!(told(wish, "files", &became), words);
        }
        assert_eq!(everything(&[]), "Paused every server; none was running");
    }
}
