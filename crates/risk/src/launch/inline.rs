//! Code that stands on the command line itself, and programs in folders that are everybody's.

use super::command_line::{CommandLine, is_python};
use super::{Kind, LaunchFinding, LaunchGravity, WORLD_WRITABLE, is_world_writable};

const INLINE: Kind = Kind {
    code: "inline-code",
    gravity: LaunchGravity::Warning,
    words: "The command itself holds the code that is run: no package and no file says what it does.",
    fix: "Read it to its end. If it is needed, put it into a file of your own and start that; a variable belongs into env.",
};

const ENCODED: Kind = Kind {
    code: "encoded-code",
    gravity: LaunchGravity::Warning,
    words: "The code on the command line is encoded, so that nobody can read what is run.",
    fix: "Do not start it before you have decoded and read it. An honest entry has no need of it.",
};

const DOWNLOAD: Kind = Kind {
    code: "download-run",
    gravity: LaunchGravity::Warning,
    words: "It fetches a program from the network at each start and runs it unseen.",
    fix: "Fetch it once, read it, keep it in a folder of your own, and start that.",
};

const SHELL_SIGNS: Kind = Kind {
    code: "inline-code",
    gravity: LaunchGravity::Warning,
    words: "The shell of Windows gets more than one command here: signs such as & and | begin another.",
    fix: "Name the one program that is to be started, without these signs.",
};

/// How an interpreter takes code from its command line.
struct Interpreter {
    names: &'static [&'static str],
    /// Single letters, also in a cluster (`-lc`), by which it does.
    letters: &'static str,
    /// Whole options by which it does.
    options: &'static [&'static str],
    /// Options with a value in the next word.
    valued: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh"],
        letters: "c",
        options: &["--command"],
        valued: &["-o", "+o", "-O", "--rcfile", "--init-file"],
    },
    Interpreter {
        names: &["node", "bun", "tsx", "ts-node", "deno"],
        letters: "ep",
        options: &["--eval", "--print", "-pe"],
        valued: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--env-file",
            "-C",
            "--conditions",
        ],
    },
    Interpreter { names: &["perl"], letters: "eE", options: &[], valued: &["-I", "-M"] },
    Interpreter {
        names: &["ruby", "lua", "osascript"],
        letters: "e",
        options: &[],
        valued: &["-I", "-r", "-l"],
    },
    Interpreter { names: &["php"], letters: "r", options: &["--run"], valued: &["-c", "-d"] },
];

const PYTHON: Interpreter =
    Interpreter { names: &[], letters: "c", options: &[], valued: &["-X", "-W", "--check-hash-based-pycs"] };

pub(super) fn look(line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
    let program = line.program();
    let Some(first) = line.words.first() else { return };
    if is_world_writable(first) {
        findings.push(WORLD_WRITABLE.at(line.place(0), first));
    }
    if let Some(at) = download(line) {
        findings.push(DOWNLOAD.at(line.place(at), line.words[at]));
    } else if matches!(program.as_str(), "powershell" | "pwsh") {
        powershell(line, findings);
    } else if line.is_for_cmd
        && let Some(at) = line.words.iter().position(|word| word.contains(['&', '|', '<', '>']))
    {
        findings.push(SHELL_SIGNS.at(line.place(at), line.words[at]));
    } else if matches!(program.as_str(), "npx" | "npm" | "bunx")
        && let Some(at) = line.words.iter().position(|word| matches!(*word, "-c" | "--call"))
        && line.operand().is_none_or(|operand| operand.at >= at)
    {
        findings.push(INLINE.at(line.place(at), &line.words[at..].join(" ")));
    } else if program == "deno" && line.words.get(1) == Some(&"eval") {
        findings.push(INLINE.at(line.place(1), &line.words[1..].join(" ")));
    } else if let Some(interpreter) = interpreter(&program) {
        interpreter.look(line, findings);
    } else if program == "java"
        && let Some(at) = line.words.iter().position(|word| *word == "-jar").map(|at| at + 1)
        && line.words.get(at).is_some_and(|jar| is_world_writable(jar))
    {
        findings.push(WORLD_WRITABLE.at(line.place(at), line.words[at]));
    }
}

fn interpreter(program: &str) -> Option<&'static Interpreter> {
    let known = INTERPRETERS.iter().find(|interpreter| interpreter.names.contains(&program));
    known.or_else(|| is_python(program).then_some(&PYTHON))
}

impl Interpreter {
    /// Code among its own options, or else where its script lies. What comes after the script is the script's business.
    fn look(&self, line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
        let mut at = 1;
        while let Some(word) = line.words.get(at).copied() {
            if !word.starts_with(['-', '+']) {
                if is_world_writable(word) {
                    findings.push(WORLD_WRITABLE.at(line.place(at), word));
                }
                // `bun run file`, `deno run -A file`.
                if at == 1 && word == "run" {
                    at += 1;
                    continue;
                }
                return;
            }
            // A module takes the place of a script.
            if word == "-m" {
                return;
            }
            let option = word.split('=').next().unwrap_or(word);
            if self.options.contains(&option) || self.is_cluster(word) {
                findings.push(INLINE.at(line.place(at), &line.words[at..].join(" ")));
                return;
            }
            at += if self.valued.contains(&word) { 2 } else { 1 };
        }
    }

    /// `-c`, `-lc`: letters only, so that `-XX:+Exit` and `--no-cache` are none.
    fn is_cluster(&self, word: &str) -> bool {
        word.strip_prefix('-').is_some_and(|letters| {
            (1..=4).contains(&letters.len())
                && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && letters.contains(|letter| self.letters.contains(letter))
        })
    }
}

fn powershell(line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
    let mut at = 1;
    while let Some(word) = line.words.get(at).copied() {
        let option = word.to_ascii_lowercase();
        let option = option.strip_prefix(['-', '/']).unwrap_or_default();
        // Any beginning of an option's name will do.
        let is = |name: &str, least: usize| option.len() >= least && name.starts_with(option);
        if is("encodedcommand", 1) || option == "ec" {
            return findings.push(ENCODED.at(line.place(at), &line.words[at..].join(" ")));
        }
        if is("command", 1) {
            return findings.push(INLINE.at(line.place(at), &line.words[at..].join(" ")));
        }
        if is("file", 1) {
            if let Some(file) = line.words.get(at + 1).filter(|file| is_world_writable(file)) {
                findings.push(WORLD_WRITABLE.at(line.place(at + 1), file));
            }
            return;
        }
        if option.is_empty() {
            return match is_world_writable(word) {
                true => findings.push(WORLD_WRITABLE.at(line.place(at), word)),
                // Without an option it is a command, or a file by its ending.
                false if !option_file(word) => {
                    findings.push(INLINE.at(line.place(at), &line.words[at..].join(" ")))
                }
                false => {}
            };
        }
        let is_valued = [
            "executionpolicy",
            "ep",
            "windowstyle",
            "workingdirectory",
            "inputformat",
            "outputformat",
            "version",
        ]
        .iter()
        .any(|name| name.starts_with(option));
        at += if is_valued { 2 } else { 1 };
    }
}

fn option_file(word: &str) -> bool {
    word.to_ascii_lowercase().ends_with(".ps1")
}

/// A word in which something is fetched and handed to an interpreter.
fn download(line: &CommandLine<'_>) -> Option<usize> {
    let shells = [
        "sh",
        "bash",
        "zsh",
        "dash",
        "python",
        "python3",
        "node",
        "perl",
        "sudo",
        "iex",
        "invoke-expression",
    ];
    let fetches = |text: &str| {
        text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).any(|word| {
            matches!(
                word,
                "curl"
                    | "wget"
                    | "iwr"
                    | "irm"
                    | "invoke-webrequest"
                    | "invoke-restmethod"
                    | "downloadstring"
                    | "fetch"
            )
        })
    };
    let is_one = |text: &str| {
        let text = text.to_ascii_lowercase();
        let hands_over = text.split('|').skip(1).any(|after| {
            let first = after.split_whitespace().next().unwrap_or_default();
            shells.contains(&first.rsplit('/').next().unwrap_or_default())
        });
        let is_inside = [
            "$(curl",
            "$(wget",
            "<(curl",
            "<(wget",
            "`curl",
            "`wget",
            "iex (",
            "iex(",
            "iex ",
            "invoke-expression",
        ]
        .iter()
        .any(|piece| text.contains(piece));
        fetches(&text) && (hands_over || is_inside)
    };
    if let Some(at) = line.words.iter().position(|word| is_one(word)) {
        return Some(at);
    }
    // Signs that stand alone are a shell's only if one reads them.
    let reads_signs = line.is_for_cmd || matches!(line.program().as_str(), "powershell" | "pwsh");
    (reads_signs && is_one(&line.words.join(" "))).then_some(0)
}

/// Where the command begins that this one starts in its turn.
pub(super) fn handed_over(line: &CommandLine<'_>) -> Option<usize> {
    let after = |from: usize, valued: &[&str]| {
        let mut at = from;
        while let Some(word) = line.words.get(at).filter(|word| word.starts_with('-')) {
            at += if valued.contains(word) { 2 } else { 1 };
            if *word == "--" {
                break;
            }
        }
        at
    };
    match (line.program().as_str(), line.words.get(1).copied()) {
        ("uv", Some("run")) => Some(after(
            2,
            &[
                "--with",
                "--python",
                "-p",
                "--directory",
                "--project",
                "--env-file",
                "--extra",
                "--group",
                "--index-url",
            ],
        )),
        ("poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "bundle", Some("run" | "exec")) => {
            Some(after(2, &[]))
        }
        ("mise" | "direnv", Some("exec" | "x")) => Some(after(2, &[])),
        ("wsl", Some(_)) => Some(after(1, &["-d", "--distribution", "-u", "--user", "--cd"])),
        ("sudo" | "doas", Some(_)) => Some(after(1, &["-u", "-g", "--user", "--group"])),
        _ => None,
    }
}
