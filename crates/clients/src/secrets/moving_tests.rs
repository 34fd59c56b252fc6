//! Files of several syntaxes, with a keychain in memory: out, back, and what goes wrong on the way.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use callgate_secrets::{Item, Keychain, KeychainError, MemoryKeychain, Reference, SCHEME};
use tempfile::TempDir;

use super::find::Finding;
use super::moving::{Edited, MoveError, Moved, move_in, preview_move, preview_return, put_back, refers};
use crate::change::carry_out;
use crate::discover::{Found, known};
use crate::ledger::{self, LedgerKey};
use crate::names::NameRegistry;
use crate::plan::PlannedAct;
use crate::survey::{Surveyed, look};
use crate::table;

pub(super) const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

/// A client's file with secrets in variables and arguments, written as people write them.
pub(super) const FILES: [(&str, &str, &str); 3] = [
    (
        "cursor",
        "mcp.json",
        "{\r\n  // mine\r\n\t\"mcpServers\": {\r\n    \"gh\": { \"command\": \"npx\", \"args\": [ \"-y\",  \"srv\", \"--api-key=h\\u0075nter22\", \"x\"],\r\n      \"env\": {\"A\": \"1\", \"GITHUB_TOKEN\": \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\" , \"N\": 5} } } // end\r\n}\r\n",
    ),
    (
        "codex",
        "config.toml",
        "model = 'x' # keep\n\n[mcp_servers.gh]\ncommand = 'npx'\nargs = [\"-y\", 'srv', '--api-key', 'hunter22'] # args\n\n[mcp_servers.gh.env]\nGITHUB_TOKEN = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8' # why\n",
    ),
    (
        "goose",
        "config.yaml",
        "extensions:\n  gh:\n    type: stdio\n    cmd: npx\n    args:\n      - -y\n      - srv\n      - --api-key\n      - hunter22 # mine\n    envs:\n      GITHUB_TOKEN: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n      A: '1'\n",
    ),
];

pub(super) struct World {
    folder: TempDir,
    pub(super) found: Found,
    original: &'static str,
    pub(super) keychain: MemoryKeychain,
}

impl World {
    pub(super) fn new(client: &str, name: &str, text: &'static str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let found = known(table::client(client).unwrap(), path);
        World { folder, found, original: text, keychain: MemoryKeychain::default() }
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn text(&self) -> String {
        fs::read_to_string(&self.found.path).unwrap()
    }

    fn act(&self, act: PlannedAct<'_>) {
        let ledger = ledger::read(&self.home()).unwrap();
        let entries = look(&self.found).unwrap().entries;
        let plan =
            carry_out(&self.home(), &self.found, act, &|_| true, &mut NameRegistry::of(&entries, &ledger), 1)
                .unwrap();
        assert!(plan.refused.is_empty(), "{:?}", plan.refused);
    }

    pub(super) fn protect(&self) {
        self.act(PlannedAct::Protect { binary: "/opt/callgate" });
    }

    fn key(&self) -> LedgerKey {
        look(&self.found).unwrap().entries[0].key.clone()
    }

    pub(super) fn move_in(&self, keychain: &dyn Keychain) -> Result<Moved, MoveError> {
        move_in(&self.home(), &self.found, &self.key(), Edited::Refuse, &|_| true, keychain, 2)
    }

    pub(super) fn put_back(&self) -> Result<Moved, MoveError> {
        put_back(&self.home(), &self.found, &self.key(), &self.keychain, 3)
    }
}

#[test]
fn secrets_move_and_come_back_byte_for_byte() {
    for (client, name, text) in FILES {
        let world = World::new(client, name, text);
        world.protect();
        let protected = world.text();
        let moved = world.move_in(&world.keychain).unwrap();
        assert_eq!(moved.names, ["GITHUB_TOKEN", "api-key"], "{name}");
        let without = world.text();
        assert!(!without.contains(TOKEN) && !without.contains("nter22"), "{without}");
        assert_eq!(without.matches(SCHEME).count(), 2);
        assert!(refers(&look(&world.found).unwrap().entries[0]));
        // What we did ourselves is no drift.
        let surveyed = [Surveyed { found: world.found.clone(), read: look(&world.found) }];
        let ledger = ledger::read(&world.home()).unwrap();
        assert_eq!(crate::drift::drift(&surveyed, &ledger, &[], "/opt/callgate"), []);
        // Once more changes nothing.
        assert_eq!(world.move_in(&world.keychain).unwrap(), Moved::default());
        assert_eq!(world.text(), without);

        assert_eq!(world.put_back().unwrap().names.len(), 2);
        assert_eq!(world.text(), protected, "{name}");
        assert!(world.keychain.is_empty());
        world.act(PlannedAct::Unprotect);
        assert_eq!(world.text(), world.original, "{name}");
    }
}

#[test]
fn what_would_be_written_is_seen_first_without_the_keychain() {
    for (client, name, text) in FILES {
        let world = World::new(client, name, text);
        world.protect();
        let protected = world.text();
        let shown = preview_move(&world.found, &world.key(), &|_| true).unwrap();
        assert_eq!(shown.before, protected, "{name}");
        assert_eq!(world.text(), protected, "nothing was written");
        world.move_in(&world.keychain).unwrap();
        // The same but for the numbers, which nobody knows before.
        assert_eq!(shown.after, unnumbered(&world.text()), "{name}");

        let back = preview_return(&world.found, &world.key()).unwrap();
        assert_eq!(back.before, world.text());
        assert_eq!(back.after.matches("[masked]").count(), 2, "{}", back.after);
        assert!(!back.after.contains(SCHEME) && !back.after.contains(TOKEN));
    }
}

/// The text with the numbers of its references left out.
fn unnumbered(text: &str) -> String {
    let mut parts = text.split(SCHEME);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| format!("{text}{SCHEME}…/{}", part.split_once('/').unwrap().1))
}

#[test]
fn an_entry_without_a_gate_keeps_its_secrets() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    assert!(matches!(world.move_in(&world.keychain), Err(MoveError::NotProtected)));
    assert_eq!(world.text(), world.original);
    assert!(world.keychain.is_empty());
}

#[test]
fn an_entry_that_its_client_fills_in_keeps_its_secrets() {
    let text = "{\"mcpServers\":{\"gh\":{\"command\":\"npx\",\"args\":[\"${workspaceFolder}\"],\"env\":{\"API_KEY\":\"hunter22\"}}}}";
    let world = World::new("cursor", "mcp.json", text);
    world.protect();
    let protected = world.text();
    assert!(
        matches!(world.move_in(&world.keychain), Err(MoveError::FilledIn(word)) if word.starts_with("argument "))
    );
    assert_eq!((world.text(), world.keychain.is_empty()), (protected, true));
}

/// Fails at the n-th time that it is asked to write.
struct Failing<'a>(&'a MemoryKeychain, Cell<u32>);

impl Keychain for Failing<'_> {
    fn read(&self, reference: &Reference) -> Result<Item, KeychainError> {
        self.0.read(reference)
    }

    fn write(&self, reference: &Reference, item: &Item) -> Result<(), KeychainError> {
        self.1.set(self.1.get().wrapping_sub(1));
        if self.1.get() == 0 { Err(KeychainError::Locked) } else { self.0.write(reference, item) }
    }

    fn remove(&self, reference: &Reference) -> Result<(), KeychainError> {
        self.0.remove(reference)
    }
}

#[test]
fn a_keychain_that_fails_half_way_changes_nothing() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    let protected = world.text();
    for at in 1..=2 {
        let told = world.move_in(&Failing(&world.keychain, Cell::new(at))).unwrap_err().to_string();
        assert!(told.contains("locked") && told.contains("nothing was changed"), "{told}");
        assert!(!told.contains(TOKEN));
        assert_eq!((world.text(), world.keychain.is_empty()), (protected.clone(), true), "{at}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_leaves_nothing_in_the_keychain() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    let protected = world.text();
    // A second name keeps a file from being replaced.
    fs::hard_link(&world.found.path, world.folder.path().join("other")).unwrap();
    assert!(matches!(world.move_in(&world.keychain), Err(MoveError::File(_))));
    assert_eq!((world.text(), world.keychain.is_empty()), (protected, true));
}

#[test]
fn a_copied_reference_is_not_put_back_elsewhere() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    world.move_in(&world.keychain).unwrap();
    let other = world.folder.path().join("other").join("mcp.json");
    fs::create_dir(world.folder.path().join("other")).unwrap();
    fs::copy(&world.found.path, &other).unwrap();
    let found = known(world.found.client, other.clone());
    let key = look(&found).unwrap().entries[0].key.clone();
    let before = fs::read(&other).unwrap();
    let told = put_back(&world.home(), &found, &key, &world.keychain, 3).unwrap_err();
    assert!(matches!(told, MoveError::Foreign { .. }), "{told}");
    let told =
        move_in(&world.home(), &found, &key, Edited::Refuse, &|_| true, &world.keychain, 3).unwrap_err();
    assert!(matches!(told, MoveError::Foreign { .. }), "{told}");
    assert_eq!(fs::read(&other).unwrap(), before);
    assert_eq!(world.keychain.len(), 2);
}

#[test]
fn a_renamed_entry_or_a_moved_project_is_not_locked_out_of_its_secrets() {
    let renamed = |world: &mut World| {
        fs::write(&world.found.path, world.text().replacen("\"gh\":", "\"github\":", 1)).unwrap();
    };
    let moved = |world: &mut World| {
        let there = world.folder.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::rename(&world.found.path, there.join("mcp.json")).unwrap();
        world.found = known(world.found.client, there.join("mcp.json"));
    };
    for change in [&renamed as &dyn Fn(&mut World), &moved] {
        let mut world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
        world.protect();
        world.move_in(&world.keychain).unwrap();
        change(&mut world);
        let told = world.put_back().unwrap_err().to_string();
        assert!(told.contains("If you renamed this entry or moved its file"), "{told}");
        assert!(matches!(world.move_in(&world.keychain), Err(MoveError::Foreign { .. })), "not by itself");
        let anew = |keychain| {
            move_in(&world.home(), &world.found, &world.key(), Edited::Accept, &|_| true, keychain, 2)
        };
        assert_eq!(anew(&world.keychain).unwrap(), Moved::default());
        assert_eq!(world.put_back().unwrap().names.len(), 2);
        assert!(world.text().contains(TOKEN) && world.keychain.is_empty());
    }
}

#[test]
fn a_reference_of_another_entry_and_another_command_is_foreign_whatever_is_said() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    world.move_in(&world.keychain).unwrap();
    let other = world.text().replacen("\"gh\":", "\"github\":", 1).replace("\"srv\"", "\"evil\"");
    fs::write(&world.found.path, other).unwrap();
    let told =
        move_in(&world.home(), &world.found, &world.key(), Edited::Accept, &|_| true, &world.keychain, 2);
    assert!(matches!(told, Err(MoveError::Foreign { .. })), "{told:?}");
}

#[test]
fn a_false_alarm_can_be_left_in_the_file_while_the_rest_moves() {
    for (client, name, text) in FILES {
        let world = World::new(client, name, text);
        world.protect();
        let only = |finding: &Finding| finding.name == "GITHUB_TOKEN";
        let shown = preview_move(&world.found, &world.key(), &only).unwrap();
        let moved =
            move_in(&world.home(), &world.found, &world.key(), Edited::Refuse, &only, &world.keychain, 2);
        assert_eq!(moved.unwrap().names, ["GITHUB_TOKEN"], "{name}");
        assert_eq!(shown.after, unnumbered(&world.text()));
        assert!(!world.text().contains(TOKEN) && world.text().contains("nter22"));
        // The other follows when a person likes, and what is there already is stored for the command that it makes.
        assert_eq!(world.move_in(&world.keychain).unwrap().names, ["api-key"]);
        assert_eq!(world.put_back().unwrap().names.len(), 2);
    }
}

#[test]
fn after_an_edit_the_values_still_come_back_and_can_be_bound_anew() {
    let world = World::new(FILES[0].0, FILES[0].1, FILES[0].2);
    world.protect();
    let protected = world.text();
    world.move_in(&world.keychain).unwrap();
    fs::write(&world.found.path, world.text().replace("\"srv\"", "\"srv\", \"--more\"")).unwrap();
    assert!(matches!(world.move_in(&world.keychain), Err(MoveError::Edited { .. })));
    let key = world.key();
    let again = || move_in(&world.home(), &world.found, &key, Edited::Accept, &|_| true, &world.keychain, 2);
    assert_eq!(again().unwrap(), Moved::default());
    assert_eq!(world.move_in(&world.keychain).unwrap(), Moved::default(), "it is its own again");
    world.put_back().unwrap();
    assert_eq!(world.text(), protected.replace("\"srv\"", "\"srv\", \"--more\""));
}
