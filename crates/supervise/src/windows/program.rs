//! Where programs are: by name, with the endings that make a file a program.
//!
//! The list of endings is our own: clients have been seen to hand on a `PATHEXT` without `.EXE` in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ENDINGS: [&str; 4] = ["exe", "cmd", "bat", "com"];

/// Where version managers and package managers put programs.
pub(crate) fn places() -> &'static [&'static str] {
    &[
        "~/AppData/Roaming/npm",
        "~/AppData/Local/Volta/bin",
        "~/AppData/Roaming/fnm/aliases/default",
        "~/AppData/Local/fnm/aliases/default",
        "~/scoop/shims",
        "~/.local/bin",
        "~/.cargo/bin",
        "~/.bun/bin",
        "~/.deno/bin",
        "C:/Program Files/nodejs",
        "C:/ProgramData/chocolatey/bin",
    ]
}

/// A name to be looked up, and not a path.
pub(crate) fn is_bare(program: &OsStr) -> bool {
    !program.is_empty() && !program.to_string_lossy().contains(['/', '\\', ':'])
}

/// The file that a name stands for; a path is left to the system.
pub(super) fn find(program: &OsStr, search_path: Option<&OsStr>) -> Option<PathBuf> {
    crate::search::find(program, search_path.filter(|_| is_bare(program))?)
}

/// The file that a name stands for in this folder: `npx` is `npx.cmd`, which the system does not find by itself.
pub(crate) fn file_of(folder: &Path, program: &OsStr) -> Option<PathBuf> {
    let plain = folder.join(program);
    let has_ending =
        plain.extension().is_some_and(|own| ENDINGS.iter().any(|ending| own.eq_ignore_ascii_case(ending)));
    if has_ending && plain.is_file() {
        return Some(plain);
    }
    ENDINGS.iter().find_map(|ending| {
        let mut name = program.to_owned();
        name.push(".");
        name.push(ending);
        Some(folder.join(name)).filter(|path| path.is_file())
    })
}

/// There is no login shell here: what a person sets is set for all programs.
pub fn login_path(_limit: Duration) -> Option<OsString> {
    None
}
