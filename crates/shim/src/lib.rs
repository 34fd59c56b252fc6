//! The relay between an AI client and a local MCP server: the place where policy is enforced.
//!
//! Wires the pure crates (protocol, policy) to the store and the server's processes. Two threads carry the data,
//! one per direction, each reading, judging and writing by itself; everything else only helps them. The shim opens
//! no port, needs no app, and writes nothing but protocol to its output.

mod above;
mod admission;
mod bounds;
mod cancel;
mod checker;
mod client;
mod codegen;
mod explain;
mod farewell;
pub mod gate;
mod handshake;
mod held;
mod lines;
mod lists;
mod outlet;
mod passage;
mod patience;
mod pending;
mod program;
mod refusing;
mod relay;
mod restarts;
mod revival;
mod schema;
mod secrets;
mod server;
mod server_requests;
mod session;
mod stderr;
#[cfg_attr(unix, path = "stdio_unix.rs")]
#[cfg_attr(windows, path = "stdio_windows.rs")]
mod stdio;
mod toolbook;
mod tree;
mod unknown_answers;
mod watch;
mod watching;
pub mod wording;

pub use checker::COMMAND as CHECK_ARGUMENTS;
pub use secrets::OpenKeychain;
pub use session::{Options, run};
