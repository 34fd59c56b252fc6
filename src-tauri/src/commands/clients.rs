//! AI clients and the gate in front of their servers.

use callgate_desk::view::{
    BackupPreview, BackupView, ClientAct, ClientChange, ClientPreview, ClientView, EntryKey, PurgedCopies,
    Restored, SecretsAct, SecretsChange, SecretsPreview, ServerTest,
};
use tauri::State;

use super::Reply;
use crate::state::{AppState, ask};

#[tauri::command]
#[specta::specta]
pub(crate) async fn clients(state: State<'_, AppState>) -> Reply<Vec<ClientView>> {
    ask(&state, move |desk| desk.clients()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_clients(
    state: State<'_, AppState>,
    act: ClientAct,
    entries: Vec<EntryKey>,
) -> Reply<ClientPreview> {
    ask(&state, move |desk| desk.preview_clients(act, &entries)).await
}

/// `now`: also while a client runs that may write over it.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_clients(
    state: State<'_, AppState>,
    act: ClientAct,
    entries: Vec<EntryKey>,
    now: bool,
) -> Reply<ClientChange> {
    let changed = ask(&state, move |desk| desk.change_clients(act, &entries, now)).await;
    // A change may wait now for its client to quit.
    state.guarding.wake();
    state.pulse.wake();
    changed
}

/// Nobody is asked about these again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn leave_open(state: State<'_, AppState>, entries: Vec<EntryKey>) -> Reply<()> {
    ask(&state, move |desk| desk.leave_open(&entries)).await?;
    state.pulse.wake();
    Ok(())
}

/// What somebody else did to these is not told again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn take_note(state: State<'_, AppState>, entries: Vec<EntryKey>) -> Reply<()> {
    ask(&state, move |desk| desk.take_note(&entries)).await?;
    state.pulse.wake();
    Ok(())
}

/// No entries: all that waits for this client.
#[tauri::command]
#[specta::specta]
pub(crate) async fn drop_queued(
    state: State<'_, AppState>,
    client: String,
    entries: Vec<EntryKey>,
) -> Reply<()> {
    ask(&state, move |desk| desk.drop_queued(&client, &entries)).await?;
    state.pulse.wake();
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn client_backups(state: State<'_, AppState>) -> Reply<Vec<BackupView>> {
    ask(&state, move |desk| desk.client_backups()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_backup(state: State<'_, AppState>, id: String) -> Reply<BackupPreview> {
    ask(&state, move |desk| desk.preview_backup(&id)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_backup(state: State<'_, AppState>, id: String, now: bool) -> Reply<Restored> {
    let restored = ask(&state, move |desk| desk.restore_backup(&id, now)).await?;
    state.pulse.wake();
    Ok(restored)
}

/// Takes the byte order mark away that a file is left alone for.
#[tauri::command]
#[specta::specta]
pub(crate) async fn repair_file(
    state: State<'_, AppState>,
    client: String,
    path: String,
    now: bool,
) -> Reply<()> {
    ask(&state, move |desk| desk.repair_file(&client, &path, now)).await?;
    state.pulse.wake();
    Ok(())
}

/// Quits the client, lets what waits be written, and starts it again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reopen_client(state: State<'_, AppState>, client: String) -> Reply<()> {
    ask(&state, move |desk| desk.reopen_client(&client)).await?;
    state.pulse.wake();
    Ok(())
}

/// Takes as long as the server needs to start.
#[tauri::command]
#[specta::specta]
pub(crate) async fn test_server(state: State<'_, AppState>, entry: EntryKey) -> Reply<ServerTest> {
    ask(&state, move |desk| desk.test_server(&entry)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_secrets(
    state: State<'_, AppState>,
    act: SecretsAct,
    entry: EntryKey,
    only: Option<Vec<String>>,
) -> Reply<SecretsPreview> {
    ask(&state, move |desk| desk.preview_secrets(act, &entry, only.as_deref())).await
}

/// May take as long as a person needs to unlock the keychain, within its bound.
#[tauri::command]
#[specta::specta]
pub(crate) async fn change_secrets(
    state: State<'_, AppState>,
    act: SecretsAct,
    entry: EntryKey,
    only: Option<Vec<String>>,
    now: bool,
) -> Reply<SecretsChange> {
    let changed = ask(&state, move |desk| desk.change_secrets(act, &entry, only.as_deref(), now)).await;
    state.pulse.wake();
    changed
}

/// May take as long as a person needs to unlock the keychain, within its bound.
#[tauri::command]
#[specta::specta]
pub(crate) async fn purge_copies(state: State<'_, AppState>) -> Reply<PurgedCopies> {
    ask(&state, move |desk| desk.purge_copies()).await
}
