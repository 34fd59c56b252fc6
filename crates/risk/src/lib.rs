//! What a tool can do, told from its definition: a risk class with its reason and evidence, and what should not be in a
//! definition at all. Pure and deterministic: no disk, no clock, no network.

mod assessment;
mod catalogue;
mod classify;
mod definition;
mod description;
mod flags;
mod launch;
mod lexicon;
mod money;
mod name;
mod phrase;
mod scan;
mod schema;
mod words;

pub use assessment::{
    Assessment, Confidence, DataFlags, Evidence, EvidencePlace, OperationClass, RiskClass, RiskSeverity,
};
pub use catalogue::{KnownServer, KnownStart, Runner, known_servers};
pub use classify::classify;
pub use definition::ToolDefinition;
pub use launch::{LaunchFinding, LaunchGravity, launch};
pub use scan::{ScanContext, ScanFinding, ToolNames, scan, scan_text};
