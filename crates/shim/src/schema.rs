//! The schema of a tool as its server wrote it, and why arguments do not fit it (`validate: true`). The check itself is run by
//! another process: see `checker`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_policy::ArgumentSchema;
use callgate_protocol::json::Raw;

/// Larger schemas are not used. Those of real servers have a few kilobytes.
const LARGEST: usize = 256 << 10;

/// Why arguments were not found to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// They do not fit: where, and what is wanted there.
    Differs(String),
    /// The server has not said in time what arguments its tools take.
    NotListedYet,
    /// The schema or the arguments cannot be checked.
    Uncheckable(String),
}

/// The schema of one tool, as the server wrote it.
#[derive(Debug)]
pub(crate) struct ToolSchema {
    /// Empty when it was too large to be kept.
    text: String,
    /// A check had to be ended: it is not tried again.
    too_costly: AtomicBool,
    /// What it says about kinds of arguments, read when a rule first asks.
    arguments: OnceLock<Option<ArgumentSchema>>,
}

impl ToolSchema {
    pub(crate) fn new(text: &str) -> ToolSchema {
        let text = if text.len() > LARGEST { String::new() } else { text.to_owned() };
        ToolSchema { text, too_costly: AtomicBool::new(false), arguments: OnceLock::new() }
    }

    /// Is it this one? Of those too large to be kept, nobody knows.
    pub(crate) fn is(&self, text: &str) -> bool {
        !self.text.is_empty() && self.text == text
    }

    /// What it says about kinds of arguments.
    pub(crate) fn arguments(&self) -> Option<&ArgumentSchema> {
        self.arguments.get_or_init(|| Raw::parse(&self.text).ok().and_then(ArgumentSchema::read)).as_ref()
    }

    /// What a check can be tried with, if anything.
    pub(crate) fn usable(&self) -> Result<&str, Misfit> {
        if self.too_costly.load(Ordering::Relaxed) {
            return Err(too_costly());
        }
        if self.text.is_empty() {
            let why = format!("the tool's schema is larger than {} KiB", LARGEST >> 10);
            return Err(Misfit::Uncheckable(why));
        }
        Ok(&self.text)
    }

    pub(crate) fn give_up(&self) -> Misfit {
        self.too_costly.store(true, Ordering::Relaxed);
        too_costly()
    }
}

fn too_costly() -> Misfit {
    Misfit::Uncheckable("the tool's schema takes too long, or too much memory, to check".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_is_too_large_is_not_kept_and_checks_nothing() {
        let huge = ToolSchema::new(&format!(r#"{{"description":"{}"}}"#, "x".repeat(LARGEST)));
        assert!(matches!(huge.usable(), Err(Misfit::Uncheckable(_))));
    }
}
