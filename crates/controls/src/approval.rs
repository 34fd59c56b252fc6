//! Approvals: calls that wait for a person's decision, the decisions, and what a yes lets through, in `limits.db`.
//!
//! What makes a later call the same one is its [`Subject`]: equal calls share a row, and any difference (an argument, the tool's definition, the command behind the server's name, the client) makes a new
//! one. A decision is a compare-and-set on an open row, so of two windows, a window and a command line, or ten gates one
//! is first and the others are told. A yes for one call is spent like an allowance of one call, together with the call's
//! limits; one for several is a [`Grant`], which is used up and ends in the same transaction.
//!
//! Arguments are kept masked, as in the history, and only until the decision: the call itself is held by its gate in memory.

mod decide;
pub(crate) mod grants;
mod leave;
mod question;
mod standing;
#[cfg(test)]
mod tests;
mod waiting;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use callgate_home::clock::Moment;
use callgate_home::{CallId, Home, SessionId, StoreError, vocabulary};
use rusqlite::{OptionalExtension, Row};
use sha2::{Digest as _, Sha256};

use crate::limits::Db;

pub use decide::{Decided, NotDecided, Verdict};
pub use grants::{AlsoGranted, Grant, GrantScope, MOST_TOOLS};
pub use leave::Leave;
pub use question::{Arguments, Asked, Question, Release};
pub use standing::Standing;

/// How long an approval stays open if no policy says otherwise.
pub const EXPIRES: Duration = Duration::from_hours(1);
/// How long a call that was approved may come again, once.
pub const USABLE: Duration = Duration::from_mins(10);
/// So many times a call is held before its client is told that nobody is there.
pub const ROUNDS: u32 = 3;
/// More at once from one session are no questions any more.
pub const MOST_PER_SESSION: u32 = 50;
/// Decided ones are kept for this long: what was decided often is worth a rule.
const KEPT: Duration = Duration::from_hours(30 * 24);

vocabulary! {
    /// How an approval stands.
    State {
        Open = "open",
        Approved = "approved",
        Denied = "denied",
        /// Nobody decided in time.
        Missed = "missed",
        /// Its client gave the call up while it was held, or its gate is gone.
        Withdrawn = "withdrawn",
    }
}

vocabulary! {
    /// Where a decision was made.
    Decider {
        Window = "window",
        Tray = "tray",
        Cli = "cli",
        /// By the client that asks, which says that its person did.
        Client = "client",
    }
}

impl Decider {
    pub fn place(self) -> &'static str {
        match self {
            Decider::Window => "in the window",
            Decider::Tray => "in the tray or a notification",
            Decider::Cli => "at the command line",
            Decider::Client => "in the client, maybe not by a person",
        }
    }
}

/// What makes a call the same call.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub server: &'a str,
    /// What is started under the server's name.
    pub command: &'a [u8; 32],
    pub client: &'a str,
    pub tool: &'a str,
    /// Of the tool as its server lists it; zeros for one that is not listed.
    pub definition: &'a [u8; 32],
    /// Of tool and arguments, sealed.
    pub digest: &'a [u8; 32],
}

impl Subject<'_> {
    fn key(&self) -> [u8; 32] {
        let mut form = Sha256::new();
        for text in [self.server.as_bytes(), self.client.as_bytes(), self.tool.as_bytes()] {
            form.update((text.len() as u64).to_le_bytes());
            form.update(text);
        }
        for digest in [self.command, self.definition, self.digest] {
            form.update(digest);
        }
        form.finalize().into()
    }
}

/// Names an approval: six characters, as a session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApprovalId(SessionId);

/// Text that is not the name of an approval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of an approval: it looks like k3v9qa, as `callgate approvals` shows it")]
pub struct BadApprovalId(String);

impl ApprovalId {
    fn random() -> ApprovalId {
        ApprovalId(SessionId::random())
    }

    /// The rule that the record names for a call that was decided by it.
    pub fn rule(self) -> String {
        format!("{RULE}{self})")
    }

    /// The same of one that its client answered, which is no person's decision as far as anybody here can tell.
    pub fn rule_in_client(self) -> String {
        format!("{RULE_IN_CLIENT}{self})")
    }

    /// The decision behind a rule of the record, if it is one.
    pub fn of_rule(rule: &str) -> Option<ApprovalId> {
        let id = rule.strip_prefix(RULE).or_else(|| rule.strip_prefix(RULE_IN_CLIENT))?;
        id.strip_suffix(')')?.parse().ok()
    }

    /// What it is spent under: the same table has allowances, whose ids anybody may write into a file.
    pub fn spend_key(self) -> String {
        format!("{SPEND}{self}")
    }
}

/// How the rules of calls begin that a person decided about.
pub const RULE: &str = "(approval ";
/// And those of calls that a client answered for its person.
const RULE_IN_CLIENT: &str = "(client's approval ";
/// How the keys of approvals begin, and those of grants.
pub(crate) const SPEND: &str = "approval:";
pub(crate) const GRANT: &str = "grant:";

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ApprovalId {
    type Err = BadApprovalId;

    fn from_str(text: &str) -> Result<ApprovalId, BadApprovalId> {
        text.parse().map(ApprovalId).map_err(|_| BadApprovalId(text.to_owned()))
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    /// The call that asked first.
    pub call: CallId,
    pub server: String,
    pub client: String,
    pub tool: String,
    /// The session that asked first; once that is gone, the one that has waited for the longest. What a yes lets through beside
    /// the call is let through there.
    pub session: SessionId,
    /// The rule that asks, and its words.
    pub rule: String,
    pub reason: String,
    /// Why there is a new card though one like it waits, or was decided before.
    pub difference: Option<String>,
    /// Until it is decided.
    pub arguments: Option<Arguments>,
    pub opened_ms: i64,
    pub expires_ms: i64,
    /// Until when a client waits, if one does: whatever a gate that is gone has said.
    pub held_until_ms: Option<i64>,
    /// How many equal calls asked.
    pub asked: u32,
    pub state: State,
    pub decided_ms: Option<i64>,
    pub decided_by: Option<Decider>,
    /// What was said with the decision.
    pub words: Option<String>,
    /// Its client says which conversation the call belongs to.
    pub in_conversation: bool,
}

const COLUMNS: &str = "id, call, server, client, tool, session, rule, reason, difference, arguments, arguments_bytes, complete, masked, opened_ms,
     expires_ms, (SELECT max(until_ms) FROM waiting WHERE approval = approvals.id), asked, state, decided_ms, decided_by, words,
     EXISTS (SELECT 1 FROM conversations c WHERE c.id = approvals.id) AS in_conversation";

impl Approval {
    fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
        let text = |column: usize| row.get::<_, String>(column);
        let arguments = row.get::<_, Option<String>>(9)?.map(|text| -> rusqlite::Result<Arguments> {
            let bytes = row.get::<_, i64>(10)?.cast_unsigned();
            Ok(Arguments { text, bytes, complete: row.get(11)?, masked: row.get(12)? })
        });
        Ok(Approval {
            id: parsed(row, 0)?,
            call: parsed(row, 1)?,
            server: text(2)?,
            client: text(3)?,
            tool: text(4)?,
            session: parsed(row, 5)?,
            rule: text(6)?,
            reason: text(7)?,
            difference: row.get(8)?,
            arguments: arguments.transpose()?,
            opened_ms: row.get(13)?,
            expires_ms: row.get(14)?,
            held_until_ms: row.get(15)?,
            asked: row.get(16)?,
            state: parsed(row, 17)?,
            decided_ms: row.get(18)?,
            decided_by: row.get::<_, Option<String>>(19)?.and_then(|word| word.parse().ok()),
            words: row.get(20)?,
            in_conversation: row.get("in_conversation")?,
        })
    }
}

/// A column that holds the text of something else.
fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let kind = rusqlite::types::Type::Text;
    text.parse().map_err(|_| rusqlite::Error::FromSqlConversionFailure(column, kind, text.into()))
}

/// The approvals of a home, by a connection of their own.
#[derive(Debug)]
pub struct Approvals {
    home: Home,
    db: Option<Db>,
    /// Of a gate: which conversation its client has said it is started for.
    conversation: Option<String>,
    /// What others had written when a gate looked last; none once there is something to look at in any case.
    looked: Option<i64>,
}

impl Approvals {
    /// Nothing is opened before it is needed.
    pub fn new(home: &Home) -> Approvals {
        Approvals { home: home.clone(), db: None, conversation: None, looked: None }
    }

    /// The same for a gate whose client says which conversation it is started for.
    pub fn of_conversation(home: &Home, conversation: Option<String>) -> Approvals {
        Approvals { conversation, ..Approvals::new(home) }
    }

    /// What waits for a decision, the oldest first.
    pub fn open(&mut self, now: &Moment) -> Result<Vec<Approval>, StoreError> {
        self.transaction(now, |db| {
            tidy(db, now)?;
            let sql = format!("SELECT {COLUMNS} FROM approvals WHERE state = 'open' ORDER BY opened_ms, id");
            db.connection.prepare_cached(&sql)?.query_map((), Approval::read)?.collect()
        })
    }

    /// The last ones that are not open any more, the newest first.
    pub fn ended(&mut self, now: &Moment, most: u32) -> Result<Vec<Approval>, StoreError> {
        self.transaction(now, |db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM approvals WHERE state <> 'open'
                 ORDER BY coalesce(decided_ms, expires_ms) DESC, id LIMIT ?1"
            );
            db.connection.prepare_cached(&sql)?.query_map([most], Approval::read)?.collect()
        })
    }

    pub fn get(&mut self, now: &Moment, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.transaction(now, |db| get(db, id))
    }

    fn transaction<T>(
        &mut self,
        now: &Moment,
        work: impl FnOnce(&mut Db) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.looked = None;
        self.db(now)?.transaction(work)
    }

    fn db(&mut self, now: &Moment) -> Result<&mut Db, StoreError> {
        if self.db.as_ref().is_some_and(|db| !db.is_in_place()) {
            self.db = None;
        }
        match self.db {
            Some(ref mut db) => Ok(db),
            None => {
                self.looked = None;
                let db = Db::open(&self.home, now)?;
                // Arguments do not stay in free pages. Where that cannot be had they stay masked.
                let _anyway = db.connection.pragma_update(None, "secure_delete", true);
                Ok(self.db.insert(db))
            }
        }
    }
}

fn get(db: &Db, id: ApprovalId) -> rusqlite::Result<Option<Approval>> {
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
    db.connection.prepare_cached(&sql)?.query_row([id.to_string()], Approval::read).optional()
}

/// What nobody decided in time, what nobody waits for any more, and what is too old to be of use.
fn tidy(db: &Db, now: &Moment) -> rusqlite::Result<()> {
    db.connection
        .prepare_cached(
            "UPDATE approvals SET state = 'missed', arguments = NULL
             WHERE state = 'open' AND expires_ms <= ?1",
        )?
        .execute([now.wall_ms])?;
    waiting::sweep(db)?;
    let oldest = now.wall_ms - KEPT.as_millis() as i64;
    db.connection
        .prepare_cached("DELETE FROM approvals WHERE state <> 'open' AND expires_ms < ?1")?
        .execute([oldest])?;
    db.connection.prepare_cached("DELETE FROM grants WHERE ends_ms < ?1")?.execute([oldest])?;
    for table in ["conversations", "also_granted"] {
        let sql = format!("DELETE FROM {table} WHERE id NOT IN (SELECT id FROM approvals)");
        db.connection.prepare_cached(&sql)?.execute(())?;
    }
    Ok(())
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
