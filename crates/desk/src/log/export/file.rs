//! A new file in somebody's folder: written beside, then given its name; nothing that is there is replaced, but a file that
//! a person said to replace.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use callgate_home::atomic;

use super::Trouble;
use crate::DeskError;

/// Names that are tried: `name.csv`, `name-2.csv`, …
const NAMES: u32 = 10_000;

/// Under the first name that is free.
pub(crate) fn write_new(
    folder: &Path,
    name: &str,
    extension: &str,
    work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Trouble>,
) -> Result<PathBuf, DeskError> {
    write(folder, &mut |temporary| by_link(temporary, &mut names(folder, name, extension)), work)?.ok_or_else(
        || DeskError::Conflict(format!("there are too many exports of today in {}", folder.display())),
    )
}

/// At this very place.
pub(crate) fn write_at(
    path: &Path,
    work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Trouble>,
) -> Result<PathBuf, DeskError> {
    let folder = folder_of(path)?;
    write(folder, &mut |temporary| by_link(temporary, &mut std::iter::once(path.to_owned())), work)?
        .ok_or_else(|| {
            DeskError::Conflict(format!(
                "{} is there already and was left as it is: choose another name",
                path.display()
            ))
        })
}

/// At this very place, in the stead of the file that is there.
pub(crate) fn write_over(
    path: &Path,
    work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Trouble>,
) -> Result<PathBuf, DeskError> {
    let folder = folder_of(path)?;
    let over = |temporary: &Path| fs::rename(temporary, path).map(|()| Some(path.to_owned()));
    Ok(write(folder, &mut { over }, work)?.unwrap_or_else(|| path.to_owned()))
}

/// The folder of a place that a file may take. A folder, a device or a link is nobody's old export.
fn folder_of(path: &Path) -> Result<&Path, DeskError> {
    let what = match fs::symlink_metadata(path) {
        Ok(there) if there.is_file() => None,
        Ok(there) if there.is_dir() => Some("a folder"),
        Ok(there) if there.is_symlink() => Some("a link"),
        Ok(_) => Some("a device, a pipe or the like"),
        // Whoever writes finds out.
        Err(_) => None,
    };
    match what {
        Some(what) => Err(DeskError::BadInput(format!(
            "{} is {what} and was left as it is: an export takes the place of a file only; choose another name",
            path.display()
        ))),
        None => Ok(path.parent().unwrap_or(path)),
    }
}

fn by_link(temporary: &Path, names: &mut dyn Iterator<Item = PathBuf>) -> io::Result<Option<PathBuf>> {
    give_name(temporary, names, &|from, to| fs::hard_link(from, to))
}

/// The name that [`write_new`] would choose now.
pub(crate) fn next_name(folder: &Path, name: &str, extension: &str) -> PathBuf {
    let free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    names(folder, name, extension).find(free).unwrap_or_else(|| folder.join(format!("{name}.{extension}")))
}

fn names(folder: &Path, name: &str, extension: &str) -> impl Iterator<Item = PathBuf> {
    (1..NAMES).map(move |number| match number {
        1 => folder.join(format!("{name}.{extension}")),
        number => folder.join(format!("{name}-{number}.{extension}")),
    })
}

/// `place` gives what is written its name; None if all names are taken.
fn write(
    folder: &Path,
    place: &mut dyn FnMut(&Path) -> io::Result<Option<PathBuf>>,
    work: &mut dyn FnMut(&mut dyn Write) -> Result<(), Trouble>,
) -> Result<Option<PathBuf>, DeskError> {
    if !folder.is_dir() {
        return Err(DeskError::BadInput(format!(
            "{} is not a folder: choose one that is there",
            folder.display()
        )));
    }
    let told = |trouble| match trouble {
        Trouble::Desk(error) => error,
        Trouble::Write(error) => {
            DeskError::disk(format!("no export can be written into {}", folder.display()), error)
        }
    };
    // Another export may run at the same time, also of another process.
    let unlike = getrandom::u64().map_err(|error| told(Trouble::Write(io::Error::other(error))))?;
    let temporary = folder.join(format!(".callgate-{unlike:016x}.tmp"));
    let file = atomic::create_private(&temporary).map_err(|error| told(Trouble::Write(error)))?;
    let written = || -> Result<(), Trouble> {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        work(&mut out)?;
        let file = out.into_inner().map_err(|error| Trouble::Write(error.into_error()))?;
        file.sync_all().map_err(Trouble::Write)
    }();
    let named = written.and_then(|()| place(&temporary).map_err(Trouble::Write));
    // Gone already if it has its name; of no use to anyone if it has none.
    let _gone = fs::remove_file(&temporary);
    named.map_err(told)
}

/// Does this say that the file system has no links, and not that something is wrong?
fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
        // Windows: a function that the file system lacks.
        || cfg!(windows) && matches!(error.raw_os_error(), Some(1 | 50))
}

/// The first of these that is free; none if none is.
fn give_name(
    temporary: &Path,
    names: &mut dyn Iterator<Item = PathBuf>,
    link: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<Option<PathBuf>> {
    for path in names {
        match link(temporary, &path) {
            Ok(()) => return Ok(Some(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Not every file system has links: then the name is taken first, and the content follows.
            Err(error) if has_no_links(&error) => match atomic::create_private(&path) {
                Ok(taken) => {
                    drop(taken);
                    return match fs::rename(temporary, &path) {
                        Ok(()) => Ok(Some(path)),
                        Err(error) => {
                            // It is empty, and this made it.
                            let _gone = fs::remove_file(&path);
                            Err(error)
                        }
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn listed(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn two_exports_at_once_do_not_destroy_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let second = |out: &mut dyn Write| out.write_all(b"second").map_err(Trouble::Write);
        let first = write_new(folder.path(), "x", "csv", &mut |out| {
            out.write_all(b"fir").map_err(Trouble::Write)?;
            write_new(folder.path(), "x", "csv", &mut |out| second(out)).map_err(Trouble::Desk)?;
            out.write_all(b"st").map_err(Trouble::Write)
        })
        .unwrap();
        assert_eq!(listed(folder.path()), ["x-2.csv", "x.csv"]);
        assert_eq!(fs::read(first).unwrap(), b"first");
        assert_eq!(fs::read(folder.path().join("x.csv")).unwrap(), b"second");
    }

    #[cfg(unix)]
    #[test]
    fn an_export_by_force_replaces_no_link_no_folder_and_no_pipe() {
        use std::os::unix::fs::FileTypeExt as _;
        use std::os::unix::net::UnixListener;

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("theirs"), "theirs").unwrap();
        std::os::unix::fs::symlink(at("theirs"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        let before = listed(folder.path());
        let mut work = |out: &mut dyn Write| out.write_all(b"ours").map_err(Trouble::Write);
        for (name, what) in
            [("link", "a link"), ("dangling", "a link"), ("folder", "a folder"), ("socket", "a device")]
        {
            for place in [write_over, write_at] {
                let refused = place(&at(name), &mut work).unwrap_err();
                let told = refused.to_string();
                assert!(matches!(refused, DeskError::BadInput(_)) && told.contains(what), "{name}: {told}");
            }
        }
        assert_eq!(listed(folder.path()), before);
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(at("socket")).unwrap().file_type().is_socket());
        write_over(&at("theirs"), &mut work).unwrap();
        assert_eq!(fs::read(at("theirs")).unwrap(), b"ours");
    }

    #[test]
    fn without_links_the_file_still_gets_a_name_that_was_free() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = folder.path().join("t");
        let no_links = |_: &Path, _: &Path| Err(io::Error::from(io::ErrorKind::Unsupported));
        fs::write(folder.path().join("x.csv"), "theirs").unwrap();
        fs::write(&temporary, "ours").unwrap();
        let path = give_name(&temporary, &mut names(folder.path(), "x", "csv"), &no_links).unwrap().unwrap();
        assert_eq!(fs::read(path).unwrap(), b"ours");
        assert_eq!(listed(folder.path()), ["x-2.csv", "x.csv"]);
        // What was written is gone: no empty file is left in its place.
        give_name(&temporary, &mut names(folder.path(), "y", "csv"), &no_links).unwrap_err();
        let full = |_: &Path, _: &Path| Err(io::Error::from(io::ErrorKind::StorageFull));
        fs::write(&temporary, "ours").unwrap();
        give_name(&temporary, &mut names(folder.path(), "y", "csv"), &full).unwrap_err();
        assert_eq!(listed(folder.path()), ["t", "x-2.csv", "x.csv"]);
    }
}
