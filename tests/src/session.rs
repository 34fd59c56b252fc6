//! One running session as a client sees it: bytes in, lines out, an end. Everything that comes out is kept from the
//! first byte on, and every wait has a deadline.

use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::json::{Dialect, Json};
use crate::notation::show;
use crate::processes::eventually;

/// Long enough for a loaded machine; a good run never comes near it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Everything that came out of one pipe.
#[derive(Debug, Default)]
pub struct Tape {
    state: Mutex<Recorded>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Recorded {
    bytes: Vec<u8>,
    closed: bool,
}

impl Tape {
    fn record(pipe: impl Read + Send + 'static) -> Arc<Tape> {
        let tape = Arc::new(Tape::default());
        let copy = Arc::clone(&tape);
        std::thread::spawn(move || copy.fill(pipe));
        tape
    }

    fn fill(&self, mut pipe: impl Read) {
        let mut chunk = vec![0; 1 << 16];
        loop {
            let read = pipe.read(&mut chunk).unwrap_or(0);
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.bytes.extend_from_slice(&chunk[..read]);
            state.closed = read == 0;
            self.news.notify_all();
            if read == 0 {
                return;
            }
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes.clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Waits until `met` gives something for the bytes so far; an error names what was missing.
    pub fn wait<T>(
        &self,
        what: &str,
        within: Duration,
        mut met: impl FnMut(&[u8], bool) -> Option<T>,
    ) -> anyhow::Result<T> {
        let deadline = Instant::now() + within;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = met(&state.bytes, state.closed) {
                return Ok(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            anyhow::ensure!(
                !state.closed,
                "the gate closed its output before {what}; so far:\n{}",
                show(&state.bytes)
            );
            anyhow::ensure!(
                !left.is_zero(),
                "not within {within:?}: {what}; so far:\n{}",
                show(&state.bytes)
            );
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn wait_closed(&self, within: Duration) -> anyhow::Result<()> {
        self.wait("the end of the output", within, |_, closed| closed.then_some(()))
    }
}

#[derive(Debug)]
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    pub out: Arc<Tape>,
    pub err: Arc<Tape>,
}

impl Session {
    pub fn start(mut command: Command) -> anyhow::Result<Session> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let stdin = child.stdin.take();
        let out = Tape::record(child.stdout.take().context("no stdout")?);
        let err = Tape::record(child.stderr.take().context("no stderr")?);
        Ok(Session { child, stdin, out, err })
    }

    /// Like [`Session::start`], but nobody reads the output until [`Session::start_reading`].
    pub fn start_unread(mut command: Command) -> anyhow::Result<(Session, std::process::ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("no stdout")?;
        let err = Tape::record(child.stderr.take().context("no stderr")?);
        Ok((Session { child, stdin, out: Arc::default(), err }, stdout))
    }

    pub fn start_reading(&mut self, stdout: std::process::ChildStdout) {
        self.out = Tape::record(stdout);
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("the input is closed already")?;
        stdin.write_all(bytes)?;
        Ok(stdin.flush()?)
    }

    pub fn send(&mut self, line: &str) -> anyhow::Result<()> {
        self.send_bytes(format!("{line}\n").as_bytes())
    }

    /// Takes the input pipe, for a writer of its own thread.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    pub fn call(&mut self, id: &str, tool: &str, arguments: &str) -> anyhow::Result<()> {
        self.send(&call_line(id, tool, arguments))
    }

    /// Waits for the answer to an id, given as JSON.
    pub fn answer(&self, id: &str) -> anyhow::Result<Json> {
        self.answer_within(id, PATIENCE)
    }

    pub fn answer_within(&self, id: &str, within: Duration) -> anyhow::Result<Json> {
        let id = Json::parse(id, Dialect::Strict).context("the id of a test must be JSON")?;
        // Nothing is looked at twice: output may be long.
        let (mut start, mut scanned) = (0, 0);
        self.out.wait(&format!("the answer to {}", id.to_text()), within, |bytes, _| {
            while let Some(length) = bytes[scanned..].iter().position(|b| *b == b'\n') {
                let line = &bytes[start..scanned + length];
                scanned += length + 1;
                start = scanned;
                if let Some(found) = as_answer(line).filter(|(of, _)| *of == id) {
                    return Some(found.1);
                }
            }
            scanned = bytes.len();
            None
        })
    }

    /// Calls and waits for the answer.
    pub fn ask(&mut self, id: &str, tool: &str, arguments: &str) -> anyhow::Result<Json> {
        self.call(id, tool, arguments)?;
        self.answer(id)
    }

    /// Waits for a line that holds this text.
    pub fn line_with(&self, text: &str) -> anyhow::Result<String> {
        self.nth_line_with(text, 1)
    }

    /// Waits until so many lines hold this text; gives the last of them.
    pub fn nth_line_with(&self, text: &str, nth: usize) -> anyhow::Result<String> {
        self.out.wait(&format!("line {nth} with {text}"), PATIENCE, |bytes, _| {
            let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
            let found = String::from_utf8_lossy(&bytes[..whole]);
            found.lines().filter(|line| line.contains(text)).nth(nth - 1).map(str::to_owned)
        })
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Waits for the process to end.
    pub fn ended(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            anyhow::ensure!(
                Instant::now() < deadline,
                "the gate did not end within {within:?}; stderr:\n{}",
                self.err.text()
            );
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    /// The orderly end: input closed, output read to its end, exit status.
    pub fn finish(mut self) -> anyhow::Result<Finished> {
        self.close_input();
        let status = self.ended(PATIENCE)?;
        self.out.wait_closed(PATIENCE)?;
        Ok(Finished { status, out: self.out.bytes(), err: self.err.text() })
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        crate::processes::signal(self.pid(), signal);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A failed test must not leave a gate behind. TERM first, so that the gate ends its server.
        self.stdin = None;
        if matches!(self.child.try_wait(), Ok(None)) {
            #[cfg(unix)]
            crate::processes::signal(self.child.id(), rustix::process::Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(8);
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// All that is left of a session.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: String,
}

fn as_answer(line: &[u8]) -> Option<(Json, Json)> {
    let parse = || Json::parse(std::str::from_utf8(line).ok()?, Dialect::Strict);
    // A thread for each line would be dear; only nesting needs the stack.
    let is_deep = line.iter().filter(|b| matches!(b, b'[' | b'{')).count() > 200;
    let value = if is_deep { crate::json::on_big_stack(parse) } else { parse() }?;
    let answers =
        value.get("method").is_none() && (value.get("result").is_some() || value.get("error").is_some());
    let id = value.get("id").filter(|_| answers)?.clone();
    Some((id, value))
}

pub fn call_line(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// The text of a tool result.
pub fn result_text(answer: &Json) -> Option<&str> {
    answer.at(&["result", "content"])?.items().first()?.get("text")?.as_text()
}

/// Whether the answer is a refusal in the form of a tool result: `isError`, in our words.
pub fn is_refusal(answer: &Json) -> bool {
    answer.at(&["result", "isError"]) == Some(&Json::Bool(true))
        && result_text(answer).is_some_and(|text| text.starts_with("Callgate: "))
}

/// What Callgate says to a call in the form of a tool result, without the number of the call.
pub fn told(answer: &Json) -> Option<&str> {
    let text = result_text(answer).filter(|_| is_refusal(answer))?;
    Some(text.rsplit_once(" (call ").map_or(text, |(words, _)| words))
}

/// How [`told`] goes on for a call that may have been done.
pub fn unknown_effect(happened: &str) -> String {
    format!("{happened}. Whether the call took effect is not known: look before you call again.")
}

pub fn error_code(answer: &Json) -> Option<i64> {
    match answer.at(&["error", "code"])? {
        Json::Number(lexeme) => lexeme.parse().ok(),
        _ => None,
    }
}

pub fn error_message(answer: &Json) -> Option<&str> {
    answer.at(&["error", "message"])?.as_text()
}

/// Waits until the process of that pid is gone.
pub fn gone(name: &str, pid: u32, within: Duration) {
    eventually(&format!("{name} (pid {pid}) is gone"), within, || {
        (!crate::processes::is_alive(pid)).then_some(())
    });
}

/// Waits until all of these are gone, in so long altogether.
pub fn all_gone(tree: &[(String, u32)], within: Duration) {
    let deadline = Instant::now() + within;
    for (name, pid) in tree {
        gone(name, *pid, deadline.saturating_duration_since(Instant::now()));
    }
}
