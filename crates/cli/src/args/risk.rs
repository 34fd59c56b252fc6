//! Words of the commands that tell what tools can do.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::commands::starting::STARTS;

#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// One JSON object a line, in the order of the input (docs/risk.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// By the definitions alone, also for servers that Callgate knows
    #[arg(long)]
    pub(crate) no_catalogue: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    /// Start this server once, as its client would, ask it for its tools, and end it. May be given several times
    #[arg(long, value_name = "SERVER")]
    pub(crate) scan: Vec<String>,
    /// One JSON object (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CatalogueArgs {
    /// Only servers in whose name, package, purpose or tools each of these words is
    pub(crate) words: Vec<String>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Only those of this server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// What they cost in tokens: their definitions, at every start, and what they answered in the last 7 days
    #[arg(long)]
    pub(crate) costs: bool,
    /// Those that nobody called lately, with what they cost
    #[arg(long, conflicts_with = "costs")]
    pub(crate) unused: bool,
    /// Take those off the agents' list
    #[arg(long, requires_all = ["unused", "server"])]
    pub(crate) hide: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// Put the recommended rule in force, for this tool and no other; asks if it lets more through than now
    #[arg(long, conflicts_with = "class")]
    pub(crate) apply: bool,
    /// Say what it can do, where you know better: Read, Write, Execute, Destructive, Financial; none takes it back
    #[arg(long)]
    pub(crate) class: Option<String>,
    /// One JSON object (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// A server that listed its tools before
    #[arg(value_parser = NonEmptyStringValueParser::new(), required_unless_present = "command", conflicts_with = "command")]
    pub(crate) server: Option<String>,
    /// Which policy
    #[arg(long, default_value = "recommended", value_parser = STARTS)]
    pub(crate) start: String,
    /// Write the policy to this file instead of printing it
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
    /// A server's command: it is started, asked for its tools, and ended; nothing of it is kept
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
