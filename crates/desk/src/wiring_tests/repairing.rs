//! Gates that are put back by themselves, and when that stops.

use std::time::Duration;

use callgate_history::History;
use callgate_journal::EventKind;

use super::*;
use crate::notices::Telling;
use crate::view::Place;

impl World {
    fn switched_on(self) -> World {
        let settings = crate::view::UserSettings { repair_gates: true, ..self.desk.user_settings() };
        self.desk.save_settings(&settings).unwrap();
        // What is told from here on is news.
        self.desk.news(false).unwrap();
        self
    }

    fn protected(self) -> World {
        self.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
        self
    }

    /// Another program takes the gate away, and the guard looks.
    fn loses_gate(&self) {
        fs::write(&self.cursor, FILE).unwrap();
        self.look();
    }

    fn look(&self) {
        self.desk.wiring().keep_gates().unwrap();
        self.desk.wiring().guard().unwrap();
    }

    fn is_gated(&self) -> bool {
        self.states("cursor")[0].1 == EntryState::Protected
    }

    fn told(&self) -> Vec<String> {
        let titles = |telling| match telling {
            Telling::Raise(notice) => {
                assert_eq!(notice.opens, Place::Clients);
                format!("{}: {}", notice.title, notice.body)
            }
            Telling::Amend(notice) => panic!("{notice:?}"),
        };
        self.desk.news(false).unwrap().into_iter().map(titles).collect()
    }

    fn events(&self) -> Vec<(EventKind, Option<String>)> {
        let events = History::open_reader(&self.place.home).unwrap().events(None, 100).unwrap();
        events.into_iter().map(|event| (event.kind, event.server)).collect()
    }

    fn needs(&self) -> Vec<String> {
        self.desk.overview().unwrap().needs.into_iter().map(|need| need.words).collect()
    }

    /// The same home after the app was started again.
    fn restarted(self) -> World {
        let home = self.place.home.clone();
        let machine =
            System { os: Os::Linux, home: self.person.path().to_owned(), variables: BTreeMap::new() };
        let desk = Desk::new(home, self.place.clock.clone(), callgate_journal::Origin::Window).on(machine);
        World { desk, ..self }
    }
}

#[test]
fn unless_switched_on_a_lost_gate_is_told_and_nothing_is_written() {
    let world = world().protected();
    world.loses_gate();
    assert!(!world.is_gated());
    assert_eq!(world.desk.overview().unwrap().icon, IconState::NotProtecting);
    assert_eq!(world.told(), ["A gate is lost: Cursor: play has lost its gate and runs unwatched"]);
    world.look();
    assert_eq!(world.told(), [""; 0], "once");
}

#[test]
fn a_lost_gate_is_put_back_on_record_and_told_once() {
    let world = world().protected().switched_on();
    world.loses_gate();
    assert!(world.is_gated());
    assert_eq!(world.needs(), [""; 0]);
    assert_eq!(world.told(), ["A lost gate was put back: Cursor: the gate was put back in front of play"]);
    assert_eq!(world.events(), [(EventKind::GateRepaired, Some("play".to_owned()))]);
    world.look();
    assert_eq!((world.told().len(), world.events().len()), (0, 1), "nothing more to do");
}

#[test]
fn what_is_repaired_before_anybody_asked_for_news_is_told_all_the_same() {
    let world = world().protected().switched_on().restarted();
    world.loses_gate();
    assert_eq!(world.told().len(), 1, "right after the start of the app");
}

#[test]
fn a_gate_whose_program_moved_is_put_back_and_one_that_somebody_else_wrote_is_offered() {
    let world = world().protected().switched_on();
    let ours = callgate_programs::place(world.place.home.path()).display().to_string();
    let text = fs::read_to_string(&world.cursor).unwrap();
    fs::write(&world.cursor, text.replace(&ours, "/old/bin/callgate")).unwrap();
    world.look();
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), text);

    let theirs =
        r#""own": { "command": "/usr/bin/callgate", "args": ["run", "--server", "own", "--", "x"] },"#;
    let text = text.replacen("\"far\"", &format!("{theirs} \"far\""), 1);
    fs::write(&world.cursor, &text).unwrap();
    world.look();
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), text, "nothing is written");
    let needs = world.needs();
    assert!(
        needs[0].contains("own starts /usr/bin/callgate, which is not the gate of this home"),
        "{needs:?}"
    );
}

#[test]
fn a_wiped_file_a_new_entry_and_a_removed_one_are_left_to_a_person() {
    let world = world().protected().switched_on();
    let gated = fs::read_to_string(&world.cursor).unwrap();
    let more = gated.replacen("\"far\"", "\"more\": { \"command\": \"uvx\" }, \"far\"", 1);
    let without = r#"{ "mcpServers": { "far": { "url": "https://example.com/mcp" } } }"#;
    for text in ["{}", &more, without] {
        fs::write(&world.cursor, text).unwrap();
        world.look();
        assert_eq!(fs::read_to_string(&world.cursor).unwrap(), text);
    }
    let told = world.told();
    assert!(told.len() == 1 && told[0].starts_with("Cursor has lost all its servers"), "{told:?}");
    assert_eq!(world.events().len(), 0);
}

#[test]
fn another_program_that_keeps_taking_the_gate_away_is_told_of_and_let_be_until_a_person_protects() {
    let mut world = world().protected().switched_on();
    for time in 1..=3 {
        world.place.clock.advance(Duration::from_secs(600));
        world.loses_gate();
        assert!(world.is_gated(), "time {time}");
        assert_eq!(world.told().len(), 1, "time {time}");
        // The count is on the disk.
        world = world.restarted();
        world.desk.news(false).unwrap();
    }
    world.loses_gate();
    assert!(!world.is_gated());
    let told = world.told();
    assert!(told[0].starts_with("Another program keeps taking the gate away: Another "), "{told:?}");
    assert_eq!(world.events().last().unwrap().0, EventKind::GateContested);
    let needs = world.needs();
    assert!(needs[0].contains("Another program keeps taking the gate away from play in Cursor"), "{needs:?}");

    // Said once, and it stays so: also after the hour, also after a new start.
    world.place.clock.advance(Duration::from_secs(7_200));
    world = world.restarted();
    world.look();
    assert!(!world.is_gated());
    assert_eq!((world.told().len(), world.events().len()), (0, 4));
    assert!(world.needs()[0].contains("keeps taking the gate away"));

    let drift = world.desk.wiring().clients().unwrap().remove(1).files.remove(0).drift;
    let Some(DriftFix::Protect { entries }) = &drift[0].fix else { panic!("{drift:?}") };
    world.desk.wiring().change_clients(ClientAct::Protect, entries, false).unwrap();
    assert!(world.is_gated() && world.needs().is_empty());
    world.loses_gate();
    assert!(world.is_gated(), "the person's own Protect started it again");
}

#[test]
fn an_entry_that_a_person_unprotects_stays_so() {
    let world = world().protected().switched_on();
    world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
    world.look();
    assert!(!world.is_gated());

    // The gate was seen to be lost, and before it is put back a person says that this is how it should be.
    let world = world.protected();
    let look = world.desk.wiring().look_at_clients().unwrap();
    let key = look.ledger.rows.iter().find(|row| row.key.client == "cursor").unwrap().key.clone();
    fs::write(&world.cursor, FILE).unwrap();
    let entry = world.entries("cursor").remove(0).key;
    world.desk.wiring().leave_open(std::slice::from_ref(&entry)).unwrap();
    let change = world.desk.wiring().change_entries(&Todo::Repair, &[entry], false).unwrap();
    assert_eq!((change.done.len(), change.refused.len()), (0, 0), "{key:?}");
    assert!(!world.is_gated());
}

#[cfg(unix)]
#[test]
fn what_cannot_be_put_back_is_told_with_the_reason_until_it_can() {
    let world = world().protected().switched_on();
    fs::write(&world.cursor, FILE).unwrap();
    // A second name keeps a file from being replaced.
    let other = world.cursor.with_file_name("other");
    fs::hard_link(&world.cursor, &other).unwrap();
    for _ in 0..2 {
        world.look();
        let needs = world.needs();
        let why = needs.iter().filter(|words| words.contains("a second name")).count();
        assert_eq!((why, needs.len()), (1, 2), "{needs:?}");
    }
    assert_eq!((world.told().len(), world.events().len()), (0, 0));
    fs::remove_file(other).unwrap();
    world.look();
    assert!(world.is_gated() && world.needs().is_empty());
}

#[test]
fn what_waits_for_a_client_to_quit_is_put_back_then_or_not_at_all_if_a_person_cancels() {
    let world = world().protected().switched_on();
    fs::write(&world.claude, FILE).unwrap();
    let key = callgate_clients::ledger::LedgerKey {
        client: "claude-desktop".into(),
        path: world.claude.clone(),
        project: None,
        name: "play".into(),
    };
    let wait = || queue::add(world.place.home.path(), std::slice::from_ref(&key), &Todo::Repair, 5).unwrap();
    wait();
    world.desk.wiring().guard().unwrap();
    let queued = world.desk.wiring().clients().unwrap().remove(0).queued;
    assert!(queued[0].by_itself && queued[0].act == ClientAct::Protect);
    let needs = world.needs();
    assert!(needs[0].ends_with("it is put back when Claude Desktop has quit"), "{needs:?}");
    world.desk.wiring().drop_queued("claude-desktop", &[]).unwrap();
    world.look();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Open, "a person did not want it");
    assert!(world.needs()[0].contains("has lost its gate"), "and it is still told");

    wait();
    world.desk.wiring().settle_queue().unwrap();
    assert_eq!(world.states("claude-desktop")[0].1, EntryState::Protected);
    assert_eq!(world.told().len(), 1);
    assert_eq!(world.events(), [(EventKind::GateRepaired, Some("play".to_owned()))]);
}
