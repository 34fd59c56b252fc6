#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use crate::tests::{BY, home};
use callgate_journal::Outcome;
use callgate_seed::{SeedCall, SeedSession, Seeder};
use proptest::prelude::*;

use super::*;
use crate::{CallFilter, History};

/// Everything that an index says.
fn said(home: &Home) -> Vec<String> {
    let connection = Connection::open(home.search_db()).unwrap();
    let mut said = Vec::new();
    let mut ask = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map((), |row| row.get::<_, String>(0)).unwrap();
        said.extend(rows.map(Result::unwrap));
    };
    ask("SELECT printf('light %d %d %d', rev, at_ms, class) FROM light ORDER BY rev");
    ask("SELECT printf('open %d', rev) FROM open ORDER BY rev");
    ask("SELECT printf('span %d %d %d', span, min_ms, max_ms) FROM spans ORDER BY span");
    ask("SELECT printf('shard %d %d', shard, indexed_to) FROM shards ORDER BY shard");
    ask("SELECT printf('tool %d %s %s', shard, server, tool) FROM tools ORDER BY shard, server, tool");
    let shards: Vec<i64> = {
        let mut statement = connection.prepare("SELECT shard FROM shards ORDER BY shard").unwrap();
        statement.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for shard in shards {
        connection
            .execute_batch(&format!(
                "CREATE VIRTUAL TABLE temp.v{shard} USING fts5vocab(main, {}, 'instance')",
                table(shard)
            ))
            .unwrap();
        ask(&format!("SELECT printf('word %s %d', term, doc) FROM v{shard} ORDER BY term, doc"));
    }
    said
}

fn index_all(home: &Home) {
    let mut indexer = Indexer::open(home).unwrap();
    while indexer.step().unwrap() {}
}

#[derive(Clone, Debug)]
enum Step {
    Call { word: u8, running: bool },
    Settle { word: u8 },
    Skip(i64),
    Index(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..9_u8, prop::bool::weighted(0.3)).prop_map(|(word, running)| Step::Call { word, running }),
        2 => (0..9_u8).prop_map(|word| Step::Settle { word }),
        1 => prop_oneof![Just(3_i64), Just(1_500), Just(66_000)].prop_map(Step::Skip),
        3 => (1..4_u8).prop_map(Step::Index),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn an_index_that_was_kept_up_is_one_that_was_made_at_once(steps in prop::collection::vec(step(), 1..60)) {
        let (_folder, home) = home();
        let mut seeder = Seeder::open(&home).unwrap();
        let name = "aaaaaa".parse().unwrap();
        let made = SeedSession { name, server: "s", client: None, command: "[]", started_ms: 0, end: None, demo: false };
        let session = seeder.session(&made).unwrap();
        let (mut seq, mut open) = (0, Vec::new());
        let mut indexer = Indexer::open(&home).unwrap();
        for step in &steps {
            match step {
                Step::Call { word, running } => {
                    seq += 1;
                    let args = format!(r#"{{"w":"word{word}"}}"#);
                    let outcome = (!running).then_some(Outcome::Ok);
                    let call = SeedCall { session, seq, at_ms: seq as i64, tool: "t", args: Some(&args), outcome, ..SeedCall::default() };
                    let rev = seeder.call(&call).unwrap();
                    open.extend(running.then_some(rev));
                }
                Step::Settle { word } => {
                    if let Some(rev) = open.pop() {
                        seeder.settle(rev, Outcome::Ok, 1, &format!(r#"{{"r":"late{word}"}}"#)).unwrap();
                    }
                }
                Step::Skip(revs) => seeder.skip(*revs),
                Step::Index(times) => {
                    seeder.keep().unwrap();
                    for _ in 0..*times {
                        indexer.step().unwrap();
                    }
                }
            }
        }
        seeder.keep().unwrap();
        while indexer.step().unwrap() {}
        drop(indexer);
        let kept = said(&home);
        remove_files(&home).unwrap();
        index_all(&home);
        prop_assert_eq!(kept, said(&home));
    }
}

#[test]
fn what_is_no_longer_kept_leaves_the_index() {
    let (_folder, home) = home();
    let mut seeder = Seeder::open(&home).unwrap();
    let name = "aaaaaa".parse().unwrap();
    let made =
        SeedSession { name, server: "s", client: None, command: "[]", started_ms: 0, end: None, demo: false };
    let session = seeder.session(&made).unwrap();
    for seq in 1..=30 {
        let args = format!(r#"{{"w":"word{seq}"}}"#);
        seeder.call(&SeedCall { session, seq, tool: "t", args: Some(&args), ..SeedCall::default() }).unwrap();
        if seq % 10 == 0 {
            seeder.skip(SHARD);
        }
    }
    seeder.keep().unwrap();
    index_all(&home);
    assert!(said(&home).iter().any(|said| said == "word word3 3"));
    let kept = 2 * SHARD + 25;
    let database = Connection::open(home.history_db()).unwrap();
    database.execute("DELETE FROM calls WHERE rev < ?1", [kept]).unwrap();
    index_all(&home);
    let said = said(&home);
    assert!(!said.iter().any(|said| said == "word word3 3" || said == "word word15 15"));
    let light: Vec<&String> = said.iter().filter(|said| said.starts_with("light")).collect();
    assert_eq!(light.len(), 6, "{light:?}");
    let history = History::open_reader(&home).unwrap();
    let filter = CallFilter { server: Some("s".to_owned()), ..CallFilter::default() };
    assert_eq!(history.calls(&filter, 100).unwrap().len(), 6);
}

/// A home whose calls, in one shard, are all in the index: `word1` in the first, and so on. A call a minute.
fn indexed(calls: u64) -> (tempfile::TempDir, Home) {
    let (folder, home) = home();
    let mut seeder = Seeder::open(&home).unwrap();
    let name = "aaaaaa".parse().unwrap();
    let made =
        SeedSession { name, server: "s", client: None, command: "[]", started_ms: 0, end: None, demo: false };
    let session = seeder.session(&made).unwrap();
    for seq in 1..=calls {
        let args = format!(r#"{{"w":"word{seq}"}}"#);
        let at_ms = i64::try_from(seq).unwrap() * 60_000;
        seeder
            .call(&SeedCall { session, seq, at_ms, tool: "t", args: Some(&args), ..SeedCall::default() })
            .unwrap();
    }
    seeder.keep().unwrap();
    index_all(&home);
    (folder, home)
}

fn holds(home: &Home, word: &str) -> bool {
    let begin = format!("word {word} ");
    said(home).iter().any(|said| said.starts_with(&begin))
}

#[test]
fn forgetting_makes_the_index_smaller_on_the_disk() {
    let (_folder, home) = indexed(3_000);
    let size = || {
        assert!(crate::forget::empty_log(&sqlite::open(&home.search_db()).unwrap()));
        home.search_db().metadata().unwrap().len()
    };
    let before = size();
    forget(&home, &[1]).unwrap();
    let after = size();
    assert!(after < before / 2, "{before} -> {after}");
}

#[test]
fn a_forgetting_that_fails_halfway_leaves_no_word_of_what_it_removed_in_the_index() {
    let (_folder, home) = indexed(700);
    assert!(holds(&home, "word3") && holds(&home, "word690"));
    let database = Connection::open(home.history_db()).unwrap();
    let refuse =
        "CREATE TRIGGER t BEFORE DELETE ON calls WHEN old.seq = 600 BEGIN SELECT RAISE(ABORT, 'no'); END";
    database.execute_batch(refuse).unwrap();
    let clock = callgate_home::clock::ManualClock::new();
    crate::forget(&home, &crate::Forget::Server("s".to_owned()), BY, &clock).unwrap_err();
    let left: i64 = database.query_row("SELECT count(*) FROM calls", (), |row| row.get(0)).unwrap();
    assert_eq!(left, 200, "the first of two steps was done");
    assert!(!holds(&home, "word3"));
    index_all(&home);
    assert!(!holds(&home, "word3") && holds(&home, "word690"));
}

#[test]
fn whoever_is_killed_while_forgetting_leaves_no_word_for_the_next_who_uses_the_index() {
    let (_folder, home) = indexed(30);
    let before = Indexer::open(&home).unwrap();
    assert!(before.is_in_place());
    let database = Connection::open(home.history_db()).unwrap();
    database
        .execute_batch(
            "BEGIN; DELETE FROM calls WHERE seq = 3; INSERT INTO meta VALUES ('unwiped', 1); COMMIT",
        )
        .unwrap();
    assert!(!before.is_in_place(), "one that is open has to be opened anew");
    index_all(&home);
    assert!(!holds(&home, "word3") && holds(&home, "word4"));
    assert!(Indexer::open(&home).unwrap().is_in_place(), "once is enough");
    // The same when the next thing is another forgetting, of something else.
    database
        .execute_batch(
            "BEGIN; DELETE FROM calls WHERE seq = 4; INSERT INTO meta VALUES ('unwiped', 1); COMMIT",
        )
        .unwrap();
    let clock = callgate_home::clock::ManualClock::new();
    crate::forget(&home, &crate::Forget::Before(120_000), BY, &clock).unwrap();
    assert!(!holds(&home, "word4"));
    assert!(Indexer::open(&home).unwrap().is_in_place());
}

#[test]
fn a_damaged_history_does_not_cost_the_index() {
    let (_folder, home) = indexed(30);
    let mut indexer = Indexer::open(&home).unwrap();
    let database = Connection::open(home.history_db()).unwrap();
    // Where the schema says that its rows are is something else.
    database
        .execute_batch(
            "PRAGMA writable_schema=ON;
             UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'calls_id')
             WHERE name = 'calls';
             PRAGMA schema_version = 9999;",
        )
        .unwrap();
    let error = indexer.step().unwrap_err();
    assert!(error.to_string().contains("history.db"), "{error}");
    assert!(home.search_db().exists());
}

#[test]
fn words_of_calls_that_are_a_day_too_old_leave_the_index() {
    let (_folder, home) = indexed(3_000);
    let database = Connection::open(home.history_db()).unwrap();
    database.execute("DELETE FROM calls WHERE seq < 1000", ()).unwrap();
    index_all(&home);
    assert!(holds(&home, "word3"), "not for a few hours");
    database.execute("DELETE FROM calls WHERE seq < 2000", ()).unwrap();
    index_all(&home);
    assert!(!holds(&home, "word3") && !holds(&home, "word1999"));
    assert!(holds(&home, "word2000") && holds(&home, "word3000"));
}

#[test]
fn the_index_becomes_smaller_on_the_disk_when_what_it_holds_is_no_longer_kept() {
    let (_folder, home) = home();
    let mut seeder = Seeder::open(&home).unwrap();
    let name = "aaaaaa".parse().unwrap();
    let made =
        SeedSession { name, server: "s", client: None, command: "[]", started_ms: 0, end: None, demo: false };
    let session = seeder.session(&made).unwrap();
    for seq in 1..=9_010 {
        // Words that nobody else has take room.
        let words: Vec<String> =
            (0..40).map(|word| format!("{:x}", (seq * 40 + word) * 2_654_435_761)).collect();
        let args = format!("{{\"a\":\"{}\"}}", words.join(" "));
        seeder.call(&SeedCall { session, seq, tool: "t", args: Some(&args), ..SeedCall::default() }).unwrap();
        if seq == 9_000 {
            seeder.skip(2 * SHARD);
        }
    }
    seeder.keep().unwrap();
    index_all(&home);
    let size = || {
        let connection = sqlite::open(&home.search_db()).unwrap();
        assert!(crate::forget::empty_log(&connection));
        home.search_db().metadata().unwrap().len()
    };
    // How large the index of the same words is depends on how many steps made it, and so on the machine's load. How much
    // may be left does not: the spare pages, and what the few calls that are kept take.
    let left = (build::SPARE.unsigned_abs() + 64) * 4_096;
    let before = size();
    assert!(before > 2 * left, "{before}");
    let connection = Connection::open(home.history_db()).unwrap();
    connection.execute("DELETE FROM calls WHERE rev <= ?1", [SHARD]).unwrap();
    index_all(&home);
    let after = size();
    assert!(after <= left, "{before} -> {after}");
}

#[test]
fn an_index_that_cannot_be_made_smaller_does_not_keep_the_machine_busy() {
    let (_folder, home) = indexed(30);
    // Made without the room for it: free pages stay, however often they are to be given back.
    let index = sqlite::open(&home.search_db()).unwrap();
    index
        .execute_batch(
            "PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=NONE; VACUUM; PRAGMA journal_mode=WAL;
             CREATE TABLE large (x); INSERT INTO large VALUES (zeroblob(4000000)); DROP TABLE large;",
        )
        .unwrap();
    let free = || index.query_row("PRAGMA freelist_count", (), |row| row.get::<_, i64>(0)).unwrap();
    let before = free();
    assert!(before > build::SPARE, "{before}");
    let mut indexer = Indexer::open(&home).unwrap();
    assert!((0..10).any(|_| !indexer.step().unwrap()), "it is never done");
    assert_eq!(free(), before);
}

#[test]
fn no_question_becomes_syntax() {
    let (_folder, home) = home();
    drop(callgate_journal::database::open_writer(&home, 1).unwrap());
    let history = History::open_reader(&home).unwrap();
    let connection = open_writer(&home, 1).unwrap();
    connection
        .execute_batch("CREATE VIRTUAL TABLE words_0 USING fts5(words, content='', columnsize=0, detail=none, tokenize=\"ascii tokenchars '='\")")
        .unwrap();
    for text in [
        "\"",
        "a AND",
        "NEAR(a b)",
        "a*",
        "-a",
        "words : x",
        "^a",
        "a\"b",
        "(((",
        "ö\u{0}x",
        "{a b}",
        "'; DROP",
        "=d",
    ] {
        let text = text.to_owned();
        let filter =
            CallFilter { text: Some(text.clone()), server: Some(text.clone()), ..CallFilter::default() };
        let matcher = Matcher::new(&history, &filter).unwrap();
        let asked = question(&matcher, true).unwrap();
        connection
            .query_row("SELECT count(*) FROM words_0 WHERE words_0 MATCH ?1", [&asked], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap_or_else(|error| panic!("{text}: {asked}: {error}"));
    }
}
