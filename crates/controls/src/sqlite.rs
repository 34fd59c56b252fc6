//! What both databases need of SQLite: opening in WAL mode together with many others, and putting a file that
//! is no longer a database aside.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use callgate_home::{StoreError, Trouble, private};

/// How long we wait for another process before we refuse.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// An error of SQLite, by what it means for us.
pub fn database_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let trouble = match error.sqlite_error_code() {
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => Trouble::Busy,
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => Trouble::Corrupt,
        Some(
            Code::DiskFull
            | Code::ReadOnly
            | Code::SystemIoFailure
            | Code::CannotOpen
            | Code::PermissionDenied,
        ) => Trouble::Disk,
        _ => Trouble::Other,
    };
    StoreError::Database { path: path.to_owned(), cause: error.to_string(), trouble }
}

/// Opens an existing file for writing, in WAL mode.
pub fn open(path: &Path) -> Result<Connection, StoreError> {
    open_paged(path, 4096)
}

/// The same; a file that is still empty gets pages of this size.
pub fn open_paged(path: &Path, page_bytes: u32) -> Result<Connection, StoreError> {
    let fail = |error: rusqlite::Error| database_error(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_handler(Some(wait_a_little)).map_err(fail)?;
    // Without this SQLite compiles a statement anew whenever a bound value might suggest another plan: each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(32);
    // The last to close would write the whole log back and wait for the disk: at the end of a session, of all times.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fail)?;
    connection.pragma_update(None, "page_size", page_bytes).map_err(fail)?;
    to_wal(&connection).map_err(fail)?;
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit={}; PRAGMA foreign_keys=OFF;",
            crate::wal::KEPT
        ))
        .map_err(fail)?;
    Ok(connection)
}

/// Opens a file that is only looked at.
pub fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let fail = |error: rusqlite::Error| database_error(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_handler(Some(wait_a_little)).map_err(fail)?;
    // Without this SQLite compiles a statement anew whenever a bound value might suggest another plan: each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    connection.execute_batch("PRAGMA query_only=ON;").map_err(fail)?;
    Ok(connection)
}

/// Opens a file that is only looked at, and leaves nothing beside it. A file that nobody has open has no shared memory; a
/// reader would make some.
pub fn open_untouched(path: &Path) -> Result<Connection, StoreError> {
    let mut shared = path.as_os_str().to_owned();
    shared.push("-shm");
    let logged = wal_of(path).metadata().is_ok_and(|log| log.len() > 0);
    if logged || Path::new(&shared).exists() {
        return open_reader(path);
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(immutable(path), flags).map_err(|error| database_error(path, &error))
}

/// The address of a file that does not change while it is read.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    let path = path.to_string_lossy().replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if cfg!(windows) {
        address.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b':' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                address.push(char::from(byte))
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// The switch to WAL does not ask the busy handler, so shims that start together collide on it: try again.
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match connection.query_row("PRAGMA journal_mode=WAL", (), |row| row.get::<_, String>(0)) {
            Ok(_) => return Ok(()),
            Err(error) if is_busy(&error) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(error.sqlite_error_code(), Some(Code::DatabaseBusy | Code::DatabaseLocked))
}

thread_local! {
    /// The patience of what this thread does now.
    static LIMIT: Cell<Duration> = const { Cell::new(PATIENCE) };
}

/// Does something that waits for other processes no longer than this.
pub fn with_patience<T>(patience: Duration, work: impl FnOnce() -> T) -> T {
    let usual = LIMIT.replace(patience);
    let done = work();
    LIMIT.set(usual);
    done
}

/// SQLite's own handler sleeps for milliseconds from the start; our transactions take microseconds. Patience is
/// measured by the clock, because short sleeps are longer than they say on a busy machine.
fn wait_a_little(attempt: i32) -> bool {
    thread_local! {
        static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    let since = match SINCE.get().filter(|_| attempt > 0) {
        Some(since) => since,
        None => {
            let now = Instant::now();
            SINCE.set(Some(now));
            now
        }
    };
    if since.elapsed() >= LIMIT.get() {
        return false;
    }
    let micros = match attempt {
        0..100 => 50,
        100..300 => 500,
        _ => 2_000,
    };
    std::thread::sleep(Duration::from_micros(micros));
    true
}

/// Makes the file itself, private, so that SQLite never creates it with another mode.
pub fn create_file(path: &Path) -> Result<(), StoreError> {
    match private::options().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io("create", path, &error)),
    }
}

/// One process at a time opens, creates or replaces a database file.
pub fn lock_beside(path: &Path) -> Result<File, StoreError> {
    let lock = path.with_extension("lock");
    let fail = |error: std::io::Error| StoreError::io("lock", &lock, &error);
    let file = private::options().write(true).create(true).truncate(false).open(&lock).map_err(fail)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(fail(error.into())),
        }
    }
}

/// Renames the database and what belongs to it to `….corrupt-<time>`, for whoever wants to rescue it.
pub fn move_aside(path: &Path, wall_ms: i64) -> Result<PathBuf, StoreError> {
    let target = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".corrupt-{wall_ms}{suffix}"));
        PathBuf::from(name)
    };
    for suffix in ["-wal", "-shm", ""] {
        let mut from = path.as_os_str().to_owned();
        from.push(suffix);
        match fs::rename(Path::new(&from), target(suffix)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("move aside", path, &error)),
        }
    }
    Ok(target(""))
}

/// `limits.db` → `limits.db-wal`.
pub fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}
