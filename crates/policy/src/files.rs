//! What a judgement may ask the disk: where a path really leads. The policy itself never looks; it is given somebody who
//! does, so that a call is judged the same way in a session, in a simulation and in a test.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// How paths are written, whatever machine this runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// `/a/b`; a backslash is a character like any other.
    Unix,
    /// `C:\a\b`, `\\server\share\a`; both slashes separate.
    Windows,
}

impl Flavour {
    /// Of the machine that this was built for.
    pub const NATIVE: Flavour = if cfg!(windows) { Flavour::Windows } else { Flavour::Unix };
}

pub trait Files: Debug {
    /// Where an absolute path leads: `..` and links followed in the order in which they are written, as far as the path
    /// exists, the rest appended. An error in words when that cannot be told (a loop, a folder that may not be read);
    /// such a path is judged as being nowhere.
    fn real(&self, path: &Path) -> Result<PathBuf, String>;

    /// The person's home folder, for `~`.
    fn home(&self) -> Option<PathBuf>;

    /// The folder that relative paths start from, if it is known.
    fn here(&self) -> Option<PathBuf>;

    /// Are two names that differ only in case the same file?
    fn folds_case(&self) -> bool;

    fn flavour(&self) -> Flavour {
        Flavour::NATIVE
    }
}

/// Paths as they are written: nothing is a link, nothing is known of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsWritten;

impl Files for AsWritten {
    fn real(&self, path: &Path) -> Result<PathBuf, String> {
        Ok(path.to_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn here(&self) -> Option<PathBuf> {
        None
    }

    fn folds_case(&self) -> bool {
        cfg!(any(windows, target_os = "macos"))
    }
}
