//! Servers and what they take.

use callgate_desk::sampling::Sampler;
use callgate_desk::view::{Done, ServerView, Usage};
use callgate_store::control::Wish;
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use super::Reply;
use crate::state::{AppState, ask, sorry};
use crate::stream;

#[tauri::command]
#[specta::specta]
pub(crate) async fn servers(state: State<'_, AppState>) -> Reply<Vec<ServerView>> {
    ask(&state, move |desk| desk.servers()).await
}

/// What each running session takes arrives on the channel every two seconds while the window shows it; a newer question
/// ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn usage(
    app: AppHandle,
    state: State<'_, AppState>,
    usages: Channel<Vec<Usage>>,
) -> Reply<()> {
    let ended = state.sampling.begin();
    let sampler =
        Sampler::new().ok_or_else(|| sorry("This system does not tell what servers take.".to_owned()))?;
    stream::sample(&app, sampler, usages, ended);
    Ok(())
}

/// Nobody looks at what servers take any more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_usage(state: State<'_, AppState>) -> Reply<()> {
    drop(state.sampling.begin());
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn stderr_tail(state: State<'_, AppState>, session: String) -> Reply<String> {
    ask(&state, move |desk| desk.stderr_tail(&session)).await
}

/// Ends the server's processes, in one session or in all; its calls are refused until it is started.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    ask(&state, move |desk| desk.ask_server(&server, session.as_deref(), Wish::Stop)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn start_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    ask(&state, move |desk| desk.ask_server(&server, session.as_deref(), Wish::Start)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn restart_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    ask(&state, move |desk| desk.ask_server(&server, session.as_deref(), Wish::Restart)).await
}

/// Pauses every call and ends the processes of every server.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_everything(state: State<'_, AppState>) -> Reply<Done> {
    ask(&state, |desk| desk.stop_everything()).await
}
