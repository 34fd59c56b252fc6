#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeMap;

use callgate_controls::prepare_home;

use super::*;
use crate::History;

/// One that was made as people's are.
fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    prepare_home(&home).unwrap();
    (folder, home)
}

/// Every file with its content; of SQLite's shared memory only that it is there, since every reader signs in there.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for path in entries(folder) {
        let shared = path.extension().is_some_and(|extension| extension == "db-shm");
        found.insert(path.clone(), if path.is_file() && !shared { fs::read(&path).ok() } else { None });
        found.extend(if path.is_dir() { tree(&path) } else { BTreeMap::new() });
    }
    found
}

fn all(home: &Home) -> (Result<Option<()>, StoreError>, Result<Option<Counters>, StoreError>) {
    (history(home), counters(home))
}

#[test]
fn a_sound_home_is_told_as_sound_and_not_touched() {
    let (_folder, home) = home();
    let before = tree(home.path());
    let (past, counts) = all(&home);
    assert!(matches!((past, counts), (Ok(None), Ok(Some(Counters::Sound)))), "there is no history yet");
    assert_eq!(tree(home.path()), before);
    // With a history, once while somebody reads it, and once from a copy without the files beside it.
    let reader = History::open_reader(&home).unwrap();
    for closed in [false, true] {
        if closed {
            for name in ["history.db-wal", "history.db-shm"] {
                let _gone = fs::remove_file(home.path().join(name));
            }
        }
        let before = tree(home.path());
        assert!(matches!(all(&home), (Ok(Some(())), Ok(Some(Counters::Sound)))), "{:?}", all(&home));
        assert_eq!((leftovers(&home), set_aside(&home)), (Vec::new(), Vec::new()));
        assert_eq!(open_to_others(&home), []);
        assert!(free_bytes(&home).is_some_and(|free| free > 0));
        assert_eq!(tree(home.path()), before);
    }
    drop(reader);
}

#[test]
fn damage_is_told_and_left_for_others_to_mend() {
    let (_folder, home) = home();
    drop(History::open_reader(&home).unwrap());
    for path in [home.history_db(), home.limits_db()] {
        fs::write(&path, "this was a database once, and is long enough to be looked at".repeat(40)).unwrap();
        for beside in ["-wal", "-shm"] {
            let _gone = fs::remove_file(format!("{}{beside}", path.display()));
        }
    }
    let before = tree(home.path());
    let (past, counts) = all(&home);
    assert!(past.unwrap_err().is_corrupt() && counts.unwrap_err().is_corrupt());
    assert_eq!(tree(home.path()), before);

    fs::remove_file(home.limits_db()).unwrap();
    assert!(matches!(counters(&home), Ok(Some(Counters::Lost))));
    fs::write(home.path().join("history.db.corrupt-7"), "").unwrap();
    fs::write(home.path().join("history.db.corrupt-7-wal"), "").unwrap();
    assert_eq!(set_aside(&home), [home.path().join("history.db.corrupt-7")]);
}

#[test]
fn counters_from_elsewhere_are_told() {
    let (_folder, home) = home();
    for name in ["limits.db", "limits.db-wal"] {
        let (path, copy) = (home.path().join(name), home.path().join("copy"));
        fs::copy(&path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    }
    fs::remove_file(home.path().join("limits.db-shm")).unwrap();
    assert!(matches!(counters(&home), Ok(Some(Counters::Replaced))), "{:?}", counters(&home));
}

#[test]
fn what_a_killed_session_left_is_found() {
    let (_folder, home) = home();
    let (gone, newer) = (SessionId::random(), SessionId::random());
    fs::write(home.lease_lock(gone), "").unwrap();
    fs::write(home.spool(newer), "CGSPOOL9 of another time").unwrap();
    let mut found = leftovers(&home);
    found.sort_by_key(|left| left.unreadable);
    assert_eq!(
        found,
        [Leftover { session: gone, unreadable: false }, Leftover { session: newer, unreadable: true }]
    );
}

#[cfg(unix)]
#[test]
fn what_others_may_read_or_write_is_told_apart() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, home) = home();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&home.default_policy(), 0o666);
    open(&home.limits_db(), 0o640);
    let found = open_to_others(&home);
    assert_eq!(
        found.iter().map(|one| &one.path).collect::<Vec<_>>(),
        [&home.limits_db(), &home.default_policy()]
    );
    assert_eq!(found.iter().map(|one| one.written.is_some()).collect::<Vec<_>>(), [false, true]);
}
