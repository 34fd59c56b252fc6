//! What is allowed for a while, without touching the rules: whether it would help, granted, ended.
//!
//! Each ends by itself, survives restarts, and shows while it lasts.

use std::time::Duration;

use callgate_controls::Disk;
use callgate_controls::allowance::{self, Allowance, AllowanceScope, Revoke};
use callgate_history::History;
use callgate_home::clock::Moment;
use callgate_home::{CallId, Home};
use callgate_journal::{Decision, EventKind, record_event};
use callgate_policy::file::PolicyFile;
use callgate_policy::{Call, Circumstances, Judgement, NoRecordings, Policy, Waived};
use callgate_text::name;
use callgate_wiring::client_name;

use crate::DeskError;
use crate::change::{CurrentPolicy, EditContext};

/// How long an allowance of one call waits for it, unless told otherwise.
pub const ONCE: Duration = Duration::from_secs(10 * 60);

/// The pattern of every tool.
pub const EVERY_TOOL: &str = "*";

/// Why an allowance of a tool would change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoHelp {
    /// It passes as it is; within limits, or without any.
    AllowedAlready { limited: bool },
    /// It stays refused whatever is waived.
    StillRefused { rule: String, reason: String },
}

/// Would it help this client, or anyone, to allow this tool, or one of these, for a while? Nobody should be promised what
/// would not come.
pub fn would_help(
    present: &CurrentPolicy,
    client: Option<&str>,
    tools: &[String],
    now_ms: i64,
) -> Result<Option<NoHelp>, DeskError> {
    let mut first = None;
    for tool in tools {
        match would_help_with(present, client, tool, now_ms)? {
            None => return Ok(None),
            // What is still refused says more than what is allowed anyway.
            found @ Some(NoHelp::StillRefused { .. }) => first = found,
            found => first = first.or(found),
        }
    }
    Ok(first)
}

fn would_help_with(
    present: &CurrentPolicy,
    client: Option<&str>,
    tool: &str,
    now_ms: i64,
) -> Result<Option<NoHelp>, DeskError> {
    let policy = present.policy()?;
    if let Some(client) = client {
        return Ok(helps(&policy, client, tool, now_ms));
    }
    let file = PolicyFile::parse(present.text());
    // An overlay is for whoever has its name, and the name of a pattern fits the pattern.
    let clients = file.iter().flat_map(|file| &file.clients).map(|overlay| overlay.client.as_str());
    let answers: Vec<Option<NoHelp>> =
        std::iter::once("").chain(clients).map(|client| helps(&policy, client, tool, now_ms)).collect();
    let helps_someone = answers.iter().any(Option::is_none);
    Ok(answers.into_iter().next().flatten().filter(|_| !helps_someone))
}

fn helps(policy: &Policy, client: &str, tool: &str, now_ms: i64) -> Option<NoHelp> {
    let files = Disk::new();
    let with = |waived| Circumstances { now_ms, files: &files, recordings: &NoRecordings, waived };
    let call = Call::tool(client, tool, None);
    if let Judgement::Pass(pass) = policy.judge(&call, &with(Waived::Nothing)) {
        return Some(NoHelp::AllowedAlready { limited: !pass.limits.is_empty() });
    }
    match policy.judge(&call, &with(Waived::Denials)) {
        Judgement::Refuse(refusal) if is_by_itself(&refusal.rule) => {
            Some(NoHelp::StillRefused { rule: refusal.rule, reason: refusal.reason })
        }
        _ => None,
    }
}

/// What refuses this tool to this client whatever it is called with and however seldom: its place in the policy, and why.
pub(crate) fn always_refused(
    policy: &Policy,
    client: &str,
    tool: &str,
    now_ms: i64,
) -> Option<(String, String)> {
    let files = Disk::new();
    let circumstances =
        Circumstances { now_ms, files: &files, recordings: &NoRecordings, waived: Waived::Nothing };
    match policy.judge(&Call::tool(client, tool, None), &circumstances) {
        Judgement::Refuse(refusal) if is_by_itself(&refusal.rule) => Some((refusal.rule, refusal.reason)),
        _ => None,
    }
}

/// A rule that neither looks at arguments or sessions nor counts.
pub(crate) fn is_by_itself(rule: &str) -> bool {
    !["/require/", "/deny_if/", "/codegen/", "/limits/"].iter().any(|part| rule.contains(part))
}

/// A refused call whose exact repetition can be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeatable {
    pub id: CallId,
    pub server: String,
    /// Who was refused; none if that is not on record.
    pub client: Option<String>,
    pub tool: String,
    pub digest: [u8; 32],
    pub decision: Decision,
}

impl Repeatable {
    /// The call of this id, if it was refused and can be known again.
    pub fn find(history: &History, call: &str) -> Result<Repeatable, DeskError> {
        let id: CallId =
            call.parse().map_err(|_| DeskError::BadInput(format!("{call:?} is no id of a call")))?;
        let row = history.call(&id)?;
        let row = row.ok_or_else(|| DeskError::NotFound(format!("there is no call {id} on record")))?;
        if !row.decision.is_refused() {
            return Err(DeskError::BadInput(format!(
                "call {id} was let through ({}); there is nothing to allow",
                row.decision
            )));
        }
        match (row.tool, row.digest) {
            (Some(tool), Some(digest)) => {
                let client = row.client.filter(|client| !client.is_empty());
                Ok(Repeatable { id, server: row.server, client, tool, digest, decision: row.decision })
            }
            _ => Err(DeskError::BadInput(format!(
                "call {id} was refused as {}, which cannot be allowed: the agent has to send it in another form",
                row.decision
            ))),
        }
    }

    pub fn what(&self) -> AllowanceScope {
        AllowanceScope::Call { tool: self.tool.clone(), digest: self.digest, call: self.id }
    }
}

/// Allows it, after putting it on record in these words.
pub fn grant(
    context: &EditContext<'_>,
    (server, client): (&str, Option<&str>),
    what: AllowanceScope,
    lasts: Duration,
    words: &str,
) -> Result<Allowance, DeskError> {
    let now = context.clock.now();
    // On record first: what cannot be recorded is not granted.
    record_event(context.home, now.wall_ms, EventKind::Loosened, Some(server), Some(context.origin), words)
        .map_err(DeskError::Unrecorded)?;
    Ok(allowance::grant_to(context.home, &now, (server, client), what, lasts)?)
}

/// Ends one allowance. That restricts, so nobody is asked.
pub fn end(home: &Home, now: &Moment, id: &str) -> Result<Option<Allowance>, DeskError> {
    let ended = allowance::revoke(home, now, Revoke::Id(id))
        .map_err(|error| DeskError::disk("the allowance cannot be ended", error))?;
    Ok(ended.into_iter().next())
}

/// Whoever blocks means it now: what was allowed for a while of this tool, or of the whole server, is over for those who
/// are blocked. Returns what held until now.
pub fn end_for_block(
    home: &Home,
    now: &Moment,
    (server, client): (&str, Option<&str>),
    tool: Option<&str>,
) -> Result<Vec<Allowance>, DeskError> {
    // A server that is only observed refuses nothing, this tool included.
    match tool {
        Some(tool) => {
            let allowed = Revoke::Tool { server, tool, client };
            end_all(home, now, &[allowed, Revoke::Observe { server, client }])
        }
        None => end_all(home, now, &[Revoke::Server { server, client }]),
    }
}

/// The same for what a time of only observing would defeat, and nothing else: caps and conditions.
pub(crate) fn end_observing(
    home: &Home,
    now: &Moment,
    (server, client): (&str, Option<&str>),
) -> Result<Vec<Allowance>, DeskError> {
    end_all(home, now, &[Revoke::Observe { server, client }])
}

fn end_all(home: &Home, now: &Moment, which: &[Revoke<'_>]) -> Result<Vec<Allowance>, DeskError> {
    let mut all = Vec::new();
    for one in which {
        let ended = allowance::revoke(home, now, *one).map_err(|error| {
            let what = "what was allowed for a while cannot be ended, so nothing was changed";
            DeskError::disk(what, error)
        })?;
        let held =
            |one: &Allowance| one.is_open(now) && !allowance::is_spent(home, now, one).unwrap_or(false);
        all.extend(ended.into_iter().filter(held));
    }
    Ok(all)
}

/// What is allowed, in words that are safe to show.
pub fn described(granted: &Allowance) -> String {
    let server = name(&granted.server);
    let whom =
        granted.client.as_deref().map(|client| format!(" for {}", client_name(client))).unwrap_or_default();
    match &granted.what {
        AllowanceScope::Tool(tool) if tool == EVERY_TOOL => {
            format!("every tool of {server} is allowed{whom}")
        }
        AllowanceScope::Tool(tool) => format!("\"{}\" on {server} is allowed{whom}", name(tool)),
        AllowanceScope::Call { tool, call, .. } => {
            format!("one call of \"{}\" on {server} like {call} is allowed{whom}", name(tool))
        }
        AllowanceScope::Observe => format!("the policy of {server} is only observed{whom}"),
    }
}

/// The same, when it is over.
pub(crate) fn no_longer(ended: &Allowance) -> String {
    let server = name(&ended.server);
    let whom = ended.client.as_deref().map(|client| format!(", for {}", client_name(client)));
    let whom = whom.unwrap_or_default();
    match &ended.what {
        AllowanceScope::Tool(tool) if tool == EVERY_TOOL => {
            format!("not every tool of {server} is allowed for a while any more{whom}")
        }
        AllowanceScope::Tool(tool) => {
            format!("{} on {server} is no longer allowed for a while{whom}", name(tool))
        }
        AllowanceScope::Call { tool, .. } => {
            format!("no call of {} on {server} is allowed once any more{whom}", name(tool))
        }
        AllowanceScope::Observe => format!("the rules of {server} refuse again{whom}"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::Clock as _;

    use super::*;
    use crate::testing::TestHome;

    #[test]
    fn a_hostile_name_is_harmless_when_its_allowance_is_described() {
        let place = TestHome::new();
        let hostile = "a\u{202e}b\n\u{1b}[2J".repeat(100);
        for what in [AllowanceScope::Tool(hostile.clone()), AllowanceScope::Observe] {
            let granted = allowance::grant(&place.home, &place.clock.now(), &hostile, what, ONCE).unwrap();
            let words = described(&granted);
            assert!(words.chars().count() < 200 && !words.chars().any(callgate_text::is_hidden), "{words:?}");
        }
    }
}
