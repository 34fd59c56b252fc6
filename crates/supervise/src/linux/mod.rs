//! What Linux has for owning processes: `/proc`, subreapers, parent-death signals, pidfds.

mod above;
mod census;
mod client;
mod keeper;
mod measure;
mod memory;
mod process;
mod sweep;
mod tree;

pub use above::{ancestry, session_above};
pub use census::{arguments, end, everyone, identify, lives, session_of, tree_of};
pub use client::client_above;
pub(crate) use keeper::{adopt_orphans, die_with_parent, name_keeper, single_threaded, wear_badge};
pub(crate) use measure::measure;
pub use measure::memory_of;
pub use memory::{forget_start, share_heaps};
pub(crate) use process::await_end;
pub use sweep::{leftovers, sweep};
pub(crate) use tree::Tree;
