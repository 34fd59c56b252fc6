//! Forget at the desk: nothing goes before a yes, and what was loosened stays.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::time::Duration;

use callgate_history::{CallFilter, EventRow, Forget, History};
use callgate_home::clock::Clock as _;
use callgate_journal::{Decision, EventKind, Origin, record_event};

use crate::testing::TestHome;
use crate::view::{ErrorCode, Restriction, Target};

fn delete(place: &TestHome) {
    let asked = place.desk.ask_to_forget(Forget::All, "the window").unwrap();
    place.desk.confirm(&asked.token).unwrap();
}

fn events(place: &TestHome) -> Vec<EventRow> {
    History::open_reader(&place.home).unwrap().events(None, 99).unwrap()
}

#[test]
fn nothing_is_forgotten_before_a_yes_and_the_question_says_exactly_what_goes() {
    let place = TestHome::new();
    let (files, mail) = (place.session("files"), place.session("mail"));
    files.calls("read", 3);
    mail.calls("send", 2);
    let asked = place.desk.ask_to_forget(Forget::Server("files".to_owned()), "/dev/pts/9").unwrap();
    assert!(
        asked.words.contains("everything of server files") && asked.words.contains("3 calls"),
        "{asked:?}"
    );
    assert!(asked.loosened.len() == 1 && asked.loosened[0].starts_with("files: 3 calls"), "{asked:?}");
    assert_eq!(place.desk.settings().unwrap().calls, 5);
    let done = place.desk.confirm(&asked.token).unwrap();
    assert!(done.words.starts_with("Forgotten: 3 calls"), "{}", done.words);
    assert_eq!(place.desk.settings().unwrap().calls, 2);
    let row = events(&place).into_iter().find(|event| event.kind == EventKind::Forgotten).unwrap();
    assert_eq!(row.origin, Some(Origin::Window));
    for said in ["at /dev/pts/9", "everything of server files", "3 calls", " of files (", " UTC)"] {
        assert!(row.text.contains(said), "{said:?} is not in {}", row.text);
    }
    assert_eq!(place.desk.confirm(&asked.token).unwrap_err().code(), ErrorCode::TooLate, "a yes counts once");
}

#[test]
fn what_a_forgotten_server_wrote_to_stderr_does_not_stay() {
    let place = TestHome::new();
    place.session("files").calls("read", 1);
    let logs = place.home.logs();
    fs::create_dir_all(&logs).unwrap();
    let write = || {
        for file in ["files.log", "files.log.1", "mail.log"] {
            fs::write(logs.join(file), "needleword\n").unwrap();
        }
    };
    let left = || {
        let holds = |file: &&str| fs::read_to_string(logs.join(file)).is_ok_and(|text| !text.is_empty());
        ["files.log", "files.log.1", "mail.log"].into_iter().filter(holds).collect::<Vec<_>>()
    };
    let receipts = || -> Vec<String> {
        let events = events(&place).into_iter();
        events.filter(|event| event.kind == EventKind::Forgotten).map(|event| event.text).collect()
    };
    write();
    place.clock.advance(Duration::from_secs(60));
    let now = place.clock.now().wall_ms;
    let asked = place.desk.ask_to_forget(Forget::Before(now), "x").unwrap();
    assert!(asked.words.contains("wrote to stderr stays"), "{}", asked.words);
    let server = || Forget::Server("files".to_owned());
    let asked = place.desk.ask_to_forget(server(), "x").unwrap();
    assert!(asked.words.contains("written to stderr goes, too"), "{}", asked.words);
    assert_eq!(left().len(), 3, "nothing before a yes");
    let done = place.desk.confirm(&asked.token).unwrap();
    assert!(done.words.contains("and what was written to stderr"), "{}", done.words);
    assert_eq!(left(), ["mail.log"]);
    assert!(receipts()[0].contains("with what was written to stderr"), "{:?}", receipts());
    // Also if nothing else is left of it.
    for what in [server(), Forget::All] {
        write();
        let asked = place.desk.ask_to_forget(what, "x").unwrap();
        place.desk.confirm(&asked.token).unwrap();
    }
    assert!(left().is_empty() && receipts().len() == 3, "{:?} {:?}", left(), receipts());
    let refused = place.desk.ask_to_forget(Forget::Server("ok".to_owned()), "x").unwrap_err();
    assert!(refused.to_string().starts_with("nothing of server \"ok\" is on record"), "{refused}");
}

#[test]
fn a_date_in_the_future_and_a_server_that_nobody_knows_are_refused_with_words() {
    let place = TestHome::new();
    place.session("files").calls("read", 1);
    let later = place.clock.now().wall_ms + 60_000;
    let refused = place.desk.ask_to_forget(Forget::Before(later), "x").unwrap_err();
    assert!(refused.code() == ErrorCode::BadInput && refused.to_string().contains("future"), "{refused}");
    let refused = place.desk.ask_to_forget(Forget::Server("flies".to_owned()), "x").unwrap_err();
    assert!(refused.to_string().contains("Servers on record: files"), "{refused}");
}

#[test]
fn the_traces_of_a_loosening_survive_every_forgetting() {
    let place = TestHome::new();
    place.session("files").calls("read", 1);
    let target = Target { server: "files".to_owned(), tool: Some("read".to_owned()), client: None };
    place.desk.restrict(&Restriction::Block { target, reason: None }).unwrap();
    let now = place.clock.now().wall_ms;
    record_event(&place.home, now, EventKind::Loosened, Some("files"), Some(Origin::File), "rm is allowed")
        .unwrap();
    record_event(&place.home, now, EventKind::Noise, Some("files"), None, "hum").unwrap();
    let changes = || History::open_reader(&place.home).unwrap().timeline("files").unwrap();
    let before = changes();
    assert!(!before.is_empty());
    place.clock.advance(Duration::from_secs(60));
    for what in [Forget::Server("files".to_owned()), Forget::Before(place.clock.now().wall_ms), Forget::All] {
        // The second and the third find nothing that may go.
        if let Ok(asked) = place.desk.ask_to_forget(what, "x") {
            place.desk.confirm(&asked.token).unwrap();
        }
    }
    let kinds: Vec<EventKind> = events(&place).iter().map(|event| event.kind).collect();
    assert!(kinds.contains(&EventKind::Loosened) && kinds.contains(&EventKind::Forgotten), "{kinds:?}");
    assert!(!kinds.contains(&EventKind::Noise), "{kinds:?}");
    assert_eq!(changes(), before);
}

#[test]
fn a_call_that_still_runs_is_not_forgotten_and_the_question_says_so() {
    let place = TestHome::new();
    let files = place.session("files");
    files.calls("read", 3);
    files.burst("slow", 2);
    let open = || History::open_reader(&place.home).unwrap().open_calls(files.info.id).unwrap();
    for what in [|_| Forget::Server("files".to_owned()), Forget::Before, |_| Forget::All] {
        files.calls("read", 1);
        place.clock.advance(Duration::from_secs(60));
        let what = what(place.clock.now().wall_ms);
        let asked = place.desk.ask_to_forget(what.clone(), "x").unwrap();
        assert!(asked.words.contains("2 calls that are still running stay"), "{}", asked.words);
        place.desk.confirm(&asked.token).unwrap();
        assert_eq!(open(), 2, "{what:?}");
    }
    let slow =
        History::open_reader(&place.home).unwrap().calls(&CallFilter::default(), usize::MAX).unwrap()[0].id;
    let refused = place.desk.ask_to_forget(Forget::Call(slow), "x").unwrap_err();
    assert!(refused.to_string().contains("still running (1 call)"), "{refused}");
    assert_eq!(open(), 2);
}

#[test]
fn deleting_the_history_leaves_nothing_of_it() {
    let place = TestHome::new();
    let files = place.session("files");
    files.calls("needleword", 3);
    files.refused("drop", Decision::Denied, 1);
    fs::write(place.home.path().join("search.db"), "needleword").unwrap();
    let before = place.desk.settings().unwrap();
    assert_eq!(before.calls, 4);
    assert!(before.oldest_ms.is_some() && before.used_bytes > 8_192);
    delete(&place);
    let after = place.desk.settings().unwrap();
    assert_eq!((after.calls, after.oldest_ms), (0, None));
    for entry in fs::read_dir(place.home.path()).unwrap().map(Result::unwrap) {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(!bytes.windows(10).any(|window| window == b"needleword"), "{:?}", entry.path());
    }
    let events = History::open_reader(&place.home).unwrap().events(None, 10).unwrap();
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::Forgotten).count(), 1);
    files.calls("on", 1);
    assert_eq!(place.desk.settings().unwrap().calls, 1, "the session goes on");
}

#[test]
fn deleting_the_history_also_deletes_calls_of_a_clock_that_went_wrong() {
    let place = TestHome::new();
    let files = place.session("files");
    files.calls("later", 2);
    while place.desk.index_step().unwrap() {}
    place.clock.set_wall(1_700_000_000_000);
    delete(&place);
    assert_eq!(place.desk.settings().unwrap().calls, 0);
    let steps = std::iter::repeat_with(|| place.desk.index_step().unwrap()).take(10);
    assert!(steps.into_iter().any(|more| !more), "the index is kept up again");
}
