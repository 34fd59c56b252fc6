//! Windows: no keeper process. The shim puts itself into a Job Object that ends all its members when the last handle to it
//! is closed. The only handle is the shim's, so however the shim ends, the server and everything below it ends too.

mod handle;
pub(crate) mod program;
mod raw;

use crate::{MARKER, SessionState, Swept};

pub use handle::{HeldSignals, Keeper, Prepared, Server, prepare, start};
pub use program::login_path;

/// The session whose tree this process belongs to, by its own environment only.
pub fn session_above() -> Option<String> {
    let session = std::env::var_os(MARKER).filter(|session| !session.is_empty())?;
    Some(session.to_string_lossy().into_owned())
}

/// Ends nothing, because nothing can be left: the kernel ends a job with its last handle.
pub fn sweep(_state: impl Fn(&str) -> SessionState) -> Vec<Swept> {
    Vec::new()
}
