//! The spool: a session's record until the history has it.
//!
//! One file per session, `spool/<session>`. A head that names the format and the session, then *groups*: what one
//! append wrote. A group is `u32` length, `u32` checksum, `u64` number, records; it is there whole or not at all,
//! so a torn tail is simply not there. Numbers ascend over the whole session, also across truncation, and the
//! history remembers the last one it took over: replaying is idempotent for anyone.

pub mod reader;
pub(crate) mod record;
pub(crate) mod writer;

/// Names the format. An older Callgate leaves files of a newer one alone.
pub(crate) const MAGIC: &[u8; 8] = b"CGSPOOL1";
/// Length, checksum, number.
pub(crate) const GROUP_HEAD: usize = 16;

/// The checksum covers the records first, so that it can be computed before the number is known.
pub(crate) fn checksum(of_records: u32, records: usize, number: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial_len(of_records, records as u64);
    hasher.update(&number.to_le_bytes());
    hasher.finalize()
}

#[cfg(test)]
#[path = "spool/tests.rs"]
pub(crate) mod tests;
