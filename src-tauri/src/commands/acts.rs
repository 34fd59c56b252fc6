//! Restricting, loosening, undoing.

use callgate_desk::view::{Answer, CapAdvice, Done, Enforcement, Loosening, Restriction, Target};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

#[tauri::command]
#[specta::specta]
pub(crate) async fn restrict(state: State<'_, AppState>, restriction: Restriction) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.restrict(&restriction)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn undo(state: State<'_, AppState>, token: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.undo(&token)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn give_reason(state: State<'_, AppState>, token: String, reason: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.give_reason(&token, &reason)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn loosen(state: State<'_, AppState>, loosening: Loosening) -> Reply<Answer> {
    run_on_desk(&state, move |desk| desk.loosen(&loosening)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn confirm(state: State<'_, AppState>, token: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.confirm(&token)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn dismiss(state: State<'_, AppState>, token: String) -> Reply<()> {
    run_on_desk(&state, move |desk| {
        desk.dismiss(&token);
        Ok(())
    })
    .await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn enforcement(
    state: State<'_, AppState>,
    server: String,
    version: String,
) -> Reply<Enforcement> {
    run_on_desk(&state, move |desk| desk.enforcement(&server, &version)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn cap_advice(state: State<'_, AppState>, target: Target) -> Reply<CapAdvice> {
    run_on_desk(&state, move |desk| desk.cap_advice(&target)).await
}
