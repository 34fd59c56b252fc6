//! Servers of one's own.

use callgate_desk::view::{ClientChange, DraftPreview, Removal, RemovalPreview, ServerDraft, ServerPlace};
use tauri::State;

use super::Reply;
use crate::state::{AppState, ask};

#[tauri::command]
#[specta::specta]
pub(crate) async fn server_places(state: State<'_, AppState>) -> Reply<Vec<ServerPlace>> {
    ask(&state, move |desk| Ok(desk.places_for_server())).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_server(state: State<'_, AppState>, draft: ServerDraft) -> Reply<DraftPreview> {
    ask(&state, move |desk| desk.preview_server(&draft)).await
}

/// What a running client would write over waits until that has quit.
#[tauri::command]
#[specta::specta]
pub(crate) async fn add_server(state: State<'_, AppState>, draft: ServerDraft) -> Reply<ClientChange> {
    let added = ask(&state, move |desk| desk.add_server(&draft)).await;
    state.guarding.wake();
    state.pulse.wake();
    added
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_removal(state: State<'_, AppState>, server: String) -> Reply<RemovalPreview> {
    ask(&state, move |desk| desk.preview_removal(&server)).await
}

/// `now`: also in clients that run and may write it back.
#[tauri::command]
#[specta::specta]
pub(crate) async fn remove_server(state: State<'_, AppState>, server: String, now: bool) -> Reply<Removal> {
    let removed = ask(&state, move |desk| desk.remove_server(&server, now)).await;
    state.pulse.wake();
    removed
}

/// The one that was removed last.
#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_server(state: State<'_, AppState>, server: String) -> Reply<ClientChange> {
    let restored = ask(&state, move |desk| desk.restore_server(&server)).await;
    state.guarding.wake();
    state.pulse.wake();
    restored
}
