//! How the record stands, looked at without touching it: nothing of it is made, moved aside or brought up to date. For people who
//! ask what is wrong; whoever uses the record mends it where it can be mended. Whether anything can be written is tried with a
//! file that goes at once: permissions alone do not tell.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use callgate_controls::{limits, sqlite};
use callgate_home::lease::{self, is_live};
use callgate_home::private::{self, identity};
use callgate_home::{FOLDERS, Home, SessionId, StoreError, Trouble};
use callgate_journal::database;
use callgate_journal::spool::reader::{Head, Reader};
use rusqlite::{Connection, OptionalExtension as _};

/// A larger database is opened and not looked through: that would take longer than anybody waits.
const LOOKED_THROUGH: u64 = 64 * 1024 * 1024;
/// Files of one folder that are looked at.
const MOST_FILES: usize = 10_000;

/// The counters behind limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    Sound,
    /// They were there once: every shared limit counts as used up.
    Lost,
    /// The file was put there from elsewhere: every shared limit counts as used up at its next use.
    Replaced,
}

/// What a session that ended without a word left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub session: SessionId,
    /// Its record cannot be read by this Callgate.
    pub unreadable: bool,
}

/// Something in the home that others can get at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposedPath {
    pub path: PathBuf,
    /// Why others may write it; nothing, if they can only read it.
    pub written: Option<String>,
}

/// Something that a session has to write and cannot.
#[derive(Debug)]
pub struct Unwritable {
    pub path: PathBuf,
    pub error: io::Error,
    /// It belongs to another user.
    pub foreign: bool,
}

/// What a full disk takes no more of: as much as the record of an ordinary call.
const TRIAL: &[u8] = &[b' '; 64 * 1024];

/// Does what a session does before its first call: makes a file in each folder that it writes into, or makes the home.
/// Nothing, if that works.
pub fn unwritable(home: &Home) -> Option<Unwritable> {
    if home.path().symlink_metadata().is_err() {
        let above = home.path().ancestors().skip(1).find(|folder| folder.exists())?;
        return try_folder(above);
    }
    let folders = [home.path().to_owned(), home.control_dir(), home.leases_dir(), home.spool_dir()];
    let databases = [home.history_db(), home.limits_db()];
    let in_folders = folders.iter().filter(|folder| folder.exists()).find_map(|folder| try_folder(folder));
    in_folders.or_else(|| databases.iter().find_map(|path| try_database(path)))
}

/// Does this belong to somebody else, root included?
pub fn is_foreign(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| private::is_foreign(&meta))
}

fn try_folder(folder: &Path) -> Option<Unwritable> {
    let path = folder.join(format!(".callgate-trial-{}", std::process::id()));
    let tried = private::options()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| file.write_all(TRIAL).and_then(|()| file.sync_data()));
    let _never_made = fs::remove_file(&path);
    tried.err().map(|error| Unwritable { path: folder.to_owned(), error, foreign: is_foreign(folder) })
}

fn try_database(path: &Path) -> Option<Unwritable> {
    let error = File::options().write(true).open(path).err()?;
    let missing = error.kind() == io::ErrorKind::NotFound;
    (!missing).then(|| Unwritable { path: path.to_owned(), error, foreign: is_foreign(path) })
}

/// Can the history be read? Nothing, if there is none yet.
pub fn history(home: &Home) -> Result<Option<()>, StoreError> {
    let path = home.history_db();
    let Some(connection) = open(&path)? else { return Ok(None) };
    database::check_version(&connection, &path)?;
    look_through(&connection, &path).map(Some)
}

/// Can the counters be used? Nothing, if there are none yet.
pub fn counters(home: &Home) -> Result<Option<Counters>, StoreError> {
    let path = home.limits_db();
    let Some(connection) = open(&path)? else {
        return Ok(home.was_prepared().then_some(Counters::Lost));
    };
    let version = limits::check_version(&connection, &path)?;
    look_through(&connection, &path)?;
    if version == 0 {
        return Ok(Some(Counters::Lost));
    }
    let made: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE key = 'inode'", (), |row| row.get(0))
        .optional()
        .map_err(|error| sqlite::database_error(&path, &error))?;
    let here = identity(&path).map_err(|error| StoreError::io("look at", &path, &error))?;
    Ok(Some(if made == Some(here.ino.cast_signed()) { Counters::Sound } else { Counters::Replaced }))
}

/// Sessions that are over and whose record is still in their spools.
pub fn leftovers(home: &Home) -> Vec<Leftover> {
    let dead = lease::sessions(home).into_iter().filter(|session| !is_live(home, *session));
    dead.map(|session| {
        let unreadable = match Reader::open(&home.spool(session)) {
            Ok((_, Head::Foreign)) => true,
            Ok((_, Head::Session(_) | Head::Empty)) => false,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        Leftover { session, unreadable }
    })
    .collect()
}

/// Databases that were found damaged and put out of the way.
pub fn set_aside(home: &Home) -> Vec<PathBuf> {
    let mut found = entries(home.path());
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains(".db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
    });
    found
}

/// What others can read or write: the home itself, its folders, and the files in them. What only the web engine keeps is not
/// looked at.
pub fn open_to_others(home: &Home) -> Vec<ExposedPath> {
    let folders = FOLDERS.iter().copied().chain(["backups", "bin"]).map(|name| home.path().join(name));
    let mut paths = vec![home.path().to_owned()];
    paths.extend(entries(home.path()).into_iter().filter(|path| !path.ends_with("webview")));
    for folder in folders {
        for path in entries(&folder) {
            paths.extend(if path.is_dir() { entries(&path) } else { Vec::new() });
            paths.push(path);
        }
    }
    let looked = paths.into_iter().filter_map(|path| Some((path.symlink_metadata().ok()?, path)));
    looked.filter_map(|(meta, path)| openness(&meta, path)).collect()
}

fn openness(meta: &Metadata, path: PathBuf) -> Option<ExposedPath> {
    if meta.is_symlink() {
        return None;
    }
    let written = private::shared_with_others(meta);
    (written.is_some() || private::readable_by_others(meta)).then_some(ExposedPath { path, written })
}

/// What is free on the disk that the home is on, in bytes.
pub fn free_bytes(home: &Home) -> Option<u64> {
    private::free_bytes(home.path())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = read.map(|entry| entry.path()).take(MOST_FILES).collect();
    paths.sort();
    paths
}

fn open(path: &Path) -> Result<Option<Connection>, StoreError> {
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    sqlite::open_untouched(path).map(Some)
}

fn look_through(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |error: rusqlite::Error| sqlite::database_error(path, &error);
    let bytes = fs::metadata(path).map(|meta| meta.len()).unwrap_or_default();
    let pragma = if bytes > LOOKED_THROUGH { "PRAGMA schema_version" } else { "PRAGMA quick_check(1)" };
    let verdict: rusqlite::types::Value = connection.query_row(pragma, (), |row| row.get(0)).map_err(fail)?;
    match verdict {
        rusqlite::types::Value::Text(words) if words != "ok" => {
            Err(StoreError::Database { path: path.to_owned(), cause: words, trouble: Trouble::Corrupt })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "checkup/tests.rs"]
mod tests;
