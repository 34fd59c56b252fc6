//! Linux and macOS: a forked keeper between the shim and the server.

mod errand;
mod handle;
mod keeper;
mod login;
pub(crate) mod program;
pub(crate) mod raw;
mod report;

pub use handle::{Keeper, Prepared, Server, prepare, start};
pub use login::login_path;
pub use raw::HeldSignals;
