//! Forgetting calls for good: said beforehand exactly what goes, done after a yes, and on record with who did it. What was
//! loosened, and what was forgotten before, cannot be forgotten.

use std::sync::PoisonError;

use callgate_controls::pin;
use callgate_history::{Forget, Forgetter, Forgotten, forget, stderr_logs};
use callgate_journal::Removed;
use callgate_text::{count, local, name};

use super::loosen::Plan;
use crate::view::{Done, Question};
use crate::{Desk, DeskError};

/// Servers that a question names.
const NAMED: usize = 20;
const STAYS: &str =
    "Changes of rules, loosenings and earlier forgettings stay on record, and so does this one.";
const STDERR_GOES: &str = "What was written to stderr goes, too. ";
const STDERR_STAYS: &str = "What servers wrote to stderr stays (callgate stderr SERVER) and may hold arguments of calls; it goes \
     when all of a server is forgotten. ";

impl Desk {
    /// Asks whether this is to go for good, with what it is, one line a server. `place`: where the person is, for the
    /// record: a terminal, the window.
    pub fn ask_to_forget(&self, what: Forget, place: &str) -> Result<Question, DeskError> {
        callgate_controls::prepare_home(&self.home)?;
        if let Forget::Before(at_ms) = what
            && at_ms > self.clock.now().wall_ms
        {
            return Err(DeskError::BadInput(format!(
                "{} is in the future, so everything up to now would go; nothing was forgotten. Say a date that has been.",
                local(at_ms).strftime("%Y-%m-%d %H:%M")
            )));
        }
        let history = self.history_now()?;
        let going = history.forgettable(&what)?;
        let running = history.unforgettable(&what)?;
        let logs = stderr_logs(&self.home, &what);
        if going.is_empty() && running > 0 {
            return Err(DeskError::Conflict(format!(
                "of {} there is only what is still running ({}); nothing was forgotten. Ask again when it is over.",
                words(&what),
                count(running, "call")
            )));
        }
        if going.is_empty() && logs.is_empty() {
            let mut words = format!("{}; nothing was forgotten.", nothing(&what));
            if let Forget::Server(server) = &what {
                let known: Vec<String> = history.servers()?.iter().map(|server| name(server)).collect();
                if !known.iter().any(|known| known == server) {
                    words.push_str(&format!(" Servers on record: {}.", list(&known)));
                }
            }
            return Err(DeskError::NotFound(words));
        }
        let sum = |of: fn(&Removed) -> u64| going.iter().map(of).sum::<u64>();
        let amount = amount(sum(|one| one.calls), sum(|one| one.events));
        let running = match running {
            0 => String::new(),
            1 => " 1 call that is still running stays.".to_owned(),
            running => format!(" {running} calls that are still running stay."),
        };
        let stderr = match what {
            Forget::Call(_) | Forget::Before(_) => STDERR_STAYS,
            _ if logs.is_empty() => "",
            _ => STDERR_GOES,
        };
        let words = format!("Forget {}, {amount}, for good?{running} {stderr}{STAYS}", words(&what));
        let plan = Plan::Forget { what, place: place.to_owned() };
        self.ask(words, lines(&going), plan)
    }

    pub(super) fn forget(&self, what: &Forget, place: &str) -> Result<Done, DeskError> {
        let words = format!("{} at {}: {}", user(), name(place), words(what));
        let by = Forgetter { origin: self.origin, words: &words };
        // Held, so that nobody opens the index while it is wiped.
        let mut indexer = self.indexing.lock();
        *indexer = None;
        let forgotten = forget(&self.home, what, &by, self.clock.as_ref());
        drop(indexer);
        // Also if not all of it is gone.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).forget();
        let words = told(&forgotten?);
        self.forget_definitions(what);
        Ok(Done::said(words, None))
    }

    /// What the servers said of their tools goes from the disk, too; what of it is accepted stays so.
    fn forget_definitions(&self, what: &Forget) {
        let servers = match what {
            Forget::Server(server) => vec![server.clone()],
            Forget::All => {
                pin::all(&self.home).into_iter().filter_map(|(_, pins)| Some(pins.ok()?.server)).collect()
            }
            Forget::Call(_) | Forget::Before(_) | Forget::Demo => return,
        };
        for server in servers {
            // One that cannot be read is a finding of its own.
            let _kept = pin::forget_texts(&self.home, &server);
        }
    }

    /// Takes the demonstrations away, which nobody has to be asked about.
    pub fn forget_demo(&self, place: &str) -> Result<Done, DeskError> {
        callgate_controls::prepare_home(&self.home)?;
        self.forget(&Forget::Demo, place)
    }
}

/// What goes, in words.
fn words(what: &Forget) -> String {
    match what {
        Forget::Call(id) => format!("the call {id}"),
        Forget::Server(server) => format!("everything of server {}", name(server)),
        Forget::Before(at_ms) => format!("everything before {}", second(*at_ms)),
        Forget::Demo => "everything of demonstrations".to_owned(),
        Forget::All => "all of the history".to_owned(),
    }
}

/// There is no such thing.
fn nothing(what: &Forget) -> String {
    match what {
        Forget::Call(id) => format!("no call {id} is on record"),
        Forget::Server(server) => format!("nothing of server \"{}\" is on record", name(server)),
        Forget::Before(at_ms) => format!("nothing before {} is on record", second(*at_ms)),
        Forget::Demo => "nothing of demonstrations is on record".to_owned(),
        Forget::All => "nothing is on record that could be forgotten".to_owned(),
    }
}

fn second(at_ms: i64) -> impl std::fmt::Display {
    local(at_ms).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// As the system knows them.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|key| std::env::var(key).ok());
    named.filter(|user| !user.is_empty()).map_or_else(|| "somebody".to_owned(), |user| name(&user))
}

fn told(forgotten: &Forgotten) -> String {
    let numbers = [(forgotten.calls, "call"), (forgotten.events, "event"), (forgotten.sessions, "session")];
    let [calls, events, sessions] = numbers.map(|(number, what)| count(number as u64, what));
    let traces = if forgotten.log_emptied {
        ""
    } else {
        " A program is reading the history right now; traces stay in its log until that program ends."
    };
    let stderr = if forgotten.stderr { ", and what was written to stderr" } else { "" };
    format!("Forgotten: {calls}, {events}, {sessions}{stderr}.{traces}")
}

/// `files: 12 calls and 3 events, 2026-11-01 10:12 to 2026-11-17 12:00`
fn lines(going: &[Removed]) -> Vec<String> {
    let minute = |at_ms: i64| local(at_ms).strftime("%Y-%m-%d %H:%M").to_string();
    let mut lines: Vec<String> = going
        .iter()
        .take(NAMED)
        .map(|one| {
            let server = if one.server.is_empty() { "no server".to_owned() } else { name(&one.server) };
            let (from, to) = (minute(one.from_ms), minute(one.to_ms));
            format!("{server}: {}, {from} to {to}", amount(one.calls, one.events))
        })
        .collect();
    if going.len() > NAMED {
        lines.push(format!("and {} more servers", going.len() - NAMED));
    }
    lines
}

fn amount(calls: u64, events: u64) -> String {
    match (calls, events) {
        (calls, 0) => count(calls, "call"),
        (0, events) => count(events, "event"),
        (calls, events) => format!("{} and {}", count(calls, "call"), count(events, "event")),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
#[path = "forget_tests.rs"]
mod tests;
