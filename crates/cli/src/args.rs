//! The command line, as a person types it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use callgate_policy::{Rate, RateError};
use callgate_store::SessionId;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand};

use crate::duration::{Ago, Span};

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
    /// Watch calls live in this terminal, with block and cap one key away
    Watch(WatchArgs),
    /// Everything about one call, with the rule that decided it
    Show(ShowArgs),
    /// What happened beside the calls: loosenings and where they came from, pauses, broken policies, noise
    Events(EventsArgs),
    /// What runs now, under which policy
    Status(StatusArgs),
    /// Every process of every running server, with what it takes, and what dead sessions left
    Ps(PsArgs),
    /// End what dead sessions left: their processes, and the temporary profiles of their browsers
    Sweep(SweepArgs),
    /// What an error code means, and what to do about it
    Explain(CodeArgs),
    /// Remove calls from the history for good
    Forget(ForgetArgs),
    /// Write, check, try out and go back: everything about policies
    Policy(PolicyArgs),
    /// Refuse a tool, or a whole server, from the next call on
    Block(BlockArgs),
    /// Take a tool off the agent's list, and refuse it
    Hide(HideArgs),
    /// Limit how often a tool may be called
    Cap(CapArgs),
    /// Let a tool, a whole server or one refused call through again (asks first)
    Allow(AllowArgs),
    /// Refuse nothing of a server's policy for a while; only record what it would refuse (asks first)
    Observe(ObserveArgs),
    /// What a server's limits have counted, and start one anew
    Counters(CountersArgs),
    /// Refuse every call, of one server or of all, until resumed
    Pause(PauseArgs),
    /// Let calls through again (asks first)
    Resume(PauseArgs),
    /// Codegen sessions of browser servers: what was recorded, also of those that were cleared or lost; write it as a test
    Codegen(CodegenArgs),
    /// End the processes of a server; its calls are refused until it is started. With --all: pause all, and end every server
    Stop(StopArgs),
    /// Start a server again that was stopped, or that crashed too often
    Start(ServerArgs),
    /// End the processes of a server, and start it again
    Restart(ServerArgs),
    /// AI clients on this machine: which of their servers are behind the gate, and put them there
    Clients(ClientsArgs),
    /// Add a server to Callgate, and place it in clients, behind the gate from the start
    Add(AddArgs),
    /// Take a server that was added out of the clients, and out of Callgate (asks first)
    Remove(RemoveArgs),
    /// The servers that were added, and the clients that they are placed in
    Servers(ServersArgs),
    /// Tokens and passwords in clients' files: find them, move them into the keychain, put them back
    Secrets(SecretsArgs),
    /// Look for what can keep the gate from working, and say what mends it; changes nothing
    Doctor(DoctorArgs),
    /// Take the gate away from every client and remove Callgate's own program (asks first)
    Uninstall(UninstallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of the server; its policy is policies/NAME.json
    #[arg(long, allow_hyphen_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the AI client; otherwise what the client calls itself
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) client: Option<String>,
    /// The entry had no arguments of its own: says so to whoever takes the gate away again
    #[arg(long, hide = true)]
    pub(crate) no_args: bool,
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
    /// At a pace that can be watched in the log while it happens
    #[arg(long)]
    pub(crate) live: bool,
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
pub(crate) struct PsArgs {
    /// Also automation browsers on a temporary profile that nobody owns any more; they may be from before Callgate
    #[arg(long)]
    pub(crate) suspects: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CodeArgs {
    /// As a message has it: CG-113. Without one all are listed
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Only list what would be ended
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// End these browsers that `callgate ps --suspects` lists, and nothing else (asks first)
    #[arg(long, value_name = "PID", num_args = 1..)]
    pub(crate) suspects: Vec<u32>,
    /// One JSON object a line (docs/json.md)
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
    /// Say all that is wrong with a policy file, how to mend it, and whether its own tests pass
    Check(CheckArgs),
    /// Run the tests that a policy file carries
    Test(CheckArgs),
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
    /// Turn a server's policy into PolicyLayer's JSON
    Export(ExportArgs),
    /// Print the JSON Schema of policy files, for editors
    Schema,
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = true)]
pub(crate) struct SimulateArgs {
    /// The policy to try out
    #[arg(group = "what")]
    pub(crate) file: Option<PathBuf>,
    /// Instead of a file: the server's present policy, changed so. "block T", "hide T", "cap T 10/minute", "allow T", or
    /// a part of a policy as JSON. May be given several times
    #[arg(long, group = "what", conflicts_with = "file", value_name = "CHANGE")]
    pub(crate) rule: Vec<String>,
    /// Whose calls; needed when the file's name does not tell
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: Option<String>,
    /// Only calls since then: 90s, 15m, 1h, 7d, or a date such as 2026-11-16
    #[arg(long, default_value = "7d")]
    pub(crate) since: Ago,
    /// One JSON object (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
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
pub(crate) struct ApplyArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// The policy to write; "-" reads it from standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) how: ApplyHow,
    /// Show what would change, and stop
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VersionsArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// A version, as `policy history` lists it; the one before the last change when left out
    pub(crate) from: Option<String>,
    /// Another version; the file as it is now when left out
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RevertArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Take back the change that made this version, or the change of this number ('#3'); the last change when left out
    pub(crate) version: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
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

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Write it to this file instead of printing it
    #[arg(long, short)]
    pub(crate) out: Option<PathBuf>,
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
pub(crate) struct BlockArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the tool, as the server lists it; every tool when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: Option<String>,
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
    #[arg(value_parser = NonEmptyStringValueParser::new(), required_unless_present_any = ["once", "end"])]
    pub(crate) server: Option<String>,
    /// Name of the tool, as the server lists it; takes back a block of the whole server when left out
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tool: Option<String>,
    /// Only for so long (90s, 15m, 8h, at most 7d), without changing the policy
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasts: Option<Span>,
    /// The next call that is identical to this refused one, once and by whatever client; within 10 minutes unless --for
    /// says otherwise
    #[arg(long, value_name = "CALL", conflicts_with_all = ["server", "tool"])]
    pub(crate) once: Option<String>,
    /// End what was allowed for a while, by its id in `callgate status`; the policy stays as it is
    #[arg(long, value_name = "ID", conflicts_with_all = ["server", "tool", "once", "lasts"])]
    pub(crate) end: Option<String>,
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
pub(crate) struct ObserveArgs {
    /// Name of the server, as in `callgate run --server`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) how_long: HowLong,
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
}

#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new(), required_unless_present = "all")]
    pub(crate) server: Option<String>,
    /// Pause every call, cancel what runs, and end every server
    #[arg(long, conflicts_with_all = ["server", "client", "session"])]
    pub(crate) all: bool,
    /// Only where this AI client started it
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Only in this session
    #[arg(long, value_parser = session)]
    pub(crate) session: Option<SessionId>,
}

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Name of the server
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Only where this AI client started it
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Only in this session
    #[arg(long, value_parser = session)]
    pub(crate) session: Option<SessionId>,
}

fn session(text: &str) -> Result<SessionId, String> {
    text.parse().map_err(|_| "a session looks like k3v9qa; `callgate status` lists those that run".to_owned())
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

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ClientsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ClientsCommand>,
    #[command(flatten)]
    pub(crate) list: ClientsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClientsCommand {
    /// Every server entry of every client: protected, not protected, or not coverable and why
    List(ClientsListArgs),
    /// What `protect` would write
    Diff(EntriesArgs),
    /// Put the gate in front of servers
    #[command(mut_arg("leave_secrets", |arg| arg.hide(true)))]
    Protect(ChangeArgs),
    /// Take the gate away again (asks first)
    Unprotect(ChangeArgs),
    /// Copies of clients' files from before each edit
    Backups(BackupsArgs),
    /// Put a client's file back as a copy has it (asks first)
    Restore(RestoreArgs),
    /// Take the byte order mark away from files that are left alone for it
    Repair(RepairArgs),
    /// Take note that servers which a file has lost are gone on purpose (asks first)
    Gone(GoneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ClientsListArgs {
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Look for a project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// The client, as `callgate clients` names it: claude-desktop, cursor, …
    pub(crate) client: Option<String>,
    /// Its servers; all of them if none is named
    pub(crate) servers: Vec<String>,
    /// All servers of all clients
    #[arg(long, conflicts_with = "client")]
    pub(crate) all: bool,
    /// A project's own files in this folder, too: those are often shared with others
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ChangeArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
    /// Leave references to the keychain as they are, though only the gate understands them
    #[arg(long)]
    pub(crate) leave_secrets: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What to call it: letters, digits, - and _
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// A variable that it is started with
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A variable whose value goes into the keychain: asked for, or a line of standard input each
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// Place it in this client: claude-desktop, cursor, … May be given several times
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Vec<String>,
    /// Place it in every client that is here
    #[arg(long, conflicts_with = "client")]
    pub(crate) all_clients: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
    /// The server's own command line; may be left out for a server that was added before
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Its name, as `callgate servers` lists it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// Only out of this client; Callgate keeps it. May be given several times
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: Vec<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
}

#[derive(Debug, Args)]
pub(crate) struct ServersArgs {
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do about a client that runs and would write its own copy over an edit.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WhileRunning {
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
    /// Wait until the client has quit, then write
    #[arg(long, conflicts_with = "force")]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The client, as `callgate clients` names it; every client if none is named
    pub(crate) client: Option<String>,
    /// A project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Keep policies, history, settings and copies of clients' files, without being asked
    #[arg(long)]
    pub(crate) keep_history: bool,
    /// Delete all of it, without being asked
    #[arg(long, conflicts_with = "keep_history")]
    pub(crate) delete_history: bool,
    /// Show all that would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) running: WhileRunning,
    /// Leave references to the keychain as they are, though only the gate understands them
    #[arg(long)]
    pub(crate) leave_secrets: bool,
    /// A project's own files in this folder, too; those that Callgate edited are known
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SecretsCommand>,
    #[command(flatten)]
    pub(crate) list: SecretsListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Every secret of every server entry, by name: in the file, or in the keychain
    List(SecretsListArgs),
    /// Move secrets into the keychain and leave references to them (asks first)
    Move(SecretsMoveArgs),
    /// Write secrets back into the client's file (asks first)
    Restore(SecretsRestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SecretsListArgs {
    /// Only this client
    pub(crate) client: Option<String>,
    /// Only these servers
    pub(crate) servers: Vec<String>,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// Look for a project's own files in this folder, too
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SecretsMoveArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Only these, by the names that `callgate secrets` lists
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Show what would be moved, and move nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SecretsRestoreArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Show what would be written back, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while the client runs, though it may write its own copy over it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackupsArgs {
    /// Only this client
    pub(crate) client: Option<String>,
    /// Put references in place of the values that are in the keychain by now (asks first)
    #[arg(long, conflicts_with = "json")]
    pub(crate) purge_secrets: bool,
    /// One JSON object a line (docs/json.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GoneArgs {
    /// The client whose servers are gone, as `callgate clients` names it
    pub(crate) client: String,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The copy, as `callgate clients backups` names it
    pub(crate) backup: String,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also while the client runs, though it may write its own copy over it, and though secrets that it names are gone
    #[arg(long)]
    pub(crate) force: bool,
}
