//! Words of the commands about calls that a person decides about.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::CapTo;

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Go on, and show what comes; as long as it runs, calls are held for a decision
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Also what was decided or missed lately
    #[arg(long, conflicts_with = "follow")]
    pub(crate) all: bool,
    /// End what an approval lets through for a while
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "follow", "all"])]
    pub(crate) revoke: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Id of the approval, as `callgate approvals` and the window show it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Also what follows of the same tool, until nothing comes for a minute, 20 calls at most
    #[arg(long, conflicts_with_all = ["conversation", "until_restart", "always"])]
    pub(crate) burst: bool,
    /// With --burst: this tool of the same server as well, if you are asked about it; several times for several
    #[arg(long = "tool", value_name = "TOOL", requires = "burst", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tools: Vec<String>,
    /// Also later calls of the same tool in this conversation, if the client says which one it is (Claude Code does)
    #[arg(long, conflicts_with_all = ["until_restart", "always"])]
    pub(crate) conversation: bool,
    /// Also later calls of the same tool, until the client restarts: in all of its chats
    #[arg(long, conflicts_with = "always")]
    pub(crate) until_restart: bool,
    /// Allow the tool by a rule from now on
    #[arg(long)]
    pub(crate) always: bool,
    /// With --always: no oftener than this (10/min, 100/day)
    #[arg(long, value_name = "RATE", requires = "always")]
    pub(crate) cap: Option<CapTo>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    /// Id of the approval, as `callgate approvals` and the window show it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Also refuse the tool by a rule from now on
    #[arg(long)]
    pub(crate) block: bool,
    /// What the agent is told
    #[arg(long)]
    pub(crate) reason: Option<String>,
}
