//! The programs that entries start: found as the gate will find them, and by which `PATH`.
//!
//! A client hands its own `PATH` on, which nobody else knows. Started from a desktop it may be as little as the system's own,
//! so that is what is looked in first; what it lacks, the gate looks for where the login shell and the version managers have
//! it. A program that only this terminal has is one that a client may not find.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_clients::survey::{Entry, entries};
use callgate_home::Home;
use callgate_programs::ask_version;
use callgate_supervise::{find, login_path, wider_path};
use callgate_text::{clip, harmless, name};
use callgate_wiring::{display, masker};

use super::entries::whose;
use super::{Area, Code, Finding, Gravity, Visit};

/// As the gate has it.
const SHELL: Duration = Duration::from_secs(3);
/// The oldest Node.js that today's servers run on.
const OLDEST_NODE: u64 = 18;
/// Servers in one sentence.
const NAMED: usize = 4;

/// A program as entries name it, with the `PATH` that they set for it.
type NamedProgram<'v> = (&'v str, Option<&'v str>);

pub(super) fn check(visit: &Visit<'_>) -> Vec<Finding> {
    let mut wanted: BTreeMap<NamedProgram<'_>, Vec<&Entry>> = BTreeMap::new();
    for entry in entries(&visit.clients.surveyed) {
        let Some(local) = entry.local() else { continue };
        let path = local.env.iter().find(|(name, _)| name == "PATH").map(|(_, text)| text.value.as_str());
        wanted.entry((&local.program.value, path)).or_default().push(entry);
    }
    let paths = Paths::new(visit.checkup.home, &visit.clients.machine.home);
    let mut found: Vec<Finding> = Vec::new();
    for (named, users) in &wanted {
        let search = Search { paths: &paths, home: &visit.clients.machine.home, named: *named, users };
        found.extend(search.findings());
    }
    found
}

/// What a program is looked for in.
struct Paths<'h> {
    /// The least that a client hands on.
    least: OsString,
    terminal: OsString,
    person: &'h Path,
    /// What the gate kept of the shell's answer.
    kept: Option<OsString>,
    /// The shell's own answer; it is asked only if it matters, and once.
    asked: OnceCell<Option<OsString>>,
}

impl<'h> Paths<'h> {
    fn new(home: &Home, person: &'h Path) -> Paths<'h> {
        let terminal = std::env::var_os("PATH").unwrap_or_default();
        let least = if cfg!(windows) { terminal.clone() } else { "/usr/bin:/bin:/usr/sbin:/sbin".into() };
        let kept = std::fs::read_to_string(home.login_path()).ok().map(OsString::from);
        Paths { least, terminal, person, kept, asked: OnceCell::new() }
    }

    fn login(&self, has: &dyn Fn(&OsStr) -> bool) -> Option<OsString> {
        let kept = self.kept.clone().filter(|kept| has(kept));
        kept.or_else(|| self.asked.get_or_init(|| login_path(SHELL)).clone())
    }

    /// The program by the gate's search, with the `PATH` that its server gets, and by which part of that.
    fn search(&self, program: &str, own: Option<&str>) -> Option<(PathBuf, OsString, &'static str)> {
        let program = OsStr::new(program);
        let client = own.map_or_else(|| self.least.clone(), OsString::from);
        if let Some(file) = find(program, &client) {
            let by = match own {
                _ if Path::new(program).is_absolute() => "its whole path",
                Some(_) => "the PATH of its entry",
                None => "the system's PATH",
            };
            return Some((file, client, by));
        }
        let mut by = "where version managers put programs";
        let wider = wider_path(program, Some(&client), self.person, |has| {
            let login = self.login(has);
            if login.as_deref().is_some_and(has) {
                by = "your login shell's PATH";
            }
            login
        })?;
        Some((find(program, &wider)?, wider, by))
    }
}

/// One program, and who starts it.
struct Search<'v> {
    paths: &'v Paths<'v>,
    home: &'v Path,
    named: NamedProgram<'v>,
    users: &'v [&'v Entry],
}

impl Search<'_> {
    fn findings(&self) -> Vec<Finding> {
        let (program, own) = self.named;
        if let Some(why) = unclear(program) {
            let what = format!("{} for {}: {why}", self.program(), self.users());
            return vec![self.finding(Code::ProgramUnclear, Gravity::Note, &what)];
        }
        match self.paths.search(program, own) {
            Some((file, path, by)) => {
                let what = format!("{} is {}, by {by}", self.program(), self.shown(&file));
                let found = self.finding(Code::ProgramOk, Gravity::Ok, &what);
                std::iter::once(found).chain(self.node(program, &file, &path)).collect()
            }
            None => vec![self.missing(program)],
        }
    }

    fn missing(&self, program: &str) -> Finding {
        let who = self.users();
        if Path::new(program).is_absolute() {
            let what = format!("{} is not a program that can be run, so {who} cannot start", self.program());
            let finding = self.finding(Code::ProgramMissing, Gravity::Problem, &what);
            return finding.by("Install it there, or mend the path in the client's file.");
        }
        if let Some(file) = find(OsStr::new(program), &self.paths.terminal) {
            let file = self.shown(&file);
            let what = format!(
                "{} is {file} by this terminal's PATH alone, so {who} may not find it",
                self.program()
            );
            let words = "Add its folder to the PATH of your login shell, or write the whole path into the client's file.";
            return self.finding(Code::ProgramOnlyHere, Gravity::Warning, &what).by(words);
        }
        let what = format!(
            "{} is nowhere to be found, so {who} cannot start. Looked in the system's PATH, the login shell's, and where version \
             managers put programs",
            self.program()
        );
        self.finding(Code::ProgramMissing, Gravity::Problem, &what).by(install(program))
    }

    /// What runs on Node.js needs one that is not too old.
    fn node(&self, program: &str, file: &Path, path: &OsStr) -> Option<Finding> {
        if !["node", "npx", "npm", "pnpm", "pnpx"].contains(&stem(program).as_str()) {
            return None;
        }
        let node = match stem(program).as_str() {
            "node" => Some(file.to_owned()),
            _ => self.node_for(program, file, path),
        };
        let Some(node) = node else {
            let what = format!(
                "{} needs Node.js, which is not found, so {} cannot start",
                self.program(),
                self.users()
            );
            return Some(self.finding(Code::NodeMissing, Gravity::Problem, &what).by(NODE));
        };
        let shown = self.shown(&node);
        let version = ask_version(&node, Some(path));
        let major =
            version.as_deref().and_then(|said| said.trim_start_matches('v').split('.').next()?.parse().ok());
        match (major, version) {
            (Some(OLDEST_NODE..), _) => None,
            (Some(_), Some(version)) => {
                let what = format!(
                    "{shown} is Node.js {}; the servers of today need {OLDEST_NODE} or newer ({})",
                    clip(&harmless(&version), 20),
                    self.users()
                );
                Some(self.finding(Code::NodeOld, Gravity::Problem, &what).by(NODE))
            }
            _ => {
                let what = format!("{shown} does not say its version ({})", self.users());
                Some(self.finding(Code::NodeSilent, Gravity::Warning, &what).by(NODE))
            }
        }
    }

    /// A script of npm asks its `PATH` for `node`. Of a program with a whole path that is the client's own, which is not known.
    fn node_for(&self, program: &str, file: &Path, path: &OsStr) -> Option<PathBuf> {
        let node = OsStr::new("node");
        let found = find(node, path);
        if !Path::new(program).is_absolute() {
            return found;
        }
        let beside = || find(node, file.parent()?.as_os_str());
        found.or_else(|| Some(self.paths.search("node", None)?.0)).or_else(beside)
    }

    fn finding(&self, code: Code, gravity: Gravity, what: &str) -> Finding {
        let finding = Finding::new(Area::Programs, code, gravity, &self.program(), what);
        // Its names are those of one client's file.
        match self.users {
            [first, rest @ ..] if rest.iter().all(|entry| entry.key.client == first.key.client) => finding
                .on_entries(
                    &first.key.client,
                    self.users.iter().map(|entry| entry.key.name.clone()).collect(),
                ),
            _ => finding,
        }
    }

    /// As the file names it, with nothing secret in it.
    fn program(&self) -> String {
        let masker = masker(self.users.iter().copied());
        name(&masker.keep_text(self.named.0))
    }

    fn users(&self) -> String {
        let some: Vec<_> = self.users.iter().take(NAMED).map(|entry| whose(entry)).collect();
        match self.users.len().saturating_sub(NAMED) {
            0 => some.join(", "),
            more => format!("{} and {more} more", some.join(", ")),
        }
    }

    fn shown(&self, path: &Path) -> String {
        clip(&display::path(self.home, path), 200)
    }
}

/// Why nobody but the client can tell which program it is.
fn unclear(program: &str) -> Option<&'static str> {
    let path = Path::new(program);
    if program.contains(['$', '%']) || program.contains("{{") {
        return Some("the client fills something in, so only it knows which program that is");
    }
    let relative = path.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) && !path.is_absolute();
    relative.then_some(
        "it is looked for from the folder that the client starts it in, which only the client knows",
    )
}

fn stem(program: &str) -> String {
    Path::new(program).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

const NODE: &str = "Install Node.js 20 or newer (https://nodejs.org), then start the client again.";

fn install(program: &str) -> &'static str {
    match stem(program).as_str() {
        "node" | "npx" | "npm" => NODE,
        "uv" | "uvx" => "Install uv (https://docs.astral.sh/uv), then start the client again.",
        "python" | "python3" | "pip" | "pipx" => {
            "Install Python 3 (https://www.python.org), then start the client again."
        }
        "docker" => "Install Docker (https://docs.docker.com), then start the client again.",
        "bun" | "bunx" => "Install Bun (https://bun.sh), then start the client again.",
        "deno" => "Install Deno (https://deno.com), then start the client again.",
        _ => "Install it, or write its whole path into the client's file.",
    }
}
