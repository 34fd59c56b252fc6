//! The relay between an AI client and a local MCP server: the place where policy is enforced.
//!
//! Wires the pure crates (protocol, policy) to the store and the server's processes. Two threads carry the data,
//! one per direction, each reading, judging and writing by itself; everything else only helps them. The shim opens
//! no port, needs no app, and writes nothing but protocol to its output.

mod admission;
mod approvals;
mod backoff;
mod call_timeout;
mod cancel;
mod checker;
mod client;
mod client_questions;
mod codegen_tracker;
mod definitions;
mod diagnosis;
mod exit;
mod failed_start;
mod file_watch;
mod handshake;
mod health;
mod held;
mod lifecycle;
mod line_reader;
mod lists;
mod loop_tracker;
mod outlet;
mod parent_env;
mod passage;
mod pending;
mod pins;
mod program;
mod relay;
mod resource_limits;
pub mod rule_source;
mod schema;
mod secrets;
mod server;
mod server_identity;
mod server_requests;
mod session;
mod stderr;
#[cfg_attr(unix, path = "stdio_unix.rs")]
#[cfg_attr(windows, path = "stdio_windows.rs")]
mod stdio;
mod tool_cache;
mod tree_record;
mod unknown_answers;
mod vendor_members;
pub mod wording;

pub use checker::COMMAND as CHECK_ARGUMENTS;
pub use secrets::OpenKeychain;
pub use session::{Options, run};
