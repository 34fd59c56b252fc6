//! The demonstration, startable from the app: the `callgate` program plays it against the real gate.

use std::path::PathBuf;

use crate::Desk;

/// How to start something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// For the environment: which home is meant.
    pub home: PathBuf,
}

impl Desk {
    /// Where the `callgate` program is: installed in the home, or else beside this one.
    pub fn program(&self) -> PathBuf {
        let name = format!("callgate{}", std::env::consts::EXE_SUFFIX);
        let installed = self.home.path().join("bin").join(&name);
        let beside =
            || Some(std::env::current_exe().ok()?.with_file_name(&name)).filter(|path| path.is_file());
        if installed.is_file() { installed } else { beside().unwrap_or(installed) }
    }

    /// What plays the demonstration: some fifty live calls, marked as such, over after a few seconds. Set
    /// `CALLGATE_HOME` to `home`; its output is for nobody.
    pub fn demo(&self) -> Program {
        let args = vec!["demo".to_owned(), "--live".to_owned()];
        Program { program: self.program(), args, home: self.home.path().to_owned() }
    }
}
