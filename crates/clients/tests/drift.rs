//! What clients and people do to protected files, done to real ones, and what we make of it.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_clients::backup::{Backup, Backups};
use callgate_clients::change::carry_out;
use callgate_clients::drift::{Drift, drift};
use callgate_clients::ledger::{self, LedgerKey};
use callgate_clients::names::NameRegistry;
use callgate_clients::plan::PlannedAct;
use callgate_clients::queue::{self, Todo};
use callgate_clients::restore::{Wanted, lost_in_wipe, restore, restore_wiped};
use callgate_clients::survey::survey;
use callgate_clients::table::client;
use callgate_clients::{Client, Os, System};

const BINARY: &str = "/home/ada/.callgate/bin/callgate";

const DESKTOP: &str = r#"{
  "preferences": {
    "sidebar": true
  },
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": [
        "mcp-server-git"
      ]
    },
    "notes": {
      "command": "npx",
      "args": [
        "-y",
        "notes"
      ],
      "env": {
        "KEY": "k"
      }
    }
  }
}"#;

/// A home with one file of one client, all of whose entries were put behind the gate.
struct Home {
    root: tempfile::TempDir,
    client: &'static Client,
    path: PathBuf,
    projects: Vec<PathBuf>,
}

impl Home {
    fn new(id: &str, path: &str, text: &str) -> Home {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(path);
        let home =
            Home { client: client(id).unwrap(), path, projects: vec![root.path().join("project")], root };
        home.write(text);
        home.protect();
        home
    }

    fn desktop() -> Home {
        Home::new("claude-desktop", ".config/Claude/claude_desktop_config.json", DESKTOP)
    }

    fn system(&self) -> System {
        System { os: Os::Linux, home: self.root.path().to_owned(), variables: BTreeMap::new() }
    }

    fn ours(&self) -> PathBuf {
        self.root.path().join(".callgate")
    }

    fn protect(&self) {
        let act = PlannedAct::Protect { binary: BINARY };
        for file in survey(&self.system(), [self.client], &self.projects) {
            carry_out(&self.ours(), &file.found, act, &|_| true, &mut NameRegistry::default(), 1).unwrap();
        }
        assert_eq!(self.drift(), [], "nothing happened yet");
    }

    fn write(&self, text: &str) {
        fs::create_dir_all(self.path.parent().unwrap()).unwrap();
        fs::write(&self.path, text).unwrap();
    }

    fn read(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    fn edit(&self, from: &str, to: &str) {
        let text = self.read();
        assert!(text.contains(from), "{from:?} is not in {text}");
        self.write(&text.replacen(from, to, 1));
    }

    fn drift(&self) -> Vec<Drift> {
        self.drift_seen_from(&self.projects)
    }

    fn drift_seen_from(&self, projects: &[PathBuf]) -> Vec<Drift> {
        let ledger = ledger::read(&self.ours()).unwrap();
        let waiting = queue::read(&self.ours()).unwrap();
        drift(&survey(&self.system(), [self.client], projects), &ledger, &waiting, BINARY)
    }

    fn key(&self, name: &str) -> LedgerKey {
        LedgerKey {
            client: self.client.id.to_owned(),
            path: self.path.clone(),
            project: None,
            name: name.to_owned(),
        }
    }

    fn wiped(&self) -> Drift {
        Drift::Wiped {
            client: self.client.id.to_owned(),
            path: self.path.clone(),
            lost: vec![self.key("git"), self.key("notes")],
        }
    }
}

fn wanted<'a>(copy: &'a Backup, bytes: &'a [u8]) -> Wanted<'a> {
    Wanted { copy, bytes, since_ms: i64::MAX }
}

/// As Claude Desktop writes: its own keys, no trailing newline.
const STUB: &str = "{\n  \"preferences\": {\n    \"sidebar\": true\n  }\n}";

#[test]
fn each_thing_that_happens_to_a_protected_file_is_told_apart() {
    type Happens = fn(&Home);
    type Told = fn(&Home) -> Vec<Drift>;
    let table: &[(&str, Happens, Told)] = &[
        ("nothing", |_| {}, |_| vec![]),
        (
            "the client wrote other keys of its own",
            |home| home.edit("\"sidebar\": true", "\"sidebar\": false,\n    \"theme\": \"dark\""),
            |_| vec![],
        ),
        (
            "the client wrote the whole file anew, with another indentation and order",
            |home| {
                let value: serde_json::Value = serde_json::from_str(&home.read()).unwrap();
                home.write(&serde_json::to_string(&value).unwrap());
            },
            |_| vec![],
        ),
        ("the stub that Claude Desktop leaves", |home| home.write(STUB), |home| vec![home.wiped()]),
        ("an empty section", |home| home.write("{\"mcpServers\": {}}"), |home| vec![home.wiped()]),
        ("the file is gone", |home| fs::remove_file(&home.path).unwrap(), |home| vec![home.wiped()]),
        (
            "all gates lost at once",
            |home| home.write(DESKTOP),
            |home| ["git", "notes"].map(|name| Drift::LostGate { key: home.key(name) }).into(),
        ),
        (
            "one gate lost",
            |home| {
                home.edit(BINARY, "uvx");
                let gate = r#""run", "--server", "git", "--client", "claude-desktop", "--", "uvx","#;
                home.edit(gate, "");
            },
            |home| vec![Drift::LostGate { key: home.key("git") }],
        ),
        (
            "a gate lost, with another program in its place",
            |home| {
                home.edit(BINARY, "other");
                let gate = r#""run", "--server", "git", "--client", "claude-desktop", "--", "uvx","#;
                home.edit(gate, "");
            },
            |home| vec![Drift::New { key: home.key("git") }],
        ),
        (
            "another argument behind the gate",
            |home| home.edit("\"notes\"\n      ]", "\"notes@2\"\n      ]"),
            |home| vec![Drift::Edited { key: home.key("notes") }],
        ),
        (
            "another variable behind the gate",
            |home| home.edit("\"KEY\": \"k\"", "\"OTHER\": \"k\""),
            |home| vec![Drift::Edited { key: home.key("notes") }],
        ),
        // A rotated key is no other program.
        ("another value of a variable", |home| home.edit("\"k\"", "\"k2\""), |_| vec![]),
        (
            "an entry became a remote one",
            |home| {
                let mut value: serde_json::Value = serde_json::from_str(&home.read()).unwrap();
                value["mcpServers"]["git"] = serde_json::json!({ "url": "https://example.test/mcp" });
                home.write(&value.to_string());
            },
            |home| vec![Drift::Edited { key: home.key("git") }],
        ),
        (
            "a new entry",
            |home| home.edit("\"mcpServers\": {", "\"mcpServers\": { \"new\": { \"command\": \"x\" },"),
            |home| vec![Drift::New { key: home.key("new") }],
        ),
        (
            "a new entry that no gate can stand in front of",
            |home| {
                home.edit("\"mcpServers\": {", "\"mcpServers\": { \"new\": { \"url\": \"https://a.test\" },")
            },
            |_| vec![],
        ),
        (
            "a new entry, and all gates lost",
            |home| {
                home.write(&DESKTOP.replacen(
                    "\"mcpServers\": {",
                    "\"mcpServers\": { \"new\": { \"command\": \"x\" },",
                    1,
                ))
            },
            |home| {
                let mut told: Vec<_> =
                    ["git", "notes"].map(|name| Drift::LostGate { key: home.key(name) }).into();
                told.push(Drift::New { key: home.key("new") });
                told
            },
        ),
        (
            "an entry was renamed",
            |home| home.edit("\"git\": {", "\"repository\": {"),
            |home| vec![Drift::Removed { key: home.key("git") }],
        ),
        (
            "an entry was removed",
            |home| {
                let mut value: serde_json::Value = serde_json::from_str(&home.read()).unwrap();
                value["mcpServers"].as_object_mut().unwrap().remove("notes");
                home.write(&value.to_string());
            },
            |home| vec![Drift::Removed { key: home.key("notes") }],
        ),
        (
            "an entry names the program where it was before",
            |home| home.edit(BINARY, "/old/bin/callgate"),
            |home| vec![Drift::Moved { key: home.key("git"), binary: "/old/bin/callgate".to_owned() }],
        ),
    ];
    for (what, happens, told) in table {
        let home = Home::desktop();
        happens(&home);
        assert_eq!(
            home.drift(),
            told(&home),
            "{what}:\n{}",
            fs::read_to_string(&home.path).unwrap_or_default()
        );
    }
}

#[test]
fn a_file_that_is_not_understood_any_more_is_told_with_the_reason() {
    let text = Home::desktop().read();
    for (what, broken, why) in [
        ("a comment", format!("// mine\n{text}"), "it is not valid JSON"),
        ("a byte order mark", format!("\u{feff}{text}"), "byte order mark"),
        ("cut off while it was written", text[..text.len() / 2].to_owned(), "it is not valid JSON"),
        ("emptied before it is written", String::new(), "it is not valid JSON"),
        ("a key twice", text.replacen("{", "{ \"mcpServers\": {},", 1), "`mcpServers` stands there twice"),
    ] {
        let home = Home::desktop();
        home.write(&broken);
        let told = home.drift();
        let [Drift::Unreadable { client, path, why: said }] = &told[..] else { panic!("{what}: {told:?}") };
        assert_eq!((client.as_str(), path), ("claude-desktop", &home.path), "{what}");
        assert!(said.contains(why), "{what}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_came_to_lead_nowhere_is_no_wipe() {
    let home = Home::desktop();
    fs::remove_file(&home.path).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", &home.path).unwrap();
    assert!(matches!(&home.drift()[..], [Drift::Unreadable { why, .. }] if why.contains("leads nowhere")));
}

#[test]
fn a_file_that_the_client_stopped_reading_is_told() {
    let text = r#"{ "mcp": { "git": { "type": "local", "command": ["uvx", "mcp-server-git"] } } }"#;
    let home = Home::new("opencode", ".config/opencode/opencode.json", text);
    let by = home.path.with_extension("jsonc");
    fs::write(&by, "{}").unwrap();
    let told = home.drift();
    assert_eq!(told, [Drift::Shadowed { path: home.path, by }]);
}

#[test]
fn a_file_of_a_project_that_nobody_looked_into_is_not_told_as_wiped() {
    let text = r#"{ "mcpServers": { "git": { "command": "uvx" }, "notes": { "command": "npx" } } }"#;
    let home = Home::new("cursor", "project/.cursor/mcp.json", text);
    assert_eq!(home.drift_seen_from(&[]), []);
    home.write("{}");
    assert_eq!(home.drift(), [home.wiped()]);
}

#[test]
fn entries_of_one_file_for_several_projects_are_told_apart() {
    let text = r#"{ "mcpServers": { "git": { "command": "uvx" } }, "projects": {
        "/a": { "mcpServers": { "git": { "command": "uvx", "args": ["a"] } } },
        "/b": { "mcpServers": { "git": { "command": "uvx", "args": ["b"] } } } } }"#;
    let home = Home::new("claude-code", ".claude.json", text);
    let mut value: serde_json::Value = serde_json::from_str(&home.read()).unwrap();
    value["projects"].as_object_mut().unwrap().remove("/a");
    value["projects"]["/b"]["mcpServers"]["git"] = serde_json::json!({ "command": "uvx", "args": ["b"] });
    home.write(&value.to_string());
    let of = |project: &str| LedgerKey { project: Some(project.to_owned()), ..home.key("git") };
    assert_eq!(home.drift(), [Drift::Removed { key: of("/a") }, Drift::LostGate { key: of("/b") }]);
}

#[test]
fn what_a_person_undid_or_restored_is_no_drift() {
    let home = Home::desktop();
    for file in survey(&home.system(), [home.client], &[]) {
        let one = |entry: &callgate_clients::survey::Entry| entry.key.name == "git";
        carry_out(&home.ours(), &file.found, PlannedAct::Unprotect, &one, &mut NameRegistry::default(), 2)
            .unwrap();
    }
    // Somebody has decided about it: nobody is asked again, until it is put behind the gate once more and loses it.
    assert_eq!(home.drift(), []);
    let gateless = home.read();
    home.protect();
    home.write(&gateless);
    assert_eq!(home.drift(), [Drift::LostGate { key: home.key("git") }]);

    let copies = Backups::of(&home.ours()).list().unwrap();
    let first = copies.last().unwrap();
    restore(&home.ours(), wanted(first, &first.read().unwrap()), 3).unwrap();
    assert_eq!((home.read().as_str(), home.drift()), (DESKTOP, vec![]));
    assert!(Path::new(&first.copy).exists());
}

#[test]
fn servers_lost_while_their_gate_waited_are_told_as_wiped_and_come_back_with_it() {
    let home = Home::desktop();
    for file in survey(&home.system(), [home.client], &[]) {
        carry_out(
            &home.ours(),
            &file.found,
            PlannedAct::Unprotect,
            &|_| true,
            &mut NameRegistry::default(),
            2,
        )
        .unwrap();
    }
    queue::add(&home.ours(), &[home.key("git")], &Todo::Protect, 3).unwrap();
    assert_eq!(home.drift(), []);
    home.write(STUB);
    let Drift::Wiped { client, path, .. } = home.wiped() else { unreachable!() };
    assert_eq!(home.drift(), [Drift::Wiped { client, path, lost: vec![home.key("git")] }]);

    let copies = Backups::of(&home.ours()).list().unwrap();
    let first = copies.last().unwrap();
    let lost = lost_in_wipe(&home.ours(), first).unwrap();
    let bytes = first.read().unwrap();
    let gates =
        restore_wiped(&home.ours(), wanted(first, &bytes), (&lost, BINARY), &mut NameRegistry::default(), 4);
    assert_eq!(gates.unwrap().unwrap().edits.len(), 1);
    assert_eq!((home.drift(), queue::read(&home.ours()).unwrap()), (vec![], vec![]));
    assert!(home.read().contains(BINARY), "{}", home.read());
}

#[test]
fn an_older_wish_does_not_undo_a_newer_change() {
    let home = Home::desktop();
    let waits = |name: &str| {
        queue::add(&home.ours(), &[home.key(name)], &Todo::Unprotect, 3).unwrap();
    };
    let left = || -> Vec<_> {
        queue::read(&home.ours()).unwrap().into_iter().map(|queued| queued.key.name).collect()
    };
    waits("git");
    waits("notes");
    // It is behind the gate already; the wish counts all the same.
    let found = &survey(&home.system(), [home.client], &[])[0].found;
    let one = |entry: &callgate_clients::survey::Entry| entry.key.name == "git";
    let act = PlannedAct::Protect { binary: BINARY };
    carry_out(&home.ours(), found, act, &one, &mut NameRegistry::default(), 4).unwrap();
    assert_eq!(left(), ["notes"]);
    let copies = Backups::of(&home.ours()).list().unwrap();
    restore(&home.ours(), wanted(&copies[0], &copies[0].read().unwrap()), 5).unwrap();
    assert_eq!(left(), Vec::<String>::new());
}
