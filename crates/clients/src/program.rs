//! `bin/callgate` in the home: the one path that configurations of AI clients name.
//!
//! The app brings the program along and puts it there at each start; `callgate clients protect` does if nobody has. Bundles move, mount points vanish; this path does
//! not. A session that runs keeps the file that it was started from.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[cfg_attr(unix, path = "program/unix.rs")]
#[cfg_attr(windows, path = "program/windows.rs")]
mod system;

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(3);
/// More than any program says of its version.
const LONGEST: u64 = 4096;
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

/// Takes our program away, with what replacing it left. A folder with other things in it stays.
pub fn remove(home: &Path) -> io::Result<()> {
    let place = place(home);
    let Some(folder) = place.parent() else { return Ok(()) };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == NAME {
            system::remove(&entry.path())?;
        } else if is_litter(&name) {
            // Somebody may still run it; then its folder stays with it.
            let _gone = fs::remove_file(entry.path());
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// What a copy that did not come to its end leaves, or one that gave way.
fn is_litter(name: &str) -> bool {
    let fresh = name.starts_with(&format!(".{NAME}.")) && name.ends_with(".new");
    fresh || name.starts_with("callgate.") && name.ends_with(".old")
}

/// The numbers of the version that a program of ours says it has; nothing, if it does not run.
pub fn version_of(program: &Path) -> Option<Vec<u64>> {
    numbers(ask_version(program, None)?.split_whitespace().nth(1)?)
}

/// What a program answers to `--version`, in its first line; nothing, if it does not run or takes too long. `path` is the
/// `PATH` that it runs with, if not ours.
pub fn ask_version(program: &Path, path: Option<&OsStr>) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.envs(path.map(|path| ("PATH", path)));
    // A version manager looks in the folder that it is started in, and may begin to install what it finds there.
    command.current_dir(program.parent()?);
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, said) = mpsc::channel();
    // Ends with the program, or with what it started and left behind.
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(LONGEST).read_to_string(&mut text);
        let _nobody = sender.send(read.map(|_| text));
    });
    let said = said.recv_timeout(PATIENCE);
    let _ended = child.kill();
    let _reaped = child.wait();
    Some(said.ok()?.ok()?.lines().next()?.trim().to_owned())
}

/// `1.2.3` as numbers that can be compared.
pub fn numbers(version: &str) -> Option<Vec<u64>> {
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
    fn the_program_goes_with_its_litter_and_leaves_what_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        remove(home).unwrap();
        for (others, left) in [(&[][..], false), (&["mine"], true)] {
            for name in ["callgate", ".callgate.77.new", "callgate.77.old"].iter().chain(others) {
                fs::create_dir_all(home.join("bin")).unwrap();
                script(&home.join("bin").join(name), "");
            }
            remove(home).unwrap();
            assert_eq!(home.join("bin").exists(), left);
        }
        assert_eq!(fs::read_dir(home.join("bin")).unwrap().count(), 1);
    }

    #[test]
    fn nobody_waits_for_ever_for_a_version() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("slow");
        script(&program, "#!/bin/sh\necho v18.2.1 and more\necho twice\n");
        assert_eq!(ask_version(&program, None).as_deref(), Some("v18.2.1 and more"));
        script(&program, "#!/bin/sh\nexec sleep 600\n");
        assert_eq!(ask_version(&program, None), None);
        assert_eq!(ask_version(&folder.path().join("missing"), None), None);
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
