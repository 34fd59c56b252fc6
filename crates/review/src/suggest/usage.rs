//! What was called: tools with their busiest times and their arguments, resources, prompts, and the rest.

use std::collections::{BTreeMap, BTreeSet};

use callgate_history::{Lack, Replayed, ReplayedArguments};
use callgate_journal::Outcome;
use callgate_protocol::json::{Kind, Raw};
use callgate_protocol::method::{Class, class};

use super::day;
use super::peaks::Peaks;
use super::values::Values;
use crate::partial_calls::is_masked;
use crate::rejudging::{let_through, was_judged};

/// More names than this are no list that a person would read; and names can be made up without end.
pub(super) const TOOLS: usize = 2_000;
const ARGUMENTS: usize = 64;
/// How deep objects in arguments are looked into.
const DEPTH: usize = 4;
const NAMED: usize = 500;

#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Calls that were let through, of anything.
    pub(super) calls: u64,
    pub(super) first_ms: Option<i64>,
    pub(super) days: BTreeSet<i64>,
    pub(super) clients: BTreeSet<String>,
    pub(super) tools: BTreeMap<String, ToolSeen>,
    pub(super) resources: NameCounts,
    pub(super) prompts: NameCounts,
    /// Calls of methods that no revision of the protocol knows.
    pub(super) unknown_methods: u64,
    /// Let through, but of a tool that there was no room for.
    pub(super) unlisted: u64,
    /// Let through, but the name was masked in the record.
    pub(super) masked_names: u64,
}

#[derive(Debug, Default)]
pub(super) struct ToolSeen {
    pub(super) let_through: u64,
    /// Let through, and answered with nothing but an error.
    pub(super) failed: u64,
    pub(super) refused: u64,
    pub(super) hours: BTreeSet<i64>,
    pub(super) days: BTreeSet<i64>,
    pub(super) peaks: Peaks,
    /// By the names on the way to them.
    pub(super) arguments: BTreeMap<Vec<String>, Values>,
    /// The arguments of some call are not known whole: none of them are drawn from.
    pub(super) spoiled: bool,
}

/// Names or addresses and how often they were let through.
#[derive(Debug, Default)]
pub(super) struct NameCounts {
    pub(super) calls: BTreeMap<String, u64>,
    /// What was read is not fully known.
    pub(super) spoiled: bool,
}

impl NameCounts {
    fn add(&mut self, name: &str) {
        let full = self.calls.len() >= NAMED && !self.calls.contains_key(name);
        if name.is_empty() || is_masked(name) || full {
            self.spoiled = true;
        } else {
            *self.calls.entry(name.to_owned()).or_default() += 1;
        }
    }
}

impl Usage {
    pub(super) fn call(&mut self, call: &Replayed<'_>) {
        if !was_judged(call.decision) {
            return;
        }
        self.first_ms.get_or_insert(call.at_ms);
        let passed = let_through(call.decision);
        if passed {
            self.calls += 1;
            self.days.insert(day(call.at_ms));
            if !self.clients.contains(call.client) && self.clients.len() < NAMED {
                self.clients.insert(call.client.to_owned());
            }
        }
        match call.method {
            "tools/call" => self.tool(call, passed),
            _ if !passed => {}
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                self.resources.add(call.tool)
            }
            "prompts/get" => self.prompts.add(call.tool),
            // They name resources or prompts in their own ways.
            "subscriptions/listen" => self.resources.spoiled = true,
            "completion/complete" => (self.resources.spoiled, self.prompts.spoiled) = (true, true),
            method => self.unknown_methods += u64::from(class(method) == Class::Unknown),
        }
    }

    fn tool(&mut self, call: &Replayed<'_>, passed: bool) {
        if is_masked(call.tool) {
            self.masked_names += u64::from(passed);
            return;
        }
        if !self.tools.contains_key(call.tool) {
            if self.tools.len() >= TOOLS {
                self.unlisted += u64::from(passed);
                return;
            }
            self.tools.insert(call.tool.to_owned(), ToolSeen::default());
        }
        let Some(tool) = self.tools.get_mut(call.tool) else { return };
        tool.peaks.add(call.client, call.at_ms, passed);
        if !passed {
            tool.refused += 1;
            return;
        }
        tool.let_through += 1;
        tool.failed += u64::from(matches!(
            call.outcome,
            Some(Outcome::ToolError | Outcome::RpcError | Outcome::NotDelivered)
        ));
        tool.days.insert(day(call.at_ms));
        tool.hours.insert(call.at_ms.div_euclid(3_600_000));
        if !tool.spoiled {
            tool.arguments(call.args);
        }
    }
}

impl ToolSeen {
    /// Was there a call that came to something, or may have?
    pub(super) fn is_used(&self) -> bool {
        self.let_through > self.failed
    }

    /// Every call that got to the server failed: it may not even have such a tool.
    pub(super) fn only_failed(&self) -> bool {
        self.let_through > 0 && !self.is_used()
    }

    fn arguments(&mut self, arguments: ReplayedArguments<'_>) {
        let (text, masked) = match arguments {
            ReplayedArguments::Absent => return,
            ReplayedArguments::Whole(text) => (text, false),
            ReplayedArguments::Lacking { kept, lack: Lack::Masked } => (kept, true),
            ReplayedArguments::Unread | ReplayedArguments::Lacking { .. } => return self.spoil(),
        };
        let Ok(args) = Raw::parse(text) else { return self.spoil() };
        self.members(&mut Vec::new(), args, masked);
    }

    fn members(&mut self, above: &mut Vec<String>, object: Raw<'_>, masked: bool) {
        for (name, value) in object.members() {
            above.push(name.as_ref().to_owned());
            if value.kind() == Kind::Object && above.len() < DEPTH && !(masked && is_masked(&name)) {
                self.members(above, value, masked);
            } else {
                self.value(above, value, masked && (is_masked(value.text()) || is_masked(&name)));
            }
            above.pop();
        }
    }

    /// Of more arguments than these nothing is said.
    fn value(&mut self, path: &[String], value: Raw<'_>, hidden: bool) {
        if !self.arguments.contains_key(path) {
            if self.arguments.len() >= ARGUMENTS {
                return;
            }
            self.arguments.insert(path.to_owned(), Values::default());
        }
        let Some(values) = self.arguments.get_mut(path) else { return };
        if hidden { values.spoil() } else { values.add(value) }
    }

    fn spoil(&mut self) {
        self.spoiled = true;
        self.arguments.clear();
    }
}
