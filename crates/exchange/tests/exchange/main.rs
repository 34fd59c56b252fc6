//! The importers, judged by what their results decide.
#![expect(clippy::unwrap_used, reason = "tests")]

mod claude;
mod gate;
mod intercept;
mod model;
mod properties;
