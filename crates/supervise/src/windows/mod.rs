//! Windows: no keeper process. The shim puts itself into a Job Object that ends all its members when the last handle to it
//! is closed. The only handle is the shim's, so however the shim ends, the server and everything below it ends too.

mod census;
mod handle;
mod measure;
pub(crate) mod program;
mod raw;

use crate::MARKER;

pub use census::{arguments, end, everyone, identify, leftovers, lives, session_of, sweep, tree_of};
pub use handle::{HeldSignals, Keeper, Prepared, Server, prepare, start};
pub use measure::memory_of;
pub use program::login_path;

/// There are no namespaces that hide ancestors; nobody looks at them here.
pub fn ancestry() -> crate::Ancestry {
    crate::Ancestry::Whole
}

/// Nobody looks at ancestors here.
pub fn client_above(_gates: &[crate::ProcessId]) -> Option<(crate::ProcessId, crate::ObservedProcess)> {
    None
}

/// The session whose tree this process belongs to, by its own environment only.
pub fn session_above() -> Option<String> {
    let session = std::env::var_os(MARKER).filter(|session| !session.is_empty())?;
    Some(session.to_string_lossy().into_owned())
}
