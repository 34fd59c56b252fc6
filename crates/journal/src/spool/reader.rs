//! The reading end of a spool, for its own session's drain and for strangers alike. The file may grow or be
//! truncated under the reader: checksums make anything that is not a whole group the end of the file.

use std::fs::File;
use std::io;
use std::path::Path;

use super::record::Opened;
use super::{GROUP_HEAD, MAGIC, checksum};

/// How much is read at once, unless one group is larger: enough for calls and their answers to meet in it, little
/// enough to be filed in one short transaction.
const CHUNK: usize = 1024 * 1024;
/// No group is larger: beyond this a length is damage.
const LARGEST: usize = 1 << 30;

#[derive(Debug)]
pub struct Reader {
    file: File,
    /// The file offset of the next group.
    offset: u64,
    /// Where the first group after the head starts.
    start: u64,
    buffer: Vec<u8>,
}

/// What a spool's head says.
#[derive(Debug)]
pub enum Head {
    Session(Opened),
    /// Its format is not ours: left alone.
    Foreign,
    /// Nothing was ever recorded in it.
    Empty,
}

#[derive(Debug)]
pub struct ReadGroup<'b> {
    pub number: u64,
    pub records: &'b [u8],
}

impl ReadGroup<'_> {
    /// How much of the file it takes.
    pub fn bytes(&self) -> u64 {
        (GROUP_HEAD + self.records.len()) as u64
    }
}

impl Reader {
    pub fn open(path: &Path) -> io::Result<(Reader, Head)> {
        let mut reader = Reader { file: File::open(path)?, offset: 0, start: 0, buffer: Vec::new() };
        let mut magic = [0; MAGIC.len()];
        let got = read_at(&reader.file, &mut magic, 0)?;
        if got < MAGIC.len() {
            return Ok((reader, Head::Empty));
        }
        if &magic != MAGIC {
            return Ok((reader, Head::Foreign));
        }
        reader.offset = MAGIC.len() as u64;
        let head = match reader.next_up_to(1)?.first() {
            Some(group) => postcard::from_bytes(group.records).map_or(Head::Foreign, Head::Session),
            None => Head::Empty,
        };
        reader.start = reader.offset;
        Ok((reader, head))
    }

    /// Where the next group would start.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Is the next group the first after the head?
    pub fn is_at_start(&self) -> bool {
        self.offset == self.start
    }

    /// Goes on from `offset`.
    pub fn seek(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// The next whole groups, about a chunk of them; none at the end of what can be read.
    pub fn next_groups(&mut self) -> io::Result<Vec<ReadGroup<'_>>> {
        self.next_up_to(usize::MAX)
    }

    fn next_up_to(&mut self, at_most: usize) -> io::Result<Vec<ReadGroup<'_>>> {
        // No larger than what is there: most of the time that is little, and memory has to be cleared first.
        let there = self.file.metadata()?.len().saturating_sub(self.offset);
        let there = usize::try_from(there).unwrap_or(usize::MAX);
        let mut want = CHUNK.min(there);
        loop {
            self.buffer.resize(want, 0);
            let got = read_at(&self.file, &mut self.buffer, self.offset)?;
            self.buffer.truncate(got);
            // A first group that is larger than a chunk is read whole, if the file has it whole.
            match length_at(&self.buffer, 0) {
                Some(length) if length > LARGEST => return Ok(Vec::new()),
                Some(length) if GROUP_HEAD + length > want && GROUP_HEAD + length <= there && got == want => {
                    want = GROUP_HEAD + length;
                }
                _ => break,
            }
        }
        let mut groups = Vec::new();
        let mut at = 0;
        while groups.len() < at_most
            && let Some(group) = group_at(&self.buffer, at)
        {
            at += GROUP_HEAD + group.records.len();
            groups.push(group);
        }
        self.offset += at as u64;
        Ok(groups)
    }

    /// Gives back the memory of a busy time.
    pub fn rest(&mut self) {
        self.buffer = Vec::new();
    }
}

fn length_at(buffer: &[u8], at: usize) -> Option<usize> {
    let bytes = buffer.get(at..at + 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
}

/// The group at this place, if it is there whole.
fn group_at(buffer: &[u8], at: usize) -> Option<ReadGroup<'_>> {
    let head = buffer.get(at..at + GROUP_HEAD)?;
    let length = length_at(buffer, at)?;
    let records = buffer.get(at + GROUP_HEAD..(at + GROUP_HEAD).checked_add(length)?)?;
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    let mut number = [0; 8];
    number.copy_from_slice(&head[8..16]);
    let number = u64::from_le_bytes(number);
    (checksum(crc32fast::hash(records), length, number) == sum).then_some(ReadGroup { number, records })
}

/// Reads as much as there is, up to the whole of `into`.
pub(super) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match read_some(file, &mut into[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(bytes) => got += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

#[cfg(unix)]
fn read_some(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

#[cfg(windows)]
fn read_some(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, offset)
}
