//! What a server's command says about which code it starts, looked at before somebody protects or adds it: code on the command
//! line itself, variables that load more, containers that are none, packages that may be another tomorrow.
//!
//! Pure: the text of an entry and nothing else. Nothing is changed by it; each finding has a fix in words.

pub(crate) mod command_line;
mod containers;
mod inline;
mod packages;
mod variables;

use serde::Serialize;

use self::command_line::CommandLine;
use crate::words::cut;

/// The most of a word that is quoted.
const QUOTE: usize = 160;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LaunchGravity {
    /// As nearly everybody has it; worth knowing.
    Note,
    /// More runs, or reaches further, than the entry seems to say.
    Warning,
}

/// One thing about how a server is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchFinding {
    /// Stable: `inline-code`, `preload-variable` …
    pub code: &'static str,
    pub gravity: LaunchGravity,
    /// `command`, `args/2`, `env/NODE_OPTIONS`.
    pub place: String,
    /// The word, or the variable with its value: it may hold a secret.
    pub quote: String,
    pub words: &'static str,
    pub fix: &'static str,
}

/// Everything that is to be said of one entry, in the order of its words.
pub fn launch<'a>(
    command: &'a str,
    args: &[&'a str],
    env: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<LaunchFinding> {
    let mut words = vec![command];
    words.extend(args);
    let mut findings = Vec::new();
    let line = CommandLine::read(&words);
    of_line(&line, &mut findings);
    let own = line.variables.iter().map(|(at, name, value)| (place_of(*at), *name, *value));
    let of_entry = env.into_iter().map(|(name, value)| (format!("env/{name}"), name, value));
    for (place, name, value) in own.chain(of_entry) {
        variables::look(&place, name, value, &mut findings);
    }
    findings
}

/// A command and those that it hands over to: `uv run python -c …`, `wsl bash -c …`.
fn of_line(line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
    inline::look(line, findings);
    containers::look(line, findings);
    packages::look(line, findings);
    if let Some(at) = inline::handed_over(line).filter(|at| *at < line.words.len() && *at > 0) {
        let mut inner = CommandLine::read(&line.words[at..]);
        inner.skipped += line.skipped + at;
        of_line(&inner, findings);
    }
}

impl CommandLine<'_> {
    fn place(&self, at: usize) -> String {
        place_of(self.skipped + at)
    }
}

/// By the number of a word, the program's being 0.
fn place_of(at: usize) -> String {
    match at {
        0 => "command".to_owned(),
        at => format!("args/{}", at - 1),
    }
}

/// A kind of findings: what is said each time.
struct Kind {
    code: &'static str,
    gravity: LaunchGravity,
    words: &'static str,
    fix: &'static str,
}

impl Kind {
    fn at(&self, place: String, quote: &str) -> LaunchFinding {
        LaunchFinding {
            code: self.code,
            gravity: self.gravity,
            place,
            quote: cut(quote, QUOTE).to_owned(),
            words: self.words,
            fix: self.fix,
        }
    }
}

const WORLD_WRITABLE: Kind = Kind {
    code: "world-writable-folder",
    gravity: LaunchGravity::Warning,
    words: "It runs a program from a folder in which every user and program of this machine can write.",
    fix: "Put the program into a folder of your own, and name it there.",
};

/// A folder for everybody's files. Of a person's own temporary folder nothing is said.
pub(crate) fn is_world_writable(path: &str) -> bool {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let below = |path: &str, folders: &[&str]| {
        folders.iter().any(|folder| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let in_drive = path.get(1..).and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
    below(
        &path,
        &["/tmp", "/var/tmp", "/dev/shm", "/run/shm", "/private/tmp", "/private/var/tmp", "%public%"],
    ) || below(in_drive, &["/windows/temp", "/users/public", "/temp", "/tmp"])
}

/// The registries that everybody looks at, by their whole address.
fn is_public_registry(address: &str) -> bool {
    let host =
        address.strip_prefix("https://").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    matches!(host, Some("registry.npmjs.org" | "registry.yarnpkg.com" | "pypi.org"))
}
