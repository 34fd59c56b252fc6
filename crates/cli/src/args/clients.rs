//! Words of `callgate clients`, with those that other commands over clients' files share.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::starting::STARTS;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ClientsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ClientsCommand>,
    #[command(flatten)]
    pub(crate) list: ClientsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientsCommand {
    /// Every server entry of every client: protected, not protected, or not coverable and why
    List(ClientsListArgs),
    /// What `protect` would write
    Diff(EntriesArgs),
    /// Put the gate in front of servers
    #[command(mut_arg("leave_secrets", |arg| arg.hide(true)))]
    Protect(ChangeArgs),
    /// Take the gate away again (asks first)
    #[command(mut_arg("start", |arg| arg.hide(true)))]
    Unprotect(ChangeArgs),
    /// Copies of clients' files from before each edit
    Backups(BackupsArgs),
    /// Put a client's file back as a copy has it (asks first)
    Restore(RestoreArgs),
    /// Take the byte order mark away from files that are left alone for it
    Repair(RepairArgs),
    /// Take note that servers which a file has lost are gone on purpose (asks first)
    Gone(GoneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ClientsListArgs {
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Look for a project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// The client, as `callgate clients` names it: claude-desktop, cursor, …
    pub(crate) client: Option<String>,
    /// Its servers; all of them if none is named
    pub(crate) servers: Vec<String>,
    /// All servers of all clients
    #[arg(long, conflicts_with = "client")]
    pub(crate) all: bool,
    /// A project's own files in this folder, too: those are often shared with others
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Which rules servers begin with that have none of their own yet: what their caption says, and no more
    #[arg(long, value_parser = STARTS)]
    pub(crate) start: Option<String>,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
    /// Leave references to the keychain as they are, though only the gate understands them
    #[arg(long)]
    pub(crate) leave_secrets: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupsArgs {
    /// Only this client
    pub(crate) client: Option<String>,
    /// Put references in place of the values that are in the keychain by now (asks first)
    #[arg(long, conflicts_with = "json")]
    pub(crate) purge_secrets: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The copy, as `callgate clients backups` names it
    pub(crate) backup: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while the client runs, though it may write its own copy over it, and though secrets that it names are gone
    #[arg(long)]
    pub(crate) force: bool,
    /// Wait until the client has quit, then write
    #[arg(long, conflicts_with = "force")]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The client, as `callgate clients` names it; every client if none is named
    pub(crate) client: Option<String>,
    /// A project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
}

#[derive(Debug, Args)]
pub(crate) struct GoneArgs {
    /// The client whose servers are gone, as `callgate clients` names it
    pub(crate) client: String,
}

/// What to do about a client that runs and would write its own copy over an edit.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WhileRunning {
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
    /// Wait until the client has quit, then write
    #[arg(long, conflicts_with = "force")]
    pub(crate) wait: bool,
}
