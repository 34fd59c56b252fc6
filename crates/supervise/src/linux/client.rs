//! Client of a gate: the process that started it, and whether this process was started by one too, by however many steps.
//!
//! What a client starts beside its gates is taken for its agent's: a shell tool is a sibling of the gate. The shell that a person types
//! into is nobody's client, though a client was started from it.

use std::path::Path;

use rustix::process::{Pid, getpid};

use super::census::{arguments, seen};
use super::process::Process;
use crate::{ObservedProcess, ProcessId};

/// No line of ancestors is longer; a circle, which a torn view could show, ends.
const LONGEST_LINE: usize = 256;

/// Programs that start others and wait for them.
const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "tcsh", "nu", "pwsh"];
/// Who starts everything of a machine, of a person or of a container, and gets what lost its parent.
const MANAGERS: [&str; 10] = [
    "systemd",
    "init",
    "runit",
    "s6-svscan",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
    "gnome-shell",
    "plasmashell",
];

/// The first of these gates that has its client above this process, and the process of the client. A gate that is no more, or
/// whose number another process has now, has none.
pub fn client_above(gates: &[ProcessId]) -> Option<(ProcessId, ObservedProcess)> {
    let own = line_from(Some(getpid()));
    gates.iter().find_map(|gate| {
        let clients = clients_of(*gate);
        let above = own.iter().find(|process| clients.iter().any(|client| client.known() == process.known()));
        above.map(|client| (*gate, seen(client)))
    })
}

/// The gate's parent; where that is only a wrapper that started the gate, those above it up to the one that had it started.
fn clients_of(gate: ProcessId) -> Vec<Process> {
    let process = i32::try_from(gate.pid).ok().and_then(Pid::from_raw).and_then(Process::read);
    let Some(process) = process.filter(|process| process.known() == gate) else { return Vec::new() };
    let mut clients = Vec::new();
    for process in line_from(process.parent) {
        let words = arguments(process.id());
        if is_manager(&process) || is_typed_into(&process, &words) {
            break;
        }
        let goes_on = is_wrapper(&process, &words);
        clients.push(process);
        if !goes_on {
            break;
        }
    }
    clients
}

/// A process and all above it, nearest first.
fn line_from(pid: Option<Pid>) -> Vec<Process> {
    let first = pid.and_then(Process::read);
    std::iter::successors(first, |process| process.parent.and_then(Process::read))
        .take(LONGEST_LINE)
        .collect()
}

fn is_manager(process: &Process) -> bool {
    MANAGERS.contains(&process.name.as_str())
}

fn is_shell(process: &Process) -> bool {
    SHELLS.contains(&process.name.trim_start_matches('-'))
}

/// A shell at a terminal which was given no command to run: it reads what a person types. Nested ones have no words at all; what the
/// terminal itself started may have files to begin with.
fn is_typed_into(process: &Process, words: &[String]) -> bool {
    let words = words.get(1..).unwrap_or_default();
    let is_plain = words.iter().all(|word| word.starts_with('-'));
    is_shell(process)
        && process.has_terminal()
        && !words.iter().any(|word| is_command_option(word))
        && (is_plain || process.leads_its_session())
}

/// `-c`, also among other letters: `-lc`.
fn is_command_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    letters.is_some_and(|letters| letters.len() <= 4 && letters.contains('c')) || word == "--command"
}

/// A shell that was given a command or a script, or anything else whose own words are a gate's command line.
fn is_wrapper(process: &Process, words: &[String]) -> bool {
    let starts_gate = |pair: &[String]| {
        let program = Path::new(&pair[0]).file_stem().and_then(|name| name.to_str());
        matches!(program, Some("callgate" | "callgate-cli")) && pair[1] == "run"
    };
    is_shell(process) || words.get(1..).unwrap_or_default().windows(2).any(starts_gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(name: &str, leads: bool, terminal: bool) -> Option<Process> {
        let (session, terminal) = (if leads { 42 } else { 7 }, if terminal { 34816 } else { 0 });
        let stat = format!("42 ({name}) S 7 42 {session} {terminal} -1 0 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2");
        Process::parse(Pid::from_raw(42)?, stat.as_bytes())
    }

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_shell_that_a_person_types_into_is_told_from_one_that_runs_a_command() {
        let cases = [
            ("a terminal's own shell", "bash", true, true, "bash", true),
            ("a login shell", "zsh", true, true, "-zsh", true),
            ("an editor's terminal", "bash", true, true, "bash --init-file /x/integration.sh", true),
            ("an editor's terminal, in fish", "fish", true, true, "fish --init-command source", true),
            ("a shell within a shell", "zsh", false, true, "zsh -i", true),
            ("a command under a pseudo-terminal", "sh", true, true, "sh -c callgate run", false),
            ("the same with other letters", "bash", true, true, "bash -lc callgate run", false),
            ("a script that a person runs", "bash", false, true, "bash start.sh", false),
            ("a client's wrapper", "sh", false, false, "sh -c callgate run", false),
            ("a shell without a terminal", "bash", true, false, "bash", false),
            ("no shell at all", "claude", true, true, "claude", false),
        ];
        for (case, name, leads, terminal, line, wanted) in cases {
            let typed_into =
                process(name, leads, terminal).is_some_and(|process| is_typed_into(&process, &words(line)));
            assert_eq!(typed_into, wanted, "{case}");
        }
    }

    #[test]
    fn what_only_started_a_gate_is_not_taken_for_its_client() {
        let cases = [
            ("sh", "sh -c exec.callgate", true),
            ("bash", "bash start.sh", true),
            ("script", "script -qec x callgate run", true),
            ("doppler", "doppler run -- /home/me/.callgate/bin/callgate run --server x", true),
            ("node", "node /usr/lib/node_modules/client/cli.js", false),
            ("cursor", "cursor /home/me/src/callgate", false),
            ("claude", "claude --resume", false),
        ];
        for (name, line, wanted) in cases {
            let wrapper =
                process(name, false, false).is_some_and(|process| is_wrapper(&process, &words(line)));
            assert_eq!(wrapper, wanted, "{line}");
        }
    }

    #[test]
    fn a_gate_that_is_gone_or_whose_number_is_used_again_has_no_client() {
        let own = Process::read(getpid()).map(|own| own.known());
        let later = own.map(|own| ProcessId { start: own.start + 1, ..own });
        assert!(later.is_some_and(|later| clients_of(later).is_empty()));
        assert!(client_above(&[]).is_none());
    }
}
