//! The end of a server's stderr, as the shim kept it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use callgate_store::{Home, slug};

use crate::DeskError;

/// No more than this many lines,
const LINES: usize = 200;
/// and no more than this many bytes of them.
const BYTES: u64 = 64 * 1024;

/// The last lines; empty if the server never wrote any. They are kept by server: sessions of one server share them.
pub(super) fn tail(home: &Home, server: &str) -> Result<String, DeskError> {
    let name = format!("{}.log", slug(server));
    let path = home.logs().join(&name);
    let mut text = read(&path, BYTES)?;
    // The log was begun anew a moment ago: the one before has more.
    let left = BYTES.saturating_sub(text.len() as u64);
    if left > 0 {
        let mut before = read(&path.with_extension("log.1"), left)?;
        before.push_str(&text);
        text = before;
    }
    let from = text.trim_end().rmatch_indices('\n').nth(LINES - 1).map_or(0, |(at, _)| at + 1);
    Ok(text[from..].to_owned())
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
