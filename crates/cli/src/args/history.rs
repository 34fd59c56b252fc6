//! Words of the commands that look at what was recorded: calls, events, codegen sessions.

use std::path::PathBuf;

use anyhow::bail;
use callgate_history::{CallFilter, Words};
use callgate_home::SessionId;
use callgate_journal::{Decision, EventKind};
use callgate_logging::Program;
use clap::builder::PossibleValuesParser;
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
    /// Only calls decided so
    #[arg(long, value_parser = words(Decision::ALL, Decision::word))]
    pub(crate) decision: Option<String>,
    /// Only calls that failed: they got to their server and ended with an error, or without an answer
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only calls that a person was asked about and decided
    #[arg(long)]
    pub(crate) by_person: bool,
    /// Only calls since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16 or "2026-11-16 23:36"
    #[arg(long)]
    pub(crate) since: Option<Ago>,
    /// Only calls before then, as with --since
    #[arg(long)]
    pub(crate) until: Option<Ago>,
    /// Only calls of this session, by its id: the part of a call's id before the dash
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only calls that hold this text in tool, arguments, result or reason: plain text, no pattern, and case does not
    /// matter. Looks at every call: for words, --search is faster
    #[arg(long, value_name = "TEXT")]
    pub(crate) grep: Option<String>,
    /// Only calls with all of these words in tool, arguments, result or reason, the last one perhaps only begun. By an
    /// index: fast however long the history is
    #[arg(long, value_name = "WORDS")]
    pub(crate) search: Option<String>,
}

impl FilterArgs {
    pub(crate) fn parse(&self) -> anyhow::Result<CallFilter> {
        if self.search.is_some() && self.grep.is_some() {
            bail!("--search and --grep do not go together: say which of the two");
        }
        if self.search.as_deref().is_some_and(|words| Words::of(words).is_none()) {
            bail!("--search looks for words: letters or digits. --grep looks for any text");
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since.0 >= until.0
        {
            bail!("--until is not after --since, so nothing can match");
        }
        let decision: Option<Decision> = self.decision.as_deref().map(str::parse).transpose()?;
        Ok(CallFilter {
            text: self.search.clone(),
            grep: self.grep.clone(),
            server: self.server.clone(),
            client: self.client.clone(),
            tool: self.tool.clone(),
            decisions: decision.into_iter().map(Into::into).collect(),
            failed: self.failed,
            by_person: self.by_person,
            session: self.session.clone(),
            since_ms: self.since.map(|since| since.0),
            until_ms: self.until.map(|until| until.0),
            ..CallFilter::default()
        })
    }
}

/// The words of a vocabulary, for clap: it lists them, and knows which one was meant.
fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> PossibleValuesParser {
    PossibleValuesParser::new(all.iter().map(|one| word(*one)))
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Go on showing calls as they come
    #[arg(long, short, conflicts_with = "until")]
    pub(crate) follow: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How many lines at the most; equal refusals in a row are one
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("format").required(true)))]
pub(crate) struct ExportCallsArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// One JSON object a line, as log --json
    #[arg(long, group = "format")]
    pub(crate) jsonl: bool,
    /// Comma-separated values, for a table program
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// A report for people, as one page
    #[arg(long, group = "format")]
    pub(crate) html: bool,
    /// The same as Markdown
    #[arg(long, group = "format")]
    pub(crate) md: bool,
    /// Into this new file; otherwise, or with -, it is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also if the file is there: it is replaced
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StderrArgs {
    /// Name of the server
    pub(crate) server: String,
    /// Go on showing lines as they come
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// How many lines at the most
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
    /// Only lines of this session, by its id
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Only lines of this program; may be given more than once
    #[arg(long, value_name = "PROGRAM", value_parser = words(&Program::ALL, Program::name))]
    pub(crate) program: Vec<String>,
    /// Only lines as grave as this, or graver
    #[arg(long, default_value = "trace", hide_default_value = true, value_parser = ["error", "warn", "info", "debug", "trace"])]
    pub(crate) level: String,
    /// Go on showing lines as they come
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How many lines at the most
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
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
    /// Only those of this server
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Only those of this kind
    #[arg(long, value_parser = words(EventKind::ALL, EventKind::word), hide_possible_values = true)]
    pub(crate) kind: Option<String>,
    /// Only since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16 or "2026-11-16 23:36"
    #[arg(long)]
    pub(crate) since: Option<Ago>,
    /// Only before then
    #[arg(long)]
    pub(crate) until: Option<Ago>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How many at the most
    #[arg(long, short = 'n', default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "callgate forget CALL\n       callgate forget --server SERVER\n       callgate forget --before WHEN\n       callgate forget --demo"
)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetArgs {
    /// This one call
    pub(crate) call: Option<String>,
    /// Every call of this server
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Every call before this date or age, which must have been (2026-11-16, "2026-11-16 23:36", 30d)
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
    /// Into a new file in this folder, which is made if it is missing; otherwise the test is printed
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Say where it is as one JSON object (docs/json.md)
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}
