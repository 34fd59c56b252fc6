//! Which tools a change of rules touches, and which of them are in use: shown before anybody says yes.

use std::collections::{BTreeMap, BTreeSet};

use callgate_controls::{Disk, catalogue};
use callgate_history::History;
use callgate_home::Home;
use callgate_policy::{Circumstances, NoRecordings, Policy, Waived};
use callgate_review::{ToolChange, impact};
use callgate_text::{count, name};

use crate::DeskError;

/// What counts as "in use".
pub const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Every known tool whose state changes.
#[derive(Clone, Debug, Default)]
pub struct ToolChanges {
    /// Those in use first.
    pub all: Vec<ToolChange>,
    /// How many of them were used in the last week.
    pub used: usize,
}

/// `before`: the text that counts now; a broken one refuses everything.
pub fn between(
    home: &Home,
    history: &History,
    server: &str,
    before: &str,
    after: &Policy,
    now_ms: i64,
) -> Result<ToolChanges, DeskError> {
    let listed = catalogue::read(home, server)?.map(|known| known.tools).unwrap_or_default();
    let tools: BTreeSet<String> = listed.into_iter().map(|tool| tool.name).collect();
    of_tools((home, history), server, &tools, before, after, now_ms)
}

/// The same of these tools, wherever they are known from.
pub(crate) fn of_tools(
    (home, history): (&Home, &History),
    server: &str,
    tools: &BTreeSet<String>,
    before: &str,
    after: &Policy,
    now_ms: i64,
) -> Result<ToolChanges, DeskError> {
    let uses = history.tool_use(server, now_ms - WEEK_MS)?;
    let mut usage: BTreeMap<String, u64> = BTreeMap::new();
    let mut clients: BTreeSet<&str> = BTreeSet::new();
    for tool_use in &uses {
        *usage.entry(tool_use.tool.clone()).or_default() += tool_use.calls;
        clients.insert(&tool_use.client);
    }
    let clients: Vec<&str> = clients.into_iter().collect();
    let files = Disk::new();
    let circumstances =
        Circumstances { now_ms, files: &files, recordings: &NoRecordings, waived: Waived::Nothing };
    let mut old = Policy::parse(before).unwrap_or_else(|report| Policy::refuse_all(report.headline()));
    let mut new = after.clone();
    for policy in [&mut old, &mut new] {
        catalogue::describe(home, server, policy);
    }
    let all = impact(&old, &new, tools, &usage, &clients, &circumstances);
    let used = all.iter().filter(|change| change.used > 0).count();
    Ok(ToolChanges { all, used })
}

impl ToolChanges {
    /// "6 tools change state; 2 of them were used in the last 7 days."
    pub fn words(&self) -> String {
        if self.all.is_empty() {
            return "No tool that is known changes its state.".to_owned();
        }
        format!(
            "{} {} state; {} of them {} used in the last 7 days.",
            count(self.all.len() as u64, "tool"),
            if self.all.len() == 1 { "changes" } else { "change" },
            self.used,
            if self.used == 1 { "was" } else { "were" },
        )
    }
}

/// "write_file, for cursor: allowed → denied (12 calls this week)".
pub(crate) fn line(change: &ToolChange) -> String {
    let whose = change.client.as_deref().map(|client| format!(", for {}", name(client))).unwrap_or_default();
    let used = match change.used {
        0 => String::new(),
        calls => format!(" ({} this week)", count(calls, "call")),
    };
    format!("{}{whose}: {} → {}{used}", name(&change.tool), change.before, change.after)
}
