//! The thread that writes entries to the log file, begun with the first of them.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use callgate_home::{CappedFile, SessionId};
use callgate_redaction::{Masker, secret_values};
use tracing::Level;

use crate::Program;
use crate::line::LogEvent;

/// A log is begun anew above this; the one before is kept.
pub(crate) const LOG_BYTES: u64 = 1 << 20;
/// Entries that may wait to be written.
pub(crate) const WAITING: usize = 256;
/// Entries gather before they are written: a session that starts has better things to do.
const GATHER: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Writer {
    program: Program,
    path: PathBuf,
    pub(crate) queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    entries: Vec<LogEvent>,
    /// How many there was no room for.
    dropped: usize,
    session: Option<(SessionId, Masker)>,
    pub(crate) thread: Thread,
    /// Somebody waits until everything is written.
    hurry: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Thread {
    #[default]
    None,
    Idle,
    Writing,
}

impl Writer {
    pub(crate) fn new(program: Program, path: PathBuf) -> Writer {
        Writer { program, path, queue: Mutex::default(), changed: Condvar::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of_session(&self, session: SessionId, masker: Masker) {
        self.queue().session = Some((session, masker));
    }

    /// Never waits for the disk: an entry that there is no room for is counted.
    pub(crate) fn write_soon(self: &Arc<Self>, entry: LogEvent) {
        let mut queue = self.queue();
        if queue.entries.len() >= WAITING {
            queue.dropped += 1;
        } else {
            queue.entries.push(entry);
        }
        if queue.thread == Thread::None {
            let writer = self.clone();
            let begun = thread::Builder::new().name("logging".to_owned()).stack_size(256 * 1024);
            // Without a thread the entries wait for a later one.
            queue.thread =
                begun.spawn(move || writer.write_all()).map_or(Thread::None, |_runs_on| Thread::Idle);
        }
        self.changed.notify_all();
    }

    /// Waits until everything so far is written, for so long at most.
    pub(crate) fn flush(&self, limit: Duration) {
        let mut queue = self.queue();
        if queue.thread == Thread::None {
            return;
        }
        queue.hurry = true;
        self.changed.notify_all();
        let unwritten = |queue: &mut Queue| !queue.entries.is_empty() || queue.thread == Thread::Writing;
        let _late = self.changed.wait_timeout_while(queue, limit, unwritten);
    }

    fn write_all(&self) {
        let mut file = CappedFile::new(self.path.clone(), LOG_BYTES);
        let mut of_process = None;
        let mut queue = self.queue();
        loop {
            queue = self
                .changed
                .wait_while(queue, |queue| queue.entries.is_empty())
                .unwrap_or_else(PoisonError::into_inner);
            queue = self
                .changed
                .wait_timeout_while(queue, GATHER, |queue| !queue.hurry && queue.entries.len() < WAITING)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            let mut entries = std::mem::take(&mut queue.entries);
            let dropped = std::mem::take(&mut queue.dropped);
            let session = queue.session.clone();
            queue.thread = Thread::Writing;
            drop(queue);
            if dropped > 0 {
                let words = format!("{dropped} events came too fast and were dropped");
                entries.push(LogEvent::new(Level::WARN, module_path!(), words));
            }
            let (session, masker) = match &session {
                Some((session, masker)) => (Some(*session), masker),
                None => (None, &*of_process.get_or_insert_with(masker_of_process)),
            };
            let lines: String =
                entries.iter().map(|entry| entry.line(self.program, session, masker)).collect();
            // A log that cannot be written is no reason to disturb anything.
            let _unwritten = file.append(lines.as_bytes());
            queue = self.queue();
            queue.thread = Thread::Idle;
            self.changed.notify_all();
        }
    }
}

/// Knows what this process was given as a secret.
fn masker_of_process() -> Masker {
    Masker::new(&secret_values(std::env::vars_os()))
}
