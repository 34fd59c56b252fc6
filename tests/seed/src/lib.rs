//! Histories made up for tests, pictures and measurements: written straight into the database, as fast as it takes rows.
//!
//! No program that people use has it. [`Seeder`] writes single rows; [`world`] makes up a
//! whole month that looks real.

pub mod world;

use callgate_controls::sqlite;
use callgate_home::{CallId, Home, SessionId, StoreError};
use callgate_journal::{Decision, EndReason, EventKind, Origin, Outcome};
use rusqlite::Connection;

/// Writes rows in the order in which it is given them.
#[derive(Debug)]
pub struct Seeder {
    connection: Connection,
    home: Home,
    rev: i64,
    unkept: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct SeedSession<'a> {
    pub name: SessionId,
    pub server: &'a str,
    pub client: Option<&'a str>,
    /// A JSON array.
    pub command: &'a str,
    pub started_ms: i64,
    pub end: Option<(i64, EndReason)>,
    pub demo: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct SeedCall<'a> {
    /// What [`Seeder::session`] gave.
    pub session: i64,
    pub seq: u64,
    pub run: u32,
    pub at_ms: i64,
    pub client: &'a str,
    pub policy: &'a str,
    pub method: &'a str,
    pub tool: &'a str,
    pub decision: Decision,
    pub rule: &'a str,
    pub reason: &'a str,
    pub outcome: Option<Outcome>,
    pub duration_us: Option<u64>,
    pub args: Option<&'a str>,
    pub result: Option<&'a str>,
    pub digest: Option<[u8; 32]>,
}

impl Default for SeedCall<'_> {
    fn default() -> Self {
        SeedCall {
            session: 0,
            seq: 0,
            run: 1,
            at_ms: 0,
            client: "",
            policy: "",
            method: "tools/call",
            tool: "",
            decision: Decision::Allowed,
            rule: "/default",
            reason: "",
            outcome: Some(Outcome::Ok),
            duration_us: None,
            args: None,
            result: None,
            digest: None,
        }
    }
}

impl Seeder {
    pub fn open(home: &Home) -> Result<Seeder, StoreError> {
        let connection =
            callgate_journal::database::open_writer(home, callgate_home::clock::wall_ms())?.connection;
        let rev = connection
            .query_row("SELECT value FROM meta WHERE key = 'rev'", (), |row| row.get(0))
            .map_err(|error| sqlite::database_error(&home.history_db(), &error))?;
        Ok(Seeder { connection, home: home.clone(), rev, unkept: 0 })
    }

    fn fail(&self, error: &rusqlite::Error) -> StoreError {
        sqlite::database_error(&self.home.history_db(), error)
    }

    /// One transaction holds many rows.
    fn ready(&mut self) -> Result<(), StoreError> {
        if self.connection.is_autocommit() {
            self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| self.fail(&error))?;
        }
        self.unkept += 1;
        if self.unkept > 20_000 {
            self.keep()?;
            let _later = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
            return self.ready();
        }
        Ok(())
    }

    /// Writes what was given so far for good.
    pub fn keep(&mut self) -> Result<(), StoreError> {
        self.unkept = 0;
        if !self.connection.is_autocommit() {
            self.connection
                .execute("UPDATE meta SET value = ?1 WHERE key = 'rev'", [self.rev])
                .and_then(|_| self.connection.execute_batch("COMMIT"))
                .map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }

    /// Leaves numbers out.
    pub fn skip(&mut self, revs: i64) {
        self.rev += revs;
    }

    pub fn session(&mut self, session: &SeedSession<'_>) -> Result<i64, StoreError> {
        self.ready()?;
        self.connection
            .execute(
                "INSERT INTO sessions(name, server, client, command, started_ms, ended_ms, end_reason, demo)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (
                    session.name.as_str(),
                    session.server,
                    session.client,
                    session.command,
                    session.started_ms,
                    session.end.map(|(at_ms, _)| at_ms),
                    session.end.map(|(_, reason)| reason.word()),
                    session.demo,
                ),
            )
            .map_err(|error| self.fail(&error))?;
        Ok(self.connection.last_insert_rowid())
    }

    pub fn call(&mut self, call: &SeedCall<'_>) -> Result<i64, StoreError> {
        self.ready()?;
        self.rev += 1;
        let rev = self.rev;
        self.insert(rev, call).map_err(|error| self.fail(&error))?;
        Ok(rev)
    }

    fn insert(&self, rev: i64, call: &SeedCall<'_>) -> rusqlite::Result<()> {
        let context: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO contexts(client, policy, method, tool, decision, rule) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO UPDATE SET rule = excluded.rule RETURNING id",
            )?
            .query_row(
                (call.client, call.policy, call.method, call.tool, call.decision.word(), call.rule),
                |row| row.get(0),
            )?;
        let reason = (!call.reason.is_empty()).then_some(call.reason);
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO calls(rev, session, seq, context, run, at_ms, outcome, duration_us, flags, args_bytes,
                               result_bytes, reason, args, result, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?;
        statement.execute((
            rev,
            call.session,
            call.seq.cast_signed(),
            context,
            call.run,
            call.at_ms,
            call.outcome.map(Outcome::word),
            call.duration_us.map(u64::cast_signed),
            call.args.map(|args| args.len() as i64),
            call.result.map(|result| result.len() as i64),
            reason,
            call.args,
            call.result,
            call.digest.as_ref().map(|digest| &digest[..]),
        ))?;
        Ok(())
    }

    /// A call that ran is over.
    pub fn settle(
        &mut self,
        call: i64,
        outcome: Outcome,
        duration_us: u64,
        result: &str,
    ) -> Result<(), StoreError> {
        self.ready()?;
        self.rev += 1;
        self.connection
            .execute(
                "UPDATE calls SET outcome = ?2, duration_us = ?3, result = ?4, result_bytes = ?5 WHERE rev = ?1",
                (call, outcome.word(), duration_us.cast_signed(), result, result.len() as i64),
            )
            .and_then(|_| self.connection.execute("INSERT INTO changes(rev, call) VALUES (?1, ?2)", (self.rev, call)))
            .map(drop)
            .map_err(|error| self.fail(&error))
    }

    pub fn event(
        &mut self,
        at_ms: i64,
        kind: EventKind,
        server: Option<&str>,
        session: Option<SessionId>,
        text: &str,
    ) -> Result<i64, StoreError> {
        self.ready()?;
        self.rev += 1;
        self.connection
            .execute(
                "INSERT INTO events(at_ms, kind, server, session, text, rev) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (at_ms, kind.word(), server, session.map(|session| session.to_string()), text, self.rev),
            )
            .map_err(|error| self.fail(&error))?;
        Ok(self.rev)
    }

    /// A change of a server's policy, and its text.
    pub fn change(
        &mut self,
        at_ms: i64,
        server: &str,
        (version, text): (&str, &str),
        previous: Option<&str>,
        origin: Origin,
        summary: &str,
    ) -> Result<i64, StoreError> {
        self.ready()?;
        self.rev += 1;
        self.connection
            .execute(
                "INSERT OR IGNORE INTO policy_versions(version, server, text, first_seen_ms, seen_ms, origin)
                 VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                (version, server, text, at_ms, origin.word()),
            )
            .and_then(|_| {
                self.connection.execute(
                    "INSERT INTO policy_changes(at_ms, server, version, previous, origin, summary, rev)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    (at_ms, server, version, previous, origin.word(), summary, self.rev),
                )
            })
            .map_err(|error| self.fail(&error))?;
        Ok(self.rev)
    }

    /// The id of a call in a session of this name.
    pub fn id(session: SessionId, seq: u64) -> CallId {
        CallId { session, seq }
    }
}

impl Drop for Seeder {
    fn drop(&mut self) {
        // Whoever must know asked `keep` before.
        let _kept = self.keep();
    }
}
