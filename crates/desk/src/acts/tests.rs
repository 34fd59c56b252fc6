//! What a person does, on a real home: that it holds, for whom, that it can be taken back, and that nothing is loosened
//! without a yes.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod loosening;
mod undoing;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use callgate_controls::allowance::{self, AllowanceScope};
use callgate_controls::pause;
use callgate_history::{CallFilter, EventRow, History, PolicyChange, Toward};
use callgate_home::clock::{Clock, ManualClock};
use callgate_home::{Home, SessionId, atomic};
use callgate_journal::{CallEntry, Decision, EndReason, EventKind, Intent, Journal, Origin, SessionInfo};
use callgate_policy::edit::Edit;
use callgate_policy::{Call, Circumstances, DEFAULT_POLICY, Judgement, Keep, Policy, compare};
use callgate_protocol::json::Raw;
use proptest::prelude::*;

use crate::view::{Answer, ArgumentRule, Done, ErrorCode, Loosening, Question, Restriction, Target, UiError};
use crate::{Desk, DeskError};

/// A home, a clock that stands still, and a desk.
struct Room {
    _folder: tempfile::TempDir,
    home: Home,
    clock: Arc<ManualClock>,
    desk: Desk,
}

const OPEN: &str = "// mine\n{\n  \"version\": \"1\",\n  \"default\": \"allow\" // open\n}\n";

impl Room {
    fn new() -> Room {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        let clock = Arc::new(ManualClock::new());
        let desk = Desk::new(home.clone(), Arc::clone(&clock) as Arc<dyn Clock>, Origin::Window);
        Room { _folder: folder, home, clock, desk }
    }

    /// The server "s" has this policy of its own.
    fn with(policy: &str) -> Room {
        let room = Room::new();
        room.write(policy);
        room
    }

    fn write(&self, policy: &str) {
        atomic::replace(&self.home.policy("s"), policy.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.home.policy("s")).unwrap()
    }

    fn policy(&self) -> Policy {
        let own = self.home.policy("s");
        let source = if own.exists() { own } else { self.home.default_policy() };
        Policy::parse(&fs::read_to_string(source).unwrap()).unwrap()
    }

    fn judged(&self, client: &str, tool: &str, args: &str) -> String {
        let call = Call::tool(client, tool, Some(Raw::parse(args).unwrap()));
        match self.policy().judge(&call, &Circumstances::timeless()) {
            Judgement::Pass(pass) => format!("passes {}", pass.limits.len()),
            Judgement::Refuse(refusal) => format!("{:?}: {}", refusal.kind, refusal.reason),
        }
    }

    fn passes(&self, client: &str, tool: &str) -> bool {
        self.judged(client, tool, "{}").starts_with("passes")
    }

    fn restrict(&self, restriction: &Restriction) -> Done {
        self.desk.restrict(restriction).unwrap()
    }

    fn ask(&self, loosening: &Loosening) -> Question {
        match self.desk.loosen(loosening).unwrap() {
            Answer::Ask(question) => question,
            Answer::Done(done) => panic!("not asked: {done:?}"),
        }
    }

    fn events(&self, kind: EventKind) -> Vec<EventRow> {
        let mut all = History::open_reader(&self.home).unwrap().events(None, 1_000).unwrap();
        all.retain(|event| event.kind == kind);
        all
    }

    fn timeline(&self) -> Vec<PolicyChange> {
        History::open_reader(&self.home).unwrap().timeline("s").unwrap()
    }

    fn grant(&self, what: AllowanceScope) -> String {
        let now = self.clock.now();
        allowance::grant(&self.home, &now, "s", what, Duration::from_secs(600)).unwrap().id
    }

    fn open(&self) -> Vec<allowance::Allowance> {
        let now = self.clock.now();
        allowance::read(&self.home).open("s", &now).cloned().collect()
    }
}

fn code<T>(result: Result<T, DeskError>) -> ErrorCode {
    UiError::from(result.map(drop).unwrap_err()).code
}

fn target(tool: Option<&str>, client: Option<&str>) -> Target {
    Target { server: "s".to_owned(), tool: tool.map(str::to_owned), client: client.map(str::to_owned) }
}

fn block(tool: &str, client: Option<&str>) -> Restriction {
    Restriction::Block { target: target(Some(tool), client), reason: None }
}

fn cap(tool: &str, max: u32) -> Restriction {
    Restriction::Cap { target: target(Some(tool), Some("cursor")), max, window: "minute".to_owned() }
}

fn token(done: &Done) -> &str {
    &done.undo.as_ref().unwrap().token
}

/// Every restriction by a rule, for "cursor" or whomever.
fn restrictions(client: Option<&str>) -> Vec<Restriction> {
    let url = "args.url".to_owned();
    let starts = ArgumentRule::StartsWith { path: url.clone(), prefix: "file:".to_owned() };
    let equals = ArgumentRule::Equals { path: url.clone(), value: "\"x\"".to_owned() };
    let inside = ArgumentRule::OnlyInside { path: url, folder: "/srv".to_owned() };
    let mut all = vec![Restriction::Hide { target: target(Some("x"), client), note: None }];
    for tool in [Some("x"), None] {
        let target = target(tool, client);
        all.push(Restriction::Block { target: target.clone(), reason: Some("because".to_owned()) });
        all.push(Restriction::Cap { target: target.clone(), max: 5, window: "minute".to_owned() });
        for rule in [&starts, &equals, &inside] {
            all.push(Restriction::Refuse { target: target.clone(), rule: rule.clone(), reason: None });
        }
    }
    all
}

#[test]
fn a_block_holds_for_its_client_says_so_and_is_on_record() {
    let room = Room::with(OPEN);
    let done = room.restrict(&Restriction::Block {
        target: target(Some("x"), Some("cursor")),
        reason: Some(" not now ".to_owned()),
    });
    assert_eq!(done.words, "Blocked x on s, for Cursor");
    assert_eq!(room.judged("cursor", "x", "{}"), "Denied: not now");
    assert!(room.passes("claude", "x") && room.passes("cursor", "y"));
    assert_eq!(done.server.as_deref(), Some("s"));
    assert_eq!(done.version.as_deref(), Some(room.policy().version()));
    let last = room.timeline().pop().unwrap();
    assert_eq!((last.origin, Some(last.version)), (Origin::Window, done.version));
    assert!(last.summary.contains("\"x\" is now denied for the client \"cursor\""), "{}", last.summary);
    let events = room.events(EventKind::PolicyChanged);
    assert!(events.iter().any(|event| event.origin == Some(Origin::Window)), "{events:?}");
    assert!(room.events(EventKind::Loosened).is_empty());
}

#[test]
fn a_rule_that_the_disk_did_not_confirm_holds_and_the_person_hears_it_once() {
    let room = Room::with(OPEN);
    let block = Restriction::Block { target: target(Some("x"), None), reason: None };
    room.desk.home().note_unconfirmed(std::io::Error::other("input/output error"));
    let done = room.restrict(&block);
    let told = |done: &Done| done.caveats.iter().any(|caveat| caveat.contains("(input/output error)"));
    assert!(told(&done), "{:?}", done.caveats);
    assert!(!room.passes("claude", "x"));
    assert!(!told(&room.restrict(&block)));
}

#[test]
fn every_restriction_restricts_and_undo_gives_every_byte_back() {
    let url = r#"{"url":"file:///etc"}"#;
    for client in [Some("cursor"), None] {
        for restriction in restrictions(client) {
            let room = Room::with(OPEN);
            let done = room.restrict(&restriction);
            let is_cap = matches!(restriction, Restriction::Cap { .. });
            let expected = if is_cap { "passes 1" } else { "" };
            let judged = ["{}", url, r#"{"url":"x"}"#].map(|args| room.judged("cursor", "x", args));
            let hit =
                judged.iter().any(|one| if is_cap { one == expected } else { !one.starts_with("passes") });
            assert!(hit, "{restriction:?}: {judged:?}\n{}", room.text());
            if client.is_some() {
                assert_eq!(room.judged("claude", "x", url), "passes 0", "{restriction:?}");
            }
            let scope = match client {
                Some(_) => "Cursor",
                None if is_cap => "each client",
                None => "every client",
            };
            assert!(done.words.contains(scope) && done.words.contains("s"), "{}", done.words);
            let old = Policy::parse(OPEN).unwrap();
            assert!(compare::loosened(&old, &room.policy()).is_empty());
            let undone = room.desk.undo(token(&done)).unwrap();
            assert_eq!(room.text(), OPEN, "{restriction:?}");
            assert_eq!(undone.words, format!("Undone: {}", done.words));
            assert_eq!(undone.version.as_deref(), Some(room.policy().version()));
        }
    }
}

#[test]
fn a_higher_cap_is_not_a_restriction() {
    let room = Room::with(OPEN);
    room.restrict(&cap("x", 5));
    let capped = room.text();
    assert_eq!(code(room.desk.restrict(&cap("x", 6))), ErrorCode::NotConfirmed);
    assert_eq!(room.text(), capped);
    let lower = room.restrict(&cap("x", 4));
    assert!(lower.words.contains("Capped x on s at 4 per minute, for Cursor"), "{}", lower.words);
    let raise =
        |max| Loosening::Cap { target: target(Some("x"), Some("cursor")), max, window: "minute".to_owned() };
    let question = room.ask(&raise(60));
    assert!(question.words.contains("60 per minute") && !question.loosened.is_empty(), "{question:?}");
    assert!(room.text().contains("\"max\": 4"));
    room.desk.confirm(&question.token).unwrap();
    assert!(room.text().contains("\"max\": 60"));
    // One that is lower needs no question.
    assert!(matches!(room.desk.loosen(&raise(3)).unwrap(), Answer::Done(done) if done.undo.is_some()));
}

#[test]
fn acts_at_the_same_time_are_all_in_the_file() {
    let room = Room::new();
    let tools: Vec<String> = (0..8).map(|n| format!("tool{n}")).collect();
    std::thread::scope(|scope| {
        for tool in &tools {
            scope.spawn(|| room.restrict(&block(tool, Some("cursor"))));
        }
    });
    assert!(tools.iter().all(|tool| !room.passes("cursor", tool)), "{}", room.text());
}

#[test]
fn questions_answers_and_undos_at_the_same_time_wait_for_nobody_for_ever() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", None));
    let settled = |result: Result<Done, DeskError>| {
        if let Err(error) = result {
            assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
        }
    };
    std::thread::scope(|scope| {
        for tool in ["a", "b"] {
            let room = &room;
            scope.spawn(move || {
                for _ in 0..10 {
                    let done = room.restrict(&block(tool, Some("cursor")));
                    settled(room.desk.undo(token(&done)));
                    if let Answer::Ask(question) =
                        room.desk.loosen(&Loosening::Allow { target: target(Some("x"), None) }).unwrap()
                    {
                        settled(room.desk.confirm(&question.token));
                    }
                    room.desk.restrict(&block("x", None)).unwrap();
                }
            });
        }
    });
    assert!(
        !room.passes("c", "x") && room.passes("cursor", "a") && room.passes("cursor", "b"),
        "{}",
        room.text()
    );
}

#[test]
fn what_makes_no_sense_or_cannot_be_edited_says_why_and_changes_nothing() {
    let room = Room::with("{ \"version\": ");
    assert_eq!(code(room.desk.restrict(&block("x", None))), ErrorCode::BrokenPolicy);
    assert_eq!(room.text(), "{ \"version\": ");
    let room = Room::with(OPEN);
    let of = |tool: &str, client: Option<&str>| code(room.desk.restrict(&block(tool, client)));
    assert_eq!(of("x\ny", None), ErrorCode::BadInput);
    assert_eq!(of("x", Some("*")), ErrorCode::BadInput);
    for (max, window) in [(0, "minute"), (5, "often")] {
        let cap = Restriction::Cap { target: target(Some("x"), None), max, window: window.to_owned() };
        assert_eq!(code(room.desk.restrict(&cap)), ErrorCode::BadInput);
    }
    assert_eq!(
        code(room.desk.restrict(&Restriction::Hide { target: target(None, None), note: None })),
        ErrorCode::BadInput
    );
    let default = Target { server: "_default".to_owned(), tool: None, client: None };
    assert_eq!(
        code(room.desk.restrict(&Restriction::Block { target: default, reason: None })),
        ErrorCode::BadInput
    );
    assert_eq!(room.text(), OPEN);
    // Twice the same is no change, and nothing to undo.
    room.restrict(&block("x", None));
    let again = room.restrict(&block("x", None));
    assert!(again.undo.is_none() && again.words.starts_with("Nothing to change"), "{again:?}");
}

#[test]
fn caps_are_advised_without_a_history_too_and_the_present_one_is_named() {
    let room = Room::with(OPEN);
    let advice = room.desk.cap_advice(&target(Some("x"), Some("cursor"))).unwrap();
    assert_eq!((advice.peak_per_minute, advice.present), (0, None));
    let words: Vec<&str> = advice.choices.iter().map(|choice| choice.words.as_str()).collect();
    assert_eq!(words, ["5/min", "20/h", "100/day"]);
    room.restrict(&cap("x", 7));
    let advice = room.desk.cap_advice(&target(Some("x"), Some("cursor"))).unwrap();
    assert_eq!(advice.present.as_deref(), Some("7 per minute"));
    let none = room.desk.enforcement("s", "whatever").unwrap();
    assert_eq!((none.in_force, none.sessions), (0, 0));
}

fn session(room: &Room, client: &str, version: &str) -> Journal {
    let info = SessionInfo {
        id: SessionId::random(),
        server: "s".to_owned(),
        client: Some(client.to_owned()),
        command: vec!["server".to_owned()],
        policy_version: Some(version.to_owned()),
        watch_only: false,
        demo: false,
        secrets: Vec::new(),
    };
    Journal::open(&room.home, &info, Arc::clone(&room.clock) as Arc<dyn Clock>).unwrap()
}

fn call<'a>(client: &'a str, tool: &'a str) -> Intent<'a> {
    Intent {
        method: "tools/call",
        tool,
        rpc_id: "1",
        args: None,
        client,
        rule: "/default",
        policy: "v",
        keep: Keep::Full,
        observing: false,
        would: None,
        spend: None,
        reason: "",
        asked: None,
    }
}

#[test]
fn a_rule_counts_as_enforced_where_a_running_session_has_taken_it_up() {
    let room = Room::with(OPEN);
    let before = room.policy().version().to_owned();
    let (one, other) = (session(&room, "cursor", &before), session(&room, "claude", &before));
    let version = room.restrict(&block("x", Some("cursor"))).version.unwrap();
    let counted = || {
        let enforcement = room.desk.enforcement("s", &version).unwrap();
        (enforcement.in_force, enforcement.sessions)
    };
    assert_eq!(counted(), (0, 2));
    one.update_lease(|lease| lease.policy_version = Some(version.clone())).unwrap();
    assert_eq!(counted(), (1, 2));
    other.end(EndReason::ClientClosed);
    assert_eq!(counted(), (1, 1));
    assert_eq!(room.desk.enforcement("another", &version).unwrap().sessions, 0);
}

#[test]
fn caps_are_advised_by_the_busiest_minute_of_ones_own_use() {
    let room = Room::with(OPEN);
    let journal = session(&room, "cursor", "v");
    // 22 calls in 40 seconds, over the turn of a minute; then others, by another client.
    for n in 0..22 {
        let mut batch = journal.batch();
        batch.admit(call("cursor", "x"), &[], b"{}").unwrap();
        batch.commit();
        room.clock.advance(Duration::from_secs(if n == 10 { 40 } else { 0 }));
    }
    for _ in 0..5 {
        let mut batch = journal.batch();
        batch.admit(call("claude", "x"), &[], b"{}").unwrap();
        batch.refuse(CallEntry {
            decision: Decision::Capped,
            method: "tools/call",
            tool: "x",
            client: "cursor",
            ..CallEntry::default()
        });
        batch.commit();
    }
    let advice = |client| room.desk.cap_advice(&target(Some("x"), client)).unwrap();
    let own = advice(Some("cursor"));
    assert_eq!((own.peak_per_minute, own.words.as_str()), (22, "your peak is 22/min"));
    assert!(own.choices[0].advised && own.choices[0].words == "30/min" && own.choices.len() == 4);
    assert_eq!(advice(None).peak_per_minute, 22, "a cap counts each client by itself");
    assert_eq!(advice(Some("claude")).peak_per_minute, 5);
    assert_eq!(room.desk.cap_advice(&target(Some("y"), None)).unwrap().peak_per_minute, 0);
    room.clock.advance(Duration::from_secs(31 * 24 * 60 * 60));
    assert_eq!(advice(None).peak_per_minute, 0, "a month ago");
}

/// A policy that might be anyone's.
fn policy() -> impl Strategy<Value = String> {
    let part = prop::sample::subsequence(
        vec![
            "\"hide\": [\"y\"]",
            "\"all_tools\": {\n    \"rate_limit\": \"9/second\" // fast\n  }",
            "\"tools\": { \"x\": { \"action\": \"deny\" }, /* two */ \"x*\": {} }",
            "\"mode\": \"observe\"",
            "\"clients\": { \"cur*\": { \"default\": \"deny\" }, \"Zed\": { \"hide\": [\"x\"] } }",
        ],
        0..5,
    );
    (part, prop::sample::select(vec!["allow", "deny"]), prop::sample::select(vec!["\n  ", " ", "\r\n\t"]))
        .prop_map(|(parts, default, gap)| {
            let mut all = vec!["\"version\": \"1\"".to_owned(), format!("\"default\": \"{default}\"")];
            all.extend(parts.into_iter().map(str::to_owned));
            format!("// head\n{{{gap}{}{gap}}}\n", all.join(&format!(",{gap}")))
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restricting_never_loosens_and_undo_is_its_opposite(
        text in policy(),
        client in prop::sample::select(vec![None, Some("cursor"), Some("zed")]),
        which in any::<prop::sample::Index>(),
    ) {
        let room = Room::with(&text);
        let all = restrictions(client);
        match room.desk.restrict(which.get(&all)) {
            // Refused: nothing was written.
            Err(_) => prop_assert_eq!(room.text(), text),
            Ok(done) => {
                let old = Policy::parse(&text).unwrap();
                prop_assert!(compare::loosened(&old, &room.policy()).is_empty());
                prop_assert_eq!(done.undo.is_some(), room.text() != text);
                if done.undo.is_some() {
                    room.desk.undo(token(&done)).unwrap();
                    prop_assert_eq!(room.text(), text);
                }
            }
        }
    }
}

#[test]
fn an_edit_for_everyone_is_the_same_by_click_and_by_command() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", None));
    let by_command =
        callgate_policy::edit::apply(OPEN, &Edit::Block { tool: "x".to_owned(), reason: None }).unwrap();
    assert_eq!(room.text(), by_command.text);
}

#[test]
fn a_cap_on_what_is_refused_anyway_says_that_it_stays_refused() {
    let room = Room::with(OPEN);
    room.restrict(&block("x", Some("cursor")));
    let done = room.restrict(&cap("x", 5));
    assert!(
        done.words.starts_with("Capped x on s at 5 per minute, for Cursor; but it stays refused, because "),
        "{}",
        done.words
    );
    assert!(done.words.ends_with("The cap takes effect only if that goes"), "{}", done.words);
    assert_eq!(done.version, None, "nobody is told where it is enforced");
    assert!(!room.passes("cursor", "x"));
    let open = room.restrict(&cap("y", 5));
    assert!(open.version.is_some() && !open.words.contains("but"), "{}", open.words);
}

#[test]
fn a_cap_for_a_while_says_how_long_it_holds_and_what_stays_refused() {
    let room = Room::with(OPEN);
    let cap = |tool: &str, minutes| Restriction::CapFor {
        target: target(Some(tool), Some("cursor")),
        max: 5,
        window: "minute".to_owned(),
        minutes,
    };
    for (minutes, told, lasts) in [(0, "1 minute", 1), (u32::MAX, "7 days", i64::from(7 * 24 * 60))] {
        let done = room.restrict(&cap("y", minutes));
        assert!(done.words.contains(&format!(" for {told}, for Cursor")), "{}", done.words);
        assert_eq!(done.ends_ms, Some(room.clock.now().wall_ms + lasts * 60_000));
    }
    room.restrict(&block("x", Some("cursor")));
    let done = room.restrict(&cap("x", 60));
    assert!(done.words.contains("; but it stays refused, because "), "{}", done.words);
    assert_eq!(done.version, None, "nobody is told where it is enforced");
}

#[test]
fn a_loop_that_is_capped_for_an_hour_is_free_again_by_itself_and_keeps_its_other_caps() {
    let lasting = r#"{ "version": "1", "default": "allow", "all_tools": { "limits": [
        { "counter": "mine", "window": "minute", "max": 300 }
    ] } }"#;
    let room = Room::with(lasting);
    let target = Target { server: "s".to_owned(), tool: None, client: Some("claude-ai".to_owned()) };
    let cap =
        |max| Restriction::CapFor { target: target.clone(), max, window: "minute".to_owned(), minutes: 60 };
    let done = room.restrict(&cap(10));
    assert_eq!(done.words, "Capped every tool of s at 10 per minute for 1 hour, for claude-ai");
    let now_ms = room.clock.now().wall_ms;
    assert_eq!(done.ends_ms, Some(now_ms + 3_600_000));
    let limits = |client: &str, at_ms: i64| {
        let policy = room.policy();
        let circumstances = Circumstances { now_ms: at_ms, ..Circumstances::timeless() };
        match policy.judge(&Call::tool(client, "get", None), &circumstances) {
            Judgement::Pass(pass) => pass.limits.len(),
            Judgement::Refuse(refusal) => panic!("{}", refusal.reason),
        }
    };
    assert_eq!((limits("claude-ai", now_ms), limits("cursor", now_ms)), (2, 1));
    assert_eq!(limits("claude-ai", now_ms + 3_600_000), 1, "over by itself");
    // Once more takes the place of the first.
    room.clock.advance(Duration::from_secs(60));
    room.restrict(&cap(5));
    assert_eq!(room.text().matches("until").count(), 2, "one counter's name, one moment: {}", room.text());
    let undone = room.desk.undo(&done.undo.unwrap().token);
    assert!(undone.is_err(), "somebody changed it since");
}

#[test]
fn a_pattern_that_other_rules_take_tools_from_names_those_that_stay_open() {
    let room = Room::with(
        r#"{"version":"1","default":"allow","tools":{"*_text_file":{},"delete_*":{"action":"deny"}}}"#,
    );
    let definition = Raw::parse("{}").unwrap();
    let listed = ["read_text_file", "read_blob", "write_file", "delete_file"].map(|tool| (tool, definition));
    let masker = callgate_redaction::Masker::default();
    callgate_controls::catalogue::write(&room.home, &masker, "s", 1, listed).unwrap();
    let target = Target { server: "s".to_owned(), tool: Some("read_*".to_owned()), client: None };
    let cap = Restriction::Cap { target: target.clone(), max: 2, window: "minute".to_owned() };
    let said = room.desk.restrict(&cap).unwrap().words;
    assert!(said.starts_with("Capped tools of s that fit read_*, but not all of them"), "{said}");
    assert!(said.contains("for each client"), "{said}");
    assert!(said.contains("not capped: read_text_file, which has a rule of its own"), "{said}");
    assert!(said.contains("callgate cap s read_text_file 2/minute"), "{said}");
    // A higher one, which is asked about, misses the same.
    let higher = Loosening::Cap { target: target.clone(), max: 9, window: "minute".to_owned() };
    let question = room.ask(&higher);
    let done = room.desk.confirm(&question.token).unwrap();
    for said in [question.words, done.words] {
        let named =
            "not capped: read_text_file, which has a rule of its own: callgate cap s read_text_file 9/minute";
        assert!(said.contains(named) && said.contains("but not all of them"), "{said}");
    }
    let said = room.desk.restrict(&Restriction::Block { target, reason: None }).unwrap().words;
    assert!(said.starts_with("Blocked tools of s that fit read_*, but not all of them"), "{said}");
    assert!(said.contains("still open: read_text_file, which") && !said.contains("read_blob"), "{said}");
    assert!(said.ends_with("callgate block s read_text_file"), "{said}");
    // One that reaches all it fits says so.
    let target = Target { server: "s".to_owned(), tool: Some("write_*".to_owned()), client: None };
    let said = room.desk.restrict(&Restriction::Block { target, reason: None }).unwrap().words;
    assert!(said.starts_with("Blocked every tool of s that fits write_*, for every client"), "{said}");
    assert!(!said.contains("still open"), "{said}");
}
