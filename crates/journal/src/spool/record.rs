//! What a spool holds. The encoding is not self-describing: variants and fields are only ever added as new
//! variants at the end, never changed.

use callgate_redaction::RedactedText;
use serde::{Deserialize, Serialize};

use crate::{Decision, EndReason, EventKind, Origin, Outcome};

/// The first record of every spool: enough for a stranger to file what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    pub session: String,
    pub server: String,
    pub client: Option<String>,
    /// Masked, as a JSON array.
    pub command: String,
    pub started_ms: i64,
    pub demo: bool,
    pub pid: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Record<'a> {
    /// A call: admitted (its outcome follows) or refused (it has none).
    #[serde(borrow)]
    Call(CallRecord<'a>),
    #[serde(borrow)]
    Outcome(OutcomeRecord<'a>),
    Event {
        at_ms: i64,
        kind: EventKind,
        origin: Option<Origin>,
        text: &'a str,
    },
    Policy {
        at_ms: i64,
        version: &'a str,
        origin: Origin,
        text: &'a str,
    },
    Ended {
        at_ms: i64,
        reason: EndReason,
    },
    /// A call of which there is more to say than of most.
    MarkedCall {
        #[serde(borrow)]
        call: CallRecord<'a>,
        mark: Mark,
    },
    /// An outcome whose result the policy keeps out of the record.
    WithheldOutcome(OutcomeRecord<'a>),
    /// What was decided about a call that was asked about.
    Decided(DecisionRecord<'a>),
}

/// What few calls have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The policy keeps the arguments out of the record.
    pub withheld: bool,
    /// Of a refused call: what an exact repetition of it has too.
    pub digest: Option<[u8; 32]>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallRecord<'a> {
    pub seq: u64,
    pub run: u32,
    pub at_ms: i64,
    pub decision: Decision,
    pub method: &'a str,
    pub tool: &'a str,
    pub rpc_id: &'a str,
    pub client: &'a str,
    pub policy: &'a str,
    pub rule: &'a str,
    pub reason: &'a str,
    #[serde(borrow)]
    pub args: Option<RecordedBody<'a>>,
}

/// Takes the place of what its call's record says of the same.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecisionRecord<'a> {
    pub seq: u64,
    pub decision: Decision,
    pub policy: &'a str,
    pub rule: &'a str,
    pub reason: &'a str,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutcomeRecord<'a> {
    pub seq: u64,
    pub outcome: Outcome,
    pub duration_us: u64,
    #[serde(borrow)]
    pub result: Option<RecordedBody<'a>>,
}

/// Arguments or a result: masked, then cut.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedBody<'a> {
    pub text: &'a str,
    /// How long it was as it came.
    pub bytes: u64,
    pub cut: bool,
    pub masked: bool,
}

impl<'a> RecordedBody<'a> {
    /// What is kept of `text`.
    pub(crate) fn of(kept: &'a RedactedText<'_>, text: &str) -> RecordedBody<'a> {
        RecordedBody { text: &kept.text, bytes: text.len() as u64, cut: kept.cut, masked: kept.masked }
    }

    /// Only how long `text` is.
    pub(crate) fn size_of(text: &str) -> RecordedBody<'static> {
        RecordedBody { text: "", bytes: text.len() as u64, cut: false, masked: false }
    }
}

/// Appends one record to a group under way.
pub(crate) fn encode<T: Serialize>(record: &T, group: &mut Vec<u8>) {
    let start = group.len();
    if postcard::serialize_with_flavor(record, Tail(group)).is_err() {
        // Writing to memory cannot fail for these types; a half-written record must not follow all the same.
        group.truncate(start);
    }
}

struct Tail<'v>(&'v mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Tail<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// The records of a group, up to the first that this version does not know.
pub(crate) fn records(mut group: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        if group.is_empty() {
            return None;
        }
        let (record, rest) = postcard::take_from_bytes(group).ok()?;
        group = rest;
        Some(record)
    })
}
