//! Every recorded call judged once more, by one policy, with its limits counted as they would have been.
//!
//! The policy is taken to be in force from the first replayed call on, with empty counters; a call counts only if it
//! passes. Calls to other servers are not known here, so a counter that is shared with them counts this server's share.
//! The wall clock of the record is all the time there is: sessions counted with a clock that nobody can set.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::Duration;

use callgate_controls::counters::{Counters, key};
use callgate_history::{History, Lack, Replay, Replayed};
use callgate_home::StoreError;
use callgate_journal::{Decision, Outcome};
use callgate_policy::{
    Call, Circumstances, Files, Judgement, Kind, Limit, LoopRule, Pass, Policy, Scope, Taking, Waived,
};
use callgate_protocol::json::Raw;

use crate::partial_calls::{Known, decides, is_masked};
use crate::recordings::Sessions;
use crate::ruling::Ruling;

/// What lets requests through that the policy says nothing about.
const UNRULED: &str = "/other_methods";
const HOME_RULE: &str = "(callgate home)";

/// A recorded call and what the policy says about it.
#[derive(Debug)]
pub struct Judged<'a> {
    pub call: &'a Replayed<'a>,
    pub ruling: Ruling,
    /// The rule that decides: a JSON pointer, or a built-in rule in brackets.
    pub rule: &'a str,
    /// The tool's own schema has a say as well, and it is not asked here.
    pub unchecked: bool,
    reason: Reason<'a>,
}

#[derive(Debug)]
enum Reason<'a> {
    None,
    Said(&'a str),
    Full(&'a Limit),
}

impl<'a> Judged<'a> {
    /// `rule` is the one that cannot be asked.
    fn untold(call: &'a Replayed<'a>, rule: &'a str) -> Judged<'a> {
        let reason = Reason::Said("what it depends on was not kept");
        Judged { call, ruling: Ruling::Untold, rule, unchecked: false, reason }
    }

    /// The tool; for other requests the method.
    pub fn about(&self) -> &'a str {
        match self.call.method {
            "tools/call" => self.call.tool,
            method => method,
        }
    }

    /// Did it get to its server when it was made?
    pub fn was_let_through(&self) -> bool {
        let_through(self.call.decision)
    }

    /// Why it is refused or would be; empty when it passes.
    pub fn reason(&self) -> Cow<'_, str> {
        match &self.reason {
            Reason::None => Cow::Borrowed(""),
            Reason::Said(reason) => Cow::Borrowed(reason),
            Reason::Full(limit) => Cow::Owned(limit.refusal(self.call.tool)),
        }
    }
}

pub(crate) fn let_through(decision: Decision) -> bool {
    !decision.is_refused()
}

/// Was it a rule that decided about this call?
pub(crate) fn was_judged(decision: Decision) -> bool {
    !matches!(decision, Decision::Malformed | Decision::Broken | Decision::Unrecorded | Decision::Paused)
}

/// A row of the history on its way.
#[derive(Clone, Copy, Debug)]
pub enum ReplayedRow<'a> {
    Judged(&'a Judged<'a>),
    /// No rule decided about it.
    LeftOut(&'a Replayed<'a>),
}

/// Goes through the calls of a server since a time, in their order.
pub fn judge_again(
    history: &History,
    policy: &Policy,
    server: &str,
    since_ms: i64,
    files: &dyn Files,
    mut each: impl FnMut(ReplayedRow<'_>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let mut again = Again::new(history, policy, server, files);
    let which = Replay { server, since_ms, until_ms: i64::MAX, args: true };
    history.replay(&which, |call| match was_judged(call.decision) {
        true => again.judge(&call, &mut |judged| each(ReplayedRow::Judged(judged))),
        false => each(ReplayedRow::LeftOut(&call)),
    })?;
    again.failed.map_or(Ok(()), Err)
}

/// A row of the history on its way past two policies.
pub(crate) enum RowOfTwo<'a> {
    Judged(&'a Judged<'a>, &'a Judged<'a>),
    /// No rule decided about it.
    LeftOut(&'a Replayed<'a>),
}

/// The same with two policies, each of which counts for itself: the history is read once.
pub(crate) fn judge_by_both(
    history: &History,
    policies: (&Policy, &Policy),
    server: &str,
    since_ms: i64,
    files: &dyn Files,
    mut each: impl FnMut(RowOfTwo<'_>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let mut one = Again::new(history, policies.0, server, files);
    let mut other = Again::new(history, policies.1, server, files);
    let which = Replay { server, since_ms, until_ms: i64::MAX, args: true };
    history.replay(&which, |call| match was_judged(call.decision) {
        true => one.judge(&call, &mut |by_one| {
            other.judge(&call, &mut |by_other| each(RowOfTwo::Judged(by_one, by_other)))
        }),
        false => each(RowOfTwo::LeftOut(&call)),
    })?;
    one.failed.or(other.failed).map_or(Ok(()), Err)
}

struct Again<'a> {
    policy: &'a Policy,
    files: &'a dyn Files,
    server: &'a str,
    counters: Counters,
    /// When calls that count while they run will end.
    awaited: BinaryHeap<Reverse<(i64, u64, End)>>,
    sessions: Sessions,
    history: &'a History,
    /// Why it was broken off.
    failed: Option<StoreError>,
}

/// How a call stops counting as under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The client gave it up; the server may still be at it.
    Cancelled,
    Over,
}

impl<'a> Again<'a> {
    fn new(history: &'a History, policy: &'a Policy, server: &'a str, files: &'a dyn Files) -> Again<'a> {
        let counters = Counters::for_limits(policy.all_limits());
        let (sessions, awaited) = (Sessions::default(), BinaryHeap::new());
        Again { policy, files, server, counters, awaited, sessions, history, failed: None }
    }

    fn judge(
        &mut self,
        call: &Replayed<'_>,
        each: &mut impl FnMut(&Judged<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.pass_time(call.at_ms);
        let known = Known::of(call);
        let args = known.text.as_deref().map(Raw::parse).transpose();
        // Whole arguments that cannot be read are a damaged record.
        let (args, lack) = match args {
            Ok(args) => (args, known.lack),
            Err(_) => (None, Some(known.lack.unwrap_or(Lack::Cut))),
        };
        let asked = match call.method {
            "tools/call" => Call::tool(call.client, call.tool, args),
            method => Call::method(call.client, method, args),
        };
        let recordings = self.sessions.seen_by(call.session_key);
        let circumstances = Circumstances {
            now_ms: call.at_ms,
            files: self.files,
            recordings: &recordings,
            waived: Waived::Nothing,
        };
        let judgement = self.policy.judge(&asked, &circumstances);
        let unknown_session = recordings.was_untold();
        let refused_by = match &judgement {
            Judgement::Refuse(refusal) => Some(refusal.rule.as_str()),
            Judgement::Pass(pass) => pass.would.as_ref().map(|would| would.rule.as_str()),
        };
        let untold = match lack {
            _ if call.method == "tools/call" && is_masked(call.tool) => Some("(masked name)"),
            // No rule speaks of such requests, whatever they ask for.
            _ if matches!(&judgement, Judgement::Pass(pass) if pass.rule == UNRULED && pass.would.is_none()) => {
                None
            }
            Some(lack) => decides(self.policy, call, args, lack, refused_by),
            None if unknown_session => Some("/codegen"),
            None => None,
        };
        let stays = match &judgement {
            Judgement::Pass(_) => true,
            Judgement::Refuse(_) => untold.is_some(),
        };
        if stays
            && let_through(call.decision)
            && let Err(error) = self.sessions.passed(self.history, call)
        {
            self.failed = Some(error);
            return ControlFlow::Break(());
        }
        match (judgement, untold) {
            (judgement, Some(rule)) => {
                self.count_as_then(call, &judgement);
                each(&Judged::untold(call, rule))
            }
            (Judgement::Refuse(refusal), None) => each(&Judged {
                call,
                ruling: refusal.kind.into(),
                rule: &refusal.rule,
                unchecked: false,
                reason: Reason::Said(&refusal.reason),
            }),
            // The guard of Callgate's own folder is no matter of policy, and it saw the arguments whole.
            (Judgement::Pass(_), None) if call.rule == HOME_RULE && !let_through(call.decision) => {
                each(&Judged {
                    call,
                    ruling: Ruling::Denied,
                    rule: HOME_RULE,
                    unchecked: false,
                    reason: Reason::Said("the arguments name Callgate's own folder"),
                })
            }
            (Judgement::Pass(pass), None) => each(&self.passed(call, &pass)),
        }
    }

    /// What cannot be told is taken to have gone as it did: let through and counted, or neither. An amount that was not
    /// kept is not counted.
    fn count_as_then(&mut self, call: &Replayed<'_>, judgement: &Judgement<'_>) {
        if !let_through(call.decision) {
            return;
        }
        match judgement {
            Judgement::Pass(pass) => drop(self.count(call, &pass.limits, true)),
            Judgement::Refuse(_) => {
                let limits = self.policy.limits(call.client, call.tool, call.at_ms).into_iter();
                let counted = limits.filter(|limit| !matches!(limit.kind, Kind::Sum { .. }));
                let takings: Vec<Taking<'_>> = counted.map(|limit| Taking { limit, amount: 1 }).collect();
                self.count(call, &takings, true);
            }
        }
    }

    /// A call that the rules let through: by its schema, as far as the record tells, and by its limits.
    fn passed<'c>(&mut self, call: &'c Replayed<'c>, pass: &'c Pass<'_>) -> Judged<'c>
    where
        'a: 'c,
    {
        let mut judged = Judged {
            call,
            ruling: Ruling::Passed,
            rule: pass.rule,
            unchecked: pass.validate.is_some(),
            reason: Reason::None,
        };
        if let Some(would) = &pass.would {
            (judged.ruling, judged.rule) = (Ruling::Observed, &would.rule);
            judged.reason = Reason::Said(&would.reason);
        } else if let Some(schema) = pass.validate.filter(|schema| *schema == call.rule) {
            // What the schema refused then, it refuses now.
            judged.ruling = if pass.observing { Ruling::Observed } else { Ruling::Denied };
            judged.rule = schema;
            judged.reason = Reason::Said("the arguments do not fit the tool's schema");
            if !pass.observing {
                return judged;
            }
        } else if let Some(rule) = self.loop_then(call) {
            // What was a loop then is one now: the results of calls are not replayed.
            let watched = pass.observing || rule.only_reports(self.policy);
            judged.ruling = if watched { Ruling::Observed } else { Ruling::Denied };
            judged.rule = &rule.pointer;
            judged.reason = Reason::Said("the same call had had the same result too often");
            if !watched {
                return judged;
            }
        }
        if let Some(limit) = self.count(call, &pass.limits, pass.observing) {
            if !pass.observing {
                (judged.ruling, judged.rule, judged.reason) =
                    (Ruling::Capped, &limit.pointer, Reason::Full(limit));
            } else if judged.ruling == Ruling::Passed {
                (judged.ruling, judged.rule, judged.reason) =
                    (Ruling::Observed, &limit.pointer, Reason::Full(limit));
            }
        }
        judged
    }

    /// The rule by which the call was a loop when it was made, if it is still there.
    fn loop_then(&self, call: &Replayed<'_>) -> Option<&'a LoopRule> {
        let rules = self.policy.loops(call.client, call.tool, call.at_ms).into_iter();
        rules.filter(|_| call.method == "tools/call").find(|rule| rule.pointer == call.rule)
    }

    /// Takes all limits or none, as a session does: its own counters are asked first.
    fn count<'p>(
        &mut self,
        call: &Replayed<'_>,
        takings: &[Taking<'p>],
        observing: bool,
    ) -> Option<&'p Limit> {
        if takings.is_empty() {
            return None;
        }
        let number = call.rev.cast_unsigned();
        // Not its name, which may come again.
        let session = call.session_key.to_string();
        let keys: Vec<String> =
            takings.iter().map(|taking| key(taking.limit, call.client, self.server, &session)).collect();
        let is_full = |index: &usize| {
            let taking = Taking { amount: amount(takings, &keys, *index), ..takings[*index] };
            self.counters.full(&keys[*index], &taking, call.at_ms).is_some()
        };
        let own = |index: &usize| takings[*index].limit.scope == Scope::Session;
        let full = match observing {
            true => (0..takings.len()).find(is_full),
            false => {
                let shared = |index: &usize| !own(index);
                (0..takings.len()).filter(own).chain((0..takings.len()).filter(shared)).find(is_full)
            }
        };
        let full = full.map(|index| takings[index].limit);
        if full.is_some() && !observing {
            return full;
        }
        for (taking, key) in takings.iter().zip(&keys) {
            self.counters.take(key, taking, call.at_ms, number);
        }
        if takings.iter().any(|taking| taking.limit.kind == Kind::Concurrent) {
            self.awaited.extend(ends(call).map(Reverse));
        }
        full
    }

    /// Lets happen what was to happen by now.
    fn pass_time(&mut self, now_ms: i64) {
        while let Some(Reverse((at_ms, call, end))) =
            self.awaited.peek().copied().filter(|next| next.0.0 <= now_ms)
        {
            self.awaited.pop();
            match end {
                End::Cancelled => self.counters.cancelled(call, at_ms),
                End::Over => self.counters.release(call),
            }
        }
    }
}

/// A counter that two limits of a call name takes the larger of their amounts, once.
fn amount(takings: &[Taking<'_>], keys: &[String], index: usize) -> u64 {
    let same = takings.iter().zip(keys).filter(|(_, key)| **key == keys[index]);
    same.map(|(taking, _)| taking.amount).max().unwrap_or(takings[index].amount)
}

/// When a call was given up or over: at once if it was refused then, for nothing is known of a run that there never was.
/// One whose end nobody saw is over with its session, and runs as long as that goes on.
fn ends(call: &Replayed<'_>) -> impl Iterator<Item = (i64, u64, End)> {
    let number = call.rev.cast_unsigned();
    let took = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let known = call.outcome.filter(|outcome| *outcome != Outcome::Unknown).zip(call.duration);
    let seen = known.map(|(outcome, duration)| {
        let end = if outcome.is_given_up() { End::Cancelled } else { End::Over };
        (call.at_ms.saturating_add(took(duration)), number, end)
    });
    let own = match let_through(call.decision) {
        true => seen,
        false => Some((call.at_ms, number, End::Over)),
    };
    let with_session = call.session_end_ms.map(|ended| (ended, number, End::Over));
    // The end of the session matters only to a call that did not end by itself.
    let needed = own.is_none_or(|(.., end)| end == End::Cancelled);
    own.into_iter().chain(with_session.filter(|_| needed))
}
