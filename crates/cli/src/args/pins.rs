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
    /// What a server says of a tool otherwise than you accepted, word by word; of a prompt, its instructions, its program, too
    Diff {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Name of the tool or prompt, as the server lists it; or instructions, program
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
    /// Remove what is accepted of tools that the server does not list any more: what comes back is new (asks first)
    Remove {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Only these; without any, all that it does not list
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        tools: Vec<String>,
    },
    /// Let a capability or a key of _meta through to clients that was taken out of what the server says (asks first)
    LetThrough {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Its name, as `callgate pins SERVER` shows it
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        key: String,
    },
    /// Take it out again
    TakeOut {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
        /// Its name
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        key: String,
    },
    /// Give up what is accepted of a server: what it lists next is accepted (asks first)
    Forget {
        /// Name of the server
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        server: String,
    },
}
