//! The `PATH` of a person's login shell, asked for once in a while and never for long.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::time::Timespec;

use super::raw;

const BEGIN: &[u8] = b"callgate-path-begins:";
const END: &[u8] = b":callgate-path-ends";
/// What a shell may say beside, on its way.
const LONGEST: usize = 1 << 20;

/// What the login shell has as its `PATH`. Makes no thread; what the shell is still doing after `limit` is ended.
pub fn login_path(limit: Duration) -> Option<OsString> {
    let (reader, writer) = io::pipe().ok()?;
    // Quoted so that the marks do not stand in a shell's own echo of the command.
    let script = r#"echo "callgate-path-""begins:$PATH:callgate-path-""ends""#;
    let mut command = Command::new(shell());
    command.args(["-l", "-i", "-c", script]).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
    // An interactive shell would stop itself, or the client, in a fight for the client's terminal.
    raw::without_terminal(&mut command);
    let child = command.spawn().ok()?;
    drop(command);
    let said = listen(reader, Instant::now() + limit);
    end(child);
    let from = find(&said, BEGIN)? + BEGIN.len();
    let path = &said[from..];
    let path = path[..find(path, END)?].to_vec();
    Some(OsString::from_vec(path)).filter(|path| !path.is_empty())
}

fn listen(mut reader: PipeReader, until: Instant) -> Vec<u8> {
    let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
    // Something that the shell started may keep the pipe open for ever: the mark is the end.
    while said.len() < LONGEST && find(&said, END).is_none() {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(time) = Timespec::try_from(left) else { break };
        let mut sources = [PollFd::new(&reader, PollFlags::IN)];
        if left.is_zero() || !matches!(poll(&mut sources, Some(&time)), Ok(1..)) {
            break;
        }
        match reader.read(&mut chunk) {
            Ok(count @ 1..) => said.extend_from_slice(&chunk[..count]),
            _ => break,
        }
    }
    said
}

/// It has said what it had to say, or had its time.
fn end(mut child: Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        _ = kill_process_group(group, Signal::KILL);
    }
    _ = child.wait();
}

fn shell() -> PathBuf {
    let named =
        std::env::var_os("SHELL").filter(|shell| OsStr::new(shell).as_encoded_bytes().starts_with(b"/"));
    named.map(PathBuf::from).or_else(of_this_user).unwrap_or_else(|| PathBuf::from(USUAL))
}

const USUAL: &str = if cfg!(target_os = "macos") { "/bin/zsh" } else { "/bin/sh" };

/// Some clients hand on no `SHELL`.
fn of_this_user() -> Option<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let uid = rustix::process::getuid().as_raw().to_string();
    let mine = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|parts| parts.get(2) == Some(&uid.as_str()))?;
    mine.get(6).filter(|shell| shell.starts_with('/')).map(PathBuf::from)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
