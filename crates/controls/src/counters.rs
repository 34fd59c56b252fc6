//! Counters outside of a session: in memory, for whoever replays calls ([`Counters`]), and the shared ones as a person
//! sees and resets them ([`list`], [`reset`]).

pub use crate::limits::Full;
pub use crate::limits::key::key;
pub use crate::limits::list::{CounterRow, list, reset};
pub use crate::limits::memory::Counters;
