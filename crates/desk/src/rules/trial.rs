//! One call, tried on a text: what the gate would do with it now.

use callgate_codegen_history::OnRecord;
use callgate_controls::limits::Readings;
use callgate_controls::{Disk, catalogue, pause};
use callgate_policy::{
    Call, Circumstances, Judgement, Policy, RefusalKind, Verdict, Waived, decide, excerpt,
};
use callgate_policy::{CounterView, Decision as Said, wait_words};
use callgate_protocol::json::{Kind, Raw};

use super::parsed;
use crate::view::{Decision, Tried};
use crate::{Desk, DeskError, refused_by_pin};

pub(super) fn of(
    desk: &Desk,
    server: &str,
    text: &str,
    client: &str,
    tool: &str,
    args: &str,
) -> Result<Tried, DeskError> {
    let mut policy = parsed(text)?;
    guard(&mut policy, desk);
    catalogue::describe(&desk.home, server, &mut policy);
    let args = arguments(args)?;
    let usage = Readings::open(&desk.home, server, client, desk.clock.clone())?;
    let call = Call::tool(client, tool, args);
    let files = Disk::new();
    let now_ms = desk.clock.now().wall_ms;
    let recordings = OnRecord::new(&desk.home, server, now_ms);
    let now = Circumstances { now_ms, files: &files, recordings: &recordings, waived: Waived::Nothing };
    let verdict = decide(&policy, &call, &now, &usage);
    let judgement = policy.judge(&call, &now);
    let mut words = vec![sentence(&verdict)];
    if matches!(&judgement, Judgement::Pass(pass) if pass.validate.is_some()) && verdict.decision.allows() {
        words.push("its arguments also have to fit the tool's schema, which is not checked here".to_owned());
    }
    let pinned = match verdict.decision {
        Said::Allow => refused_by_pin(&desk.home, server, &policy, (client, tool), now_ms),
        _ => None,
    };
    if let Some(why) = &pinned {
        words[0] = format!("the rules let it pass, and it is refused: {why}");
    }
    if pause::reason_for(&desk.home, server, client).is_some() {
        words.push(
            "the server is paused at this moment: until it is resumed every call is refused".to_owned(),
        );
    }
    Ok(Tried {
        decision: if pinned.is_some() { Decision::Denied } else { decision(&verdict, &judgement) },
        passes: verdict.decision.allows() && pinned.is_none(),
        words: words.join("; "),
        excerpt: excerpt(text, &verdict.rule),
        rule: (!verdict.rule.is_empty()).then_some(verdict.rule),
        limits: verdict.counters.iter().map(counter).collect(),
    })
}

/// An empty text: called without arguments.
fn arguments(text: &str) -> Result<Option<Raw<'_>>, DeskError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let raw = Raw::parse(text).map_err(|error| {
        let before = text.get(..error.offset).unwrap_or(text);
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        DeskError::BadInput(format!(
            "the arguments are no JSON at line {line}, column {column}: {}",
            error.problem
        ))
    })?;
    match raw.kind() {
        Kind::Object => Ok(Some(raw)),
        _ => Err(DeskError::BadInput("the arguments of a tool are an object: write { … }".to_owned())),
    }
}

/// As the gate does: its own folder is out of reach, by the name it was given and by the one it really has.
fn guard(policy: &mut Policy, desk: &Desk) {
    let home = desk.home.path();
    policy.guard_home(&home.to_string_lossy(), None);
    if let Ok(real) = home.canonicalize()
        && real != home
    {
        policy.guard_home(&real.to_string_lossy(), None);
    }
}

/// In the words of the record.
fn decision(verdict: &Verdict, judgement: &Judgement<'_>) -> Decision {
    match (verdict.decision, judgement) {
        (Said::Deny, Judgement::Refuse(refusal)) if refusal.kind == RefusalKind::Unsupported => {
            Decision::Unsupported
        }
        (Said::Deny, _) => Decision::Denied,
        (Said::Ask, _) => Decision::Asked,
        (Said::Allow, _) => Decision::Allowed,
        (Said::Capped, _) => Decision::Capped,
        (Said::Hidden, _) => Decision::Hidden,
        (Said::WouldDeny, _) => Decision::WouldDeny,
    }
}

fn sentence(verdict: &Verdict) -> String {
    let reason = &verdict.reason;
    match verdict.decision {
        Said::Allow => format!("passes: {reason}"),
        Said::WouldDeny => format!("passes, because the rules are only observed; otherwise: {reason}"),
        Said::Capped => match verdict.retry_after {
            Some(wait) => format!("refused: {reason}; the next call can pass in {}", wait_words(wait)),
            None => format!("refused: {reason}"),
        },
        Said::Ask => format!("would wait for your word: {reason}"),
        Said::Deny | Said::Hidden => format!("refused: {reason}"),
    }
}

/// `3 of 10 calls per minute, per client`
fn counter(counter: &CounterView) -> String {
    format!("{} of {}, {}", counter.used, counter.words, counter.scope.words())
}
