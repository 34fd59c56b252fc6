//! One client's session with a started program: writes lines, reads lines, never waits for ever.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::message::{Answer, FIRST_ID, LAST_ID, Template, read_answer};

/// Far above what any measure takes. A session that is still there then hangs.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Session {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// Received and not yet looked at: `buffer[at..filled]`. The rest is room, kept from read to read.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    next_id: u64,
    /// Dropping it tells the watchdog that all went well.
    _watchdog: mpsc::Sender<()>,
}

impl Session {
    pub fn start(mut command: Command) -> Result<Session> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let input = child.stdin.take().context("no stdin")?;
        let output = child.stdout.take().context("no stdout")?;
        let watchdog = watch(&child, PATIENCE);
        let buffer = vec![0; 256 * 1024];
        Ok(Session { child, input, output, buffer, at: 0, filled: 0, next_id: FIRST_ID, _watchdog: watchdog })
    }

    /// For a measure that takes so long by itself.
    pub fn be_patient(&mut self, lasts: Duration) {
        self._watchdog = watch(&self.child, lasts + PATIENCE);
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The ids are counted by the session, so that no answer can be taken for another's.
    pub fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        // A long session begins anew: whoever had the first ids was answered long ago.
        self.next_id = if id == LAST_ID { FIRST_ID } else { id + 1 };
        id
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.input.write_all(bytes).context("the session does not take input any more")
    }

    /// The next line, without its line feed.
    pub fn line(&mut self) -> Result<&[u8]> {
        let mut searched = self.at;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.filled]) {
                let line = self.at..searched + found;
                self.at = line.end + 1;
                return Ok(&self.buffer[line]);
            }
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
            searched = self.filled;
            self.receive()?;
        }
    }

    /// True when another complete line is here already, so that reading it will not wait.
    pub fn has_line(&self) -> bool {
        memchr::memchr(b'\n', &self.buffer[self.at..self.filled]).is_some()
    }

    fn receive(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        let room = &mut self.buffer[self.filled..];
        let count = self.output.read(room).context("cannot read the session's output")?;
        self.filled += count;
        ensure!(count > 0, "the session closed its output before it answered (or hung and was ended)");
        Ok(())
    }

    /// Sends one request and reads until its answer has come; other messages are left out.
    pub fn ask(&mut self, request: &mut Template) -> Result<Answer> {
        let id = self.take_id();
        self.send(request.with_id(id))?;
        loop {
            if let Some(answer) = read_answer(self.line()?, id) {
                return Ok(answer);
            }
        }
    }

    /// As [`Session::ask`], where anything but the server's own result is a fault of the measure.
    pub fn call(&mut self, request: &mut Template) -> Result<()> {
        match self.ask(request)? {
            Answer::Result => Ok(()),
            other => bail!("expected a result, got {other:?}"),
        }
    }

    /// How long one such call takes.
    pub fn time(&mut self, request: &mut Template) -> Result<Duration> {
        let start = Instant::now();
        self.call(request)?;
        Ok(start.elapsed())
    }

    pub fn initialize(&mut self) -> Result<()> {
        self.call(&mut Template::initialize())?;
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
    }

    /// Closes our side and waits for the end. A gate ends only when its record is safe in the history.
    pub fn end(mut self) -> Result<ExitStatus> {
        drop(self.input);
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the session ended with {status}");
        Ok(status)
    }
}

/// Ends the process when the session is not dropped in time; every blocked read or write then fails.
fn watch(child: &Child, patience: Duration) -> mpsc::Sender<()> {
    let (alive, over) = mpsc::channel();
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        if over.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            kill_process(pid, Signal::KILL).ok();
        }
    });
    alive
}
