//! Codegen sessions of browser servers.

use callgate_desk::view::{CodegenDetail, CodegenView, Exported};
use tauri::{AppHandle, Runtime, State};

use super::Reply;
use crate::state::{AppState, ask, folder_for_files};

#[tauri::command]
#[specta::specta]
pub(crate) async fn codegen(state: State<'_, AppState>, server: String) -> Reply<Vec<CodegenView>> {
    ask(&state, move |desk| desk.codegen(Some(&server))).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn codegen_session(state: State<'_, AppState>, id: String) -> Reply<CodegenDetail> {
    ask(&state, move |desk| desk.codegen_session(&id)).await
}

/// Where the test of a session may go: a new file among the person's own.
#[tauri::command]
#[specta::specta]
pub(crate) async fn codegen_file<R: Runtime>(
    app: AppHandle<R>,
    state: State<'_, AppState>,
    id: String,
) -> Reply<String> {
    let folder = folder_for_files(&app)?;
    ask(&state, move |desk| desk.codegen_file(&id, &folder)).await
}

/// Into a new file that the person named.
#[tauri::command]
#[specta::specta]
pub(crate) async fn export_codegen(state: State<'_, AppState>, id: String, path: String) -> Reply<Exported> {
    ask(&state, move |desk| desk.export_codegen_as(&id, &path)).await
}
