//! What a server asks of its client: sampling, elicitation, roots. Judged, counted and recorded like a call.
//!
//! Servers ask by requests of their own, and since 2026-07-28 inside results; both come here.

use callgate_policy::{Call, Judgement, Refusal, RefusalKind, Waived};
use callgate_protocol::json::Raw;
use callgate_protocol::method::{Class, class, is_for_servers};
use callgate_store::{Batch, CallRef, Decision, Intent, NotAdmitted, Refused};

use crate::judging::decision_of;
use crate::relay::Relay;
use crate::wording;

/// Why a server's request does not reach the client.
#[derive(Debug)]
pub(crate) struct No {
    pub(crate) code: i64,
    pub(crate) text: String,
}

impl Relay {
    /// Is there any rule about what servers ask? (Looking for requests inside results costs a look at each result.)
    pub(crate) fn judges_asks(&self) -> bool {
        self.gate.last().policy.judges_asks(&self.client.name())
    }

    /// Lets a request of the server through to the client, or says why not. Its row, if it is one that is recorded.
    pub(crate) fn admit_ask(
        &self,
        method: &str,
        params: Option<Raw<'_>>,
        rpc_id: &str,
    ) -> Result<Option<CallRef>, No> {
        if is_for_servers(method) {
            // The server has the direction wrong, or hopes that we have.
            let text = format!("a server cannot ask for {method}");
            return Err(No { code: wording::METHOD_NOT_FOUND, text });
        }
        let rules = self.rules();
        let (policy, client) = (&rules.policy, self.client.name());
        let judged = policy
            .judge(&Call::method(&client, method, params), &self.circumstances(&rules, Waived::Nothing));
        let mut batch = self.journal.batch();
        let refuse = |mut batch: Batch<'_>, decision: Decision, refusal: &Refusal| {
            batch.refuse(Refused {
                decision,
                method,
                rpc_id,
                args: params,
                client: &client,
                rule: &refusal.rule,
                reason: &refusal.reason,
                policy: policy.version(),
                keep: refusal.keep,
                ..Refused::default()
            });
            drop(batch.commit());
            No { code: wording::REFUSED, text: refusal.reason.clone() }
        };
        let pass = match judged {
            Judgement::Pass(pass) => pass,
            Judgement::Refuse(refusal) => return Err(refuse(batch, decision_of(refusal.kind), &refusal)),
        };
        if class(method) == Class::Harmless {
            return Ok(None);
        }
        if let Some(reason) = rules.paused_for(&client) {
            let (kind, rule) = (RefusalKind::Denied, "(paused)".to_owned());
            let refusal = Refusal { keep: pass.keep, ..Refusal::new(kind, rule, reason.to_string()) };
            return Err(refuse(batch, Decision::Paused, &refusal));
        }
        let intent = Intent {
            method,
            tool: "",
            rpc_id,
            args: params,
            client: &client,
            rule: pass.rule,
            policy: policy.version(),
            keep: pass.keep,
            observing: pass.observing,
            would: pass.would.as_ref().map(|would| (would.rule.as_str(), would.reason.as_str())),
            spend: None,
        };
        // No line for the server: this one is for the client, and goes when its row is safe.
        let call = match batch.admit(intent, &pass.limits, b"") {
            Ok(call) => call,
            Err(NotAdmitted::Capped(cap)) => {
                let full = pass.limits.iter().find(|taking| taking.limit.pointer == cap.pointer);
                let (reason, next) = wording::capped(full, method, &cap);
                let refusal = Refusal::new(RefusalKind::Denied, cap.pointer, reason);
                let refusal = Refusal { keep: pass.keep, next, ..refusal };
                return Err(refuse(self.journal.batch(), Decision::Capped, &refusal));
            }
            Err(NotAdmitted::Store(error)) => return Err(unrecorded(&error.to_string())),
            Err(NotAdmitted::Spent) => return Err(unrecorded("it was allowed once only")),
        };
        match batch.commit().unrecorded.first() {
            None => Ok(Some(call)),
            Some((_, error)) => Err(unrecorded(&error.to_string())),
        }
    }
}

fn unrecorded(cause: &str) -> No {
    No { code: wording::REFUSED, text: wording::unrecorded(cause) }
}
