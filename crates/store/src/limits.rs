//! How often something happened lately: the counters behind every cap.
//!
//! Windows slide exactly, nothing is given back, and all limits of one call are taken together or not at all.
//! Counters of scope `session` live in the memory of the one process that the session is; all others are
//! rows in `limits.db`, shared exactly among shims. A `limits.db` that was lost counts as full.

mod db;
mod take;
mod window;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use callgate_policy::{Limit, Scope, Standing, Usage};
use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::error::StoreError;
use crate::home::Home;
use db::Db;
use take::{Full, Want};
use window::Window;

/// Why a call is over its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped {
    /// The limit, as a pointer into the policy.
    pub pointer: String,
    pub counter: String,
    pub used: u32,
    pub max: NonZeroU32,
    pub window: Duration,
    /// Until one more is admitted, if nothing else happens.
    pub frees_in: Duration,
    /// The rule's own words.
    pub on_deny: Option<String>,
}

/// A call was not admitted by its limits.
#[derive(Debug)]
pub(crate) enum NotTaken {
    Capped(Capped),
    Store(StoreError),
}

/// The counters of one session.
#[derive(Debug)]
pub(crate) struct Limits {
    home: Home,
    server: String,
    clock: Arc<dyn Clock>,
    session: FxHashMap<String, Window>,
    shared: Option<Db>,
    /// Takes since the last checkpoint.
    pub(crate) since_checkpoint: u32,
    /// What happened to the counters and is not told yet.
    notices: Vec<String>,
}

impl Limits {
    pub(crate) fn new(home: Home, server: &str, clock: Arc<dyn Clock>) -> Self {
        let session = FxHashMap::default();
        Limits {
            home,
            server: server.to_owned(),
            clock,
            session,
            shared: None,
            since_checkpoint: 0,
            notices: Vec::new(),
        }
    }

    /// Opens the database before the first call needs it; a failure shows when it does.
    pub(crate) fn warm(&mut self) {
        let _later = self.database();
    }

    /// Takes one from every counter, or from none.
    pub(crate) fn take(&mut self, client: &str, limits: &[&Limit]) -> Result<(), NotTaken> {
        if limits.is_empty() {
            return Ok(());
        }
        let now = self.clock.now().uptime_ms;
        for limit in limits.iter().filter(|limit| limit.scope == Scope::Session) {
            let window = self.session.get(limit.counter.as_str());
            if let Some(full) =
                window.and_then(|window| window.full(now, limit.max.get(), millis(limit.window)))
            {
                return Err(NotTaken::Capped(capped(limit, full)));
            }
        }
        self.take_shared(client, limits)?;
        let mut counted: Vec<&str> = Vec::new();
        for limit in limits.iter().filter(|limit| limit.scope == Scope::Session) {
            if !self.session.contains_key(limit.counter.as_str()) {
                self.session.insert(limit.counter.clone(), Window::default());
            }
            if let Some(window) = self.session.get_mut(limit.counter.as_str()) {
                window.reach(limit.max.get());
                if !counted.contains(&limit.counter.as_str()) {
                    window.count(now);
                    counted.push(&limit.counter);
                }
            }
        }
        Ok(())
    }

    fn take_shared(&mut self, client: &str, limits: &[&Limit]) -> Result<(), NotTaken> {
        let shared: Vec<&Limit> =
            limits.iter().copied().filter(|limit| limit.scope != Scope::Session).collect();
        if shared.is_empty() {
            return Ok(());
        }
        let wants: Vec<Want> = shared
            .iter()
            .map(|limit| Want {
                key: key(limit, client, &self.server),
                max: limit.max.get(),
                window_ms: millis(limit.window),
            })
            .collect();
        let clock = self.clock.clone();
        self.since_checkpoint += 1;
        // Twice: a database that turns out lost or broken is made anew (full), and asked again.
        for attempt in 0..2 {
            let database = self.database().map_err(NotTaken::Store)?;
            match database.take(clock.as_ref(), &wants) {
                Ok(None) => return Ok(()),
                Ok(Some((index, full))) => return Err(NotTaken::Capped(capped(shared[index], full))),
                Err(error) => {
                    // Whatever it was, the next take starts from a fresh look at the file.
                    self.shared = None;
                    if attempt == 0 && error.is_corrupt() {
                        let aside = db::put_aside(&self.home, &clock.now()).map_err(NotTaken::Store)?;
                        self.notices.extend(aside.map(|aside| {
                            format!("the counters were damaged and were moved to {}", aside.display())
                        }));
                    } else {
                        return Err(NotTaken::Store(error));
                    }
                }
            }
        }
        Err(NotTaken::Store(StoreError::Ended))
    }

    fn database(&mut self) -> Result<&mut Db, StoreError> {
        if self.shared.as_ref().is_some_and(|database| !database.is_in_place()) {
            self.shared = None;
        }
        match self.shared {
            Some(ref mut database) => Ok(database),
            None => {
                let mut opened = Db::open(&self.home, &self.clock.now())?;
                self.notices.extend(opened.found.take());
                Ok(self.shared.insert(opened))
            }
        }
    }

    /// What a person should hear about the counters.
    pub(crate) fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

/// Makes the counters of a home that never had any.
pub(crate) fn create_first(home: &Home) -> Result<(), StoreError> {
    Db::open(home, &crate::clock::SystemClock::new().now()).map(drop)
}

/// Writes the log back into the file. On a connection of its own, so that no call waits for the disk.
pub(crate) fn checkpoint(home: &Home) {
    if let Ok(connection) = crate::sqlite::open(&home.limits_db()) {
        let _later = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
    }
}

/// The counters as `explain` sees them: read, never taken.
#[derive(Debug)]
pub struct Readings {
    database: Option<std::sync::Mutex<Db>>,
    client: String,
    server: String,
    clock: Arc<dyn Clock>,
}

impl Readings {
    /// The counters that calls of this client to this server use. Session counters read as unused.
    pub fn open(home: &Home, server: &str, client: &str, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let database = match home.limits_db().exists() {
            true => Some(std::sync::Mutex::new(Db::open(home, &clock.now())?)),
            false => None,
        };
        Ok(Readings { database, client: client.to_owned(), server: server.to_owned(), clock })
    }
}

impl Usage for Readings {
    fn standing(&self, limit: &Limit) -> Standing {
        let unused = Standing { used: 0, frees_in: None };
        let Some(database) = self.database.as_ref().filter(|_| limit.scope != Scope::Session) else {
            return unused;
        };
        let want = Want {
            key: key(limit, &self.client, &self.server),
            max: limit.max.get(),
            window_ms: millis(limit.window),
        };
        let mut database = database.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match database.standing(self.clock.as_ref(), &want) {
            Ok((used, frees_in)) => Standing { used, frees_in: frees_in.map(Duration::from_millis) },
            // Counters that cannot be read refuse: show them as full.
            Err(_) => Standing { used: limit.max.get(), frees_in: None },
        }
    }
}

fn capped(limit: &Limit, full: Full) -> Capped {
    Capped {
        pointer: limit.pointer.clone(),
        counter: limit.counter.clone(),
        used: full.used,
        max: limit.max,
        window: limit.window,
        frees_in: Duration::from_millis(full.frees_in_ms),
        on_deny: limit.on_deny.clone(),
    }
}

fn millis(window: Duration) -> u64 {
    u64::try_from(window.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Whose counter it is. Parts are separated by NUL and led by their length's worth of meaning: the scope.
fn key(limit: &Limit, client: &str, server: &str) -> String {
    // A name may hold a NUL of its own; doubling keeps two pairs of names from meeting in one key.
    let plain = |name: &str| if name.contains('\0') { name.replace('\0', "\0\0") } else { name.to_owned() };
    match limit.scope {
        Scope::Grant => format!("grant\0{}\0\u{1}{}\0\u{1}{}", plain(client), plain(server), limit.counter),
        Scope::Client => format!("client\0{}\0\u{1}{}", plain(client), limit.counter),
        Scope::All => format!("all\0{}", limit.counter),
        // Session counters never get here; if one did, the server is the narrowest thing that is shared.
        Scope::Server | Scope::Session => format!("server\0{}\0\u{1}{}", plain(server), limit.counter),
    }
}

#[cfg(test)]
#[path = "limits/tests.rs"]
mod tests;
