#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use callgate_clients::{Os, System, ledger};
use callgate_journal::Origin;
use callgate_wiring::view::ClientAct;

use super::*;
use crate::testing::TestHome;

/// Somebody with Cursor, whose one server is a program that is there.
struct World {
    place: TestHome,
    desk: Desk,
    person: tempfile::TempDir,
}

impl World {
    fn with(file: &str) -> World {
        let (place, person) = (TestHome::new(), tempfile::tempdir().unwrap());
        let machine = System { os: Os::Linux, home: person.path().to_owned(), variables: BTreeMap::new() };
        let desk = Desk::new(place.home.clone(), place.clock.clone(), Origin::Window).on(machine);
        let world = World { place, desk, person };
        fs::create_dir_all(world.cursor().parent().unwrap()).unwrap();
        fs::write(world.cursor(), file).unwrap();
        world.put_gate(
            "#!/bin/sh\necho callgate 0.1.0\n".replace("0.1.0", env!("CARGO_PKG_VERSION")).as_str(),
        );
        world
    }

    fn sound() -> World {
        let world = World::with(r#"{"mcpServers":{"a":{"command":"/bin/sh"}}}"#);
        world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
        world
    }

    fn cursor(&self) -> PathBuf {
        self.person.path().join(".cursor/mcp.json")
    }

    fn put_gate(&self, text: &str) {
        let binary = callgate_programs::place(self.place.home.path());
        fs::create_dir_all(binary.parent().unwrap()).unwrap();
        let partner = binary.with_file_name("callgate-cli");
        fs::write(&binary, text).unwrap();
        fs::write(&partner, text).unwrap();
        for path in [binary.as_path(), &partner, binary.parent().unwrap()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }

    /// The codes of what is a warning or a problem, the keychain's left out: what it says is the machine's business.
    fn trouble(&self) -> Vec<&'static str> {
        let mut found = self.desk.doctor();
        found.retain(|finding| finding.gravity > Gravity::Note && finding.area != Area::Keychain);
        found.iter().map(|finding| finding.code.word()).collect()
    }
}

#[test]
fn a_sound_home_has_nothing_wrong_with_it() {
    let world = World::sound();
    assert_eq!(world.trouble(), Vec::<&str>::new(), "{:#?}", world.desk.doctor());
    let codes: Vec<_> = world.desk.doctor().iter().map(|finding| finding.code).collect();
    for code in
        [Code::HomeOk, Code::GateOk, Code::PoliciesOk, Code::RecordOk, Code::EntryProtected, Code::ProgramOk]
    {
        assert!(codes.contains(&code), "{code:?} in {codes:?}");
    }
}

#[test]
fn without_a_home_nothing_is_wrong_and_none_is_made() {
    let world = World::with("{}");
    fs::remove_dir_all(world.place.home.path()).unwrap();
    assert_eq!(world.trouble(), Vec::<&str>::new());
    assert!(!world.place.home.path().exists());
}

#[test]
fn nothing_secret_and_nothing_that_hides_is_told() {
    let world = World::with(
        r#"{"mcpServers":{"a\u202e":{"command":"/no/such/sk-ant-REDACTED","env":{"TOKEN":"hunter2-hunter2"}}}}"#,
    );
    let said = format!(
        "{:?}",
        world.desk.doctor().iter().map(|one| (&one.words, &one.about, &one.fix)).collect::<Vec<_>>()
    );
    assert!(said.contains("is not a program that can be run"), "{said}");
    assert!(!said.contains("abcdefghijklmnopqrstuvwx") && !said.contains("hunter2"), "{said}");
    assert!(!said.contains('\u{202e}'), "{said}");
}

#[test]
fn an_entry_that_lost_its_gate_is_told_once_and_with_what_brings_it_back() {
    let world = World::sound();
    fs::write(world.cursor(), r#"{"mcpServers":{"a":{"command":"/bin/sh"}}}"#).unwrap();
    assert_eq!(world.trouble(), ["entry-lost-gate"]);
    let found = world.desk.doctor();
    let lost = found.iter().find(|finding| finding.code == Code::EntryLostGate).unwrap();
    assert_eq!(lost.fix.as_ref().unwrap().command.as_deref(), Some("callgate clients protect cursor a"));
    assert_eq!((lost.client.as_deref(), lost.names.as_slice()), (Some("cursor"), &["a".to_owned()][..]));
    // What a person left open is theirs.
    let mut held = ledger::hold(world.place.home.path()).unwrap();
    let key = held.ledger.rows[0].key.clone();
    held.ledger.leave_open(&key);
    held.save().unwrap();
    drop(held);
    assert_eq!(world.trouble(), Vec::<&str>::new());
}

#[test]
fn a_pause_and_its_like_are_as_grave_and_in_the_same_words_for_the_window_and_the_doctor() {
    let world = World::sound();
    let home = &world.place.home;
    let now = callgate_home::clock::Clock::now(world.place.clock.as_ref());
    callgate_controls::pause::pause(home, None, Some("lunch"), &now).unwrap();
    callgate_controls::pause::pause(home, Some("a"), None, &now).unwrap();
    fs::write(home.settings(), r#"{"history":{"days":0}}"#).unwrap();
    fs::write(home.path().join("servers.json"), "{").unwrap();
    fs::write(home.path().join("queue.json"), "{").unwrap();
    world.place.write_policy("b", "{");
    world.place.write_policy("c", r#"{"version":"1","default":"allow"}"#);
    let _older = world.place.session("c");
    fs::remove_file(home.policy("c")).unwrap();
    fs::write(home.default_policy(), "{").unwrap();
    fs::write(world.cursor(), r#"{"mcpServers":{"a":{"command":"/bin/sh"}}}"#).unwrap();
    world.desk.wiring().guard().unwrap();
    let doctor = world.desk.doctor();
    let (needs, shown) = (world.desk.needs(), world.desk.overview().unwrap().needs);
    let codes: Vec<_> = needs.iter().map(|finding| finding.code.word()).collect();
    assert!(needs.len() >= 8, "{codes:?}");
    for finding in &needs {
        assert!(doctor.contains(finding), "{finding:#?} is not what the doctor says: {doctor:#?}");
        assert!(shown.contains(&finding.need()), "{finding:#?} is not what the window says: {shown:#?}");
    }
    assert_eq!(shown.len(), needs.len(), "{shown:#?}");
}

#[test]
fn a_policy_for_a_server_that_nobody_knows_is_told_with_what_was_meant() {
    let world = World::with(r#"{"mcpServers":{"filesystem":{"command":"/bin/sh"}}}"#);
    world.desk.wiring().change_clients(ClientAct::Protect, &[], false).unwrap();
    let write = |server: &str| {
        let path = world.place.home.policy(server);
        fs::write(&path, "{\"version\":\"1\",\"default\":\"allow\"}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    write("filesystem");
    assert_eq!(world.trouble(), Vec::<&str>::new());
    write("filesytem");
    assert_eq!(world.trouble(), ["policy-stray"]);
    let found = world.desk.doctor();
    let stray = found.iter().find(|finding| finding.code == Code::PolicyStray).unwrap();
    assert!(stray.words.contains("Did you mean") && stray.words.contains("filesystem"), "{}", stray.words);
    assert!(stray.about.ends_with("filesytem.json") && stray.fix.is_some(), "{stray:?}");
}

#[test]
fn a_rule_that_misses_the_tools_of_its_server_is_told() {
    use callgate_protocol::json::Raw;

    let world = World::sound();
    let path = world.place.home.policy("a");
    let policy = r#"{"version":"1","default":"allow","tools":{"raed_file":{"action":"deny"}}}"#;
    fs::write(&path, policy).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.trouble(), Vec::<&str>::new(), "nothing is known of its tools yet");
    let masker = callgate_redaction::Masker::default();
    let tools = [("read_file", Raw::parse("{}").unwrap())];
    callgate_controls::catalogue::write(&world.place.home, &masker, "a", 1, tools).unwrap();
    assert_eq!(world.trouble(), ["policy-misses"]);
}

#[test]
fn a_gate_of_another_version_is_told_by_which_is_newer() {
    let world = World::sound();
    for (said, gravity) in [("0.0.1", Gravity::Warning), ("99.0.0", Gravity::Note)] {
        world.put_gate(&format!("#!/bin/sh\necho callgate {said}\n"));
        let found = world.desk.doctor();
        let gate = found.iter().find(|finding| finding.area == Area::Gate).unwrap();
        assert_eq!((gate.code, gate.gravity), (Code::GateOtherVersion, gravity), "{gate:?}");
    }
}

/// The documentation's list of codes is this one. `CALLGATE_BLESS=1` writes it.
#[test]
fn the_codes_in_the_documentation_are_the_codes_in_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let text = fs::read_to_string(&path).unwrap();
    let rows: String =
        Code::ALL.iter().map(|code| format!("| `{}` | {} |\n", code.word(), code.meaning())).collect();
    let (begin, end) = ("| code | means |\n|---|---|\n", "<!-- codes of the doctor: end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (table, after) = rest.split_once(end).unwrap();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        fs::write(&path, format!("{before}{begin}{rows}\n{end}{after}")).unwrap();
    } else {
        assert_eq!(table.trim_end(), rows.trim_end(), "run this test with CALLGATE_BLESS=1");
    }
}

#[test]
fn whatever_waits_for_a_client_to_quit_is_told_a_placed_server_and_a_lost_gate_too() {
    use callgate_clients::ledger::LedgerKey;
    use callgate_clients::queue::{Queued, Todo};

    let world = World::sound();
    let queued = |name: &str, todo| Queued {
        key: LedgerKey {
            client: "claude-desktop".into(),
            path: "/c.json".into(),
            project: None,
            name: name.into(),
        },
        todo,
        since_ms: 1,
    };
    let waiting = [queued("n", Todo::Place), queued("a", Todo::Repair), queued("b", Todo::Unprotect)];
    fs::write(world.place.home.path().join("queue.json"), serde_json::to_vec(&waiting).unwrap()).unwrap();
    let mut found = world.desk.doctor();
    found.retain(|finding| finding.code == Code::QueueWaits);
    let commands: Vec<_> =
        found.iter().map(|finding| finding.fix.as_ref().unwrap().command.clone().unwrap()).collect();
    assert_eq!(
        commands,
        [
            "callgate add n --client claude-desktop",
            "callgate clients protect claude-desktop a",
            "callgate clients unprotect claude-desktop b"
        ]
    );
}
