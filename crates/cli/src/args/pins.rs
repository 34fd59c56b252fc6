//! Words of `callgate pins`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PinsArgs {
    #[command(subcommand)]
    pub(crate) act: Option<PinsAct>,
    /// Only this server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// One JSON object a server
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinsAct {
    /// What a server says of a tool otherwise than you accepted, word by word
    Diff {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Name of the tool, as the server lists it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        tool: String,
    },
    /// Accept what a server says now of these tools, or of all that changed or are new (asks first)
    Accept {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Only these; without any, all that the server describes otherwise or anew
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        tools: Vec<String>,
    },
    /// Give up what is accepted of a server: what it lists next is accepted (asks first)
    Forget {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
    },
}
