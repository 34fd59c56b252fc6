//! The system's keychain by name, and references to what is in it.
//!
//! Owns: what a reference looks like, for which server it is good ([`Identity`]), how long anybody waits for a keychain, and
//! that a secret is never printed. Must not know: configuration files, policies, the history, the command line.
//!
//! A secret of a client's configuration is moved here and leaves a [`Reference`] behind, `keychain://callgate/<id>/<NAME>`.
//! The gate puts the value back when it starts the server, and only if it starts the very command that the value was stored
//! for. Nothing of a keychain runs, and no thread or connection is made, before [`SystemKeychain::open`].

mod errors;
mod glance;
mod identity;
mod item;
mod keychain;
mod memory;
mod reference;
mod resolve;
mod surroundings;
mod turn;

#[cfg_attr(target_os = "linux", path = "system/linux.rs")]
#[cfg_attr(target_os = "macos", path = "system/macos.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;

pub use callgate_redaction::Secret;
pub use errors::KeychainError;
pub use glance::glance;
pub use identity::Identity;
pub use item::Item;
pub use keychain::{Keychain, SystemKeychain};
pub use memory::MemoryKeychain;
pub use reference::{BadReference, Reference, Referring, SCHEME, referring};
pub use resolve::{Resolved, Unresolved, Wanted, resolve, wanted};
pub use surroundings::{Environment, Strange, Surroundings, loads_into_any_program};
