//! One configuration file on the disk: read with all that has to stay as it is, and replaced without a moment in which it is
//! half there.
//!
//! Owns: links, permissions, sizes, races. Knows nothing of what the bytes mean.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod owner;
#[cfg(all(test, unix))]
mod tests;

/// Two threads of ours may write at once.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// No configuration of a client is larger; what is, is something else.
const LARGEST: u64 = 16 * 1024 * 1024;

/// A file as it was at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Where the bytes really are: links followed.
    pub target: PathBuf,
    pub bytes: Vec<u8>,
    /// None: there was no file.
    metadata: Option<Metadata>,
}

impl Snapshot {
    pub fn exists(&self) -> bool {
        self.metadata.is_some()
    }
}

/// The bytes, as a name for them.
pub type Hash = [u8; 32];

pub fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Why a file cannot be read or replaced. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("it is a link that leads nowhere or in a circle ({0}); mend or remove the link")]
    Link(io::Error),
    #[error("it is not a regular file, so it is left alone")]
    NotRegular,
    #[error("it is {} MB large; no client's configuration is, so it is left alone", .0 / 1_000_000)]
    Large(u64),
    #[error("it cannot be read: {0}")]
    Read(io::Error),
    #[error("it cannot be written: {0}; nothing was changed")]
    Write(io::Error),
    #[error("another program changed it at this moment; nothing was written, try again")]
    Changed,
    #[error("its owner and group cannot be kept ({0}); nothing was changed")]
    Owner(io::Error),
    #[error(
        "it has a second name (a hard link), which would keep the old text; nothing was changed. Use a symbolic link instead"
    )]
    OtherNames,
    #[error(
        "it is write-protected, so somebody wants it to stay as it is; nothing was changed. Allow writing first (chmod u+w)"
    )]
    Locked,
    #[error("what was written is not what is there now: another program wrote to it at the same moment")]
    Overwritten,
}

impl FileError {
    /// Did it fail when the new text may have been in its place already?
    pub(crate) fn may_be_written(&self) -> bool {
        matches!(self, FileError::Overwritten | FileError::Read(_))
    }
}

/// Reads the file. A link is followed, and stays a link when the file is replaced.
pub fn read(path: &Path) -> Result<Snapshot, FileError> {
    let target = fs::canonicalize(path).map_err(|error| match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => FileError::Link(error),
        _ => FileError::Read(error),
    })?;
    // Asked before it is opened: opening a pipe would wait for somebody to write.
    if !fs::metadata(&target).map_err(FileError::Read)?.is_file() {
        return Err(FileError::NotRegular);
    }
    let file = File::open(&target).map_err(FileError::Read)?;
    let metadata = file.metadata().map_err(FileError::Read)?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular);
    }
    if metadata.len() > LARGEST {
        return Err(FileError::Large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(FileError::Read)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= LARGEST => Ok(Snapshot { target, bytes, metadata: Some(metadata) }),
        _ => Err(FileError::Large(LARGEST + 1)),
    }
}

/// The same of a file that need not be there.
pub fn read_or_absent(path: &Path) -> Result<Snapshot, FileError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Snapshot { target: path.to_owned(), bytes: Vec::new(), metadata: None })
        }
        _ => read(path),
    }
}

/// Replaces the file that `before` was read from: whole, with its permissions and its owner, and only if it still says what
/// it said then. Between the last look and the rename lies a moment in which another program may write; no program that we
/// know takes a lock, so that moment is made as short as it can be and the result is read back.
///
/// Where no file was, one is made, unless one is there by now.
pub fn replace(before: &Snapshot, bytes: &[u8]) -> Result<(), FileError> {
    let Some(metadata) = &before.metadata else {
        return create(&before.target, bytes);
    };
    unchanged(before)?;
    // A rename would not ask.
    if cfg!(unix) && metadata.permissions().readonly() {
        return Err(FileError::Locked);
    }
    if owner::names(metadata) > 1 {
        return Err(FileError::OtherNames);
    }
    let fresh = beside(&before.target);
    let dress = |file: &File| owner::keep(file, metadata).map_err(FileError::Owner);
    let written = fill(&fresh, bytes, dress).and_then(|()| {
        unchanged(before)?;
        owner::rename(&fresh, &before.target).map_err(FileError::Write)
    });
    if let Err(error) = written {
        let _gone = fs::remove_file(&fresh);
        return Err(error);
    }
    sync_folder(&before.target);
    match fs::read(&before.target) {
        Ok(now) if now == bytes => Ok(()),
        Ok(_) => Err(FileError::Overwritten),
        Err(error) => Err(FileError::Read(error)),
    }
}

/// Removes the file that `before` was read from, if it still says what it said then.
pub fn remove(before: &Snapshot) -> Result<(), FileError> {
    unchanged(before)?;
    fs::remove_file(&before.target).map_err(FileError::Write)?;
    sync_folder(&before.target);
    Ok(())
}

/// Makes a file that is not there, readable by its owner alone. Whoever looks sees all of it or nothing.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(FileError::Write)?;
    }
    let fresh = beside(path);
    let made = fill(&fresh, bytes, |_| Ok(())).and_then(|()| appear(&fresh, path));
    let _gone = fs::remove_file(&fresh);
    made?;
    sync_folder(path);
    Ok(())
}

/// Gives `fresh` the name `path` as well, unless something has that name: a rename would replace it.
fn appear(fresh: &Path, path: &Path) -> Result<(), FileError> {
    match fs::hard_link(fresh, path) {
        Ok(()) => Ok(()),
        Err(_) if path.symlink_metadata().is_ok() => Err(FileError::Changed),
        // A file system without links.
        Err(_) => fs::rename(fresh, path).map_err(FileError::Write),
    }
}

/// For files of ours, which are for their owner alone.
pub(crate) fn private_options() -> OpenOptions {
    owner::private()
}

/// Held by one process of ours at a time, below `home`; released when the process ends, however it ends.
pub(crate) fn lock(home: &Path, name: &str) -> io::Result<File> {
    let control = home.join("control");
    private_folder(&control)?;
    let lock = private_options().create(true).truncate(false).write(true).open(control.join(name))?;
    lock.lock()?;
    Ok(lock)
}

/// A folder for its owner alone.
pub fn private_folder(path: &Path) -> io::Result<()> {
    owner::make_folder(path)
}

fn unchanged(before: &Snapshot) -> Result<(), FileError> {
    match fs::read(&before.target) {
        Ok(now) if now == before.bytes => Ok(()),
        Ok(_) => Err(FileError::Changed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FileError::Changed),
        Err(error) => Err(FileError::Read(error)),
    }
}

/// Writes a new file, private until `dress` gives it the permissions of the one that it takes the place of.
fn fill(fresh: &Path, bytes: &[u8], dress: impl Fn(&File) -> Result<(), FileError>) -> Result<(), FileError> {
    let mut file = owner::private().create_new(true).write(true).open(fresh).map_err(FileError::Write)?;
    file.write_all(bytes).map_err(FileError::Write)?;
    dress(&file)?;
    file.sync_all().map_err(FileError::Write)
}

/// The rename is durable when the folder is; where a folder cannot be synced, the file system does it in its own time.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _done = folder.sync_all();
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".callgate-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}
