//! A running program cannot be replaced, but it can be renamed: the old one steps aside and goes when nobody runs it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

pub(super) fn copy(source: &Path, fresh: &Path) -> io::Result<()> {
    fs::copy(source, fresh)?;
    // The copy would be as old as the original, and count as left over from long ago.
    fs::File::options().write(true).open(fresh)?.set_modified(SystemTime::now())
}

pub(super) fn exchange(fresh: &Path, place: &Path) -> io::Result<()> {
    sweep(place);
    if fs::rename(fresh, place).is_ok() {
        return Ok(());
    }
    let aside = place.with_extension(format!("{}.old", std::process::id()));
    fs::rename(place, &aside)?;
    let moved = fs::rename(fresh, place);
    if moved.is_err() {
        // Better the old program than none.
        let _back = fs::rename(&aside, place);
    }
    moved
}

/// One that runs, and be it this one, steps aside: it no longer has the name that clients start.
pub(super) fn remove(place: &Path) -> io::Result<()> {
    fs::remove_file(place)
        .or_else(|_| fs::rename(place, place.with_extension(format!("{}.old", std::process::id()))))
}

/// Old programs that nobody runs any more.
fn sweep(place: &Path) {
    let Some(entries) = place.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    for entry in entries.flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "old") {
            let _still_running = fs::remove_file(entry.path());
        }
    }
}

/// The file of the program that runs here: it cannot be replaced, only renamed.
pub(super) fn running(own: &Path) -> PathBuf {
    own.to_owned()
}
