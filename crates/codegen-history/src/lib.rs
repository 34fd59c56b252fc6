//! Codegen sessions as the history tells them: whatever became of the server, its calls are on record.
//!
//! Reads `history.db` itself, with the few queries that it needs: a gate asks it about sessions of earlier gates.

#![deny(unsafe_code)]

use std::collections::BTreeSet;
use std::time::Duration;

use callgate_codegen::{
    ANSWERED_WITH_A_STATUS, CallOutcome as Came, Follower, RetainedText, Sent, Session, Settled, Verb,
};
use callgate_controls::sqlite;
use callgate_home::{CallId, Home, SessionId, StoreError, lease};
use callgate_journal::database::flags::{
    ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD, RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD,
};
use callgate_journal::database::{open_reader, session_name};
use callgate_journal::{Decision, EventKind, Outcome};
use callgate_policy::{Recording, Recordings};
use rusqlite::{Connection, Row};

/// Sessions of the gate that are looked through for one answer, the newest.
const LOOKED_AT: i64 = 200;
/// Events after which the server's process is another one, or none.
const DEPARTURES: [EventKind; 3] = [EventKind::Stopped, EventKind::Crashed, EventKind::Restarted];
/// How far back a session is looked for that a call names.
const LATELY_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A codegen session and where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodegenSession {
    /// The call that started it, which names it for good: ids of servers may come again.
    pub start: CallId,
    pub server: String,
    pub session: Session,
}

impl CodegenSession {
    /// The session of the gate that it was in.
    pub fn gate(&self) -> SessionId {
        self.start.session
    }
}

/// What the history says of a server's codegen sessions at this moment, for whoever asks what would become of a call.
/// Nothing is read before somebody asks.
#[derive(Clone, Copy, Debug)]
pub struct OnRecord<'a> {
    home: &'a Home,
    server: &'a str,
    since_ms: i64,
}

impl<'a> OnRecord<'a> {
    pub fn new(home: &'a Home, server: &'a str, now_ms: i64) -> OnRecord<'a> {
        OnRecord { home, server, since_ms: now_ms - LATELY_MS }
    }

    /// The newest of this id that this client started.
    pub fn find(&self, client: &str, id: &str) -> Result<Option<CodegenSession>, StoreError> {
        let meant =
            |one: &CodegenSession| one.session.client == client && one.session.id.as_deref() == Some(id);
        Ok(self.all()?.into_iter().rev().find(meant))
    }

    fn all(&self) -> Result<Vec<CodegenSession>, StoreError> {
        sessions(self.home, Some(self.server), self.since_ms)
    }
}

impl Recordings for OnRecord<'_> {
    fn open(&self) -> Result<Option<Recording>, String> {
        let all = self.all().map_err(|error| error.to_string())?;
        let held = |one: &&CodegenSession| one.session.is_open() && lease::is_live(self.home, one.gate());
        Ok(all.iter().rev().find(held).map(|one| recording(&one.session)))
    }

    fn started_by(&self, client: &str, id: &str) -> Result<Option<Recording>, String> {
        let found = self.find(client, id).map_err(|error| error.to_string())?;
        Ok(found.map(|found| recording(&found.session)))
    }
}

/// What rules ask of a session.
pub fn recording(session: &Session) -> Recording {
    Recording { id: session.id.clone(), actions: session.recorded, open: session.is_open() }
}

/// A session of the gate in which codegen was used.
struct Gate {
    key: i64,
    name: SessionId,
    server: String,
    started_ms: i64,
    ended_ms: Option<i64>,
}

/// Those of one server, or of all, whose session of the gate began since a time; the newest last.
pub fn sessions(home: &Home, server: Option<&str>, since_ms: i64) -> Result<Vec<CodegenSession>, StoreError> {
    let connection = open_reader(home)?;
    let found = connection.unchecked_transaction().and_then(|transaction| {
        let mut found = Vec::new();
        for gate in gates(&transaction, server, since_ms)? {
            let sessions = follow(&transaction, &gate)?.into_sessions().into_iter();
            found.extend(sessions.filter(Session::is_of_note).map(|session| CodegenSession {
                start: CallId { session: gate.name, seq: session.start },
                server: gate.server.clone(),
                session,
            }));
        }
        Ok(found)
    });
    let mut found = found.map_err(|error| sqlite::database_error(&home.history_db(), &error))?;
    found.sort_by_key(|one| one.session.started_ms);
    Ok(found)
}

/// The servers with calls that began a codegen session, in sessions of the gate since a time.
pub fn servers(home: &Home, since_ms: i64) -> Result<BTreeSet<String>, StoreError> {
    let found = gates(&open_reader(home)?, None, since_ms)
        .map_err(|error| sqlite::database_error(&home.history_db(), &error))?;
    Ok(found.into_iter().map(|gate| gate.server).collect())
}

fn gates(connection: &Connection, server: Option<&str>, since_ms: i64) -> rusqlite::Result<Vec<Gate>> {
    // Most histories have no such call at all, and the few names of calls in common tell at once.
    let started = "SELECT id FROM contexts WHERE tool = ?1 AND method = 'tools/call'";
    let tool = Verb::Start.tool();
    if !connection.prepare_cached(started)?.exists([tool])? {
        return Ok(Vec::new());
    }
    let sql = "SELECT s.id, s.name, s.server, s.started_ms, s.ended_ms FROM sessions s
               WHERE (?2 IS NULL OR s.server = ?2) AND s.started_ms >= ?3
                 AND EXISTS (SELECT 1 FROM calls c WHERE c.session = s.id AND c.context IN
                   (SELECT id FROM contexts WHERE tool = ?1 AND method = 'tools/call'))
               ORDER BY s.started_ms DESC LIMIT ?4";
    let read = |row: &Row<'_>| {
        Ok(Gate {
            key: row.get(0)?,
            name: session_name(row, 1)?,
            server: row.get(2)?,
            started_ms: row.get(3)?,
            ended_ms: row.get(4)?,
        })
    };
    connection.prepare_cached(sql)?.query_map((tool, server, since_ms, LOOKED_AT), read)?.collect()
}

fn follow(connection: &Connection, gate: &Gate) -> rusqlite::Result<Follower> {
    let telling = Verb::ALL.iter().map(|verb| verb.tool()).chain(ANSWERED_WITH_A_STATUS.iter().copied());
    let telling: Vec<String> = telling.map(|tool| format!("'{tool}'")).collect();
    let telling = telling.join(", ");
    // Results are large; only those of few tools say anything here.
    let sql = format!(
        "SELECT c.seq, c.at_ms, c.duration_us, c.flags, c.outcome, x.client, x.tool, x.decision, c.args,
                CASE WHEN x.tool IN ({telling}) THEN c.result END
         FROM calls c JOIN contexts x ON x.id = c.context
         WHERE c.session = ?1 AND x.method = 'tools/call' ORDER BY c.seq"
    );
    let mut follower = Follower::default();
    let mut gone = departures(connection, gate)?.into_iter().peekable();
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([gate.key])?;
    while let Some(row) = rows.next()? {
        let at_ms: i64 = row.get(1)?;
        while let Some(gone_ms) = gone.next_if(|gone_ms| *gone_ms <= at_ms) {
            follower.server_gone(gone_ms);
        }
        call(&mut follower, row)?;
    }
    for gone_ms in gone {
        follower.server_gone(gone_ms);
    }
    if let Some(ended_ms) = gate.ended_ms {
        follower.server_gone(ended_ms);
    }
    Ok(follower)
}

/// When the server went away while its session of the gate went on.
fn departures(connection: &Connection, gate: &Gate) -> rusqlite::Result<Vec<i64>> {
    let kinds = DEPARTURES.map(|kind| format!("'{}'", kind.word())).join(", ");
    let sql = format!(
        "SELECT at_ms FROM events WHERE session = ?1 AND at_ms >= ?2 AND kind IN ({kinds}) ORDER BY at_ms"
    );
    connection
        .prepare_cached(&sql)?
        .query_map((gate.name.as_str(), gate.started_ms), |row| row.get(0))?
        .collect()
}

fn call(follower: &mut Follower, row: &Row<'_>) -> rusqlite::Result<()> {
    let text = |column: usize| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
    let tool = text(6)?.unwrap_or_default();
    let decision: Option<Decision> = text(7)?.and_then(|word| word.parse().ok());
    // What its server never saw is in none of its sessions.
    if decision.is_none_or(Decision::is_refused) || (Verb::of(tool).is_none() && !follower.is_recording()) {
        return Ok(());
    }
    let (call, at_ms) = (row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?);
    let flags: i64 = row.get(3)?;
    let args = kept(text(8)?, flags, [ARGS_CUT, ARGS_MASKED, ARGS_WITHHELD]);
    let outcome: Option<Outcome> = text(4)?.map(|word| word.parse().unwrap_or(Outcome::Unknown));
    follower.sent(&Sent { call, at_ms, client: text(5)?.unwrap_or_default(), tool, args });
    if let Some(outcome) = outcome {
        let took = Duration::from_micros(row.get::<_, Option<i64>>(2)?.unwrap_or(0).unsigned_abs());
        let at_ms = at_ms.saturating_add(i64::try_from(took.as_millis()).unwrap_or(0));
        let result = kept(text(9)?, flags, [RESULT_CUT, RESULT_MASKED, RESULT_WITHHELD]);
        follower.settled(&Settled { call, at_ms, outcome: came(outcome), result });
    }
    Ok(())
}

fn kept(text: Option<&str>, flags: i64, [cut, masked, withheld]: [i64; 3]) -> RetainedText<'_> {
    match (text, flags) {
        (text, flags) if flags & withheld != 0 => RetainedText::Names(text.unwrap_or_default()),
        (None, _) => RetainedText::Absent,
        (Some(text), flags) if flags & cut != 0 => RetainedText::Cut(text),
        (Some(text), flags) if flags & masked != 0 => RetainedText::Masked(text),
        (Some(text), _) => RetainedText::Whole(text),
    }
}

/// What an outcome on record means for a codegen session.
fn came(outcome: Outcome) -> Came {
    match outcome {
        Outcome::Ok => Came::Done,
        Outcome::ToolError | Outcome::RpcError | Outcome::NotDelivered | Outcome::NotSent => Came::Failed,
        Outcome::Cancelled
        | Outcome::CancelledByUser
        | Outcome::ServerEnded
        | Outcome::Unusable
        | Outcome::Unknown
        | Outcome::TimedOut => Came::Unknown,
    }
}

#[cfg(test)]
mod tests;
