//! Definitions of tools that are accepted, and what servers say otherwise.

use callgate_desk::view::PinsView;
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

#[tauri::command]
#[specta::specta]
pub(crate) async fn pins(state: State<'_, AppState>) -> Reply<Vec<PinsView>> {
    run_on_desk(&state, move |desk| desk.pins(None)).await
}
