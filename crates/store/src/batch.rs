//! The client thread's way into the record: a group of lines is judged, recorded with one append, and only then
//! can the bytes for the server be had.

use std::ops::Range;
use std::time::Instant;

use callgate_policy::Limit;
use callgate_protocol::json::Raw;

use crate::clock::Moment;
use crate::error::StoreError;
use crate::failpoint;
use crate::id::{CallId, SessionId};
use crate::journal::{Shared, lock};
use crate::limits::{Capped, NotTaken};
use crate::mask::short;
use crate::spool::record::{Body, CallRecord, Record};
use crate::spool::writer::Group;
use crate::words::Decision;

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
}

/// A message that does not go to the server. Texts that it does not have are empty.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    pub decision: Decision,
    pub method: &'a str,
    pub tool: &'a str,
    pub rpc_id: &'a str,
    pub args: Option<Raw<'a>>,
    pub client: &'a str,
    pub rule: &'a str,
    pub reason: &'a str,
    pub policy: &'a str,
}

impl Default for Refused<'_> {
    fn default() -> Self {
        Refused {
            decision: Decision::Malformed,
            method: "",
            tool: "",
            rpc_id: "",
            args: None,
            client: "",
            rule: "",
            reason: "",
            policy: "",
        }
    }
}

/// A call on record.
#[derive(Clone, Copy, Debug)]
pub struct CallRef {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    pub(crate) started: Instant,
}

impl CallRef {
    pub fn id(&self) -> CallId {
        self.session.call(self.seq)
    }
}

/// Why a call may not go to the server.
#[derive(Debug)]
pub enum NotAdmitted {
    Capped(Capped),
    /// Its counters could not be read or written.
    Store(StoreError),
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
    lines: Vec<u8>,
    staged: Vec<(CallRef, Range<usize>)>,
}

/// What may now be forwarded.
#[derive(Debug)]
pub struct Commit {
    pub admitted: Admitted,
    /// Calls whose record failed: their lines are not in `admitted`, and each needs an answer.
    pub unrecorded: Vec<(CallRef, StoreError)>,
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
            lines: Vec::new(),
            staged: Vec::new(),
        }
    }

    /// A line that is not a call.
    pub fn pass(&mut self, line: &[u8]) {
        self.lines.reserve(line.len() + 1);
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
    }

    /// Takes the call's limits and stages its record and its line. Nothing that was taken is given back.
    pub fn admit(
        &mut self,
        intent: Intent<'_>,
        limits: &[&Limit],
        line: &[u8],
    ) -> Result<CallRef, NotAdmitted> {
        if !limits.is_empty() {
            lock(&self.shared.limits).take(intent.client, limits).map_err(|refused| match refused {
                NotTaken::Capped(capped) => NotAdmitted::Capped(capped),
                NotTaken::Store(error) => NotAdmitted::Store(error),
            })?;
        }
        let call = self.record(&Refused {
            decision: Decision::Allowed,
            method: intent.method,
            tool: intent.tool,
            rpc_id: intent.rpc_id,
            args: intent.args,
            client: intent.client,
            rule: intent.rule,
            reason: "",
            policy: intent.policy,
        });
        let start = self.lines.len();
        self.pass(line);
        self.staged.push((call, start..self.lines.len()));
        failpoint::reach("admit.staged");
        Ok(call)
    }

    /// A refused or malformed message: one row, no line.
    pub fn refuse(&mut self, refused: Refused<'_>) -> CallRef {
        self.record(&refused)
    }

    fn record(&mut self, call: &Refused<'_>) -> CallRef {
        let run = *self.run.get_or_insert_with(|| self.shared.run_at(&self.now));
        let seq = self.shared.number();
        let text = call.args.map(Raw::text);
        let kept = text.map(|text| self.shared.masker.keep(text));
        let masked = |text| self.shared.masker.keep_text(text);
        // What stands in a tool's place may be a URI with a password, and an id may be any text. Masked before they are
        // shortened: half a secret is not recognised.
        let (tool, rpc_id, reason) = (masked(call.tool), masked(call.rpc_id), masked(call.reason));
        self.group.push(&Record::Call(CallRecord {
            seq,
            run,
            at_ms: self.now.wall_ms,
            decision: call.decision,
            method: short(call.method),
            tool: short(&tool),
            rpc_id: short(&rpc_id),
            client: short(call.client),
            policy: short(call.policy),
            rule: short(call.rule),
            reason: &reason,
            args: kept.as_ref().zip(text).map(|(kept, text)| Body::of(kept, text)),
        }));
        self.records += 1;
        CallRef { session: self.shared.session, seq, started: self.started }
    }

    /// Records the group with one append, then hands out the lines.
    pub fn commit(self) -> Commit {
        let Batch { shared, group, records, lines, staged, .. } = self;
        if group.is_empty() {
            return Commit { admitted: Admitted { lines }, unrecorded: Vec::new() };
        }
        failpoint::reach("commit.before_append");
        let appended = shared.append(group, records);
        failpoint::reach("commit.after_append");
        match appended {
            Ok(()) => {
                shared.calls_opened(staged.len() as u64);
                Commit { admitted: Admitted { lines }, unrecorded: Vec::new() }
            }
            Err(error) => {
                let lines = without(&lines, &staged);
                let unrecorded = staged.into_iter().map(|(call, _)| (call, error.clone())).collect();
                Commit { admitted: Admitted { lines }, unrecorded }
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
