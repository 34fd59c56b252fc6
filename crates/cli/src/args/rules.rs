//! Words of the commands that change what the gate lets through: one rule, one allowance, the pause switch.

use std::str::FromStr;

use callgate_policy::{Rate, RateError};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::duration::Span;

/// Whom an act is for, besides the server and the tool.
#[derive(Debug, Default, Args)]
pub(crate) struct WhomArgs {
    /// Only for this client, as `callgate log` names it (claude-desktop, cursor …); for every client when left out
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) client: Option<String>,
    /// Every server of this name at once: filesystem, filesystem@cursor …
    #[arg(long, conflicts_with = "only")]
    pub(crate) all_named: bool,
    /// Exactly the server that is named, whatever others have its name
    #[arg(long)]
    pub(crate) only: bool,
    /// The name is right although nobody here knows it yet
    #[arg(long)]
    pub(crate) new: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BlockArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it, or a pattern ('write_*'); every tool when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: Option<String>,
    /// What the agent is told
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it, or a pattern ('write_*')
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// What you, and the agent, are told with the question
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HideArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it, or a pattern ('write_*')
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// For your own notes: kept with the change in the history, never told to the agent
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CapArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it, or a pattern ('browser_*'), which counts its tools together; all tools
    /// together when left out
    #[arg(value_name = "[TOOL] RATE", num_args = 1..=2, required = true, value_parser = NonEmptyStringValueParser::new(),
        long_help = "Name of the tool, as the server lists it, or a pattern ('browser_*'), which counts its tools together; all tools \
            together when left out. Then the rate: for example 10/minute, 100/day, 5/90s; \"none\" takes the cap back (asks first)")]
    pub(crate) tool_and_rate: Vec<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

impl CapArgs {
    /// The tool, if one is named, and what it is capped at.
    pub(crate) fn tool_and_cap(&self) -> anyhow::Result<(Option<String>, CapTo)> {
        match self.tool_and_rate.as_slice() {
            [tool, rate] => Ok((Some(tool.clone()), rate.parse()?)),
            [rate] => Ok((None, rate.parse()?)),
            _ => anyhow::bail!("say at what: callgate cap SERVER TOOL 10/minute"),
        }
    }
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
        if text == "none" {
            return Ok(CapTo::None);
        }
        // As people write them; policies have one word for each.
        let whole = match text.split_once('/') {
            Some((max, "min" | "m")) => format!("{max}/minute"),
            Some((max, "h" | "hr")) => format!("{max}/hour"),
            Some((max, "sec" | "s")) => format!("{max}/second"),
            Some((max, "d")) => format!("{max}/day"),
            _ => text.to_owned(),
        };
        whole.parse().map(CapTo::Rate)
    }
}

#[derive(Debug, Args)]
pub(crate) struct AllowArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new(), required_unless_present_any = ["once", "end"])]
    pub(crate) server: Option<String>,
    /// Name of the tool, as the server lists it, or a pattern; when left out, a block of the whole server is taken
    /// back, or with --for every tool is let in
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: Option<String>,
    /// Only for so long (90s, 15m, 8h, at most 7d), without changing the policy
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasts: Option<Span>,
    /// The next call of the same client that is identical to this refused one, once; within 10 minutes unless --for says
    /// otherwise
    #[arg(long, value_name = "CALL", conflicts_with_all = ["server", "tool", "client", "all_named", "only", "new"])]
    pub(crate) once: Option<String>,
    /// End what was allowed for a while, by its id in `callgate status`; the policy stays as it is
    #[arg(long, value_name = "ID", conflicts_with_all = ["server", "tool", "once", "lasts", "client", "all_named", "only", "new"])]
    pub(crate) end: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ObserveArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) how_long: HowLong,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
#[group(id = "how_long", required = true, multiple = false)]
pub(crate) struct HowLong {
    /// For so long: 90s, 30m, 8h, at most 7d
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasts: Option<Span>,
    /// Enforce again, at once
    #[arg(long)]
    pub(crate) off: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CountersArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Start this counter anew (asks first)
    #[arg(long, value_name = "COUNTER")]
    pub(crate) reset: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// Only this server; all when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// What the agent is told
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Only this server; every pause when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) whom: WhomArgs,
}
