//! References to what is in a keychain, and for whom they are good.
//!
//! Owns: what a reference looks like, for which server it is good ([`Identity`]), what is stored under it ([`Item`]), and
//! that a secret is never printed. Must not know: the system's own keychain, configuration files, policies, the history, the
//! command line.
//!
//! A secret of a client's configuration is moved here and leaves a [`Reference`] behind, `keychain://callgate/<id>/<NAME>`.
//! The gate puts the value back when it starts the server, and only if it starts the very command that the value was stored
//! for.

mod environment;
mod errors;
mod identity;
mod item;
mod keychain;
mod memory;
mod reference;
mod resolve;

pub use callgate_redaction::Secret;
pub use environment::{Environment, Influence, Strange, Surroundings, influence, loads_into_any_program};
pub use errors::KeychainError;
pub use identity::Identity;
pub use item::Item;
pub use keychain::Keychain;
pub use memory::MemoryKeychain;
pub use reference::{BadReference, Reference, Referring, SCHEME, referring};
pub use resolve::{Resolved, Unresolved, Wanted, resolve, wanted};
