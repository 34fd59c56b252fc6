//! A policy that cannot be used: what becomes of calls meanwhile, and the way back to its newest version on record.

use callgate_history::History;
use callgate_home::{DEFAULT_SERVER, Home, running};
use callgate_policy::{Policy, edit};

use super::present;
use crate::change::{self, Present, kept_text};
use crate::text::count;
use crate::view::{Answer, BrokenPolicy, Done};
use crate::{Desk, DeskError};

/// The newest version on record. What is broken is never on record, so this one was in force.
struct LastGood {
    at_ms: i64,
    text: String,
}

fn find(history: &History, server: &str) -> Result<Option<LastGood>, DeskError> {
    let Some(newest) = history.timeline(server)?.pop() else { return Ok(None) };
    // Its text may be forgotten by now.
    let Ok(text) = kept_text(history, server, &newest.version) else { return Ok(None) };
    Ok(Policy::parse(&text).is_ok().then_some(LastGood { at_ms: newest.at_ms, text }))
}

/// Whose policy counts for a server: its own, else the default one.
fn whose<'s>(home: &Home, server: &'s str) -> &'s str {
    if home.policy(server).exists() { server } else { DEFAULT_SERVER }
}

pub(super) fn told(desk: &Desk, history: &History, server: &str) -> Result<BrokenPolicy, DeskError> {
    let is_its = |found: &str| match server {
        DEFAULT_SERVER => !desk.home.policy(found).exists(),
        server => found == server,
    };
    let sessions: Vec<bool> = running(&desk.home)
        .into_iter()
        .filter(|lease| is_its(&lease.server))
        .map(|lease| lease.policy_version.is_some())
        .collect();
    let keeping = sessions.iter().filter(|keeps| **keeps).count();
    Ok(BrokenPolicy {
        words: words(sessions.len(), keeping),
        last_good_ms: find(history, whose(&desk.home, server))?.map(|good| good.at_ms),
    })
}

/// A gate goes on with the last policy that it could use; one that never had any refuses everything.
fn words(sessions: usize, keeping: usize) -> String {
    let shown = |number: usize| count(number as u64, "running session");
    match (sessions, keeping) {
        (0, _) => {
            "Nothing runs on it now. Sessions that start refuse every call until it is mended.".to_owned()
        }
        (_, 0) => "Every call is refused until it is mended.".to_owned(),
        (all, keeping) if all == keeping => {
            let keep = if all == 1 { "keeps" } else { "keep" };
            format!(
                "{} {keep} the last good version. Sessions that start now refuse every call until it is mended.",
                shown(all)
            )
        }
        (all, keeping) => format!(
            "{keeping} of {} keep the last good version. The others, and those that start now, refuse every call until it is mended.",
            shown(all)
        ),
    }
}

impl Desk {
    /// Puts the newest version on record back in the place of a policy that cannot be used. That refuses everything, so this
    /// loosens.
    pub(crate) fn ask_for_last_good(&self, server: &str) -> Result<Answer, DeskError> {
        let held = change::lock(&self.home)?;
        // A policy of its own in place of the broken default one would leave the others without any.
        let server = whose(&self.home, server);
        let rules = present::described(server);
        let present = Present::read(&self.home, server)?;
        if present.policy().is_ok() {
            let words = format!("Nothing to change: {rules} can be used");
            return Ok(Answer::Done(Done::said(words, Some(server))));
        }
        let (none, whom) = match server {
            DEFAULT_SERVER => (
                "; callgate policy default --restore puts back the one that Callgate ships",
                " It counts for every server without a policy of its own.",
            ),
            _ => ("", ""),
        };
        let good = find(&History::open_reader(&self.home)?, server)?.ok_or_else(|| {
            DeskError::NotFound(format!("no version of {rules} is on record that could be put back{none}"))
        })?;
        let edited = edit::replace(present.text(), &good.text)?;
        let change = present.rewritten(edited);
        drop(held);
        let words =
            format!("Put the last good version of {rules} back? What the file says now is replaced.{whom}");
        self.ask_to_change(change, words, format!("Put the last good version of {rules} back"))
            .map(Answer::Ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_calls_is_said_as_it_is() {
        let cases = [
            ((0, 0), "Nothing runs on it now"),
            ((2, 0), "Every call is refused until"),
            ((1, 1), "1 running session keeps the last good version. Sessions that start now refuse"),
            ((3, 3), "3 running sessions keep the last good version. Sessions that start now refuse"),
            ((3, 1), "1 of 3 running sessions keep the last good version. The others"),
        ];
        for ((sessions, keeping), begins) in cases {
            let words = words(sessions, keeping);
            assert!(words.starts_with(begins), "{words}");
        }
    }
}
