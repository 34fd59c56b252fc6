//! What a policy says about a recorded call, in one word.

use callgate_policy::RefusalKind;

/// How a call would end under the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    Passed,
    /// Let through although a rule refuses it, because that rule is only observed.
    Observed,
    Denied,
    Hidden,
    Capped,
    /// A person would be asked.
    Asked,
    /// By something that this version cannot do yet.
    Unsupported,
    /// The policy cannot be used.
    Broken,
    /// A rule that reads arguments decides, and those were not kept whole.
    Untold,
}

impl Ruling {
    pub fn word(self) -> &'static str {
        match self {
            Ruling::Passed => "passed",
            Ruling::Observed => "observed",
            Ruling::Denied => "denied",
            Ruling::Hidden => "hidden",
            Ruling::Capped => "capped",
            Ruling::Asked => "asked",
            Ruling::Unsupported => "unsupported",
            Ruling::Broken => "broken",
            Ruling::Untold => "cannot be told",
        }
    }

    /// Would the server not have seen it? What cannot be told is not counted as refused.
    pub fn refuses(self) -> bool {
        !matches!(self, Ruling::Passed | Ruling::Observed | Ruling::Untold)
    }
}

impl From<RefusalKind> for Ruling {
    fn from(kind: RefusalKind) -> Ruling {
        match kind {
            RefusalKind::Denied => Ruling::Denied,
            RefusalKind::Hidden => Ruling::Hidden,
            RefusalKind::Ask => Ruling::Asked,
            RefusalKind::Unsupported => Ruling::Unsupported,
            RefusalKind::Broken => Ruling::Broken,
        }
    }
}
