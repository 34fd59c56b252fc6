//! The logs of several programs read as one, by time, perhaps as they grow.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use callgate_home::{CappedFile, Home, private};

use crate::{LogLine, Program};

/// The newest lines of these programs, oldest first, as far as they are wanted; and what follows them.
pub fn last_lines(
    home: &Home,
    programs: &[Program],
    most: usize,
    wanted: impl Fn(&LogLine) -> bool,
) -> io::Result<(Vec<LogLine>, LogFollower)> {
    let mut lines = Vec::new();
    let mut logs = Vec::new();
    for program in programs {
        let path = home.diagnostics(program.name());
        lines.extend(FollowedLog::new(CappedFile::previous(&path)).news()?);
        let mut log = FollowedLog::new(path);
        lines.extend(log.news()?);
        logs.push(log);
    }
    lines.retain(wanted);
    lines.sort_by_key(|line| line.at_ms);
    lines.drain(..lines.len().saturating_sub(most));
    Ok((lines, LogFollower { logs }))
}

/// Tells what was written since it was asked last.
#[derive(Debug)]
pub struct LogFollower {
    logs: Vec<FollowedLog>,
}

impl LogFollower {
    pub fn news(&mut self) -> io::Result<Vec<LogLine>> {
        let mut lines = Vec::new();
        for log in &mut self.logs {
            lines.extend(log.news()?);
        }
        lines.sort_by_key(|line: &LogLine| line.at_ms);
        Ok(lines)
    }
}

#[derive(Debug)]
struct FollowedLog {
    path: PathBuf,
    file: Option<File>,
    position: u64,
    /// A line whose end has not come yet.
    unfinished: Vec<u8>,
}

impl FollowedLog {
    fn new(path: PathBuf) -> FollowedLog {
        FollowedLog { path, file: None, position: 0, unfinished: Vec::new() }
    }

    fn news(&mut self) -> io::Result<Vec<LogLine>> {
        if self.file.as_ref().is_none_or(|file| !private::is_at(file, &self.path)) {
            // The last lines of the one that was put aside.
            self.read()?;
            self.position = 0;
            self.file = match File::open(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                file => Some(file?),
            };
        }
        self.read()?;
        let whole = self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let bytes: Vec<u8> = self.unfinished.drain(..whole).collect();
        Ok(String::from_utf8_lossy(&bytes).lines().filter_map(LogLine::read).collect())
    }

    fn read(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        // One that was emptied goes on at its beginning.
        self.position = file.seek(SeekFrom::Start(self.position.min(file.metadata()?.len())))?;
        self.position += file.read_to_end(&mut self.unfinished)? as u64;
        Ok(())
    }
}
