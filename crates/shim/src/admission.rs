//! Admission: a request is judged, counted and put on record in one step, by whichever thread carries it.
//!
//! The client's thread comes here with what it reads, the server's with what the server asks of its client, and whoever held a
//! request back comes once more, under the rules of that moment. A refusal is looked at once more, too: a person may have
//! allowed the tool for a while, or this very call once. Nothing here waits: what has to be waited for is named ([`Need`]), and
//! what a person has to decide is said ([`Obstacle::Asks`]).

mod looping;
mod refusal;
mod request;

use std::sync::Arc;

use callgate_controls::allowance::{Allowance, AllowanceScope as Allowed};
use callgate_controls::{Capped, Full};
use callgate_journal::{Batch, CallEntry, CallRef, Commit, Decision, Intent, NotAdmitted};
use callgate_policy::{self as policy, Judgement, Keep, Pass, Policy, RefusalKind, Taking, Waived};
use callgate_protocol::NextStep;
use callgate_protocol::form::is_yes_among;

use crate::approvals::SecondLeg;
use crate::relay::Relay;
use crate::rule_source::Rules;
use crate::schema::{Misfit, ToolSchema};
use crate::{client_questions, pins, wording};

pub(crate) use refusal::Refusal;
pub(crate) use request::{ClientRequest, Request};

/// Requests on their way into the record, under the rules of one moment.
pub(crate) struct Admission<'r> {
    pub(crate) relay: &'r Relay,
    pub(crate) rules: Rules,
    pub(crate) batch: Batch<'r>,
    /// Of a request that was asked about: its row.
    pub(crate) asked: Option<CallRef>,
    /// This is a thread that may look for what a person decided.
    pub(crate) may_ask: bool,
}

/// Why a request is not admitted.
#[derive(Debug)]
pub(crate) enum Obstacle {
    Refused(Refusal),
    /// It cannot be judged before this is known.
    Needs(Need),
    /// A person has to decide: nothing else stands in its way.
    Asks(Refusal),
}

/// What a judgement may have to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// What the server says of the tool's arguments.
    ToolList,
    /// Whether the arguments fit what the server says of them.
    SchemaCheck,
}

/// What was waited for.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The server was asked for its tools, and had its time to answer.
    pub(crate) listed: bool,
    pub(crate) fits: Option<Result<(), Misfit>>,
}

/// What a person has set aside for a request.
#[derive(Default)]
struct Leave {
    waived: Waived,
    /// The allowance, as the record names it.
    rule: Option<String>,
    /// It is used up by this one call.
    spend: Option<String>,
    /// What is said of it.
    words: String,
}

impl From<Refusal> for Obstacle {
    fn from(refusal: Refusal) -> Obstacle {
        Obstacle::Refused(refusal)
    }
}

impl<'r> Admission<'r> {
    /// By the rules of this moment.
    pub(crate) fn new(relay: &'r Relay) -> Admission<'r> {
        let batch = relay.journal.batch();
        Admission { relay, rules: relay.rules(), batch, asked: None, may_ask: false }
    }

    /// Judges a request, takes its limits, and stages its row and its `line` for the server.
    pub(crate) fn admit(
        &mut self,
        request: &Request<'_>,
        evidence: &Evidence,
        line: &[u8],
    ) -> Result<CallRef, Obstacle> {
        self.unless_paused(request)?;
        let mut refused = match self.attempt(request, evidence, &Leave::default(), line) {
            Err(Obstacle::Refused(refusal)) => refusal,
            other => return other,
        };
        for leave in self.leaves(request, &refused) {
            match self.attempt(request, evidence, &leave, line) {
                // Said once, and before anything is done.
                Err(Obstacle::Refused(lost)) if lost.decision == Decision::Stopped => return Err(lost.into()),
                // What stands in the way now is what the caller can do something about.
                Err(Obstacle::Refused(still)) if leave.spend.is_none() => refused = still,
                Err(Obstacle::Refused(_)) => {}
                other => return other,
            }
        }
        if refused.decision != Decision::Asked {
            return Err(refused.into());
        }
        if request.is_tool_call() {
            return self.ask(request, evidence, refused, line);
        }
        // Nobody is asked about anything but tools yet.
        Err(Refusal { decision: Decision::Unsupported, ..refused }.into())
    }

    /// A rule wants a person to decide. Lets it through if one did; else says so, unless it could not pass anyway.
    fn ask(
        &mut self,
        request: &Request<'_>,
        evidence: &Evidence,
        refused: Refusal,
        line: &[u8],
    ) -> Result<CallRef, Obstacle> {
        if !self.may_ask {
            return Err(Obstacle::Asks(refused));
        }
        if let Some(state) = request.own_state() {
            self.take_answer(request, &state, &refused)?;
        }
        let decided = self.relay.with_subject(request, |subject| self.relay.approvals.leave(subject));
        let leave = match decided {
            None => return Err(refused.cannot_be_asked().into()),
            Some(Err(error)) => return Err(Refusal::unrecorded(&error.to_string(), refused.keep).into()),
            Some(Ok(leave)) => leave,
        };
        if let Some(found) = leave {
            let (rule, spend) = (Some(found.rule), Some(found.spend));
            let leave = Leave { waived: Waived::Asking, rule, spend, words: found.words };
            match self.attempt(request, evidence, &leave, line) {
                // Somebody was quicker: then it is asked about anew.
                Err(Obstacle::Refused(spent)) if Some(&spent.rule) == leave.rule.as_ref() => {}
                other => return other,
            }
        }
        if self.relay.is_asked_by_client(&self.rules, &self.relay.client.name(), &request.name) {
            let (rule, words) = (Some(client_questions::RULE.to_owned()), client_questions::WORDS.to_owned());
            let leave = Leave { waived: Waived::Asking, rule, words, spend: None };
            return self.attempt(request, evidence, &leave, line);
        }
        let policy = self.rules.policy.clone();
        let waived = Leave { waived: Waived::Asking, ..Leave::default() };
        let pass = self.examine(&policy, request, evidence, &waived)?;
        self.has_room(request, &pass)?;
        Err(Obstacle::Asks(refused))
    }

    /// It comes again because its client was asked about it: takes in what was answered.
    fn take_answer(&self, request: &Request<'_>, state: &str, refused: &Refusal) -> Result<(), Refusal> {
        let yes = is_yes_among(request.params.and_then(|params| params.get("inputResponses")));
        let approvals = &self.relay.approvals;
        match self.relay.with_subject(request, |subject| approvals.second_leg(subject, state, yes)) {
            None | Some(Ok(SecondLeg::Answered)) => Ok(()),
            Some(Ok(SecondLeg::Declined(approval))) => Err(Refusal::declined_in_client(approval, refused)),
            Some(Ok(SecondLeg::Foreign)) => {
                let reason = format!(
                    "{}, and what came with the call is no answer to a question about it",
                    refused.reason
                );
                Err(Refusal {
                    decision: Decision::Denied,
                    reason,
                    next: NextStep::CallAgain,
                    ..refused.clone()
                })
            }
            Some(Err(error)) => Err(Refusal::unrecorded(&error.to_string(), refused.keep)),
        }
    }

    /// Would its limits let it pass now? Nobody is asked about a call that they would not.
    fn has_room(&self, request: &Request<'_>, pass: &Pass<'_>) -> Result<(), Refusal> {
        if pass.observing {
            return Ok(());
        }
        let client = self.relay.client.name();
        for taking in pass.limits.iter() {
            let Full { used, frees_in } = match self.relay.journal.reading(&client, taking.limit) {
                Ok(full) => full,
                Err(error) => return Err(Refusal::unrecorded(&error.to_string(), pass.keep)),
            };
            if used.saturating_add(taking.amount) <= taking.limit.ceiling() {
                continue;
            }
            let limit = taking.limit;
            let cap = Capped {
                pointer: limit.pointer.clone(),
                counter: limit.counter.clone(),
                used,
                max: limit.max,
                window: None,
                frees_in,
                on_deny: limit.on_deny.clone(),
            };
            return Err(capped(request, Some(taking), &cap, pass.keep));
        }
        Ok(())
    }

    /// Judges a request that is neither counted nor recorded when it passes.
    pub(crate) fn judge(&self, request: &Request<'_>) -> Result<Keep, Refusal> {
        let circumstances = self.relay.circumstances(&self.rules, Waived::Nothing);
        match self.rules.policy.judge(&request.as_call(&self.relay.client.name()), &circumstances) {
            Judgement::Pass(pass) => Ok(pass.keep),
            Judgement::Refuse(refusal) => Err(refusal.into()),
        }
    }

    /// What stands in the way of a call that a person is asked about, beside the question; none if nothing does.
    pub(crate) fn objection(&self, request: &Request<'_>) -> Option<Refusal> {
        let refused = self.unless_paused(request).and_then(|()| self.judge(request).map(drop));
        refused.err().filter(|refusal| refusal.decision != Decision::Asked)
    }

    /// Stages the row of a request that does not pass.
    pub(crate) fn refuse(&mut self, request: &Request<'_>, refusal: &Refusal) -> CallRef {
        // Only what a person could allow has to be known again.
        let seal = self.relay.seal.as_ref().filter(|_| refusal.can_be_allowed());
        let row = CallEntry {
            decision: refusal.decision,
            method: request.method,
            tool: &request.name,
            rpc_id: &request.rpc_id,
            args: request.args,
            client: &self.relay.client.name(),
            rule: &refusal.rule,
            reason: &refusal.reason,
            policy: self.rules.policy.version(),
            keep: refusal.keep,
            digest: request.digest(seal),
        };
        match self.asked {
            Some(asked) => self.batch.decide(&asked, &row),
            None => self.batch.refuse(row),
        }
    }

    /// Writes down what was staged; only then can the lines be had.
    pub(crate) fn commit(&mut self) -> Commit {
        std::mem::replace(&mut self.batch, self.relay.journal.batch()).commit()
    }

    /// How much the policy wants to be kept of a request, whatever becomes of it.
    pub(crate) fn keep(&self, request: &Request<'_>) -> Keep {
        self.judge(request).unwrap_or_else(|refusal| refusal.keep)
    }

    fn unless_paused(&self, request: &Request<'_>) -> Result<(), Refusal> {
        let Some(reason) = self.rules.paused_for(&self.relay.client.name()) else { return Ok(()) };
        let (decision, rule) = (Decision::Paused, "(paused)".to_owned());
        let (keep, next) = (self.keep(request), NextStep::WaitForUser);
        Err(Refusal { decision, rule, reason: reason.to_string(), keep, next })
    }

    /// What a call that may pass counts on went with the server before: its client hears of that first.
    fn unless_lost(&self, request: &Request<'_>, keep: Keep) -> Result<(), Refusal> {
        let lost = request.is_tool_call().then(|| self.relay.codegen.lost_before(&request.name));
        let Some(lost) = lost.flatten() else { return Ok(()) };
        let (decision, rule) = (Decision::Stopped, "(lost codegen session)".to_owned());
        let (reason, next) = (format!("{lost}. This call was not done"), NextStep::AsSaid);
        Err(Refusal { decision, rule, reason, keep, next })
    }

    /// What a person has allowed that fits this request.
    fn leaves(&self, request: &Request<'_>, refused: &Refusal) -> Vec<Leave> {
        let rules = &self.rules;
        if rules.allowances.is_empty() || !request.is_tool_call() || !refused.can_be_allowed() {
            return Vec::new();
        }
        let now = self.batch.now();
        let client = self.relay.client.name();
        let open = |allowance: &&Allowance| allowance.is_for(&client) && allowance.is_open(now);
        let mut leaves = Vec::new();
        for allowance in rules.allowances.iter().filter(open) {
            let rule = Some(format!("(allowance {})", allowance.id));
            match &allowance.what {
                what @ Allowed::Tool(_) if what.admits(&request.name) => {
                    if refused.decision != Decision::Capped {
                        leaves.push(Leave { waived: Waived::Denials, rule, ..Leave::default() });
                    }
                }
                Allowed::Call { tool, digest, .. } if *tool == request.name => {
                    if request.digest(self.relay.seal.as_ref()).as_ref() == Some(digest) {
                        let spend = Some(allowance.id.clone());
                        leaves.push(Leave { waived: Waived::Everything, rule, spend, ..Leave::default() });
                    }
                }
                Allowed::Tool(_) | Allowed::Call { .. } | Allowed::Observe => {}
            }
        }
        leaves
    }

    /// What the rules say, and the tool's own schema.
    fn examine<'p>(
        &self,
        policy: &'p Policy,
        request: &Request<'_>,
        evidence: &Evidence,
        leave: &Leave,
    ) -> Result<Pass<'p>, Obstacle> {
        let relay = self.relay;
        let client = relay.client.name();
        let described = self.described(request, evidence)?;
        let call =
            request.as_call(&client).described_by(described.as_ref().and_then(|schema| schema.arguments()));
        let judged = policy.judge(&call, &relay.circumstances(&self.rules, leave.waived));
        let mut pass = match judged {
            Judgement::Pass(pass) => pass,
            Judgement::Refuse(refusal) => {
                let limit = policy.all_limits().find(|limit| limit.pointer == refusal.rule);
                let refusal = match (&refusal.next, limit) {
                    // More than the budget ever holds: what can pass is what is left of it.
                    (NextStep::SmallerAmount { .. }, Some(limit)) => {
                        let reading = relay.journal.reading(&client, limit).ok();
                        wording::beyond_all(refusal, limit, reading)
                    }
                    _ => refusal,
                };
                return Err(Obstacle::Refused(refusal.into()));
            }
        };
        if let Some(why) = self.unaccepted(request, evidence, pass.observing)? {
            let (reason, next) = wording::unaccepted(&request.name, &why);
            let refusal = policy::Refusal::new(RefusalKind::Denied, pins::RULE, reason);
            let refusal = policy::Refusal { keep: pass.keep, next, ..refusal };
            if !pass.observing {
                return Err(Obstacle::Refused(refusal.into()));
            }
            pass.would.get_or_insert(refusal);
        }
        if let Some(pointer) = pass.validate {
            let fits = evidence.fits.as_ref().ok_or(Obstacle::Needs(Need::SchemaCheck))?;
            if let Err(misfit) = fits {
                let (reason, next) = wording::misfit(&request.name, misfit, pass.keep);
                let refusal = policy::Refusal::new(RefusalKind::Denied, pointer, reason);
                let refusal = policy::Refusal { keep: pass.keep, next, ..refusal };
                if !pass.observing {
                    return Err(Obstacle::Refused(refusal.into()));
                }
                pass.would.get_or_insert(refusal);
            }
        }
        self.unless_looping(request, &mut pass, leave.waived)?;
        self.unless_lost(request, pass.keep)?;
        Ok(pass)
    }

    fn attempt(
        &mut self,
        request: &Request<'_>,
        evidence: &Evidence,
        leave: &Leave,
        line: &[u8],
    ) -> Result<CallRef, Obstacle> {
        let relay = self.relay;
        let client = relay.client.name();
        let policy = self.rules.policy.clone();
        let pass = self.examine(&policy, request, evidence, leave)?;
        let under = match leave.rule {
            None => {
                let described = self.described(request, evidence)?;
                let schema = described.as_ref().and_then(|schema| schema.arguments());
                relay.observed_under(&self.rules, &request.as_call(&client).described_by(schema))
            }
            Some(_) => None,
        };
        self.batch.observe_under(under);
        let intent = Intent {
            method: request.method,
            tool: &request.name,
            rpc_id: &request.rpc_id,
            args: request.args,
            client: &client,
            rule: leave.rule.as_deref().unwrap_or(pass.rule),
            policy: policy.version(),
            keep: pass.keep,
            // What is allowed in spite of everything is counted in spite of everything.
            observing: pass.observing || leave.waived == Waived::Everything,
            would: pass.would.as_ref().map(|would| (would.rule.as_str(), would.reason.as_str())),
            spend: leave.spend.as_deref(),
            reason: &leave.words,
            asked: self.asked,
        };
        let refused = match self.batch.admit(intent, &pass.limits, line) {
            Ok(call) => return Ok(call),
            Err(NotAdmitted::Capped(cap)) => {
                let full = pass.limits.iter().find(|taking| taking.limit.pointer == cap.pointer);
                capped(request, full, &cap, pass.keep)
            }
            Err(NotAdmitted::Spent) => {
                let reason = "what was allowed once has been used".to_owned();
                let rule = leave.rule.clone().unwrap_or_default();
                let (decision, next) = (Decision::Denied, NextStep::AskUser);
                Refusal { decision, rule, reason, keep: pass.keep, next }
            }
            Err(NotAdmitted::Store(error)) => Refusal::unrecorded(&error.to_string(), pass.keep),
        };
        Err(refused.into())
    }

    /// What the server says of the tool's arguments, where a rule asks for kinds of them or for what tools can do. Neither must
    /// depend on whether a list was read in time; of a server that lists nothing, names and looks tell, and what it listed last.
    fn described(
        &self,
        request: &Request<'_>,
        evidence: &Evidence,
    ) -> Result<Option<Arc<ToolSchema>>, Obstacle> {
        let policy = &self.rules.policy;
        if !request.is_tool_call() || !(policy.asks_for_kinds() || policy.asks_for_classes()) {
            return Ok(None);
        }
        let tools = &self.relay.tools;
        // One that is held already may be the one that waits for this list.
        if !evidence.listed && tools.lacks_list(&request.name, !self.relay.held.is_empty()) {
            return Err(Obstacle::Needs(Need::ToolList));
        }
        Ok(tools.schema(&request.name))
    }
}

/// A limit is full.
fn capped(request: &Request<'_>, full: Option<&Taking<'_>>, cap: &Capped, keep: Keep) -> Refusal {
    let (reason, next) = wording::capped(full, request.subject(), cap);
    Refusal { decision: Decision::Capped, rule: cap.pointer.clone(), reason, keep, next }
}
