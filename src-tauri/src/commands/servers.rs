//! Servers and what they take.

use std::sync::Arc;

use callgate_controls::control::ServerCommand;
use callgate_desk::supervising::Whom;
use callgate_desk::view::{Done, HappenedView, ServerView, Strays, SweepView, TreeView, Usage};
use tauri::ipc::Channel;
use tauri::{AppHandle, Runtime, State};

use super::Reply;
use crate::state::{AppState, run_on_desk, sorry};
use crate::stream;

#[tauri::command]
#[specta::specta]
pub(crate) async fn servers(state: State<'_, AppState>) -> Reply<Vec<ServerView>> {
    run_on_desk(&state, move |desk| desk.servers()).await
}

/// What each running session takes arrives on the channel every two seconds while the window shows it; a newer question
/// ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn usage<R: Runtime>(
    app: AppHandle<R>,
    state: State<'_, AppState>,
    usages: Channel<Vec<Usage>>,
) -> Reply<()> {
    let ended = state.sampling.begin();
    let known = state.usage.sample(&state.desk, state.clock.now().wall_ms);
    known.ok_or_else(|| sorry("This system does not tell what servers take.".to_owned()))?;
    stream::sample(&app, usages, ended);
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
pub(crate) async fn stderr_tail(
    state: State<'_, AppState>,
    session: String,
    search: String,
) -> Reply<String> {
    run_on_desk(&state, move |desk| desk.stderr_tail(&session, &search)).await
}

/// Every process of a server, as of the last sample.
#[tauri::command]
#[specta::specta]
pub(crate) async fn trees(state: State<'_, AppState>, server: String) -> Reply<Vec<TreeView>> {
    let usage = Arc::clone(&state.usage);
    run_on_desk(&state, move |desk| Ok(usage.trees(desk, &server))).await
}

/// What happened to a server besides its calls, the newest first.
#[tauri::command]
#[specta::specta]
pub(crate) async fn happened(state: State<'_, AppState>, server: String) -> Reply<Vec<HappenedView>> {
    run_on_desk(&state, move |desk| desk.happened(&server)).await
}

/// What dead sessions left, and browsers that nobody owns.
#[tauri::command]
#[specta::specta]
pub(crate) async fn strays(state: State<'_, AppState>) -> Reply<Strays> {
    let usage = Arc::clone(&state.usage);
    run_on_desk(&state, move |desk| usage.strays(desk)).await
}

/// Ends what dead sessions left.
#[tauri::command]
#[specta::specta]
pub(crate) async fn sweep(state: State<'_, AppState>) -> Reply<SweepView> {
    let usage = Arc::clone(&state.usage);
    run_on_desk(&state, move |desk| {
        let swept = desk.sweep();
        usage.look_for_left(desk);
        swept
    })
    .await
}

/// Ends browsers that nobody owns, those that a person chose.
#[tauri::command]
#[specta::specta]
pub(crate) async fn end_suspects(state: State<'_, AppState>, ids: Vec<String>) -> Reply<SweepView> {
    run_on_desk(&state, move |desk| desk.end_suspects(&ids)).await
}

/// Ends the server of a session with all that it started.
#[tauri::command]
#[specta::specta]
pub(crate) async fn end_tree(state: State<'_, AppState>, session: String) -> Reply<SweepView> {
    let usage = Arc::clone(&state.usage);
    run_on_desk(&state, move |desk| usage.end_tree(desk, &session)).await
}

/// What ends with the processes of a server, in one session or in all, or of every server; in sentences.
#[tauri::command]
#[specta::specta]
pub(crate) async fn at_stake(
    state: State<'_, AppState>,
    server: Option<String>,
    session: Option<String>,
) -> Reply<Vec<String>> {
    run_on_desk(&state, move |desk| {
        let every = || Ok(Whom::default());
        desk.at_stake(
            server.as_deref().map_or_else(every, |server| Whom::from_names(server, session.as_deref()))?,
        )
    })
    .await
}

/// Ends the server's processes, in one session or in all; its calls are refused until it is started.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.ask_server(&server, session.as_deref(), ServerCommand::Stop)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn start_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.ask_server(&server, session.as_deref(), ServerCommand::Start)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn restart_server(
    state: State<'_, AppState>,
    server: String,
    session: Option<String>,
) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.ask_server(&server, session.as_deref(), ServerCommand::Restart))
        .await
}

/// Pauses every call and ends the processes of every server.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_everything(state: State<'_, AppState>) -> Reply<Done> {
    run_on_desk(&state, |desk| desk.stop_everything()).await
}
