//! Secrets on their way from a client's file into a real keychain, from there into the server's process, and back.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use callgate_tests::gate::callgate_binary;
use callgate_tests::keychain::Bus;
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::terminal::at_terminal;
use serde_json::Value;
use tempfile::TempDir;

const CURSOR: &str = ".cursor/mcp.json";
const TOKEN: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const KEY: &str = "hunter2-hunter2";
const SCHEME: &str = "keychain://callgate/";

/// Says what it was given: to a file, on its error output, and to whoever asks.
const SERVER: &str = r#"#!/bin/sh
printf '%s|%s\n' "$GITHUB_TOKEN" "$*" >> "$RAN"
echo "my token is $GITHUB_TOKEN" >&2
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"it is %s"}]}}\n' "$id" "$GITHUB_TOKEN"
done
"#;

/// Somebody with a home, a client with one server in it, and a session bus.
struct Person {
    home: TempDir,
    original: String,
}

#[derive(Debug)]
struct Said {
    code: Option<i32>,
    text: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Said { code: output.status.code(), text }
    }
}

/// Where a command looks for the bus.
#[derive(Clone, Copy)]
enum Reach<'a> {
    Address(&'a Bus),
    /// As a client leaves it: no address, only the folder that every session has.
    Folder(&'a Path),
}

impl Person {
    fn new() -> Person {
        let home = TempDir::with_prefix("callgate-secrets-").unwrap();
        let server = home.path().join("server.sh");
        fs::write(&server, SERVER).unwrap();
        // Escapes and spaces that only the original text has.
        let original = format!(
            "{{\n\t\"mcpServers\": {{ \"gh\": {{\"command\": \"/bin/sh\", \"args\": [\"{}\",  \"--api-key=h\\u0075nter2-hunter2\" ],\n\
             \"env\": {{ \"GITHUB_TOKEN\" : \"{TOKEN}\", \"RAN\": \"{}\" }} }} }} // mine\n}}\n",
            server.display(),
            home.path().join("ran").display(),
        );
        let person = Person { home, original };
        fs::create_dir_all(person.path(".cursor")).unwrap();
        fs::write(person.path(CURSOR), &person.original).unwrap();
        person
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn file(&self) -> String {
        fs::read_to_string(self.path(CURSOR)).unwrap()
    }

    /// What the server was started with, a line each time.
    fn ran(&self) -> String {
        fs::read_to_string(self.path("ran")).unwrap_or_default()
    }

    fn command(&self, program: &Path, reach: Reach<'_>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        match reach {
            // A display that nobody sees: the time to wait is that for a person, so a slow machine fails no test.
            Reach::Address(bus) => {
                command.env("DBUS_SESSION_BUS_ADDRESS", bus.address()).env("DISPLAY", ":60123")
            }
            Reach::Folder(folder) => command.env("XDG_RUNTIME_DIR", folder),
        };
        command
    }

    fn callgate(&self, words: &[&str], reach: Reach<'_>) -> Command {
        let mut command = self.command(&callgate_binary().unwrap(), reach);
        command.args(words);
        command
    }

    fn say(&self, words: &[&str], reach: Reach<'_>) -> Said {
        let said: Said = self.callgate(words, reach).output().unwrap().into();
        assert!(!said.text.contains(TOKEN) && !said.text.contains(KEY), "{words:?}: {said:?}");
        said
    }

    /// With success.
    fn done(&self, words: &[&str], reach: Reach<'_>) -> String {
        let said = self.say(words, reach);
        assert_eq!(said.code, Some(0), "{words:?}: {said:?}");
        said.text
    }

    fn typed(&self, words: &[&str], typed: &str, reach: Reach<'_>) -> Said {
        let (status, screen) = at_terminal(self.callgate(words, reach), typed).unwrap();
        assert!(!screen.contains(TOKEN) && !screen.contains(KEY), "{words:?}: {screen}");
        Said { code: status.code(), text: screen }
    }

    fn protect(&self, reach: Reach<'_>) -> String {
        self.done(&["clients", "protect", "cursor"], reach);
        self.file()
    }

    fn moved(&self, reach: Reach<'_>) -> String {
        self.protect(reach);
        let text = self.done(&["secrets", "move", "cursor", "--yes"], reach);
        assert!(text.contains("2 moved into the keychain"), "{text}");
        self.file()
    }

    /// The server as the client would start it: the words and variables of its file, and little else.
    fn start(&self, reach: Reach<'_>) -> Session {
        // Cursor's file may have comments; this one's is at the end.
        let text = self.file().replace(" // mine", "");
        let file: Value = serde_json::from_str(&text).unwrap();
        let entry = &file["mcpServers"]["gh"];
        let mut command = self.command(Path::new(entry["command"].as_str().unwrap()), reach);
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        for (name, value) in entry["env"].as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        Session::start(command).unwrap()
    }

    /// Files of Callgate's home that hold a text, the copies of clients' files and the program left out.
    fn holding(&self, text: &str) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.path(".callgate")]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.extend((!path.ends_with("backups") && !path.ends_with("bin")).then_some(path));
                } else if path.is_file() {
                    let bytes = fs::read(&path).unwrap_or_default();
                    if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                        found.push(path);
                    }
                }
            }
        }
        found
    }
}

/// What the client hears in place of an answer, and that the server never ran.
fn refused(person: &Person, mut session: Session) -> String {
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#).unwrap();
    let answer = session.answer("1").unwrap().to_text();
    let finished = session.finish().unwrap();
    assert!(answer.contains("error") && answer.contains("the server was not started: "), "{answer}");
    assert_eq!(finished.status.code(), Some(127));
    assert_eq!(person.ran(), "", "the server ran");
    assert!(!answer.contains(TOKEN) && !finished.err.contains(TOKEN));
    answer
}

#[test]
fn a_moved_secret_reaches_the_server_alone_and_comes_back_byte_for_byte() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let listed = person.done(&["secrets"], reach);
    assert!(listed.contains("GITHUB_TOKEN") && listed.contains("in the file, 40 characters"), "{listed}");
    assert!(listed.contains("(not behind the gate)"), "{listed}");

    let protected = person.protect(reach);
    let shown = person.done(&["secrets", "move", "--all", "--dry-run"], reach);
    assert!(shown.contains("Cursor: gh: GITHUB_TOKEN (40 characters)"), "{shown}");
    assert_eq!(person.file(), protected, "a dry run writes nothing");
    let refused = person.say(&["secrets", "move", "cursor"], reach);
    assert!(refused.text.contains("needs a person at a terminal"), "{refused:?}");
    assert_eq!(person.file(), protected);
    let said = person.typed(&["secrets", "move", "cursor", "gh"], "move", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    let moved = person.file();
    assert!(!moved.contains(TOKEN) && !moved.contains("nter2"), "{moved}");
    assert_eq!(moved.matches(SCHEME).count(), 2, "{moved}");
    let lines = person.done(&["secrets", "list", "--json"], reach);
    let states: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(states.len(), 2);
    assert!(states.iter().all(|one| one["state"] == "keychain" && one["length"].is_null()), "{states:?}");

    let mut session = person.start(reach);
    let answer = session.ask("7", "any", "{}").unwrap().to_text();
    assert!(answer.contains(&format!("it is {TOKEN}")), "the server has its token: {answer}");
    let kept = || (!person.holding("my token is").is_empty()).then_some(());
    eventually("its error output is kept", PATIENCE, kept);
    session.finish().unwrap();
    assert_eq!(person.ran(), format!("{TOKEN}|--api-key={KEY}\n"));
    // Its result is in the record and its error output in a file of ours, both without the values.
    let log = eventually("the call is on record", PATIENCE, || {
        let log = person.done(&["log", "--json"], reach);
        log.contains("[masked, 40 characters]").then_some(log)
    });
    assert!(log.contains("it is [masked"), "{log}");
    assert_eq!(person.holding(TOKEN), Vec::<PathBuf>::new());
    assert_eq!(person.holding(KEY), Vec::<PathBuf>::new());

    // Writing secrets into a file again is for a person.
    let said = person.say(&["secrets", "restore", "cursor"], reach);
    assert!(said.text.contains("needs a person at a terminal"), "{said:?}");
    assert_eq!(person.file(), moved);
    let said = person.typed(&["secrets", "restore", "cursor"], "restore", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file(), protected);
    let said = person.typed(&["clients", "unprotect", "cursor"], "unprotect", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file(), person.original);
}

#[test]
fn the_bus_is_found_without_its_address_and_by_many_at_once() {
    let bus = Bus::with_keyring().unwrap();
    let person = Person::new();
    person.moved(Reach::Address(&bus));
    let ask = |session: &mut Session| session.ask("1", "any", "{}").unwrap().to_text();
    thread::scope(|scope| {
        let all: Vec<_> = (0..5)
            .map(|_| {
                scope.spawn(|| {
                    // A display, so that a slow machine has the time that a person would.
                    let mut session = person.start(Reach::Address(&bus));
                    ask(&mut session)
                })
            })
            .collect();
        for one in all {
            assert!(one.join().unwrap().contains(TOKEN));
        }
    });
    // Without a display the time is short; a machine too slow for it says so in words.
    let mut session = person.start(Reach::Folder(bus.folder()));
    let answer = ask(&mut session);
    assert!(answer.contains(TOKEN) || answer.contains("did not answer within 2 s"), "{answer}");
}

#[test]
fn a_stolen_reference_is_good_for_nothing() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let moved = person.moved(reach);
    let file: Value = serde_json::from_str(&moved.replace(" // mine", "")).unwrap();
    let entry = &file["mcpServers"]["gh"];
    let (binary, reference) =
        (entry["command"].as_str().unwrap(), entry["env"]["GITHUB_TOKEN"].as_str().unwrap());
    let own: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let server = person.path("server.sh");
    let (server, thief) = (server.to_str().unwrap(), person.path("thief.sh"));
    fs::write(&thief, SERVER).unwrap();
    let thief = thief.to_str().unwrap();
    let mut twin = own.clone();
    twin.push("--more");
    for words in [
        // Another program under the same name, another name or client for the same, another argument, and in an argument.
        vec!["run", "--server", "gh", "--client", "cursor", "--", "/bin/sh", thief],
        vec!["run", "--server", "other", "--client", "cursor", "--", "/bin/sh", server],
        vec!["run", "--server", "gh", "--client", "windsurf", "--", "/bin/sh", server],
        vec!["run", "--server", "gh", "--", "/bin/sh", server],
        twin,
        vec!["run", "--server", "gh", "--client", "cursor", "--", "/bin/echo", reference],
    ] {
        let mut command = person.command(Path::new(binary), reach);
        command.args(&words).env("GITHUB_TOKEN", reference).env("RAN", person.path("ran"));
        let told = refused(&person, Session::start(command).unwrap());
        assert!(told.contains("was stored for another server or another command"), "{words:?}: {told}");
    }
    // Nor is it written into another file.
    fs::create_dir_all(person.path(".codeium/windsurf")).unwrap();
    fs::write(person.path(".codeium/windsurf/mcp_config.json"), moved.replace(" // mine", "")).unwrap();
    let said = person.typed(&["secrets", "restore", "windsurf"], "restore", reach);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.text.contains("stored for another entry"), "{said:?}");
    // A reference to nothing, and one that is none.
    for (text, words) in [
        (format!("{SCHEME}0123456789abcdef/GITHUB_TOKEN"), "has nothing of this name"),
        (format!("{SCHEME}x"), "in a way that Callgate does not write"),
    ] {
        let mut command = person.command(Path::new(binary), reach);
        command.args(&own).env("GITHUB_TOKEN", text);
        let told = refused(&person, Session::start(command).unwrap());
        assert!(told.contains(words), "{told}");
    }
    // The one that it belongs to is started still.
    assert!(person.start(reach).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
}

/// A program that only says that it ran.
fn put_program(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, SERVER).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_stolen_reference_with_the_same_command_and_another_path_or_preload_gets_nothing() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let (server, ran) = (person.path("server.sh"), person.path("ran"));
    let file = serde_json::json!({ "mcpServers": { "gh": {
        "command": "sh", "args": [server], "env": { "GITHUB_TOKEN": TOKEN, "RAN": ran, "NODE_PATH": "/mine" },
    } } });
    fs::write(person.path(CURSOR), file.to_string()).unwrap();
    person.protect(reach);
    person.done(&["secrets", "move", "cursor", "--yes"], reach);
    let moved: Value = serde_json::from_str(&person.file()).unwrap();
    let entry = &moved["mcpServers"]["gh"];
    let start = |changes: &[(&str, &str)]| {
        let mut command = person.command(Path::new(entry["command"].as_str().unwrap()), reach);
        command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
        for (name, value) in entry["env"].as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        command.envs(changes.iter().copied());
        Session::start(command).unwrap()
    };
    let evil = person.path("evil");
    put_program(&evil.join("sh"));
    let evil = evil.to_str().unwrap();
    for (changes, words) in [
        (("NODE_OPTIONS", "--require /evil.js"), "did not set NODE_OPTIONS to what it is now"),
        (("LD_PRELOAD", ""), "did not set LD_PRELOAD to what it is now"),
        (("NODE_PATH", "/evil"), "did not set NODE_PATH to what it is now"),
        (("npm_config_registry", "http://evil"), "did not set npm_config_registry"),
        // Its program is there, and nowhere else that the thief lets us look.
        (("PATH", evil), "in a folder that only this entry's PATH seems to have"),
    ] {
        let told = refused(&person, start(&[changes]));
        assert!(told.contains(words), "{changes:?}: {told}");
    }
    // Before the others, it is looked in last: what runs is the program that it is for.
    let before = format!("{evil}:{}", std::env::var("PATH").unwrap());
    assert!(start(&[("PATH", &before)]).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
    assert_eq!(
        person.ran(),
        format!("{TOKEN}|\n"),
        "the thief's program was given the script as an argument"
    );
    // What the client has anyway may change: that is not of the entry's making.
    assert!(
        start(&[("LANG", "C"), ("HTTP_PROXY", "x")]).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN)
    );
}

#[test]
fn a_path_that_the_entry_had_when_its_secrets_were_moved_is_its_own() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let mine = person.path("mine");
    put_program(&mine.join("only-here"));
    let path = format!("{}:{}", mine.display(), std::env::var("PATH").unwrap());
    let entry = serde_json::json!({ "command": "only-here", "args": [], "env": {
        "GITHUB_TOKEN": TOKEN, "RAN": person.path("ran") } });
    let with = |path: &str| {
        let mut entry = entry.clone();
        entry["env"]["PATH"] = path.into();
        serde_json::json!({ "mcpServers": { "gh": entry } }).to_string()
    };
    fs::write(person.path(CURSOR), with(&path)).unwrap();
    person.protect(reach);
    person.done(&["secrets", "move", "cursor", "--yes"], reach);
    assert!(person.start(reach).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
    fs::remove_file(person.path("ran")).unwrap();
    // Another folder is another matter, until a person says so.
    let other = person.path("other");
    put_program(&other.join("only-here"));
    let elsewhere = person.file().replace(mine.to_str().unwrap(), other.to_str().unwrap());
    fs::write(person.path(CURSOR), elsewhere).unwrap();
    let told = refused(&person, person.start(reach));
    assert!(told.contains("callgate secrets move"), "{told}");
    let said = person.typed(&["secrets", "move", "cursor"], "move", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(person.start(reach).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
}

#[test]
fn a_renamed_entry_can_be_taken_from_behind_the_gate_once_a_person_says_that_it_is_the_same() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let moved = person.moved(reach);
    let renamed = moved.replacen("\"gh\"", "\"github\"", 1);
    assert_ne!(renamed, moved);
    fs::write(person.path(CURSOR), &renamed).unwrap();
    let said = person.typed(&["clients", "unprotect", "cursor"], "unprotect", reach);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.text.contains("If you renamed this entry") && said.text.contains("callgate secrets move"),
        "{said:?}"
    );
    let said = person.typed(&["secrets", "move", "cursor", "github"], "move", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    let said = person.typed(&["clients", "unprotect", "cursor"], "unprotect", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file(), person.original.replacen("\"gh\"", "\"github\"", 1));
}

/// Every copy of a client's file, as one text.
fn copies(person: &Person) -> String {
    let folders = fs::read_dir(person.path(".callgate/backups")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn one_secret_moves_alone_and_leaves_the_copies_when_a_person_says_so() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    person.protect(reach);
    let slip = person.say(&["secrets", "move", "cursor", "gh", "--only", "GITHUB_TOKE", "--yes"], reach);
    assert!(slip.code == Some(1) && slip.text.contains("no such secret: GITHUB_TOKE"), "{slip:?}");
    let text = person.done(&["secrets", "move", "cursor", "gh", "--only", "GITHUB_TOKEN", "--yes"], reach);
    assert!(text.contains("1 moved into the keychain") && text.contains("--purge-secrets"), "{text}");
    assert!(!person.file().contains(TOKEN) && person.file().contains("nter2-hunter2"), "{}", person.file());
    assert!(person.start(reach).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));

    let before = copies(&person);
    assert!(before.contains(TOKEN));
    let said = person.say(&["clients", "backups", "--purge-secrets"], reach);
    assert!(said.text.contains("needs a person at a terminal"), "{said:?}");
    assert_eq!(copies(&person), before);
    let said = person.typed(&["clients", "backups", "--purge-secrets"], "purge", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    let after = copies(&person);
    assert!(!after.contains(TOKEN) && after.contains(SCHEME) && after.contains("nter2-hunter2"), "{after}");
    // Nothing that can be undone is lost by it.
    let said = person.typed(&["clients", "unprotect", "cursor"], "unprotect", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file(), person.original);
}

#[test]
fn without_a_keychain_nothing_is_moved_and_the_reason_is_told() {
    let empty = Bus::empty().unwrap();
    let person = Person::new();
    let nowhere = person.path("no-runtime-folder");
    for reach in [Reach::Address(&empty), Reach::Folder(&nowhere)] {
        let protected = person.protect(reach);
        let said = person.say(&["secrets", "move", "cursor", "--yes"], reach);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.text.contains("no keychain can be reached here"), "{said:?}");
        assert!(said.text.contains("Nothing was changed"), "{said:?}");
        assert_eq!(person.file(), protected);
        // Without references the gate asks nobody.
        assert!(person.start(reach).ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
        fs::remove_file(person.path("ran")).unwrap();
    }
}

#[test]
fn a_keychain_that_is_gone_or_locked_stops_the_server_and_not_the_person() {
    let bus = Bus::with_keyring().unwrap();
    let person = Person::new();
    let moved = person.moved(Reach::Address(&bus));
    bus.lock().unwrap();
    // What it says depends on whether somebody could be asked on this machine.
    let told = refused(&person, person.start(Reach::Folder(bus.folder())));
    let sentences = ["the keychain is locked", "access was turned down", "did not answer within"];
    assert!(sentences.iter().any(|sentence| told.contains(sentence)), "{told}");

    let nowhere = person.path("no-runtime-folder");
    let gone = Reach::Folder(&nowhere);
    let told = refused(&person, person.start(gone));
    assert!(told.contains("there is no session bus at"), "{told}");
    // The gate stays where the secrets could not follow, unless a person insists.
    let said = person.typed(&["clients", "unprotect", "cursor"], "unprotect", gone);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.text.contains("stays behind the gate") && said.text.contains("--leave-secrets"), "{said:?}");
    assert_eq!(person.file(), moved);
    let said = person.typed(&["clients", "unprotect", "cursor", "--leave-secrets"], "unprotect", gone);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file().matches(SCHEME).count(), 2);
}

#[test]
fn unprotect_puts_moved_secrets_back() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    person.moved(reach);
    let said = person.typed(&["clients", "unprotect", "--all"], "unprotect", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.text.contains("back in the file"), "{said:?}");
    assert_eq!(person.file(), person.original);
}

#[test]
fn a_server_without_references_never_meets_the_bus() {
    let person = Person::new();
    let folder = TempDir::with_prefix("callgate-silent-").unwrap();
    let listener = UnixListener::bind(folder.path().join("bus")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let reach = Reach::Folder(folder.path());
    person.protect(reach);
    let mut session = person.start(reach);
    assert!(session.ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
    session.finish().unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn a_copy_whose_secrets_are_gone_from_the_keychain_is_not_restored_without_a_word() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    person.moved(reach);
    // Back in the file, they leave the keychain; the copy from before names them still.
    let said = person.typed(&["secrets", "restore", "cursor"], "restore", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    let lines = person.done(&["clients", "backups", "cursor", "--json"], reach);
    let copies: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let copy = copies.iter().find(|copy| copy["references"] == 2).unwrap();
    let (id, before) = (copy["backup"].as_str().unwrap(), person.file());

    let said = person.say(&["clients", "restore", id], reach);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.text.contains("does not have any more (gh: GITHUB_TOKEN"), "{said:?}");
    assert_eq!(person.file(), before, "nothing is written");
    let said = person.typed(&["clients", "restore", id, "--force"], "restore", reach);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(person.file().matches(SCHEME).count(), 2);

    // Nor are they listed as if they were there.
    let listed = person.done(&["secrets"], reach);
    assert!(listed.contains("missing: not in the keychain any more"), "{listed}");
    assert!(listed.contains("0 in files, 0 in the keychain, 2 missing."), "{listed}");
    let lines = person.done(&["secrets", "--json"], reach);
    assert_eq!(lines.matches(r#""state":"missing""#).count(), 2, "{lines}");
}

#[test]
fn nobody_is_asked_to_move_what_is_then_refused_for_want_of_a_gate() {
    let bus = Bus::with_keyring().unwrap();
    let (person, reach) = (Person::new(), Reach::Address(&bus));
    let said = person.say(&["secrets", "move", "cursor"], reach);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.text.contains("Protect it first: callgate clients protect cursor gh"), "{said:?}");
    assert!(!said.text.contains("terminal"), "nothing is asked: {said:?}");
}
