//! The writing end of one pipe: whole lines only, and no thread is ever stuck on a pipe that is not its own.
//!
//! Each pipe has one thread whose job it is to fill it ([`Outlet::send`], which blocks: that is the
//! back-pressure). Every other thread only *posts* a line; a courier carries it. So the thread that
//! reads the client can refuse a call although the client is not reading just now, and the thread that
//! reads the server can answer the server although the server is not reading. Most sessions never post to most of
//! their pipes, so the courier comes with the first line for it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How much may wait for the courier before a poster has to wait too.
const POSTED_BYTES: usize = 4 * 1024 * 1024;

/// Shared handle of a pipe's writing end.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pipe: Mutex<Pipe>,
    posts: Mutex<Posts>,
    changed: Condvar,
    courier: &'static str,
}

struct Pipe {
    writer: Option<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipe").field("open", &self.writer.is_some()).finish()
    }
}

#[derive(Debug, Default)]
struct Posts {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The courier holds a line that is not written yet.
    carrying: bool,
    /// A courier was called.
    attended: bool,
    closed: bool,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves whole lines behind; there is nothing half-done to protect from.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outlet {
    /// Takes the writer. Its courier, if it ever needs one, is a thread called `courier`.
    pub(crate) fn new(courier: &'static str, writer: impl Write + Send + 'static) -> Self {
        Outlet {
            shared: Arc::new(Shared {
                pipe: Mutex::new(Pipe { writer: Some(Box::new(writer)) }),
                posts: Mutex::default(),
                changed: Condvar::new(),
                courier,
            }),
        }
    }

    /// Writes whole lines, waiting as long as the reader takes. For the one thread that fills this pipe.
    pub(crate) fn send(&self, lines: &[u8]) -> Result<(), Undelivered> {
        self.shared.write(lines)
    }

    /// Leaves one line (its LF is added) for the courier. Waits only when very much is waiting already.
    pub(crate) fn post(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        let mut posts = held(&self.shared.posts);
        while posts.bytes > POSTED_BYTES && !posts.closed {
            posts = self.shared.changed.wait(posts).unwrap_or_else(PoisonError::into_inner);
        }
        self.leave(posts, line);
    }

    /// The same without ever waiting: for the thread that sees the session out, which leaves a bounded number of them.
    pub(crate) fn post_last(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.leave(held(&self.shared.posts), line);
    }

    /// Leaves text for the courier unless too much is waiting; says whether it was taken.
    pub(crate) fn offer(&self, text: &[u8]) -> bool {
        let posts = held(&self.shared.posts);
        if posts.closed || posts.bytes > POSTED_BYTES / 16 {
            return false;
        }
        self.leave(posts, text.to_vec());
        true
    }

    fn leave(&self, mut posts: MutexGuard<'_, Posts>, line: Vec<u8>) {
        posts.push(line);
        let is_first = !std::mem::replace(&mut posts.attended, true);
        drop(posts);
        self.shared.changed.notify_all();
        if is_first {
            let shared = self.shared.clone();
            let courier = thread::Builder::new().name(shared.courier.to_owned()).stack_size(128 * 1024);
            // Without a courier whoever waits for the line would wait for ever: better that the pipe ends.
            if courier.spawn(move || shared.carry()).is_err() {
                self.close();
            }
        }
    }

    /// Waits until everything posted so far is written or can no longer be; false after `limit`.
    pub(crate) fn flush(&self, limit: Duration) -> bool {
        let unwritten = |posts: &mut Posts| (posts.carrying || !posts.waiting.is_empty()) && !posts.closed;
        let posts = held(&self.shared.posts);
        let waited = self.shared.changed.wait_timeout_while(posts, limit, unwritten);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Closes the pipe, at once or as soon as the write under way ends. Later lines are refused. Never waits: a reader
    /// that sleeps must not keep a session from ending.
    pub(crate) fn close(&self) {
        self.shared.give_up();
        if let Ok(mut pipe) = self.shared.pipe.try_lock() {
            pipe.writer = None;
        }
    }
}

/// Lines that did not reach the pipe whole.
#[derive(Debug)]
pub(crate) struct Undelivered {
    /// How much of them did.
    pub(crate) written: usize,
    pub(crate) cause: io::Error,
}

impl Posts {
    fn push(&mut self, line: Vec<u8>) {
        if !self.closed {
            self.bytes += line.len();
            self.waiting.push_back(line);
        }
    }
}

impl Shared {
    fn write(&self, lines: &[u8]) -> Result<(), Undelivered> {
        let mut pipe = held(&self.pipe);
        let mut written = 0;
        while written < lines.len() {
            let Some(writer) = pipe.writer.as_mut() else {
                return Err(Undelivered { written, cause: io::ErrorKind::BrokenPipe.into() });
            };
            match writer.write(&lines[written..]) {
                Ok(0) => return Err(Undelivered { written, cause: io::ErrorKind::WriteZero.into() }),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(Undelivered { written, cause }),
            }
            if held(&self.posts).closed {
                // Somebody closed it meanwhile and could not wait for us.
                pipe.writer = None;
            }
        }
        Ok(())
    }

    /// The courier's life.
    fn carry(&self) {
        loop {
            let line = {
                let mut posts = held(&self.posts);
                loop {
                    if posts.closed {
                        return;
                    }
                    if let Some(line) = posts.waiting.pop_front() {
                        posts.carrying = true;
                        break line;
                    }
                    posts = self.changed.wait(posts).unwrap_or_else(PoisonError::into_inner);
                }
            };
            let written = self.write(&line);
            let mut posts = held(&self.posts);
            posts.carrying = false;
            posts.bytes -= line.len();
            drop(posts);
            if written.is_err() {
                self.give_up();
                return;
            }
            self.changed.notify_all();
        }
    }

    fn give_up(&self) {
        let mut posts = held(&self.posts);
        posts.closed = true;
        posts.waiting.clear();
        drop(posts);
        self.changed.notify_all();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed write is a failed test")]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[test]
    fn posted_lines_arrive_whole_while_the_owner_sends() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        let poster = outlet.clone();
        let posting =
            thread::spawn(move || (0..500).for_each(|n| poster.post(format!("post {n}").into_bytes())));
        let sending = thread::spawn(move || {
            (0..500).for_each(|n| outlet.send(format!("send {n}\n").as_bytes()).unwrap())
        });
        let lines: Vec<String> = BufReader::new(reader).lines().take(1000).map(Result::unwrap).collect();
        posting.join().unwrap();
        sending.join().unwrap();
        for kind in ["post", "send"] {
            let wanted: Vec<String> = (0..500).map(|n| format!("{kind} {n}")).collect();
            let got: Vec<&String> = lines.iter().filter(|line| line.starts_with(kind)).collect();
            assert_eq!(got.len(), 500);
            assert!(got.iter().zip(&wanted).all(|(a, b)| *a == b), "order of each is kept");
        }
    }

    #[test]
    fn posting_does_not_wait_for_a_reader_that_sleeps() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        // More than any pipe holds; nobody reads yet.
        (0..2_000).for_each(|_| outlet.post(vec![b'x'; 1_000]));
        let lines = thread::spawn(move || BufReader::new(reader).lines().take(2_000).count());
        assert!(outlet.flush(Duration::from_secs(30)));
        assert_eq!(lines.join().unwrap(), 2_000);
    }

    #[test]
    fn a_reader_that_left_releases_everybody() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        drop(reader);
        outlet.post(b"lost".to_vec());
        assert!(outlet.flush(Duration::from_secs(30)));
        outlet.close();
        assert_eq!(outlet.send(b"x\n").unwrap_err().cause.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn closing_does_not_wait_for_a_reader_that_sleeps() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        outlet.post(vec![b'x'; 1_000_000]);
        assert!(!outlet.flush(Duration::from_millis(20)), "nobody reads");
        outlet.close();
        assert!(outlet.flush(Duration::ZERO), "closed: nothing is waited for any more");
        drop(reader);
    }
}
