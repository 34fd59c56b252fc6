//! The command line, as a person types it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use callgate_policy::{Rate, RateError};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};

use crate::duration::Ago;

#[derive(Debug, Parser)]
#[command(
    name = "callgate",
    version,
    about = "A gate in front of every tool call that an AI client makes to a local MCP server.",
    after_help = "Put it in front of a server by letting the client start this instead of COMMAND:\n  \
                  callgate run --server NAME -- COMMAND ARGS…\n\n\
                  Policies, history and counters are in ~/.callgate, or where CALLGATE_HOME says.",
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a server behind the gate (what an AI client runs in its place)
    Run(RunArgs),
    /// Watch the gate at work, with nothing else installed
    Demo(DemoArgs),
    /// The server of the demonstration
    #[command(hide = true)]
    DemoServer,
    /// List calls, oldest first
    Log(LogArgs),
    /// Everything about one call, with the rule that decided it
    Show(ShowArgs),
    /// What happened beside the calls: loosenings and where they came from, pauses, broken policies, noise
    Events(EventsArgs),
    /// What runs now, under which policy
    Status(StatusArgs),
    /// Remove calls from the history for good
    Forget(ForgetArgs),
    /// Check, explain and look up policies
    Policy(PolicyArgs),
    /// Refuse a tool from the next call on
    Block(EditArgs),
    /// Take a tool off the agent's list, and refuse it
    Hide(HideArgs),
    /// Limit how often a tool may be called
    Cap(CapArgs),
    /// Let a tool through again (asks first)
    Allow(AllowArgs),
    /// Refuse every call, of one server or of all, until resumed
    Pause(PauseArgs),
    /// Let calls through again (asks first)
    Resume(PauseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of the server; its policy is policies/NAME.json
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the AI client; otherwise what the client calls itself
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Mark the rows of this session as a demonstration
    #[arg(long, hide = true)]
    pub(crate) demo: bool,
    /// The server's own command line
    #[arg(last = true, required = true, num_args = 1.., value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Remove what earlier demonstrations left, and stop
    #[arg(long)]
    pub(crate) remove: bool,
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
    /// Only calls decided so: allowed, denied, capped, hidden, paused, malformed, broken, unrecorded,
    /// unsupported
    #[arg(long)]
    pub(crate) decision: Option<String>,
    /// Only calls since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16
    #[arg(long)]
    pub(crate) since: Option<Ago>,
    /// Only calls that hold this text in tool, arguments, result or reason
    #[arg(long)]
    pub(crate) grep: Option<String>,
}

impl FilterArgs {
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.server, &self.client, &self.tool, &self.decision, &self.grep];
        texts.iter().all(|text| text.is_none()) && self.since.is_none()
    }
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
pub(crate) struct StatusArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
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
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say all that is wrong with a policy file, and how to mend it
    Check(CheckArgs),
    /// Say what would happen to a call now, and by which rule
    Explain(ExplainArgs),
    /// Print the JSON Schema of policy files, for editors
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    pub(crate) file: PathBuf,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// The call's arguments, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// As this client would see it
    #[arg(long, default_value = "unknown")]
    pub(crate) client: String,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// What the agent is told
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HideArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// For your own notes: kept with the change in the history, never told to the agent
    #[arg(long)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CapArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// For example 10/minute, 100/day, 5/90s; "none" takes the cap back (asks first)
    pub(crate) cap: CapTo,
}

#[derive(Debug, Args)]
pub(crate) struct AllowArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
}

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// Only this server; all when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
}

/// What a cap is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CapTo {
    Rate(Rate),
    None,
}

impl FromStr for CapTo {
    type Err = RateError;

    fn from_str(text: &str) -> Result<CapTo, RateError> {
        if text == "none" { Ok(CapTo::None) } else { text.parse().map(CapTo::Rate) }
    }
}
