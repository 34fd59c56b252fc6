//! Approvals: what waits for a person's decision, decided, and what a yes lets through, ended.

mod comparison;

use std::sync::PoisonError;
use std::time::Duration;

use callgate_controls::approval::{
    Approval, ApprovalId, Approvals, Arguments, BadApprovalId, Decider, Grant, GrantScope, MOST_TOOLS,
    NotDecided, State, Verdict,
};
use callgate_controls::{decider, patience};
use callgate_home::{SessionId, lease};
use callgate_journal::{EventKind, approved_words, record_event};
use callgate_text::{clip, count, harmless, name};
use callgate_wiring::client_name;

use crate::notices::Notice;
use crate::tray::TrayAct;
use crate::view::{
    ApprovalState, ApprovalVerdict, ApprovalView, ApprovalsView, ComparisonView, DecidedView, Done,
    GrantView, Place, Restriction, Target, ToolState,
};
use crate::{Desk, DeskError};

/// How many that ended are shown.
const ENDED: u32 = 50;
/// What was decided within this time says how the next one will be.
const LATELY: Duration = Duration::from_hours(7 * 24);
/// Arguments that are shown whole in a notification have so many characters.
const PREVIEW: usize = 120;
/// Longer words are no reason.
const LONGEST_REASON: usize = 500;

impl Desk {
    /// How approvals stand.
    pub fn approvals(&self) -> Result<ApprovalsView, DeskError> {
        let now = self.clock.now();
        let mut store = Approvals::new(self.home());
        let mut open = Vec::new();
        let waiting = store.open(&now)?;
        self.forget_comparisons(&waiting);
        for approval in waiting {
            let lately = |store: &mut Approvals, state| store.decided_lately(&now, &approval, state, LATELY);
            let (approved, denied) =
                (lately(&mut store, State::Approved)?, lately(&mut store, State::Denied)?);
            let compared = Some(self.compared(&mut store, &approval)?);
            open.push(ApprovalView {
                approved_lately: approved,
                denied_lately: denied,
                compared,
                ..view(approval, now.wall_ms)
            });
        }
        let mut ended: Vec<ApprovalView> =
            store.ended(&now, ENDED)?.into_iter().map(|one| view(one, now.wall_ms)).collect();
        let mut badges = self.badges.look();
        for one in open.iter_mut().chain(&mut ended) {
            one.class = badges.badge(&one.server, &one.tool);
        }
        drop(badges);
        // A conversation may go on with another gate.
        let live = |grant: &Grant| {
            grant.scope == GrantScope::Conversation || lease::is_live(self.home(), grant.session)
        };
        let grants = store.grants(&now)?.into_iter().filter(live).map(grant_view).collect();
        Ok(ApprovalsView { open, ended, grants })
    }

    /// The ids of those that wait for a decision.
    pub fn waiting_approvals(&self) -> Result<Vec<String>, DeskError> {
        if !self.home.approvals_bell().exists() {
            return Ok(Vec::new());
        }
        let open = Approvals::new(self.home()).open(&self.clock.now())?;
        Ok(open.into_iter().map(|approval| approval.id.to_string()).collect())
    }

    /// One that can be decided.
    pub fn open_approval(&self, id: &str) -> Result<ApprovalView, DeskError> {
        let (now, id) = (self.clock.now(), parsed(id)?);
        let mut store = Approvals::new(self.home());
        // Those whose time is over are closed by this.
        store.open(&now)?;
        match store.get(&now, id)? {
            None => Err(not_decided(NotDecided::Unknown(id))),
            Some(approval) if approval.state == State::Open => {
                let compared = Some(self.compared(&mut store, &approval)?);
                let class = self.badges.look().badge(&approval.server, &approval.tool);
                Ok(ApprovalView { compared, class, ..view(approval, now.wall_ms) })
            }
            Some(approval) => Err(not_decided(NotDecided::Already { id, state: approval.state })),
        }
    }

    /// What waits, held against the call that was approved last. Read once, as long as that is the same call.
    fn compared(&self, store: &mut Approvals, approval: &Approval) -> Result<ComparisonView, DeskError> {
        let last = store.approved_last(&self.clock.now(), approval)?;
        let known =
            self.cache.lock().unwrap_or_else(PoisonError::into_inner).compared.get(&approval.id).cloned();
        if let Some((_, known)) = known.filter(|(of, _)| *of == last) {
            return Ok(known);
        }
        let Some(call) = last else { return Ok(comparison::none(comparison::FIRST)) };
        let Some(row) = self.record()?.call(&call)? else { return Ok(comparison::none(comparison::LOST)) };
        let asked = approval.arguments.as_ref();
        let compared = match &row.args {
            Some(approved) if approved.withheld => comparison::none(comparison::LOST),
            approved => comparison::view(
                call.to_string(),
                approved.as_ref().map(|body| body.text.as_str()),
                asked.map(|arguments| arguments.text.as_str()),
                asked.is_some_and(|arguments| arguments.masked > 0),
            ),
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.compared.insert(approval.id, (last, compared.clone()));
        Ok(compared)
    }

    fn forget_comparisons(&self, waiting: &[Approval]) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.compared.retain(|id, _| waiting.iter().any(|one| one.id == *id));
    }

    /// Tools that a burst can be ticked for beside the one of this approval: those that the rules ask about.
    pub fn burst_tools(&self, id: &str) -> Result<Vec<String>, DeskError> {
        let id = parsed(id)?;
        let approval = Approvals::new(self.home()).get(&self.clock.now(), id)?;
        let approval = approval.ok_or_else(|| not_decided(NotDecided::Unknown(id)))?;
        let tools = self.rules(&approval.server)?.tools.into_iter();
        let asked =
            tools.filter(|tool| tool.state == ToolState::Ask && tool.listed && tool.name != approval.tool);
        Ok(asked.map(|tool| tool.name).collect())
    }

    fn verdict(&self, verdict: &ApprovalVerdict, approval: &Approval) -> Result<Verdict, DeskError> {
        Ok(match verdict {
            ApprovalVerdict::Once => Verdict::Once,
            ApprovalVerdict::Burst { tools } => {
                if tools.len() > MOST_TOOLS {
                    return Err(DeskError::BadInput(format!("a burst reaches {MOST_TOOLS} tools at most")));
                }
                let askable =
                    if tools.is_empty() { Vec::new() } else { self.burst_tools(&approval.id.to_string())? };
                if let Some(other) = tools.iter().find(|tool| !askable.contains(tool)) {
                    return Err(DeskError::NotFound(format!(
                        "{} lists no tool {} that you are asked about, so no burst can reach it",
                        name(&approval.server),
                        name(other)
                    )));
                }
                Verdict::Burst(tools.clone())
            }
            ApprovalVerdict::Conversation if !approval.in_conversation => {
                return Err(DeskError::BadInput(format!(
                    "{} does not say which conversation a call belongs to: approve it until the client restarts instead",
                    client_name(&approval.client)
                )));
            }
            ApprovalVerdict::Conversation => Verdict::Grant(GrantScope::Conversation),
            ApprovalVerdict::UntilRestart => Verdict::Grant(GrantScope::Session),
            ApprovalVerdict::Deny { reason, .. } => {
                let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
                if reason.is_some_and(|reason| reason.len() > LONGEST_REASON) {
                    return Err(DeskError::BadInput(format!(
                        "a reason has at most {LONGEST_REASON} characters"
                    )));
                }
                Verdict::Deny(reason.map(harmless))
            }
        })
    }

    /// Decides, if nobody did before.
    pub fn decide(&self, id: &str, verdict: &ApprovalVerdict, by: Decider) -> Result<DecidedView, DeskError> {
        let now = self.clock.now();
        let id = parsed(id)?;
        let mut store = Approvals::new(self.home());
        let waiting = store.get(&now, id)?.ok_or_else(|| not_decided(NotDecided::Unknown(id)))?;
        if waiting.state != State::Open {
            return Err(not_decided(NotDecided::Already { id, state: waiting.state }));
        }
        let meant = self.verdict(verdict, &waiting)?;
        let is_yes = !matches!(verdict, ApprovalVerdict::Deny { .. });
        if is_yes && waiting.arguments.as_ref().is_some_and(|arguments| !arguments.complete) {
            return Err(DeskError::BadInput(format!(
                "{id} cannot be approved: its arguments are too long to be shown whole. Deny it, or allow the tool by a rule"
            )));
        }
        if is_yes {
            // On record first: what cannot be recorded is not opened.
            let words = format!(
                "{} {}{}: {}",
                what(&waiting),
                approved_words(waiting.id),
                by.place(),
                scope_words(verdict)
            );
            let (at, server) = (now.wall_ms, Some(waiting.server.as_str()));
            record_event(self.home(), at, EventKind::Decided, server, Some(self.origin), &words)
                .map_err(DeskError::Unrecorded)?;
        }
        let decided = match store.decide(&now, id, &meant, by) {
            Ok(decided) => decided,
            Err(error) => {
                if is_yes {
                    let words = format!("{} was not approved after all: {error}", subject(&waiting));
                    let (at, server) = (now.wall_ms, Some(waiting.server.as_str()));
                    let _noted =
                        record_event(self.home(), at, EventKind::Decided, server, Some(self.origin), &words);
                }
                return Err(not_decided(error));
            }
        };
        decider::ring(self.home());
        let (is_held, approval) = (decided.is_held, &decided.approval);
        if !is_yes {
            let words = format!("{} denied {}", subject(approval), by.place());
            let (at, server) = (now.wall_ms, Some(approval.server.as_str()));
            // It holds, recorded or not.
            let _noted = record_event(self.home(), at, EventKind::Decided, server, Some(self.origin), &words);
        }
        let rule = self.rule_for(verdict, approval)?;
        // Whether it waited or went on with other things: it has been told to call again.
        let tell = (is_yes && !is_held).then(|| {
            format!(
                "The call of {} is approved now: make it once more, with the same arguments.",
                approval.tool
            )
        });
        Ok(DecidedView { done: done(verdict, approval, is_held, rule), tell })
    }

    /// Refuses what waits, without a word for the agent.
    pub fn deny(&self, id: &str, by: Decider) -> Result<Done, DeskError> {
        let verdict = ApprovalVerdict::Deny { reason: None, block: false };
        self.decide(id, &verdict, by).map(|decided| decided.done)
    }

    /// What waits for a decision, and was not told before.
    pub(crate) fn approval_news(&self, in_front: bool) -> Result<Option<Notice>, DeskError> {
        if !self.home.approvals_bell().exists() {
            return Ok(None);
        }
        let open = Approvals::new(&self.home).open(&self.clock.now())?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let told = std::mem::replace(&mut cache.told_approvals, open.iter().map(|one| one.id).collect());
        cache.offered_yes.retain(|id, _| open.iter().any(|one| one.id == *id));
        drop(cache);
        let mut new = open.iter().filter(|one| !told.contains(&one.id));
        let Some(first) = new.next().filter(|_| !in_front) else { return Ok(None) };
        let more = new.count() as u64;
        let preview = preview(first).filter(|_| more == 0);
        let approve = preview.as_ref().map(|_| self.offer_yes(first.id));
        let deny = (TrayAct::Deny { id: first.id.to_string() }, "Deny".to_owned());
        let look = (TrayAct::Approvals, "Look at it".to_owned());
        let tool = clip(&name(&first.tool), 40);
        let class = self.badges.look().badge(&first.server, &first.tool);
        let class = class.map_or_else(String::new, |class| format!(" ({})", class.words()));
        let waits = match more {
            0 => String::new(),
            more => format!("; {} more wait", count(more, "call")),
        };
        Ok(Some(Notice {
            title: format!("{} wants to call {tool}", client_name(&first.client)),
            body: format!(
                "{}{}{class}: {}{waits}",
                preview.unwrap_or_default(),
                name(&first.server),
                clip(&harmless(&first.reason), 200)
            ),
            acts: approve.into_iter().chain([deny, look]).collect(),
            opens: Place::Approvals,
            topic: None,
        }))
    }

    /// A button that says yes to this call, once. Its key is known to whoever shows it: the id alone is in every list.
    fn offer_yes(&self, id: ApprovalId) -> (TrayAct, String) {
        let key = SessionId::random().to_string() + SessionId::random().as_str();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.offered_yes.insert(id, key.clone());
        (TrayAct::Approve { id: id.to_string(), key }, "Approve once".to_owned())
    }

    /// Says the yes that a notification offered. A late click, or one on another's notification, does nothing.
    pub fn approve_as_offered(&self, id: &str, key: &str) -> Result<Done, DeskError> {
        let offered = {
            let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.offered_yes.remove(&parsed(id)?)
        };
        if offered.as_deref() != Some(key) {
            return Err(DeskError::TooLate(
                "this call cannot be approved from here any more: look at Approvals in the window",
            ));
        }
        let DecidedView { done, tell } = self.decide(id, &ApprovalVerdict::Once, Decider::Tray)?;
        let words =
            tell.map_or_else(|| done.words.clone(), |tell| format!("{}. Tell the agent: {tell}", done.words));
        Ok(Done { words, ..done })
    }

    /// The rule that a verdict for good makes.
    fn rule_for(&self, verdict: &ApprovalVerdict, approval: &Approval) -> Result<Option<Done>, DeskError> {
        let target =
            || Target { server: approval.server.clone(), tool: Some(approval.tool.clone()), client: None };
        match verdict {
            ApprovalVerdict::Deny { block: true, reason } => {
                self.restrict(&Restriction::Block { target: target(), reason: reason.clone() }).map(Some)
            }
            ApprovalVerdict::Once
            | ApprovalVerdict::Burst { .. }
            | ApprovalVerdict::Conversation
            | ApprovalVerdict::UntilRestart
            | ApprovalVerdict::Deny { block: false, .. } => Ok(None),
        }
    }

    /// Ends what a yes lets through.
    pub fn revoke_grant(&self, id: &str) -> Result<Done, DeskError> {
        let now = self.clock.now();
        let id = parsed(id)?;
        if !Approvals::new(self.home()).revoke(&now, id)? {
            return Err(DeskError::NotFound(format!("nothing is let through by {id} any more")));
        }
        decider::ring(self.home());
        let words = format!("what approval {id} let through is revoked");
        // It holds, recorded or not.
        let _noted =
            record_event(self.home(), now.wall_ms, EventKind::Decided, None, Some(self.origin), &words);
        Ok(Done { words: format!("Revoked {id}: calls are asked about again"), ..Done::default() })
    }
}

/// A call with all of its arguments, in the few lines that every desktop shows; none if that is not all there is to see.
fn preview(approval: &Approval) -> Option<String> {
    let text = match &approval.arguments {
        Some(arguments) => arguments.text.as_str(),
        None => "without arguments",
    };
    let plain = |text: &str, most| harmless(text) == text && text.chars().count() <= most;
    let is_seen = |arguments: &Arguments| arguments.complete && arguments.masked == 0;
    let whole = approval.arguments.as_ref().is_none_or(is_seen)
        && plain(text, PREVIEW)
        && plain(&approval.tool, 40)
        && plain(&approval.server, 40);
    let again = approval.difference.iter().map(|why| format!("Asked about again: {}\n", harmless(why)));
    // First of all: a desktop cuts what is too long for it at the end.
    whole.then(|| std::iter::once(format!("{text}\n")).chain(again).collect())
}

fn parsed(id: &str) -> Result<ApprovalId, DeskError> {
    id.parse().map_err(|error: BadApprovalId| DeskError::BadInput(error.to_string()))
}

fn not_decided(error: NotDecided) -> DeskError {
    match error {
        NotDecided::Unknown(_) => DeskError::NotFound(error.to_string()),
        NotDecided::Already { .. } => DeskError::Conflict(error.to_string()),
        NotDecided::Store(error) => DeskError::Store(error),
    }
}

/// "delete_file of files, for Cursor (k3v9qa)"
fn subject(approval: &Approval) -> String {
    format!("{} ({})", what(approval), approval.id)
}

fn what(approval: &Approval) -> String {
    let Approval { tool, server, client, .. } = approval;
    format!("{} of {}, for {}", name(tool), name(server), client_name(client))
}

fn scope_words(verdict: &ApprovalVerdict) -> String {
    let words = match verdict {
        ApprovalVerdict::Once => "once",
        ApprovalVerdict::Burst { tools } if !tools.is_empty() => {
            return format!("with the next calls of this tool and of {}", listed(tools));
        }
        ApprovalVerdict::Burst { .. } => "with the next calls of this tool",
        ApprovalVerdict::Conversation => "for the rest of this conversation",
        ApprovalVerdict::UntilRestart => "until the client restarts, in all of its chats",
        ApprovalVerdict::Deny { .. } => "not",
    };
    words.to_owned()
}

/// Names of tools, in a line.
fn listed(tools: &[String]) -> String {
    tools.iter().map(|tool| name(tool)).collect::<Vec<_>>().join(", ")
}

fn done(verdict: &ApprovalVerdict, approval: &Approval, is_held: bool, rule: Option<Done>) -> Done {
    let subject = subject(approval);
    let words = match verdict {
        ApprovalVerdict::Deny { block: false, .. } if !is_held => {
            format!("Denied {subject}; its client does not wait, and hears it if the same call comes again")
        }
        ApprovalVerdict::Deny { block: false, .. } => format!("Denied {subject}"),
        ApprovalVerdict::Deny { .. } => format!("Denied {subject}, and blocked the tool"),
        yes => {
            let then = if is_held {
                "it is let through now, if nothing else refuses it"
            } else {
                "its client does not wait: the same call passes if it comes again within 10 minutes"
            };
            format!("Approved {subject} {}; {then}", scope_words(yes))
        }
    };
    Done { words, ..rule.unwrap_or_default() }
}

fn view(approval: Approval, now_ms: i64) -> ApprovalView {
    let in_background = held_for(&approval, now_ms)
        .is_some_and(|waited| patience::is_in_background(&approval.client, waited));
    let (text, bytes, complete, masked) = match approval.arguments {
        Some(Arguments { text, bytes, complete, masked }) => (Some(text), bytes, complete, masked),
        None => (None, 0, true, 0),
    };
    ApprovalView {
        id: approval.id.to_string(),
        call: approval.call.to_string(),
        in_background,
        server: approval.server,
        client: approval.client,
        tool: approval.tool,
        class: None,
        rule: approval.rule,
        reason: approval.reason,
        difference: approval.difference,
        arguments: text,
        arguments_bytes: bytes,
        complete,
        masked,
        compared: None,
        opened_ms: approval.opened_ms,
        expires_ms: approval.expires_ms,
        held_until_ms: approval.held_until_ms.filter(|until| *until > now_ms),
        asked: approval.asked,
        approved_lately: 0,
        denied_lately: 0,
        state: match approval.state {
            State::Open => ApprovalState::Open,
            State::Approved => ApprovalState::Approved,
            State::Denied => ApprovalState::Denied,
            State::Missed => ApprovalState::Missed,
            State::Withdrawn => ApprovalState::Withdrawn,
        },
        decided_ms: approval.decided_ms,
        decided_by: approval.decided_by.map(|by| by.place().to_owned()),
        words: approval.words,
        in_conversation: approval.in_conversation,
    }
}

/// How long its client has waited at least; none if it does not. Of several that asked in turn it is not known.
fn held_for(approval: &Approval, now_ms: i64) -> Option<Duration> {
    let is_held = approval.held_until_ms.is_some_and(|until| until > now_ms);
    let waited = u64::try_from(now_ms - approval.opened_ms).ok();
    waited.filter(|_| is_held && approval.asked == 1).map(Duration::from_millis)
}

fn grant_view(grant: Grant) -> GrantView {
    let calls = count(u64::from(grant.calls_left), "call");
    let words = match grant.scope {
        GrantScope::Burst => format!("until nothing comes for a minute, {calls} at most"),
        GrantScope::Conversation => "for the rest of its conversation".to_owned(),
        GrantScope::Session => "until the client restarts, in all of its chats".to_owned(),
    };
    let Grant { id, server, client, tool, also, ends_ms, calls_left, .. } = grant;
    let also = also.into_iter().map(|one| one.tool).collect();
    GrantView { id: id.to_string(), server, client, tool, also, words, ends_ms, calls_left }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
#[path = "approvals_tests.rs"]
mod tests;
