//! What tools cost an agent's attention: the size of their definitions, which a client puts before the model at every start, and of
//! what they answered, as estimates in tokens; and those that nobody uses, hidden with one act.
//!
//! An estimate: bytes of UTF-8 divided by four. For English and JSON that is within about a third of what models count; text in other
//! scripts comes to more, pictures to less. No price is told: it is the client's, and changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use callgate_history::History;
use callgate_policy::edit::merge;
use callgate_text::{count, name};
use serde_json::json;

use super::Server;
use super::installed::Installed;
use crate::acts::broken_where;
use crate::change::{self, CurrentPolicy};
use crate::tool_changes::WEEK_MS;
use crate::view::{Done, ServerCost, ToolCost, ToolState, ToolsFrom, UnusedTools};
use crate::{Desk, DeskError};

const BYTES_A_TOKEN: u64 = 4;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// A tool that nobody called for so long is called unused.
const UNUSED_DAYS: i64 = 30;

/// What is about `bytes` long.
pub(super) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN)
}

impl Desk {
    /// What the tools of this server cost, or those of every server that listed any, the dearest first.
    pub fn costs(&self, server: Option<&str>) -> Result<Vec<ServerCost>, DeskError> {
        let history = History::open_reader(&self.home)?;
        let names: BTreeSet<String> = match server {
            Some(server) => [server.to_owned()].into(),
            None => self.inventory().servers().map(str::to_owned).collect(),
        };
        let (installed, (corrected, _)) = (Installed::default(), self.corrected());
        let mut all = Vec::new();
        for name in names {
            let read = self.server_tools(&history, &installed, &corrected, &name, Duration::ZERO)?;
            if read.from() == ToolsFrom::Listed {
                all.push(self.cost(&history, &read)?);
            }
        }
        all.sort_by_key(|cost: &ServerCost| std::cmp::Reverse(cost.definitions + cost.results));
        Ok(all)
    }

    fn cost(&self, history: &History, server: &Server) -> Result<ServerCost, DeskError> {
        let now_ms = self.clock.now().wall_ms;
        let mut tools: BTreeMap<&str, ToolCost> = BTreeMap::new();
        for entry in &server.entries {
            let bytes = u64::try_from(entry.definition.len()).unwrap_or(u64::MAX);
            let state = server.rules.get(&entry.name).map(|rule| rule.state);
            let cost = ToolCost {
                name: entry.name.clone(),
                definition: tokens(bytes),
                hidden: state == Some(ToolState::Hide),
                ..ToolCost::default()
            };
            tools.insert(&entry.name, cost);
        }
        let mut clients: BTreeMap<String, u64> = BTreeMap::new();
        let (mut calls, mut results) = (0, 0);
        let answered = history.answered(&server.name, now_ms - WEEK_MS)?;
        for one in &answered {
            let size = tokens(one.bytes);
            calls += one.calls;
            results += size;
            *clients.entry(one.client.clone()).or_default() += size;
            if let Some(tool) = tools.get_mut(one.tool.as_str()) {
                tool.calls += one.calls;
                tool.results += size;
            }
        }
        let definitions = tools.values().filter(|tool| !tool.hidden).map(|tool| tool.definition).sum();
        let unused = self.unused(history, server, &tools, now_ms)?;
        let mut tools: Vec<ToolCost> = tools.into_values().collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.definition + tool.results));
        let mut clients: Vec<(String, u64)> = clients.into_iter().collect();
        clients.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        Ok(ServerCost {
            server: server.name.clone(),
            definitions,
            calls,
            results,
            clients: clients
                .into_iter()
                .map(|(client, results)| (callgate_wiring::client_name(&client), results))
                .collect(),
            tools,
            unused,
        })
    }

    /// Tools on the agent's list that nobody called in the last days; none where it is not long enough known which those are.
    fn unused(
        &self,
        history: &History,
        server: &Server,
        tools: &BTreeMap<&str, ToolCost>,
        now_ms: i64,
    ) -> Result<Option<UnusedTools>, DeskError> {
        let Some(listed_ms) = server.listed.as_ref().map(|listed| listed.seen_ms) else { return Ok(None) };
        let Some(oldest_ms) = history.oldest_call_ms()? else { return Ok(None) };
        // "In 30 days" of what is on record for twelve would be untrue.
        let days = ((now_ms - listed_ms.max(oldest_ms)) / DAY_MS).min(UNUSED_DAYS);
        if days < 1 {
            return Ok(None);
        }
        let used = history.tool_use(&server.name, now_ms - days * DAY_MS)?;
        let used: BTreeSet<&str> = used.iter().map(|one| one.tool.as_str()).collect();
        let rest: Vec<&ToolCost> =
            tools.values().filter(|tool| !tool.hidden && !used.contains(tool.name.as_str())).collect();
        if rest.is_empty() || server.problem.is_some() {
            return Ok(None);
        }
        let size: u64 = rest.iter().map(|tool| tool.definition).sum();
        let words = format!(
            "{} that no agent used in {} cost about {} tokens at every start",
            count(rest.len() as u64, "tool"),
            count(days.unsigned_abs(), "day"),
            callgate_text::number(size)
        );
        let names = rest.iter().map(|tool| tool.name.clone()).collect();
        Ok(Some(UnusedTools {
            words,
            days: u32::try_from(days).unwrap_or(u32::MAX),
            definitions: size,
            names,
        }))
    }

    /// Takes these tools off the agents' list: those of them that are unused still. One change of the rules, and one undo.
    pub fn hide_unused(&self, server: &str, names: &[String]) -> Result<Done, DeskError> {
        let cost = self.costs(Some(server))?.pop();
        let unused = cost.and_then(|cost| cost.unused).map(|unused| unused.names).unwrap_or_default();
        // A name that counts as a pattern would hide others, too.
        let still: Vec<&String> =
            unused.iter().filter(|one| names.contains(one) && !callgate_text::is_pattern(one)).collect();
        if still.is_empty() {
            let words = "Nothing to hide: they are used by now, or hidden".to_owned();
            return Ok(Done::said(words, Some(server)));
        }
        let held = change::lock(&self.home)?;
        let present = CurrentPolicy::read(&self.home, server)?;
        let part = json!({ "hide": still }).to_string();
        let edited = merge(present.text(), &part).map_err(|error| broken_where(error, &present))?;
        let change = present.to(edited)?;
        if !change.loosened().is_empty() {
            return Err(DeskError::Conflict("hiding them would let something else through".to_owned()));
        }
        let words = format!("Hid {} of {} that nobody used", count(still.len() as u64, "tool"), name(server));
        let version = change.commit(&held, &self.edit_context(), Some("unused"))?;
        drop(held);
        let undo = Some(self.keep_saved(&words, &change)?);
        let done = Done { undo, version: Some(version), ..Done::said(words, Some(server)) };
        Ok(self.with_unconfirmed(done))
    }
}

#[cfg(test)]
mod tests;
