//! Line reader: cuts a byte stream into lines, many at a time, without copying them.
//!
//! Owns the read buffer and its size: it grows for a long line, is given back afterwards, and never
//! passes the cap. Knows nothing of JSON.

use std::io::{self, ErrorKind, Read};

/// The longest line that is looked at. A longer one is thrown away up to its end and reported.
pub(crate) const MAX_LINE: usize = 64 * 1024 * 1024;

/// What an idle reader holds on to: what a pipe usually holds, so one read can empty it.
const RESTING: usize = 64 * 1024;
/// Long lines grow the buffer by at most this much at a time, so that it never holds much more than the line.
const GROWTH: usize = 4 * 1024 * 1024;
/// A buffer above this is given back at once, a smaller one when short lines follow: long results often come in rows.
const KEPT: usize = 16 * 1024 * 1024;
/// How much of a line that is too long is kept, for finding out whose answer it was.
const HEAD: usize = 4 * 1024;

/// What one step of reading brought.
#[derive(Debug)]
pub(crate) enum Chunk<'a> {
    /// One or more whole lines, each with its LF.
    Lines(&'a [u8]),
    /// A line over [`MAX_LINE`]; its beginning, and its full length.
    TooLong { head: &'a [u8], bytes: u64 },
    /// The stream ended. What stood after the last LF was dropped: half a message is no message.
    End,
}

/// Reads whole lines from `source`, as many as one read brings.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that came from the source.
    filled: usize,
    /// Bytes at the front that were handed out and are to be forgotten.
    taken: usize,
    max: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self::with_max(source, MAX_LINE)
    }

    /// The same with another cap.
    pub(crate) fn with_max(source: R, max: usize) -> Self {
        LineReader { source, buffer: vec![0; RESTING], filled: 0, taken: 0, max }
    }

    /// Waits for at least one whole line, the end, or a line that is too long.
    pub(crate) fn next(&mut self) -> io::Result<Chunk<'_>> {
        self.forget_taken();
        let mut searched = 0;
        loop {
            // Only the first line can have begun in an earlier read, so only it can have grown too long.
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[searched..self.filled]) {
                let end = searched + end;
                if end > self.max {
                    return Ok(self.too_long(end));
                }
                let last = memchr::memrchr(b'\n', &self.buffer[end..self.filled]).unwrap_or(0);
                self.taken = end + last + 1;
                return Ok(Chunk::Lines(&self.buffer[..self.taken]));
            }
            searched = self.filled;
            if self.filled > self.max {
                return self.discard_line();
            }
            if self.filled == self.buffer.len() {
                let more = self.buffer.len().min(GROWTH);
                self.buffer.reserve_exact(more);
                self.buffer.resize(self.filled + more, 0);
            }
            if self.fill()? == 0 {
                return Ok(Chunk::End);
            }
        }
    }

    /// The first line ends at `end`, beyond the cap, and is in the buffer whole.
    fn too_long(&mut self, end: usize) -> Chunk<'_> {
        self.taken = end + 1;
        Chunk::TooLong { head: &self.buffer[..HEAD.min(end)], bytes: end as u64 }
    }

    fn fill(&mut self) -> io::Result<usize> {
        loop {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Drops what was handed out, moves the rest to the front, and gives memory back after a long line.
    fn forget_taken(&mut self) {
        let long_lines_go_on = self.taken > RESTING && self.buffer.len() <= KEPT;
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.buffer.len() > RESTING && self.filled <= RESTING && !long_lines_go_on {
            self.buffer.truncate(RESTING);
            self.buffer.shrink_to_fit();
        }
    }

    /// Reads on to the LF without keeping the bytes, so that the tail is not taken for a message.
    fn discard_line(&mut self) -> io::Result<Chunk<'_>> {
        let mut bytes = self.filled as u64;
        let head = self.buffer[..HEAD.min(self.filled)].to_vec();
        self.buffer = vec![0; RESTING];
        self.filled = 0;
        loop {
            let count = self.fill()?;
            if count == 0 {
                return Ok(Chunk::End);
            }
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[..self.filled]) {
                bytes += end as u64;
                // The head goes where it can be lent from; what follows the LF stays to be read next.
                let rest = self.buffer[end + 1..self.filled].to_vec();
                self.taken = head.len();
                self.filled = head.len() + rest.len();
                self.buffer = head;
                self.buffer.extend_from_slice(&rest);
                self.buffer.resize(self.filled.max(RESTING), 0);
                return Ok(Chunk::TooLong { head: &self.buffer[..self.taken], bytes });
            }
            bytes += count as u64;
            self.filled = 0;
        }
    }
}

/// The single lines of a [`Chunk::Lines`], without their LF.
pub(crate) fn split(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest)?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line)
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed read is a failed test")]
mod tests {
    use super::*;

    /// Hands out its text in pieces of `step` bytes.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], step: usize, max: usize) -> Vec<String> {
        let mut lines = LineReader::with_max(Dribble(text, step), max);
        let mut seen = Vec::new();
        loop {
            match lines.next().unwrap() {
                Chunk::Lines(chunk) => {
                    seen.extend(split(chunk).map(|line| String::from_utf8_lossy(line).into_owned()));
                }
                Chunk::TooLong { head, bytes } => seen.push(format!("<{} of {bytes}>", head.len())),
                Chunk::End => return seen,
            }
        }
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = b"one\n\ntwo\r\nthree and more\nunterminated";
        for step in 1..text.len() {
            assert_eq!(all(text, step, 100), ["one", "", "two\r", "three and more"], "in steps of {step}");
        }
    }

    #[test]
    fn a_line_over_the_cap_is_discarded_to_its_end_and_reported_once() {
        let mut text = b"before\n".to_vec();
        text.extend(vec![b'x'; 200_000]);
        text.extend(b"\nafter\n");
        for step in [1_000, 65_536, 70_000, 1_000_000] {
            assert_eq!(
                all(&text, step, 100_000),
                ["before", "<4096 of 200000>", "after"],
                "in steps of {step}"
            );
        }
    }

    #[test]
    fn the_cap_holds_to_the_byte() {
        for (length, passes) in [(99_999, true), (100_000, true), (100_001, false), (101_000, false)] {
            let mut text = vec![b'x'; length];
            text.extend(b"\nnext\n");
            for step in [7_919, 65_536, 1_000_000] {
                let lines = all(&text, step, 100_000);
                assert_eq!(lines.len(), 2);
                assert_eq!(lines[0].len() == length, passes, "{length} bytes in steps of {step}");
                assert_eq!(lines[1], "next");
            }
        }
    }

    #[test]
    fn memory_is_given_back_after_a_long_line() {
        let mut text = vec![b'x'; 9_000_000];
        text.extend(b"\nshort\nshort\n");
        let mut lines = LineReader::new(Dribble(&text, 6));
        assert!(matches!(lines.next().unwrap(), Chunk::Lines(line) if line.len() >= 9_000_001));
        assert!(lines.buffer.capacity() < 9_000_001 + 2 * GROWTH);
        while !matches!(lines.next().unwrap(), Chunk::End) {}
        assert_eq!(lines.buffer.capacity(), RESTING);
    }
}
