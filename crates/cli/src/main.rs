//! The partner of the gate: every command of `callgate` but the gate itself.
//!
//! Thin on purpose: parse the words, call a crate, print. The one command that is different is `run`, which must
//! start its keeper before any thread exists and leaves stdout to the protocol.

mod act;
mod args;
mod change;
mod commands;
mod confirm;
mod duration;
mod hidden;
mod layout;
mod row;
mod screen;

use std::process::ExitCode;

use callgate_home::Home;
use callgate_logging::{Log, Program};
use clap::FromArgMatches;
use clap::error::ErrorKind;

use args::{Cli, Command};

fn main() -> ExitCode {
    if let Some(command) = args::at_once() {
        return close(dispatch(command));
    }
    let read = args::command().try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = read.unwrap_or_else(|error| {
        let words: Vec<_> = std::env::args_os().collect();
        let usage = match words.get(1).and_then(|word| word.to_str()) {
            Some("run") => Some("callgate run --server NAME -- COMMAND ARGS…"),
            Some("add") => Some("callgate add NAME -- COMMAND ARGS…"),
            _ => None,
        };
        if let Some(usage) = usage.filter(|_| !words.iter().any(|word| word == "--"))
            && error.kind() == ErrorKind::UnknownArgument
        {
            screen::hint(&format!("put -- before the server's own command: {usage}"));
        }
        let typed: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        if error.kind() == ErrorKind::UnknownArgument
            && let Some(wrong) = args::wrong_rate(&typed)
        {
            screen::hint(&screen::harmless(&wrong));
            std::process::exit(2);
        }
        if error.kind() == ErrorKind::InvalidSubcommand
            && let Some(word) = words.get(1).and_then(|word| word.to_str())
            && let Some(hint) = args::meant(word)
        {
            // Clap's own guess beside it may be the opposite of what was meant.
            screen::hint(&hint);
            std::process::exit(2);
        }
        error.exit()
    });
    // A gate has a log of its own, and starts no thread before it has a keeper.
    let is_gate = matches!(cli.command, Command::Run(_) | Command::CheckArguments | Command::DemoServer);
    let _log = Home::locate().ok().filter(|_| !is_gate).map(|home| Log::start(&home, Program::Cli));
    close(dispatch(cli.command))
}

fn close(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| {
        let command = std::env::args_os().nth(1).unwrap_or_default();
        tracing::warn!(command = %command.display(), "{error:#}");
        screen::error(&error);
        ExitCode::FAILURE
    })
}

fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => commands::run::run(args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::DemoServer => commands::demo_server::serve(),
        Command::CheckArguments => Ok(ExitCode::from(callgate_schema::check_arguments())),
        Command::Log(args) => commands::log::run(&args),
        Command::Watch(args) => commands::watch::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Stats(args) => commands::stats::run(&args),
        Command::Stderr(args) => commands::stderr::run(&args),
        Command::Logs(args) => commands::logs::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Events(args) => commands::events::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Ps(args) => commands::ps::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Forget(args) => commands::forget::run(&args),
        Command::Policy(args) => commands::policy::run(args),
        Command::Block(args) => commands::acts::block(&args),
        Command::Ask(args) => commands::acts::ask(&args),
        Command::Hide(args) => commands::acts::hide(&args),
        Command::Cap(args) => commands::acts::cap(&args),
        Command::Allow(args) => commands::acts::allow(&args),
        Command::Observe(args) => commands::acts::observe(&args),
        Command::Approvals(args) => commands::approvals::list(&args),
        Command::Approve(args) => commands::approvals::approve(&args),
        Command::Deny(args) => commands::approvals::deny(&args),
        Command::Pins(args) => commands::pins::pins(&args),
        Command::Counters(args) => commands::counters::run(&args),
        Command::Pause(args) => commands::acts::pause(&args),
        Command::Resume(args) => commands::acts::resume(&args),
        Command::Codegen(args) => commands::codegen::run(args),
        Command::Cancel(args) => commands::supervise::cancel(&args),
        Command::Stop(args) => commands::supervise::stop(&args),
        Command::Start(args) => commands::supervise::start(&args),
        Command::Restart(args) => commands::supervise::restart(&args),
        Command::Clients(args) => commands::clients::run(args),
        Command::Add(args) => commands::own::add::run(&args),
        Command::Remove(args) => commands::own::remove::run(&args),
        Command::Servers(args) => commands::own::list::run(&args),
        Command::Secrets(args) => commands::secrets::run(&args),
        Command::Settings(args) => commands::settings::run(&args),
        Command::Overview(args) => commands::overview::run(&args),
        Command::Catalogue(args) => commands::catalogue::run(&args),
        Command::Tools(args) => commands::tools::list(&args),
        Command::Tool(args) => commands::tools::page(&args),
        Command::Scan(args) => commands::scan::run(&args),
        Command::Classify(args) => commands::classify::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Uninstall(args) => commands::uninstall::run(&args),
        Command::Version => commands::version::run(),
    }
}
