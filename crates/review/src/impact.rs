//! Which tools a change of policy touches, and which of them are in use.

use std::collections::{BTreeMap, BTreeSet};

use callgate_policy::{Call, Circumstances, Judgement, Limit, Policy, RefusalKind};

/// One tool whose state changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolChange {
    pub tool: String,
    /// The one client for which it is so; `None`: for every client that has no line of its own.
    pub client: Option<String>,
    /// `allowed`, `denied`, `hidden`, `10 calls per minute`, `allowed with conditions`
    pub before: String,
    pub after: String,
    /// Calls in the time that was asked about.
    pub used: u64,
    /// Does anything pass now that did not before?
    pub looser: bool,
}

/// The tools that change, those in use first. `tools`: names from the server's list and the history; those in the two
/// policies are added. `usage`: calls by tool. `clients`: those that are known, for rules that are theirs alone.
pub fn impact(
    old: &Policy,
    new: &Policy,
    tools: &BTreeSet<String>,
    usage: &BTreeMap<String, u64>,
    clients: &[&str],
    circumstances: &Circumstances<'_>,
) -> Vec<ToolChange> {
    let names: BTreeSet<&str> = tools
        .iter()
        .map(String::as_str)
        .chain(usage.keys().map(String::as_str))
        .chain(old.tool_names())
        .chain(new.tool_names())
        .collect();
    let mut changes = Vec::new();
    for tool in names {
        let used = usage.get(tool).copied().unwrap_or(0);
        let change = |client: &str| {
            let before = ToolTreatment::of(old, client, tool, circumstances);
            let after = ToolTreatment::of(new, client, tool, circumstances);
            let other = after.conditions_differ(&before);
            let (words, looser) = (after.words(other), after.is_looser_than(&before));
            (before.words(false), words, looser)
        };
        let everyone = change("");
        let mut add = |client: Option<&str>, (before, after, looser): (String, String, bool)| {
            if before != after || looser {
                let (tool, client) = (tool.to_owned(), client.map(str::to_owned));
                changes.push(ToolChange { tool, client, before, after, used, looser });
            }
        };
        for client in clients {
            let own = change(client);
            if own != everyone {
                add(Some(client), own);
            }
        }
        add(None, everyone);
    }
    changes.sort_by(|a, b| {
        b.used.cmp(&a.used).then_with(|| a.tool.cmp(&b.tool)).then_with(|| a.client.cmp(&b.client))
    });
    changes
}

/// What a policy says about one tool, for one client.
struct ToolTreatment<'p> {
    /// Refused whatever the arguments, and how.
    refused: Option<&'static str>,
    /// What is refused is only noted.
    observing: bool,
    conditions: Vec<String>,
    limits: Vec<&'p Limit>,
}

impl<'p> ToolTreatment<'p> {
    fn of(
        policy: &'p Policy,
        client: &str,
        tool: &str,
        circumstances: &Circumstances<'_>,
    ) -> ToolTreatment<'p> {
        let reads = policy.reads(client, tool, circumstances.now_ms);
        let limits = policy.limits(client, tool, circumstances.now_ms);
        // A sum reads an argument, too, and is told as the limit that it is.
        let conditions =
            reads.iter().filter(|read| !limits.iter().any(|limit| limit.pointer == read.pointer));
        let conditions = conditions.map(|read| read.words.clone()).collect();
        let mut state = ToolTreatment { refused: None, observing: false, conditions, limits };
        let refusal = match policy.judge(&Call::tool(client, tool, None), circumstances) {
            Judgement::Refuse(refusal) => Some(refusal),
            Judgement::Pass(pass) => {
                state.observing = pass.observing;
                pass.would
            }
        };
        // Without arguments a condition may refuse; with others it may not.
        state.refused =
            refusal.filter(|refusal| !reads.iter().any(|read| read.pointer == refusal.rule)).map(|refusal| {
                match refusal.kind {
                    RefusalKind::Denied => "denied",
                    RefusalKind::Hidden => "hidden",
                    RefusalKind::Ask => "asked about",
                    RefusalKind::Unsupported => "refused (not built yet)",
                    RefusalKind::Broken => "refused (no usable policy)",
                }
            });
        state
    }

    fn words(&self, other_conditions: bool) -> String {
        let conditions = match (self.conditions.is_empty(), other_conditions) {
            (true, _) => "",
            (false, false) => "with conditions",
            (false, true) => "with other conditions",
        };
        let limits: Vec<String> = self.limits.iter().map(|limit| words_of(limit)).collect();
        let plain = match (self.refused, limits.is_empty(), conditions.is_empty()) {
            (Some(refused), ..) => refused.to_owned(),
            (None, true, true) => "allowed".to_owned(),
            (None, true, false) => format!("allowed {conditions}"),
            (None, false, true) => limits.join(" and "),
            (None, false, false) => format!("{} {conditions}", limits.join(" and ")),
        };
        match self.observing {
            true if plain == "allowed" => plain,
            true => format!("only observed: {plain}"),
            false => plain,
        }
    }

    fn is_open(&self) -> bool {
        self.refused.is_none() || self.observing
    }

    fn conditions_differ(&self, before: &ToolTreatment<'_>) -> bool {
        !before.conditions.is_empty() && before.is_open() && self.conditions != before.conditions
    }

    fn is_looser_than(&self, before: &ToolTreatment<'_>) -> bool {
        if !self.is_open() {
            return false;
        }
        if !before.is_open() {
            return true;
        }
        if before.observing {
            return false;
        }
        let restricted =
            before.refused.is_some() || !before.conditions.is_empty() || !before.limits.is_empty();
        if self.observing {
            return restricted;
        }
        before.conditions.iter().any(|condition| !self.conditions.contains(condition))
            || before.limits.iter().any(|old| !self.limits.iter().any(|new| at_least_as_tight(new, old)))
    }
}

fn words_of(limit: &Limit) -> String {
    match limit.pointer.starts_with("/all_tools") {
        true => format!("{} with all tools", limit.words()),
        false => limit.words(),
    }
}

fn at_least_as_tight(new: &Limit, old: &Limit) -> bool {
    std::mem::discriminant(&new.kind) == std::mem::discriminant(&old.kind)
        && new.max <= old.max
        && new.window() >= old.window()
        && new.scope == old.scope
        && new.until_ms.is_none_or(|until| old.until_ms.is_some_and(|before| until >= before))
}
