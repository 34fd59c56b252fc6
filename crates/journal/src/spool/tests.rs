#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::Path;

use super::reader::{Head, Reader};
use super::record::{Opened, Record, records};
use super::writer::{Group, Spool};
use crate::{EventKind, Origin};

fn opened() -> Opened {
    Opened {
        session: "abc123".to_owned(),
        server: "s".to_owned(),
        client: None,
        command: "[]".to_owned(),
        started_ms: 1,
        demo: false,
        pid: 1,
    }
}

pub(crate) fn created(path: &Path, opened: &Opened) -> Spool {
    let mut spool = Spool::closed(path, callgate_home::StoreError::Ended);
    spool.begin(opened).unwrap();
    spool
}

fn append(spool: &mut Spool, texts: &[&str]) {
    let mut group = Group::new();
    for text in texts {
        group.push(&Record::Event { at_ms: 1, kind: EventKind::Note, origin: Some(Origin::Cli), text });
    }
    group.seal();
    spool.append(&mut group).unwrap();
}

/// The numbers and texts that a reader finds.
fn read(path: &Path) -> Option<Vec<(u64, String)>> {
    let (mut reader, head) = Reader::open(path).unwrap();
    let Head::Session(found) = head else { return None };
    assert_eq!(found, opened());
    let mut texts = Vec::new();
    loop {
        let groups = reader.next_groups().unwrap();
        if groups.is_empty() {
            return Some(texts);
        }
        for group in groups {
            for record in records(group.records) {
                let Record::Event { text, .. } = record else { panic!("{record:?}") };
                texts.push((group.number, text.to_owned()));
            }
        }
    }
}

#[test]
fn a_spool_torn_anywhere_reads_as_a_prefix_of_whole_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abc123");
    let mut spool = created(&path, &opened());
    append(&mut spool, &["a", "b"]);
    append(&mut spool, &["c"]);
    append(&mut spool, &["d", "e", "f"]);
    let whole = fs::read(&path).unwrap();
    let all = read(&path).unwrap();
    assert_eq!(all.len(), 6);
    let torn = folder.path().join("torn");
    let mut lengths = std::collections::BTreeSet::new();
    for end in 0..=whole.len() {
        fs::write(&torn, &whole[..end]).unwrap();
        let Some(found) = read(&torn) else { continue };
        assert_eq!(found[..], all[..found.len()], "torn at {end}");
        lengths.insert(found.len());
    }
    assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [0, 2, 3, 6]);
}

#[test]
fn a_flipped_bit_ends_the_reading_and_invents_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abc123");
    let mut spool = created(&path, &opened());
    append(&mut spool, &["a", "b"]);
    append(&mut spool, &["c"]);
    let whole = fs::read(&path).unwrap();
    let all = read(&path).unwrap();
    let head = spool.base() as usize;
    for at in head..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let found = read(&path).unwrap();
        assert!(found.len() < all.len() && found[..] == all[..found.len()], "flipped at {at}");
    }
}

#[test]
fn groups_larger_than_a_chunk_are_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abc123");
    let mut spool = created(&path, &opened());
    let large = "x".repeat(3 << 20);
    append(&mut spool, &["a"]);
    append(&mut spool, &[&large, "b"]);
    append(&mut spool, &["c"]);
    let texts: Vec<usize> = read(&path).unwrap().into_iter().map(|(_, text)| text.len()).collect();
    assert_eq!(texts, [1, 3 << 20, 1, 1]);
}

#[test]
fn numbers_go_on_after_truncation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abc123");
    let mut spool = created(&path, &opened());
    append(&mut spool, &["a"]);
    let full = spool.len();
    append(&mut spool, &["b"]);
    assert!(!spool.truncate(full, 1).unwrap(), "not everything was drained");
    let full = spool.len();
    assert!(spool.truncate(full, 1).unwrap());
    assert_eq!(read(&path).unwrap(), []);
    append(&mut spool, &["c"]);
    assert_eq!(read(&path).unwrap(), [(3, "c".to_owned())]);
}

#[test]
fn a_spool_of_another_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, b"CGSPOOL9whatever").unwrap();
    assert!(matches!(Reader::open(&path).unwrap().1, Head::Foreign));
    fs::write(&path, b"CGSP").unwrap();
    assert!(matches!(Reader::open(&path).unwrap().1, Head::Empty));
}
