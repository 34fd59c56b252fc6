//! Rules: looked at, tried, built, saved.

use callgate_desk::view::{
    Action, Completion, Diagnostic, Effect, PolicyVersionView, Proposal, RuleDraft, RuleSuggestion,
    RulesSummary, RulesView, SaveAnswer, Target, Tried,
};
use tauri::State;

use super::Reply;
use crate::state::{AppState, run_on_desk};

#[tauri::command]
#[specta::specta]
pub(crate) async fn rules(state: State<'_, AppState>, server: String) -> Reply<RulesView> {
    run_on_desk(&state, move |desk| desk.rules(&server)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn check_policy(
    state: State<'_, AppState>,
    server: Option<String>,
    text: String,
) -> Reply<Vec<Diagnostic>> {
    run_on_desk(&state, move |desk| Ok(desk.check_policy(server.as_deref(), &text))).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn rules_summary(state: State<'_, AppState>) -> Reply<Vec<RulesSummary>> {
    run_on_desk(&state, |desk| desk.rules_summary()).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn complete(
    state: State<'_, AppState>,
    server: String,
    text: String,
    offset: u32,
) -> Reply<Vec<Completion>> {
    run_on_desk(&state, move |desk| Ok(desk.complete(&server, &text, offset))).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn draft_rule(
    state: State<'_, AppState>,
    text: String,
    target: Target,
    draft: RuleDraft,
) -> Reply<Proposal> {
    run_on_desk(&state, move |desk| desk.draft_rule(&text, &target, &draft)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn draft_default(
    state: State<'_, AppState>,
    text: String,
    action: Action,
) -> Reply<Proposal> {
    run_on_desk(&state, move |desk| desk.draft_default(&text, action)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn draft_ready(
    state: State<'_, AppState>,
    server: String,
    text: String,
    id: String,
    folder: Option<String>,
) -> Reply<Proposal> {
    run_on_desk(&state, move |desk| desk.draft_ready(&server, &text, &id, folder.as_deref())).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn propose(state: State<'_, AppState>, server: String, text: String) -> Reply<Proposal> {
    run_on_desk(&state, move |desk| desk.propose(&server, &text)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn try_call(
    state: State<'_, AppState>,
    server: String,
    text: String,
    client: Option<String>,
    tool: String,
    args: String,
) -> Reply<Tried> {
    run_on_desk(&state, move |desk| desk.try_call(&server, &text, client.as_deref(), &tool, &args)).await
}

/// A newer question ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn effect(
    state: State<'_, AppState>,
    server: String,
    text: String,
    days: u32,
) -> Reply<Effect> {
    let cancelled = state.trying.begin();
    run_on_desk(&state, move |desk| desk.effect(&server, &text, days, &cancelled)).await
}

/// A newer question ends an older one.
#[tauri::command]
#[specta::specta]
pub(crate) async fn suggest_rules(
    state: State<'_, AppState>,
    server: String,
    days: u32,
) -> Reply<RuleSuggestion> {
    let cancelled = state.trying.begin();
    run_on_desk(&state, move |desk| desk.suggest_rules(&server, days, &cancelled)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn save_policy(
    state: State<'_, AppState>,
    server: String,
    base_text: String,
    text: String,
) -> Reply<SaveAnswer> {
    run_on_desk(&state, move |desk| desk.save_policy(&server, &base_text, &text)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn versions(state: State<'_, AppState>, server: String) -> Reply<Vec<PolicyVersionView>> {
    run_on_desk(&state, move |desk| desk.versions(&server)).await
}

#[tauri::command]
#[specta::specta]
pub(crate) async fn version_diff(state: State<'_, AppState>, server: String, change: i64) -> Reply<String> {
    run_on_desk(&state, move |desk| desk.version_diff(&server, change)).await
}
