//! Copies of clients' files as they were before we wrote: in a folder of ours, where no client can lose them. They hold
//! whatever the files held, so they are readable by their owner alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use callgate_text::hex;
use serde::{Deserialize, Serialize};

use crate::file::{self, FileError, hash};

/// Beside the very first copy, which is kept for good.
const NEWEST: usize = 5;
const WHERE: &str = "where.json";

#[derive(Clone, Debug)]
pub struct Backups {
    folder: PathBuf,
}

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    pub client: String,
    /// The client's file.
    pub path: PathBuf,
    pub at_ms: i64,
    /// The copy. Its name is what `callgate clients restore` takes.
    pub copy: PathBuf,
    pub bytes: u64,
}

impl Backup {
    /// A short name for people: `claude-desktop-1a2b3c4d/1789000000000-0f0f0f0f0f0f`.
    pub fn id(&self) -> String {
        let part = |path: Option<&std::ffi::OsStr>| path.unwrap_or_default().to_string_lossy().into_owned();
        format!("{}/{}", part(self.copy.parent().and_then(Path::file_name)), part(self.copy.file_stem()))
    }

    /// The bytes, if they are still what was kept.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let bytes = fs::read(&self.copy)?;
        if !is_named_for(&self.copy, &bytes) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the copy is damaged"));
        }
        Ok(bytes)
    }
}

/// Whose copies a folder holds: without it a lost ledger would leave them nameless.
#[derive(Serialize, Deserialize)]
struct Whose {
    client: String,
    path: PathBuf,
}

impl Backups {
    /// Below `home`, the folder of Callgate.
    pub fn of(home: &Path) -> Backups {
        Backups { folder: home.join("backups") }
    }

    /// Keeps these bytes as the newest copy, and lets go of copies that are neither the first nor among the newest.
    pub fn keep(&self, client: &str, path: &Path, bytes: &[u8], now_ms: i64) -> Result<(), FileError> {
        let folder = self.folder_of(client, path);
        file::private_folder(&folder).map_err(FileError::Write)?;
        if whose(&folder).is_none() {
            let text = serde_json::to_vec(&Whose { client: client.to_owned(), path: path.to_owned() })
                .map_err(|error| FileError::Write(error.into()))?;
            let _unreadable = fs::remove_file(folder.join(WHERE));
            file::create(&folder.join(WHERE), &text)?;
        }
        let mut copies = copies(&folder).map_err(FileError::Read)?;
        let same = |(_, copy): &(i64, PathBuf)| fs::read(copy).is_ok_and(|kept| kept == bytes);
        if copies.last().is_some_and(same) {
            return Ok(());
        }
        // Never before an older one, whatever the clock says: the order of names is the order of time.
        let at_ms = copies.last().map_or(now_ms, |(at_ms, _)| now_ms.max(at_ms + 1));
        let copy = folder.join(format!("{at_ms}-{}.bak", &hex(&hash(bytes))[..12]));
        // A state that came back is the newest again. It gets a new date and no second copy: protecting and unprotecting in
        // turns must not push out what is worth keeping. The first stays what it is.
        match copies.iter().skip(1).position(same) {
            Some(at) => {
                let (_, old) = copies.remove(at + 1);
                fs::rename(old, &copy).map_err(FileError::Write)?;
            }
            None => file::create(&copy, bytes)?,
        }
        copies.push((at_ms, copy));
        let surplus = copies.len().saturating_sub(1 + NEWEST);
        for (_, old) in copies.iter().skip(1).take(surplus) {
            // A copy that stays for longer than it had to does no harm.
            let _gone = fs::remove_file(old);
        }
        Ok(())
    }

    /// The files that copies were ever made of, by client: every file that we wrote is among them, also one that no ledger
    /// knows any more.
    pub fn files(&self) -> io::Result<Vec<(String, PathBuf)>> {
        let folders = match fs::read_dir(&self.folder) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let paths = folders.map(|folder| Ok(folder?.path())).collect::<io::Result<Vec<_>>>()?;
        let whose = paths.iter().filter_map(|folder| whose(folder));
        Ok(whose.map(|whose| (whose.client, whose.path)).collect())
    }

    /// Every copy, newest first.
    pub fn list(&self) -> io::Result<Vec<Backup>> {
        let mut list = Vec::new();
        let folders = match fs::read_dir(&self.folder) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(list),
            Err(error) => return Err(error),
        };
        for folder in folders {
            let folder = folder?.path();
            let Some(whose) = whose(&folder) else { continue };
            for (at_ms, copy) in copies(&folder)? {
                let bytes = fs::metadata(&copy)?.len();
                list.push(Backup {
                    client: whose.client.clone(),
                    path: whose.path.clone(),
                    at_ms,
                    copy,
                    bytes,
                });
            }
        }
        list.sort_by(|a, b| (b.at_ms, &b.copy).cmp(&(a.at_ms, &a.copy)));
        Ok(list)
    }

    /// The copy of this name. One that got a new date since somebody read its name is still the one they mean.
    pub fn find(&self, id: &str) -> io::Result<Option<Backup>> {
        let copies = self.list()?;
        let whole = copies.iter().find(|copy| copy.id() == id);
        let same_bytes =
            || copies.iter().find(|copy| undated(&copy.id()).is_some_and(|it| undated(id) == Some(it)));
        Ok(whole.or_else(same_bytes).cloned())
    }

    /// Puts these bytes in the place of a copy's own; it stays as old as it is. The new one is there before the other goes.
    pub(crate) fn exchange(&self, copy: &Backup, bytes: &[u8]) -> Result<Backup, FileError> {
        let name = format!("{}-{}.bak", copy.at_ms, &hex(&hash(bytes))[..12]);
        let now = Backup { copy: copy.copy.with_file_name(name), bytes: bytes.len() as u64, ..copy.clone() };
        if now.copy == copy.copy {
            return Ok(now);
        }
        file::create(&now.copy, bytes)?;
        fs::remove_file(&copy.copy).map_err(FileError::Write)?;
        Ok(now)
    }

    fn folder_of(&self, client: &str, path: &Path) -> PathBuf {
        let place = hash(path.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{client}-{}", &hex(&place)[..8]))
    }
}

/// The name of a copy without its date: its folder, and the digest of its bytes.
fn undated(id: &str) -> Option<(&str, &str)> {
    let (folder, name) = id.split_once('/')?;
    Some((folder, name.split_once('-')?.1))
}

fn whose(folder: &Path) -> Option<Whose> {
    serde_json::from_slice(&fs::read(folder.join(WHERE)).ok()?).ok()
}

/// The name of a copy holds a digest of it.
fn is_named_for(copy: &Path, bytes: &[u8]) -> bool {
    let digest = hex(&hash(bytes));
    let name = copy.file_stem().and_then(|name| name.to_str()?.split_once('-'));
    name.is_some_and(|(_, kept)| kept == &digest[..12])
}

/// The copies in a folder, oldest first.
fn copies(folder: &Path) -> io::Result<Vec<(i64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let at_ms = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".bak")?.split_once('-')?.0.parse().ok());
        if let Some(at_ms) = at_ms {
            found.push((at_ms, path));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_newest_five_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let backups = Backups::of(home.path());
        let path = Path::new("/c.json");
        for n in 0..9 {
            backups.keep("cursor", path, format!("{n}").as_bytes(), 100 + n).unwrap();
        }
        let texts: Vec<_> = backups.list().unwrap().iter().map(|one| one.read().unwrap()).collect();
        assert_eq!(texts, [b"8", b"7", b"6", b"5", b"4", b"0"]);
    }

    #[test]
    fn a_state_that_came_back_is_the_newest_copy_again() {
        let home = tempfile::tempdir().unwrap();
        let backups = Backups::of(home.path());
        let path = Path::new("/c.json");
        let texts = || -> Vec<String> {
            let read = |one: &Backup| String::from_utf8(one.read().unwrap()).unwrap();
            backups.list().unwrap().iter().map(read).collect()
        };
        backups.keep("cursor", path, b"plain", 1).unwrap();
        backups.keep("cursor", path, b"gated", 2).unwrap();
        let gated = backups.list().unwrap()[0].id();
        backups.keep("cursor", path, b"plain", 3).unwrap();
        assert_eq!(texts(), ["plain", "gated", "plain"], "the first stays");
        for at_ms in 4..20 {
            let text: &[u8] = if at_ms % 2 == 0 { b"gated" } else { b"plain" };
            backups.keep("cursor", path, text, at_ms).unwrap();
        }
        assert_eq!(texts(), ["plain", "gated", "plain"], "in turns, they push nothing out");
        // By the name that somebody saw before it got its new date.
        let found = backups.find(&gated).unwrap().unwrap();
        assert_eq!((found.at_ms, found.read().unwrap()), (18, b"gated".to_vec()));
        assert_eq!(backups.find("cursor-00000000/1-2").unwrap(), None);
    }

    #[test]
    fn the_same_again_is_not_kept_twice_and_a_clock_set_back_changes_no_order() {
        let home = tempfile::tempdir().unwrap();
        let backups = Backups::of(home.path());
        for (text, at_ms) in [("a", 500), ("a", 501), ("b", 400), ("a", 300)] {
            backups.keep("cursor", Path::new("/c.json"), text.as_bytes(), at_ms).unwrap();
        }
        backups.keep("cursor", Path::new("/other.json"), b"x", 1).unwrap();
        let mut of_file = backups.list().unwrap();
        of_file.retain(|one| one.path == Path::new("/c.json"));
        let texts: Vec<_> = of_file.iter().map(|one| one.read().unwrap()).collect();
        assert_eq!(texts, [b"a", b"b", b"a"], "the first stays");
        assert_eq!(backups.list().unwrap().len(), 4);
        assert!(of_file[0].id().starts_with("cursor-"));
    }

    #[test]
    fn a_damaged_copy_is_not_given_out_and_a_damaged_label_is_written_anew() {
        let home = tempfile::tempdir().unwrap();
        let backups = Backups::of(home.path());
        backups.keep("cursor", Path::new("/c.json"), b"whole", 1).unwrap();
        let copy = backups.list().unwrap().remove(0);
        fs::write(&copy.copy, b"who").unwrap();
        assert!(copy.read().unwrap_err().to_string().contains("damaged"));
        fs::write(copy.copy.with_file_name(WHERE), b"{").unwrap();
        assert!(backups.list().unwrap().is_empty());
        backups.keep("cursor", Path::new("/c.json"), b"other", 2).unwrap();
        assert_eq!(backups.list().unwrap().len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn copies_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let backups = Backups::of(home.path());
        backups.keep("cursor", Path::new("/c.json"), b"secret", 1).unwrap();
        let copy = &backups.list().unwrap()[0].copy;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(copy), mode(copy.parent().unwrap())), (0o600, 0o700));
    }
}
