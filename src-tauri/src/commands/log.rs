//! The log.

use std::path::Path;

use callgate_desk::view::{
    AccessQuery, CallDetail, CallFilter, Choices, Done, ExportFormat, Exported, LogBatch, LogCount, LogPage,
    PageFrom, Run, RunPage, SinceLastLook, ToolAccess,
};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _, Runtime, State};

use super::Reply;
use crate::state::{AppState, folder_for_files, run_on_desk, sorry};

#[tauri::command]
#[specta::specta]
pub(crate) async fn log_page(
    state: State<'_, AppState>,
    filter: CallFilter,
    from: PageFrom,
    count: u32,
) -> Reply<LogPage> {
    run_on_desk(&state, move |desk| desk.log_page(&filter, &from, count)).await
}

/// Counts arrive on the channel until one is `done`; a newer question ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn log_count(
    state: State<'_, AppState>,
    filter: CallFilter,
    counts: Channel<LogCount>,
) -> Reply<()> {
    let cancelled = state.counting.begin();
    run_on_desk(&state, move |desk| {
        desk.log_count(&filter, &cancelled, &mut |count| drop(counts.send(count)))
    })
    .await
}

/// Nobody wants the count any more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn stop_count(state: State<'_, AppState>) -> Reply<()> {
    drop(state.counting.begin());
    Ok(())
}

/// Follows the log from this `rev` on, and answers the number to ask on with; a newer follower ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn follow(state: State<'_, AppState>, filter: CallFilter, rev: i64) -> Reply<u32> {
    let id = state.following.begin();
    let follower = run_on_desk(&state, move |desk| desk.follow(&filter, rev)).await?;
    state.following.hold(id, follower);
    Ok(id)
}

/// What is new for this follower, once something is.
#[tauri::command]
#[specta::specta]
pub(crate) async fn followed<R: Runtime>(
    app: AppHandle<R>,
    state: State<'_, AppState>,
    follower: u32,
) -> Reply<LogBatch> {
    run_on_desk(&state, move |_| {
        let state = app.state::<AppState>();
        state.following.next(follower, &state.front)
    })
    .await
}

/// Nobody wants to know what is new for this one any more.
#[tauri::command]
#[specta::specta]
pub(crate) async fn unfollow(state: State<'_, AppState>, follower: u32) -> Reply<()> {
    state.following.end(follower);
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn call(state: State<'_, AppState>, id: String) -> Reply<CallDetail> {
    run_on_desk(&state, move |desk| desk.call(&id)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn access(state: State<'_, AppState>, queries: Vec<AccessQuery>) -> Reply<Vec<ToolAccess>> {
    run_on_desk(&state, move |desk| Ok(desk.access(&queries))).await
}

/// Cancels a call that runs, and waits until it is over.
#[tauri::command]
#[specta::specta]
pub(crate) async fn cancel_call(state: State<'_, AppState>, id: String) -> Reply<Done> {
    run_on_desk(&state, move |desk| desk.cancel_call(&id).map(|(_, done)| done)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn choices(state: State<'_, AppState>) -> Reply<Choices> {
    run_on_desk(&state, move |desk| desk.choices()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn runs(state: State<'_, AppState>, before_ms: Option<i64>, count: u32) -> Reply<Vec<Run>> {
    run_on_desk(&state, move |desk| desk.runs(before_ms, count)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn runs_matching(
    state: State<'_, AppState>,
    filter: CallFilter,
    before: Option<i64>,
    count: u32,
) -> Reply<RunPage> {
    run_on_desk(&state, move |desk| desk.runs_matching(&filter, before, count)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn since_last_look(state: State<'_, AppState>) -> Reply<SinceLastLook> {
    run_on_desk(&state, move |desk| desk.since_last_look()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn looked(state: State<'_, AppState>) -> Reply<()> {
    run_on_desk(&state, move |desk| desk.looked()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn export_log<R: Runtime>(
    app: AppHandle<R>,
    state: State<'_, AppState>,
    filter: CallFilter,
    format: ExportFormat,
) -> Reply<Exported> {
    let folder = folder_for_files(&app)?;
    run_on_desk(&state, move |desk| desk.export(&filter, format, &folder)).await
}

/// Shows an exported file in its folder.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reveal(path: String) -> Reply<()> {
    crate::reveal::reveal(Path::new(&path))
        .map_err(|error| sorry(format!("{path} cannot be shown in its folder: {error}")))
}
