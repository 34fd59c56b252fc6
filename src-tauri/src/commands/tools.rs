//! Tools: what they can do, and the rules that are recommended for them.

use callgate_desk::view::{Answer, Done, RiskClass, StartingPoint, ToolPage, ToolsView};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

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
) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.correct_class(&server, &tool, chosen)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn starting_points(state: State<'_, AppState>, server: String) -> Reply<Vec<StartingPoint>> {
    run_on_desk(&state, move |desk| desk.starting_points(&server)).await
}
