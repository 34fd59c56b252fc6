//! How things stand, and the settings.

use callgate_desk::view::{Overview, Question, SettingsView, UserSettings};
use callgate_desk::{Forget, login};
use tauri::{AppHandle, Manager as _, Runtime, State};

use super::Reply;
use crate::state::{AppState, run_on_app, run_on_desk, sorry};

#[tauri::command]
#[specta::specta]
pub(crate) async fn overview<R: Runtime>(app: AppHandle<R>) -> Reply<Overview> {
    app.state::<AppState>().front.listens();
    run_on_app(&app, AppState::overview).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn settings(state: State<'_, AppState>) -> Reply<SettingsView> {
    run_on_desk(&state, move |desk| desk.settings().map(as_it_is)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn save_settings(state: State<'_, AppState>, settings: UserSettings) -> Reply<SettingsView> {
    let saved = run_on_desk(&state, move |desk| desk.save_settings(&settings).map(as_it_is)).await;
    // A lost gate may be for the guard to put back now.
    state.guarding.wake();
    saved
}

/// Asks first; `confirm` does it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_history(state: State<'_, AppState>) -> Reply<Question> {
    run_on_desk(&state, move |desk| desk.ask_to_forget(Forget::All, "the window")).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn start_at_login(state: State<'_, AppState>, yes: bool) -> Reply<SettingsView> {
    login::set(yes).map_err(|why| sorry(format!("Start at login cannot be changed: {why}")))?;
    run_on_desk(&state, move |desk| desk.login_asked().and_then(|()| desk.settings()).map(as_it_is)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn start_demo(state: State<'_, AppState>) -> Reply<()> {
    state
        .demo
        .start(&state.desk.demo())
        .map_err(|why| sorry(format!("The demonstration cannot be started: {why}")))
}

/// Only the desktop knows what it starts at login.
fn as_it_is(mut view: SettingsView) -> SettingsView {
    view.starts_at_login = login::is_on();
    view
}
