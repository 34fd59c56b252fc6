//! Tools: what they can do, and the rules that are recommended for them.

use callgate_desk::view::{
    Answer, CatalogueServer, Done, RiskClass, ServerPage, ServerStart, StartingPoint, SurfaceView, ToolPage,
    ToolsView,
};
use callgate_wiring::view::{EntryKey, ServerDraft};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

/// Everything that agents can call on this machine; starts nothing.
#[tauri::command]
#[specta::specta]
pub(crate) async fn surface(state: State<'_, AppState>) -> Reply<SurfaceView> {
    run_on_desk(&state, |desk| desk.surface()).await
}

/// The servers that Callgate knows, with what starts them.
#[tauri::command]
#[specta::specta]
pub(crate) async fn catalogue(state: State<'_, AppState>) -> Reply<Vec<CatalogueServer>> {
    run_on_desk(&state, |desk| desk.catalogue()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn server_page(state: State<'_, AppState>, server: String) -> Reply<ServerPage> {
    run_on_desk(&state, move |desk| desk.server_page(&server)).await
}

/// Those of these that nobody uses still; one undo.
#[tauri::command]
#[specta::specta]
pub(crate) async fn hide_unused(
    state: State<'_, AppState>,
    server: String,
    names: Vec<String>,
) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.hide_unused(&server, &names)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn server_starts(
    state: State<'_, AppState>,
    entries: Vec<EntryKey>,
) -> Reply<Vec<ServerStart>> {
    run_on_desk(&state, move |desk| desk.server_starts(&entries)).await
}

/// None while what was typed is no command.
#[tauri::command]
#[specta::specta]
pub(crate) async fn draft_start(
    state: State<'_, AppState>,
    draft: ServerDraft,
) -> Reply<Option<ServerStart>> {
    run_on_desk(&state, move |desk| desk.draft_start(&draft)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn begin_with(
    state: State<'_, AppState>,
    server: String,
    point: StartingPoint,
) -> Reply<Answer> {
    run_on_desk(&state, move |desk| desk.begin_with(&server, &point)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn tools(state: State<'_, AppState>) -> Reply<ToolsView> {
    run_on_desk(&state, |desk| desk.tools(None)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn tool(state: State<'_, AppState>, server: String, tool: String) -> Reply<ToolPage> {
    run_on_desk(&state, move |desk| desk.tool(&server, &tool)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn apply_recommended(
    state: State<'_, AppState>,
    server: String,
    tool: String,
) -> Reply<Answer> {
    run_on_desk(&state, move |desk| desk.apply_recommended(&server, &tool)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn correct_class(
    state: State<'_, AppState>,
    server: String,
    tool: String,
    chosen: Option<RiskClass>,
) -> Reply<Answer> {
    run_on_desk(&state, move |desk| desk.correct_class(&server, &tool, chosen)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn starting_points(state: State<'_, AppState>, server: String) -> Reply<Vec<StartingPoint>> {
    run_on_desk(&state, move |desk| desk.starting_points(&server)).await
}
