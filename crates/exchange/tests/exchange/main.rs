//! The importers and the exporter, judged by what their results decide.
#![expect(clippy::unwrap_used, reason = "tests")]

mod claude;
mod gate;
mod intercept;
mod model;
mod policylayer;
mod properties;
