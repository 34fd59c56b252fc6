//! Which processes belong to which session.
//!
//! While a session lives, whoever looks at its tree writes down who is in it ([`note`]): the shim now and then, the app whenever
//! it sees a change. The record outlives the session. With it, what a session left is found even where nothing else leads to
//! it any more: a crash handler has no parent and no marker, and a temporary profile is only a name in a command line that is
//! gone. What is found is ended by [`sweep`], never by its name alone.
//!
//! - [`record`]: the file per tree.
//! - [`note`]: looking, and writing down what is new.
//! - [`sweep`]: what dead sessions left, listed or ended; their temporary profiles removed (`profiles`).
//! - [`suspects`]: automation browsers from before Callgate. Listed; ended only one by one, by a person's word.
//! - [`what`]: what a process is, in words.
//!
//! Knows no window, no terminal and no numbers of memory or processor: those are the desk's. Owns no thread.

#![deny(unsafe_code)]

mod look;
mod profiles;
mod record;
pub mod suspects;
mod sweep;
mod text;
pub mod what;

pub use look::{About, note};
pub use record::{Here, Member, Numbered, Record, records};
pub use sweep::{
    Elsewhere, Ended, Left, LeftSession, OnRecord, SweptAll, elsewhere, leftovers, removable, settle,
    settle_last, sweep, tidy,
};
pub use text::Texts;
pub use what::ProcessKind;
