//! The policy language: what a person writes, what it means for a call, how it is changed.
//!
//! Pure: no clock, no disk, no process. A text becomes a [`file::PolicyFile`] (the grammar, every error at once), that
//! becomes a [`Policy`], and `policy.judge(&call)` says what the rules want. Counting belongs to the store; [`decide`]
//! joins both for those who only ask. What cannot be judged is refused.

#![forbid(unsafe_code)]

mod call;
mod compile;
mod decide;
mod evaluate;
mod excerpt;
mod home;
mod judge;
mod limit;
mod name;
mod number;
mod policy;
mod problem;
mod unbuilt;
mod warnings;
mod window;

pub mod compare;
pub mod edit;
pub mod file;

pub use call::{Call, Judgement, Pass, Refusal, RefusalKind, Target};
pub use decide::{CounterView, Decision, Standing, Unused, Usage, Verdict, decide};
pub use excerpt::excerpt;
pub use limit::{Limit, Limits, Scope};
pub use policy::{Policy, Visibility};
pub use problem::{Place, Problem, Report, Severity};
pub use window::{Rate, RateError, Window, WindowError};

/// The grammar as a JSON Schema (draft 2020-12), for editors.
pub const SCHEMA: &str = include_str!("../policy.schema.json");

/// What `_default.json` holds when Callgate's home is made: watch, and stop only what has run away.
pub const DEFAULT_POLICY: &str = include_str!("../default.policy.jsonc");
