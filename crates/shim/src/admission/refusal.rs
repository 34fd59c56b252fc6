//! Refusals: why a request does not pass, whoever made it and whatever stood in its way.

use callgate_controls::approval::ApprovalId;
use callgate_journal::Decision;
use callgate_policy::{self as policy, Keep, RefusalKind};
use callgate_protocol::NextStep;

use crate::approvals::BY_CLIENT;
use crate::{pins, wording};

/// Why a request does not pass.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) decision: Decision,
    /// As the record names it.
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) keep: Keep,
    pub(crate) next: NextStep,
}

impl Refusal {
    /// Its counters or its record cannot be written.
    pub(crate) fn unrecorded(cause: &str, keep: Keep) -> Refusal {
        Refusal {
            decision: Decision::Unrecorded,
            rule: "(record)".to_owned(),
            reason: wording::unrecorded(cause),
            keep,
            next: NextStep::TellUser,
        }
    }

    /// A person has to decide, and cannot: such a call would not be known again.
    pub(crate) fn cannot_be_asked(self) -> Refusal {
        let reason = format!("{}, and its arguments are too large to be asked about", self.reason);
        Refusal { decision: Decision::Denied, reason, next: NextStep::AskUser, ..self }
    }

    /// The client was asked, and said no; or nothing that is a yes.
    pub(crate) fn declined_in_client(approval: ApprovalId, question: &Refusal) -> Refusal {
        let reason = format!("the user said no in the client ({BY_CLIENT})");
        let (decision, rule) = (Decision::Denied, approval.rule_in_client());
        Refusal { decision, rule, reason, next: NextStep::Declined, ..question.clone() }
    }

    /// May a person set it aside? A pause, a broken policy and what Callgate refuses by itself, nobody can; and a definition
    /// is accepted, whatever is allowed.
    pub(crate) fn can_be_allowed(&self) -> bool {
        self.rule != pins::RULE
            && matches!(
                self.decision,
                Decision::Denied
                    | Decision::Hidden
                    | Decision::Capped
                    | Decision::Unsupported
                    | Decision::Asked
            )
    }

    /// Is it refused only because nothing speaks for it?
    pub(crate) fn is_by_default(&self) -> bool {
        self.decision == Decision::Denied
            && ["/default", "/validate", "/allow"].iter().any(|end| self.rule.ends_with(end))
    }
}

impl From<policy::Refusal> for Refusal {
    fn from(refusal: policy::Refusal) -> Refusal {
        let policy::Refusal { kind, rule, reason, keep, next } = refusal;
        let decision = match kind {
            RefusalKind::Denied => Decision::Denied,
            RefusalKind::Ask => Decision::Asked,
            RefusalKind::Unsupported => Decision::Unsupported,
            RefusalKind::Hidden => Decision::Hidden,
            RefusalKind::Broken => Decision::Broken,
        };
        Refusal { decision, rule, reason, keep, next }
    }
}
