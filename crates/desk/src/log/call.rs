//! One call in full: what it carried, why it was decided so, what its session did around it.

use std::time::Duration;

use callgate_controls::approval::{ApprovalId, Approvals, GrantScope, State};
use callgate_history::{BodyRow, CallRow, History};
use callgate_home::{CallId, running};
use callgate_text::{harmless, span};

use super::access::{Decisive, query};
use super::object::CallObject;
use super::{line, why};
use crate::view::{Body, CallDetail, DecidedCall, SessionView};
use crate::{Desk, DeskError};

/// Calls of the session that are shown before and after it.
const AROUND: u32 = 10;
/// Calls of one decision that are shown with it.
const DECIDED: usize = 50;

pub(super) fn detail(desk: &Desk, history: &History, id: &str) -> Result<CallDetail, DeskError> {
    let id: CallId =
        id.parse().map_err(|error: callgate_home::BadId| DeskError::BadInput(error.to_string()))?;
    let missing = || {
        DeskError::NotFound(format!(
            "there is no call {id} in the history: it was never made here, or it is older than what is kept"
        ))
    };
    let call = history.call(&id)?.ok_or_else(missing)?;
    let siblings = history.siblings(call.rev, AROUND)?;
    let mut line = siblings.iter().find(|row| row.rev == call.rev).map(line::call).ok_or_else(missing)?;
    line.class = desk.badges.look().of_line(&line);
    let policy = match &call.policy {
        Some(version) => history.policy_text(version, &call.server)?.map(|policy| policy.text),
        None => None,
    };
    Ok(CallDetail {
        run: call.run,
        args: call.args.as_ref().map(body),
        result: call.result.as_ref().map(body),
        access: Decisive::read(desk).access(&query(&line)),
        decided: decided(desk, history, &call)?,
        line,
        why: why::why(desk, &call, policy.as_deref()),
        session: session(desk, history, &call)?,
        siblings: siblings.iter().map(line::call).collect(),
        json: CallObject::of(&call).with_policy(policy).line(),
    })
}

/// The decision of a person behind a call, and what else it decided.
fn decided(desk: &Desk, history: &History, call: &CallRow) -> Result<Option<DecidedCall>, DeskError> {
    let Some(rule) = call.rule.as_deref() else { return Ok(None) };
    let Some(id) = ApprovalId::of_rule(rule) else { return Ok(None) };
    // Older ones are not kept; what the record says of the call stays.
    let Some(approval) = Approvals::new(desk.home()).get(&desk.clock.now(), id)? else { return Ok(None) };
    let (Some(at_ms), Some(by)) = (approval.decided_ms, approval.decided_by) else { return Ok(None) };
    let word = if approval.state == State::Denied { "Denied" } else { "Approved" };
    let held = span(Duration::from_millis((at_ms - approval.opened_ms).max(0).unsigned_abs()));
    let until =
        at_ms.saturating_add(i64::try_from(GrantScope::Session.longest().as_millis()).unwrap_or(i64::MAX));
    let from = history.rev_of(&approval.call)?.unwrap_or(call.rev);
    let others = history.lines_ruled(rule, from, until, DECIDED)?;
    Ok(Some(DecidedCall {
        id: id.to_string(),
        words: format!("{word} {}, {held} after it was asked", by.place()),
        at_ms,
        others: others.iter().filter(|row| row.rev != call.rev).map(line::call).collect(),
    }))
}

fn body(body: &BodyRow) -> Body {
    Body {
        text: body.text.clone(),
        bytes: body.bytes,
        cut: body.cut,
        masked: body.masked,
        withheld: body.withheld,
    }
}

fn session(desk: &Desk, history: &History, call: &CallRow) -> Result<Option<SessionView>, DeskError> {
    let Some((row, policy)) = history.session_of(call.rev)? else { return Ok(None) };
    let (calls, refused) = history.session_counts(row.session)?;
    let lease = running(desk.home()).into_iter().find(|lease| lease.session == row.session);
    Ok(Some(SessionView {
        session: row.session.to_string(),
        client: lease
            .as_ref()
            .and_then(|lease| lease.client.clone())
            .or(row.client)
            .or_else(|| call.client.clone()),
        server: row.server,
        pid: lease.as_ref().map(|lease| lease.pid),
        started_ms: row.started_ms,
        ended_ms: row.end.map(|(at_ms, _)| at_ms),
        end: row.end.map(|(_, reason)| reason.word().to_owned()),
        policy,
        calls,
        refused,
        demo: row.demo,
        stand: lease.as_ref().map(|lease| lease.stand.into()).unwrap_or_default(),
        stand_words: lease.as_ref().and_then(|lease| lease.stand_words.as_deref()).map(harmless),
        restarts: lease.as_ref().map_or(0, |lease| lease.restarts),
        restarted_ms: lease.and_then(|lease| lease.restarted_ms),
    }))
}
