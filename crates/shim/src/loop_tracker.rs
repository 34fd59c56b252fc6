//! Tracker of loops: how often this session made the same call lately, and how often that had the same result in a row.
//!
//! What is known is small: digests of calls and results, and when they were, as many as the rules ask for. Nothing is looked at
//! while no policy of the session speaks of loops. A result that is very long counts as one that nothing else is equal to.

use std::collections::{BTreeMap, VecDeque};
use std::hash::Hasher as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_policy::{LoopRule, Refusal};
use callgate_protocol::digest::{Digest, digest};
use callgate_protocol::json::{Kind, Raw};
use callgate_protocol::message::Outcome as Reply;
use rustc_hash::{FxHashMap, FxHasher};

/// Arguments and results that are longer are not compared.
const MOST_BYTES: usize = 256 * 1024;
/// How many different calls are remembered, and how many that are under way: of more, the oldest are forgotten.
const MOST_CALLS: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct LoopTracker {
    /// A call was followed. Most sessions have none, and every answer asks this.
    used: AtomicBool,
    followed: Mutex<Followed>,
}

#[derive(Debug, Default)]
struct Followed {
    calls: FxHashMap<Digest, Run>,
    /// Those without an answer yet, by their numbers.
    under_way: BTreeMap<u64, Digest>,
}

/// The same call, as far as it was made lately.
#[derive(Debug)]
struct Run {
    made: VecDeque<Instant>,
    /// When it had the result that it had last, without another in between.
    same: VecDeque<Instant>,
    result: Option<u64>,
    /// No rule asks for more.
    most: usize,
    last: Instant,
}

/// What a call is known by; none of one that is too large to be followed.
fn key(tool: &str, args: Option<Raw<'_>>) -> Option<Digest> {
    let size = args.map_or(0, |args| args.text().len());
    (size <= MOST_BYTES).then(|| digest(tool, args))
}

impl LoopTracker {
    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rule by which this call is one too many, and what is said of it.
    pub(crate) fn objection<'p>(
        &self,
        (tool, args): (&str, Option<Raw<'_>>),
        rules: impl IntoIterator<Item = &'p LoopRule>,
    ) -> Option<(&'p LoopRule, Refusal)> {
        let mut rules = rules.into_iter().peekable();
        rules.peek()?;
        let key = key(tool, args)?;
        let followed = self.followed();
        let run = followed.calls.get(&key)?;
        let now = Instant::now();
        rules.find_map(|rule| {
            let reached = |times: &VecDeque<Instant>, most: Option<u32>| {
                let count = within(times, rule.window, now);
                most.filter(|most| count >= *most).map(|_| count)
            };
            let same = reached(&run.same, rule.same_result).map(|times| (times, true));
            let (times, same) = same.or_else(|| Some((reached(&run.made, rule.same_call)?, false)))?;
            Some((rule, rule.refusal(tool, times, same)))
        })
    }

    /// The call of this number is on its way.
    pub(crate) fn sent(&self, seq: u64, (tool, args): (&str, Option<Raw<'_>>), rules: &[&LoopRule]) {
        let Some(most) = rules.iter().map(|rule| rule.most() as usize).max() else { return };
        let Some(key) = key(tool, args) else { return };
        self.used.store(true, Ordering::Relaxed);
        let now = Instant::now();
        let mut followed = self.followed();
        let known = followed.calls.len();
        if known >= MOST_CALLS
            && !followed.calls.contains_key(&key)
            && let Some(oldest) = followed.calls.iter().min_by_key(|(_, run)| run.last).map(|(key, _)| *key)
        {
            followed.calls.remove(&oldest);
        }
        let run = followed.calls.entry(key).or_insert_with(|| Run {
            made: VecDeque::new(),
            same: VecDeque::new(),
            result: None,
            most,
            last: now,
        });
        (run.most, run.last) = (most, now);
        remember(&mut run.made, most, now);
        followed.under_way.insert(seq, key);
        if followed.under_way.len() > MOST_CALLS {
            followed.under_way.pop_first();
        }
    }

    /// This is what came of it.
    pub(crate) fn answered(&self, seq: u64, reply: Reply<'_>) {
        if !self.used.load(Ordering::Relaxed) {
            return;
        }
        let mut followed = self.followed();
        let Some(key) = followed.under_way.remove(&seq) else { return };
        let Some(run) = followed.calls.get_mut(&key) else { return };
        let result = fingerprint(reply);
        if result.is_none() || run.result != result {
            run.same.clear();
        }
        run.result = result;
        if result.is_some() {
            remember(&mut run.same, run.most, Instant::now());
        }
    }
}

fn remember(times: &mut VecDeque<Instant>, most: usize, now: Instant) {
    times.push_back(now);
    while times.len() > most {
        times.pop_front();
    }
}

fn within(times: &VecDeque<Instant>, window: Duration, now: Instant) -> u32 {
    let lately = times.iter().rev().take_while(|at| now.duration_since(**at) < window);
    u32::try_from(lately.count()).unwrap_or(u32::MAX)
}

/// Of what a model sees of an answer: beside it, in `_meta`, may stand a time or a number that is another each time.
fn fingerprint(reply: Reply<'_>) -> Option<u64> {
    let (said, kind) = match reply {
        Reply::Result(result) => (result, 0),
        Reply::Error(error) => (error, 1),
    };
    if said.text().len() > MOST_BYTES {
        return None;
    }
    let mut form = FxHasher::default();
    form.write_u8(kind);
    let mut put = |text: &str| {
        form.write_usize(text.len());
        form.write(text.as_bytes());
    };
    match said.kind() {
        Kind::Object => {
            for (name, value) in said.members().filter(|(name, _)| name != "_meta") {
                put(&name);
                put(value.text());
            }
        }
        _ => put(said.text()),
    }
    Some(form.finish())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests;
