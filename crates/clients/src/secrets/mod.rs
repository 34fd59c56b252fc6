//! Secrets in clients' files: found, moved into the keychain, and put back.
//!
//! Owns: what in an entry is a secret ([`find`], [`listing`]), the edits that put a reference in its place and back ([`moving`],
//! [`restoration`]), whether references lead anywhere ([`checking`]), and the values in older copies ([`purging`]). It is here and not beside the keychain because it reads
//! entries and splices files; the keychain must know neither. What a secret is
//! called and looks like stands in `callgate-redaction`, as for the record's masks; but a mask may hide too much, and an offer to
//! move something must be right, so what may be a gap to fill in or a path is no secret here ([`classification`]).

pub mod checking;
mod classification;
pub mod find;
pub mod lazy_keychain;
pub mod listing;
pub mod moving;
mod open;
pub mod purging;
pub mod restoration;

#[cfg(test)]
mod find_tests;
#[cfg(test)]
mod moving_tests;
#[cfg(test)]
mod purging_tests;
