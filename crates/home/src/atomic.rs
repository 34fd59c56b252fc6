//! Files that others may read at any moment are replaced whole: temporary file beside it, fsync, rename; where the effect must
//! not wait for the disk, rename and then fsync.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::private;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Replaces `path` with `bytes`; a reader sees the old content or the new, never a part. Private (0600).
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, File::sync_all)?;
    // The content is on the disk; if the rename is not, a power loss leaves what was there before.
    let _synced = sync_parent(path);
    Ok(())
}

/// The same, where others are to heed it at once: they see it before the disk has it, and it returns when the disk has, too. A
/// disk on which many write takes a quarter of a second for that. What a power loss in between leaves is the old content, the
/// new, or a file that cannot be read: only for what is fail-closed then.
///
/// It is in force whatever the disk says after that; the inner error is that the disk may have forgotten it after a power loss.
pub fn replace_at_once(path: &Path, bytes: &[u8]) -> io::Result<io::Result<()>> {
    settle_after(path, bytes, File::sync_all)
}

fn settle_after(
    path: &Path,
    bytes: &[u8],
    settle: impl Fn(&File) -> io::Result<()>,
) -> io::Result<io::Result<()>> {
    let file = put(path, bytes, |_| Ok(()))?;
    Ok(settle(&file).and_then(|()| sync_parent(path)))
}

/// The rename itself is durable when the folder is; a file system that cannot do this still has the rename.
fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent().map_or(Ok(()), private::sync_folder) {
        Err(error) if is_no_failure(&error) => Ok(()),
        synced => synced,
    }
}

/// It cannot be done there, which says nothing about the disk.
fn is_no_failure(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, IsADirectory, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | IsADirectory | PermissionDenied | Unsupported)
}

/// The same without waiting for the disk: for what says something about a running process and is worth nothing after
/// a power loss.
pub fn swap(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, |_| Ok(())).map(drop)
}

fn put(path: &Path, bytes: &[u8], settle: impl Fn(&File) -> io::Result<()>) -> io::Result<File> {
    let temporary = beside(path);
    let written = private::options()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file: File| file.write_all(bytes).and_then(|()| settle(&file)).map(|()| file))
        .and_then(|file| fs::rename(&temporary, path).map(|()| file));
    if written.is_err() {
        // What is left of a failed attempt is of no use to anyone.
        let _gone = fs::remove_file(&temporary);
    }
    written
}

/// Makes a file that was not there, private (0600).
pub fn create_private(path: &Path) -> io::Result<File> {
    private::options().write(true).create_new(true).open(path)
}

/// Writes `path` unless it is there already.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() { Ok(()) } else { replace(path, bytes) }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_failed_replacement_leaves_the_old_content_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        replace(&path, b"old").unwrap();
        // A folder in the way of the rename.
        let blocked = folder.path().join("blocked");
        fs::create_dir(&blocked).unwrap();
        fs::write(blocked.join("x"), b"").unwrap();
        assert!(replace(&blocked, b"new").is_err());
        assert!(replace_at_once(&blocked, b"new").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_disk_that_fails_after_the_file_is_in_force_is_told_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        replace(&path, b"old").unwrap();
        let failed = settle_after(&path, b"new", |_| Err(io::Error::other("the disk is gone"))).unwrap();
        assert_eq!(failed.unwrap_err().to_string(), "the disk is gone");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(replace_at_once(&path, b"newer").unwrap().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn replaced_files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let at_once = |path: &Path, bytes: &[u8]| replace_at_once(path, bytes)?;
        for (text, put) in [("new", replace as fn(&Path, &[u8]) -> _), ("newer", at_once)] {
            put(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
