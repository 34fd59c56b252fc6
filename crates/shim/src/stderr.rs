//! Standard error of the server: passed on, and its tail kept in `logs/`.
//!
//! Always drained, whoever reads or does not read our own error output: a server must not hang on it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use callgate_home::{CappedFile, Home, SessionId, clock, stderr_line};
use callgate_redaction::Masker;

use crate::outlet::Outlet;
use crate::stdio;

/// A server's log is begun anew above this; the one before is kept.
const LOG_BYTES: u64 = 1024 * 1024;
/// What is remembered of a server's last words: enough for a trace, little enough for an answer.
const TAIL_LINES: usize = 40;
const TAIL_LINE: usize = 300;

/// Drains the error output of one server after another.
#[derive(Debug)]
pub(crate) struct StderrTee {
    ours: Outlet,
    path: PathBuf,
    session: SessionId,
    masker: Masker,
    tail: Arc<Tail>,
}

impl StderrTee {
    pub(crate) fn new(
        home: &Home,
        server: &str,
        session: SessionId,
        masker: Masker,
    ) -> io::Result<StderrTee> {
        let ours = Outlet::new("to-stderr", stdio::stderr()?);
        let path = home.stderr_log(server);
        Ok(StderrTee { ours, path, session, masker, tail: Arc::default() })
    }

    /// Takes in what this server says. What the one before said last is forgotten.
    pub(crate) fn follow(&self, source: impl Read + Send + 'static) -> io::Result<()> {
        self.tail.begin();
        let log = Log::new(self.path.clone(), self.session, self.masker.clone(), self.tail.clone());
        let (to, tail) = (self.ours.clone(), self.tail.clone());
        let work = move || {
            drain(source, &to, log);
            tail.end();
        };
        thread::Builder::new().name("stderr".to_owned()).spawn(work).map(drop)
    }

    /// Waits until what was taken so far is passed on.
    pub(crate) fn flush(&self, limit: Duration) {
        self.ours.flush(limit);
    }

    /// The last lines of the server, masked and harmless, oldest first; waits a moment for a server that ended to have
    /// said them.
    pub(crate) fn last_lines(&self, limit: Duration) -> Vec<String> {
        let said = self.tail.said();
        let waited = self.tail.ended.wait_timeout_while(said, limit, |said| said.open > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.lines.iter().cloned().collect()
    }
}

/// The last words of the server of this moment.
#[derive(Debug, Default)]
struct Tail {
    said: Mutex<Said>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Said {
    lines: VecDeque<String>,
    /// How many error outputs are open.
    open: usize,
}

impl Tail {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        let mut said = self.said();
        said.lines.clear();
        said.open += 1;
    }

    fn end(&self) {
        self.said().open -= 1;
        self.ended.notify_all();
    }

    /// Takes in masked text.
    fn keep(&self, text: &str) {
        let mut said = self.said();
        for line in text.lines().map(plain).filter(|line| !line.trim().is_empty()) {
            if said.lines.len() == TAIL_LINES {
                said.lines.pop_front();
            }
            said.lines.push_back(line);
        }
    }
}

/// A line without colours, without what could hide or move text, and not too long.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            // A colour, up to its letter.
            while chars.next_if(|c| !c.is_ascii_alphabetic()).is_some() {}
            chars.next();
            continue;
        }
        let hides = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if !hides {
            out.push(if c.is_control() { ' ' } else { c });
        }
        if out.chars().count() >= TAIL_LINE {
            out.push('…');
            break;
        }
    }
    out.trim_end().to_owned()
}

fn drain(mut source: impl Read, to: &Outlet, mut log: Log) {
    let mut buffer = vec![0; 16 * 1024];
    let mut dropped = 0_usize;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => {
                // Last words often come without an end of line.
                log.keep(b"\n");
                return;
            }
            Ok(count) => {
                let text = &buffer[..count];
                log.keep(text);
                if dropped > 0 && to.offer(format!("\ncallgate: {dropped} bytes dropped\n").as_bytes()) {
                    dropped = 0;
                }
                if !to.offer(text) {
                    dropped += count;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The file with the server's last words, each line with its time and session, masked line by line and bounded.
struct Log {
    file: CappedFile,
    session: SessionId,
    masker: Masker,
    /// A line that is not complete yet: a secret must not escape the mask by being cut in two.
    unfinished: Vec<u8>,
    /// When the first piece of it came.
    begun_ms: i64,
    /// What is in the file ends within a line, because it was too long to be waited for.
    within_line: bool,
    tail: Arc<Tail>,
}

impl Log {
    fn new(path: PathBuf, session: SessionId, masker: Masker, tail: Arc<Tail>) -> Log {
        let (unfinished, begun_ms, within_line) = (Vec::new(), 0, false);
        let file = CappedFile::new(path, LOG_BYTES);
        Log { file, session, masker, unfinished, begun_ms, within_line, tail }
    }

    /// A log that cannot be written is no reason to disturb the session.
    fn keep(&mut self, text: &[u8]) {
        if text == b"\n" && self.unfinished.is_empty() && !self.within_line {
            return;
        }
        let now_ms = clock::wall_ms();
        if self.unfinished.is_empty() {
            self.begun_ms = now_ms;
        }
        self.unfinished.extend_from_slice(text);
        let whole = match memchr::memrchr(b'\n', &self.unfinished) {
            Some(last) => last + 1,
            None if self.unfinished.len() > 64 * 1024 => self.unfinished.len(),
            None => return,
        };
        let lines: Vec<u8> = self.unfinished.drain(..whole).collect();
        let masked = self.masker.keep_line(&String::from_utf8_lossy(&lines)).into_owned();
        self.tail.keep(&masked);
        let stamped = self.stamped(&masked, now_ms);
        let _unwritten = self.file.append(stamped.as_bytes());
    }

    /// With a time and the session before each line that begins here: the first may have begun earlier than the others.
    fn stamped(&mut self, text: &str, now_ms: i64) -> String {
        let mut out = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            if !self.within_line {
                out.push_str(&stderr_line::stamp(self.begun_ms, self.session));
            }
            out.push_str(line);
            self.within_line = !line.ends_with('\n');
            self.begun_ms = now_ms;
        }
        out
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]]) -> (String, PathBuf, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        let mut log =
            Log::new(path.clone(), "k3v9qa".parse().unwrap(), Masker::new(&[]), Arc::new(Tail::default()));
        pieces.iter().for_each(|piece| log.keep(piece));
        (std::fs::read_to_string(&path).unwrap_or_default(), path, folder)
    }

    #[test]
    fn every_line_has_one_time_also_one_that_came_in_pieces() {
        let long = "x".repeat(70_000);
        let (text, ..) =
            kept(&[b"lis", b"tening\nsecond\nth", b"ird", b"\n", long.as_bytes(), b"end\n", b"last", b"\n"]);
        let lines: Vec<_> = text.lines().map(stderr_line::StderrLine::read).collect();
        let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
        assert_eq!(texts.len(), 5, "one line each");
        assert_eq!((&texts[..3], texts[4]), (["listening", "second", "third"].as_slice(), "last"));
        assert!(texts[3].starts_with("xxx") && texts[3].ends_with("end"), "one that nobody could wait for");
        assert!(lines.iter().all(|line| line.stamp.is_some_and(|(at_ms, _)| at_ms > 1_600_000_000_000)));
    }

    #[test]
    fn a_log_with_times_is_still_begun_anew_above_its_size() {
        let line = [b"a short line of words\n".as_slice(); 600].concat();
        let pieces: Vec<&[u8]> = vec![&line; 100];
        let (text, path, _folder) = kept(&pieces);
        let before = std::fs::metadata(CappedFile::previous(&path)).unwrap().len();
        assert!((LOG_BYTES..LOG_BYTES + 64 * 1024).contains(&before), "{before}");
        assert!((text.len() as u64) < LOG_BYTES);
    }

    #[test]
    fn a_log_that_was_emptied_or_removed_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.log");
        let mut log =
            Log::new(path.clone(), "k3v9qa".parse().unwrap(), Masker::new(&[]), Arc::new(Tail::default()));
        let mut said = |line: &[u8]| {
            log.keep(line);
            std::fs::read_to_string(&path).unwrap()
        };
        said(b"one\n");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        let text = said(b"two\n");
        assert!(text.ends_with(" two\n") && text.lines().count() == 1 && !text.contains('\0'), "{text:?}");
        if cfg!(unix) {
            std::fs::remove_file(&path).unwrap();
            let text = said(b"three\n");
            assert!(text.ends_with(" three\n") && text.lines().count() == 1, "{text:?}");
        }
    }

    #[test]
    fn colours_and_hidden_characters_do_not_get_into_last_words() {
        for (said, shown) in [
            ("\u{1b}[31mError\u{1b}[0m: no", "Error: no"),
            ("a\tb\u{7}", "a b"),
            ("x\u{202e}y\u{200b}z", "xyz"),
            ("\u{1b}[", ""),
        ] {
            assert_eq!(plain(said), shown);
        }
        assert_eq!(plain(&"x".repeat(1000)).chars().count(), TAIL_LINE + 1);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = Tail::default();
        tail.begin();
        for n in 0..100 {
            tail.keep(&format!("line {n}\n\n"));
        }
        let lines: Vec<String> = tail.said().lines.iter().cloned().collect();
        assert_eq!((lines.len(), lines[0].as_str(), lines[39].as_str()), (40, "line 60", "line 99"));
    }
}
