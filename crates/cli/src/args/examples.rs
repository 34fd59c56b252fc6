//! What people type most, below the help of each command; every line of it is read as a command line by a test.

use std::fmt::Write as _;

use clap::Command;

/// By the command (`policy check`); what it is for, behind each line.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "block",
        &[
            ("callgate block github delete_repo", "one tool, for every client"),
            ("callgate block github 'delete_*' --client cursor", "a pattern, for one client"),
            ("callgate block github delete_repo --reason 'ask me first'", "and what the agent is told"),
        ],
    ),
    (
        "hide",
        &[
            ("callgate hide filesystem write_file", "agents do not see it any more"),
            ("callgate hide filesystem 'write_*' --all-named", "on every server of this name"),
        ],
    ),
    (
        "cap",
        &[
            ("callgate cap github create_issue 5/minute", "one tool"),
            ("callgate cap playwright 'browser_*' 100/hour", "the tools of a pattern together"),
            ("callgate cap github create_issue none", "takes the cap back (asks first)"),
        ],
    ),
    (
        "ask",
        &[
            ("callgate ask github merge_pull_request", "you decide about every call"),
            ("callgate ask github 'delete_*' --client cursor", "a pattern, for one client"),
        ],
    ),
    (
        "allow",
        &[
            ("callgate allow github delete_repo", "takes a block back"),
            ("callgate allow github delete_repo --for 15m", "for a while; the rules stay as they are"),
            ("callgate allow --once 01JD2Z6T-3", "the same call again, once"),
        ],
    ),
    (
        "observe",
        &[
            ("callgate observe github --for 30m", "refuse nothing, record what would have been"),
            ("callgate observe github --off", "enforce again"),
        ],
    ),
    (
        "pause",
        &[
            ("callgate pause", "every call of every server is refused"),
            ("callgate pause github --reason 'back at two'", "one server"),
        ],
    ),
    (
        "resume",
        &[("callgate resume", "every pause is over"), ("callgate resume github", "that of one server")],
    ),
    (
        "stop",
        &[
            ("callgate stop playwright", "its processes end; calls are refused until it is started"),
            ("callgate stop --all", "pause everything, and end every server"),
        ],
    ),
    (
        "log",
        &[
            ("callgate log -n 20", "the last twenty calls"),
            ("callgate log --follow --server github", "calls of one server, as they come"),
            ("callgate log --decision denied --since 1h", "what was refused in the last hour"),
        ],
    ),
    (
        "export",
        &[
            ("callgate export --csv --since 7d --out calls.csv", "for a spreadsheet"),
            ("callgate export --html --server github --out github.html", "to read and hand on"),
        ],
    ),
    (
        "events",
        &[
            ("callgate events -n 20", "the last twenty"),
            ("callgate events --kind loosened", "what was loosened, and from where"),
        ],
    ),
    (
        "clients protect",
        &[
            (
                "callgate clients protect --all --start recommended",
                "every server of every client, with rules to begin with",
            ),
            ("callgate clients protect cursor github --dry-run", "one of them; only say what would change"),
        ],
    ),
    (
        "policy check",
        &[
            ("callgate policy check", "every policy"),
            ("callgate policy check github", "that of one server, held against its tools"),
        ],
    ),
    (
        "policy simulate",
        &[("callgate policy simulate draft.json --server github --since 7d", "what it would have refused")],
    ),
    (
        "policy apply",
        &[
            ("callgate policy apply github rules.json --merge", "adds to what is there"),
            ("callgate policy apply github rules.json --replace --dry-run", "only say what would change"),
        ],
    ),
    (
        "policy revert",
        &[
            ("callgate policy revert github", "the last change (asks first if that loosens)"),
            ("callgate policy revert github '#3'", "the third change of `callgate policy history github`"),
        ],
    ),
    (
        "counters",
        &[
            ("callgate counters github", "what its limits have counted"),
            ("callgate counters github --reset create_issue_cap", "start one anew (asks first)"),
        ],
    ),
];

/// The command line with its examples.
pub(super) fn with_examples(mut command: Command) -> Command {
    for (path, examples) in EXAMPLES {
        let names: Vec<&str> = path.split(' ').collect();
        command = below(command, &names, &text(examples));
    }
    command
}

fn below(command: Command, names: &[&str], help: &str) -> Command {
    match names {
        [] => command.after_help(help.to_owned()),
        [name, rest @ ..] => command.mut_subcommand(name, |inner| below(inner, rest, help)),
    }
}

/// Beside each other where that fits.
fn text(examples: &[(&str, &str)]) -> String {
    const WIDEST: usize = 98;
    let width = examples.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
    let fits = examples.iter().all(|(_, what)| 2 + width + 3 + what.chars().count() <= WIDEST);
    let mut text = "Examples:".to_owned();
    for (line, what) in examples {
        // Writing into a string cannot fail.
        let _ = match fits {
            true => write!(text, "\n  {line:<width$}   {what}"),
            false => write!(text, "\n  {line}\n      {what}"),
        };
    }
    text
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::Cli;

    /// As a shell takes it: only single quotes are used.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn every_example_of_the_help_is_a_command_line_that_is_right() {
        for (path, examples) in EXAMPLES {
            assert!((1..=3).contains(&examples.len()), "{path}");
            for (line, _) in *examples {
                assert!(line.starts_with(&format!("callgate {path}")), "{line}");
                if let Err(error) = Cli::try_parse_from(words(line)) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_help_of_what_people_type_most_ends_with_examples_that_fit_a_terminal() {
        let mut command = with_examples(Cli::command());
        for path in ["block", "cap", "log", "policy check"] {
            let names = path.split(' ');
            let one = names.fold(&mut command, |at, name| at.find_subcommand_mut(name).unwrap());
            let help = one.render_help().to_string();
            let (_, examples) = help.split_once("Examples:\n").unwrap();
            assert!(examples.lines().count() >= 2, "{help}");
        }
        for (path, examples) in EXAMPLES {
            for line in text(examples).lines() {
                assert!(line.chars().count() <= 100, "{path}: {line}");
            }
        }
    }
}
