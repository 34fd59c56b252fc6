//! What a secret is called, what it looks like, and how it is kept out of whatever is written.
//!
//! Owns: the one table of names ([`names`]), of looks ([`shapes`], [`tokens`]) and of command lines ([`commands`]), each row with
//! a sample that a test holds it to; the masks over JSON and text ([`Masker`]); and the memory of the values that a session has
//! masked ([`literals`]). Must not know: disks, clocks, the history, clients' files, the keychain.

#![deny(unsafe_code)]

mod commands;
mod distinctiveness;
mod encodings;
mod json;
mod literals;
mod masker;
#[cfg(test)]
mod memory_tests;
mod names;
mod secret;
mod shapes;
mod text;
mod tokens;
mod triggers;
mod vocabulary;
mod words;

pub use masker::{KEPT, Masker, RedactedText, secret_values};
pub use names::is_offered;
pub use secret::Secret;
pub use shapes::{find, is_token};
pub use triggers::warm;
