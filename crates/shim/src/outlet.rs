//! The writing end of one pipe: whole lines only, and no thread is ever stuck on a pipe that is not its own.
//!
//! Each pipe has one thread whose job it is to fill it ([`Outlet::send`], which blocks: that is the
//! back-pressure). Every other thread only *posts* a line; a courier carries it. So the thread that
//! reads the client can refuse a call although the client is not reading just now, and the thread that
//! reads the server can answer the server although the server is not reading. Most sessions never post to most of
//! their pipes, so the courier comes with the first line for it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// How many posts are not written, for whoever only wants to know whether there are any.
    unwritten: AtomicUsize,
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
    waiting: VecDeque<Post>,
    bytes: usize,
    /// How many were ever posted, and how many of them are written.
    posted: u64,
    written: u64,
    /// A courier was called.
    attended: bool,
    closed: bool,
    /// Nobody closed it: it could not be written to.
    broken: bool,
}

/// Whole lines for the courier.
pub(crate) struct Post {
    lines: Vec<u8>,
    lost: Option<Lost>,
}

/// Told when the pipe broke before a post was in it. Of a pipe that was closed, whoever closed it tells.
pub(crate) type Lost = Box<dyn FnOnce(Undelivered) + Send>;

impl Post {
    fn new(mut line: Vec<u8>) -> Post {
        line.push(b'\n');
        Post { lines: line, lost: None }
    }

    pub(crate) fn lose(self, written: usize, cause: io::Error) {
        if let Some(lost) = self.lost {
            lost(Undelivered { written, cause });
        }
    }
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post").field("bytes", &self.lines.len()).finish()
    }
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
                unwritten: AtomicUsize::new(0),
                changed: Condvar::new(),
                courier,
            }),
        }
    }

    /// Writes whole lines, waiting as long as the reader takes. For the one thread that fills this pipe.
    pub(crate) fn send(&self, lines: &[u8]) -> Result<(), Undelivered> {
        self.shared.write(lines)
    }

    /// Waits until what was posted before is written, so that what is sent next comes after it.
    pub(crate) fn follow(&self) {
        if self.shared.unwritten.load(Ordering::Acquire) > 0 {
            let posts = held(&self.shared.posts);
            let until = posts.posted;
            drop(self.shared.wait_while(posts, |posts| posts.written < until));
        }
    }

    /// Leaves one line (its LF is added) for the courier. Waits only when very much is waiting already.
    pub(crate) fn post(&self, line: Vec<u8>) {
        self.await_room();
        self.post_last(line);
    }

    /// Waits while very much is waiting already.
    pub(crate) fn await_room(&self) {
        drop(self.shared.wait_while(held(&self.shared.posts), |posts| posts.bytes > POSTED_BYTES));
    }

    /// The same without ever waiting: for the thread that sees the session out, which leaves a bounded number of them.
    pub(crate) fn post_last(&self, line: Vec<u8>) {
        // Its sender is told by nobody, whatever becomes of it.
        drop(self.leave(held(&self.shared.posts), Post::new(line)));
    }

    /// Leaves whole lines for the courier, without waiting. Back they come if the pipe is broken already.
    pub(crate) fn post_lines(&self, lines: Vec<u8>, lost: Lost) -> Result<(), Post> {
        self.leave(held(&self.shared.posts), Post { lines, lost: Some(lost) })
    }

    /// Leaves text for the courier unless too much is waiting; says whether it was taken.
    pub(crate) fn offer(&self, text: &[u8]) -> bool {
        let posts = held(&self.shared.posts);
        let room = !posts.closed && posts.bytes <= POSTED_BYTES / 16;
        room && self.leave(posts, Post { lines: text.to_vec(), lost: None }).is_ok()
    }

    fn leave(&self, mut posts: MutexGuard<'_, Posts>, post: Post) -> Result<(), Post> {
        if posts.closed {
            return if posts.broken { Err(post) } else { Ok(()) };
        }
        posts.bytes += post.lines.len();
        posts.posted += 1;
        posts.waiting.push_back(post);
        self.shared.unwritten.fetch_add(1, Ordering::Release);
        let is_first = !std::mem::replace(&mut posts.attended, true);
        drop(posts);
        self.shared.changed.notify_all();
        if is_first {
            let shared = self.shared.clone();
            let courier = thread::Builder::new().name(shared.courier.to_owned()).stack_size(128 * 1024);
            // Without a courier whoever waits for the line would wait for ever: better that the pipe ends.
            if courier.spawn(move || shared.carry()).is_err() {
                held(&self.shared.posts).broken = true;
                return self.shared.give_up().pop_back().map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    /// Waits until everything posted so far is written or can no longer be; false after `limit`.
    pub(crate) fn flush(&self, limit: Duration) -> bool {
        let unwritten = |posts: &mut Posts| posts.written < posts.posted && !posts.closed;
        let posts = held(&self.shared.posts);
        let waited = self.shared.changed.wait_timeout_while(posts, limit, unwritten);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Closes the pipe, at once or as soon as the write under way ends. Later lines are refused. Never waits: a reader
    /// that sleeps must not keep a session from ending.
    pub(crate) fn close(&self) {
        // Dropped: who closes a pipe tells whoever waits for what was in it.
        drop(self.shared.give_up());
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

    fn wait_while<'p>(
        &self,
        posts: MutexGuard<'p, Posts>,
        unmet: impl Fn(&Posts) -> bool,
    ) -> MutexGuard<'p, Posts> {
        self.changed
            .wait_while(posts, |posts| unmet(posts) && !posts.closed)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The courier's life.
    fn carry(&self) {
        loop {
            let mut posts = self.wait_while(held(&self.posts), |posts| posts.waiting.is_empty());
            let Some(post) = posts.waiting.pop_front().filter(|_| !posts.closed) else { return };
            drop(posts);
            let sent = self.write(&post.lines);
            let mut posts = held(&self.posts);
            posts.bytes -= post.lines.len();
            posts.written += 1;
            self.unwritten.fetch_sub(1, Ordering::Release);
            if let Err(Undelivered { written, cause }) = sent {
                posts.broken = !posts.closed;
                let broken = posts.broken;
                drop(posts);
                let kind = cause.kind();
                let left = self.give_up();
                if broken {
                    post.lose(written, cause);
                    left.into_iter().for_each(|post| post.lose(0, kind.into()));
                }
                return;
            }
            drop(posts);
            self.changed.notify_all();
        }
    }

    /// What was posted and not written.
    fn give_up(&self) -> VecDeque<Post> {
        let mut posts = held(&self.posts);
        posts.closed = true;
        let left = std::mem::take(&mut posts.waiting);
        self.unwritten.fetch_sub(left.len(), Ordering::Release);
        drop(posts);
        self.changed.notify_all();
        left
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
    fn what_is_sent_follows_what_was_posted_before() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        let sending = thread::spawn(move || {
            for n in 0..500 {
                outlet.post(format!("{}", 2 * n).into_bytes());
                outlet.follow();
                outlet.send(format!("{}\n", 2 * n + 1).as_bytes()).unwrap();
            }
        });
        let lines =
            BufReader::new(reader).lines().take(1000).map(|line| line.unwrap().parse::<u32>().unwrap());
        assert!(lines.eq(0..1000));
        sending.join().unwrap();
    }

    #[test]
    fn whoever_posted_to_a_pipe_that_breaks_hears_it() {
        let (reader, writer) = io::pipe().unwrap();
        let outlet = Outlet::new("test", writer);
        drop(reader);
        let (tell, told) = std::sync::mpsc::channel();
        let lost = |tell: &std::sync::mpsc::Sender<usize>| -> Lost {
            let tell = tell.clone();
            Box::new(move |undelivered| tell.send(undelivered.written).unwrap())
        };
        if let Err(post) = outlet.post_lines(b"first\n".to_vec(), lost(&tell)) {
            post.lose(0, io::ErrorKind::BrokenPipe.into());
        }
        assert_eq!(told.recv(), Ok(0));
        let late = outlet.post_lines(b"second\n".to_vec(), lost(&tell));
        assert!(late.is_err(), "it is known by now");
        drop((late, tell));
        assert!(told.recv().is_err(), "each is told once");
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
