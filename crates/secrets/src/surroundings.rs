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

/// Whole names; compared without regard to case, as Windows and npm do.
const NAMES: &[&str] = &[
    "BASH_ENV",
    "BUN_OPTIONS",
    "CLASSPATH",
    "DENO_DIR",
    "ENV",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
const BEGINNINGS: &[&str] = &["NPM_CONFIG_", "PIP_"];

/// Those of them that the system's loader heeds in whatever program it starts, a gate included.
const LOADERS: &[&str] = &["LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD"];
const LOADER_BEGINNINGS: &[&str] = &["DYLD_"];

/// Does this variable have code loaded into any program that is started with it?
pub fn loads_into_any_program(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS.contains(&&*name) || LOADER_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

fn decides(name: &str) -> bool {
    if loads_into_any_program(name) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    NAMES.contains(&&*name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
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
