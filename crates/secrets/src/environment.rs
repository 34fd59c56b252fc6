//! What decides, besides the command, which code a start runs: the folders of `PATH`, and variables that have a loader or an
//! interpreter load more than the program.
//!
//! A copied reference is tried with the very command that it is for, and an `env` that turns that command into another. So the
//! item remembers which of these the entry set itself. The gate sees one environment, of which most came with the client and may
//! change at any time; what a process above the gate has as well came with the client, and is nobody's doing in the file.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use callgate_text::hex;
use sha2::{Digest as _, Sha256};

const PATH: &str = "PATH";

/// What a variable does to whatever is started with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Influence {
    /// Code of its own is loaded, whatever it says.
    Loads,
    /// It names a file that a shell runs first; of other programs it may be anything.
    LoadsFile,
    /// Options of an interpreter, of which some load code.
    Options,
    /// Folders in which code is looked for.
    Searched,
    /// Where packages come from.
    Source,
    /// Whether the other end of a connection is checked.
    Unchecked,
    /// The loader writes down what it does; which code runs stays the same.
    Traced,
    /// It decides something of the kind in one way or another.
    Decides,
}

/// Variables of one influence: whole names; compared without regard to case, as Windows and npm do.
const TABLE: &[(Influence, &[&str])] = &[
    (Influence::Loads, &["BASH_ENV", "PYTHONSTARTUP", "ZDOTDIR"]),
    (Influence::LoadsFile, &["ENV"]),
    (
        Influence::Options,
        &[
            "BUN_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "NODE_OPTIONS",
            "PERL5OPT",
            "RUBYOPT",
            "_JAVA_OPTIONS",
            "NPM_CONFIG_NODE_OPTIONS",
        ],
    ),
    (
        Influence::Searched,
        &["CLASSPATH", "DENO_DIR", "NODE_PATH", "PERL5LIB", "PYTHONHOME", "PYTHONPATH", "RUBYLIB"],
    ),
    (
        Influence::Source,
        &[
            "NPM_CONFIG_REGISTRY",
            "PIP_EXTRA_INDEX_URL",
            "PIP_FIND_LINKS",
            "PIP_INDEX_URL",
            "UV_DEFAULT_INDEX",
            "UV_EXTRA_INDEX_URL",
            "UV_FIND_LINKS",
            "UV_INDEX",
            "UV_INDEX_URL",
        ],
    ),
    (Influence::Unchecked, &["NODE_TLS_REJECT_UNAUTHORIZED"]),
    (Influence::Decides, &["NODE_EXTRA_CA_CERTS"]),
    (Influence::Traced, &["LD_DEBUG", "LD_DEBUG_OUTPUT"]),
];
const BEGINNINGS: &[&str] = &["NPM_CONFIG_", "PIP_"];

/// Those that the system's loader, or its library, heeds in whatever program it starts, a gate included.
const LOADERS: &[(Influence, &[&str])] = &[
    (Influence::Loads, &["GCONV_PATH", "LD_AUDIT", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES"]),
    (Influence::Searched, &["LD_LIBRARY_PATH"]),
];
const LOADER_BEGINNINGS: &[&str] = &["DYLD_"];

/// Does this variable have code loaded into any program that is started with it?
pub fn loads_into_any_program(name: &str) -> bool {
    of_loader(&name.to_ascii_uppercase()).is_some()
}

/// What a variable does to a start, by its name; none for one that decides nothing of the kind. `PATH` is apart.
pub fn influence(name: &str) -> Option<Influence> {
    let name = name.to_ascii_uppercase();
    of_loader(&name).or_else(|| in_table(TABLE, &name)).or_else(|| {
        // `NPM_CONFIG_@mine:registry`: of one scope.
        let is_registry = name.starts_with("NPM_CONFIG_@") && name.ends_with(":REGISTRY");
        let begins = BEGINNINGS.iter().any(|begin| name.starts_with(begin));
        begins.then_some(if is_registry { Influence::Source } else { Influence::Decides })
    })
}

fn of_loader(name: &str) -> Option<Influence> {
    in_table(LOADERS, name).or_else(|| {
        LOADER_BEGINNINGS.iter().any(|begin| name.starts_with(begin)).then_some(Influence::Searched)
    })
}

fn in_table(table: &[(Influence, &[&str])], name: &str) -> Option<Influence> {
    table.iter().find(|(_, names)| names.contains(&name)).map(|(influence, _)| *influence)
}

fn decides(name: &str) -> bool {
    influence(name).is_some_and(|influence| influence != Influence::Traced)
}

fn is_path(name: &OsStr) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(PATH) } else { name == PATH }
}

/// Those of an entry, as digests: a keychain's item is no place for whole paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings(BTreeSet<String>);

/// For none; an item has something in every place of its first line.
const NONE: &str = "-";

impl Surroundings {
    /// By an entry's own variables.
    pub fn of<'a>(env: impl IntoIterator<Item = (&'a str, &'a str)>) -> Surroundings {
        let mut digests = BTreeSet::new();
        for (name, value) in env {
            if is_path(name.as_ref()) {
                digests.extend(std::env::split_paths(value).map(|folder| of_folder(&folder)));
            } else if decides(name) {
                digests.insert(digest(name.as_ref(), value.as_ref()));
            }
        }
        Surroundings(digests)
    }

    /// Whether a variable is remembered whole. A `PATH` is so folder by folder, as far as its client does not fill it in.
    pub fn is_about(name: &str) -> bool {
        decides(name)
    }

    /// Whether there is nothing in the other that is not here.
    pub fn covers(&self, other: &Surroundings) -> bool {
        other.0.is_subset(&self.0)
    }

    pub(crate) fn text(&self) -> String {
        if self.0.is_empty() { NONE.to_owned() } else { Vec::from_iter(self.0.iter().cloned()).join(",") }
    }

    pub(crate) fn parse(text: &str) -> Option<Surroundings> {
        let good = |part: &str| part.len() == DIGEST && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let parts = || text.split(',').filter(|_| text != NONE);
        parts().all(good).then(|| Surroundings(parts().map(str::to_owned).collect()))
    }
}

/// In hexadecimal digits. Half of a hash is more than anybody can match.
const DIGEST: usize = 32;

fn digest(name: &OsStr, value: &OsStr) -> String {
    let mut hash = Sha256::new_with_prefix(b"callgate variable 1");
    let name = name.as_encoded_bytes();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    hash.update(value.as_encoded_bytes());
    let mut digest = hex(&hash.finalize());
    digest.truncate(DIGEST);
    digest
}

fn of_folder(folder: &std::path::Path) -> String {
    digest(PATH.as_ref(), folder.as_os_str())
}

/// Variables by name.
pub type Environment = Vec<(OsString, OsString)>;

/// What of a start's environment may have come from a client's file: no process above it has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strange {
    variables: Environment,
    folders: Vec<PathBuf>,
}

impl Strange {
    pub fn of(own: &[(OsString, OsString)], above: &[Environment]) -> Strange {
        let mut strange = Strange::default();
        let inherited =
            |variable: &(OsString, OsString)| above.iter().flatten().any(|other| other == variable);
        for variable in own {
            let (name, value) = variable;
            if is_path(name) {
                let known: BTreeSet<_> = above.iter().flatten().filter(|(name, _)| is_path(name)).collect();
                let known: BTreeSet<_> =
                    known.iter().flat_map(|(_, path)| std::env::split_paths(path)).collect();
                strange.folders.extend(std::env::split_paths(value).filter(|folder| !known.contains(folder)));
            } else if name.to_str().is_some_and(decides) && !inherited(variable) {
                strange.variables.push(variable.clone());
            }
        }
        strange
    }

    /// Folders of `PATH`.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// A person's shell has these folders: they are theirs.
    pub fn but_for(&mut self, path: &OsStr) {
        let known: BTreeSet<_> = std::env::split_paths(path).collect();
        self.folders.retain(|folder| !known.contains(folder));
    }

    /// A variable that the entry did not set, or not so, when its secret was stored.
    pub(crate) fn variable(&self, stored: &Surroundings) -> Option<&OsStr> {
        let unknown = self.variables.iter().find(|(name, value)| !stored.0.contains(&digest(name, value)));
        unknown.map(|(name, _)| name.as_os_str())
    }

    /// The same of folders.
    pub(crate) fn folders_unknown_to<'a>(
        &'a self,
        stored: &'a Surroundings,
    ) -> impl Iterator<Item = &'a PathBuf> {
        self.folders.iter().filter(|folder| !stored.0.contains(&of_folder(folder)))
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn what_a_process_above_has_is_not_strange_and_what_decides_nothing_is_not_either() {
        let above =
            [env(&[("PATH", "/usr/bin:/bin"), ("LD_PRELOAD", "/lib/a.so")]), env(&[("PATH", "/opt")])];
        let own = env(&[("PATH", "/opt:/bin"), ("LD_PRELOAD", "/lib/a.so"), ("TOKEN", "x"), ("LANG", "C")]);
        assert_eq!(Strange::of(&own, &above), Strange::default());
        let own =
            env(&[("PATH", "/evil:/bin"), ("LD_PRELOAD", "/evil.so"), ("npm_config_registry", "http://e")]);
        let mut strange = Strange::of(&own, &above);
        assert_eq!(strange.folders(), [PathBuf::from("/evil")]);
        assert_eq!(strange.variables.len(), 2);
        strange.but_for("/home/bin:/evil".as_ref());
        assert!(strange.folders().is_empty());
    }

    #[test]
    fn what_the_entry_had_when_the_secret_was_stored_is_its_own_and_nothing_else() {
        let own = env(&[("PATH", "/mine:/bin"), ("NODE_OPTIONS", "--require /mine.js")]);
        let strange = Strange::of(&own, &[]);
        let stored =
            Surroundings::of([("PATH", "${env:PATH}:/mine"), ("NODE_OPTIONS", "--require /mine.js")]);
        assert_eq!(strange.variable(&stored), None);
        assert_eq!(strange.folders_unknown_to(&stored).collect::<Vec<_>>(), [&PathBuf::from("/bin")]);
        for other in [
            Surroundings::default(),
            Surroundings::of([("NODE_OPTIONS", "--require /other.js")]),
            Surroundings::of([("NODE_PATH", "--require /mine.js"), ("PATH", "--require /mine.js")]),
        ] {
            assert_eq!(strange.variable(&other).unwrap(), "NODE_OPTIONS");
        }
    }

    #[test]
    fn what_a_library_loads_for_any_program_counts_for_the_gate_and_a_trace_does_not() {
        for name in
            ["LD_PRELOAD", "gconv_path", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH"]
        {
            assert!(loads_into_any_program(name) && Surroundings::is_about(name), "{name}");
        }
        for name in ["NODE_OPTIONS", "npm_config_node_options", "npm_config_@mine:registry", "PIP_PROXY"] {
            assert!(!loads_into_any_program(name) && Surroundings::is_about(name), "{name}");
        }
        assert!(!Surroundings::is_about("LD_DEBUG") && influence("LD_DEBUG") == Some(Influence::Traced));
        assert_eq!(influence("LANG"), None);
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        for stored in
            [Surroundings::default(), Surroundings::of([("PATH", "/a:/b"), ("ENV", "x"), ("A", "b")])]
        {
            assert_eq!(Surroundings::parse(&stored.text()), Some(stored));
        }
        for bad in ["", "x", "-,-", "0123"] {
            assert_eq!(Surroundings::parse(bad), None, "{bad}");
        }
    }
}
