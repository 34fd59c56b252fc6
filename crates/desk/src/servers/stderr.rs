//! A server's stderr, as the shim kept it: its end, and what comes. Sessions of one server share a log; each line says
//! when, and in which of them.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use callgate_home::stderr_line::StderrLine;
use callgate_home::{CappedFile, Home, SessionId};
use callgate_text::local;

use crate::DeskError;

/// No more than this many lines,
const LINES: usize = 200;
/// and no more than this many bytes of them.
const BYTES: u64 = 64 * 1024;

/// A log is begun anew long before this; one that somebody else made larger is not read whole.
const SEARCHED: u64 = 16 * 1024 * 1024;

/// What is taken in at a time while following.
const STEP: u64 = 1024 * 1024;

/// The last lines, with a search the last that hold it, however it is written; empty if the server never wrote any. With a
/// session only its own, and those of which nobody knows whose they are.
pub(super) fn tail(
    home: &Home,
    server: &str,
    session: Option<SessionId>,
    search: &str,
    now_ms: i64,
) -> Result<String, DeskError> {
    let wanted = search.trim().to_lowercase();
    let most = if wanted.is_empty() && session.is_none() { BYTES } else { SEARCHED };
    let text = kept(home, server, most)?;
    let today = local(now_ms).date();
    let mut found: Vec<String> = Vec::new();
    let mut bytes = 0;
    let lines = text.lines().rev().map(StderrLine::read).filter(|line| is_of(line, session));
    for line in lines.filter(|line| line.text.to_lowercase().contains(&wanted)).take(LINES) {
        let shown = shown(&line, today);
        let room = usize::try_from(BYTES).unwrap_or(usize::MAX) - bytes;
        if shown.len() > room {
            // Of a line that is too long by itself, its end.
            if found.is_empty() {
                let from = (shown.len() - room..shown.len()).find(|at| shown.is_char_boundary(*at));
                found.push(shown[from.unwrap_or(shown.len())..].to_owned());
            }
            break;
        }
        bytes += shown.len();
        found.push(shown);
    }
    found.reverse();
    Ok(found.concat())
}

/// As the window shows it: the time by the person's own clock, and the day if it is another one.
fn shown(line: &StderrLine<'_>, today: jiff::civil::Date) -> String {
    let Some((at_ms, _)) = line.stamp else { return format!("{}\n", line.text) };
    let at = local(at_ms);
    let form = if at.date() == today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
    format!("{} {}\n", at.strftime(form), line.text)
}

fn is_of(line: &StderrLine<'_>, session: Option<SessionId>) -> bool {
    match (session, line.stamp) {
        (Some(wanted), Some((_, session))) => session == wanted,
        _ => true,
    }
}

/// One line, for whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StderrEntry {
    /// In milliseconds since 1970, and the session; an older Callgate did not write them down.
    pub stamp: Option<(i64, SessionId)>,
    pub text: String,
}

/// Reads a server's stderr from its end on.
#[derive(Debug)]
pub struct StderrFollower {
    path: PathBuf,
    session: Option<SessionId>,
    file: Option<File>,
    position: u64,
    /// A line whose end has not come yet.
    unfinished: Vec<u8>,
}

impl StderrFollower {
    /// The last lines of what is there, and a follower of what comes.
    pub(super) fn open(
        home: &Home,
        server: &str,
        session: Option<SessionId>,
        last: usize,
    ) -> Result<(Vec<StderrEntry>, StderrFollower), DeskError> {
        let path = log_of(home, server);
        // What comes between the two readings comes twice rather than never: so the place is taken first.
        let position = fs::metadata(&path).map_or(0, |meta| meta.len());
        let file = File::open(&path).ok();
        let text = kept(home, server, SEARCHED)?;
        let lines = text.lines().map(StderrLine::read).filter(|line| is_of(line, session));
        let lines: Vec<StderrEntry> = lines.map(entry).collect();
        let from = lines.len().saturating_sub(last);
        let follower = StderrFollower { path, session, file, position, unfinished: Vec::new() };
        Ok((lines[from..].to_vec(), follower))
    }

    /// Whole lines that came since.
    pub fn news(&mut self) -> Result<Vec<StderrEntry>, DeskError> {
        let fail = |path: &Path, error| DeskError::disk(format!("{} cannot be read", path.display()), error);
        let mut bytes = std::mem::take(&mut self.unfinished);
        self.take(&mut bytes).map_err(|error| fail(&self.path, error))?;
        // A log that is shorter than what was read of it is a new one: the one before was put beside it, and is read to its
        // end by now.
        let there = fs::metadata(&self.path).map_or(0, |meta| meta.len());
        if self.file.is_none() || there < self.position {
            (self.file, self.position) = (File::open(&self.path).ok(), 0);
            self.take(&mut bytes).map_err(|error| fail(&self.path, error))?;
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.unfinished = bytes.split_off(whole);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(StderrLine::read).filter(|line| is_of(line, self.session));
        Ok(lines.map(entry).collect())
    }

    fn take(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.position))?;
        self.position += file.take(STEP).read_to_end(into)? as u64;
        Ok(())
    }
}

fn entry(line: StderrLine<'_>) -> StderrEntry {
    StderrEntry { stamp: line.stamp, text: line.text.to_owned() }
}

fn log_of(home: &Home, server: &str) -> PathBuf {
    home.stderr_log(server)
}

/// The last bytes of what is kept.
fn kept(home: &Home, server: &str, most: u64) -> Result<String, DeskError> {
    let path = log_of(home, server);
    let text = read(&path, most)?;
    // The log was begun anew a moment ago: the one before has more.
    let left = most.saturating_sub(text.len() as u64);
    if left == 0 {
        return Ok(text);
    }
    let mut before = read(&CappedFile::previous(&path), left)?;
    before.push_str(&text);
    Ok(before)
}

/// The last bytes of a file as text, from the beginning of a line.
fn read(path: &Path, most: u64) -> Result<String, DeskError> {
    let fail = |error| DeskError::disk(format!("{} cannot be read", path.display()), error);
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(fail(error)),
    };
    let start = file.metadata().map_err(fail)?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start)).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(fail)?;
    if start > 0 {
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.drain(..line);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
