//! Did a change of policy open anything?
//!
//! Restricting is easy and loosening is not; so every way in which a policy can become looser has to be found here, and
//! said in words. When the list is empty, no call that the old policy refused passes the new one, and of none is more
//! kept on record than the old one wanted: for no client, at no time.
//!
//! Clients, tools and moments without number are looked at as finitely many *cases*: all names that one case holds are
//! treated alike by both policies. A case may hold too much (then a warning is said too often), never too little.

mod cases;
mod codegen;
mod guards;
mod stand;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::class::ToolClass;
use crate::methods;
use crate::moment;
use crate::overlay::Overlay;
use crate::policy::Policy;

/// Policies that take longer than this to look through are not looked through.
const PATIENCE: usize = 2_000_000;

/// Each thing that became looser, in words.
pub fn loosened(old: &Policy, new: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    if new.broken.is_some() {
        return found;
    }
    if let Some(reason) = &old.broken {
        found.push(format!("every call was refused ({reason}), now the rules decide"));
        return found;
    }
    let mut findings = Findings { patience: PATIENCE, ..Findings::default() };
    let cases = cases::clients(old, new, &mut findings.patience);
    for clients in &cases {
        for now_ms in moments(old, new, clients) {
            let view = View { old, new, clients, now_ms };
            view.tools(&mut findings);
            view.guards(&mut findings);
            view.codegen(&mut findings);
        }
    }
    if findings.patience == 0 {
        let words = "the policies are too large to be compared: anything may have become looser";
        findings.list.push(words.to_owned());
    }
    found.append(&mut findings.list);
    found.extend(methods::loosened::look(old, new, &cases));
    found
}

/// What becomes looser when this tool is taken to be of another class, in words.
pub fn loosened_by_class(policy: &Policy, tool: &str, before: ToolClass, after: ToolClass) -> Vec<String> {
    let mut findings = Findings { patience: PATIENCE, ..Findings::default() };
    if policy.broken.is_some() || !policy.asks_for_classes() {
        return findings.list;
    }
    for clients in &cases::clients(policy, policy, &mut findings.patience) {
        for now_ms in moments(policy, policy, clients) {
            let view = View { old: policy, new: policy, clients, now_ms };
            let as_class = |class| policy.applying_as(clients.old, tool, Some(class), now_ms);
            view.stand(&format!("{tool:?}"), &as_class(before), &as_class(after), &mut findings);
        }
    }
    findings.list
}

/// Clients that have the same overlay in the old policy, and the same in the new one.
pub(crate) struct Clients<'p> {
    pub(crate) old: Option<&'p Overlay>,
    pub(crate) new: Option<&'p Overlay>,
    /// `the client "cursor"`; nothing for clients without an overlay.
    pub(crate) who: Option<String>,
}

/// Both policies, as these clients see them at this moment.
pub(crate) struct View<'p> {
    pub(crate) old: &'p Policy,
    pub(crate) new: &'p Policy,
    pub(crate) clients: &'p Clients<'p>,
    pub(crate) now_ms: i64,
}

/// What was found, each thing once.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<String>,
    said: FxHashSet<(Option<String>, String)>,
    pub(crate) patience: usize,
}

impl Findings {
    /// What holds for everyone is not said again for single clients, nor for later moments.
    pub(crate) fn push(&mut self, view: &View<'_>, words: &str) {
        let who = view.clients.who.clone();
        if self.said.contains(&(None, words.to_owned())) || !self.said.insert((who.clone(), words.to_owned()))
        {
            return;
        }
        let when = match view.now_ms {
            i64::MIN => String::new(),
            now_ms => format!(" (from {} on)", moment::shown(now_ms)),
        };
        self.list.push(match who {
            Some(who) => format!("for {who}: {words}{when}"),
            None => format!("{words}{when}"),
        });
    }

    /// Is there patience left for so much work?
    pub(crate) fn goes_on(&mut self, effort: usize) -> bool {
        self.patience = self.patience.saturating_sub(effort);
        self.patience > 0
    }
}

/// Between two of these moments nothing changes by itself.
fn moments(old: &Policy, new: &Policy, clients: &Clients<'_>) -> BTreeSet<i64> {
    let overlays = [clients.old, clients.new].into_iter().flatten().map(|overlay| &overlay.layer);
    let layers = [&old.base, &new.base].into_iter().chain(overlays);
    layers.flat_map(|layer| layer.every_rule().flat_map(|rule| rule.ends())).chain([i64::MIN]).collect()
}
