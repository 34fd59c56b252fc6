//! `bin/callgate` in the home: the one path that configurations of AI clients name.
//!
//! The app brings the program along and puts it there at each start; `callgate clients protect` does if nobody has. Bundles move, mount points vanish; this path does
//! not. A session that runs keeps the file that it was started from.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[cfg_attr(unix, path = "program/unix.rs")]
#[cfg_attr(windows, path = "program/windows.rs")]
mod system;

const NAME: &str = if cfg!(windows) { "callgate.exe" } else { "callgate" };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// It was the same already.
    Already,
    Now,
}

/// Where the program belongs.
pub fn place(home: &Path) -> PathBuf {
    home.join("bin").join(NAME)
}

/// The program that came along with the app: beside it.
pub fn brought() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(NAME);
    beside.is_file().then_some(beside)
}

/// Puts `source` at its place, unless it is there. Whoever looks sees the old program or the new, never a part.
pub fn install(source: &Path, home: &Path) -> io::Result<Installed> {
    let place = place(home);
    if same(source, &place)? {
        return Ok(Installed::Already);
    }
    let folder = place.parent().unwrap_or(home);
    system::make_folder(folder)?;
    // A name of its own: two apps of two versions may do this at once.
    let fresh = folder.join(format!(".{NAME}.{}.new", std::process::id()));
    let done = system::copy(source, &fresh).and_then(|()| system::exchange(&fresh, &place));
    if done.is_err() {
        let _gone = fs::remove_file(&fresh);
    }
    done.map(|()| Installed::Now)
}

/// Puts `source`, which is of this version, at its place, unless what is there is newer: the app may have brought that.
pub fn install_unless_newer(source: &Path, version: &str, home: &Path) -> io::Result<Installed> {
    match (version_of(&place(home)), numbers(version)) {
        (Some(there), Some(ours)) if there > ours => Ok(Installed::Already),
        _ => install(source, home),
    }
}

/// What the program at this path says of itself; nothing, if it does not run.
fn version_of(program: &Path) -> Option<Vec<u64>> {
    let said =
        Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    numbers(String::from_utf8(said.stdout).ok()?.split_whitespace().nth(1)?)
}

fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// Equal byte for byte.
fn same(one: &Path, other: &Path) -> io::Result<bool> {
    let mut other = match fs::File::open(other) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut one = fs::File::open(one)?;
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let count = one.read(&mut left)?;
        if count == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn script(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_program_is_put_in_place_once_and_replaced_when_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let source = folder.path().join("callgate");
        script(&source, "#!/bin/sh\necho one\n");
        assert_eq!(install(&source, &home).unwrap(), Installed::Now);
        let inode = fs::metadata(place(&home)).unwrap().ino();
        assert_eq!(install(&source, &home).unwrap(), Installed::Already);
        assert_eq!(fs::metadata(place(&home)).unwrap().ino(), inode, "not touched");

        // A session that runs the old one keeps it.
        let running = fs::File::open(place(&home)).unwrap();
        script(&source, "#!/bin/sh\necho two\n");
        assert_eq!(install(&source, &home).unwrap(), Installed::Now);
        assert_eq!(io::read_to_string(running).unwrap(), "#!/bin/sh\necho one\n");
        assert_eq!(fs::read_to_string(place(&home)).unwrap(), "#!/bin/sh\necho two\n");
        assert_eq!(fs::metadata(place(&home)).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(home.join("bin")).unwrap().count(), 1, "no litter");
    }

    #[test]
    fn a_newer_program_stays_and_an_older_or_broken_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let source = folder.path().join("callgate");
        script(&source, "#!/bin/sh\necho callgate 0.2.0\n");
        for (there, expected) in [
            (None, Installed::Now),
            (Some("#!/bin/sh\necho callgate 0.1.9\n"), Installed::Now),
            (Some("not a program"), Installed::Now),
            (Some("#!/bin/sh\necho callgate 0.10.0\n"), Installed::Already),
        ] {
            if let Some(text) = there {
                script(&place(&home), text);
            }
            assert_eq!(install_unless_newer(&source, "0.2.0", &home).unwrap(), expected, "{there:?}");
        }
    }

    #[test]
    fn a_failed_installation_leaves_the_old_program() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let source = folder.path().join("callgate");
        script(&source, "one");
        install(&source, &home).unwrap();
        assert!(install(&folder.path().join("missing"), &home).is_err());
        assert_eq!(fs::read_to_string(place(&home)).unwrap(), "one");
    }
}
