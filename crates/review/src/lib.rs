//! What the history says about a policy: what it would have refused ([`simulate`]), what it would have decided otherwise
//! than today's rules ([`compare`]), which policy would have been enough ([`suggest`]), and which tools a change of policy
//! touches ([`impact`]).
//!
//! Everything here reads; nothing decides about a call that is under way. All results are functions of the history, the
//! policy and the times that are passed in: the same questions get the same answers.

#![forbid(unsafe_code)]

mod difference;
mod error;
mod impact;
mod partial_calls;
mod recordings;
mod rejudging;
mod ruling;
mod simulate;
mod suggest;
mod words;

pub use difference::{CallsApart, ComparisonRequest, Difference, ToolDifference, compare};
pub use error::ReviewError;
pub use impact::{ToolChange, impact};
pub use rejudging::{Judged, ReplayedRow, judge_again};
pub use ruling::Ruling;
pub use simulate::{Example, LeftOut, Progress, RuleEffect, Simulation, ToolEffect, simulate};
pub use suggest::{AskRule, MARGIN, ProposedRule, Suggestion, SuggestionRequest, suggest};
