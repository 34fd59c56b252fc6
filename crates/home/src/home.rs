//! The one folder that all processes of Callgate share: where everything is, and that it is ours alone.
//!
//! Knows paths and permissions, not what the files say.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use callgate_programs::is_callgate;

use crate::error::HomeError;
use crate::id::SessionId;
use crate::slug::slug;
use crate::{atomic, private};

mod erase;
mod in_force;

/// Layout of the home as a whole. A newer one is refused, not guessed at.
const FORMAT: u32 = 1;
pub const FOLDERS: &[&str] = &[
    "policies",
    "spool",
    "outbox",
    "leases",
    "bell",
    "control",
    "logs",
    "diagnostics",
    "tools",
    "pins",
    "trees",
];
/// A file that decides what is allowed is not read beyond this.
const MAX_PRIVATE: u64 = 4 * 1024 * 1024;
/// Where a server is named, this stands for the default policy, which is that of all servers without one of their own. No
/// server's file is called so: its name is reserved.
pub const DEFAULT_SERVER: &str = "_default";

/// `CALLGATE_HOME`, or `~/.callgate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
    unconfirmed: in_force::Unconfirmed,
}

impl Home {
    /// Where the environment says.
    pub fn locate() -> Result<Home, HomeError> {
        if let Some(path) = std::env::var_os("CALLGATE_HOME").filter(|path| !path.is_empty()) {
            return Ok(Home::at(std::path::absolute(&path).unwrap_or_else(|_| path.into())));
        }
        if let Some(home) = std::env::current_exe().ok().as_deref().and_then(Home::around) {
            return Ok(home);
        }
        std::env::home_dir()
            .filter(|home| home.is_absolute())
            .map(|home| Home::at(home.join(".callgate")))
            .ok_or(HomeError::Nowhere)
    }

    /// Where a gate keeps its record: it belongs to the home that it lies in, whatever the environment says. An entry of a
    /// client's file may set any variable, and must not move the gate to other rules by that.
    pub fn of_gate() -> Result<Home, HomeError> {
        let around = std::env::current_exe().ok().as_deref().and_then(Home::around);
        around.map_or_else(Home::locate, Ok)
    }

    /// The home that a program lies in as `bin/callgate`, or as its partner: clients start it there, and pass on no variable
    /// that would say so.
    pub fn around(program: &Path) -> Option<Home> {
        let folder = program.parent().filter(|folder| folder.ends_with("bin"))?;
        let home = Home::at(folder.parent()?);
        let is_ours = program.file_name().and_then(|name| name.to_str()).is_some_and(is_callgate);
        (is_ours && home.policies_dir().is_dir()).then_some(home)
    }

    pub fn at(path: impl Into<PathBuf>) -> Home {
        Home { path: path.into(), unconfirmed: in_force::Unconfirmed::default() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn policies_dir(&self) -> PathBuf {
        self.path.join("policies")
    }

    pub fn policy(&self, server: &str) -> PathBuf {
        self.policies_dir().join(format!("{}.json", slug(server)))
    }

    pub fn default_policy(&self) -> PathBuf {
        self.policies_dir().join(format!("{DEFAULT_SERVER}.json"))
    }

    pub fn control_dir(&self) -> PathBuf {
        self.path.join("control")
    }

    /// The key that digests of calls are sealed with.
    pub fn seal(&self) -> PathBuf {
        self.control_dir().join("seal")
    }

    pub fn paused(&self) -> PathBuf {
        self.control_dir().join("paused.json")
    }

    /// Held by whoever changes the settings, from reading them to having written them.
    pub fn settings_lock(&self) -> PathBuf {
        self.control_dir().join("settings.lock")
    }

    /// Held while the pause switch is read and written: it has one place for every server.
    pub fn paused_lock(&self) -> PathBuf {
        self.control_dir().join("paused.lock")
    }

    /// What the login shell last said its `PATH` is.
    pub fn login_path(&self) -> PathBuf {
        self.control_dir().join("login-path")
    }

    /// Held by the app as long as it runs.
    pub fn app_lock(&self) -> PathBuf {
        self.control_dir().join("app.lock")
    }

    /// What a person allows for a while.
    pub fn allowances(&self) -> PathBuf {
        self.control_dir().join("allowances.json")
    }

    /// Held while the allowances are read and written.
    pub fn allowances_lock(&self) -> PathBuf {
        self.control_dir().join("allowances.lock")
    }

    /// Another file each time that a call asks for a decision or one is made.
    pub fn approvals_bell(&self) -> PathBuf {
        self.control_dir().join("approvals.bell")
    }

    /// What a person says that tools can do.
    pub fn classes(&self) -> PathBuf {
        self.control_dir().join("classes.json")
    }

    /// Held while the classes are read and written.
    pub fn classes_lock(&self) -> PathBuf {
        self.control_dir().join("classes.lock")
    }

    /// What clients taught about how long they wait.
    pub fn patience(&self) -> PathBuf {
        self.control_dir().join("patience.json")
    }

    /// The time-outs that entries in clients' files set for their calls.
    pub fn entry_timeouts(&self) -> PathBuf {
        self.control_dir().join("timeouts.json")
    }

    pub fn patience_lock(&self) -> PathBuf {
        self.control_dir().join("patience.lock")
    }

    /// What is asked of a running session.
    pub fn requests(&self, session: SessionId) -> PathBuf {
        self.control_dir().join(format!("session-{session}.json"))
    }

    /// Calls of a running session that a person wants to be cancelled.
    pub fn cancellations(&self, session: SessionId) -> PathBuf {
        self.control_dir().join(format!("session-{session}.cancel.json"))
    }

    /// Held while a request is written.
    pub fn requests_lock(&self) -> PathBuf {
        self.control_dir().join("requests.lock")
    }

    pub fn leases_dir(&self) -> PathBuf {
        self.path.join("leases")
    }

    /// The description of a running session.
    pub fn lease(&self, session: SessionId) -> PathBuf {
        self.leases_dir().join(format!("{session}.json"))
    }

    /// The file whose lock a running session holds.
    pub fn lease_lock(&self, session: SessionId) -> PathBuf {
        self.leases_dir().join(format!("{session}.lock"))
    }

    pub fn trees_dir(&self) -> PathBuf {
        self.path.join("trees")
    }

    /// Who was seen in the process tree of a session.
    pub fn tree(&self, session: SessionId) -> PathBuf {
        self.trees_dir().join(format!("{session}.json"))
    }

    pub fn spool_dir(&self) -> PathBuf {
        self.path.join("spool")
    }

    pub fn spool(&self, session: SessionId) -> PathBuf {
        self.spool_dir().join(session.as_str())
    }

    /// What people did and the history does not have yet.
    pub fn outbox(&self) -> PathBuf {
        self.path.join("outbox")
    }

    /// What a server listed last.
    pub fn catalogue(&self, server: &str) -> PathBuf {
        self.path.join("tools").join(format!("{}.json", slug(server)))
    }

    /// Held while that is read and written.
    pub fn catalogue_lock(&self, server: &str) -> PathBuf {
        self.catalogue(server).with_extension("lock")
    }

    pub fn pins_dir(&self) -> PathBuf {
        self.path.join("pins")
    }

    /// The definitions of a server's tools that are accepted.
    pub fn pins(&self, server: &str) -> PathBuf {
        self.pins_dir().join(format!("{}.json", slug(server)))
    }

    /// Held while they are read and written.
    pub fn pins_lock(&self, server: &str) -> PathBuf {
        self.pins(server).with_extension("lock")
    }

    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// What a server wrote to its error output; what it wrote before that is beside it, as `.log.1`.
    pub fn stderr_log(&self, server: &str) -> PathBuf {
        self.logs().join(format!("{}.log", slug(server)))
    }

    /// What this program of Callgate's says about its own work, as against what servers write.
    pub fn diagnostics(&self, program: &str) -> PathBuf {
        self.path.join("diagnostics").join(format!("{program}.log"))
    }

    /// Would this file be among Callgate's own, by whatever way its path goes?
    pub fn holds(&self, file: &Path) -> bool {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (folder.canonicalize(), self.path.canonicalize()) {
            (Ok(folder), Ok(home)) => folder.starts_with(home),
            _ => false,
        }
    }

    pub fn limits_db(&self) -> PathBuf {
        self.path.join("limits.db")
    }

    pub fn history_db(&self) -> PathBuf {
        self.path.join("history.db")
    }

    /// The index of the history's words; made anew when it is lost.
    pub fn search_db(&self) -> PathBuf {
        self.path.join("search.db")
    }

    /// When somebody last looked at the log.
    pub fn looked(&self) -> PathBuf {
        self.control_dir().join("looked.json")
    }

    pub fn settings(&self) -> PathBuf {
        self.path.join("settings.json")
    }

    fn format(&self) -> PathBuf {
        self.path.join("format")
    }

    /// Has [`prepare_with`](Self::prepare_with) ever finished here? Then what is missing was lost, not never made.
    pub fn was_prepared(&self) -> bool {
        self.format().exists()
    }

    /// Makes the home the first time, and checks every time that it is ours alone.
    ///
    /// `furnish` puts into a new home what has to be there from the beginning. It is asked only when the home itself is made:
    /// what is missing later means refuse, not start over.
    pub fn prepare_with(
        &self,
        furnish: impl FnOnce(&Home) -> Result<(), HomeError>,
    ) -> Result<(), HomeError> {
        if self.path.symlink_metadata().is_err() {
            private::create_folders(&self.path).map_err(|source| self.cannot_create(&self.path, source))?;
        }
        match self.check()? {
            true => self.make_folders(),
            false => self.make(furnish),
        }
    }

    /// What [`prepare_with`](Self::prepare_with) would find wrong with a folder that is there; makes nothing. False: it is no home yet.
    pub fn check(&self) -> Result<bool, HomeError> {
        self.check_ours()?;
        match self.read_format()? {
            Some(found) if found > FORMAT => {
                Err(HomeError::Newer { path: self.format(), found, known: FORMAT })
            }
            found => Ok(found.is_some()),
        }
    }

    /// Can anything be written here? Opens a file for writing and writes nothing: cheap enough to be asked every second.
    pub fn check_writable(&self) -> io::Result<()> {
        try_lock(&self.path.join("prepare.lock")).map(drop)
    }

    fn make(&self, furnish: impl FnOnce(&Home) -> Result<(), HomeError>) -> Result<(), HomeError> {
        // Many shims start at once when a client starts: the first makes the home, the others wait for it.
        let path = self.path.join("prepare.lock");
        let lock = lock_file(&path).map_err(|source| HomeError::Write { path, source })?;
        if self.read_format()?.is_some() {
            return self.make_folders();
        }
        self.make_folders()?;
        furnish(self)?;
        // Last: it says that all of the above was there once.
        atomic::replace(&self.format(), format!("{FORMAT}\n").as_bytes())
            .map_err(|source| HomeError::Write { path: self.format(), source })?;
        drop(lock);
        Ok(())
    }

    fn make_folders(&self) -> Result<(), HomeError> {
        for folder in FOLDERS {
            let path = self.path.join(folder);
            if path.is_dir() {
                continue;
            }
            private::create_folders(&path).map_err(|source| self.cannot_create(&path, source))?;
        }
        self.check_folder(&self.policies_dir())
    }

    fn cannot_create(&self, path: &Path, source: io::Error) -> HomeError {
        HomeError::Create { path: path.to_owned(), source }
    }

    fn read_format(&self) -> Result<Option<u32>, HomeError> {
        let path = self.format();
        match fs::read_to_string(&path) {
            // An unreadable number is no reason to start over with a fresh default policy.
            Ok(text) => Ok(Some(text.trim().parse().unwrap_or(FORMAT))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(HomeError::Read { path, source }),
        }
    }

    fn check_ours(&self) -> Result<(), HomeError> {
        if let Some(why) = private::foreign_link(&self.path) {
            return Err(HomeError::Unsafe { path: self.path.clone(), why });
        }
        self.check_folder(&self.path)
    }

    fn check_folder(&self, path: &Path) -> Result<(), HomeError> {
        let meta = fs::metadata(path).map_err(|source| HomeError::Read { path: path.to_owned(), source })?;
        let why =
            if meta.is_dir() { shared_with_others(&meta) } else { Some("it is not a folder".to_owned()) };
        why.map_or(Ok(()), |why| Err(HomeError::Unsafe { path: path.to_owned(), why }))
    }
}

/// Why a file or folder is not ours alone to write, if so.
pub fn shared_with_others(meta: &Metadata) -> Option<String> {
    private::shared_with_others(meta)
}

/// A lock between processes: ours as long as this lives.
#[derive(Debug)]
#[must_use = "it is free again once this is dropped"]
pub struct Locked {
    _file: File,
}

/// Waits until nobody else edits policies. Held from reading a policy to having written it, so that of two edits at once
/// neither is lost.
pub fn lock_policies(home: &Home) -> io::Result<Locked> {
    lock_file(&home.policies_dir().join(".lock"))
}

/// The file stays: removing it would let two hold a lock on two files of one name.
pub fn lock_file(path: &Path) -> io::Result<Locked> {
    let file = private::options().write(true).create(true).truncate(false).open(path)?;
    file.lock()?;
    Ok(Locked { _file: file })
}

/// The same without waiting; none while somebody else holds it.
pub fn try_lock(path: &Path) -> io::Result<Option<Locked>> {
    let file = private::options().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Locked { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads a file that decides what is allowed: a regular file of ours, not a link, pipe or device, not too
/// large, and nobody else may write it.
pub fn read_private(path: &Path) -> io::Result<String> {
    read_private_up_to(path, MAX_PRIVATE)
}

/// The same with another ceiling.
pub fn read_private_up_to(path: &Path, most: u64) -> io::Result<String> {
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why.to_owned()));
    let file: File = private::open_no_follow(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return refuse("it is not a regular file");
    }
    if meta.len() > most {
        return refuse(&format!("it is larger than {} MiB", most >> 20));
    }
    if let Some(why) = shared_with_others(&meta) {
        return refuse(&why);
    }
    // In two reads, where it does not grow meanwhile.
    let mut text = String::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    file.take(most + 1).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
#[path = "home/tests.rs"]
mod tests;
