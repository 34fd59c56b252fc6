//! What "ours alone" means on unix: owner and mode bits.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

pub fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Opening a pipe or device must neither block nor have an effect, and a link is not followed.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).map_err(|error| {
        match error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            true => io::Error::new(io::ErrorKind::InvalidData, "it is a symbolic link"),
            false => error,
        }
    })
}

pub fn shared_with_others(meta: &Metadata) -> Option<String> {
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() != us && meta.uid() != 0 {
        return Some(format!("it belongs to another user (uid {})", meta.uid()));
    }
    let mode = meta.mode() & 0o777;
    (mode & 0o022 != 0).then(|| format!("others may write it (mode {mode:03o}): run chmod go-w on it"))
}

pub fn is_foreign(meta: &Metadata) -> bool {
    meta.uid() != rustix::process::geteuid().as_raw()
}

pub fn readable_by_others(meta: &Metadata) -> bool {
    meta.mode() & 0o077 != 0
}

/// For us, who are not root.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// A link that somebody else made can be pointed elsewhere at any time.
pub fn foreign_link(path: &Path) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    let us = rustix::process::geteuid().as_raw();
    (meta.is_symlink() && meta.uid() != us && meta.uid() != 0)
        .then(|| format!("it is a link made by another user (uid {})", meta.uid()))
}

/// What tells one file from another under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    dev: u64,
    pub ino: u64,
}

pub fn identity(path: &Path) -> io::Result<Identity> {
    let stat = rustix::fs::stat(path)?;
    Ok(Identity { dev: stat.st_dev as u64, ino: stat.st_ino as u64 })
}

/// Has an open file no name any more? (Not by its path: that would take longer, and every call asks.)
pub fn is_removed(file: &File, _path: &Path) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| stat.st_nlink == 0)
}

/// Does this path still name this open file?
pub fn is_at(file: &File, path: &Path) -> bool {
    let same = |here: rustix::fs::Stat| {
        rustix::fs::stat(path).is_ok_and(|there| (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino))
    };
    rustix::fs::fstat(file).is_ok_and(same)
}
