//! The list of commands as `callgate --help` prints it: in groups, by what a person wants.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;
use super::examples::with_examples;

/// Every command that is shown, in the order of a first week with it.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Begin",
        &[
            "demo",
            "overview",
            "clients",
            "add",
            "remove",
            "servers",
            "secrets",
            "doctor",
            "uninstall",
            "version",
        ],
    ),
    (
        "Look",
        &[
            "watch",
            "approvals",
            "pins",
            "log",
            "show",
            "status",
            "events",
            "stats",
            "stderr",
            "logs",
            "ps",
            "codegen",
            "tools",
            "catalogue",
            "tool",
            "classify",
            "explain",
        ],
    ),
    ("Restrict, at once", &["block", "ask", "hide", "cap", "deny", "pause", "cancel", "stop"]),
    ("Loosen, after a question", &["approve", "allow", "observe", "resume", "start", "restart"]),
    ("Rules and the record", &["policy", "scan", "counters", "settings", "export", "forget", "sweep"]),
    ("What clients start", &["run"]),
];

/// What people type and the command that they mean by it. Clap's own guess goes by letters, and may name the opposite.
const MEANT: &[(&str, &str)] = &[
    ("unblock", "callgate allow SERVER TOOL"),
    ("unhide", "callgate allow SERVER TOOL"),
    ("uncap", "callgate cap SERVER TOOL none"),
    ("limit", "callgate cap SERVER TOOL 10/minute"),
    ("unpause", "callgate resume"),
    ("history", "callgate log"),
    ("calls", "callgate log"),
    ("tail", "callgate log --follow"),
    ("rules", "callgate policy"),
    ("check", "callgate policy check"),
    ("install", "callgate clients protect --all"),
    ("init", "callgate clients protect --all"),
    ("kill", "callgate stop SERVER"),
    ("completions", "callgate --help (there are no completions for shells yet)"),
    ("completion", "callgate --help (there are no completions for shells yet)"),
];

/// Commands of `clients` that a person may look for one step too high.
const OF_CLIENTS: [&str; 6] = ["protect", "unprotect", "backups", "restore", "repair", "diff"];

/// The command line with its commands in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let listed = listed(&command);
    with_examples(command).help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}Options:\n{{options}}{{after-help}}"
    ))
}

/// What somebody who typed a command that there is not probably meant.
pub(crate) fn meant(word: &str) -> Option<String> {
    if OF_CLIENTS.contains(&word) {
        return Some(format!("this is a command of clients: callgate clients {word}"));
    }
    let (_, command) = MEANT.iter().find(|(typed, _)| *typed == word)?;
    Some(format!("there is no `callgate {word}`; use: {command}"))
}

/// What is wrong with a rate that clap takes for an option: `-1/minute`.
pub(crate) fn wrong_rate(words: &[&str]) -> Option<String> {
    let [_, "cap", rest @ ..] = words else { return None };
    let is_negative = |word: &&&str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let rate = rest.iter().find(is_negative)?;
    Some(format!(
        "{rate} is less than nothing: the smallest cap is 1, such as 1/minute; to refuse every call: callgate block SERVER TOOL"
    ))
}

fn listed(command: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{heading}:");
        for one in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            // One line each; the command's own help says the rest.
            let about = [": ", "; ", " ("]
                .iter()
                .fold(about.as_str(), |text, cut| text.split(cut).next().unwrap_or_default());
            let _ = writeln!(text, "  {:<10} {about}", one.get_name());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let command = Cli::command();
        let mut shown: Vec<&str> = command
            .get_subcommands()
            .filter(|one| !one.is_hide_set() && one.get_name() != "help")
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn every_argument_of_every_command_has_a_word_in_its_help() {
        fn wordless(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            let path = format!("{path} {}", command.get_name());
            let silent = command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_help().is_none());
            found.extend(silent.map(|arg| format!("{path} {}", arg.get_id())));
            for one in command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help")
            {
                wordless(one, &path, found);
            }
        }
        let mut found = Vec::new();
        wordless(&Cli::command(), "", &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn no_line_of_the_help_breaks_in_a_terminal() {
        let help = command().render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{} characters: {line}", line.chars().count());
        }
    }

    #[test]
    fn a_cap_below_nothing_is_told_in_words_and_not_as_an_unexpected_argument() {
        let told = wrong_rate(&["callgate", "cap", "s", "x", "-1/minute"]).unwrap_or_default();
        assert!(told.starts_with("-1/minute is less than nothing"), "{told}");
        for words in [["callgate", "cap", "s", "-n"], ["callgate", "log", "-n", "-1"]] {
            assert_eq!(wrong_rate(&words), None);
        }
    }

    #[test]
    fn unblock_does_not_lead_to_block() {
        assert_eq!(
            meant("unblock").as_deref(),
            Some("there is no `callgate unblock`; use: callgate allow SERVER TOOL")
        );
        for (word, _) in MEANT {
            assert!(Cli::command().find_subcommand(word).is_none(), "{word} is a command");
        }
    }
}
