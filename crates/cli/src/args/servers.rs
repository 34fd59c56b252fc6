//! Words of the commands that start, stop, add and remove servers.

use std::ffi::OsString;

use callgate_home::SessionId;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::clients::WhileRunning;
use crate::commands::starting::STARTS;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of the server; its policy is policies/NAME.json
    #[arg(long, allow_hyphen_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Name of the AI client; otherwise what the client calls itself
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) client: Option<String>,
    /// Who started it, for the record, where that is not the client whose rules count
    #[arg(long, hide = true)]
    pub(crate) started_by: Option<String>,
    /// The entry had no arguments of its own: says so to whoever takes the gate away again
    #[arg(long)]
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
pub(crate) struct CancelArgs {
    /// Id of the call, as `callgate log` and the window show it
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) call: String,
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
    /// Which rules it begins with, if it has none of its own yet: what their caption says, and no more
    #[arg(long, value_parser = STARTS)]
    pub(crate) start: Option<String>,
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

#[cfg(test)]
mod tests {
    use callgate_gate::RunWords;
    use clap::{Args as _, FromArgMatches as _};
    use proptest::prelude::*;

    use super::*;

    /// As this command line reads them.
    fn read(words: &[OsString]) -> Option<RunWords> {
        let matches = RunArgs::augment_args(clap::Command::new("run")).try_get_matches_from(words).ok()?;
        let RunArgs { server, client, started_by, demo, command, no_args: _ } =
            RunArgs::from_arg_matches(&matches).ok()?;
        let (program, args) = command.split_first()?;
        Some(RunWords { server, client, started_by, demo, program: program.clone(), args: args.to_vec() })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn the_gate_reads_its_words_as_the_whole_command_line_does_or_leaves_them_to_it(
            words in proptest::collection::vec(
                prop_oneof![
                    Just("--server"), Just("--client"), Just("--started-by"), Just("--no-args"), Just("--demo"),
                    Just("--"), Just("a"), Just("b c"), Just(""), Just("-x"), Just("--server=a"), Just("--client="),
                    Just("--client=b"), Just("--serve=a"), Just("--demo=1"), Just("npx"),
                ],
                0..9,
            ),
            plain in any::<bool>(),
        ) {
            let begin: &[&str] = if plain { &["run", "--server", "s"] } else { &["run"] };
            let words: Vec<OsString> = begin.iter().chain(&words).map(OsString::from).collect();
            if let Some(found) = RunWords::read(&words) {
                prop_assert_eq!(Some(found), read(&words));
            }
        }
    }
}
