//! Files that must not be lost, on a real disk.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;

#[test]
fn a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    for mode in [0o600, 0o640, 0o644] {
        let _ = fs::remove_file(&path);
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        replace(&read(&path).unwrap(), b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_that_somebody_write_protected_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(replace(&read(&path).unwrap(), b"new"), Err(FileError::Locked)));
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_link_stays_a_link_and_its_target_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("dotfiles/c.json");
    fs::create_dir(real.parent().unwrap()).unwrap();
    fs::write(&real, "old").unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    symlink(&real, &first).unwrap();
    symlink(&first, &second).unwrap();
    replace(&read(&second).unwrap(), b"new").unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(
        second.symlink_metadata().unwrap().is_symlink() && first.symlink_metadata().unwrap().is_symlink()
    );
}

#[test]
fn an_edit_made_meanwhile_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    fs::write(&path, "old").unwrap();
    let before = read(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(replace(&before, b"ours"), Err(FileError::Changed)));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    fs::remove_file(&path).unwrap();
    assert!(matches!(replace(&before, b"ours"), Err(FileError::Changed)));
    assert!(!path.exists() && fs::read_dir(folder.path()).unwrap().count() == 0);
}

#[test]
fn what_is_no_ordinary_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    symlink(at("b"), at("a")).unwrap();
    symlink(at("a"), at("b")).unwrap();
    assert!(matches!(read(&at("a")), Err(FileError::Link(_))));
    symlink(at("nowhere"), at("dangling")).unwrap();
    assert!(matches!(read(&at("dangling")), Err(FileError::Link(_))));
    fs::create_dir(at("folder")).unwrap();
    assert!(matches!(read(&at("folder")), Err(FileError::NotRegular)));
    // Opening a pipe would wait for a writer for ever.
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    assert!(matches!(read(&at("pipe")), Err(FileError::NotRegular)));
    assert!(matches!(read(&at("missing")), Err(FileError::Read(_))));
    let large = File::create(at("large")).unwrap();
    large.set_len(LARGEST + 1).unwrap();
    assert!(matches!(read(&at("large")), Err(FileError::Large(_))));
}

#[test]
fn a_folder_that_cannot_be_written_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    fs::write(&path, "old").unwrap();
    let before = read(&path).unwrap();
    // A name too long for the file that is to take its place; permissions do not stop a superuser.
    let long = folder.path().join("x".repeat(250));
    fs::write(&long, "old").unwrap();
    assert!(matches!(replace(&read(&long).unwrap(), b"new"), Err(FileError::Write(_))));
    assert_eq!(fs::read(&long).unwrap(), b"old");
    // And one whose second name would keep the old text.
    fs::hard_link(&path, folder.path().join("second")).unwrap();
    let linked = read(&path).unwrap();
    assert!(matches!(replace(&linked, b"new"), Err(FileError::OtherNames)));
    assert_eq!((fs::read(&path).unwrap(), before.bytes), (b"old".to_vec(), b"old".to_vec()));
}

#[test]
fn a_new_file_is_private_and_never_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/c.json");
    create(&path, b"{}").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert!(matches!(create(&path, b"x"), Err(FileError::Changed)));
    assert_eq!(fs::read(&path).unwrap(), b"{}");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no litter");
}
