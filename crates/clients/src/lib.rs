//! The configuration files of AI clients: found, read, and put behind the gate without losing a byte.
//!
//! Owns: where each client keeps its servers ([`table`]), how such a file is read and spliced (`callgate_document`), what a gated
//! entry looks like ([`entry`]), and the servers that a person added in Callgate itself ([`own`]). Must not know: windows, the command line, policies, the history.

pub mod backup;
pub mod backup_contents;
pub mod byte_order_mark;
pub mod change;
pub mod discover;
pub mod drift;
pub mod entry;
pub mod file;
pub mod gate_mentions;
pub mod ledger;
pub mod names;
pub mod own;
pub mod placement;
pub mod plan;
pub mod queue;
pub mod reopen;
pub mod repair;
pub mod restore;
pub mod running;
pub mod secrets;
pub mod survey;
pub mod system;
pub mod table;
pub mod tampering;
pub mod trial;

pub use callgate_document::{Document, Syntax, TAKE_IT_AWAY, Unreadable};
pub use system::{Os, System};
pub use table::{Client, ConfigLocation, ConfigScope, Shape};
