//! Command lines as runners read them: which program, behind what only stands before it, and which package it is told to run.
//!
//! Only the place where a runner takes its package counts. The same word anywhere else is an argument, and says nothing.

use std::borrow::Cow;

/// A command without what only stands before it: `env A=b`, `cmd /c`, `nohup`.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine<'a> {
    /// The words from the program on.
    pub(crate) words: Vec<&'a str>,
    /// How many words stood before.
    pub(crate) skipped: usize,
    /// Set on the command line itself.
    pub(crate) variables: Vec<(usize, &'a str, &'a str)>,
    /// It is handed to a shell of Windows, which reads signs of its own in it.
    pub(crate) is_for_cmd: bool,
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registry {
    Npm,
    PyPi,
    Image,
}

/// How its code comes to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Looked up at each start.
    Fetched,
    /// It lies where packages are installed.
    Installed,
    /// By the name of its program, wherever that is; `name` is then the program's.
    Program,
}

/// The package that a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand<'a> {
    pub(crate) registry: Registry,
    /// Without its version.
    pub(crate) name: Cow<'a, str>,
    /// As it was written: `1.2.3`, `latest`, `==2.0`.
    pub(crate) version: Option<&'a str>,
    /// Which word of [`CommandLine::words`].
    pub(crate) at: usize,
    pub(crate) origin: Origin,
    /// The command says where else it comes from, what runs beside it, or which other program of it: it may be anybody's.
    pub(crate) is_altered: bool,
}

impl<'a> CommandLine<'a> {
    pub(crate) fn read(command: &[&'a str]) -> CommandLine<'a> {
        let mut at = 0;
        let mut variables = Vec::new();
        let mut is_for_cmd = false;
        while let Some(word) = command.get(at) {
            match program_name(word).as_str() {
                "env" => {
                    at += 1;
                    while let Some(word) = command.get(at) {
                        if let Some((name, value)) = word.split_once('=').filter(|_| !word.starts_with('-')) {
                            variables.push((at, name, value));
                        } else if matches!(*word, "-u" | "-C" | "--unset" | "--chdir") {
                            at += 1;
                        } else if !word.starts_with('-') {
                            break;
                        }
                        at += 1;
                    }
                }
                "cmd" => {
                    let flags = command[at + 1..].iter().take_while(|word| word.starts_with('/')).count();
                    if flags == 0 {
                        break;
                    }
                    is_for_cmd = true;
                    at += 1 + flags;
                }
                "nohup" | "winpty" => at += 1,
                _ => break,
            }
        }
        let at = at.min(command.len());
        CommandLine { words: command[at..].to_vec(), skipped: at, variables, is_for_cmd }
    }

    /// The name of the program: no folder, no ending that only Windows writes, small letters.
    pub(crate) fn program(&self) -> String {
        self.words.first().map(|word| program_name(word)).unwrap_or_default()
    }

    /// The package that it runs, if it is one that can be told.
    pub(crate) fn operand(&self) -> Option<Operand<'a>> {
        let words = &self.words;
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let program = self.program();
        match (program.as_str(), word(1)) {
            ("npx" | "bunx" | "pnpx", _) => npm(words, 1),
            ("npm", "exec" | "x") | ("pnpm" | "yarn", "dlx") | ("bun", "x") => npm(words, 2),
            ("uvx", _) => uv(words, 1),
            ("uv", "tool") if word(2) == "run" => uv(words, 3),
            ("pipx", "run") => pipx(words, 2),
            ("docker" | "podman" | "nerdctl", "run") => image(words, 2),
            ("docker" | "podman", "container") if word(2) == "run" => image(words, 3),
            ("node" | "bun" | "deno", _) => script(words),
            (python, _) if is_python(python) => module(words).or_else(|| script(words)),
            _ => installed(words.first()?, 0),
        }
    }
}

pub(crate) fn program_name(word: &str) -> String {
    let file = word.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".ps1"];
    endings.iter().find_map(|end| file.strip_suffix(end)).unwrap_or(&file).to_owned()
}

/// `python`, `python3.12`, `pypy3`, `py`.
pub(crate) fn is_python(program: &str) -> bool {
    program == "py"
        || ["python", "pypy"].iter().any(|name| {
            program
                .strip_prefix(name)
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        })
}

/// What the options before the operand of a runner are.
struct Options {
    /// Those with a value in the next word.
    valued: &'static [&'static str],
    /// Those that name the package.
    package: &'static [&'static str],
    /// Those after which it is another's code, or more than one's.
    altering: &'static [&'static str],
}

/// What the options say, and where the operand stands.
struct OptionsRead<'a> {
    packages: Vec<(usize, &'a str)>,
    is_altered: bool,
    at: usize,
}

impl Options {
    fn read<'a>(&self, words: &[&'a str], from: usize) -> OptionsRead<'a> {
        let mut read = OptionsRead { packages: Vec::new(), is_altered: false, at: from };
        while let Some(word) = words.get(read.at).filter(|word| word.starts_with('-')) {
            let (name, value) =
                word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
            let at = read.at;
            read.at += 1;
            if *word == "--" {
                break;
            }
            let (names, alters) = (self.package.contains(&name), self.altering.contains(&name));
            let takes_next = value.is_none() && (names || alters || self.valued.contains(&name));
            let next = if takes_next { words.get(read.at).copied() } else { None };
            read.at += usize::from(takes_next);
            read.is_altered |= alters;
            if names && let Some(package) = value.or(next) {
                read.packages.push((at + usize::from(value.is_none()), package));
            }
        }
        read
    }
}

const NPM: Options = Options {
    valued: &["-w", "--workspace", "--cache", "--loglevel", "--prefix", "--shell", "-C", "--dir"],
    package: &["-p", "--package"],
    altering: &[
        "--registry",
        "--userconfig",
        "--globalconfig",
        "-c",
        "--call",
        "--node-options",
        "--script-shell",
        "--shell-mode",
    ],
};
const UV: Options = Options {
    valued: &[
        "-p",
        "--python",
        "--directory",
        "--project",
        "--color",
        "--cache-dir",
        "--link-mode",
        "--refresh-package",
        "--exclude-newer",
    ],
    package: &["--from"],
    altering: &[
        "--index",
        "--default-index",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--with",
        "-w",
        "--with-editable",
        "--with-requirements",
        "-c",
        "--constraints",
        "--overrides",
        "--config-file",
        "--env-file",
        "--build-constraints",
    ],
};
const PIPX: Options = Options {
    valued: &["--python", "--suffix"],
    package: &["--spec"],
    altering: &["--index-url", "-i", "--pip-args", "--with", "--path"],
};

fn npm<'a>(words: &[&'a str], from: usize) -> Option<Operand<'a>> {
    let read = NPM.read(words, from);
    let (at, text) = match read.packages[..] {
        [] => (read.at, *words.get(read.at)?),
        [only] => only,
        [first, ..] => {
            let mut operand = npm_package(first.1, first.0)?;
            operand.is_altered = true;
            return Some(operand);
        }
    };
    let mut operand = npm_package(text, at)?;
    // `-p package program`: a program of another name may be anybody's that is on the path.
    let runs = words.get(read.at).copied().unwrap_or_default();
    operand.is_altered |= read.is_altered || (!read.packages.is_empty() && runs != last_part(&operand.name));
    Some(operand)
}

/// `name@version`; a scope has an `@` of its own.
fn npm_package(text: &str, at: usize) -> Option<Operand<'_>> {
    let text = text.strip_prefix("npm:").or_else(|| text.strip_prefix("github:")).unwrap_or(text);
    let scope = usize::from(text.starts_with('@'));
    let (name, version) = match text[scope..].find(['@', '#']) {
        Some(end) => (&text[..scope + end], Some(&text[scope + end + 1..])),
        None => (text, None),
    };
    let is_altered = version.is_some_and(is_reference) || name.contains(':') || name.starts_with('.');
    let is_path = name.starts_with(['/', '.', '~']) || name.contains('\\');
    (!name.is_empty() && !is_path).then_some(Operand {
        registry: Registry::Npm,
        name: name.into(),
        version: version.filter(|version| !version.is_empty()),
        at,
        origin: Origin::Fetched,
        is_altered,
    })
}

fn uv<'a>(words: &[&'a str], from: usize) -> Option<Operand<'a>> {
    let read = UV.read(words, from);
    python_runner(words, &read)
}

fn pipx<'a>(words: &[&'a str], from: usize) -> Option<Operand<'a>> {
    let read = PIPX.read(words, from);
    python_runner(words, &read)
}

fn python_runner<'a>(words: &[&'a str], read: &OptionsRead<'a>) -> Option<Operand<'a>> {
    let runs = *words.get(read.at)?;
    let (at, text) = read.packages.last().copied().unwrap_or((read.at, runs));
    let mut operand = python_package(text, at)?;
    operand.is_altered |= read.is_altered
        || (!read.packages.is_empty()
            && same_python(python_package(runs, 0)?.name.as_ref()) != same_python(&operand.name));
    Some(operand)
}

/// `name[extra]==1.0`, `name@1.0`, `name @ git+https://…`.
fn python_package(text: &str, at: usize) -> Option<Operand<'_>> {
    let end =
        text.find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extra) => extra.split_once(']')?.1.trim_start(),
        None => rest,
    };
    let is_version = rest.is_empty() || rest.starts_with(['@', '=', '<', '>', '~', '!']);
    let version = rest.strip_prefix('@').map(str::trim).unwrap_or(rest);
    (!name.is_empty() && !name.starts_with('.') && is_version).then_some(Operand {
        registry: Registry::PyPi,
        name: name.into(),
        version: Some(version).filter(|version| !version.is_empty()),
        at,
        origin: Origin::Fetched,
        is_altered: is_reference(version),
    })
}

/// Not a version, but where else the code lies.
fn is_reference(version: &str) -> bool {
    version.contains([':', '/', '\\'])
}

/// PyPI takes `My.Name_x` and `my-name-x` for one.
pub(crate) fn same_python(name: &str) -> String {
    let mut same = String::with_capacity(name.len());
    for letter in name.chars() {
        let letter = if matches!(letter, '_' | '.') { '-' } else { letter.to_ascii_lowercase() };
        if letter != '-' || !same.ends_with('-') {
            same.push(letter);
        }
    }
    same
}

/// `python -m module`; what stands before `-m` decides nothing of it.
fn module<'a>(words: &[&'a str]) -> Option<Operand<'a>> {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        if *word == "-m" {
            let name = *words.get(at + 1)?;
            let whole = name.split('.').next().unwrap_or(name);
            return Some(Operand {
                registry: Registry::PyPi,
                name: whole.into(),
                version: None,
                at: at + 1,
                origin: Origin::Installed,
                is_altered: false,
            });
        }
        if word.starts_with("-c") {
            return None;
        }
        at += if matches!(*word, "-X" | "-W" | "--check-hash-based-pycs") { 2 } else { 1 };
    }
    None
}

/// The file that an interpreter is given: a package's only where packages are installed.
fn script<'a>(words: &[&'a str]) -> Option<Operand<'a>> {
    let start = if words.get(1) == Some(&"run") { 2 } else { 1 };
    let mut is_altered = false;
    for (at, word) in words.iter().enumerate().skip(start) {
        if !word.starts_with('-') {
            if let Some(package) = word.strip_prefix("npm:").and_then(|_| npm_package(word, at)) {
                return Some(package);
            }
            let mut operand = installed(word, at)?;
            operand.is_altered |= is_altered;
            return Some(operand);
        }
        // What is loaded before it, or in its place, may do anything in its name.
        let flag = word.split('=').next().unwrap_or(word);
        is_altered |= matches!(
            flag,
            "-r" | "--require"
                | "--import"
                | "--loader"
                | "--experimental-loader"
                | "-e"
                | "--eval"
                | "-p"
                | "--print"
                | "-c"
                | "--preload"
        );
    }
    None
}

/// `…/node_modules/package/cli.js`, `…/node_modules/.bin/program`, `…/site-packages/package/server.py`, or a program by its bare name.
fn installed<'a>(word: &'a str, at: usize) -> Option<Operand<'a>> {
    let operand = |registry, origin, name: String| Operand {
        registry,
        name: name.into(),
        version: None,
        at,
        origin,
        is_altered: false,
    };
    let in_node = |name: String| Some(operand(Registry::Npm, Origin::Installed, name));
    let path = word.replace('\\', "/");
    if path.split('/').any(|part| part == "..") {
        return None;
    }
    if let Some((_, inside)) = path.rsplit_once("/node_modules/") {
        let parts: Vec<&str> = inside.split('/').collect();
        return match parts[..] {
            [".bin", program] => Some(operand(Registry::Npm, Origin::Program, program_name(program))),
            [scope, name, _, ..] if scope.starts_with('@') => in_node(format!("{scope}/{name}")),
            [name, _, ..] if !name.starts_with(['@', '.']) => in_node(name.to_owned()),
            _ => None,
        };
    }
    if let Some((_, inside)) = path
        .rsplit_once("-packages/")
        .filter(|(before, _)| before.ends_with("/site") || before.ends_with("/dist"))
    {
        let name = inside.split('/').next().filter(|name| *name != inside)?;
        return Some(operand(Registry::PyPi, Origin::Installed, name.to_owned()));
    }
    // By whatever is first on the path: what a person installed under its name.
    (at == 0 && !path.contains('/')).then(|| operand(Registry::Npm, Origin::Program, program_name(word)))
}

/// Options of `docker run` that stand alone; every other one takes the next word unless it has an `=`.
const ALONE: &[&str] = &[
    "-d",
    "--detach",
    "-i",
    "--interactive",
    "-t",
    "--tty",
    "-it",
    "-ti",
    "--rm",
    "--init",
    "--privileged",
    "-P",
    "--publish-all",
    "--read-only",
    "--no-healthcheck",
    "--oom-kill-disable",
    "-q",
    "--quiet",
    "--sig-proxy",
    "--disable-content-trust",
    "-dit",
    "-itd",
    "--help",
    "--replace",
    "--tls-verify",
];

fn image<'a>(words: &[&'a str], from: usize) -> Option<Operand<'a>> {
    let mut at = from;
    let mut is_altered = false;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        is_altered |= matches!(word.split('=').next(), Some("--entrypoint"));
        let joined = word.len() > 2
            && !word.starts_with("--")
            && word.starts_with(['-'])
            && "evpwulmahc".contains(&word[1..2]);
        at += if ALONE.contains(word) || word.contains('=') || joined { 1 } else { 2 };
    }
    let text = *words.get(at)?;
    let (whole, digest) = text.split_once('@').map_or((text, None), |(whole, digest)| (whole, Some(digest)));
    // A colon before the last slash is that of a port.
    let slash = whole.rfind('/').map_or(0, |slash| slash + 1);
    let (name, tag) = match whole[slash..].find(':') {
        Some(colon) => (&whole[..slash + colon], Some(&whole[slash + colon + 1..])),
        None => (whole, None),
    };
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    Some(Operand {
        registry: Registry::Image,
        name: name.into(),
        version: digest.or(tag),
        at,
        origin: Origin::Fetched,
        is_altered,
    })
}

/// A package's name without its scope.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
