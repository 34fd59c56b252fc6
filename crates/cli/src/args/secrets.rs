//! Words of `callgate secrets`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::clients::EntriesArgs;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SecretsCommand>,
    #[command(flatten)]
    pub(crate) list: SecretsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Every secret of every server entry, by name: in the file, or in the keychain
    List(SecretsListArgs),
    /// Move secrets into the keychain and leave references to them (asks first)
    Move(SecretsMoveArgs),
    /// Write secrets back into the client's file (asks first)
    Restore(SecretsRestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretsListArgs {
    /// Only this client
    pub(crate) client: Option<String>,
    /// Only these servers
    pub(crate) servers: Vec<String>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Look for a project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SecretsMoveArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Only these, by the names that `callgate secrets` lists
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Show what would be moved, and move nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SecretsRestoreArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Show what would be written back, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
}
