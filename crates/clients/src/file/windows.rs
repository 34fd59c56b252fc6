//! Permissions and owners on Windows: a new file takes those of its folder, as the file that it replaces did.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Another program has the file open without sharing it: virus scanners and indexers do, for a moment.
const SHARING_VIOLATION: i32 = 32;
const ACCESS_DENIED: i32 = 5;
const TRIES: u32 = 10;

pub(super) fn private() -> OpenOptions {
    OpenOptions::new()
}

/// The one permission there is, read-only, would keep the rename from happening: [`rename`] sees to it.
pub(super) fn keep(_file: &File, _like: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Not told by the system without more ado.
pub(super) fn names(_of: &Metadata) -> u64 {
    1
}

#[expect(clippy::permissions_set_readonly_false, reason = "here it lets those write who could before")]
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let permissions = fs::metadata(to)?.permissions();
    if permissions.readonly() {
        let mut open = permissions.clone();
        open.set_readonly(false);
        fs::set_permissions(to, open)?;
    }
    let renamed = rename_patiently(from, to);
    let kept = fs::set_permissions(to, permissions);
    renamed.and(kept)
}

fn rename_patiently(from: &Path, to: &Path) -> io::Result<()> {
    let mut tried = 0;
    loop {
        match fs::rename(from, to) {
            Err(error)
                if tried < TRIES
                    && matches!(error.raw_os_error(), Some(SHARING_VIOLATION | ACCESS_DENIED)) =>
            {
                tried += 1;
                thread::sleep(Duration::from_millis(50));
            }
            other => return other,
        }
    }
}

pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}
