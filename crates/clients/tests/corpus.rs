//! A file of every client, made to be nasty: put behind the gate, read as the client would, and given back byte for byte.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use callgate_clients::change::carry_out;
use callgate_clients::discover::{Found, discover, file_for_new};
use callgate_clients::entry::NewServer;
use callgate_clients::ledger::Ledger;
use callgate_clients::names::NameRegistry;
use callgate_clients::plan::{PlannedAct, plan};
use callgate_clients::survey::{Entry, State, look};
use callgate_clients::table::{ConfigScope, client, clients};
use callgate_clients::{Client, ConfigLocation, Document, Os, System, entry};

const BINARY: &str = "/home/ada/.callgate/bin/callgate";

fn fixtures(id: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(id);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// A home in which the client has this file where it would have it.
fn installed(root: &Path, client: &'static Client, fixture: &Path) -> (System, PathBuf) {
    let system = System { os: Os::Linux, home: root.join("home"), variables: BTreeMap::new() };
    let project = root.join("project");
    let place = place_of(client, fixture);
    let path = system.expand(place.path, Some(&project)).unwrap();
    let path = PathBuf::from(path.to_str().unwrap().replace('*', "one"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(fixture, &path).unwrap();
    (system, path)
}

/// The first row whose files end as the fixture does; fixtures named `project…` lie in a project.
fn place_of(client: &'static Client, fixture: &Path) -> &'static ConfigLocation {
    let scope = if name(fixture).starts_with("project") { ConfigScope::Project } else { ConfigScope::User };
    client
        .places
        .iter()
        .find(|place| {
            place.scope == scope
                && place.os.contains(&Os::Linux)
                && Path::new(place.path).extension() == fixture.extension()
        })
        .unwrap()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn all(_: &Entry) -> bool {
    true
}

#[test]
fn every_client_has_files_to_try_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let tried: BTreeSet<_> =
        fs::read_dir(folder).unwrap().map(|entry| name(&entry.unwrap().path())).collect();
    let known: BTreeSet<_> = clients().iter().map(|client| client.id.to_owned()).collect();
    assert_eq!(tried, known);
}

#[test]
fn protected_and_given_back_every_file_is_what_it_was() {
    for client in clients() {
        for fixture in fixtures(client.id) {
            let root = tempfile::tempdir().unwrap();
            let (system, path) = installed(root.path(), client, &fixture);
            let (home, projects) = (root.path().join("callgate"), [root.path().join("project")]);
            let found = discover(&system, client, &projects);
            let found = found.iter().find(|found| found.path == path).unwrap();
            let original = fs::read(&path).unwrap();
            let before = look(found).unwrap();
            let open = before.entries.iter().filter(|entry| entry.state == State::Open).count();
            assert!(open > 0, "{}", fixture.display());

            let protect = PlannedAct::Protect { binary: BINARY };
            let done = carry_out(&home, found, protect, &all, &mut NameRegistry::default(), 1).unwrap();
            assert_eq!(done.edits.len(), open, "{}", fixture.display());
            let after = look(found).unwrap();
            for (was, is) in before.entries.iter().zip(&after.entries) {
                assert_eq!(was.key, is.key);
                let words = |entry: &Entry| {
                    entry.local().map(|local| local.words().map(str::to_owned).collect::<Vec<_>>())
                };
                assert_eq!(words(was), words(is), "{} {}", fixture.display(), was.key.name);
                if was.state == State::Open {
                    assert!(
                        matches!(is.state, State::Protected { .. }),
                        "{} {}",
                        fixture.display(),
                        was.key.name
                    );
                } else {
                    assert_eq!(was.state, is.state);
                }
            }
            // Again changes nothing: a gate never stands before a gate.
            let gated = fs::read(&path).unwrap();
            assert!(
                carry_out(&home, found, protect, &all, &mut NameRegistry::default(), 2)
                    .unwrap()
                    .changes_nothing()
            );
            assert_eq!(fs::read(&path).unwrap(), gated);

            // From the file alone, as when our own folder is lost.
            let alone =
                plan(found, PlannedAct::Unprotect, &all, &mut NameRegistry::default(), &Ledger::default())
                    .unwrap();
            let texts = callgate_clients::ledger::read(&home).unwrap();
            if texts.rows.iter().all(|row| row.text.is_none()) {
                assert_eq!(alone.after.as_bytes(), original, "{}", fixture.display());
            }
            let undone =
                carry_out(&home, found, PlannedAct::Unprotect, &all, &mut NameRegistry::default(), 3)
                    .unwrap();
            assert_eq!(undone.edits.len(), open);
            assert_eq!(fs::read(&path).unwrap(), original, "{}", fixture.display());
            assert!(callgate_clients::ledger::read(&home).unwrap().rows.is_empty());
        }
    }
}

/// What the clients themselves would make of the files: parsed by ordinary parsers of each format, the entries start our
/// program with the original command line behind `--`.
#[test]
fn a_protected_file_reads_as_ordinary_json_and_starts_the_gate() {
    for client in clients() {
        for fixture in fixtures(client.id) {
            let text = fs::read_to_string(&fixture).unwrap();
            let Ok(before) = serde_json::from_str::<serde_json::Value>(&text) else { continue };
            let root = tempfile::tempdir().unwrap();
            let (system, path) = installed(root.path(), client, &fixture);
            let found = discover(&system, client, &[root.path().join("project")]);
            let found = found.iter().find(|found| found.path == path).unwrap();
            let entries = look(found).unwrap().entries;
            let home = root.path().join("callgate");
            carry_out(
                &home,
                found,
                PlannedAct::Protect { binary: BINARY },
                &all,
                &mut NameRegistry::default(),
                1,
            )
            .unwrap();
            let after: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            for entry in entries.iter().filter(|entry| entry.key.project.is_none()) {
                let section = entry.place.shape.section[0];
                let (was, is) = (&before[section][&entry.key.name], &after[section][&entry.key.name]);
                if entry.state != State::Open {
                    assert_eq!(was, is);
                    continue;
                }
                assert_eq!(is["command"], BINARY);
                let args: Vec<_> =
                    is["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
                assert_eq!(&args[..2], ["run", "--server"]);
                let behind = args.iter().position(|arg| *arg == "--").unwrap() + 1;
                let original: Vec<_> = std::iter::once(was["command"].as_str().unwrap())
                    .chain(was["args"].as_array().into_iter().flatten().map(|arg| arg.as_str().unwrap()))
                    .collect();
                assert_eq!(args[behind..], original, "{}", fixture.display());
                let rest = |value: &serde_json::Value| {
                    let mut map = value.as_object().unwrap().clone();
                    map.remove("command");
                    map.remove("args");
                    map
                };
                assert_eq!(rest(was), rest(is));
            }
        }
    }
}

#[test]
fn the_same_name_with_another_program_in_another_client_is_another_server() {
    let root = tempfile::tempdir().unwrap();
    let system = System { os: Os::Linux, home: root.path().to_owned(), variables: BTreeMap::new() };
    let files = [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "a"),
        ("cursor", ".cursor/mcp.json", "b"),
    ];
    for (_, path, program) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!(r#"{{"mcpServers":{{"play":{{"command":"{program}"}}}}}}"#)).unwrap();
    }
    let home = root.path().join(".callgate");
    // One act over both files, and once more after the second lost its gate.
    for _ in 0..2 {
        let mut names = NameRegistry::of(&[], &callgate_clients::ledger::read(&home).unwrap());
        let mut given = Vec::new();
        for (id, ..) in files {
            let found = &discover(&system, client(id).unwrap(), &[])[0];
            carry_out(&home, found, PlannedAct::Protect { binary: BINARY }, &all, &mut names, 1).unwrap();
            given.push(look(found).unwrap().entries[0].state.clone());
        }
        let named = |server: &str| State::Protected { server: server.to_owned() };
        assert_eq!(given, [named("play"), named("play@cursor")]);
        fs::write(root.path().join(files[1].1), r#"{"mcpServers":{"play":{"command":"b"}}}"#).unwrap();
    }
}

#[test]
fn what_cannot_be_noted_is_not_written() {
    let root = tempfile::tempdir().unwrap();
    let (system, path) = installed(root.path(), client("cursor").unwrap(), &fixtures("cursor")[0]);
    let found = &discover(&system, client("cursor").unwrap(), &[])[0];
    let (original, home) = (fs::read(&path).unwrap(), root.path().join("callgate"));
    // A folder where the ledger should be.
    fs::create_dir_all(home.join("ledger.json")).unwrap();
    let act = PlannedAct::Protect { binary: BINARY };
    assert!(carry_out(&home, found, act, &all, &mut NameRegistry::default(), 1).is_err());
    assert_eq!(fs::read(&path).unwrap(), original);
    fs::remove_dir(home.join("ledger.json")).unwrap();
    carry_out(&home, found, act, &all, &mut NameRegistry::default(), 1).unwrap();
    // A gate comes off without a ledger.
    fs::write(home.join("ledger.json"), "{").unwrap();
    carry_out(&home, found, PlannedAct::Unprotect, &all, &mut NameRegistry::default(), 2).unwrap();
    assert_eq!(fs::read(&path).unwrap(), original);
}

#[test]
fn what_claude_starts_by_itself_is_told_as_not_covered() {
    let root = tempfile::tempdir().unwrap();
    let desktop = client("claude-desktop").unwrap();
    let (system, path) = installed(root.path(), desktop, &fixtures("claude-desktop")[0]);
    let extension = path.with_file_name("Claude Extensions").join("ant.dir.example");
    fs::create_dir_all(&extension).unwrap();
    let left_out = || look(&discover(&system, desktop, &[])[0]).unwrap().left_out;
    assert_eq!(left_out(), [""; 0], "a folder without a manifest is no extension");
    fs::write(extension.join("manifest.json"), "{}").unwrap();
    assert!(left_out()[0].contains("ant.dir.example is not covered"), "{:?}", left_out());
}

fn new_server() -> NewServer {
    NewServer {
        name: "placed-by-us".to_owned(),
        program: "npx".to_owned(),
        args: vec!["-y".to_owned(), "it's \"new\" \\ é".to_owned()],
        env: vec![("KEY".to_owned(), "v: # 'x'".to_owned())],
    }
}

fn ours(entry: &Entry) -> bool {
    entry.key.name == "placed-by-us"
}

/// The words that the client starts for the new server, as ordinary parsers of its format read them.
fn started(found: &Found, text: &str) -> Vec<String> {
    let place = found.places[0];
    let section = place.shape.section[0];
    let value: serde_json::Value = match place.syntax {
        callgate_clients::Syntax::Json => serde_json::from_str(text).unwrap(),
        callgate_clients::Syntax::Commented | callgate_clients::Syntax::Jsonc => {
            jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default()).unwrap()
        }
        // Of these formats we have one reader only.
        callgate_clients::Syntax::Toml | callgate_clients::Syntax::Yaml => {
            let document = Document::parse(place.syntax, text.as_bytes()).unwrap();
            let servers = entry::servers(&document, &place.shape).servers;
            let server = servers.iter().find(|server| server.id.name == "placed-by-us").unwrap();
            let entry::How::Local(local) = &server.how else { panic!("{server:?}") };
            let gate = server.gated.as_ref().unwrap();
            let gate = [&gate.binary, gate.server.as_ref().unwrap(), gate.client.as_ref().unwrap()];
            return gate.into_iter().cloned().chain(local.words().map(str::to_owned)).collect();
        }
    };
    let entry = &value[section]["placed-by-us"];
    let texts = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let mut words = texts(&entry["command"]);
    words.extend(entry["command"].as_str().map(str::to_owned));
    words.extend(texts(&entry["args"]));
    let env = entry.get("env").or_else(|| entry.get("environment")).unwrap();
    assert_eq!(env["KEY"], "v: # 'x'");
    // Only what tells the gates of two clients apart.
    for flag in ["--", "--client", "--server", "run"] {
        let at = words.iter().position(|word| word == flag).unwrap();
        words.remove(at);
    }
    words
}

#[test]
fn a_server_that_is_placed_and_taken_out_leaves_every_file_as_it_was() {
    let server = new_server();
    let act = PlannedAct::Place { binary: BINARY, server: &server };
    for client in clients() {
        for fixture in fixtures(client.id) {
            let root = tempfile::tempdir().unwrap();
            let (system, path) = installed(root.path(), client, &fixture);
            let home = root.path().join("callgate");
            let found = discover(&system, client, &[root.path().join("project")]);
            let found = found.iter().find(|found| found.path == path).unwrap();
            let (original, before) = (fs::read(&path).unwrap(), look(found).unwrap());
            let carry = |act| carry_out(&home, found, act, &ours, &mut NameRegistry::default(), 1).unwrap();

            let done = carry(act);
            assert_eq!(done.refused, [], "{}", fixture.display());
            let text = fs::read_to_string(&path).unwrap();
            let words = [BINARY, "placed-by-us", client.id, "npx", "-y", "it's \"new\" \\ é"];
            assert_eq!(started(found, &text), words, "{text}");
            let after = look(found).unwrap().entries;
            let others: Vec<_> = after.iter().filter(|entry| !ours(entry)).collect();
            assert_eq!(others.len(), before.entries.len());
            for (was, is) in before.entries.iter().zip(others) {
                assert_eq!((&was.key, &was.state), (&is.key, &is.state));
            }
            assert!(carry(act).changes_nothing(), "once is enough");

            // From the file alone, as when our own folder is lost, and with what was noted.
            let alone =
                plan(found, PlannedAct::Remove, &ours, &mut NameRegistry::default(), &Ledger::default())
                    .unwrap();
            assert_eq!(alone.after.as_bytes(), original, "{}\n{text}", fixture.display());
            // Without its gate it is the plain command, and goes all the same.
            carry(PlannedAct::Unprotect);
            let plain = look(found).unwrap().entries.into_iter().find(ours).unwrap();
            assert_eq!(plain.state, State::Open);
            assert!(plain.local().unwrap().words().eq(["npx", "-y", "it's \"new\" \\ é"]));
            carry(PlannedAct::Protect { binary: BINARY });
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "the gate comes back as it was");
            carry(PlannedAct::Remove);
            assert_eq!(fs::read(&path).unwrap(), original, "{}", fixture.display());
            assert_eq!(callgate_clients::ledger::read(&home).unwrap().placed.len(), 0);
        }
    }
}

#[test]
fn a_new_file_is_made_where_a_clients_folder_is_and_its_vendor_says_so() {
    let root = tempfile::tempdir().unwrap();
    let home = root.path().join("callgate");
    let system = System { os: Os::Linux, home: root.path().join("home"), variables: BTreeMap::new() };
    let mut made = Vec::new();
    for client in clients() {
        for place in client.places.iter().filter(|place| place.os.contains(&Os::Linux)) {
            if let Some(path) = system.expand(place.path, None) {
                let folder = path.parent().unwrap();
                if folder.starts_with(root.path()) && !folder.to_string_lossy().contains('*') {
                    fs::create_dir_all(folder).unwrap();
                }
            }
        }
        let Some(found) = file_for_new(&system, client) else { continue };
        let server = new_server();
        let act = PlannedAct::Place { binary: BINARY, server: &server };
        carry_out(&home, &found, act, &ours, &mut NameRegistry::default(), 1).unwrap();
        assert_eq!(started(&found, &fs::read_to_string(&found.path).unwrap())[2], client.id);
        carry_out(&home, &found, PlannedAct::Remove, &ours, &mut NameRegistry::default(), 2).unwrap();
        assert!(!found.path.exists(), "{}", client.id);
        made.push(client.id);
    }
    let not: Vec<_> = clients().iter().map(|client| client.id).filter(|id| !made.contains(id)).collect();
    // Told by others only, in the person's own folder, or files that say more than servers.
    assert_eq!(not, ["claude-desktop", "claude-code", "continue", "antigravity", "amazon-q"]);
}
