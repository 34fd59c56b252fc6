//! The decision for one call: hidden, denied, conditions; then the limits that have to have room.
//!
//! This is the hot path: one lookup by name, no allocation unless it refuses or an argument needs unescaping.

use std::borrow::Cow;

use callgate_protocol::json::Raw;
use callgate_protocol::method::{Class, class};

use crate::call::{Call, Judgement, Pass, Refusal, RefusalKind, Target};
use crate::evaluate::{Clause, Standing};
use crate::limit::Limits;
use crate::name;
use crate::policy::{Default, Policy, Rule};
use crate::unbuilt::Unbuilt;

const DEFAULT: &str = "/default";
/// Requests that no rule of a policy speaks of are let through by this.
const METHODS: &str = "/other_methods";

/// What an overlay can rule over besides tools, lists included.
const RULED_BY_OVERLAYS: [&str; 6] =
    ["resources/", "subscriptions/", "prompts/", "completion/", "sampling/", "elicitation/"];

type Verdict = Result<(), Refusal>;

impl Policy {
    /// What the rules say about this call. Total: every call gets an answer, and what cannot be judged is refused.
    pub fn judge<'p>(&'p self, call: &Call<'_>) -> Judgement<'p> {
        let judged = match call.target {
            Target::Tool { name, args } => self.judge_tool(call.client, name, args),
            Target::Method { method, params } => self.judge_method(call.client, method, params),
        };
        match judged {
            Ok(pass) => Judgement::Pass(pass),
            Err(refusal) => Judgement::Refuse(refusal),
        }
    }

    fn judge_tool(&self, client: &str, tool: &str, args: Option<Raw<'_>>) -> Result<Pass<'_>, Refusal> {
        self.usable()?;
        let named = self.names.get(tool);
        if named.is_none() {
            self.unknown_name(tool)?;
        }
        let hidden = self.hide_all.as_ref().or(named.and_then(|n| n.hidden.as_ref()));
        if let Some(pointer) = hidden {
            return Err(refusal(RefusalKind::Hidden, pointer, format!("{tool:?} is hidden")));
        }
        let rule = named.and_then(|n| n.rule).map(|i| &self.rules[i]);
        self.denied(tool, rule)?;
        self.not_built_for(client, tool, rule.is_some())?;
        self.not_our_home(args)?;
        for rule in rule.into_iter().chain([&self.all_tools]) {
            rule.conditions(tool, args)?;
        }
        for rule in rule.into_iter().chain([&self.all_tools]) {
            refuse_unbuilt(rule.unbuilt.as_ref(), tool)?;
        }
        refuse_unbuilt(self.not_built.everything.as_ref(), tool)?;
        Ok(Pass {
            rule: rule.map_or(DEFAULT, |rule| rule.pointer.as_str()),
            limits: Limits::of(rule.map_or(&[], |rule| rule.limits.as_slice()), &self.all_tools.limits),
        })
    }

    fn usable(&self) -> Verdict {
        let Some(reason) = &self.broken else { return Ok(()) };
        let reason = format!("the policy cannot be used: {reason}");
        Err(refusal(RefusalKind::Broken, "(broken policy)", reason))
    }

    fn not_our_home(&self, args: Option<Raw<'_>>) -> Verdict {
        if !args.is_some_and(|args| self.homes.iter().any(|guard| guard.is_named_in(args))) {
            return Ok(());
        }
        let reason = "the arguments name Callgate's own folder".to_owned();
        Err(refusal(RefusalKind::Denied, "(callgate home)", reason))
    }

    /// Names that the file does not hold exactly: unusable ones, and other spellings of those that it does hold.
    fn unknown_name(&self, tool: &str) -> Verdict {
        if let Some(flaw) = name::unusable(tool) {
            return Err(refusal(RefusalKind::Denied, "(unusable name)", flaw.to_owned()));
        }
        let Some(meant) = self.look_alike(tool) else { return Ok(()) };
        let rule = format!("(look-alike of {meant})");
        if self.is_hidden("", meant) {
            return Err(refusal(RefusalKind::Hidden, rule, format!("{tool:?} looks like a hidden tool")));
        }
        let reason = format!("{tool:?} looks like {meant:?} but is not spelled like it");
        Err(refusal(RefusalKind::Denied, rule, reason))
    }

    fn denied(&self, tool: &str, rule: Option<&Rule>) -> Verdict {
        let Some(denial) = rule.and_then(|r| r.denied.as_ref()).or(self.all_tools.denied.as_ref()) else {
            return Ok(());
        };
        let reason = denial.reason.clone().unwrap_or_else(|| format!("{tool:?} is denied"));
        Err(refusal(RefusalKind::Denied, denial.pointer.as_str(), reason))
    }

    /// Patterns, classes and overlays come before the default: each of them may stand above it.
    fn not_built_for(&self, client: &str, tool: &str, ruled: bool) -> Verdict {
        let not_built = &self.not_built;
        let matching = |text: &str, pattern: &str| name::matches(pattern, text);
        for pattern in not_built.hide_patterns.iter().filter(|p| matching(tool, &p.text)) {
            refuse_unbuilt(Some(&pattern.unbuilt), tool)?;
        }
        if !ruled {
            for pattern in not_built.tool_patterns.iter().filter(|p| matching(tool, &p.text)) {
                refuse_unbuilt(Some(&pattern.unbuilt), tool)?;
            }
            refuse_unbuilt(not_built.classes.as_ref(), tool)?;
        }
        for overlay in not_built.clients.iter().filter(|p| matching(client, &p.text)) {
            refuse_unbuilt(Some(&overlay.unbuilt), tool)?;
        }
        match self.default {
            _ if ruled => Ok(()),
            Default::Allow => Ok(()),
            Default::Deny => {
                let reason = format!("{tool:?} is not on the list of allowed tools");
                Err(refusal(RefusalKind::Denied, DEFAULT, reason))
            }
            Default::Ask => {
                let feature = crate::unbuilt::Feature::Ask;
                refuse_unbuilt(Some(&Unbuilt { feature, pointer: DEFAULT.to_owned() }), tool)
            }
        }
    }

    fn judge_method(&self, client: &str, method: &str, params: Option<Raw<'_>>) -> Result<Pass<'_>, Refusal> {
        let class = class(method);
        if class != Class::Harmless {
            self.usable()?;
        }
        let folded = name::folded(method);
        // A near miss of a method that we guard is refused before any rule: some dispatcher may fold it.
        if folded == "tools/call" {
            let reason = format!("{method:?} is not how a tool is called");
            return Err(refusal(RefusalKind::Denied, "(not a tool call)", reason));
        }
        if let Some(family) = self.methods.iter().find(|m| folded.starts_with(&*name::folded(m.prefix))) {
            refuse_unbuilt(Some(&family.unbuilt), method)?;
        }
        for overlay in self.not_built.clients.iter().filter(|p| name::matches(&p.text, client)) {
            // The handshake and lists of tools stay usable.
            if RULED_BY_OVERLAYS.iter().any(|prefix| folded.starts_with(prefix)) {
                refuse_unbuilt(Some(&overlay.unbuilt), method)?;
            }
        }
        if class == Class::Unknown
            && let Some(pointer) = &self.other_methods_denied
        {
            let reason = format!("the method {method:?} is not one that this policy lets through");
            return Err(refusal(RefusalKind::Denied, pointer.as_str(), reason));
        }
        // Not for the harmless: a client may name its folders in the handshake, and nothing is opened by that.
        if class != Class::Harmless {
            self.not_our_home(params)?;
        }
        Ok(Pass { rule: METHODS, limits: Limits::of(&[], &[]) })
    }
}

impl Rule {
    fn conditions(&self, tool: &str, args: Option<Raw<'_>>) -> Verdict {
        for clause in &self.deny_if {
            match clause.standing(args) {
                Standing::AllHold => {
                    let reason = clause.reason(|| format!("{tool:?} is denied when {}", clause.words()));
                    return Err(refusal(RefusalKind::Denied, clause.pointer.as_str(), reason));
                }
                Standing::Fails(_) => {}
                Standing::Unclear(why) => {
                    return Err(refusal(RefusalKind::Denied, clause.pointer.as_str(), why.0));
                }
            }
        }
        for clause in &self.require {
            match clause.standing(args) {
                Standing::AllHold => {}
                Standing::Fails(which) => {
                    let wanted = || clause.conditions.get(which).map_or("", |c| c.words.as_str());
                    let reason = clause.reason(|| format!("{tool:?} is allowed only when {}", wanted()));
                    return Err(refusal(RefusalKind::Denied, clause.pointer.as_str(), reason));
                }
                Standing::Unclear(why) => {
                    return Err(refusal(RefusalKind::Denied, clause.pointer.as_str(), why.0));
                }
            }
        }
        Ok(())
    }
}

impl Clause {
    fn reason(&self, otherwise: impl FnOnce() -> String) -> String {
        self.on_deny.clone().unwrap_or_else(otherwise)
    }
}

fn refuse_unbuilt(unbuilt: Option<&Unbuilt>, what: &str) -> Verdict {
    match unbuilt {
        None => Ok(()),
        Some(unbuilt) => {
            let reason = format!("{what:?} is refused because {}", unbuilt.feature.sentence());
            Err(refusal(RefusalKind::Unsupported, unbuilt.pointer.as_str(), reason))
        }
    }
}

fn refusal<'r>(kind: RefusalKind, rule: impl Into<Cow<'r, str>>, reason: String) -> Refusal {
    Refusal { kind, rule: rule.into().into_owned(), reason }
}
