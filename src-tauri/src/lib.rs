//! The tray app: a window on the gate. It sits beside the data path, never in it.
//!
//! Thin on purpose: what a person sees and does is `callgate-desk`; here is only what needs a desktop. One file a
//! concern: the window, the tray, notifications, what other starts ask for, what the window follows.

#![deny(unsafe_code)]

mod approval_window;
mod args;
pub mod bindings;
mod commands;
mod demo;
mod front;
pub mod guard;
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), path = "heap/glibc.rs")]
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), path = "heap/other.rs")]
mod heap;
mod instance;
mod notify;
mod presence;
mod reveal;
mod route;
mod start;
mod state;
mod stderr;
mod stream;
mod ticker;
mod tray;
mod usage;

pub use start::run;
pub use state::AppState;
