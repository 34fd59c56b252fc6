//! Whether an agent may throw away what it lets a server record, as the rules are now: so that it can be said before it does.

use callgate_codegen::Verb;
use callgate_codegen_history::{CodegenSession, recording};
use callgate_controls::allowance::{self, Allowance, AllowanceScope};
use callgate_controls::{Disk, pause};
use callgate_home::clock::Moment;
use callgate_policy::edit::{Edit, apply};
use callgate_policy::{Call, Circumstances, Judgement, Policy, Recording, Recordings, Refusal, Waived};
use callgate_protocol::json::Raw;
use callgate_text::{clip, harmless};

use crate::Desk;
use crate::change::CurrentPolicy;
use crate::view::Clearing;

/// The rule that keeps recordings, at the end of its place in a policy.
const KEEPS: &str = "/codegen/keep_unfinished";
/// The longest reason that is shown.
const REASON: usize = 200;

impl Desk {
    /// What would become of a clear of this open session by the client that started it. None if there is nothing to lose.
    pub(crate) fn clearing(&self, found: &CodegenSession) -> Option<Clearing> {
        if found.session.recorded == 0 {
            return None;
        }
        let id = id_of(found);
        let refused = |why: &str| Some(Clearing::Refused { reason: clip(&harmless(why), REASON) });
        if let Some(reason) = pause::reason_for(&self.home, &found.server, &found.session.client) {
            return refused(&reason);
        }
        let present = match CurrentPolicy::read(&self.home, &found.server) {
            Ok(present) => present,
            Err(error) => return refused(&error.to_string()),
        };
        let policy = match present.policy() {
            Ok(policy) => policy,
            Err(error) => return refused(&error.to_string()),
        };
        let now = self.clock.now();
        let clear = Clear {
            client: &found.session.client,
            args: serde_json::json!({ "sessionId": id }).to_string(),
            only: Only(found),
            now_ms: now.wall_ms,
        };
        let by_rules = clear.judged(&policy, Waived::Nothing);
        // As the gate does: a refusal is looked at once more for each thing that a person has set aside.
        let judged = self.waived(found, &now).into_iter().fold(by_rules, |judged, waived| {
            judged.or_else(|refusal| clear.judged(&policy, waived).map_err(|_| refusal))
        });
        match judged {
            Ok(()) => {
                let kept = apply(present.text(), &Edit::KeepUnfinished).ok();
                let kept = kept.and_then(|edited| Policy::parse(&edited.text).ok());
                // Whoever asks for it ends what was set aside.
                let can_be_kept = kept.is_some_and(|policy| clear.judged(&policy, Waived::Nothing).is_err());
                Some(Clearing::Passes { can_be_kept })
            }
            Err(refusal) if refusal.rule.ends_with(KEEPS) => Some(Clearing::Kept),
            Err(refusal) => refused(&refusal.reason),
        }
    }

    /// What a person has set aside for such a call.
    fn waived(&self, found: &CodegenSession, now: &Moment) -> Vec<Waived> {
        let allowed = allowance::read(&self.home);
        let unspent = |one: &Allowance| !allowance::is_spent(&self.home, now, one).unwrap_or(false);
        let meant = allowed.open(&found.server, now).filter(|one| one.is_for(&found.session.client));
        meant
            .filter(|one| unspent(one))
            .filter_map(|one| match &one.what {
                AllowanceScope::Observe => Some(Waived::Enforcement),
                what @ AllowanceScope::Tool(_) => what.admits(Verb::Clear.tool()).then_some(Waived::Denials),
                // It may be this very call: better warned once too often.
                AllowanceScope::Call { tool, .. } => {
                    (tool == Verb::Clear.tool()).then_some(Waived::Everything)
                }
            })
            .collect()
    }
}

/// The call that would throw it away.
struct Clear<'a> {
    client: &'a str,
    args: String,
    only: Only<'a>,
    now_ms: i64,
}

impl Clear<'_> {
    /// By the rules alone: a limit has room again some time.
    fn judged(&self, policy: &Policy, waived: Waived) -> Result<(), Refusal> {
        let call = Call::tool(self.client, Verb::Clear.tool(), Raw::parse(&self.args).ok());
        let files = Disk::new();
        let now = Circumstances { now_ms: self.now_ms, files: &files, recordings: &self.only, waived };
        match policy.judge(&call, &now) {
            Judgement::Pass(_) => Ok(()),
            Judgement::Refuse(refusal) => Err(refusal),
        }
    }
}

/// The server's own name for it. A policy may keep that off the record, and the gate knows it all the same.
fn id_of(found: &CodegenSession) -> &str {
    found.session.id.as_deref().unwrap_or("a session")
}

/// The one session that it is about.
#[derive(Debug)]
struct Only<'a>(&'a CodegenSession);

impl Recordings for Only<'_> {
    fn open(&self) -> Result<Option<Recording>, String> {
        Ok(Some(recording(&self.0.session)))
    }

    fn started_by(&self, client: &str, id: &str) -> Result<Option<Recording>, String> {
        let session = &self.0.session;
        Ok((session.client == client && id_of(self.0) == id).then(|| recording(session)))
    }
}
