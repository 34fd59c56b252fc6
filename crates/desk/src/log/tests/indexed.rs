//! The log with an index of words that is whole, lost, broken, or has to forget.

use super::*;

#[test]
fn what_was_forgotten_is_found_by_nobody_and_is_not_in_the_file_any_more() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    for (name, server, word) in [("aaaaaa", "keep", "plainword"), ("bbbbbb", "drop", "secretword")] {
        let key = session(&mut seeder, name, server, 0);
        let args = format!(r#"{{"a":"{word}"}}"#);
        for seq in 1..=50 {
            seeder
                .call(&SeedCall { session: key, seq, tool: "t", args: Some(&args), ..SeedCall::default() })
                .unwrap();
        }
    }
    seeder.keep().unwrap();
    drop(seeder);
    while fixture.desk.index_step().unwrap() {}
    let holds = |word: &[u8]| {
        ["search.db", "search.db-wal"].iter().any(|name| {
            let bytes = std::fs::read(fixture.home.path().join(name)).unwrap_or_default();
            bytes.windows(word.len()).any(|found| found == word)
        })
    };
    assert!(holds(b"secretword") && holds(b"plainword"));
    // The app has it open, and goes on.
    forget(&fixture.home, &Forget::Server("drop".to_owned()), BY, fixture.clock.as_ref()).unwrap();
    assert!(!holds(b"secretword"), "nothing of it is left on the disk");
    let found = |text: &str| {
        let filter = CallFilter { text: Some(text.to_owned()), ..CallFilter::default() };
        fixture.desk.log_page(&filter, &PageFrom::Newest, 100).unwrap().entries.len()
    };
    assert_eq!((found("secretword"), found("plainword")), (0, 50));
    while fixture.desk.index_step().unwrap() {}
    assert_eq!((found("secretword"), found("plainword")), (0, 50));
    assert!(!holds(b"secretword") && holds(b"plainword"));
}

#[test]
fn an_index_that_is_lost_broken_or_of_another_history_is_made_anew() {
    let fixture = fixture();
    let fill = |home: &Home, word: &str| {
        let mut seeder = Seeder::open(home).unwrap();
        let key = session(&mut seeder, "aaaaaa", "s", 0);
        let args = format!(r#"{{"a":"{word}"}}"#);
        for seq in 1..=20 {
            seeder
                .call(&SeedCall { session: key, seq, tool: "t", args: Some(&args), ..SeedCall::default() })
                .unwrap();
        }
        seeder.keep().unwrap();
    };
    let step = |desk: &Desk| {
        // A broken file may be told once; then it is mended.
        for _ in 0..50 {
            if matches!(desk.index_step(), Ok(false)) {
                return;
            }
        }
        panic!("the index is never done");
    };
    let found = |desk: &Desk, text: &str| {
        let filter = CallFilter { text: Some(text.to_owned()), ..CallFilter::default() };
        desk.log_page(&filter, &PageFrom::Newest, 100).unwrap().entries.len()
    };
    fill(&fixture.home, "first");
    step(&fixture.desk);
    assert_eq!(found(&fixture.desk, "first"), 20);
    // Lost under a running app.
    for name in ["search.db", "search.db-wal", "search.db-shm"] {
        let _gone = std::fs::remove_file(fixture.home.path().join(name));
    }
    assert_eq!(found(&fixture.desk, "first"), 20);
    step(&fixture.desk);
    assert!(fixture.home.search_db().exists());
    assert_eq!(found(&fixture.desk, "first"), 20);
    // Broken.
    let desk = || Desk::new(fixture.home.clone(), fixture.clock.clone(), Origin::Window);
    for name in ["search.db-wal", "search.db-shm"] {
        let _gone = std::fs::remove_file(fixture.home.path().join(name));
    }
    std::fs::write(fixture.home.search_db(), vec![b'x'; 40_000]).unwrap();
    let again = desk();
    assert_eq!(found(&again, "first"), 20);
    step(&again);
    assert_eq!(found(&again, "first"), 20);
    // Another history, already longer than the index is.
    drop(again);
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        let _gone = std::fs::remove_file(fixture.home.path().join(name));
    }
    fill(&fixture.home, "second");
    let again = desk();
    assert_eq!((found(&again, "first"), found(&again, "second")), (0, 20));
    step(&again);
    assert_eq!((found(&again, "first"), found(&again, "second")), (0, 20));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(fixture.home.search_db()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "as private as the history");
    }
}

#[test]
fn choices_name_what_was_called_whether_it_is_indexed_or_not() {
    let fixture = fixture();
    let mut seeder = Seeder::open(&fixture.home).unwrap();
    let one = session(&mut seeder, "aaaaaa", "one", 0);
    let two = session(&mut seeder, "bbbbbb", "two", 0);
    seeder.call(&SeedCall { session: one, seq: 1, tool: "a", client: "c", ..SeedCall::default() }).unwrap();
    seeder.keep().unwrap();
    while fixture.desk.index_step().unwrap() {}
    seeder.call(&SeedCall { session: two, seq: 1, tool: "b", client: "d", ..SeedCall::default() }).unwrap();
    seeder.keep().unwrap();
    let choices = fixture.desk.choices().unwrap();
    assert_eq!(choices.servers, ["one", "two"]);
    assert_eq!(choices.clients, ["c", "d"]);
    let tools: Vec<_> = choices.tools.iter().map(|tool| (tool.server.as_str(), tool.tool.as_str())).collect();
    assert_eq!(tools, [("one", "a"), ("two", "b")]);
}
