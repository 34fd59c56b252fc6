//! A running program can be renamed over: its processes keep the file that they have.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A private copy that may be run, on the disk before it gets its name.
pub(super) fn copy(source: &Path, fresh: &Path) -> io::Result<()> {
    let _leftover = fs::remove_file(fresh);
    let mut from = fs::File::open(source)?;
    let mut to = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(fresh)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
}

pub(super) fn exchange(fresh: &Path, place: &Path) -> io::Result<()> {
    fs::rename(fresh, place)
}

pub(super) fn remove(place: &Path) -> io::Result<()> {
    fs::remove_file(place)
}

/// The file of the program that runs here. On Linux as the kernel knows it: what has its name may be another by now.
pub(super) fn running(own: &Path) -> PathBuf {
    if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { own.to_owned() }
}
