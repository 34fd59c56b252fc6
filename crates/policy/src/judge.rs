//! The decision for one call: hidden, denied, conditions; then the limits that have to have room, and what is asked.
//!
//! This is the hot path: one lookup by name, no allocation unless it refuses or an argument needs unescaping.

use callgate_protocol::NextStep;
use callgate_protocol::json::Raw;

use crate::amount;
use crate::applying::Applying;
use crate::call::{Call, Circumstances, Judgement, Pass, Refusal, RefusalKind, Target, Waived};
use crate::codegen;
use crate::evaluate::{Arguments, CannotJudge, Clause, Standing};
use crate::file::{AskSettings, Pin};
use crate::layer::{Default, Layer, Rule};
use crate::limit::{Kind, Limit, Limits, Taking};
use crate::name;
use crate::policy::Policy;

type Verdict = Result<(), Refusal>;

impl Policy {
    /// What the rules say about this call. Total: every call gets an answer, and what cannot be judged is refused.
    pub fn judge<'p>(&'p self, call: &Call<'_>, circumstances: &Circumstances<'_>) -> Judgement<'p> {
        let judged = match call.target {
            Target::Tool { name, args } => {
                let known = || self.tools.as_ref().and_then(|tools| tools.schema(name));
                let schema = call.schema.or_else(known);
                let args = Arguments { raw: args, files: circumstances.files, schema };
                self.judge_tool(call.client, name, &args, circumstances)
            }
            Target::Method { method, params } => {
                self.judge_method(call.client, method, params, circumstances)
            }
        };
        match judged {
            Ok(pass) => Judgement::Pass(pass),
            Err(refusal) => Judgement::Refuse(refusal),
        }
    }

    /// How long a call of this tool that has to be asked about waits, as far as the policy says.
    pub fn ask_settings(&self, client: &str, tool: &str, now_ms: i64) -> AskSettings {
        let applying = self.applying(client, tool, now_ms);
        AskSettings { asked_in: Some(applying.asked_in()), ..applying.ask_settings() }
    }

    /// What becomes of this tool when its definition is not the accepted one.
    pub fn pin(&self, client: &str, tool: &str, now_ms: i64) -> Pin {
        self.effective_pin(&self.applying(client, tool, now_ms))
    }

    /// May any tool be kept back for its definition? Else nobody need look at what they are.
    pub fn keeps_definitions_back(&self) -> bool {
        let layers = std::iter::once(&self.base).chain(self.overlays.iter().map(|o| &o.layer));
        let said = |layer: &Layer| {
            layer.pin == Some(Pin::Enforce) || layer.every_rule().any(|rule| rule.pin == Some(Pin::Enforce))
        };
        layers.into_iter().any(said) || (self.base.pin.is_none() && !self.watch_only())
    }

    /// Where no policy was chosen, it is only told.
    pub(crate) fn effective_pin(&self, applying: &Applying<'_>) -> Pin {
        let is_only_told = || self.watch_only() || applying.observing();
        applying.pin(|| if is_only_told() { Pin::Report } else { Pin::Enforce })
    }

    fn judge_tool(
        &self,
        client: &str,
        tool: &str,
        args: &Arguments<'_>,
        circumstances: &Circumstances<'_>,
    ) -> Result<Pass<'_>, Refusal> {
        self.usable()?;
        let applying = self.applying(client, tool, circumstances.now_ms);
        self.weigh(&applying, (client, tool), args, circumstances)
            .map_err(|refusal| Refusal { keep: applying.keep(), ..refusal })
    }

    fn weigh<'p>(
        &'p self,
        applying: &Applying<'p>,
        (client, tool): (&str, &str),
        args: &Arguments<'_>,
        circumstances: &Circumstances<'_>,
    ) -> Result<Pass<'p>, Refusal> {
        let Circumstances { recordings, waived, .. } = *circumstances;
        let raw = args.raw;
        spelled_right(applying, tool)?;
        let observing = applying.observing() || waived == Waived::Enforcement;
        let mut rules = Rules { observing, would: None };
        let mut limits = Limits::none();
        if waived != Waived::Everything {
            rules.say(|| lets_in(applying, tool, waived))?;
        }
        self.not_our_home(raw)?;
        if waived != Waived::Everything {
            rules.say(|| applying.rules().try_for_each(|rule| rule.conditions(tool, args)))?;
            rules.say(|| codegen::judge(applying, client, tool, raw, recordings))?;
            for limit in applying.rules().flat_map(|rule| rule.limits_at(applying.now_ms)) {
                match limit.taken_by(raw) {
                    Ok(amount) => {
                        rules.say(|| fits_at_all(limit, amount, tool))?;
                        limits.push(Taking { limit, amount });
                    }
                    Err(why) => rules.say(|| Err(no_amount(limit, tool, &why)))?,
                }
            }
            if waived != Waived::Asking
                && (applying.says(|says| says.ask) || applying.default_action() == Default::Ask)
            {
                rules.say(|| asks(applying, tool, args, waived))?;
            }
        } else {
            // Nothing stands in its way, but it counts like every call that is made.
            for limit in applying.rules().flat_map(|rule| rule.limits_at(applying.now_ms)) {
                limits.extend(limit.taken_by(raw).ok().map(|amount| Taking { limit, amount }));
            }
        }
        let keep = applying.keep();
        Ok(Pass {
            rule: applying.pointer(),
            limits,
            keep,
            validate: applying.validate().filter(|_| waived != Waived::Everything),
            observing: rules.observing,
            would: rules.would.map(|refusal| Refusal { keep, ..refusal }),
        })
    }

    pub(crate) fn usable(&self) -> Verdict {
        let Some(reason) = &self.broken else { return Ok(()) };
        let reason = format!("the policy cannot be used: {reason}");
        Err(Refusal::new(RefusalKind::Broken, "(broken policy)", reason))
    }

    pub(crate) fn not_our_home(&self, args: Option<Raw<'_>>) -> Verdict {
        if !args.is_some_and(|args| self.homes.iter().any(|guard| guard.is_named_in(args))) {
            return Ok(());
        }
        let reason = "the arguments name Callgate's own folder".to_owned();
        let refusal = Refusal::new(RefusalKind::Denied, "(callgate home)", reason);
        Err(Refusal { next: NextStep::GoWithout, ..refusal })
    }
}

/// What the policy's rules say, as far as it counts: in observe mode the first refusal is noted and nothing is refused.
struct Rules {
    observing: bool,
    would: Option<Refusal>,
}

impl Rules {
    fn say(&mut self, judge: impl FnOnce() -> Verdict) -> Verdict {
        if self.would.is_some() {
            return Ok(());
        }
        match judge() {
            Err(refusal) if self.observing => {
                self.would = Some(refusal);
                Ok(())
            }
            verdict => verdict,
        }
    }
}

/// Names that no server should be asked for, and other spellings of those that the file holds. Built in: no mode and no
/// allowance changes it.
fn spelled_right(applying: &Applying<'_>, tool: &str) -> Verdict {
    if !applying.is_exact()
        && let Some(flaw) = name::unusable(tool)
    {
        let refusal = Refusal::new(RefusalKind::Denied, "(unusable name)", flaw.to_owned());
        return Err(Refusal { next: NextStep::ListedName, ..refusal });
    }
    let Some(meant) = applying.imitated() else { return Ok(()) };
    let rule = format!("(look-alike of {})", meant.name);
    if meant.hidden {
        return Err(Refusal::new(RefusalKind::Hidden, rule, format!("{tool:?} looks like a hidden tool")));
    }
    let reason = format!("{tool:?} looks like {:?} but is not spelled like it", meant.name);
    Err(Refusal { next: NextStep::ListedName, ..Refusal::new(RefusalKind::Denied, rule, reason) })
}

/// Hidden, denied, not listed.
fn lets_in(applying: &Applying<'_>, tool: &str, waived: Waived) -> Verdict {
    let denied = |rule: &Rule| match &rule.denied {
        None => Ok(()),
        Some(denial) => {
            let words = || match (is_for_all_tools(&denial.pointer), applying.class_at(&denial.pointer)) {
                // Or an agent tries the next one, and the next.
                (true, _) => format!("{tool:?} is denied, like every tool of this server"),
                (false, Some(class)) => format!("{tool:?} is denied, like every tool of the class {class}"),
                (false, None) => format!("{tool:?} is denied"),
            };
            let reason = denial.reason.clone().unwrap_or_else(words);
            Err(Refusal::new(RefusalKind::Denied, denial.pointer.as_str(), reason))
        }
    };
    if waived == Waived::Denials {
        // Only this tool was let in: a block of the whole server stays.
        return applying.rules_for_all().try_for_each(denied);
    }
    if let Some(pointer) = applying.hidden() {
        return Err(Refusal::new(RefusalKind::Hidden, pointer, format!("{tool:?} is hidden")));
    }
    applying.rules().try_for_each(denied)?;
    match applying.default() {
        Some(default) if applying.default_action() == Default::Deny => {
            let reason = format!("{tool:?} is not on the list of allowed tools");
            Err(Refusal::new(RefusalKind::Denied, default.pointer.as_str(), reason))
        }
        _ => Ok(()),
    }
}

/// Does a rule at this place speak of all tools, to everybody or to one client?
fn is_for_all_tools(pointer: &str) -> bool {
    let mut steps = pointer.split('/').skip(1).peekable();
    let _client = steps.next_if_eq(&"clients").and_then(|_| steps.next());
    steps.next() == Some("all_tools")
}

/// A single call that asks for more than a sum ever allows is not a matter of waiting.
pub(crate) fn fits_at_all(limit: &Limit, amount: u64, tool: &str) -> Verdict {
    if amount <= limit.ceiling() {
        return Ok(());
    }
    // Without the amount itself: it is an argument, and may be one that is not to be kept.
    let reason = limit.on_deny.clone();
    let reason =
        reason.unwrap_or_else(|| format!("{tool:?} asks for more at once than its cap of {}", limit.words()));
    let next = match &limit.kind {
        Kind::Sum { from, .. } => {
            NextStep::SmallerAmount { most: limit.max.to_string(), argument: from.text.clone() }
        }
        Kind::Calls(_) | Kind::Concurrent | Kind::Total => NextStep::AskUser,
    };
    Err(Refusal { next, ..Refusal::new(RefusalKind::Denied, limit.pointer.as_str(), reason) })
}

pub(crate) fn no_amount(limit: &Limit, tool: &str, why: &str) -> Refusal {
    let reason = format!("{tool:?} is capped at {}: {why}", limit.words());
    let refusal = Refusal::new(RefusalKind::Denied, limit.pointer.as_str(), reason);
    Refusal { next: NextStep::OtherArguments, ..refusal }
}

/// Rules that want a person to be asked. An allowance for the tool answers what its own rules ask without conditions.
fn asks(applying: &Applying<'_>, tool: &str, args: &Arguments<'_>, waived: Waived) -> Verdict {
    let ask = |pointer: &str, said: Option<&String>| {
        let sentence = || match applying.class_at(pointer) {
            Some(class) => format!("{tool:?} is of the class {class} and needs the user's approval"),
            None => format!("{tool:?} needs the user's approval"),
        };
        Err(Refusal::new(RefusalKind::Ask, pointer, said.cloned().unwrap_or_else(sentence)))
    };
    let always =
        |rule: &Rule| rule.ask.as_ref().map_or(Ok(()), |said| ask(&said.pointer, said.reason.as_ref()));
    if waived != Waived::Denials {
        applying.own_rules().try_for_each(always)?;
    }
    applying.rules_for_all().try_for_each(always)?;
    for clause in applying.rules().flat_map(|rule| &rule.ask_if) {
        match clause.standing(args) {
            Standing::AllHold => return ask(&clause.pointer, clause.on_deny.as_ref()),
            Standing::Fails(_) => {}
            // Whether it has to be asked cannot be told: a person can.
            Standing::Unclear(unclear) => return ask(&clause.pointer, Some(&unclear.why)),
        }
    }
    match applying.default() {
        Some(default) if applying.default_action() == Default::Ask && waived != Waived::Denials => {
            ask(&default.pointer, None)
        }
        _ => Ok(()),
    }
}

impl Limit {
    /// One call, or the amount that it is about.
    pub(crate) fn taken_by(&self, args: Option<Raw<'_>>) -> Result<u64, String> {
        match &self.kind {
            Kind::Sum { from, .. } => amount::of(args, from),
            Kind::Calls(_) | Kind::Concurrent | Kind::Total => Ok(1),
        }
    }
}

impl Rule {
    fn conditions(&self, tool: &str, args: &Arguments<'_>) -> Verdict {
        for clause in &self.deny_if {
            match clause.standing(args) {
                Standing::AllHold => {
                    let which = || clause.conditions.iter().find_map(|one| one.first(args, true));
                    let otherwise = || format!("{tool:?} is denied when {}", clause.words_for(args));
                    let reason = clause.reason(which, otherwise);
                    // Without conditions nothing else can be tried.
                    let next = if clause.conditions.is_empty() {
                        NextStep::AskUser
                    } else {
                        NextStep::OtherArguments
                    };
                    return Err(clause.refusal(reason, next));
                }
                Standing::Fails(_) => {}
                Standing::Unclear(CannotJudge { why, next }) => return Err(clause.refusal(why, next)),
            }
        }
        for clause in &self.require {
            match clause.standing(args) {
                Standing::AllHold => {}
                Standing::Fails(which) => {
                    let failed = clause.conditions.get(which);
                    let wanted = || failed.map(|failed| failed.wanted(args)).unwrap_or_default();
                    let otherwise = || format!("{tool:?} is allowed only when {}", wanted());
                    let reason = clause.reason(|| failed.and_then(|one| one.first(args, false)), otherwise);
                    return Err(clause.refusal(reason, NextStep::OtherArguments));
                }
                Standing::Unclear(CannotJudge { why, next }) => return Err(clause.refusal(why, next)),
            }
        }
        Ok(())
    }
}

impl Clause {
    /// The person's own words, with the argument that they are about where the rule does not name it; else ours.
    fn reason(&self, which: impl FnOnce() -> Option<String>, otherwise: impl FnOnce() -> String) -> String {
        match (&self.on_deny, self.on_deny.as_ref().and_then(|_| which())) {
            (Some(said), Some(which)) => format!("{said} ({which})"),
            (Some(said), None) => said.clone(),
            (None, _) => otherwise(),
        }
    }

    fn refusal(&self, reason: String, next: NextStep) -> Refusal {
        Refusal { next, ..Refusal::new(RefusalKind::Denied, &self.pointer, reason) }
    }
}
