//! What to do about a tool, from what it can do: one rule for it as a part of a policy, and whole policies for a server to begin
//! with. Pure. A crate of its own, since `risk` knows no policies and `policy` no classes.
//!
//! A recommended rule is about its one tool by name, and never says what counts for others. A whole policy refuses nothing that
//! its caption does not tell of.

#![forbid(unsafe_code)]

mod rule;
mod start;
mod text;

pub use rule::{Act, Facts, Recommendation, recommend};
pub use start::{Start, starting_policy};
pub use text::shown;
