//! Linux and macOS: a forked keeper between the shim and the server.

mod handle;
mod keeper;
mod keeper_request;
mod login;
pub(crate) mod program;
pub(crate) mod raw;
mod report;

pub use handle::{Keeper, Prepared, Server, prepare, start};
pub use login::login_path;
pub use raw::HeldSignals;
