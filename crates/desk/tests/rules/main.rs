//! The rules of a server as a person sees and changes them: real homes, real histories.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod builder;
mod saving;
mod suggesting;
mod table;
mod trying;
mod world;
