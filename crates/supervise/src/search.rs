//! Programs that a client cannot find: started from a desktop it knows little of where a shell looks.
//!
//! A name that its `PATH` does not have is looked for where the person's login shell would find it, and in the places of the
//! usual version managers. What is found by the client's own `PATH` stays what it is: the gate does not change which program runs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::platform::program::{file_of, is_bare, places};

/// The newest first: an old version left lying about must not win.
const NEWEST: &str = "*";

/// A `PATH` that has the program, or at least was looked through for it; nothing, if the present one will do. `login` is
/// the `PATH` of a login shell and is asked for only if it is needed.
pub fn wider_path(
    program: &OsStr,
    path: Option<&OsStr>,
    home: &Path,
    login: impl FnOnce(&dyn Fn(&OsStr) -> bool) -> Option<OsString>,
) -> Option<OsString> {
    let own: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    if !is_bare(program) || own.iter().any(|folder| file_of(folder, program).is_some()) {
        return None;
    }
    let has = |path: &OsStr| find(program, path).is_some();
    let login = login(&has).unwrap_or_default();
    let mut folders = own;
    for folder in std::env::split_paths(&login).chain(known(home)) {
        if !folder.as_os_str().is_empty() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).ok()
}

/// The file that a program is by this `PATH`; one that is named by its path, if it is a program.
pub fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if !is_bare(program) {
        let named = Path::new(program);
        return file_of(named.parent()?, named.file_name()?);
    }
    std::env::split_paths(path).find_map(|folder| file_of(&folder, program))
}

/// The places of version managers and package managers that are there.
fn known(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in places() {
        let path = match place.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(place),
        };
        match path.to_str().and_then(|path| path.split_once(NEWEST)) {
            None => found.push(path),
            Some((above, below)) => {
                let versions = std::fs::read_dir(above).into_iter().flatten().filter_map(Result::ok);
                let mut versions: Vec<_> = versions.map(|entry| entry.path()).collect();
                versions.sort_by_key(|path| std::cmp::Reverse(version(path)));
                found.extend(versions.into_iter().map(|path| path.join(below.trim_start_matches('/'))));
            }
        }
    }
    found.retain(|folder| folder.is_dir());
    found
}

fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_program_of_the_own_path_is_left_to_it_and_no_shell_is_asked() {
        let home = tempfile::tempdir().unwrap();
        program(&home.path().join("bin/tool"));
        let path = home.path().join("bin").into_os_string();
        let asked = Cell::new(false);
        let wider = |name: &str| {
            wider_path(name.as_ref(), Some(&path), home.path(), |_| {
                asked.set(true);
                None
            })
        };
        assert_eq!((wider("tool"), wider("/some/where"), wider("./here")), (None, None, None));
        assert!(!asked.get());
        assert!(wider("other").is_some() && asked.get());
    }

    #[test]
    fn a_program_is_found_by_name_or_by_path_and_a_mere_file_is_none() {
        let home = tempfile::tempdir().unwrap();
        let tool = home.path().join("b/tool");
        program(&tool);
        fs::create_dir_all(home.path().join("a")).unwrap();
        fs::write(home.path().join("a/tool"), "").unwrap();
        let path = std::env::join_paths([home.path().join("a"), home.path().join("b")]).unwrap();
        assert_eq!(find("tool".as_ref(), &path), Some(tool.clone()));
        assert_eq!(find(tool.as_os_str(), "".as_ref()), Some(tool));
        assert_eq!(find(home.path().join("a/tool").as_os_str(), &path), None);
        assert_eq!(find("other".as_ref(), &path), None);
    }

    #[test]
    fn the_shell_comes_before_the_managers_and_the_newest_before_the_old() {
        let home = tempfile::tempdir().unwrap();
        for version in ["v9.1.0", "v20.11.1", "v18.0.0"] {
            program(&home.path().join(".nvm/versions/node").join(version).join("bin/node"));
        }
        program(&home.path().join(".volta/bin/node"));
        let login = home.path().join("mine").into_os_string();
        let found =
            wider_path("node".as_ref(), Some("/own".as_ref()), home.path(), |_| Some(login.clone())).unwrap();
        let found: Vec<PathBuf> = std::env::split_paths(&found).collect();
        let nvm = |version: &str| home.path().join(".nvm/versions/node").join(version).join("bin");
        let wanted = [
            PathBuf::from("/own"),
            login.into(),
            nvm("v20.11.1"),
            nvm("v18.0.0"),
            nvm("v9.1.0"),
            home.path().join(".volta/bin"),
        ];
        let ours: Vec<PathBuf> = found.into_iter().filter(|path| wanted.contains(path)).collect();
        assert_eq!(ours, wanted);
    }
}
