//! Words of the commands that tell how things stand, tidy up, and take Callgate away.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::clients::WhileRunning;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Also automation browsers on a temporary profile that nobody owns any more; they may be from before Callgate
    #[arg(long)]
    pub(crate) suspects: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Only list what would be ended
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// End these browsers that `callgate ps --suspects` lists, and nothing else (asks first)
    #[arg(long, value_name = "PID", num_args = 1..)]
    pub(crate) suspects: Vec<u32>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CodeArgs {
    /// As a message has it: CG-113. Without one all are listed
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Keep policies, history, settings and copies of clients' files, without being asked
    #[arg(long)]
    pub(crate) keep_history: bool,
    /// Delete all of it, without being asked
    #[arg(long, conflicts_with = "keep_history")]
    pub(crate) delete_history: bool,
    /// Show all that would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
    /// Leave references to the keychain as they are, though only the gate understands them
    #[arg(long)]
    pub(crate) leave_secrets: bool,
    /// A project's own files in this folder, too; those that Callgate edited are known
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SettingsCommand>,
    /// One JSON object a setting (docs/json.md)
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Print the value of one setting
    Get {
        /// Such as history.days
        key: String,
    },
    /// Change one setting; comments and everything else in the file stay (asks if less is kept, masked or told)
    Set {
        /// Such as record.keep
        key: String,
        /// 30, keys, "iban,customer_id", on, off
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Say what is wrong with settings.json
    Check,
}
