//! Judge and count in one, for everyone who asks "what would happen?" rather than making it happen.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::call::{Call, Judgement, RefusalKind, Target};
use crate::limit::{Limit, Scope};
use crate::policy::Policy;

/// How much of each limit is used up at the moment in question.
pub trait Usage {
    fn standing(&self, limit: &Limit) -> Standing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub used: u32,
    /// When the next call has room again, if it has none now.
    pub frees_in: Option<Duration>,
}

/// Nothing was called yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unused;

impl Usage for Unused {
    fn standing(&self, _limit: &Limit) -> Standing {
        Standing::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
    Capped,
    Hidden,
}

impl Decision {
    pub fn word(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
            Decision::Capped => "capped",
            Decision::Hidden => "hidden",
        }
    }

    pub fn allows(self) -> bool {
        self == Decision::Allow
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
    pub used: u32,
    pub max: NonZeroU32,
    pub window: Duration,
    pub frees_in: Option<Duration>,
}

pub fn decide(policy: &Policy, call: &Call<'_>, usage: &dyn Usage) -> Verdict {
    let pass = match policy.judge(call) {
        Judgement::Pass(pass) => pass,
        Judgement::Refuse(refusal) => {
            let decision = match refusal.kind {
                RefusalKind::Hidden => Decision::Hidden,
                RefusalKind::Denied | RefusalKind::Unsupported | RefusalKind::Broken => Decision::Deny,
            };
            let (rule, reason) = (refusal.rule, refusal.reason);
            return Verdict { decision, rule, reason, counters: Vec::new(), retry_after: None };
        }
    };
    let counters: Vec<CounterView> =
        pass.limits.iter().map(|limit| view(limit, usage.standing(limit))).collect();
    // Of several full counters the one that stays full longest says when to come back.
    let full = pass.limits.iter().zip(&counters).filter(|(limit, view)| view.used >= limit.max.get());
    let name = match call.target {
        Target::Tool { name, .. } => name,
        Target::Method { method, .. } => method,
    };
    match full.max_by_key(|(_, view)| view.frees_in) {
        Some((limit, view)) => Verdict {
            decision: Decision::Capped,
            rule: limit.pointer.clone(),
            reason: limit.refusal(name),
            retry_after: view.frees_in,
            counters,
        },
        None => {
            let reason = match (pass.rule, call.target) {
                (_, Target::Method { .. }) => format!("nothing is said against {name:?}"),
                ("/default", _) => format!("{name:?} has no rule of its own, and the default is allow"),
                _ => format!("{name:?} is allowed by its rule"),
            };
            let rule = pass.rule.to_owned();
            Verdict { decision: Decision::Allow, rule, reason, counters, retry_after: None }
        }
    }
}

fn view(limit: &Limit, standing: Standing) -> CounterView {
    CounterView {
        pointer: limit.pointer.clone(),
        counter: limit.counter.clone(),
        scope: limit.scope,
        used: standing.used,
        max: limit.max,
        window: limit.window,
        frees_in: standing.frees_in,
    }
}
