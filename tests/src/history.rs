//! What the history says, through the same door as a script of a user: `callgate log --json`.

use crate::gate::Bench;
use crate::json::{Dialect, Json};
use anyhow::Context as _;

/// One row of `callgate log --json`.
#[derive(Debug)]
pub struct Row(pub Json);

impl Row {
    fn text(&self, key: &str) -> &str {
        self.0.get(key).and_then(Json::as_text).unwrap_or_default()
    }

    pub fn decision(&self) -> &str {
        self.text("decision")
    }

    pub fn id(&self) -> &str {
        self.text("id")
    }

    pub fn tool(&self) -> &str {
        self.text("tool")
    }

    pub fn outcome(&self) -> &str {
        self.text("outcome")
    }

    pub fn is_allowed(&self) -> bool {
        self.decision() == "allowed"
    }

    /// A member of the recorded arguments, as JSON.
    pub fn arg(&self, key: &str) -> Option<String> {
        Some(self.0.at(&["args", key])?.to_text())
    }
}

/// Every row of the bench's history.
pub fn rows(bench: &Bench) -> anyhow::Result<Vec<Row>> {
    let output = bench.callgate(["log", "--json", "--limit", "1000000"])?.output()?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    anyhow::ensure!(output.status.success(), "`callgate log` failed: {stderr}");
    // With our own reader: rows may hold numbers that no ordinary one can (1e400).
    stdout
        .lines()
        .map(|line| {
            Json::parse(line, Dialect::Strict).map(Row).with_context(|| format!("a row of the log: {line}"))
        })
        .collect()
}
