//! The writing end of a spool: one `write` per group; a group that did not fit is taken back.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use callgate_home::{StoreError, failpoint, private};

use super::reader::read_at;
use super::record::{Opened, encode};
use super::{GROUP_HEAD, MAGIC, checksum};

#[derive(Debug)]
pub(crate) struct Spool {
    /// Why there is none, in a session that cannot record.
    file: Result<File, StoreError>,
    path: PathBuf,
    /// End of the head: what truncation leaves.
    base: u64,
    len: u64,
    next_number: u64,
    /// Bytes beyond `len` may be left of a failed append.
    torn: bool,
    /// How many files this was before: a reader of an older one has to look again.
    turn: u64,
}

/// A group under way: room for its head, then records.
#[derive(Debug)]
pub(crate) struct Group(Vec<u8>);

impl Group {
    pub(crate) fn new() -> Self {
        Group::reusing(Vec::new())
    }

    pub(crate) fn reusing(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.resize(GROUP_HEAD, 0);
        Group(buffer)
    }

    pub(crate) fn push<T: serde::Serialize>(&mut self, record: &T) {
        encode(record, &mut self.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == GROUP_HEAD
    }

    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.0
    }

    /// Checksum of the records; computed outside the spool's lock.
    pub(crate) fn seal(&mut self) {
        let records = &self.0[GROUP_HEAD..];
        let (length, sum) = (records.len() as u32, crc32fast::hash(records));
        self.0[0..4].copy_from_slice(&length.to_le_bytes());
        self.0[4..8].copy_from_slice(&sum.to_le_bytes());
    }

    fn number(&mut self, number: u64) {
        let records = self.0.len() - GROUP_HEAD;
        let mut sum = [0; 4];
        sum.copy_from_slice(&self.0[4..8]);
        let sum = checksum(u32::from_le_bytes(sum), records, number);
        self.0[4..8].copy_from_slice(&sum.to_le_bytes());
        self.0[8..16].copy_from_slice(&number.to_le_bytes());
    }
}

impl Spool {
    /// Begins a new file, in a session that has none or has lost it. What was in the one that is lost comes along, and groups
    /// are numbered on.
    pub(crate) fn begin(&mut self, opened: &Opened) -> Result<(), StoreError> {
        let path = self.path.as_path();
        let fail = |error: io::Error| StoreError::io("create", path, &error);
        let file = private::options().read(true).write(true).create_new(true).open(path).map_err(fail)?;
        let mut group = Group::new();
        group.push(opened);
        group.seal();
        group.number(0);
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&group.0);
        if let Err(error) = write_at(&file, &head, 0) {
            // A spool without its head is worth nothing to anyone.
            let _gone = std::fs::remove_file(path);
            return Err(fail(error));
        }
        let base = head.len() as u64;
        let moved = self.groups().and_then(|groups| write_at(&file, &groups, base).map(|()| groups.len()));
        let len = match moved {
            Ok(bytes) => base + bytes as u64,
            Err(error) => {
                let _gone = std::fs::remove_file(path);
                return Err(fail(error));
            }
        };
        (self.file, self.base, self.len, self.torn) = (Ok(file), base, len, false);
        self.turn += 1;
        Ok(())
    }

    /// What the file holds at this moment, without its head.
    fn groups(&self) -> io::Result<Vec<u8>> {
        let Ok(file) = &self.file else { return Ok(Vec::new()) };
        let mut groups = vec![0; usize::try_from(self.len - self.base).unwrap_or_default()];
        match read_at(file, &mut groups, self.base)? == groups.len() {
            true => Ok(groups),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// A spool without a file: every append fails with this error.
    pub(crate) fn closed(path: &Path, error: StoreError) -> Spool {
        let path = path.to_owned();
        Spool { file: Err(error), path, base: 0, len: 0, next_number: 1, torn: false, turn: 0 }
    }

    /// Why nothing can be recorded: there is no file yet, or it was removed and nobody would ever read what is written to it.
    pub(crate) fn trouble(&self) -> Option<StoreError> {
        match &self.file {
            Err(error) => Some(error.clone()),
            Ok(file) if private::is_removed(file, &self.path) => {
                Some(StoreError::Removed { path: self.path.clone() })
            }
            Ok(_) => None,
        }
    }

    pub(crate) fn turn(&self) -> u64 {
        self.turn
    }

    fn file(&self) -> Result<&File, StoreError> {
        self.file.as_ref().map_err(StoreError::clone)
    }

    /// Appends a sealed group: it is in the file whole, or it is not and the file is as before.
    pub(crate) fn append(&mut self, group: &mut Group) -> Result<(), StoreError> {
        failpoint::reach("append.before_write");
        self.mend()?;
        group.number(self.next_number);
        if let Err(error) = write_at(self.file()?, &group.0, self.len) {
            self.torn = true;
            let _later = self.mend();
            return Err(StoreError::io("write", &self.path, &error));
        }
        self.len += group.0.len() as u64;
        self.next_number += 1;
        failpoint::reach("append.after_write");
        Ok(())
    }

    /// Takes back what a failed append left. Until that works nothing is appended: a whole record of a call that
    /// was then refused must not stand.
    fn mend(&mut self) -> Result<(), StoreError> {
        if self.torn {
            self.file()?.set_len(self.len).map_err(|error| StoreError::io("shorten", &self.path, &error))?;
            self.torn = false;
        }
        Ok(())
    }

    /// Forgets everything before `drained` if that is all there is, and still the file that was read.
    pub(crate) fn truncate(&mut self, drained: u64, turn: u64) -> Result<bool, StoreError> {
        if drained != self.len || turn != self.turn {
            return Ok(false);
        }
        if self.len > self.base {
            failpoint::reach("drain.before_truncate");
            self.file()?.set_len(self.base).map_err(|error| StoreError::io("shorten", &self.path, &error))?;
            self.len = self.base;
            self.torn = false;
            failpoint::reach("drain.after_truncate");
        }
        Ok(true)
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}
