//! The policy language: what a person writes, what it means for a call, how it is changed.
//!
//! Pure: no clock, no disk, no process. A text becomes a [`file::PolicyFile`] (the grammar, every error at once), that
//! becomes a [`Policy`], and `policy.judge(&call)` says what the rules want. Counting belongs to the store; [`decide`]
//! joins both for those who only ask. What cannot be judged is refused.

#![forbid(unsafe_code)]

mod address;
mod amount;
mod applying;
mod asking;
mod call;
mod class;
mod codegen;
mod compile;
mod decide;
mod evaluate;
mod excerpt;
mod files;
mod glob;
mod home;
mod judge;
mod judge_method;
mod kinds;
mod layer;
mod limit;
mod lookup;
mod loops;
mod methods;
mod moment;
mod name;
mod number;
mod overlay;
mod path;
mod percent;
mod policy;
mod problem;
mod reads;
mod request;
mod rule_words;
mod run_tests;
mod schema;
mod uri;
mod visibility;
mod warnings;
mod window;

pub mod compare;
pub mod edit;
pub mod file;
pub mod jsonc;
pub mod lint;

pub use asking::Questioned;
pub use call::{Call, Circumstances, Judgement, Keep, Pass, Refusal, RefusalKind, Target, Waived};
pub use class::{ToolClass, ToolClasses};
pub use codegen::{NoRecordings, Recording, Recordings};
pub use decide::{CounterView, Decision, Standing, Unused, Usage, Verdict, decide};
pub use excerpt::excerpt;
pub use file::{AskedIn, OnLimit, Pin, ProcessSettings, Restart, nearest};
pub use files::{AsWritten, Files, Flavour};
pub use glob::fits;
pub use judge_method::Listing;
pub use limit::{Kind, Limit, Limits, Scope, Taking, UNIT};
pub use loops::LoopRule;
pub use name::same_client;
pub use policy::Policy;
pub use problem::{Place, Problem, Report, Severity};
pub use reads::Reads;
pub use rule_words::{condition_words, rule_words};
pub use run_tests::{TestResult, run_tests};
pub use schema::ArgumentSchema;
pub use visibility::Visibility;
pub use window::{Rate, RateError, Window, WindowError, wait_words};

/// The grammar as a JSON Schema (draft 2020-12), for editors.
pub const SCHEMA: &str = include_str!("../policy.schema.json");

/// What `_default.json` holds when Callgate's home is made: watch, and stop only what has run away.
pub const DEFAULT_POLICY: &str = include_str!("../default.policy.jsonc");
