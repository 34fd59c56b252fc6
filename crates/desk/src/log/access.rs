//! What rules, pauses and allowances of this moment make of tools for clients: what rows of the log can offer.
//!
//! Asked for all rows in view at once, so each policy is read once, however many rows are of its server.

use std::collections::{BTreeMap, HashMap};

use callgate_controls::allowance::{self, AllowanceScope, Allowances};
use callgate_controls::pause::{self, Switch};
use callgate_home::clock::Moment;
use callgate_policy::{Policy, excerpt};
use callgate_text::{clip, harmless};

use super::why;
use crate::Desk;
use crate::allowing::{always_refused, is_by_itself};
use crate::view::{AccessQuery, Blocked, CallLine, Target, ToolAccess};

/// Answers at most; a window has fewer rows.
const MOST: usize = 1_000;

/// The policy of a server, if it can be used.
type Usable = Option<(String, Policy)>;

/// The files that decide, as they are at this moment.
pub(super) struct Decisive<'d> {
    desk: &'d Desk,
    now: Moment,
    pauses: Switch,
    allowances: Allowances,
    policies: HashMap<String, Usable>,
}

impl<'d> Decisive<'d> {
    pub(super) fn read(desk: &'d Desk) -> Decisive<'d> {
        let (pauses, allowances) = (pause::read(desk.home()), allowance::read(desk.home()));
        Decisive { desk, now: desk.clock.now(), pauses, allowances, policies: HashMap::new() }
    }

    pub(super) fn access(&mut self, query: &AccessQuery) -> ToolAccess {
        let client = query.client.as_deref().unwrap_or_default();
        let paused = self.pauses.reason(&query.server);
        if paused.or_else(|| self.pauses.client_reason(&query.server, client)).is_some() {
            return ToolAccess::Paused;
        }
        let waived = |what: fn(&AllowanceScope, &AccessQuery) -> bool| {
            let mut open = self.allowances.open(&query.server, &self.now);
            open.any(|one| one.is_for(client) && what(&one.what, query))
        };
        if waived(|what, _| *what == AllowanceScope::Observe) {
            return ToolAccess::Open;
        }
        // It waives what denies the tool; conditions and limits go on counting.
        let allowed = waived(|what, query| query.tool.as_deref().is_some_and(|tool| what.admits(tool)));
        let now_ms = self.now.wall_ms;
        let desk = self.desk;
        let usable = self.policies.entry(query.server.clone()).or_insert_with(|| usable(desk, &query.server));
        let Some((text, policy)) = usable else { return ToolAccess::Unknown };
        let tool = query.tool.as_deref().filter(|_| !allowed);
        if let Some((rule, reason)) = tool.and_then(|tool| always_refused(policy, client, tool, now_ms)) {
            return ToolAccess::Blocked(blocked(query, &rule, &reason));
        }
        // A rule that denies by itself would have been found above, if it still did.
        let rule = query.rule.as_deref().filter(|rule| !is_by_itself(rule));
        match rule.and_then(|rule| excerpt(text, rule)) {
            Some(_) => ToolAccess::Ruled,
            None => ToolAccess::Open,
        }
    }
}

impl Desk {
    /// How tools stand for clients now, in the order of the questions.
    pub fn access(&self, queries: &[AccessQuery]) -> Vec<ToolAccess> {
        let mut decisive = Decisive::read(self);
        queries.iter().take(MOST).map(|query| decisive.access(query)).collect()
    }

    /// The same of these calls, each by its id.
    pub fn access_of(&self, calls: &[CallLine]) -> BTreeMap<String, ToolAccess> {
        let mut decisive = Decisive::read(self);
        calls.iter().map(|call| (call.id.clone(), decisive.access(&query(call)))).collect()
    }
}

/// What can be done about a call like it depends on how its tool stands now.
pub(super) fn query(line: &CallLine) -> AccessQuery {
    AccessQuery {
        server: line.server.clone(),
        client: line.client.clone(),
        tool: line.tool.clone(),
        rule: line.rule.clone().filter(|_| line.refused),
    }
}

fn usable(desk: &Desk, server: &str) -> Usable {
    let text = why::today(desk, server)?;
    let policy = Policy::parse(&text).ok()?;
    Some((text, policy))
}

fn blocked(query: &AccessQuery, rule: &str, reason: &str) -> Blocked {
    // Allowing takes back what it finds where it is told to look.
    let for_one = rule.starts_with("/clients/");
    let for_all = rule.split('/').any(|part| part == "all_tools");
    let target = Target {
        server: query.server.clone(),
        tool: query.tool.clone().filter(|_| !for_all),
        client: query.client.clone().filter(|_| for_one),
    };
    Blocked { words: format!("Blocked now: {}", clip(&harmless(reason), 200)), target }
}
