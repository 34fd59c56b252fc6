//! The promises of this crate, kept by real processes. The other side of them is `probe.rs`, a program of its own.

#![cfg(target_os = "linux")]

mod endings;
mod failures;
mod generations;
mod leftovers;
mod world;
