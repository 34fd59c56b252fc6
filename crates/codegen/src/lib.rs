//! Codegen sessions: what an agent lets a browser server record between `start_codegen_session` and
//! `end_codegen_session`.
//!
//! The server keeps such a session in its memory alone: a clear, a crash or a kill loses it. Every call of it went
//! through the gate, so it can be followed from the calls ([`Follower`]) and written as a Playwright test
//! ([`playwright_test`]) without the server. Pure: no clock, no disk. It must not know where calls come from; the gate
//! follows them as they are made, the desk from the history.

#![forbid(unsafe_code)]

mod answer;
mod export;
mod follow;
mod lost;
mod session;
mod tools;
mod verb;

pub use export::{Source, playwright_test};
pub use follow::{Follower, Sent, Settled};
pub use lost::Gone;
pub use session::{Action, CallOutcome, Options, RetainedArguments, RetainedText, Session, State};
pub use tools::{ANSWERED_WITH_A_STATUS, Fate, TOOLS, fate};
pub use verb::{Verb, session_named};
