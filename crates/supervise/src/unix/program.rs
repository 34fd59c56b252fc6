//! Where programs are, and why a command could not be run: looks at the disk the way `execvp` does and names what is wrong.
//!
//! The second is asked only after a failure, so that an ordinary start pays nothing for it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::ending::{StartFailure, words};

/// What `execvp` takes when `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Where version managers and package managers put programs, with `*` for the newest.
pub(crate) fn places() -> &'static [&'static str] {
    &[
        "~/.nvm/versions/node/*/bin",
        "~/.local/share/fnm/aliases/default/bin",
        "~/Library/Application Support/fnm/aliases/default/bin",
        "~/.volta/bin",
        "~/.local/share/mise/shims",
        "~/.asdf/shims",
        "~/.local/bin",
        "~/.cargo/bin",
        "~/.bun/bin",
        "~/.deno/bin",
        "~/.local/share/pnpm",
        "~/Library/pnpm",
        "~/.pyenv/shims",
        "~/go/bin",
        "~/.nix-profile/bin",
        "/opt/homebrew/bin",
        "/usr/local/bin",
        "/home/linuxbrew/.linuxbrew/bin",
        "/run/current-system/sw/bin",
        "/snap/bin",
        "/usr/bin",
    ]
}

/// A name to be looked up, and not a path.
pub(crate) fn is_bare(program: &OsStr) -> bool {
    !program.is_empty() && !program.as_bytes().contains(&b'/')
}

/// The file that a name stands for in this folder, if it may be run.
pub(crate) fn file_of(folder: &Path, program: &OsStr) -> Option<PathBuf> {
    Some(folder.join(program)).filter(|path| has_execute_bit(path))
}

pub(super) fn explain(program: &OsStr, search_path: Option<&OsStr>, error: &io::Error) -> StartFailure {
    let other = || StartFailure::Other { program: program.to_owned(), words: words(error) };
    let looked_in = search_directories(program, search_path);
    let found = first_file(program, looked_in.as_deref());
    match (error.raw_os_error(), found) {
        (Some(libc::ENOENT), None) => match looked_in {
            Some(looked_in) => StartFailure::NotFound { program: program.to_owned(), looked_in },
            None => StartFailure::NoSuchFile { path: program.into() },
        },
        (Some(libc::ENOENT), Some(path)) => match interpreter(&path) {
            Some(interpreter) => StartFailure::BadInterpreter { script: path, interpreter },
            None => StartFailure::MissingLoader { path },
        },
        (Some(libc::EACCES), Some(path)) if path.is_dir() => StartFailure::Directory { path },
        (Some(libc::EACCES), Some(path)) if !has_execute_bit(&path) => StartFailure::NotExecutable { path },
        // The script may be run but what it names may not: `#!/some/directory`, or a file without the bit.
        (Some(libc::EACCES), Some(path)) => {
            match interpreter(&path).filter(|it| !has_execute_bit(Path::new(it))) {
                Some(interpreter) => StartFailure::NotExecutable { path: interpreter.into() },
                None => StartFailure::Forbidden { path },
            }
        }
        (Some(libc::ENOEXEC), Some(path)) => StartFailure::NotAProgram { path },
        _ => other(),
    }
}

/// The directories that a bare name is looked up in; `None` for a name with a slash, which is a path.
fn search_directories(program: &OsStr, search_path: Option<&OsStr>) -> Option<Vec<PathBuf>> {
    if program.as_bytes().contains(&b'/') {
        return None;
    }
    let search_path = search_path.unwrap_or(OsStr::new(DEFAULT_PATH));
    Some(std::env::split_paths(search_path).filter(|directory| !directory.as_os_str().is_empty()).collect())
}

fn first_file(program: &OsStr, looked_in: Option<&[PathBuf]>) -> Option<PathBuf> {
    match looked_in {
        None => Some(PathBuf::from(program)).filter(|path| path.exists()),
        Some(looked_in) => {
            let found: Vec<PathBuf> = looked_in
                .iter()
                .map(|directory| directory.join(program))
                .filter(|path| path.exists())
                .collect();
            found.iter().find(|path| path.is_file() && has_execute_bit(path)).or(found.first()).cloned()
        }
    }
}

fn has_execute_bit(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The program that a script's first line names.
fn interpreter(script: &Path) -> Option<OsString> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    // A carriage return is part of the name to the kernel, and must be to us: it is the usual reason for the failure.
    let blank = |byte: &u8| matches!(*byte, b' ' | b'\t');
    let begin = line.iter().position(|byte| !blank(byte))?;
    let name = line[begin..].split(blank).next()?;
    Some(OsString::from_vec(name.to_vec()))
}
