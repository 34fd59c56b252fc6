//! Policies from other formats.
//!
//! Pure: text in, text out. Every importer keeps one promise: what the other system refuses, the policy that comes out
//! refuses too. What cannot be said in the other language is made stricter or refused, and everything that means
//! something slightly different is listed in [`Note`]s, with the line it stands on.

#![forbid(unsafe_code)]

mod detect;
mod glob;
mod json;
mod ledger;
mod note;
mod settings;
mod yaml;

pub mod claude;
pub mod intercept;

pub use detect::{Format, detect};
pub use note::{Difference, Note};

/// No policy is longer; a longer text is no policy.
const LONGEST: usize = 1 << 20;
