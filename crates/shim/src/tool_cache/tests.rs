use callgate_protocol::lists::{self, List};

use super::*;

fn book() -> (ToolCache, Arc<Mutex<Vec<ListedTool>>>) {
    let kept: Arc<Mutex<Vec<ListedTool>>> = Arc::default();
    (shelved(&kept, || {}), kept)
}

fn shelved(kept: &Arc<Mutex<Vec<ListedTool>>>, differs: impl Fn() + Send + Sync + 'static) -> ToolCache {
    let into = kept.clone();
    let keep = Arc::new(move |tools| {
        *into.lock().unwrap() = tools;
        true
    });
    ToolCache::new(
        ListSink { keep, learn: Arc::new(|_| {}), differs: Arc::new(differs) },
        crate::checker::tests::in_process,
    )
}

fn page(book: &ToolCache, first: bool, text: &str) -> Option<String> {
    let result = Raw::parse(text).unwrap();
    let page = lists::page(List::Tools, result, |_| true);
    book.page(Requester::Client, first, (result, &page), book.stamp())
}

const A: &str =
    r#"{"tools":[{"name":"a","inputSchema":{"type":"object","required":["x"]}}],"nextCursor":"2"}"#;
const B: &str = r#"{"tools":[{"name":"b"},{"name":"a","inputSchema":{}}]}"#;

#[test]
fn only_a_whole_list_counts_and_the_first_of_two_names() {
    let (book, kept) = book();
    assert_eq!(book.wants_list("a", Instant::now()), Some(0));
    assert_eq!(page(&book, true, A).as_deref(), Some("2"));
    assert!(!book.wait_newer(0, Duration::ZERO));
    assert_eq!(book.check("a", None), Err(Misfit::NotListedYet));
    assert_eq!(page(&book, false, B), None);
    assert!(book.wait_newer(0, LIST_WAIT));
    assert!(matches!(book.check("a", None), Err(Misfit::Differs(_))));
    assert_eq!(book.check("a", Some(Raw::parse(r#"{"x":1}"#).unwrap())), Ok(()));
    for (tool, why) in [("b", "no schema"), ("c", "no such tool")] {
        let Err(Misfit::Uncheckable(said)) = book.check(tool, None) else { panic!("{tool}") };
        assert!(said.contains(why), "{said}");
    }
    book.finish();
    let names: Vec<String> = kept.lock().unwrap().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_page_without_its_beginning_and_a_page_that_cannot_be_read_teach_nothing() {
    let (book, kept) = book();
    page(&book, true, A);
    page(&book, false, B);
    assert!(book.wait_newer(0, LIST_WAIT));
    assert_eq!(page(&book, false, B), None);
    assert_eq!(page(&book, true, r#"{"nextCursor":"x"}"#), None, "no list in it");
    assert_eq!(page(&book, false, B), None);
    book.finish();
    assert_eq!(kept.lock().unwrap().len(), 2);
    assert!(matches!(book.check("a", None), Err(Misfit::Differs(_))), "what was known stays");
}

#[test]
fn a_list_that_never_ends_is_given_up() {
    let (book, _) = book();
    let mut asked = 1;
    let mut next = page(&book, true, A);
    while next.is_some() && asked < 10_000 {
        next = page(&book, false, A);
        asked += 1;
    }
    assert!(asked <= MOST_PAGES + 1, "{asked}");
}

#[test]
fn a_list_that_starts_anew_forgets_its_first_pages() {
    let (book, kept) = book();
    page(&book, true, A);
    page(&book, true, B);
    assert!(book.wait_newer(0, LIST_WAIT));
    book.finish();
    assert_eq!(kept.lock().unwrap().len(), 2);
    assert_eq!(book.check("a", None), Ok(()), "the schema of the new list");
}

#[test]
fn a_server_is_asked_once_in_a_while_and_again_when_its_tools_changed() {
    let (book, _) = book();
    page(&book, true, B);
    assert!(book.wait_newer(0, LIST_WAIT));
    assert_eq!(book.wants_list("b", Instant::now()), None);
    assert_eq!(book.wants_list("new one", Instant::now()), Some(1));
    assert_eq!(
        book.wants_list("new two", Instant::now()),
        None,
        "not for every call of a tool that is not there"
    );
    assert!(matches!(book.check("b", None), Err(Misfit::Uncheckable(_))), "it has no schema");
    book.outdated();
    assert_eq!(book.check("b", None), Err(Misfit::NotListedYet));
}

#[test]
fn a_list_that_comes_again_is_current_without_being_read_again() {
    let kept: Arc<Mutex<Vec<usize>>> = Arc::default();
    let into = kept.clone();
    // The second one cannot be kept.
    let keep = Arc::new(move |tools: Vec<ListedTool>| {
        let mut kept = into.lock().unwrap();
        kept.push(tools.len());
        kept.len() != 2
    });
    let book = ToolCache::new(
        ListSink { keep, learn: Arc::new(|_| {}), differs: Arc::new(|| {}) },
        crate::checker::tests::in_process,
    );
    let list = |text: &str, read: u64| {
        page(&book, true, text);
        assert!(book.wait_newer(read, LIST_WAIT));
    };
    list(B, 0);
    list(B, 1);
    book.outdated();
    list(B, 2);
    assert_eq!(book.check("a", None), Ok(()), "the schema of a list that is current");
    for read in 3..6 {
        list(r#"{"tools":[]}"#, read);
    }
    list(B, 6);
    book.finish();
    assert_eq!(*kept.lock().unwrap(), [2, 0, 0, 2], "each once, and once more what was not kept");
}

#[test]
fn a_list_from_before_the_server_said_that_it_changed_is_not_current() {
    let (book, _) = book();
    let result = Raw::parse(B).unwrap();
    let came = lists::page(List::Tools, result, |_| true);
    for again in 0..2 {
        let at = book.stamp();
        book.outdated();
        book.page(Requester::Client, true, (result, &came), at);
        assert!(book.wait_newer(again, LIST_WAIT));
        assert_eq!(book.check("a", None), Err(Misfit::NotListedYet));
    }
}

#[test]
fn a_list_of_the_server_before_is_not_taken_for_one_of_the_next() {
    let (book, kept) = book();
    page(&book, true, B);
    assert!(book.wait_newer(0, LIST_WAIT));
    let (result, at) = (Raw::parse(r#"{"tools":[]}"#).unwrap(), book.stamp());
    book.another_server();
    book.page(Requester::Client, true, (result, &lists::page(List::Tools, result, |_| true)), at);
    book.finish();
    assert_eq!(kept.lock().unwrap().len(), 2);
    assert!(!book.wait_newer(1, Duration::ZERO));
}

#[test]
fn another_server_with_other_tools_is_noticed_once() {
    let (kept, told) = (Arc::default(), Arc::new(Mutex::new(0)));
    let counter = told.clone();
    let book = shelved(&kept, move || *counter.lock().unwrap() += 1);
    let mut read = 0;
    let mut list = |text: &str| {
        page(&book, true, text);
        assert!(book.wait_newer(read, LIST_WAIT));
        read += 1;
    };
    book.another_server();
    list(B);
    list(r#"{"tools":[]}"#);
    assert_eq!(*told.lock().unwrap(), 0, "one and the same server tells of its changes by itself");
    book.another_server();
    list(r#"{"tools":[]}"#);
    assert_eq!(*told.lock().unwrap(), 0, "the same tools");
    book.another_server();
    assert_eq!(book.check("b", None), Err(Misfit::NotListedYet), "not read yet");
    list(B);
    list(r#"{"tools":[]}"#);
    book.finish();
    assert_eq!(*told.lock().unwrap(), 1);
}

#[test]
fn a_server_that_never_lists_its_tools_is_asked_less_and_less_often() {
    let (book, _) = book();
    let start = Instant::now();
    let asked = |book: &ToolCache, from: u64, to: u64| -> Vec<u64> {
        (from..to).filter(|s| book.wants_list("a", start + Duration::from_secs(*s)).is_some()).collect()
    };
    assert_eq!(asked(&book, 0, 300), [0, 6, 17, 38, 79, 140, 201, 262]);
    // It says that there are others now.
    book.outdated();
    assert_eq!(asked(&book, 300, 330), [300, 311], "it may be asked at once, and is not trusted for that");
    page(&book, true, B);
    assert!(book.wait_newer(0, LIST_WAIT));
    assert_eq!(asked(&book, 330, 420), [332; 0], "it has answered");
    let unlisted = |s: u64| book.wants_list("z", start + Duration::from_secs(s)).is_some();
    let asked: Vec<u64> = (420..440).filter(|s| unlisted(*s)).collect();
    assert_eq!(asked, [420, 426, 437], "for a tool that it does not list");
    book.another_server();
    assert!(unlisted(440));
}

#[test]
fn what_was_learned_is_written_beside_the_answers_and_not_lost_at_the_end() {
    let (book, kept) = book();
    let (release, held) = mpsc::channel::<()>();
    let written: Arc<Mutex<Vec<&str>>> = Arc::default();
    let (first, second) = (written.clone(), written.clone());
    // Neither may hold up whoever hands it over: the first one is let go only after both are given.
    book.write_beside(move || {
        held.recv().unwrap();
        first.lock().unwrap().push("first");
    });
    page(&book, true, B);
    let seen = kept.clone();
    book.write_beside(move || {
        let after = if seen.lock().unwrap().is_empty() { "before the list" } else { "second" };
        second.lock().unwrap().push(after);
    });
    assert!(written.lock().unwrap().is_empty());
    release.send(()).unwrap();
    book.finish();
    assert_eq!(*written.lock().unwrap(), ["first", "second"]);
    assert_eq!(kept.lock().unwrap().len(), 2);
}
