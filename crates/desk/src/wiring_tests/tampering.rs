//! Gates that are where they were put and not as they were put there.

use super::*;
use crate::notices::Telling;

impl World {
    fn edit(&self, from: &str, to: &str) {
        let text = fs::read_to_string(&self.cursor).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&self.cursor, text.replacen(from, to, 1)).unwrap();
        self.desk.wiring().guard().unwrap();
    }

    fn protect_again(&self) {
        let key = self.entries("cursor")[0].key.clone();
        let change = self.desk.wiring().change_clients(ClientAct::Protect, &[key], false).unwrap();
        assert!(change.refused.is_empty(), "{change:?}");
        self.desk.wiring().guard().unwrap();
    }
}

#[test]
fn a_gate_with_another_home_or_name_is_not_shown_as_protected_and_protecting_it_again_puts_that_right() {
    for (from, to, words) in [
        (
            r#""env": { "#,
            r#""env": { "CALLGATE_HOME": "/elsewhere", "#,
            "`CALLGATE_HOME` in its env names another home",
        ),
        (
            r#""env": { "#,
            r#""env": { "LD_PRELOAD": "/x.so", "#,
            "`LD_PRELOAD` in its env loads code into the gate",
        ),
        (
            r#"abcdef" }"#,
            r#"abcdef", "DYLD_INSERT_LIBRARIES": "/x", "LD_AUDIT": "y" }"#,
            "`LD_AUDIT` in its env loads",
        ),
        (
            r#""--server", "play""#,
            r#""--server", "other""#,
            "its --server is other, so the rules of play do not count",
        ),
        (r#""--client", "cursor""#, r#""--client", "claude""#, "its --client is claude, not cursor"),
    ] {
        let world = world();
        world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
        world.desk.news(false).unwrap();
        let protected = fs::read_to_string(&world.cursor).unwrap();
        world.edit(from, to);
        assert_eq!(world.states("cursor")[0].1, EntryState::Tampered, "{to}");
        let overview = world.desk.overview().unwrap();
        let needs: Vec<_> =
            overview.needs.iter().filter(|need| need.serious).map(|need| &need.words).collect();
        assert!(matches!(&needs[..], [one] if one.contains(words)), "{to}: {needs:?}");
        assert_eq!(overview.icon, IconState::NotProtecting, "{to}");
        let told = world.desk.news(false).unwrap();
        assert!(
            matches!(&told[..], [Telling::Raise(notice)] if notice.body.contains(words)),
            "{to}: {told:?}"
        );

        world.protect_again();
        assert_eq!(fs::read_to_string(&world.cursor).unwrap(), protected, "{to}");
        assert_eq!(world.states("cursor")[0].1, EntryState::Protected);
        assert!(world.desk.overview().unwrap().needs.is_empty(), "{to}");
        world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
        assert_eq!(fs::read_to_string(&world.cursor).unwrap(), FILE, "{to}");
    }
}

#[test]
fn a_gate_that_records_real_calls_as_a_demonstration_is_not_shown_as_protected() {
    let world = world();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    world.edit(r#""run", "--server""#, r#""run", "--demo", "--server""#);
    assert_eq!(world.states("cursor")[0].1, EntryState::Tampered);
    let needs = world.desk.overview().unwrap().needs;
    assert!(needs.iter().any(|need| need.words.contains("its --demo marks its calls")), "{needs:?}");
    world.desk.wiring().change_clients(ClientAct::Unprotect, &[], false).unwrap();
    assert_eq!(fs::read_to_string(&world.cursor).unwrap(), FILE);
}

#[test]
fn what_an_entry_had_when_a_person_protected_it_is_theirs() {
    let world = world();
    let file =
        FILE.replace(r#""env": { "#, r#""env": { "LD_LIBRARY_PATH": "/opt/cuda", "HOME": "/srv/it", "#);
    fs::write(&world.cursor, &file).unwrap();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    world.desk.wiring().guard().unwrap();
    assert_eq!(world.states("cursor")[0].1, EntryState::Protected);
    assert!(world.desk.overview().unwrap().needs.is_empty());
    world.edit("/opt/cuda", "/evil");
    assert_eq!(world.states("cursor")[0].1, EntryState::Tampered, "another value is another's");
}

#[test]
fn an_entry_that_names_the_gate_s_own_home_is_as_protected() {
    let world = world();
    let home = world.place.home.path().display().to_string();
    let file = FILE.replace(r#""env": { "#, &format!(r#""env": {{ "CALLGATE_HOME": "{home}", "#));
    fs::write(&world.cursor, &file).unwrap();
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    assert_eq!(world.states("cursor")[0].1, EntryState::Protected);
}
