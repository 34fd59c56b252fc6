use std::fs::File;

use callgate_controls::approval::{Arguments, Asked, EXPIRES, Question, Release, Subject};
use callgate_home::clock::Clock as _;

use super::*;
use crate::testing::TestHome;
use crate::tray::Step;

/// One session that asks.
struct Asking {
    place: TestHome,
    session: SessionId,
    _alive: File,
    calls: u64,
}

impl Asking {
    fn new() -> Asking {
        let place = TestHome::new();
        let session = SessionId::random();
        let alive = File::create(place.home.lease_lock(session)).unwrap();
        alive.lock().unwrap();
        Asking { place, session, _alive: alive, calls: 0 }
    }

    fn ask_of(&mut self, client: &str, args: &str, hold: Duration) -> ApprovalId {
        self.calls += 1;
        let mut digest = [0; 32];
        digest[..args.len().min(32)].copy_from_slice(&args.as_bytes()[..args.len().min(32)]);
        let complete = args.len() < 1_000;
        let masked = args.matches("[masked").count() as u32;
        let arguments = Arguments { text: args.to_owned(), bytes: args.len() as u64, complete, masked };
        let question = Question {
            subject: Subject {
                server: "files",
                command: &[1; 32],
                client,
                tool: "write_file",
                definition: &[2; 32],
                digest: &digest,
            },
            call: self.session.call(self.calls),
            rule: "/tools/write_file/action",
            reason: "look twice",
            arguments: Some(&arguments),
            hold,
            expires: EXPIRES,
        };
        let asked = self.store().ask(&self.place.clock.now(), &question).unwrap();
        decider::ring(&self.place.home);
        match asked {
            Asked::Open(id) => id,
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, args: &str) -> ApprovalId {
        self.ask_of("cursor", args, Duration::from_secs(45))
    }

    fn store(&self) -> Approvals {
        Approvals::new(&self.place.home)
    }

    fn decide(&self, id: ApprovalId, verdict: &ApprovalVerdict) -> DecidedView {
        self.place.desk.decide(&id.to_string(), verdict, Decider::Window).unwrap()
    }

    fn only(&self) -> ApprovalView {
        let mut open = self.place.desk.approvals().unwrap().open;
        assert_eq!(open.len(), 1);
        open.remove(0)
    }

    fn notice(&self) -> Notice {
        self.place.desk.approval_news(false).unwrap().unwrap()
    }
}

fn no() -> ApprovalVerdict {
    ApprovalVerdict::Deny { reason: None, block: false }
}

fn acts(notice: &Notice) -> Vec<&str> {
    notice.acts.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn a_late_yes_is_to_be_told_to_every_client_that_has_its_answer_claude_code_too() {
    for client in ["claude-code", "cursor"] {
        let mut asking = Asking::new();
        let id = asking.ask_of(client, "{}", Duration::from_secs(100));
        asking.place.clock.advance(Duration::from_secs(100));
        let held = (id, asking.session.call(asking.calls));
        asking.store().release(&asking.place.clock.now(), held, Release::OutOfTime).unwrap();
        assert!(!asking.only().in_background, "it was answered");
        let tell = asking.decide(id, &ApprovalVerdict::Once).tell.unwrap();
        assert!(tell.contains("write_file is approved now"), "{tell}");
    }
}

#[test]
fn a_call_that_is_held_beyond_two_minutes_goes_on_in_the_background_and_its_yes_reaches_it() {
    let mut asking = Asking::new();
    let id = asking.ask_of("claude-code", "{}", Duration::from_mins(4));
    asking.place.clock.advance(Duration::from_secs(100));
    assert!(!asking.only().in_background);
    asking.place.clock.advance(Duration::from_secs(21));
    assert!(asking.only().in_background);
    let decided = asking.decide(id, &ApprovalVerdict::Once);
    assert_eq!(decided.tell, None, "{decided:?}");
    assert!(decided.done.words.contains("it is let through now"), "{decided:?}");
}

#[test]
fn noes_are_counted_for_the_same_call_and_yeses_for_the_tool() {
    let mut asking = Asking::new();
    for args in ["{\"a\":1}", "{\"a\":1}", "{\"a\":2}"] {
        let id = asking.ask(args);
        asking.decide(id, &no());
    }
    for args in ["{\"a\":3}", "{\"a\":4}"] {
        let id = asking.ask(args);
        asking.decide(id, &ApprovalVerdict::Once);
    }
    asking.ask("{\"a\":1}");
    let card = asking.only();
    assert_eq!((card.denied_lately, card.approved_lately), (2, 2));
}

#[test]
fn a_notification_offers_a_yes_only_for_what_it_shows_whole() {
    let mut asking = Asking::new();
    let id = asking.ask(r#"{"path":"/tmp/a"}"#);
    let notice = asking.notice();
    assert_eq!(acts(&notice), ["Approve once", "Deny", "Look at it"]);
    assert!(notice.body.contains(r#"{"path":"/tmp/a"}"#), "{}", notice.body);
    asking.decide(id, &no());
    let long = format!(r#"{{"path":"{}"}}"#, "a".repeat(200));
    let cut = format!(r#"{{"path":"{}"}}"#, "a".repeat(2_000));
    let masked = r#"{"password":"[masked, 40 characters]"}"#;
    for args in [long.as_str(), &cut, "{\"path\":\"\u{202e}a\"}", "{\"path\":\n\"a\"}", masked] {
        let id = asking.ask(args);
        let notice = asking.notice();
        assert_eq!(acts(&notice), ["Deny", "Look at it"], "{args}");
        asking.decide(id, &no());
    }
    asking.ask("{\"a\":1}");
    asking.ask("{\"a\":2}");
    assert_eq!(acts(&asking.notice()), ["Deny", "Look at it"], "of two it shows one");
}

#[test]
fn a_yes_of_a_notification_counts_once_by_its_own_key_and_not_late() {
    let mut asking = Asking::new();
    let offered = |notice: &Notice| match notice.acts[0].0.step() {
        Step::Approve { id, key } => (id, key),
        other => panic!("{other:?}"),
    };
    let id = asking.ask("{\"a\":1}");
    let (named, key) = offered(&asking.notice());
    assert_eq!(named, id.to_string());
    let desk = &asking.place.desk;
    assert!(desk.approve_as_offered(&named, "guessed").is_err());
    assert!(desk.approve_as_offered(&named, &key).is_err(), "one try");
    assert_eq!(asking.only().state, ApprovalState::Open);
    asking.decide(id, &no());
    let id = asking.ask("{\"a\":2}");
    let (named, key) = offered(&asking.notice());
    let done = asking.place.desk.approve_as_offered(&named, &key).unwrap();
    assert!(done.words.contains("Approved write_file of files"), "{}", done.words);
    assert!(asking.place.desk.approve_as_offered(&named, &key).is_err());
    let late = asking.ask("{\"a\":3}");
    let notice = asking.notice();
    assert!(notice.body.contains("Asked about again: its arguments"), "{}", notice.body);
    let (named, key) = offered(&notice);
    asking.decide(late, &no());
    assert!(asking.place.desk.approve_as_offered(&named, &key).is_err());
    let states = asking.place.desk.approvals().unwrap().ended;
    let state = |id: ApprovalId| states.iter().find(|one| one.id == id.to_string()).map(|one| one.state);
    assert_eq!((state(id), state(late)), (Some(ApprovalState::Approved), Some(ApprovalState::Denied)));
}

const LISTED: &str = r#"{"name":"write_file","description":"Overwrite a file"}"#;

#[test]
fn a_card_its_notification_and_the_tray_say_what_the_tool_can_do() {
    let mut asking = Asking::new();
    let raw = callgate_protocol::json::Raw::parse(LISTED).unwrap();
    let listed = [("write_file", raw)].into_iter();
    let masker = callgate_redaction::Masker::default();
    callgate_controls::catalogue::write(&asking.place.home, &masker, "files", 1, listed).unwrap();
    let id = asking.ask("{}");
    let class = asking.only().class.unwrap();
    assert_eq!(asking.place.desk.open_approval(&id.to_string()).unwrap().class, Some(class));
    let words = class.words();
    assert!(
        asking.notice().body.contains(&format!("files ({words}): look twice")),
        "{}",
        asking.notice().body
    );
}

#[test]
fn a_card_names_what_is_other_than_in_the_call_that_was_approved_last() {
    let mut asking = Asking::new();
    let session = asking.place.session("files");
    let first = asking.ask(r#"{"path":"/a"}"#);
    let compared = |asking: &Asking| asking.only().compared.unwrap();
    assert_eq!(compared(&asking).words, comparison::FIRST);
    asking.decide(first, &ApprovalVerdict::Once);
    let second = asking.ask(r#"{"path":"/b"}"#);
    assert_eq!(compared(&asking).words, comparison::LOST, "its row is not in the history");
    asking.decide(second, &no());
    // From here on the calls of the store are those of the record, whose session lives.
    (asking.session, asking.calls) = (session.info.id, 0);
    session.called("write_file", r#"{"path":"/a"}"#, callgate_journal::Outcome::Ok, "{}");
    let third = asking.ask(r#"{"path":"/a","n":1}"#);
    asking.place.clock.advance(Duration::from_secs(1));
    asking.decide(third, &ApprovalVerdict::Once);
    let fourth = asking.ask(r#"{"path":"/etc/passwd"}"#);
    let found = compared(&asking);
    assert_eq!(
        (found.changed, found.call),
        (vec!["/path".to_owned()], Some(session.info.id.call(1).to_string()))
    );
    assert_eq!(asking.place.desk.open_approval(&fourth.to_string()).unwrap().compared.unwrap().gone.len(), 0);
    asking.decide(fourth, &no());
    assert_eq!(asking.place.desk.approvals().unwrap().ended[0].compared, None);
}

#[test]
fn calls_that_a_yes_for_more_let_through_are_each_listed_by_that_decision() {
    let mut asking = Asking::new();
    let session = asking.place.session("files");
    // The call that asked is the first of the two that pass, after another call.
    asking.session = session.info.id;
    asking.calls = 1;
    let id = asking.ask("{}");
    asking.place.clock.advance(Duration::from_secs(4));
    asking.decide(id, &ApprovalVerdict::UntilRestart);
    session.ends("read_file", callgate_journal::Outcome::Ok, "{}");
    for path in ["/a", "/b"] {
        let args = format!(r#"{{"path":"{path}"}}"#);
        session.called_by(&id.rule(), ("write_file", &args), callgate_journal::Outcome::Ok, "{}");
    }
    let desk = &asking.place.desk;
    let filter = crate::view::CallFilter { by_person: true, ..Default::default() };
    let of_person = desk.log_page(&filter, &crate::view::PageFrom::Newest, 10).unwrap();
    let calls: Vec<String> = of_person
        .entries
        .iter()
        .filter_map(|entry| match entry {
            crate::view::LogEntry::Call(line) => Some(line.id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 2, "{of_person:?}");
    for (at, call) in calls.iter().enumerate() {
        let decided = desk.call(call).unwrap().decided.unwrap();
        assert_eq!(decided.id, id.to_string());
        assert_eq!(decided.words, "Approved in the window, 4 s after it was asked");
        let others: Vec<&str> = decided.others.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(others, [calls[1 - at].as_str()], "the other one");
    }
}
