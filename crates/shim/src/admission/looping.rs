//! Loops: a call that was made too often to no other end is refused, or reported where the rules are only watched.

use callgate_home::clock::wall_ms;
use callgate_policy::{self as policy, Pass, Waived};

use super::{Admission, Refusal, Request};

impl Admission<'_> {
    pub(super) fn unless_looping(
        &self,
        request: &Request<'_>,
        pass: &mut Pass<'_>,
        waived: Waived,
    ) -> Result<(), Refusal> {
        let policy = &self.rules.policy;
        if !policy.speaks_of_loops() || !request.is_tool_call() || waived == Waived::Everything {
            return Ok(());
        }
        let rules = policy.loops(&self.relay.client.name(), &request.name, wall_ms());
        // Whoever let it through has been asked, or need not be.
        let answered = matches!(waived, Waived::Asking | Waived::Denials);
        let rules = rules.into_iter().filter(|rule| !(answered && rule.asks()));
        let Some((rule, refusal)) = self.relay.loops.objection((&request.name, request.args), rules) else {
            return Ok(());
        };
        let refusal = policy::Refusal { keep: pass.keep, ..refusal };
        if pass.observing || rule.only_reports(policy) {
            pass.would.get_or_insert(refusal);
            return Ok(());
        }
        Err(refusal.into())
    }
}
