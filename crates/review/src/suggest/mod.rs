//! A policy that would have been enough: drafted from what was called, each line with the count that justifies it.
//!
//! The draft is held against the history that it was drawn from before anybody sees it, and whatever in it would have
//! refused a call that was let through is taken out again, but for what a person is to be asked about. So a rule that a file system or a later version of the
//! language reads otherwise than it was meant cannot end in the draft. Only tools whose every call failed are left out.

mod draft;
mod peaks;
mod usage;
mod values;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;

use callgate_history::{History, Replay};
use callgate_policy::{Files, Policy};

use crate::error::ReviewError;
use crate::rejudging::{ReplayedRow, judge_again};
use crate::words::{DAY_MS, counted, lately, period};
use draft::{Asking, Draft};
use usage::Usage;

/// How much room a cap leaves above the busiest time that was seen.
pub const MARGIN: u32 = 2;
/// Below these a draft says that it knows too little.
const ENOUGH_CALLS: u64 = 50;
const ENOUGH_DAYS: usize = 3;
/// Each round takes out whatever the last one found; what is left then cannot be mended by taking out.
const ROUNDS: usize = 8;
/// Rules that are remembered as refusing in one round.
const OBJECTIONS: usize = 10_000;

/// What is to be drafted.
#[derive(Clone, Copy)]
pub struct SuggestionRequest<'a> {
    pub server: &'a str,
    pub since_ms: i64,
    pub now_ms: i64,
    /// [`MARGIN`], or as a person likes it; at least 1.
    pub margin: u32,
    /// The names of the tools that the server lists, if they are known.
    pub catalogue: Option<&'a [String]>,
    /// Tools that a person should be asked about, however often they were used.
    pub asks: &'a BTreeMap<String, AskRule>,
    pub files: &'a dyn Files,
}

impl fmt::Debug for SuggestionRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuggestionRequest")
            .field("server", &self.server)
            .field("since_ms", &self.since_ms)
            .finish_non_exhaustive()
    }
}

/// How a tool is asked about, as part of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRule {
    /// `"action": "ask"`, or the conditions under which it is.
    pub json: String,
    pub words: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// A policy file with comments.
    pub text: String,
    /// Calls that were let through, which it is drawn from.
    pub calls: u64,
    /// Was there enough to go on?
    pub enough: bool,
    /// What it was drawn from, and whether that was enough; said in the text as well.
    pub head: Vec<String>,
    /// What a person should know about it; said in the text as well.
    pub notes: Vec<String>,
    /// What it says, rule by rule.
    pub rules: Vec<ProposedRule>,
}

/// One rule of a draft in words, with the count behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedRule {
    /// The tool that it is about; none: what counts for all others.
    pub tool: Option<String>,
    pub words: String,
    pub why: String,
}

/// Drafts a policy that lets through what was let through, and as little else as can be said in a few lines.
pub fn suggest(history: &History, wish: &SuggestionRequest<'_>) -> Result<Suggestion, ReviewError> {
    let mut seen = Usage::default();
    let which = Replay { server: wish.server, since_ms: wish.since_ms, until_ms: i64::MAX, args: true };
    history.replay(&which, |call| {
        seen.call(&call);
        ControlFlow::Continue(())
    })?;
    // "0 calls in 7 days" must not be said of a server that is known since yesterday.
    let from_ms = seen.first_ms.or((wish.since_ms > 0).then_some(wish.since_ms)).unwrap_or(wish.now_ms);
    let length_ms = wish.now_ms.saturating_sub(from_ms);
    let span = period(length_ms);
    let enough = seen.calls >= ENOUGH_CALLS && seen.days.len() >= ENOUGH_DAYS;
    let mut draft = Draft::new(&seen, wish, &span);
    draft.head = head(&seen, &lately("in", length_ms), enough);
    let mut stuck = BTreeSet::new();
    // What is asked about is judged as if it were not: the rest of its rule must not refuse anything either.
    let mut text = draft.render(Asking::Left);
    let failed: BTreeSet<&str> =
        seen.tools.iter().filter(|(_, tool)| tool.only_failed()).map(|(name, _)| name.as_str()).collect();
    for _ in 0..ROUNDS {
        let objections = objections(history, wish, &text, &failed)?;
        let (taken_out, left): (BTreeSet<_>, BTreeSet<_>) =
            objections.into_iter().partition(|rule| draft.without(rule));
        draft.settle();
        stuck = left;
        if taken_out.is_empty() {
            break;
        }
        text = draft.render(Asking::Left);
    }
    text = draft.render(Asking::Said);
    if Policy::parse(&text).is_err() {
        draft.bare();
        draft.note(
            "no rules beside the names of the tools: the language cannot say what was drawn from the calls"
                .to_owned(),
        );
        text = draft.render(Asking::Said);
    }
    for rule in &stuck {
        draft.note(format!(
            "calls that were let through would be refused by {}: this draft cannot allow them",
            plain(rule)
        ));
    }
    if !stuck.is_empty() {
        text = draft.render(Asking::Said);
    }
    let (head, notes, rules) = (draft.head.clone(), draft.notes().to_vec(), draft.rules());
    Ok(Suggestion { text, calls: seen.calls, enough, head, notes, rules })
}

/// The rules of a draft that refuse something that was let through, or that cannot be read. Tools that only `failed` are
/// left out on purpose.
fn objections(
    history: &History,
    wish: &SuggestionRequest<'_>,
    text: &str,
    failed: &BTreeSet<&str>,
) -> Result<BTreeSet<String>, ReviewError> {
    let mut found = BTreeSet::new();
    let policy = match Policy::parse(text) {
        Ok(policy) => policy,
        Err(report) => return Ok(report.problems.into_iter().map(|problem| problem.pointer).collect()),
    };
    judge_again(history, &policy, wish.server, wish.since_ms, wish.files, |row| {
        if let ReplayedRow::Judged(judged) = row
            && judged.was_let_through()
            && judged.ruling.refuses()
            && !failed.contains(judged.about())
            && found.len() < OBJECTIONS
            && !found.contains(judged.rule)
        {
            found.insert(judged.rule.to_owned());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn head(seen: &Usage, lately: &str, enough: bool) -> Vec<String> {
    let mut head = vec![format!(
        "Drafted from {} of {} by {} {lately}. Read it before you use it.",
        counted(seen.calls, "call"),
        counted(seen.tools.values().filter(|tool| tool.is_used()).count() as u64, "tool"),
        counted(seen.clients.len() as u64, "client"),
    )];
    if !enough {
        head.push(format!(
            "Too little to go on: {} on {}. Rules drawn from so little refuse ordinary work; watch for longer first.",
            counted(seen.calls, "call"),
            counted(seen.days.len() as u64, "day"),
        ));
    }
    head
}

/// A text from outside, fit for a comment.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')).take(120).collect()
}

/// Which day a time is in.
fn day(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}
