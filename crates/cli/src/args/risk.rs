//! Words of the commands that tell what tools can do.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ClassifyArgs {
    /// One JSON object a line, in the order of the input (docs/risk.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// By the definitions alone, also for servers that Callgate knows
    #[arg(long)]
    pub(crate) no_catalogue: bool,
}
