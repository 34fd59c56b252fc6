//! Both programs in a home: the gate at the one path that configurations of AI clients name, and its partner.
//!
//! The app brings them along and puts them there at each start; `callgate clients protect` does if nobody has. Bundles move,
//! mount points vanish; this path does not. A session that runs keeps the file that it was started from.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::{
    GATE, PARTNER, PartnerError, beside, is_partner, numbers, partner_name, program, system, version_of,
};

/// More than it takes to put both in place: a partner that is younger may be waiting for its gate.
const UNDER_WAY: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// They were the same already.
    Already,
    Now,
}

/// A gate with the partner that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub gate: PathBuf,
    pub partner: PathBuf,
}

/// Where the gate belongs in a home.
pub fn place(home: &Path) -> PathBuf {
    home.join("bin").join(program(GATE))
}

impl Pair {
    /// The pair of this gate.
    pub fn at(gate: PathBuf) -> Result<Pair, PartnerError> {
        let partner = beside(gate.parent().unwrap_or(Path::new("")), &gate)?;
        Ok(Pair { gate, partner })
    }

    /// The pair that came along with the program that runs here: beside it. `None`: it came without.
    pub fn brought() -> Option<Result<Pair, PartnerError>> {
        let own = std::env::current_exe().ok()?;
        let gate = own.canonicalize().unwrap_or(own).with_file_name(program(GATE));
        gate.is_file().then(|| Pair::at(gate))
    }

    /// Puts both into the home, unless they are there. Whoever starts the gate meanwhile has the old pair or the new, never
    /// one of each, nor a part.
    pub fn install(&self, home: &Path) -> io::Result<Installed> {
        let place = place(home);
        let folder = place.parent().unwrap_or(home);
        let partner = folder.join(partner_name(&self.gate)?);
        if same(&self.gate, &place)? && same(&self.partner, &partner)? {
            return Ok(Installed::Already);
        }
        system::make_folder(folder)?;
        put(&self.partner, &partner)?;
        put(&self.gate, &place)?;
        Ok(Installed::Now)
    }

    /// Puts these, which are of this version, into the home, unless what is there is newer and whole: the app may have brought
    /// that.
    pub fn install_unless_newer(&self, version: &str, home: &Path) -> io::Result<Installed> {
        let there = Pair::at(place(home)).ok().and_then(|pair| version_of(&pair.gate));
        match (there, numbers(version)) {
            (Some(there), Some(ours)) if there > ours => Ok(Installed::Already),
            _ => self.install(home),
        }
    }
}

/// A copy in the place of what is there, in one step.
fn put(source: &Path, place: &Path) -> io::Result<()> {
    // A name of its own: two apps of two versions may do this at once.
    let fresh = place.with_file_name(format!(".{GATE}.{}.new", std::process::id()));
    let done = system::copy(source, &fresh).and_then(|()| system::exchange(&fresh, place));
    if done.is_err() {
        let _gone = fs::remove_file(&fresh);
    }
    done
}

/// Is anything of ours in the home's folder of programs?
pub fn is_installed(home: &Path) -> bool {
    ours(home).is_ok_and(|ours| !ours.is_empty())
}

/// Takes both programs away, with what replacing them left. A folder with other things in it stays.
pub fn remove(home: &Path) -> io::Result<()> {
    let place = place(home);
    let Some(folder) = place.parent() else { return Ok(()) };
    // The gate first: none is ever there without its partner.
    if place.symlink_metadata().is_ok() {
        system::remove(&place)?;
    }
    for (path, litter) in ours(home)? {
        let gone = if litter { fs::remove_file(&path) } else { system::remove(&path) };
        // Somebody may still run what was replaced; then its folder stays with it.
        if !litter {
            gone?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Removes partners of gates that were replaced, unless a session that began before the gate of today may need one.
/// `oldest`: when the oldest session that runs began.
pub fn sweep(home: &Path, oldest: Option<SystemTime>) -> io::Result<()> {
    let gate = place(home);
    let since = fs::metadata(&gate)?.modified()?;
    if oldest.is_some_and(|oldest| oldest <= since) {
        return Ok(());
    }
    let kept = partner_name(&gate)?;
    for (path, litter) in ours(home)? {
        let age = fs::metadata(&path).and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
        let old = matches!(age, Ok(Ok(age)) if age > UNDER_WAY);
        let named = |name: &str| path.file_name().is_some_and(|file| file == name);
        if !litter && old && !named(&kept) && !named(&program(GATE)) && !named(&program(PARTNER)) {
            // It is tried again the next time.
            let _still_running = fs::remove_file(&path);
        }
    }
    Ok(())
}

/// What of ours is in the home's folder of programs, and whether it is only what a copy that did not come to its end, or a
/// program that gave way, left there.
fn ours(home: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let entries = match fs::read_dir(home.join("bin")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let fresh = name.starts_with(&format!(".{GATE}.")) && name.ends_with(".new");
        let litter = fresh || name.starts_with(GATE) && name.ends_with(".old");
        let stem = name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(name);
        if litter || stem == GATE || is_partner(stem) {
            found.push((path, litter));
        }
    }
    Ok(found)
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
pub(crate) mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    pub(crate) fn script(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A pair as a package brings it, with these bytes.
    fn brought(folder: &Path, gate: &str, partner: &str) -> Pair {
        script(&folder.join("package/callgate"), gate);
        script(&folder.join("package/callgate-cli"), partner);
        Pair::at(folder.join("package/callgate")).unwrap()
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    fn count(home: &Path) -> usize {
        fs::read_dir(home.join("bin")).unwrap().count()
    }

    #[test]
    fn both_are_put_in_place_once_and_replaced_when_either_differs() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let pair = brought(folder.path(), "gate one", "partner one");
        assert_eq!(pair.install(&home).unwrap(), Installed::Now);
        let inode = fs::metadata(place(&home)).unwrap().ino();
        assert_eq!(pair.install(&home).unwrap(), Installed::Already);
        assert_eq!(fs::metadata(place(&home)).unwrap().ino(), inode, "not touched");

        let pair = brought(folder.path(), "gate one", "partner one, mended");
        assert_eq!(pair.install(&home).unwrap(), Installed::Now);
        let there = Pair::at(place(&home)).unwrap();
        assert_eq!(
            (text(&there.gate).as_str(), text(&there.partner).as_str()),
            ("gate one", "partner one, mended")
        );
        for path in [&there.gate, &there.partner] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(count(&home), 2, "no litter");
    }

    #[test]
    fn a_gate_never_meets_the_partner_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        brought(folder.path(), "gate one", "partner one").install(&home).unwrap();
        // A session that runs the old gate, as the system keeps it.
        let running = folder.path().join("running");
        fs::hard_link(place(&home), &running).unwrap();

        // It breaks off between the two.
        let next = brought(folder.path(), "gate two", "partner two");
        put(&next.partner, &home.join("bin").join(partner_name(&next.gate).unwrap())).unwrap();
        assert_eq!(text(&Pair::at(place(&home)).unwrap().partner), "partner one");

        next.install(&home).unwrap();
        assert_eq!(text(&Pair::at(place(&home)).unwrap().partner), "partner two");
        assert_eq!(text(&beside(&home.join("bin"), &running).unwrap()), "partner one");
    }

    #[test]
    fn a_partner_that_is_gone_is_told_with_what_to_do_and_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let pair = brought(folder.path(), "gate", "partner");
        pair.install(&home).unwrap();
        fs::remove_file(Pair::at(place(&home)).unwrap().partner).unwrap();
        let said = Pair::at(place(&home)).unwrap_err().to_string();
        assert!(said.contains("has no callgate-cli") && said.contains("start Callgate's app"), "{said}");
        assert_eq!(pair.install(&home).unwrap(), Installed::Now);
        assert!(Pair::at(place(&home)).is_ok());
    }

    #[test]
    fn partners_of_replaced_gates_stay_while_a_session_may_need_them_and_go_later() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let old = |path: &Path| {
            let at = SystemTime::now() - UNDER_WAY * 2;
            fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
        };
        brought(folder.path(), "gate one", "partner one").install(&home).unwrap();
        old(&Pair::at(place(&home)).unwrap().partner);
        brought(folder.path(), "gate two", "partner two").install(&home).unwrap();
        let began = fs::metadata(place(&home)).unwrap().modified().unwrap();

        sweep(&home, Some(began - Duration::from_secs(1))).unwrap();
        assert_eq!(count(&home), 3, "a session from before the change runs");
        // One that was written just now may be waiting for its gate, which another program is about to put in place.
        script(&home.join("bin/callgate-cli-0123456789abcdef"), "partner three");
        sweep(&home, Some(began + Duration::from_secs(1))).unwrap();
        assert_eq!(count(&home), 3);
        old(&home.join("bin/callgate-cli-0123456789abcdef"));
        sweep(&home, None).unwrap();
        assert_eq!(
            (count(&home), text(&Pair::at(place(&home)).unwrap().partner).as_str()),
            (2, "partner two")
        );
    }

    #[test]
    fn a_newer_pair_stays_and_an_older_broken_or_halved_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let pair = brought(folder.path(), "#!/bin/sh\necho callgate 0.2.0\n", "partner");
        for (there, whole, expected) in [
            (None, true, Installed::Now),
            (Some("#!/bin/sh\necho callgate 0.1.9\n"), true, Installed::Now),
            (Some("not a program"), true, Installed::Now),
            (Some("#!/bin/sh\necho callgate 0.10.0\n"), true, Installed::Already),
            (Some("#!/bin/sh\necho callgate 0.10.0\n"), false, Installed::Now),
        ] {
            if let Some(text) = there {
                script(&place(&home), text);
                let partner = home.join("bin").join(partner_name(&place(&home)).unwrap());
                if whole { script(&partner, "") } else { fs::remove_file(partner).unwrap() }
            }
            assert_eq!(pair.install_unless_newer("0.2.0", &home).unwrap(), expected, "{there:?}");
        }
    }

    #[test]
    fn both_go_with_their_litter_and_leave_what_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        remove(home).unwrap();
        assert!(!is_installed(home));
        for (others, left) in [(&[][..], false), (&["mine", "callgate-evil"], true)] {
            for name in ["callgate", ".callgate.77.new", "callgate.77.old", "callgate-cli-0123456789abcdef"]
                .iter()
                .chain(others)
            {
                script(&home.join("bin").join(name), "");
            }
            assert!(is_installed(home));
            remove(home).unwrap();
            assert_eq!((home.join("bin").exists(), is_installed(home)), (left, false));
        }
        assert_eq!(count(home), 2);
    }

    #[test]
    fn a_failed_installation_leaves_the_old_pair() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        brought(folder.path(), "gate one", "partner one").install(&home).unwrap();
        let halved =
            Pair { partner: folder.path().join("missing"), ..brought(folder.path(), "gate two", "") };
        assert!(halved.install(&home).is_err());
        let there = Pair::at(place(&home)).unwrap();
        assert_eq!((text(&there.gate).as_str(), text(&there.partner).as_str()), ("gate one", "partner one"));
    }
}
