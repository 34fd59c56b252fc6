//! Words of `callgate policy`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use crate::duration::Ago;

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Say all that is wrong with a policy, how to mend it, which rules can never count, and whether its own tests pass
    Check(CheckArgs),
    /// Run the tests that a policy file carries
    Test(TestArgs),
    /// Say what would happen to a call now, and by which rule
    Explain(ExplainArgs),
    /// Say what a policy would have done to the calls of the past
    Simulate(SimulateArgs),
    /// Draft a policy that allows what was used, and little more
    Suggest(SuggestArgs),
    /// Write a policy, or a part of one, into a server's policy (shows what changes; asks if it loosens)
    Apply(ApplyArgs),
    /// Every change of a server's policy: when, by whom, what
    History(VersionsArgs),
    /// What two versions of a server's policy have not in common
    Diff(DiffArgs),
    /// Take one change of a server's policy back; later ones stay (asks if it loosens)
    Revert(RevertArgs),
    /// Turn a policy of another program into one of ours
    Import(ImportArgs),
    /// The default policy, for servers without one of their own; --restore puts it back when it is gone or broken (asks first)
    Default(DefaultArgs),
    /// Print the JSON Schema of policy files, for editors
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct DefaultArgs {
    /// Put it back as Callgate ships it; the present file is kept beside it
    #[arg(long)]
    pub(crate) restore: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A policy file ("-" is standard input), or a server's name; every policy when left out
    #[arg(value_name = "FILE|SERVER")]
    pub(crate) what: Option<PathBuf>,
    /// Hold the file against the tools of this server, when its place does not tell
    #[arg(long, requires = "what", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The policy whose tests are run; "-" reads it from standard input
    pub(crate) file: PathBuf,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: String,
    /// The call's arguments, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// As this client would see it; one that no rule names when left out
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) client: Option<String>,
    /// The names are right although nobody here knows them yet
    #[arg(long)]
    pub(crate) new: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The policy to try out. Without one, and without --rule, the rules in force are
    pub(crate) file: Option<PathBuf>,
    /// Instead of a file: the server's present policy, changed so. "block T", "hide T", "cap T 10/minute", "allow T", or
    /// a part of a policy as JSON. May be given several times
    #[arg(long, conflicts_with = "file", value_name = "CHANGE")]
    pub(crate) rule: Vec<String>,
    /// Whose calls; needed when the file's name does not tell
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// Only calls since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16
    #[arg(long, default_value = "7d")]
    pub(crate) since: Ago,
    /// The tools in --rule are right although nobody here knows them yet
    #[arg(long)]
    pub(crate) new: bool,
    /// One JSON object (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Learn from the calls since then
    #[arg(long, default_value = "7d")]
    pub(crate) since: Ago,
    /// Caps are the most that was seen, times this
    #[arg(long, default_value_t = callgate_review::MARGIN, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) margin: u32,
    /// Write the draft to this file instead of printing it
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// The policy to write; "-" reads it from standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) how: ApplyHow,
    /// Show what would change, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The server's name is right although nobody here knows it yet
    #[arg(long)]
    pub(crate) new: bool,
}

#[derive(Debug, Args)]
#[group(id = "how", required = true, multiple = false)]
pub(crate) struct ApplyHow {
    /// Add what the file says to what the server's policy says
    #[arg(long)]
    pub(crate) merge: bool,
    /// The file as it is, in place of the server's policy
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VersionsArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// A version, as `policy history` lists it, or what a change left ('#3'); the version before the last change when left out
    pub(crate) from: Option<String>,
    /// Another version or change; the file as it is now when left out
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Take back the change that made this version, or the change of this number ('#3'); the last change when left out
    pub(crate) version: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file of the other program; "-" reads it from standard input
    pub(crate) file: PathBuf,
    /// What the file is; found out when left out
    #[arg(long, value_enum)]
    pub(crate) format: Option<ForeignFormat>,
    /// Of Claude permissions, which speak of several servers: only this one
    #[arg(long)]
    pub(crate) server: Option<String>,
    /// Write the policy to this file instead of printing it
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ForeignFormat {
    /// PolicyLayer Intercept, YAML
    Intercept,
    /// The "permissions" of Claude Code's settings
    ClaudePermissions,
}
