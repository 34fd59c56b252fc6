//! Calls that wait for a decision.

use callgate_controls::approval::Decider;
use callgate_desk::view::{ApprovalVerdict, ApprovalsView, DecidedView, Done, Place};
use tauri::State;

use super::Reply;
use crate::instance;
use crate::state::{AppState, run_on_desk, sorry};

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
    if decided.is_ok() {
        // A question about a rule may follow, an undo, or what to tell a client that has stopped waiting.
        state.approval_window.tells();
    }
    state.ticker.wake();
    decided
}

/// Tools that a burst can be ticked for beside that of this approval.
#[tauri::command]
#[specta::specta]
pub(crate) async fn burst_tools(state: State<'_, AppState>, id: String) -> Reply<Vec<String>> {
    run_on_desk(&state, move |desk| desk.burst_tools(&id)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn revoke_grant(state: State<'_, AppState>, id: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.revoke_grant(&id)).await
}

/// Brings the main window to the front, with the section of approvals: from the small window.
#[tauri::command]
#[specta::specta]
pub(crate) async fn show_approvals(state: State<'_, AppState>) -> Reply<()> {
    instance::ring(state.desk.home(), &Place::Approvals)
        .map_err(|why| sorry(format!("The window cannot be asked to show itself: {why}")))
}
