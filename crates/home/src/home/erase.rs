//! The end of a home: everything that Callgate put there goes, and nothing else. `CALLGATE_HOME` may have been set to a folder
//! that holds other things, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{FOLDERS, Home};
use crate::error::HomeError;

/// Beside those that every home begins with.
const LATER_FOLDERS: &[&str] = &["backups", "bin", "webview"];
/// How the names of our files begin: what belongs to a database, was set aside or was about to replace another has something
/// behind that.
const FILES: &[&str] = &[
    "history.",
    "limits.",
    "search.",
    "settings.json",
    "servers.json",
    ".servers.json",
    "ledger.json",
    ".ledger.json",
    "queue.json",
    ".queue.json",
    "prepare.lock",
];

impl Home {
    /// Removes this home for good. Tells what is in its folder that is not Callgate's, and stays.
    pub fn erase(&self) -> Result<Vec<PathBuf>, HomeError> {
        if !self.was_prepared() {
            let why = "it is not a home of Callgate, so nothing in it was removed".to_owned();
            return Err(HomeError::Unsafe { path: self.path.clone(), why });
        }
        self.check_ours()?;
        let mut others = Vec::new();
        for entry in self.entries()? {
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if is_folder_of_ours(name) {
                // Whoever writes a last line into a log meanwhile makes it anew, once: after that the folder is gone.
                let again = fs::remove_dir_all(&entry).or_else(|_| fs::remove_dir_all(&entry));
                removed(&entry, again)?;
            } else if FILES.iter().any(|file| name.starts_with(file)) && !is_folder(&entry) {
                removed(&entry, fs::remove_file(&entry))?;
            } else if entry != self.format() {
                others.push(entry);
            }
        }
        // Last: as long as it is there, what is missing counts as lost, and everything is refused.
        removed(&self.format(), fs::remove_file(self.format()))?;
        if others.is_empty() {
            removed(&self.path, fs::remove_dir(&self.path))?;
        }
        Ok(others)
    }

    fn entries(&self) -> Result<Vec<PathBuf>, HomeError> {
        let read = fs::read_dir(&self.path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>());
        read.map_err(|source| HomeError::Read { path: self.path.clone(), source })
    }
}

fn is_folder_of_ours(name: &str) -> bool {
    FOLDERS.contains(&name) || LATER_FOLDERS.contains(&name)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// What is gone already is as good as removed.
fn removed(path: &Path, done: io::Result<()>) -> Result<(), HomeError> {
    match done {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(HomeError::Remove { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_home_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.prepare_with(|_| Ok(())).unwrap();
        for name in
            ["history.db", "history.db-wal", "history.db.corrupt-7", "queue.json", "settings.json.broken-7"]
        {
            fs::write(home.path().join(name), "").unwrap();
        }
        fs::create_dir_all(home.path().join("backups/cursor-1")).unwrap();
        assert_eq!(home.erase().unwrap(), Vec::<PathBuf>::new());
        assert!(!home.path().exists());

        home.prepare_with(|_| Ok(())).unwrap();
        let mine = home.path().join("notes.txt");
        fs::write(&mine, "").unwrap();
        assert_eq!(home.erase().unwrap(), [mine]);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_was_never_a_home_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        assert!(matches!(Home::at(folder.path()).erase(), Err(HomeError::Unsafe { .. })));
        assert!(folder.path().join("logs").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_removed_and_not_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.prepare_with(|_| Ok(())).unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("kept")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, home.path().join("backups")).unwrap();
        home.erase().unwrap();
        assert!(elsewhere.join("kept").exists() && !home.path().exists());
    }
}
