//! One JSON-RPC line of MCP: strictly parsed, safely re-emitted.
//!
//! Pure: bytes in, values and bytes out. Owns the grammar, the envelope, ids, the shape of calls and lists, and the
//! lines that Callgate itself answers with. Knows no policy, no process, no clock and no file.
//! What is ambiguous to any reader that we know of is refused here, so that what was judged is what is received.

#![forbid(unsafe_code)]

pub mod answer;
pub mod call;
pub mod digest;
pub mod fold;
pub mod form;
pub mod id;
pub mod input;
pub mod json;
pub mod lists;
pub mod message;
pub mod method;
pub mod target;
pub mod tools;
pub mod unknown;
pub mod vendor;

mod cause;
mod envelope;
mod next_step;
mod skeleton;

pub use cause::{Answer, Cause, Malformed};
pub use message::{Incoming, Side, read};
pub use next_step::NextStep;
