#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use crate::spool::reader::Head;
use crate::spool::record::Record;
use crate::spool::tests::created;
use crate::spool::writer::{Group, Spool};
use crate::testing::{events, home};

#[test]
fn a_group_after_a_gap_is_not_filed_before_what_is_missing() {
    let (folder, home) = home();
    let opened = Opened {
        session: "abc123".to_owned(),
        server: "s".to_owned(),
        client: None,
        command: "[]".to_owned(),
        started_ms: 1,
        demo: false,
        pid: 1,
    };
    let path = folder.path().join("abc123");
    let mut spool = created(&path, &opened);
    let append = |spool: &mut Spool, text: &str| {
        let mut group = Group::new();
        group.push(&Record::Event { at_ms: 1, kind: EventKind::Note, origin: None, text });
        group.seal();
        spool.append(&mut group).unwrap();
    };
    let texts = || events(&home).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    let mut filer = Filer::open(&home, 1).unwrap();
    append(&mut spool, "1");
    let (mut reader, Head::Session(opened)) = Reader::open(&path).unwrap() else { panic!() };
    while filer.file(&opened, &mut reader, Duration::from_secs(1)).unwrap() {}
    assert_eq!(texts(), ["1"]);
    // Emptied and written anew under the reader, which now stands between groups 2 and 3.
    let len = spool.len();
    assert!(spool.truncate(len, 1).unwrap());
    append(&mut spool, "2");
    append(&mut spool, "3");
    let before = reader.offset();
    assert!(!filer.file(&opened, &mut reader, Duration::from_secs(1)).unwrap());
    assert_eq!((texts(), reader.offset()), (vec!["1".to_owned()], before));
    let (mut reader, _) = Reader::open(&path).unwrap();
    assert!(!filer.file(&opened, &mut reader, Duration::from_secs(1)).unwrap());
    assert_eq!(texts(), ["1", "2", "3"]);
}
