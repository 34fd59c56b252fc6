//! What the server says on its error output: passed on, and its tail kept in `logs/`.
//!
//! Always drained, whoever reads or does not read our own error output: a server must not hang on it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use callgate_store::mask::Masker;
use callgate_store::{Home, slug};

use crate::outlet::Outlet;
use crate::stdio;

/// A server's log is begun anew above this; the one before is kept.
const LOG_BYTES: u64 = 1024 * 1024;

/// Handle on the thread that drains the server's error output.
#[derive(Debug)]
pub(crate) struct StderrTee {
    ours: Outlet,
}

impl StderrTee {
    pub(crate) fn start(
        home: &Home,
        server: &str,
        masker: Masker,
        source: impl Read + Send + 'static,
    ) -> io::Result<StderrTee> {
        let ours = Outlet::new("to-stderr", stdio::stderr()?)?;
        let log = Log::new(home.logs().join(format!("{}.log", slug(server))), masker);
        let to = ours.clone();
        thread::Builder::new().name("stderr".to_owned()).spawn(move || drain(source, &to, log))?;
        Ok(StderrTee { ours })
    }

    /// Waits until what was taken so far is passed on.
    pub(crate) fn flush(&self, limit: Duration) {
        self.ours.flush(limit);
    }
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

/// The file with the server's last words, masked line by line and bounded.
struct Log {
    path: PathBuf,
    masker: Masker,
    file: Option<File>,
    written: u64,
    /// A line that is not complete yet: a secret must not escape the mask by being cut in two.
    unfinished: Vec<u8>,
}

impl Log {
    fn new(path: PathBuf, masker: Masker) -> Log {
        Log { path, masker, file: None, written: 0, unfinished: Vec::new() }
    }

    /// A log that cannot be written is no reason to disturb the session.
    fn keep(&mut self, text: &[u8]) {
        if text == b"\n" && self.unfinished.is_empty() {
            return;
        }
        self.unfinished.extend_from_slice(text);
        let whole = match memchr::memrchr(b'\n', &self.unfinished) {
            Some(last) => last + 1,
            None if self.unfinished.len() > 64 * 1024 => self.unfinished.len(),
            None => return,
        };
        let lines: Vec<u8> = self.unfinished.drain(..whole).collect();
        let masked = self.masker.keep_text(&String::from_utf8_lossy(&lines)).into_owned();
        if self.open().and_then(|file| file.write_all(masked.as_bytes())).is_err() {
            self.file = None;
            return;
        }
        self.written += masked.len() as u64;
        if self.written > LOG_BYTES {
            drop(std::fs::rename(&self.path, self.path.with_extension("log.1")));
            self.file = None;
        }
    }

    fn open(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut options = OpenOptions::new();
                options.create(true).append(true);
                private(&mut options);
                let file = options.open(&self.path)?;
                self.written = file.metadata()?.len();
                file
            }
        };
        Ok(self.file.insert(file))
    }
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_options: &mut OpenOptions) {}
