//! Windows: the user's profile folder is private by inheritance, and an open database cannot be replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

#[path = "raw.rs"]
mod raw;

pub fn options() -> OpenOptions {
    OpenOptions::new()
}

pub fn create_folders(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

pub fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub fn open_no_follow(path: &Path) -> io::Result<File> {
    if path.symlink_metadata()?.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is a symbolic link"));
    }
    File::open(path)
}

pub fn shared_with_others(_meta: &Metadata) -> Option<String> {
    None
}

pub fn is_foreign(_meta: &Metadata) -> bool {
    false
}

pub fn readable_by_others(_meta: &Metadata) -> bool {
    false
}

pub fn free_bytes(folder: &Path) -> Option<u64> {
    raw::free_bytes(folder)
}

pub fn foreign_link(_path: &Path) -> Option<String> {
    None
}

/// A file that SQLite holds open can be neither deleted nor renamed here, so being there is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub ino: u64,
}

pub fn identity(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|_| Identity { ino: 0 })
}

/// A file that is open can be removed here only by somebody who goes out of their way.
pub fn is_removed(_file: &File, path: &Path) -> bool {
    !path.exists()
}

/// Nothing tells two files apart at little cost here. But of files that only grow, one that was begun anew is shorter.
pub fn is_at(file: &File, path: &Path) -> bool {
    let len = file.metadata().map(|here| here.len());
    len.is_ok_and(|len| fs::metadata(path).is_ok_and(|there| there.len() >= len))
}
