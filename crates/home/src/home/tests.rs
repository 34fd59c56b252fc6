#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

#[test]
fn a_home_of_a_newer_callgate_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.prepare_with(|_| Ok(())).unwrap();
    fs::write(home.format(), "2\n").unwrap();
    assert!(matches!(home.prepare_with(|_| Ok(())), Err(HomeError::Newer { found: 2, .. })));
}

#[test]
fn many_processes_may_prepare_one_home_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| home.prepare_with(|_| Ok(())).unwrap());
        }
    });
    assert!(home.was_prepared());
}

#[test]
fn of_two_edits_of_policies_the_second_waits() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    home.prepare_with(|_| Ok(())).unwrap();
    let first = lock_policies(&home).unwrap();
    let path = home.policies_dir().join(".lock");
    let second = File::options().write(true).open(&path).unwrap();
    assert!(second.try_lock().is_err());
    drop(first);
    second.try_lock().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_home_or_policy_folder_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.prepare_with(|_| Ok(())).unwrap();
        for path in [home.policies_dir(), home.path().to_owned()] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).unwrap();
            let error = home.prepare_with(|_| Ok(())).unwrap_err();
            assert!(matches!(error, HomeError::Unsafe { .. }), "{error}");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        home.prepare_with(|_| Ok(())).unwrap();
    }

    #[test]
    fn only_plain_private_files_are_read_as_policy() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        atomic::replace(&plain, b"{}").unwrap();
        assert_eq!(read_private(&plain).unwrap(), "{}");

        let link = folder.path().join("link");
        symlink(&plain, &link).unwrap();
        assert!(read_private(&link).is_err());

        // A pipe must not block the reader either.
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read_private(&pipe).is_err());
        assert!(read_private(Path::new("/dev/zero")).is_err());

        fs::set_permissions(&plain, fs::Permissions::from_mode(0o666)).unwrap();
        let words = read_private(&plain).unwrap_err().to_string();
        assert!(words.contains("others may write it"), "{words}");
    }

    #[test]
    fn a_read_only_place_says_what_to_do() {
        let error = Home::at("/proc/callgate-home").prepare_with(|_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("CALLGATE_HOME"), "{error}");
    }
}

#[test]
fn a_program_whose_name_only_begins_like_the_partner_s_says_nothing_of_a_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.prepare_with(|_| Ok(())).unwrap();
    let around = |name: &str| Home::around(&folder.path().join("bin").join(name));
    for ours in ["callgate", "callgate.exe", "callgate-cli", "callgate-cli-0123456789abcdef"] {
        assert_eq!(around(ours), Some(home.clone()), "{ours}");
    }
    for other in ["callgate-client", "callgate-cli.sh", "callgate-cli-0123", "callgate-cli2", "node"] {
        assert_eq!(around(other), None, "{other}");
    }
}
