//! Calls that wait for a decision.

use callgate_controls::approval::Decider;
use callgate_desk::view::{ApprovalVerdict, ApprovalsView, DecidedView, Done};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

#[tauri::command]
#[specta::specta]
pub(crate) async fn approvals(state: State<'_, AppState>) -> Reply<ApprovalsView> {
    run_on_desk(&state, move |desk| desk.approvals()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn decide(
    state: State<'_, AppState>,
    id: String,
    verdict: ApprovalVerdict,
) -> Reply<DecidedView> {
    let decided = run_on_desk(&state, move |desk| desk.decide(&id, &verdict, Decider::Window)).await;
    state.ticker.wake();
    decided
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn revoke_grant(state: State<'_, AppState>, id: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.revoke_grant(&id)).await
}
