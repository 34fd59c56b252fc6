//! The machine as far as paths depend on it. A value, so that the paths of every system can be tested on any.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Os {
    Linux,
    Mac,
    Windows,
}

impl Os {
    pub const HERE: Os = if cfg!(windows) {
        Os::Windows
    } else if cfg!(target_os = "macos") {
        Os::Mac
    } else {
        Os::Linux
    };
}

/// A folder that has a name of its own in the table's paths, the variable that moves it, and where it is otherwise.
const NAMED: &[(&str, &str, &str)] = &[
    ("config", "XDG_CONFIG_HOME", "~/.config"),
    ("support", "", "~/Library/Application Support"),
    ("appdata", "APPDATA", "~/AppData/Roaming"),
    ("localappdata", "LOCALAPPDATA", "~/AppData/Local"),
    ("programfiles", "PROGRAMFILES", "C:/Program Files"),
];

#[derive(Clone, Debug)]
pub struct System {
    pub os: Os,
    pub home: PathBuf,
    /// The variables that paths depend on (`XDG_CONFIG_HOME`, `APPDATA`, `CODEX_HOME`, …), as far as they are set.
    pub variables: BTreeMap<String, PathBuf>,
}

impl System {
    /// This machine, for the person whose home this is.
    pub fn here(home: PathBuf) -> System {
        // On Windows they are the same however they are spelled: `ProgramFiles`.
        let named = |name: String| if cfg!(windows) { name.to_uppercase() } else { name };
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((named(name.into_string().ok()?), PathBuf::from(value))))
            .collect();
        System { os: Os::HERE, home, variables }
    }

    /// The path of a row, with `*` left in it.
    pub fn expand(&self, path: &str, project: Option<&Path>) -> Option<PathBuf> {
        let (folder, rest) = self.split(path, project)?;
        Some(rest.split('/').filter(|part| !part.is_empty()).fold(folder, |path, part| path.join(part)))
    }

    /// The same in two: a folder of this machine, in which a `*` is only a character, and the row's own way on from there.
    /// `~` is the home, `{config}` a folder of the system, `{VAR:-DEFAULT}` a variable, `{project}` the given project. Nothing, if
    /// it speaks of a project and none is given.
    pub(crate) fn split<'a>(&self, path: &'a str, project: Option<&Path>) -> Option<(PathBuf, &'a str)> {
        if let Some(inner) = path.strip_prefix('{') {
            // A default may hold slashes of its own, so the braces decide where it ends.
            let (name, rest) = inner.split_once('}')?;
            return Some((self.folder(name, project)?, rest));
        }
        if let Some(rest) = path.strip_prefix('~') {
            return Some((self.home.clone(), rest));
        }
        let (folder, name) = path.rsplit_once('/')?;
        Some((PathBuf::from(folder), name))
    }

    fn folder(&self, name: &str, project: Option<&Path>) -> Option<PathBuf> {
        if name == "project" {
            return project.map(Path::to_path_buf);
        }
        if let Some((variable, default)) = name.split_once(":-") {
            return self.variable(variable).or_else(|| self.expand(default, None));
        }
        let (_, variable, default) = NAMED.iter().find(|(named, ..)| *named == name)?;
        // The configuration folder of a Mac program that keeps to `~/.config` is there whatever a shell exports.
        let moved = if self.os == Os::Mac { None } else { self.variable(variable) };
        moved.or_else(|| self.expand(default, None))
    }

    /// Only absolute values count, as the base directory specification asks; an empty one counts as unset.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).filter(|path| self.is_absolute(path)).cloned()
    }

    fn is_absolute(&self, path: &Path) -> bool {
        match self.os {
            Os::Windows => path.to_str().is_some_and(|text| {
                text.starts_with("\\\\") || text.get(1..3).is_some_and(|s| s == ":\\" || s == ":/")
            }),
            Os::Linux | Os::Mac => path.to_str().map_or(path.is_absolute(), |text| text.starts_with('/')),
        }
    }
}
