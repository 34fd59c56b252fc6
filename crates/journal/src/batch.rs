//! The client thread's way into the record: a group of lines is judged, recorded with one append, and only then
//! can the bytes for the server be had.

use std::ops::Range;
use std::time::Instant;

use callgate_controls::limits::{Capped, Counted, NotTaken};
use callgate_home::clock::Moment;
use callgate_home::{CallId, SessionId, StoreError, failpoint};
use callgate_policy::{Keep, Kind, Taking};
use callgate_protocol::json::Raw;
use callgate_redaction::RedactedText;

use crate::Decision;
use crate::journal::{Shared, lock};
use crate::keep;
use crate::spool::record::{CallRecord, DecisionRecord, Mark, Record, RecordedBody};
use crate::spool::writer::Group;

/// A call that may go to the server if its limits and the disk allow it. Texts that a message does not have are
/// empty.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    pub method: &'a str,
    /// The tool, or what stands in its place for another method.
    pub tool: &'a str,
    /// Exactly as received.
    pub rpc_id: &'a str,
    pub args: Option<Raw<'a>>,
    pub client: &'a str,
    /// The rule that let it through.
    pub rule: &'a str,
    /// The policy's version.
    pub policy: &'a str,
    pub keep: Keep,
    /// Nothing is refused: a limit that is full is noted, and counted above its maximum.
    pub observing: bool,
    /// The rule and reason that would have refused it, were they not only observed.
    pub would: Option<(&'a str, &'a str)>,
    /// The id of the allowance or the approval that lets it through and is used up by it.
    pub spend: Option<&'a str>,
    /// What is said of that.
    pub reason: &'a str,
    /// Its row, if it was asked about.
    pub asked: Option<CallRef>,
}

/// The row of a call or another message, whatever was decided about it. Texts that it does not have are empty.
#[derive(Clone, Copy, Debug)]
pub struct CallEntry<'a> {
    pub decision: Decision,
    pub method: &'a str,
    pub tool: &'a str,
    pub rpc_id: &'a str,
    pub args: Option<Raw<'a>>,
    pub client: &'a str,
    pub rule: &'a str,
    pub reason: &'a str,
    pub policy: &'a str,
    pub keep: Keep,
    /// What an exact repetition of the call has too.
    pub digest: Option<[u8; 32]>,
}

impl Default for CallEntry<'_> {
    fn default() -> Self {
        CallEntry {
            decision: Decision::Malformed,
            method: "",
            tool: "",
            rpc_id: "",
            args: None,
            client: "",
            rule: "",
            reason: "",
            policy: "",
            keep: Keep::Full,
            digest: None,
        }
    }
}

impl<'a> CallEntry<'a> {
    /// The tool, or what stands in its place; not if that is an argument and those are not kept.
    fn subject(&self) -> &'a str {
        if self.keep == Keep::Full || self.is_named() { self.tool } else { "" }
    }

    /// What stands in the tool's place is a name, and no argument.
    fn is_named(&self) -> bool {
        matches!(self.method, "tools/call" | "prompts/get")
    }
}

/// A call on record.
#[derive(Clone, Copy, Debug)]
pub struct CallRef {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    pub(crate) started: Instant,
    /// It holds places of limits on calls under way, which its end gives back.
    pub(crate) holds: bool,
    pub(crate) keep: Keep,
}

impl CallRef {
    pub fn id(&self) -> CallId {
        self.session.call(self.seq)
    }

    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What its duration counts from; of a call that nobody was asked about, the moment that its row tells.
    pub fn started(&self) -> Instant {
        self.started
    }
}

/// Why a call may not go to the server.
#[derive(Debug)]
pub enum NotAdmitted {
    Capped(Capped),
    /// Its allowance was good for one call, and that was made.
    Spent,
    /// Its counters could not be read or written.
    Store(StoreError),
}

/// What a call's record says beside the message.
#[derive(Clone, Copy, Debug)]
struct RecordEntry {
    seq: u64,
    run: u32,
    at_ms: i64,
    holds: bool,
}

/// One group of lines on its way.
#[derive(Debug)]
pub struct Batch<'j> {
    shared: &'j Shared,
    now: Moment,
    started: Instant,
    run: Option<u32>,
    group: Group,
    records: u64,
    /// A number that was drawn for a call which its limits then refused.
    spare: Option<u64>,
    /// The allowance by which calls are only observed, if it is one.
    under: Option<String>,
    lines: Vec<u8>,
    staged: Vec<(CallRef, Range<usize>)>,
}

/// What may now be forwarded.
#[derive(Debug)]
pub struct Commit {
    pub admitted: Admitted,
    /// Calls whose record failed: their lines are not in `admitted`, and each needs an answer.
    pub unrecorded: Vec<(CallRef, StoreError)>,
    /// Why nothing of the group is on record, if so.
    pub error: Option<StoreError>,
}

/// Lines that were judged and are on record: what the server's pipe accepts.
#[derive(Debug)]
pub struct Admitted {
    lines: Vec<u8>,
}

impl Admitted {
    /// Whole lines, each with its LF.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The same, for a pipe that keeps them until they are written.
    pub fn into_lines(self) -> Vec<u8> {
        self.lines
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl<'j> Batch<'j> {
    pub(crate) fn new(shared: &'j Shared) -> Self {
        Batch {
            shared,
            now: shared.clock.now(),
            started: Instant::now(),
            run: None,
            group: shared.group(),
            records: 0,
            spare: None,
            under: None,
            lines: Vec::new(),
            staged: Vec::new(),
        }
    }

    /// When this group was read.
    pub fn now(&self) -> &Moment {
        &self.now
    }

    /// A line that is not a call.
    pub fn pass(&mut self, line: &[u8]) {
        self.lines.reserve(line.len() + 1);
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
    }

    /// Calls that are only observed from here on are so by this allowance, as the record names it, and not by the policy.
    pub fn observe_under(&mut self, allowance: Option<String>) {
        self.under = allowance;
    }

    /// Takes the call's limits and stages its record and its line. Nothing that was taken is given back, but for the
    /// places of limits on calls under way.
    pub fn admit(
        &mut self,
        intent: Intent<'_>,
        limits: &[Taking<'_>],
        line: &[u8],
    ) -> Result<CallRef, NotAdmitted> {
        let run = self.run();
        let seq = intent.asked.map_or_else(|| self.number(), |call| call.seq);
        let holds = limits.iter().any(|taking| taking.limit.kind == Kind::Concurrent);
        let mut entry = RecordEntry { seq, run, at_ms: self.now.wall_ms, holds };
        let mut over = None;
        if !limits.is_empty() || intent.spend.is_some() {
            let call =
                Counted { client: intent.client, seq, observing: intent.observing, spend: intent.spend };
            let taken = lock(&self.shared.limits).take(call, limits).map_err(|refused| {
                if intent.asked.is_none() {
                    self.spare = Some(seq);
                }
                match refused {
                    NotTaken::Capped(capped) => NotAdmitted::Capped(capped),
                    NotTaken::Spent => NotAdmitted::Spent,
                    NotTaken::Store(error) => NotAdmitted::Store(error),
                }
            })?;
            // When it counted: whoever replays the record sees the times that mattered.
            entry.at_ms = taken.at.wall_ms;
            over = taken.over.map(|over| limits[over].limit);
        }
        let words;
        let (decision, rule, reason) = match (intent.would, over) {
            (Some((rule, reason)), _) => (Decision::WouldDeny, rule, reason),
            // What a person has allowed in spite of its limits is simply allowed.
            (None, Some(limit)) if intent.spend.is_none() => {
                words = limit.refusal(intent.tool);
                (Decision::WouldDeny, limit.pointer.as_str(), words.as_str())
            }
            (None, _) => (Decision::Allowed, intent.rule, intent.reason),
        };
        // Who looks for what an allowance let through looks for its name; what stood in the way is told with it.
        let told;
        let under = self.under.clone();
        let (rule, reason) = match &under {
            Some(under) if decision == Decision::WouldDeny => {
                told = format!("{reason} ({rule})");
                (under.as_str(), told.as_str())
            }
            _ => (rule, reason),
        };
        let row = CallEntry {
            decision,
            method: intent.method,
            tool: intent.tool,
            rpc_id: intent.rpc_id,
            args: intent.args,
            client: intent.client,
            rule,
            reason,
            policy: intent.policy,
            keep: intent.keep,
            digest: None,
        };
        let call = match intent.asked {
            // The time that a person took is not the call's.
            Some(call) => CallRef { holds, started: self.started, ..self.decide(&call, &row) },
            None => self.record(entry, &row),
        };
        let start = self.lines.len();
        self.pass(line);
        self.staged.push((call, start..self.lines.len()));
        failpoint::reach("admit.staged");
        Ok(call)
    }

    /// A refused or malformed message: one row, no line.
    pub fn refuse(&mut self, refused: CallEntry<'_>) -> CallRef {
        let run = self.run();
        let entry = RecordEntry { seq: self.number(), run, at_ms: self.now.wall_ms, holds: false };
        self.record(entry, &refused)
    }

    /// What was decided about a call that was asked about, and has its row.
    pub fn decide(&mut self, call: &CallRef, decided: &CallEntry<'_>) -> CallRef {
        let keep = decided.keep.max(call.keep);
        let masker = &self.shared.masker;
        let said = match keep {
            Keep::Full => decided.reason.into(),
            Keep::Keys | Keep::Nothing => keep::without_values(decided.reason, decided.args),
        };
        let reason = masker.keep_text_of(call.seq, &said);
        self.group.push(&Record::Decided(DecisionRecord {
            seq: call.seq,
            decision: decided.decision,
            policy: short(decided.policy),
            rule: short(decided.rule),
            reason: &reason,
        }));
        self.records += 1;
        CallRef { keep, ..*call }
    }

    /// Asked before a number is drawn: the first call of all starts no new run.
    fn run(&mut self) -> u32 {
        *self.run.get_or_insert_with(|| self.shared.run_at(&self.now))
    }

    fn number(&mut self) -> u64 {
        self.spare.take().unwrap_or_else(|| self.shared.number())
    }

    fn record(&mut self, entry: RecordEntry, call: &CallEntry<'_>) -> CallRef {
        let RecordEntry { seq, run, at_ms, holds } = entry;
        let call = &CallEntry { keep: call.keep.max(self.shared.keep), ..*call };
        let private = call.keep != Keep::Full;
        let text = call.args.map(Raw::text);
        let masker = &self.shared.masker;
        // What is not kept is in the server's log all the same, or in another call.
        text.filter(|_| private).into_iter().for_each(|text| masker.hear_arguments(seq, text));
        let names = call.args.filter(|_| call.keep == Keep::Keys).map(keep::names);
        let kept = match (&names, call.keep) {
            (Some((names, cut)), _) => {
                let kept = masker.keep(names);
                Some(RedactedText { cut: *cut || kept.cut, ..kept })
            }
            (None, Keep::Full) => text.map(|text| masker.keep_arguments(seq, text)),
            (None, _) => None,
        };
        let masked = |text| masker.keep_text_of(seq, text);
        // What stands in a tool's place may be a URI with a password, and an id may be any text. Masked before they are
        // shortened: half a secret is not recognised.
        let tool = if call.is_named() { masker.keep_name(call.tool) } else { masked(call.subject()) };
        let rpc_id = masked(call.rpc_id);
        let (method, client) = (masker.keep_name(call.method), masker.keep_name(call.client));
        // Nobody knows what a value looks like that only its name makes secret: then no sentence repeats any.
        let telling = masker.has_names() && kept.as_ref().is_some_and(|kept| kept.masked);
        // A cap's sentence is made of the policy alone; its numbers may be those of an argument by chance.
        let repeats = call.decision != Decision::Capped || !call.is_named();
        let said = match (private || telling) && repeats {
            true => keep::without_values(call.reason, call.args),
            false => call.reason.into(),
        };
        let reason = masked(&said);
        let record = CallRecord {
            seq,
            run,
            at_ms,
            decision: call.decision,
            method: short(&method),
            tool: short(&tool),
            rpc_id: short(&rpc_id),
            client: short(&client),
            policy: short(call.policy),
            rule: short(call.rule),
            reason: &reason,
            args: text.map(|text| {
                kept.as_ref().map_or(RecordedBody::size_of(text), |kept| RecordedBody::of(kept, text))
            }),
        };
        let mark = Mark { withheld: private, digest: call.digest };
        self.group.push(&match mark == Mark::default() {
            true => Record::Call(record),
            false => Record::MarkedCall { call: record, mark },
        });
        self.records += 1;
        CallRef { session: self.shared.session, seq, started: self.started, holds, keep: call.keep }
    }

    /// Records the group with one append, then hands out the lines.
    pub fn commit(self) -> Commit {
        let Batch { shared, group, records, lines, staged, .. } = self;
        if group.is_empty() {
            return Commit { admitted: Admitted { lines }, unrecorded: Vec::new(), error: None };
        }
        failpoint::reach("commit.before_append");
        let appended = shared.append(group, records);
        failpoint::reach("commit.after_append");
        match appended {
            Ok(()) => {
                shared.calls_opened(staged.len() as u64);
                Commit { admitted: Admitted { lines }, unrecorded: Vec::new(), error: None }
            }
            Err(error) => {
                let held = staged.iter().filter(|(call, _)| call.holds).map(|(call, _)| (call.seq, false));
                shared.free(held.collect());
                let lines = without(&lines, &staged);
                let unrecorded = staged.into_iter().map(|(call, _)| (call, error.clone())).collect();
                Commit { admitted: Admitted { lines }, unrecorded, error: Some(error) }
            }
        }
    }
}

/// The lines that are no calls.
fn without(lines: &[u8], staged: &[(CallRef, Range<usize>)]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut from = 0;
    for (_, range) in staged {
        kept.extend_from_slice(&lines[from..range.start]);
        from = range.end;
    }
    kept.extend_from_slice(&lines[from..]);
    kept
}

/// Names, rules and ids are kept to this length.
const SHORT: usize = 1024;

/// The start of a name, rule or id.
fn short(text: &str) -> &str {
    if text.len() <= SHORT { text } else { &text[..text.floor_char_boundary(SHORT)] }
}
