//! The end of a server's stderr, as the shim kept it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use callgate_store::{Home, slug};

use crate::DeskError;

/// No more than this many lines,
const LINES: usize = 200;
/// and no more than this many bytes of them.
const BYTES: u64 = 64 * 1024;

/// A log is begun anew long before this; one that somebody else made larger is not read whole.
const SEARCHED: u64 = 16 * 1024 * 1024;

/// The last lines, with a search the last that hold it, however it is written; empty if the server never wrote any. They are kept by server: sessions of one server share them.
pub(super) fn tail(home: &Home, server: &str, search: &str) -> Result<String, DeskError> {
    let wanted = search.trim().to_lowercase();
    let text = match wanted.as_str() {
        "" => kept(home, server, BYTES)?,
        wanted => holding(&kept(home, server, SEARCHED)?, wanted),
    };
    let from = text.trim_end().rmatch_indices('\n').nth(LINES - 1).map_or(0, |(at, _)| at + 1);
    Ok(text[from..].to_owned())
}

/// The last bytes of what is kept.
fn kept(home: &Home, server: &str, most: u64) -> Result<String, DeskError> {
    let path = home.logs().join(format!("{}.log", slug(server)));
    let text = read(&path, most)?;
    // The log was begun anew a moment ago: the one before has more.
    let left = most.saturating_sub(text.len() as u64);
    if left == 0 {
        return Ok(text);
    }
    let mut before = read(&path.with_extension("log.1"), left)?;
    before.push_str(&text);
    Ok(before)
}

/// The lines that hold a text; not more bytes of them than are shown without one.
fn holding(text: &str, wanted: &str) -> String {
    let mut found: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for line in text.lines().rev().filter(|line| line.to_lowercase().contains(wanted)) {
        bytes += line.len() as u64 + 1;
        if bytes > BYTES {
            break;
        }
        found.push(line);
    }
    found.iter().rev().map(|line| format!("{line}\n")).collect()
}

/// The last bytes of a file as text, from the beginning of a line.
fn read(path: &std::path::Path, most: u64) -> Result<String, DeskError> {
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
