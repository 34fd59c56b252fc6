//! Judge and count in one, for everyone who asks "what would happen?" rather than making it happen.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::call::{Call, Circumstances, Judgement, RefusalKind, Target, Waived};
use crate::limit::{Scope, Taking, UNIT};
use crate::policy::Policy;

/// How much of each limit is used up at the moment in question.
pub trait Usage {
    fn standing(&self, taking: &Taking<'_>) -> Standing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// In the unit of the limit's amounts.
    pub used: u64,
    /// When the next call has room again, if it has none now.
    pub frees_in: Option<Duration>,
}

/// Nothing was called yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unused;

impl Usage for Unused {
    fn standing(&self, _taking: &Taking<'_>) -> Standing {
        Standing::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
    Capped,
    Hidden,
    Ask,
    /// Let through although a rule refuses it, because that rule is only observed.
    WouldDeny,
}

impl Decision {
    pub fn word(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
            Decision::Capped => "capped",
            Decision::Hidden => "hidden",
            Decision::Ask => "ask",
            Decision::WouldDeny => "would_deny",
        }
    }

    pub fn allows(self) -> bool {
        matches!(self, Decision::Allow | Decision::WouldDeny)
    }
}

/// The whole answer, with its why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    pub rule: String,
    pub reason: String,
    pub counters: Vec<CounterView>,
    pub retry_after: Option<Duration>,
}

/// One counter of a call, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterView {
    pub pointer: String,
    pub counter: String,
    pub scope: Scope,
    /// `10 calls per minute`
    pub words: String,
    /// Whole units; a sum is rounded up.
    pub used: u64,
    pub max: NonZeroU32,
    pub window: Option<Duration>,
    /// Does this call fit in?
    pub has_room: bool,
    pub frees_in: Option<Duration>,
}

pub fn decide(
    policy: &Policy,
    call: &Call<'_>,
    circumstances: &Circumstances<'_>,
    usage: &dyn Usage,
) -> Verdict {
    let pass = match policy.judge(call, circumstances) {
        Judgement::Pass(pass) => pass,
        Judgement::Refuse(refusal) => {
            let decision = match refusal.kind {
                RefusalKind::Hidden => Decision::Hidden,
                RefusalKind::Ask => Decision::Ask,
                RefusalKind::Denied | RefusalKind::Unsupported | RefusalKind::Broken => Decision::Deny,
            };
            let (rule, reason) = (refusal.rule, refusal.reason);
            return Verdict { decision, rule, reason, counters: Vec::new(), retry_after: None };
        }
    };
    let counters: Vec<CounterView> =
        pass.limits.iter().map(|taking| view(taking, usage.standing(taking))).collect();
    // Of several full counters the one that stays full longest says when to come back.
    let full = pass.limits.iter().zip(&counters).filter(|(_, view)| !view.has_room);
    // Where everything is waived, they only count.
    let full =
        full.filter(|_| circumstances.waived != Waived::Everything).max_by_key(|(_, view)| view.frees_in);
    let name = match call.target {
        Target::Tool { name, .. } => name,
        Target::Method { method, .. } => method,
    };
    // The rules come before the limits.
    if let Some(would) = pass.would {
        let (decision, rule, reason) = (Decision::WouldDeny, would.rule, would.reason);
        return Verdict { decision, rule, reason, counters, retry_after: None };
    }
    if let Some((Taking { limit, .. }, view)) = full {
        let (decision, retry_after) =
            if pass.observing { (Decision::WouldDeny, None) } else { (Decision::Capped, view.frees_in) };
        let (rule, reason) = (limit.pointer.clone(), limit.refusal(name));
        return Verdict { decision, rule, reason, counters, retry_after };
    }
    let reason = match (waived(policy, call, circumstances), call.target) {
        (Some(refused), _) => format!("a person has allowed it for now; otherwise: {refused}"),
        (None, Target::Method { .. }) => format!("nothing is said against {name:?}"),
        (None, _) if is_default(pass.rule) => {
            format!("{name:?} has no rule of its own, and the default is allow")
        }
        (None, _) => format!("{name:?} is allowed by its rule"),
    };
    let loops = match call.target {
        Target::Tool { name, .. } => policy.loops(call.client, name, circumstances.now_ms),
        Target::Method { .. } => Vec::new(),
    };
    let reason = match loops.first().filter(|_| circumstances.waived != Waived::Everything) {
        Some(rule) => {
            format!("{reason}; the same call of one session is no longer let through {}", rule.words())
        }
        None => reason,
    };
    let (decision, rule) = (Decision::Allow, pass.rule.to_owned());
    Verdict { decision, rule, reason, counters, retry_after: None }
}

/// Why the call would be refused, were nothing waived.
fn waived(policy: &Policy, call: &Call<'_>, circumstances: &Circumstances<'_>) -> Option<String> {
    if circumstances.waived == Waived::Nothing {
        return None;
    }
    match policy.judge(call, &Circumstances { waived: Waived::Nothing, ..*circumstances }) {
        Judgement::Pass(_) => None,
        Judgement::Refuse(refusal) => Some(refusal.reason),
    }
}

/// `/default`, or a client's own.
fn is_default(rule: &str) -> bool {
    let client = |above: &str| above.strip_prefix("/clients/").is_some_and(|name| !name.contains('/'));
    rule.strip_suffix("/default").is_some_and(|above| above.is_empty() || client(above))
}

fn view(taking: &Taking<'_>, standing: Standing) -> CounterView {
    let Taking { limit, amount } = *taking;
    let unit = if limit.ceiling() == u64::from(limit.max.get()) { 1 } else { UNIT };
    CounterView {
        pointer: limit.pointer.clone(),
        counter: limit.counter.clone(),
        scope: limit.scope,
        words: limit.words(),
        used: standing.used.div_ceil(unit),
        max: limit.max,
        window: limit.window(),
        has_room: standing.used.saturating_add(amount) <= limit.ceiling(),
        frees_in: standing.frees_in,
    }
}
