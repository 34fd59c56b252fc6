//! One request of the client at the gate: judged, checked against its schema, admitted by its limits, entered.
//!
//! A refusal is looked at once more: a person may have allowed the tool for a while, or this very call once. What nobody can
//! allow are a pause, a broken policy, and what Callgate refuses by itself.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use callgate_policy::{Call, Judgement, Keep, Refusal, RefusalKind, Waived};
use callgate_protocol::NextStep;
use callgate_protocol::digest::digest;
use callgate_protocol::id::{Id, IdKey};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::List;
use callgate_protocol::message::Message;
use callgate_protocol::target::{Ref, completion_ref};
use callgate_protocol::unknown::Thing;
use callgate_store::allowance::{Allowance, What as Allowed};
use callgate_store::{CallRef, Decision, Intent, NotAdmitted, Outcome, Refused, Seal};

use crate::client::{Entered, Group};
use crate::patience::Patience;
use crate::pending::{Asked, Shut, What};
use crate::schema::{Misfit, ToolSchema};
use crate::toolbook::PATIENCE;
use crate::unknown_answers::Unlisted;
use crate::wording::{self, Expects};

/// Arguments larger than this are not summed up when they are refused, so that such a call cannot be allowed by itself.
const DIGESTED: usize = 8 << 20;

/// How long a cursor is at most that a page of a list is remembered under.
const MOST_CURSOR: usize = 4096;

/// A request under judgement.
pub(crate) struct Ask<'a> {
    pub(crate) message: &'a Message<'a>,
    pub(crate) key: IdKey,
    pub(crate) method: &'a str,
    /// What it names: a tool, a URI, a prompt; empty when nothing is named.
    pub(crate) name: Cow<'a, str>,
    pub(crate) args: Option<Raw<'a>>,
    pub(crate) expects: Expects,
    params: Option<Raw<'a>>,
}

/// Why a request does not pass.
pub(crate) struct No {
    decision: Decision,
    rule: String,
    reason: String,
    keep: Keep,
    next: NextStep,
}

/// What a person has set aside for a request.
#[derive(Default)]
struct Leave {
    waived: Waived,
    /// The allowance, as the record names it.
    rule: Option<String>,
    /// It is used up by this one call.
    spend: Option<String>,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(
        message: &'a Message<'a>,
        key: IdKey,
        method: &'a str,
        params: Option<Raw<'a>>,
    ) -> Ask<'a> {
        let (name, expects) = (Cow::Borrowed(""), Expects::of(method));
        Ask { message, key, method, name, args: params, expects, params }
    }

    fn call<'c>(&'c self, client: &'c str) -> Call<'c> {
        match self.expects {
            Expects::ToolResult => Call::tool(client, &self.name, self.args),
            Expects::Anything => Call::method(client, self.method, self.args),
        }
    }

    /// Of a request for a further page of a list: as it is written, so that no two are taken for one. Of one that is too long
    /// to be remembered, nothing.
    pub(crate) fn cursor(&self) -> Option<&'a str> {
        let text = self.params?.get("cursor")?.text();
        Some(if text.len() <= MOST_CURSOR { text } else { "" })
    }

    /// Of tool calls that are not too large, sealed.
    fn digest(&self, seal: Option<&Seal>) -> Option<[u8; 32]> {
        let size = self.args.map_or(0, |args| args.text().len());
        let seal = seal.filter(|_| self.expects == Expects::ToolResult && size <= DIGESTED)?;
        Some(seal.seal(digest(&self.name, self.args).as_bytes()))
    }

    /// What the server names when it tells of progress.
    fn progress_token(&self) -> Option<IdKey> {
        let token = self.params?.get("_meta")?.get("progressToken")?;
        Id::read(token).ok().map(|token| token.as_key())
    }

    /// Does the request speak the revision without a handshake?
    fn is_stateless(&self) -> bool {
        let meta = self.params.and_then(|params| params.get("_meta"));
        meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some())
    }
}

impl Group<'_> {
    /// A request that is judged, but neither counted nor recorded when it passes: handshake, lists, pings.
    pub(crate) fn pass(&mut self, ask: &Ask<'_>) {
        if let Some(no) = self.harmless_refused(ask) {
            return self.refuse(ask, &no);
        }
        let relay = self.from.relay;
        let what = match List::asked_by(ask.method) {
            Some(list) => What::List { list, cursor: ask.cursor().map(str::to_owned) },
            None if ask.method == "initialize" => {
                relay.handshake.asked(ask.params);
                What::Initialize
            }
            None => What::Other,
        };
        match relay.pending.enter(ask.key.clone(), Asked::new(what), self.pipe.generation) {
            Ok(()) => {
                relay.handshake.lasting(ask.method, ask.params);
                self.batch.pass(&ask.message.wire());
                self.entered.push(Entered { id: ask.key.clone(), call: None, expects: ask.expects });
            }
            Err(why) => self.not_entered(&ask.key, ask.method, &why),
        }
    }

    /// Why such a request does not pass, if it does not.
    pub(crate) fn harmless_refused(&self, ask: &Ask<'_>) -> Option<No> {
        let relay = self.from.relay;
        let circumstances = relay.circumstances(&self.rules, Waived::Nothing);
        match self.rules.policy.judge(&ask.call(&relay.client.name()), &circumstances) {
            Judgement::Pass(_) => None,
            Judgement::Refuse(refusal) => Some(refusal.into()),
        }
    }

    /// May a notification that is none of the protocol's pass? Else why not.
    pub(crate) fn may_pass(&self, method: &str, params: Option<Raw<'_>>) -> Result<(), String> {
        let relay = self.from.relay;
        let circumstances = relay.circumstances(&self.rules, Waived::Nothing);
        let client = relay.client.name();
        match self.rules.policy.judge(&Call::method(&client, method, params), &circumstances) {
            Judgement::Pass(_) => Ok(()),
            Judgement::Refuse(refusal) => Err(refusal.reason),
        }
    }

    /// The way of one call.
    pub(crate) fn judge(&mut self, ask: &Ask<'_>) {
        let Err(mut no) = self.unless_paused(ask).and_then(|()| self.attempt(ask, &Leave::default())) else {
            return;
        };
        for leave in self.leaves(ask, no.decision) {
            match self.attempt(ask, &leave) {
                Ok(()) => return,
                // Said once, and before anything is done.
                Err(lost) if lost.decision == Decision::Stopped => return self.refuse(ask, &lost),
                // What stands in the way now is what the caller can do something about.
                Err(still) if leave.spend.is_none() => no = still,
                Err(_) => {}
            }
        }
        self.refuse(ask, &no);
    }

    fn unless_paused(&self, ask: &Ask<'_>) -> Result<(), No> {
        let client = self.from.relay.client.name();
        let Some(reason) = self.rules.paused_for(&client) else { return Ok(()) };
        let (decision, rule) = (Decision::Paused, "(paused)".to_owned());
        let (keep, next) = (self.keep(ask), NextStep::WaitForUser);
        Err(No { decision, rule, reason: reason.to_string(), keep, next })
    }

    /// What a call that may pass counts on went with the server before: its client hears of that first.
    fn unless_lost(&self, ask: &Ask<'_>, keep: Keep) -> Result<(), No> {
        let is_call = ask.expects == Expects::ToolResult;
        let Some(lost) = is_call.then(|| self.from.relay.codegen.lost_before(&ask.name)).flatten() else {
            return Ok(());
        };
        let (decision, rule) = (Decision::Stopped, "(lost codegen session)".to_owned());
        let (reason, next) = (format!("{lost}. This call was not done"), NextStep::AsSaid);
        Err(No { decision, rule, reason, keep, next })
    }

    /// How much the policy wants to be kept of a request, whatever becomes of it.
    fn keep(&self, ask: &Ask<'_>) -> Keep {
        let relay = self.from.relay;
        let circumstances = relay.circumstances(&self.rules, Waived::Nothing);
        match self.rules.policy.judge(&ask.call(&relay.client.name()), &circumstances) {
            Judgement::Pass(pass) => pass.keep,
            Judgement::Refuse(refusal) => refusal.keep,
        }
    }

    /// There is no server that could be asked.
    pub(crate) fn refuse_stopped(&mut self, ask: &Ask<'_>, shut: &Shut) {
        let (decision, rule) = (Decision::Stopped, shut.rule.to_owned());
        let (keep, next) = (self.keep(ask), shut.next.clone());
        let no = No { decision, rule, reason: shut.reason.to_string(), keep, next };
        self.refuse(ask, &no);
    }

    /// What a person has allowed that fits this request.
    fn leaves(&self, ask: &Ask<'_>, decision: Decision) -> Vec<Leave> {
        let rules = &self.rules;
        if rules.allowances.is_empty() || ask.expects != Expects::ToolResult || !can_be_allowed(decision) {
            return Vec::new();
        }
        let now = self.batch.now();
        let client = self.from.relay.client.name();
        let open = |allowance: &&Allowance| allowance.is_for(&client) && allowance.is_open(now);
        let mut leaves = Vec::new();
        for allowance in rules.allowances.iter().filter(open) {
            let rule = Some(format!("(allowance {})", allowance.id));
            match &allowance.what {
                what @ Allowed::Tool(_) if what.admits(&ask.name) => {
                    if matches!(decision, Decision::Denied | Decision::Hidden | Decision::Unsupported) {
                        leaves.push(Leave { waived: Waived::Denials, rule, spend: None });
                    }
                }
                Allowed::Call { tool, digest, .. } if *tool == ask.name => {
                    if ask.digest(self.from.relay.seal.as_ref()).as_ref() == Some(digest) {
                        let spend = Some(allowance.id.clone());
                        leaves.push(Leave { waived: Waived::Everything, rule, spend });
                    }
                }
                Allowed::Tool(_) | Allowed::Call { .. } | Allowed::Observe => {}
            }
        }
        leaves
    }

    fn attempt(&mut self, ask: &Ask<'_>, leave: &Leave) -> Result<(), No> {
        let relay = self.from.relay;
        let client = relay.client.name();
        let described = self.described(ask)?;
        let policy = self.rules.policy.clone();
        let call = ask.call(&client).described_by(described.as_ref().and_then(|schema| schema.arguments()));
        let judged = policy.judge(&call, &relay.circumstances(&self.rules, leave.waived));
        let mut pass = match judged {
            Judgement::Pass(pass) => pass,
            Judgement::Refuse(refusal) => {
                let limit = policy.all_limits().find(|limit| limit.pointer == refusal.rule);
                return Err(match (&refusal.next, limit) {
                    // More than the budget ever holds: what can pass is what is left of it.
                    (NextStep::SmallerAmount { .. }, Some(limit)) => {
                        let reading = relay.journal.reading(&client, limit).ok();
                        wording::beyond_all(refusal, limit, reading).into()
                    }
                    _ => refusal.into(),
                });
            }
        };
        if let Some(pointer) = pass.validate {
            let fits = self.fits(ask);
            if self.rules_changed(ask)? {
                return self.attempt(ask, leave);
            }
            if let Err(misfit) = fits {
                let (reason, next) = wording::misfit(&ask.name, &misfit, pass.keep);
                let refusal = Refusal::new(RefusalKind::Denied, pointer, reason);
                let refusal = Refusal { keep: pass.keep, next, ..refusal };
                if !pass.observing {
                    return Err(refusal.into());
                }
                pass.would.get_or_insert(refusal);
            }
        }
        self.unless_lost(ask, pass.keep)?;
        let under = match leave.rule {
            None => relay.observed_under(&self.rules, &call),
            Some(_) => None,
        };
        self.batch.observe_under(under);
        let intent = Intent {
            method: ask.method,
            tool: &ask.name,
            rpc_id: &ask.key.to_lexeme(),
            args: ask.args,
            client: &client,
            rule: leave.rule.as_deref().unwrap_or(pass.rule),
            policy: policy.version(),
            keep: pass.keep,
            // What is allowed in spite of everything is counted in spite of everything.
            observing: pass.observing || leave.spend.is_some(),
            would: pass.would.as_ref().map(|would| (would.rule.as_str(), would.reason.as_str())),
            spend: leave.spend.as_deref(),
        };
        match self.batch.admit(intent, &pass.limits, &ask.message.wire()) {
            Ok(call) => {
                self.enter(ask, call, &client);
                Ok(())
            }
            Err(NotAdmitted::Capped(cap)) => {
                let full = pass.limits.iter().find(|taking| taking.limit.pointer == cap.pointer);
                let (reason, next) = wording::capped(full, &ask.name, &cap);
                Err(No { decision: Decision::Capped, rule: cap.pointer, reason, keep: pass.keep, next })
            }
            Err(NotAdmitted::Spent) => {
                let reason = "what was allowed once has been used".to_owned();
                let rule = leave.rule.clone().unwrap_or_default();
                let (decision, next) = (Decision::Denied, NextStep::AskUser);
                Err(No { decision, rule, reason, keep: pass.keep, next })
            }
            Err(NotAdmitted::Store(error)) => {
                let (decision, rule) = (Decision::Unrecorded, "(record)".to_owned());
                let (reason, next) = (wording::unrecorded(&error.to_string()), NextStep::TellUser);
                Err(No { decision, rule, reason, keep: pass.keep, next })
            }
        }
    }

    /// What the server says of the tool's arguments, where a rule asks for kinds of them. Which are paths must not depend on
    /// whether a list was read in time; of a server that lists nothing, names and looks tell, and what it listed last.
    fn described(&mut self, ask: &Ask<'_>) -> Result<Option<Arc<ToolSchema>>, No> {
        if ask.expects != Expects::ToolResult || !self.rules.policy.asks_for_kinds() {
            return Ok(None);
        }
        if self.await_list(ask) {
            self.rules_changed(ask)?;
        }
        Ok(self.from.relay.tools.schema(&ask.name))
    }

    /// Do the arguments fit the tool's own schema?
    fn fits(&mut self, ask: &Ask<'_>) -> Result<(), Misfit> {
        self.await_list(ask);
        self.from.relay.tools.check(&ask.name, ask.args)
    }

    /// A server that has not listed its tools yet is asked to. Says whether that took its time.
    fn await_list(&mut self, ask: &Ask<'_>) -> bool {
        let relay = self.from.relay;
        let Some(read) = relay.tools.wants_list(&ask.name, Instant::now()) else { return false };
        // What came before this call may be the handshake: the server has to have it first.
        self.forward();
        if relay.list_tools(&self.pipe, None, &own_meta(ask.params)) {
            relay.tools.wait_newer(read, PATIENCE);
        }
        true
    }

    /// What takes its time leaves a person the time to change their mind. The rules of now are then in force here.
    fn rules_changed(&mut self, ask: &Ask<'_>) -> Result<bool, No> {
        let rules = self.from.relay.rules();
        if rules.same_as(&self.rules) {
            return Ok(false);
        }
        self.rules = rules;
        self.unless_paused(ask)?;
        Ok(true)
    }

    /// An admitted call waits for its answer from here on.
    fn enter(&mut self, ask: &Ask<'_>, call: CallRef, client: &str) {
        let relay = self.from.relay;
        if ask.expects == Expects::ToolResult {
            relay.codegen.sent(&call, client, &ask.name, ask.args);
        }
        let lasting = ask.method == "subscriptions/listen";
        let mut asked = Asked { lasting, ..Asked::new(What::Call(call, ask.expects)) };
        if let Some(Patience::Set(_)) = relay.patience(&self.rules) {
            asked.token = ask.progress_token();
        }
        // Whether a server has a resource or a prompt is looked up only if it says that it has not.
        let thing = Thing::used_by(ask.method);
        if let Some(thing) = thing.filter(|thing| *thing != Thing::Tool || relay.tools.lacks(&ask.name)) {
            asked.unlisted = Unlisted::new(thing, &ask.name, ask.args, ask.is_stateless());
        }
        match relay.pending.enter(ask.key.clone(), asked, self.pipe.generation) {
            Ok(()) => {
                if ask.expects == Expects::Anything {
                    relay.handshake.lasting(ask.method, ask.params);
                }
                self.entered.push(Entered { id: ask.key.clone(), call: Some(call), expects: ask.expects });
            }
            // Only the server's end can come between the check and here (our own ids are ours alone): then the group is not
            // sent.
            Err(why) => {
                relay.codegen.dropped(&call);
                relay.journal.settle_one(&call, Outcome::NotDelivered);
                self.not_entered(&ask.key, ask.method, &why);
            }
        }
    }

    pub(crate) fn refuse(&mut self, ask: &Ask<'_>, no: &No) {
        let No { decision, rule, reason, keep, next } = no;
        // Only what a person could allow has to be known again.
        let digest = can_be_allowed(*decision).then(|| ask.digest(self.from.relay.seal.as_ref())).flatten();
        let call = self.batch.refuse(Refused {
            decision: *decision,
            method: ask.method,
            tool: &ask.name,
            rpc_id: &ask.key.to_lexeme(),
            args: ask.args,
            client: &self.from.relay.client.name(),
            rule,
            reason,
            policy: self.rules.policy.version(),
            keep: *keep,
            digest,
        });
        let line = match decision {
            // Exactly what this server says of something that it does not have.
            Decision::Hidden => self.unknown(ask),
            Decision::Denied if self.is_absent(ask, rule) => self.unknown(ask),
            _ => wording::refusal(ask.expects, &ask.key, reason, next, (&call.id().to_string(), rule)),
        };
        self.from.relay.to_client.post(line);
    }
}

impl Group<'_> {
    fn unknown(&self, ask: &Ask<'_>) -> Vec<u8> {
        let (thing, name) = match (Thing::used_by(ask.method), completion_ref(ask.params)) {
            (Some(thing), _) => (thing, ask.name.clone()),
            (None, Ok(Ref::Prompt(name))) => (Thing::Prompt, name),
            (None, Ok(Ref::Resource(uri))) => (Thing::Resource, uri),
            (None, _) => (Thing::Resource, ask.name.clone()),
        };
        self.from.relay.unknown_answers.answer(thing, &ask.key, &name, ask.is_stateless())
    }

    /// Is it refused only because nothing speaks for it, and known not to exist? Told otherwise than what is hidden, it would
    /// tell what that is.
    fn is_absent(&self, ask: &Ask<'_>, rule: &str) -> bool {
        let relay = self.from.relay;
        if !["/default", "/validate", "/allow"].iter().any(|end| rule.ends_with(end)) {
            return false;
        }
        match Thing::used_by(ask.method) {
            Some(Thing::Tool) => {}
            Some(thing) => return relay.lists.names(thing).is_some_and(|names| !names.may_have(&ask.name)),
            None => return false,
        }
        if relay.listed.load(Ordering::Relaxed) {
            relay.tools.await_first_list();
        }
        relay.tools.lacks(&ask.name)
    }
}

/// May a person set a refusal of this kind aside? A pause, a broken policy and what Callgate refuses by itself, nobody can.
fn can_be_allowed(decision: Decision) -> bool {
    matches!(decision, Decision::Denied | Decision::Hidden | Decision::Capped | Decision::Unsupported)
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> No {
        let Refusal { kind, rule, reason, keep, next } = refusal;
        No { decision: decision_of(kind), rule, reason, keep, next }
    }
}

pub(crate) fn decision_of(kind: RefusalKind) -> Decision {
    match kind {
        RefusalKind::Denied => Decision::Denied,
        RefusalKind::Ask | RefusalKind::Unsupported => Decision::Unsupported,
        RefusalKind::Hidden => Decision::Hidden,
        RefusalKind::Broken => Decision::Broken,
    }
}

/// What a request beside `tools/call` is about, for the record.
pub(crate) fn named<'a>(method: &str, params: Option<Raw<'a>>) -> Cow<'a, str> {
    let member = match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "prompts/get" => "name",
        _ if method.starts_with("tasks/") => "taskId",
        _ => return Cow::Borrowed(""),
    };
    params.and_then(|params| params.get(member)).and_then(Raw::as_str).unwrap_or_default()
}

/// What a request of our own has to say about protocol and client: what the client says of itself.
fn own_meta(params: Option<Raw<'_>>) -> String {
    let meta = params.and_then(|params| params.get("_meta"));
    let mut members = Vec::new();
    for name in ["protocolVersion", "clientInfo", "clientCapabilities"] {
        let key = format!("io.modelcontextprotocol/{name}");
        if let Some(value) = meta.and_then(|meta| meta.get(&key)) {
            members.push(format!("\"{key}\":{}", value.text()));
        }
    }
    if members.is_empty() { String::new() } else { format!("{{{}}}", members.join(",")) }
}
