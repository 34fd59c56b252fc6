//! Servers of one's own.

use callgate_wiring::view::{ClientChange, DraftPreview, Removal, RemovalPreview, ServerDraft, ServerPlace};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_wiring};

#[tauri::command]
#[specta::specta]
pub(crate) async fn server_places(state: State<'_, AppState>) -> Reply<Vec<ServerPlace>> {
    run_on_wiring(&state, move |wiring| Ok(wiring.places_for_server())).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_server(state: State<'_, AppState>, draft: ServerDraft) -> Reply<DraftPreview> {
    run_on_wiring(&state, move |wiring| wiring.preview_server(&draft)).await
}

/// What a running client would write over waits until that has quit.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_server(state: State<'_, AppState>, draft: ServerDraft) -> Reply<ClientChange> {
    let added = run_on_wiring(&state, move |wiring| wiring.add_server(&draft)).await;
    state.guarding.wake();
    state.ticker.wake();
    added
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_removal(state: State<'_, AppState>, server: String) -> Reply<RemovalPreview> {
    run_on_wiring(&state, move |wiring| wiring.preview_removal(&server)).await
}

/// `now`: also in clients that run and may write it back.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_server(state: State<'_, AppState>, server: String, now: bool) -> Reply<Removal> {
    let removed = run_on_wiring(&state, move |wiring| wiring.remove_server(&server, now)).await;
    state.ticker.wake();
    removed
}

/// The one that was removed last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_server(state: State<'_, AppState>, server: String) -> Reply<ClientChange> {
    let restored = run_on_wiring(&state, move |wiring| wiring.restore_server(&server)).await;
    state.guarding.wake();
    state.ticker.wake();
    restored
}
