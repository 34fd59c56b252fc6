//! The rows of the history as values.

use std::time::Duration;

use callgate_journal::database::flags::{
    ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD, RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD,
};
use callgate_journal::database::session_name;
use rusqlite::Row;

use callgate_home::{CallId, SessionId};
use callgate_journal::{Decision, EndReason, EventKind, Origin, Outcome};

/// Arguments or a result as they were kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyRow {
    /// JSON, unless it was cut.
    pub text: String,
    /// Its length as it came.
    pub bytes: u64,
    /// The end is missing.
    pub cut: bool,
    /// Something in it was masked.
    pub masked: bool,
    /// The policy asked for it not to be kept: the text is a JSON array of the arguments' names, or empty.
    pub withheld: bool,
}

/// Everything about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Where it stands in the history; also the cursor for paging.
    pub rev: i64,
    pub id: CallId,
    pub at_ms: i64,
    pub server: String,
    pub client: Option<String>,
    pub session: SessionId,
    /// Counts from 1 within the session.
    pub run: u32,
    pub method: Option<String>,
    pub tool: Option<String>,
    pub rpc_id: Option<String>,
    pub decision: Decision,
    pub rule: Option<String>,
    pub reason: Option<String>,
    /// Version of the policy that decided.
    pub policy: Option<String>,
    /// `None` while it runs.
    pub outcome: Option<Outcome>,
    pub duration: Option<Duration>,
    pub args: Option<BodyRow>,
    pub result: Option<BodyRow>,
    pub demo: bool,
    /// Of a refused call: what an exact repetition of it has too.
    pub digest: Option<[u8; 32]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub session: SessionId,
    pub server: String,
    pub client: Option<String>,
    /// Masked, as a JSON array.
    pub command: String,
    pub started_ms: i64,
    pub end: Option<(i64, EndReason)>,
    pub demo: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub id: i64,
    pub at_ms: i64,
    pub kind: EventKind,
    pub server: Option<String>,
    pub session: Option<SessionId>,
    pub origin: Option<Origin>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyVersion {
    pub version: String,
    pub server: String,
    pub text: String,
    pub first_seen_ms: i64,
    pub origin: Origin,
}

/// The columns that [`call`] reads, and where they come from.
pub(super) const CALL_COLUMNS: &str = "c.rev, s.name, c.seq, c.at_ms, s.server, x.client, c.run, x.method, x.tool, \
     c.rpc_id, x.decision, x.rule, c.reason, x.policy, c.outcome, c.duration_us, c.flags, c.args_bytes, \
     c.result_bytes, c.args, c.result, s.demo, c.digest";
pub(super) const CALL_TABLES: &str =
    "calls c JOIN sessions s ON s.id = c.session JOIN contexts x ON x.id = c.context";

pub(super) fn call(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    let session = session_name(row, 1)?;
    let flags: i64 = row.get(16)?;
    let body = |text: Option<String>, bytes: Option<i64>, [cut, masked, withheld]: [i64; 3]| {
        text.map(|text| BodyRow {
            bytes: bytes.map_or(text.len() as u64, i64::unsigned_abs),
            text,
            cut: flags & cut != 0,
            masked: flags & masked != 0,
            withheld: flags & withheld != 0,
        })
    };
    let known = |text: String| (!text.is_empty()).then_some(text);
    Ok(CallRow {
        rev: row.get(0)?,
        id: CallId { session, seq: row.get::<_, i64>(2)?.unsigned_abs() },
        at_ms: row.get(3)?,
        server: row.get(4)?,
        client: known(row.get(5)?),
        session,
        run: row.get(6)?,
        method: known(row.get(7)?),
        tool: known(row.get(8)?),
        rpc_id: row.get(9)?,
        // A word of a newer Callgate: all that is known is that this one does not know it.
        decision: row.get_ref(10)?.as_str()?.parse().unwrap_or(Decision::Unsupported),
        rule: known(row.get(11)?),
        reason: row.get(12)?,
        policy: known(row.get(13)?),
        outcome: word(row, 14)?.map(|word: String| word.parse().unwrap_or(Outcome::Unknown)),
        duration: row.get::<_, Option<i64>>(15)?.map(|micros| Duration::from_micros(micros.unsigned_abs())),
        args: body(row.get(19)?, row.get(17)?, [ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD]),
        result: body(row.get(20)?, row.get(18)?, [RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD]),
        demo: row.get(21)?,
        // Anything but 32 bytes is no digest of ours.
        digest: row.get::<_, Option<Vec<u8>>>(22)?.and_then(|digest| digest.try_into().ok()),
    })
}

pub(super) fn session(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let ended: Option<i64> = row.get(5)?;
    let reason =
        word(row, 6)?.map_or(EndReason::Lost, |word: String| word.parse().unwrap_or(EndReason::Lost));
    Ok(SessionRow {
        session: session_name(row, 0)?,
        server: row.get(1)?,
        client: row.get(2)?,
        command: row.get(3)?,
        started_ms: row.get(4)?,
        end: ended.map(|at| (at, reason)),
        demo: row.get(7)?,
    })
}

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        kind: row.get_ref(2)?.as_str()?.parse().unwrap_or(EventKind::Note),
        server: row.get(3)?,
        session: word(row, 4)?.and_then(|name: String| name.parse().ok()),
        origin: word(row, 5)?.and_then(|word: String| word.parse().ok()),
        text: row.get(6)?,
    })
}

pub(super) fn policy(row: &Row<'_>) -> rusqlite::Result<PolicyVersion> {
    Ok(PolicyVersion {
        version: row.get(0)?,
        server: row.get(1)?,
        text: row.get(2)?,
        first_seen_ms: row.get(3)?,
        origin: row.get_ref(4)?.as_str()?.parse().unwrap_or(Origin::File),
    })
}

fn word(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    row.get(column)
}
