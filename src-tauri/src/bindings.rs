//! The commands, and their TypeScript.

use std::path::Path;

use tauri::Runtime;
use tauri_specta::{Builder, collect_commands};

use crate::commands::{acts, app, approvals, clients, codegen, log, own, pins, rules, servers, tools};

/// Every command of the window, on whatever shows it. The TypeScript is generated from this list, so neither side can drift.
pub fn builder<R: Runtime>() -> Builder<R> {
    Builder::<R>::new()
        // Times in milliseconds, counts and cursors: all far below 2^53.
        .dangerously_cast_bigints_to_number()
        // Every type is written and read alike.
        .disable_serde_phases()
        .commands(collect_commands![
            log::log_page,
            log::log_count,
            log::stop_count,
            log::follow,
            log::followed::<tauri::Wry>,
            log::unfollow,
            log::call,
            log::access,
            log::cancel_call,
            log::choices,
            log::runs,
            log::runs_matching,
            log::since_last_look,
            log::looked,
            log::export_log::<tauri::Wry>,
            log::reveal,
            acts::restrict,
            acts::undo,
            acts::give_reason,
            acts::loosen,
            acts::confirm,
            acts::dismiss,
            acts::enforcement,
            acts::cap_advice,
            approvals::approvals,
            approvals::decide,
            approvals::revoke_grant,
            approvals::show_approvals,
            pins::pins,
            rules::rules,
            rules::rules_summary,
            rules::check_policy,
            rules::complete,
            rules::draft_rule,
            rules::draft_default,
            rules::draft_ready,
            rules::propose,
            rules::try_call,
            rules::effect,
            rules::suggest_rules,
            rules::save_policy,
            rules::versions,
            rules::version_diff,
            tools::tools,
            tools::tool,
            tools::apply_recommended,
            tools::correct_class,
            tools::starting_points,
            servers::servers,
            servers::usage::<tauri::Wry>,
            servers::stop_usage,
            servers::stderr_tail,
            servers::trees,
            servers::happened,
            servers::strays,
            servers::sweep,
            servers::end_suspects,
            servers::end_tree,
            servers::at_stake,
            servers::stop_server,
            servers::start_server,
            servers::restart_server,
            servers::stop_everything,
            codegen::codegen,
            codegen::codegen_session,
            codegen::codegen_file::<tauri::Wry>,
            codegen::export_codegen,
            clients::clients,
            clients::preview_clients,
            clients::change_clients,
            clients::leave_open,
            clients::take_note,
            clients::drop_queued,
            clients::client_backups,
            clients::preview_backup,
            clients::restore_backup,
            clients::repair_file,
            clients::reopen_client,
            clients::test_server,
            clients::preview_secrets,
            clients::change_secrets,
            clients::purge_copies,
            own::server_places,
            own::preview_server,
            own::add_server,
            own::preview_removal,
            own::remove_server,
            own::restore_server,
            app::overview::<tauri::Wry>,
            app::settings,
            app::save_settings,
            app::delete_history,
            app::start_at_login,
            app::start_demo,
        ])
}

/// Writes the file that the window imports.
pub fn write_typescript(path: &Path) -> Result<(), specta_typescript::Error> {
    builder::<tauri::Wry>().export(specta_typescript::Typescript::default(), path)
}
