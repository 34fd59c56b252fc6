//! The command line, as a person types it: every command here, its words in a file an area.

mod approvals;
mod clients;
mod examples;
mod help;
mod history;
mod pins;
mod policy;
mod risk;
mod rules;
mod secrets;
mod servers;
mod upkeep;

use clap::{Parser, Subcommand};

pub(crate) use approvals::*;
pub(crate) use clients::*;
pub(crate) use help::{command, meant, wrong_rate};
pub(crate) use history::*;
pub(crate) use pins::*;
pub(crate) use policy::*;
pub(crate) use risk::*;
pub(crate) use rules::*;
pub(crate) use secrets::*;
pub(crate) use servers::*;
pub(crate) use upkeep::*;

#[derive(Debug, Parser)]
#[command(
    name = "callgate",
    bin_name = "callgate",
    version,
    about = "A gate in front of every tool call that an AI client makes to a local MCP server.",
    after_help = "First steps:\n  \
                  callgate demo                     the gate at work, with nothing else installed\n  \
                  callgate clients protect --all    put it in front of the servers of your AI clients\n  \
                  callgate watch                    every call, live\n\n\
                  Policies, history and counters are in ~/.callgate, or where CALLGATE_HOME says.",
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What has to hold at once is read without the words of every other command. What is not plainly right, help included, is
/// left to [`Cli`].
#[derive(Debug, Parser)]
enum AtOnce {
    Block(BlockArgs),
    Hide(HideArgs),
    Cap(CapArgs),
    Pause(PauseArgs),
}

pub(crate) fn at_once() -> Option<Command> {
    Some(match AtOnce::try_parse().ok()? {
        AtOnce::Block(args) => Command::Block(args),
        AtOnce::Hide(args) => Command::Hide(args),
        AtOnce::Cap(args) => Command::Cap(args),
        AtOnce::Pause(args) => Command::Pause(args),
    })
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
    /// The process in which a gate has arguments checked
    #[command(hide = true, name = callgate_shim::CHECK_ARGUMENTS)]
    CheckArguments,
    /// List calls, oldest first
    Log(LogArgs),
    /// Write calls as JSONL, CSV, HTML or Markdown, with the filters of log
    Export(ExportCallsArgs),
    /// How often each tool was called, refused and failed, and how long it took
    Stats(StatsArgs),
    /// What a server wrote to its error output
    Stderr(StderrArgs),
    /// What Callgate's own programs logged: sessions and servers that start and end, files that cannot be read or written
    Logs(LogsArgs),
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
    /// Remove calls from the history for good (asks first, and leaves a row that says so)
    Forget(ForgetArgs),
    /// Write, check, try out and go back: everything about policies
    Policy(PolicyArgs),
    /// Refuse a tool, or a whole server, from the next call on
    Block(BlockArgs),
    /// Have yourself asked about every call of a tool, from the next one on
    Ask(AskArgs),
    /// Take a tool off the agent's list, and refuse it
    Hide(HideArgs),
    /// Limit how often a tool may be called
    Cap(CapArgs),
    /// Let a tool, a whole server or one refused call through again (asks first)
    Allow(AllowArgs),
    /// Refuse nothing of a server's policy for a while; only record what it would refuse (asks first)
    Observe(ObserveArgs),
    /// Calls that wait for your decision, and what your decisions let through
    Approvals(ApprovalsArgs),
    /// Let a call through that waits for your decision (asks first)
    Approve(ApproveArgs),
    /// Refuse a call that waits for your decision
    Deny(DenyArgs),
    /// Definitions of tools that are accepted, and what servers say otherwise now
    Pins(PinsArgs),
    /// What a server's limits have counted, and start one anew
    Counters(CountersArgs),
    /// Refuse every call, of one server or of all, until resumed
    Pause(PauseArgs),
    /// Let calls through again (asks first)
    Resume(ResumeArgs),
    /// Codegen sessions of browser servers: what was recorded, also of those that were cleared or lost; write it as a test
    Codegen(CodegenArgs),
    /// Cancel one call that runs: its server and the agent are told
    Cancel(CancelArgs),
    /// End the processes of a server in the sessions that run; calls are refused until it is started. With --all: pause all, and end every server
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
    /// What is set about the record, the app and the clients; change one of it
    Settings(SettingsArgs),
    /// Look for what can keep the gate from working, and say what mends it; changes nothing
    Doctor(DoctorArgs),
    /// Everything that your AI clients can call: each server with what its tools can do, and whether it is behind the gate
    Overview(OverviewArgs),
    /// Servers that Callgate knows: what their tools can do, and the command that adds one with rules
    Catalogue(CatalogueArgs),
    /// Every tool that servers listed: what it can do, what your rules make of it, how it is used
    Tools(ToolsArgs),
    /// Everything about one tool, with the rule that is recommended for it; --apply puts that in force
    Tool(ToolArgs),
    /// A recommended policy for a server, or for one that a command starts
    Scan(ScanArgs),
    /// What tools can do, told from their definitions: one JSON object a line on stdin, as docs/risk.md has it
    Classify(ClassifyArgs),
    /// Take the gate away from every client and remove Callgate's own program (asks first)
    Uninstall(UninstallArgs),
    /// Which version this is, of both of Callgate's programs
    Version,
}
