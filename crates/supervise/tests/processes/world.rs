//! Real processes to look at: a shim under test, and `/proc` seen from outside.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROBE: &str = env!("CARGO_BIN_EXE_supervise-probe");
/// Well above what is promised, so that a busy machine fails no test; the promise itself is measured where it is made.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for something to become true.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A session's name that occurs nowhere else on this machine.
pub(crate) fn fresh_session() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test{}x{}x", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Every living process that carries the word in its command line or environment, but for shims and keepers.
pub(crate) fn processes_of(word: &str) -> Vec<u32> {
    let listing = fs::read_dir("/proc").expect("/proc");
    let pids = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let part = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let command = part("cmdline");
        let is_shim =
            command.split(|byte| *byte == 0).nth(1).is_some_and(|role| role == b"shim" || role == b"late");
        let named = |text: &[u8]| text.windows(word.len()).any(|window| window == word.as_bytes());
        !is_shim && is_alive(*pid) && (named(&command) || named(&part("environ")))
    })
    .collect()
}

/// There, and not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    state_of(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

pub(crate) fn state_of(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim().chars().next()
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("signal sent");
}

/// What a process' descriptors point to.
pub(crate) fn descriptors(pid: u32) -> Vec<(u32, PathBuf)> {
    let listing = fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors");
    let number = |name: &OsStr| name.to_str().and_then(|name| name.parse().ok());
    listing
        .flatten()
        .filter_map(|entry| Some((number(&entry.file_name())?, fs::read_link(entry.path()).ok()?)))
        .collect()
}

/// A shim under test: the test is its client.
pub(crate) struct Shim {
    pub(crate) session: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Said, but not yet asked for.
    kept: RefCell<Vec<String>>,
}

impl Shim {
    /// With times of grace that a test can wait for.
    pub(crate) fn of(command: &[&str]) -> Shim {
        Shim::with_grace(command, 200, 200)
    }

    /// `sh -c SCRIPT WORD`: the session's name is `$0`, the probe's path `$PROBE`.
    pub(crate) fn of_script(script: &str) -> Shim {
        let session = fresh_session();
        Shim::launch(&session, &["/bin/sh", "-c", script, &session], 200, 200)
    }

    pub(crate) fn with_grace(command: &[&str], closing: u32, term: u32) -> Shim {
        Shim::launch(&fresh_session(), command, closing, term)
    }

    pub(crate) fn launch(session: &str, command: &[&str], closing: u32, term: u32) -> Shim {
        Shim::as_role(&["shim"], session, command, closing, term)
    }

    /// One whose keeper waits to be told.
    pub(crate) fn late(added: &str, command: &[&str]) -> Shim {
        Shim::as_role(&["late", added], &fresh_session(), command, 200, 200)
    }

    fn as_role(role: &[&str], session: &str, command: &[&str], closing: u32, term: u32) -> Shim {
        let mut child = Command::new(PROBE)
            .args(role)
            .args([session, &closing.to_string(), &term.to_string(), "--"])
            .args(command)
            .env_remove("CALLGATE_SESSION")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the probe runs");
        let stdout = child.stdout.take().expect("piped");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Shim { session: session.to_owned(), child, stdin, lines, kept: RefCell::default() }
    }

    /// The value of the next line that begins with this word; lines of other words are kept for later.
    pub(crate) fn hear(&self, word: &str) -> String {
        let value = |line: &str| {
            let rest = line.strip_prefix(word)?;
            if rest.is_empty() { Some(String::new()) } else { rest.strip_prefix(' ').map(str::to_owned) }
        };
        let mut kept = self.kept.borrow_mut();
        if let Some(at) = kept.iter().position(|line| value(line).is_some()) {
            return value(&kept.remove(at)).unwrap_or_default();
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("the shim never said {word:?}; it said {kept:?}"));
            match value(&line) {
                Some(value) => return value,
                None => kept.push(line),
            }
        }
    }

    pub(crate) fn hear_pid(&self, word: &str) -> u32 {
        self.hear(word).parse().expect("a process id")
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().expect("still open"), "{line}").expect("the shim reads");
    }

    /// What a client does first when it quits.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }

    /// Waits until the session has so many lingering processes: the last that each script starts.
    pub(crate) fn await_lingering(&self, count: usize) {
        let lingers = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            command.split(|byte| *byte == 0).nth(1) == Some(b"linger")
        };
        eventually(&format!("{count} lingering processes of {}", self.session), || {
            processes_of(&self.session).iter().filter(|pid| lingers(pid)).count() >= count
        });
    }

    pub(crate) fn await_nothing_left(&self) {
        eventually("nothing is left of the tree", || processes_of(&self.session).is_empty());
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
        // A failed test leaves nothing behind either.
        for pid in processes_of(&self.session) {
            if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
                _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
