//! The record of this session's process tree, kept beside the way of the calls; and the sweep of what dead sessions left.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use callgate_home::clock::wall_ms;
use callgate_home::{Home, SessionId};
use callgate_journal::{Event, EventKind, SessionInfo, record_event};
use callgate_redaction::Masker;
use callgate_supervise::{Afterwards, forget_start};
use callgate_trees::{About, Ended, Here};

use crate::relay::Relay;

/// After this long what a start needs is not needed any more; after twice as long, nor what the first look at the home does.
const STARTED: Duration = Duration::from_millis(250);
/// Housekeeping waits for the session to have started in peace.
const SETTLED: Duration = Duration::from_millis(500);
/// How often somebody looks whether there is anything to look for: a browser starts because of a call.
const LOOK: Duration = Duration::from_secs(5);

/// The record and the profiles that the tree left, if the tree is gone later than we are: mostly it is.
pub(crate) fn afterwards(home: &Home, session: SessionId) -> Afterwards {
    let home = home.clone();
    Afterwards::new(move || drop(callgate_trees::settle_last(&home, session)))
}

/// Who is in the tree, on disk.
#[derive(Clone, Debug)]
pub(crate) struct TreeRecord {
    home: Home,
    here: Here,
    about: Arc<About>,
    masker: Masker,
}

impl TreeRecord {
    pub(crate) fn new(
        home: &Home,
        info: &SessionInfo,
        began_ms: i64,
        keeper: u32,
        masker: Masker,
    ) -> TreeRecord {
        let about = About {
            session: info.id,
            shim: std::process::id(),
            server: info.server.clone(),
            client: info.client.clone(),
            command: masker.command(&info.command),
            began_ms,
            keeper: Some(keeper),
        };
        TreeRecord { home: home.clone(), here: Here::now(), about: Arc::new(about), masker }
    }

    /// Begins the sweep and the record, on a thread of their own.
    pub(crate) fn keep(&self, relay: Arc<Relay>) -> io::Result<()> {
        let keeping = self.clone();
        let work = move || {
            for _ in 0..2 {
                thread::sleep(STARTED);
                forget_start();
            }
            // It looks at every process there is; the session's own start goes first.
            thread::sleep(SETTLED);
            keeping.look();
            keeping.sweep(&relay);
            forget_start();
            keeping.go_on();
        };
        thread::Builder::new().name("tree".to_owned()).stack_size(256 * 1024).spawn(work).map(drop)
    }

    /// Writes down who is in the tree now. Without a record there is still the marker; nothing is said.
    pub(crate) fn look(&self) {
        drop(callgate_trees::note(&self.home, &self.here, &self.about, Some(&self.masker)));
    }

    /// The session is over. If its tree is gone, so is its record, with the profiles that it left; else the keeper sees to
    /// them ([`afterwards`]), or the next sweep.
    pub(crate) fn settle(self) {
        callgate_trees::settle(&self.home, self.about.session);
    }

    /// Looks again after calls, for as long as the session lives.
    fn go_on(&self) {
        // Every call is in the spool before it is anywhere else.
        let spool = self.home.spool(self.about.session);
        let written = || std::fs::metadata(&spool).and_then(|meta| meta.modified()).ok();
        let mut seen: Option<SystemTime> = None;
        loop {
            thread::sleep(LOOK);
            let now = written();
            if now != seen {
                seen = now;
                self.look();
            }
        }
    }

    /// Ends what sessions of this home left behind whose shim and keeper were both killed. Each is told of the server that it
    /// was started by, which is mostly another one than ours.
    fn sweep(&self, relay: &Relay) {
        let kind = EventKind::Swept;
        let note = |server: Option<&str>, text: &str| {
            if record_event(&self.home, wall_ms(), kind, server, None, text).is_err() {
                // The session's own record takes it when the history cannot.
                relay.journal.event(Event { kind, text });
            }
        };
        let swept = callgate_trees::sweep(&self.home, callgate_journal::is_on_record);
        let (processes, profiles) = (swept.processes.len(), swept.profiles.len());
        if processes + profiles > 0 {
            tracing::info!(processes, profiles, "ended what dead sessions left");
        }
        for process in swept.processes {
            let done = if process.gone { "ended" } else { "could not be ended" };
            let Ended { id, session, command, .. } = &process;
            let text = format!("process {} of session {session} {done}: {command}", id.pid);
            note(process.server.as_deref(), &text);
        }
        for profile in swept.profiles {
            let text = format!("the temporary profile of a dead session was removed: {}", profile.display());
            note(None, &text);
        }
    }
}
