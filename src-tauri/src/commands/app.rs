//! How things stand, and the settings.

use callgate_desk::view::{Need, Overview, Question, SettingsView, UserSettings};
use callgate_desk::{Forgetting, login};
use tauri::State;

use super::Reply;
use crate::state::{AppState, ask, sorry};

#[tauri::command]
#[specta::specta]
pub(crate) async fn overview(state: State<'_, AppState>) -> Reply<Overview> {
    state.front.listens();
    let mut overview = ask(&state, move |desk| desk.overview()).await?;
    overview.needs.extend(state.tray.problem().as_deref().map(no_tray));
    Ok(overview)
}

/// Said in the window, because nothing else can say it.
fn no_tray(why: &str) -> Need {
    let words = format!("There is no tray icon: {why}. Closing this window quits the app; the gate goes on.");
    Need { words, fix: None, server: None, serious: false }
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn settings(state: State<'_, AppState>) -> Reply<SettingsView> {
    ask(&state, move |desk| desk.settings().map(as_it_is)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn save_settings(state: State<'_, AppState>, settings: UserSettings) -> Reply<SettingsView> {
    let saved = ask(&state, move |desk| desk.save_settings(&settings).map(as_it_is)).await;
    // A lost gate may be for the guard to put back now.
    state.guarding.wake();
    saved
}

/// Asks first; `confirm` does it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn delete_history(state: State<'_, AppState>) -> Reply<Question> {
    ask(&state, move |desk| desk.ask_to_forget(Forgetting::All, "the window")).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn start_at_login(state: State<'_, AppState>, yes: bool) -> Reply<SettingsView> {
    login::set(yes).map_err(|why| sorry(format!("Start at login cannot be changed: {why}")))?;
    ask(&state, move |desk| desk.login_asked().and_then(|()| desk.settings()).map(as_it_is)).await
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
