//! Words of the commands that look at what was recorded: calls, events, codegen sessions.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::duration::Ago;

#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only this server
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Only this client
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Only this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only calls decided so: allowed, denied, capped, hidden, would_deny, paused, malformed, broken,
    /// unrecorded, unsupported
    #[arg(long)]
    pub(crate) decision: Option<String>,
    /// Only calls that failed: they got to their server and ended with an error, or without an answer
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only calls since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16
    #[arg(long)]
    pub(crate) since: Option<Ago>,
    /// Only calls that hold this text, which may be any, in tool, arguments, result or reason. Looks at every call: for
    /// words, --search is faster
    #[arg(long)]
    pub(crate) grep: Option<String>,
    /// Only calls with all of these words in tool, arguments, result or reason, the last one perhaps only begun. By an
    /// index: fast however long the history is
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
}

impl FilterArgs {
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.server, &self.client, &self.tool, &self.decision, &self.grep, &self.search];
        texts.iter().all(|text| text.is_none()) && self.since.is_none() && !self.failed
    }
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Go on showing calls as they come
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How many calls at the most
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Only this server
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Only this client
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Only this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the call, as the log and the refusals give it
    pub(crate) call: String,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// Only since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16
    #[arg(long)]
    pub(crate) since: Option<Ago>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How many at the most
    #[arg(long, short = 'n', default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetArgs {
    /// This one call
    pub(crate) call: Option<String>,
    /// Every call of this server
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Every call before this date or age (2026-11-16, 30d)
    #[arg(long)]
    pub(crate) before: Option<Ago>,
    /// Every call of the demonstrations
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CodegenArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CodegenCommand>,
    #[command(flatten)]
    pub(crate) list: CodegenListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CodegenCommand {
    /// Every session of the last 30 days, the newest first
    List(CodegenListArgs),
    /// One session with its recorded actions
    Show(CodegenShowArgs),
    /// Write one session as a Playwright test
    Export(CodegenExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CodegenListArgs {
    /// Only those of this server
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) server: Option<String>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CodegenShowArgs {
    /// The session, as `callgate codegen` names it, or the server's own id of it
    pub(crate) session: String,
    /// One JSON object (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CodegenExportArgs {
    /// The session, as `callgate codegen` names it, or the server's own id of it
    pub(crate) session: String,
    /// Into a new file in this folder; otherwise the test is printed
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Say where it is as one JSON object (docs/json.md)
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}
