//! Servers of one's own: added, placed with their secrets, and gone again.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use callgate_secrets::{Identity, Keychain, KeychainError, MemoryKeychain, Secret, Strange, resolve, wanted};

use super::placing::{PlaceError, forget_own_secrets, place, take_out};
use super::*;
use crate::discover::{Found, discover, file_for_new};
use crate::entry::NewServer;
use crate::names::NameRegistry;
use crate::survey::{State, look};
use crate::table::client;
use crate::{Os, System};

const BINARY: &str = "/home/ada/.callgate/bin/callgate";
const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

struct World {
    root: tempfile::TempDir,
    keychain: MemoryKeychain,
}

impl World {
    fn new() -> World {
        let world = World { root: tempfile::tempdir().unwrap(), keychain: MemoryKeychain::default() };
        fs::create_dir_all(world.home()).unwrap();
        world
    }

    fn home(&self) -> PathBuf {
        self.root.path().join(".callgate")
    }

    fn system(&self) -> System {
        System { os: Os::Linux, home: self.root.path().to_owned(), variables: BTreeMap::new() }
    }

    fn text(&self) -> String {
        fs::read_to_string(path(&self.home())).unwrap()
    }

    /// A client with this file.
    fn client(&self, id: &str, path: &str, text: &str) -> Found {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        discover(&self.system(), client(id).unwrap(), &[]).remove(0)
    }

    fn add(&self, wanted: &Wanted) -> Result<(), AddError> {
        add(&self.home(), wanted, Some(&self.keychain))
    }

    fn place(&self, found: &Found, name: &str) -> Result<crate::plan::Plan, PlaceError> {
        let keychain = &|| Ok(&self.keychain as &dyn Keychain);
        place(&self.home(), found, name, BINARY, &mut NameRegistry::default(), keychain, 1)
    }

    fn take_out(&self, found: &Found, name: &str) -> placing::TakenOut {
        let keychain = &|| Ok(&self.keychain as &dyn Keychain);
        take_out(&self.home(), found, &[found.key(None, name)], &mut NameRegistry::default(), keychain, 2)
            .unwrap()
    }
}

fn server(name: &str) -> NewServer {
    let args = vec!["-y".to_owned(), "notes".to_owned()];
    NewServer { name: name.to_owned(), program: "npx".to_owned(), args, env: Vec::new() }
}

fn plain(name: &str) -> Wanted {
    Wanted { server: server(name), secrets: Vec::new() }
}

fn with_secret(name: &str) -> Wanted {
    let secrets = vec![("TOKEN".to_owned(), Secret::new(TOKEN.to_owned()))];
    Wanted { secrets, ..plain(name) }
}

#[test]
fn what_is_added_is_read_again_and_every_other_byte_stays() {
    let world = World::new();
    world.add(&plain("notes")).unwrap();
    assert_eq!(
        commands(&world.home()).unwrap(),
        [("notes".to_owned(), vec!["npx".into(), "-y".into(), "notes".into()])]
    );
    let by_hand =
        "// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"a\"}, // first\r\n\t},\r\n}\r\n";
    fs::write(path(&world.home()), by_hand).unwrap();
    world.add(&plain("notes")).unwrap();
    assert!(world.text().starts_with(
        "// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"a\"}, // first\r\n\t\t\"notes\": {"
    ));
    assert!(forget(&world.home(), "notes").unwrap().is_some());
    assert_eq!(world.text(), by_hand);
    assert!(forget(&world.home(), "notes").unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    world.add(&plain("notes")).unwrap();
    world.add(&plain("more")).unwrap();
    assert_eq!(fs::metadata(path(&world.home())).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_name_stands_for_one_server() {
    let world = World::new();
    world.add(&plain("notes")).unwrap();
    let text = world.text();
    world.add(&plain("notes")).unwrap();
    let other =
        Wanted { server: NewServer { program: "uvx".into(), ..server("notes") }, secrets: Vec::new() };
    assert!(matches!(world.add(&other), Err(AddError::Taken { .. })));
    assert!(matches!(world.add(&with_secret("notes")), Err(AddError::Taken { .. })));
    assert_eq!(world.text(), text);
    assert!(world.keychain.is_empty());
}

#[test]
fn what_cannot_be_is_refused_by_its_part() {
    let world = World::new();
    let with = |change: &dyn Fn(&mut Wanted)| {
        let mut wanted = plain("notes");
        change(&mut wanted);
        match check(&world.home(), &wanted) {
            Err(AddError::Bad { part, .. }) => part,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(&|w| w.server.name = "a b".into()), OwnField::Name);
    assert_eq!(with(&|w| w.server.program = " ".into()), OwnField::Command);
    assert_eq!(
        with(&|w| (w.server.program, w.server.args) = ("/x/callgate".into(), vec!["run".into()])),
        OwnField::Command
    );
    assert_eq!(with(&|w| w.server.env = vec![("A B".into(), "v".into())]), OwnField::Variables);
    let twice = |w: &mut Wanted| {
        w.server.env = vec![("A".into(), "v".into())];
        w.secrets = vec![("A".into(), Secret::new("v".into()))];
    };
    assert_eq!(with(&twice), OwnField::Variables);
    // A reference could not be told from another's if the client changes the command.
    let mut filled = with_secret("notes");
    filled.server.args = vec!["${HOME}/x".into()];
    assert!(world.add(&filled).unwrap_err().to_string().contains("argument 1 is filled in"));
    assert!(!path(&world.home()).exists());
}

#[test]
fn a_broken_file_is_told_with_the_place_and_stays() {
    let world = World::new();
    for (text, word) in [
        ("{\n  \"mcpServers\": {\n    oops\n", "line 3"),
        ("[]", "not a map"),
        (r#"{"mcpServers": []}"#, "not a map"),
        (r#"{"mcpServers": {"a": {}, "a": {}}}"#, "twice"),
        ("\u{feff}{}", "byte order mark"),
    ] {
        fs::write(path(&world.home()), text).unwrap();
        let error = world.add(&with_secret("notes")).unwrap_err().to_string();
        assert!(error.contains("servers.json") && error.contains(word), "{error}");
        assert!(forget(&world.home(), "notes").is_err());
        assert_eq!(world.text(), text);
        assert!(world.keychain.is_empty(), "nothing is left in the keychain");
    }
}

/// What the gate of this client finds for the server's variable.
fn resolved(world: &World, found: &Found) -> Result<Vec<(OsString, OsString)>, String> {
    let entry = look(found).unwrap().entries.remove(0);
    let local = entry.local().unwrap();
    let args: Vec<OsString> = local.args.iter().map(|arg| arg.value.clone().into()).collect();
    let env = local.env.iter().map(|(name, text)| (name.into(), text.value.clone().into()));
    let refs = wanted(&args, env);
    let start = Identity::of(
        "notes",
        Some(found.client.id),
        local.program.value.as_ref(),
        args.iter().map(OsString::as_os_str),
    );
    let done = resolve(&refs, &start, &Strange::default(), &args, &world.keychain);
    done.map(|done| done.env).map_err(|error| error.to_string())
}

#[test]
fn every_client_gets_a_reference_of_its_own_and_none_gets_the_value() {
    let world = World::new();
    world.add(&with_secret("notes")).unwrap();
    let files = [
        world.client("cursor", ".cursor/mcp.json", "{}\n"),
        world.client("codex", ".codex/config.toml", "model = \"x\"\n"),
        world.client("goose", ".config/goose/config.yaml", "extensions: {}\n"),
    ];
    for found in &files {
        let plan = world.place(found, "notes").unwrap();
        assert_eq!(plan.edits.len(), 1, "{:?}", plan.refused);
        assert_eq!(resolved(&world, found).unwrap(), [("TOKEN".into(), OsString::from(TOKEN))]);
        assert!(!fs::read_to_string(&found.path).unwrap().contains(TOKEN));
    }
    assert!(!world.text().contains(TOKEN));
    assert_eq!(world.keychain.len(), 4);
    // One client's reference is no good in another's file.
    let stolen = fs::read_to_string(&files[0].path).unwrap().replace("\"cursor\"", "\"windsurf\"");
    let windsurf = world.client("windsurf", ".codeium/windsurf/mcp_config.json", &stolen);
    assert!(resolved(&world, &windsurf).unwrap_err().contains("stored for another server"));

    for (found, was) in files.iter().zip(["{}\n", "model = \"x\"\n", "extensions: {}\n"]) {
        assert_eq!(world.take_out(found, "notes").left, [""; 0]);
        assert_eq!(fs::read_to_string(&found.path).unwrap(), was);
    }
    let own = forget(&world.home(), "notes").unwrap().unwrap();
    let How::Local(local) = &own.how else { panic!("{own:?}") };
    let keychain = &|| Ok(&world.keychain as &dyn Keychain);
    assert_eq!(forget_own_secrets(&world.home(), "notes", local, keychain), [""; 0]);
    assert!(world.keychain.is_empty());
}

#[test]
fn without_a_keychain_nothing_is_placed_and_without_secrets_none_is_asked() {
    let world = World::new();
    world.add(&with_secret("notes")).unwrap();
    world.add(&plain("open")).unwrap();
    let found = world.client("cursor", ".cursor/mcp.json", "{}\n");
    let asked = Cell::new(0);
    let absent = || -> Result<&dyn Keychain, KeychainError> {
        asked.set(asked.get() + 1);
        Err(KeychainError::Absent("no bus".into()))
    };
    let mut names = NameRegistry::default();
    let told = place(&world.home(), &found, "notes", BINARY, &mut names, &absent, 1).unwrap_err();
    assert!(told.to_string().contains("no keychain"), "{told}");
    assert_eq!(fs::read_to_string(&found.path).unwrap(), "{}\n");
    assert_eq!(asked.get(), 1);
    place(&world.home(), &found, "open", BINARY, &mut names, &absent, 1).unwrap();
    assert_eq!(asked.get(), 1);
}

#[test]
fn a_foreign_reference_in_servers_json_is_not_followed() {
    let world = World::new();
    world.add(&with_secret("notes")).unwrap();
    let text = world.text().replace("\"notes\": {", "\"thief\": {").replace("\"npx\"", "\"evil\"");
    fs::write(path(&world.home()), text).unwrap();
    let found = world.client("cursor", ".cursor/mcp.json", "{}\n");
    assert!(world.place(&found, "thief").unwrap_err().to_string().contains("stored for another entry"));
    assert_eq!(fs::read_to_string(&found.path).unwrap(), "{}\n");
}

#[test]
fn a_clash_is_refused_the_same_again_changes_nothing() {
    let world = World::new();
    world.add(&plain("notes")).unwrap();
    let taken = r#"{"mcpServers": {"notes": {"command": "other"}}}"#;
    let found = world.client("cursor", ".cursor/mcp.json", taken);
    let plan = world.place(&found, "notes").unwrap();
    assert!(plan.refused[0].why.contains("another server of this name"), "{:?}", plan.refused);
    assert_eq!(fs::read_to_string(&found.path).unwrap(), taken);

    let open = r#"{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes"]}}}"#;
    fs::write(&found.path, open).unwrap();
    let plan = world.place(&found, "notes").unwrap();
    assert!(plan.refused[0].why.contains("clients protect cursor notes"), "{:?}", plan.refused);

    fs::write(&found.path, "{}").unwrap();
    world.place(&found, "notes").unwrap();
    let placed = fs::read_to_string(&found.path).unwrap();
    let again = world.place(&found, "notes").unwrap();
    assert!(again.changes_nothing() && again.refused.is_empty());
    assert_eq!(fs::read_to_string(&found.path).unwrap(), placed);
    assert_eq!(look(&found).unwrap().entries[0].state, State::Protected { server: "notes".into() });
}

#[test]
fn a_file_is_made_only_where_its_client_is_and_goes_with_its_only_server() {
    let world = World::new();
    let cursor = client("cursor").unwrap();
    assert!(file_for_new(&world.system(), cursor).is_none());
    fs::create_dir_all(world.root.path().join(".cursor")).unwrap();
    let found = file_for_new(&world.system(), cursor).unwrap();
    world.add(&plain("notes")).unwrap();
    world.place(&found, "notes").unwrap();
    let text = fs::read_to_string(&found.path).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    world.take_out(&found, "notes");
    assert!(!found.path.exists());

    // Somebody else has something in it by now: only ours goes.
    world.place(&found, "notes").unwrap();
    fs::write(&found.path, text.replacen('{', "{\n  \"other\": 1,", 1)).unwrap();
    world.take_out(&found, "notes");
    assert_eq!(fs::read_to_string(&found.path).unwrap(), "{\n  \"other\": 1,\n  \"mcpServers\": {}\n}\n");
}
