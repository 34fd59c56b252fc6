//! AI clients and the gate in front of their servers.

use callgate_wiring::view::{
    BackupPreview, BackupView, ClientAct, ClientChange, ClientPreview, ClientView, EntryKey, PurgedCopies,
    Restored, SecretsAct, SecretsChange, SecretsPreview, ServerTest,
};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_wiring};

#[tauri::command]
#[specta::specta]
pub(crate) async fn clients(state: State<'_, AppState>) -> Reply<Vec<ClientView>> {
    run_on_wiring(&state, move |wiring| wiring.clients()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_clients(
    state: State<'_, AppState>,
    act: ClientAct,
    entries: Vec<EntryKey>,
) -> Reply<ClientPreview> {
    run_on_wiring(&state, move |wiring| wiring.preview_clients(act, &entries)).await
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
    let changed = run_on_wiring(&state, move |wiring| wiring.change_clients(act, &entries, now)).await;
    // A change may wait now for its client to quit.
    state.guarding.wake();
    state.ticker.wake();
    changed
}

/// Nobody is asked about these again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn leave_open(state: State<'_, AppState>, entries: Vec<EntryKey>) -> Reply<()> {
    run_on_wiring(&state, move |wiring| wiring.leave_open(&entries)).await?;
    state.ticker.wake();
    Ok(())
}

/// What somebody else did to these is not told again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn take_note(state: State<'_, AppState>, entries: Vec<EntryKey>) -> Reply<()> {
    run_on_wiring(&state, move |wiring| wiring.take_note(&entries)).await?;
    state.ticker.wake();
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
    run_on_wiring(&state, move |wiring| wiring.drop_queued(&client, &entries)).await?;
    state.ticker.wake();
    Ok(())
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn client_backups(state: State<'_, AppState>) -> Reply<Vec<BackupView>> {
    run_on_wiring(&state, move |wiring| wiring.client_backups()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_backup(state: State<'_, AppState>, id: String) -> Reply<BackupPreview> {
    run_on_wiring(&state, move |wiring| wiring.preview_backup(&id)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn restore_backup(state: State<'_, AppState>, id: String, now: bool) -> Reply<Restored> {
    let restored = run_on_wiring(&state, move |wiring| wiring.restore_backup(&id, now)).await?;
    state.ticker.wake();
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
    run_on_wiring(&state, move |wiring| wiring.repair_file(&client, &path, now)).await?;
    state.ticker.wake();
    Ok(())
}

/// Quits the client, lets what waits be written, and starts it again.
#[tauri::command]
#[specta::specta]
pub(crate) async fn reopen_client(state: State<'_, AppState>, client: String) -> Reply<()> {
    run_on_wiring(&state, move |wiring| wiring.reopen_client(&client)).await?;
    state.ticker.wake();
    Ok(())
}

/// Takes as long as the server needs to start.
#[tauri::command]
#[specta::specta]
pub(crate) async fn test_server(state: State<'_, AppState>, entry: EntryKey) -> Reply<ServerTest> {
    run_on_wiring(&state, move |wiring| wiring.test_server(&entry)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn preview_secrets(
    state: State<'_, AppState>,
    act: SecretsAct,
    entry: EntryKey,
    only: Option<Vec<String>>,
) -> Reply<SecretsPreview> {
    run_on_wiring(&state, move |wiring| wiring.preview_secrets(act, &entry, only.as_deref())).await
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
    let changed =
        run_on_wiring(&state, move |wiring| wiring.change_secrets(act, &entry, only.as_deref(), now)).await;
    state.ticker.wake();
    changed
}

/// May take as long as a person needs to unlock the keychain, within its bound.
#[tauri::command]
#[specta::specta]
pub(crate) async fn purge_copies(state: State<'_, AppState>) -> Reply<PurgedCopies> {
    run_on_wiring(&state, move |wiring| wiring.purge_copies()).await
}
