//! Secrets in clients' files: found, moved into the keychain, and put back.
//!
//! Owns: what in an entry is a secret ([`find`], [`listing`]), the edits that put a reference in its place and back ([`moving`],
//! [`returning`]), whether references lead anywhere ([`checking`]), and the values in older copies ([`purging`]). It is here and not beside the keychain because it reads
//! entries and splices files; the keychain must know neither. Its tables are
//! not those of the record's masks: a mask may hide too much, an offer to move something must be right.

pub mod checking;
pub mod find;
pub mod lazily;
pub mod listing;
pub mod moving;
mod names;
mod open;
pub mod purging;
pub mod returning;
mod shapes;

#[cfg(test)]
mod find_tests;
#[cfg(test)]
mod moving_tests;
#[cfg(test)]
mod purging_tests;
