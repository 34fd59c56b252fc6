//! `callgate doctor` on a home with one fault at a time: it is found, by its code, with words that mend it, and nothing is touched.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_tests::gate::callgate_binary;
use callgate_tests::keychain::Bus;
use callgate_tests::person::{CURSOR, DESKTOP, Person, StandIn};
use callgate_tests::small_disk::SmallDisk;
use serde_json::{Value, json};
use tempfile::TempDir;

const ZED: &str = ".config/zed/settings.json";
const WINDSURF: &str = ".codeium/windsurf/mcp_config.json";

/// Two servers whose program is everywhere.
const FILE: &str =
    r#"{"mcpServers":{"a":{"command":"/bin/sh","args":["-s"]},"b":{"command":"/bin/sh","args":[]}}}"#;

/// What was found, and how the command ended.
struct Visit {
    findings: Vec<Value>,
    code: Option<i32>,
}

impl Visit {
    fn of(person: &Person) -> Visit {
        let before = person.tree();
        let said = person.run(&["doctor", "--json"]);
        let after = person.tree();
        let touched: Vec<_> =
            before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(touched.is_empty(), "the doctor changed {touched:?}");
        let findings: Vec<Value> = said
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{said:?}")))
            .collect();
        let problems = findings.iter().any(|finding| finding["severity"] == "problem");
        assert_eq!(said.code, Some(i32::from(problems)), "{said:?}");
        // What people read says the same, and leaves everything as it is, too.
        let plain = person.run(&["doctor"]);
        assert_eq!((plain.code, person.tree() == after), (said.code, true), "{plain:?}");
        for finding in findings.iter().filter(|finding| finding["severity"] != "ok") {
            let command = finding["command"].as_str().unwrap_or_default();
            assert!(plain.out.contains(command), "{command} is not in\n{}", plain.out);
        }
        Visit { findings, code: said.code }
    }

    fn get(&self, code: &str) -> &Value {
        let found = self.findings.iter().find(|finding| finding["code"] == code);
        found.unwrap_or_else(|| panic!("no {code} in {:#?}", self.findings))
    }

    /// The codes of what is not in order.
    fn trouble(&self) -> BTreeSet<&str> {
        let bad =
            self.findings.iter().filter(|one| one["severity"] == "warning" || one["severity"] == "problem");
        bad.map(|finding| finding["code"].as_str().unwrap()).collect()
    }
}

/// Somebody with a home in which nothing is wrong.
fn sound() -> Person {
    prepared(Person::new())
}

fn prepared(person: Person) -> Person {
    person.write(CURSOR, FILE.as_bytes());
    person.say(&["protect", "cursor"]);
    // The record is made by whoever looks first.
    assert_eq!(person.run(&["status"]).code, Some(0));
    person
}

/// The same, with a gate that is small and says that it is newer: nobody copies the real one, which takes a while.
fn sound_and_small() -> Person {
    let person = Person::new();
    let real = callgate_binary().unwrap();
    let text =
        format!("[ \"$1\" = --version ] && exec echo callgate 99.0.0\nexec '{}' \"$@\"", real.display());
    [".callgate/bin/callgate", ".callgate/bin/callgate-cli"]
        .iter()
        .for_each(|path| script(&person, path, &text));
    [".callgate", ".callgate/bin"].iter().for_each(|path| mode(&person, path, 0o700));
    prepared(person)
}

fn mode(person: &Person, path: &str, mode: u32) {
    fs::set_permissions(person.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

fn remove(person: &Person, paths: &[&str]) {
    paths.iter().for_each(|path| drop(fs::remove_file(person.path(path))));
}

/// The program beside the gate, whatever its gate is.
fn remove_partners(person: &Person) {
    let programs = fs::read_dir(person.path(".callgate/bin")).into_iter().flatten().flatten();
    let partners = programs.filter(|entry| entry.file_name().to_string_lossy().starts_with("callgate-cli"));
    partners.for_each(|partner| drop(fs::remove_file(partner.path())));
}

/// A script that may be run.
fn script(person: &Person, path: &str, text: &str) {
    person.write(path, format!("#!/bin/sh\n{text}\n").as_bytes());
    mode(person, path, 0o700);
}

/// A private file of the home.
fn ours(person: &Person, path: &str, text: &str) {
    let path = format!(".callgate/{path}");
    person.write(&path, text.as_bytes());
    mode(person, &path, 0o600);
}

/// One more client with one server.
fn windsurf(person: &Person, entry: &Value) {
    person.write(WINDSURF, json!({ "mcpServers": { "w": entry } }).to_string().as_bytes());
}

fn protected_windsurf(person: &Person, entry: &Value) {
    windsurf(person, entry);
    person.say(&["protect", "windsurf"]);
}

/// What is done to a sound home, and what the doctor must then say: code, severity, and a part of the fix or the command.
type Fault = (&'static str, &'static str, &'static str, fn(&Person));

const OF_THE_HOME: &[Fault] = &[
    ("home-readable", "warning", "chmod -R go-rwx", |person| mode(person, ".callgate", 0o755)),
    ("home-writable", "problem", "chmod -R go-rwx", |person| {
        mode(person, ".callgate/policies/_default.json", 0o622)
    }),
    ("home-unusable", "problem", "chmod go-rwx", |person| mode(person, ".callgate", 0o777)),
    ("home-unusable", "problem", "Update Callgate", |person| ours(person, "format", "99\n")),
    ("settings-broken", "warning", "Mend that line", |person| {
        ours(person, "settings.json", r#"{"history":{"days":0}}"#)
    }),
    ("servers-broken", "warning", "Mend the file", |person| ours(person, "servers.json", "{")),
    ("gate-missing", "problem", "callgate clients protect cursor", |person| {
        remove(person, &[".callgate/bin/callgate"])
    }),
    ("gate-not-executable", "problem", "chmod u+rwx", |person| mode(person, ".callgate/bin/callgate", 0o600)),
    ("gate-broken", "problem", "callgate clients protect cursor", |person| {
        script(person, ".callgate/bin/callgate", "exit 1")
    }),
    ("gate-other-version", "warning", "callgate clients protect cursor", |person| {
        script(person, ".callgate/bin/callgate", "echo callgate 0.0.1");
    }),
    ("gate-partner", "problem", "callgate clients protect cursor", remove_partners),
    ("policy-broken", "problem", "callgate policy check", |person| ours(person, "policies/a.json", "{")),
    ("policy-broken", "problem", "chmod u+rw,go-rwx", |person| {
        mode(person, ".callgate/policies/_default.json", 0o666)
    }),
    ("policy-misses", "warning", "callgate policy check", |person| {
        let over = r#"{"version":"1","default":"allow","tools":{"x":{"until":"2020-01-01T00:00:00Z"}}}"#;
        ours(person, "policies/a.json", over);
    }),
    ("policy-stray", "warning", "Rename the file", |person| {
        ours(person, "policies/nobody.json", r#"{"version":"1","default":"allow"}"#);
    }),
    ("policy-default-missing", "problem", "callgate policy default --restore", |person| {
        remove(person, &[".callgate/policies/_default.json"])
    }),
    ("pins-broken", "warning", "callgate pins forget nobody", |person| ours(person, "pins/nobody.json", "{")),
    ("definition-changed", "warning", "callgate pins a", |person| {
        let (old, new) = ("0".repeat(64), "1".repeat(64));
        let changed = json!([{ "digest": new, "definition": r#"{"name":"get"}"#, "seen_ms": 1 }]);
        let tool = json!({ "accepted": [old], "definition": "", "changed": changed });
        let pins = json!({ "server": "a", "tools": { "get": tool } });
        ours(person, "pins/a.json", &pins.to_string());
    }),
    ("program-changed", "warning", "callgate pins a", |person| {
        let (old, new) = ("0".repeat(64), "1".repeat(64));
        let changed = json!([{ "digest": new, "definition": r#"{"command":"b"}"#, "seen_ms": 1 }]);
        let program = json!({ "accepted": [old], "definition": "", "changed": changed });
        let others = json!({ "program": { "program": program } });
        ours(person, "pins/a.json", &json!({ "server": "a", "tools": {}, "others": others }).to_string());
    }),
    ("paused", "problem", "callgate resume a", |person| {
        assert_eq!(person.run(&["pause", "a", "--new"]).code, Some(0))
    }),
    ("paused", "problem", "callgate resume", |person| assert_eq!(person.run(&["pause"]).code, Some(0))),
    ("paused", "problem", "callgate resume --client cursor", |person| {
        assert_eq!(person.run(&["pause", "--client", "cursor"]).code, Some(0))
    }),
    ("pause-broken", "problem", "callgate resume", |person| ours(person, "control/paused.json", "{")),
    ("observed", "problem", "callgate allow --end ", |person| {
        let (code, screen) = person.typed(&["observe", "a", "--for", "30m"], "observe");
        assert_eq!(code, Some(0), "{screen}");
    }),
    ("allowances-broken", "warning", "Remove the file", |person| {
        ours(person, "control/allowances.json", "{")
    }),
];

const OF_THE_RECORD: &[Fault] = &[
    ("history-unusable", "warning", "Copy the file", |person| spoil(person, "history.db")),
    ("counters-unusable", "problem", "--reset", |person| spoil(person, "limits.db")),
    ("counters-lost", "problem", "--reset", |person| {
        remove(person, &[".callgate/limits.db", ".callgate/limits.db-wal", ".callgate/limits.db-shm"]);
    }),
    ("session-leftovers", "note", "callgate status", |person| ours(person, "leases/abc123.lock", "")),
    ("spool-unreadable", "warning", "Update Callgate", |person| {
        ours(person, "spool/abc123", "CGSPOOL9 of another time")
    }),
    ("database-set-aside", "note", "rm ", |person| ours(person, "history.db.corrupt-7", "")),
];

fn spoil(person: &Person, name: &str) {
    remove(person, &[&format!(".callgate/{name}-wal"), &format!(".callgate/{name}-shm")]);
    ours(person, name, &"this was a database once, and is long enough to be looked at".repeat(100));
}

const OF_CLIENTS: &[Fault] = &[
    ("client-unreadable", "warning", "callgate clients repair zed", |person| {
        person.write(ZED, "\u{feff}{}".as_bytes())
    }),
    ("client-unreadable", "problem", "Mend the file", |person| person.write(CURSOR, b"{")),
    ("client-unreadable", "warning", "Mend the file", |person| {
        fs::create_dir_all(person.path(".config/zed")).unwrap();
        symlink("nowhere", person.path(ZED)).unwrap();
    }),
    ("client-shadowed", "note", "", |person| {
        person.write(".config/opencode/opencode.json", b"{}");
        person.write(".config/opencode/opencode.jsonc", b"{}");
    }),
    ("client-shadowed", "problem", "Move the servers", |person| {
        person.write(
            ".config/opencode/opencode.json",
            br#"{"mcp":{"o":{"type":"local","command":["/bin/sh"]}}}"#,
        );
        person.say(&["protect", "opencode"]);
        person.write(".config/opencode/opencode.jsonc", b"{}");
    }),
    ("client-wiped", "problem", "callgate clients restore cursor-", |person| person.write(CURSOR, b"{}")),
    ("client-leftover", "note", "rm ", |person| person.write(".cursor/.mcp.json.callgate-7-0.tmp", b"{")),
    ("entry-open", "warning", "callgate clients protect windsurf w", |person| {
        windsurf(person, &json!({ "command": "/bin/sh" }))
    }),
    ("entry-left-open", "note", "", |person| {
        let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor", "a"], "unprotect");
        assert_eq!(code, Some(0), "{screen}");
    }),
    ("entry-not-coverable", "note", "", |person| {
        windsurf(person, &json!({ "serverUrl": "https://example.com" }))
    }),
    ("entry-lost-gate", "problem", "callgate clients protect cursor a", |person| {
        person.write(CURSOR, FILE.as_bytes())
    }),
    ("entry-gate-came-back", "warning", "callgate clients unprotect cursor a", |person| {
        let gated = person.read(CURSOR);
        let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor", "a"], "unprotect");
        assert_eq!(code, Some(0), "{screen}");
        person.write(CURSOR, &gated);
    }),
    ("entry-tampered", "problem", "callgate clients protect cursor a", |person| {
        person.write(
            CURSOR,
            person.text(CURSOR).replace(r#""--server", "a""#, r#""--server", "c""#).as_bytes(),
        );
        assert!(person.text(CURSOR).contains(r#""--server", "c""#), "{}", person.text(CURSOR));
    }),
    ("entry-moved-gate", "problem", "callgate clients protect cursor a", |person| {
        let binary = person.path(".callgate/bin/callgate");
        let text = person.text(CURSOR).replace(binary.to_str().unwrap(), "/opt/old/callgate");
        person.write(CURSOR, text.as_bytes());
    }),
    ("entry-edited", "note", "", |person| {
        person.write(CURSOR, person.text(CURSOR).replace(r#""-s""#, r#""-v""#).as_bytes());
    }),
    ("entry-removed", "note", "", |person| {
        person.write(CURSOR, person.text(CURSOR).replace(r#"{"a":"#, r#"{"c":"#).as_bytes());
    }),
    ("ledger-broken", "problem", "mv ", |person| ours(person, "ledger.json", "{")),
    ("queue-broken", "warning", "mv ", |person| ours(person, "queue.json", "{")),
    ("queue-waits", "warning", "callgate clients protect claude-desktop d", |person| {
        person.write(DESKTOP, br#"{"mcpServers":{"d":{"command":"/bin/sh"}}}"#);
        let row = json!([{ "client": "claude-desktop", "path": person.path(DESKTOP), "name": "d", "todo": "protect", "since_ms": 1 }]);
        ours(person, "queue.json", &row.to_string());
    }),
];

const OF_PROGRAMS: &[Fault] = &[
    ("program-missing", "problem", "Install it", |person| {
        protected_windsurf(person, &json!({ "command": "no-such-program-anywhere" }))
    }),
    ("program-missing", "problem", "mend the path", |person| {
        protected_windsurf(person, &json!({ "command": "/no/such/program" }))
    }),
    ("program-missing", "problem", "Install it", |person| {
        // A file that may not be run is no program.
        person.write("bin/idle-tool", b"");
        protected_windsurf(person, &json!({ "command": "idle-tool", "env": { "PATH": person.path("bin") } }));
    }),
    ("launch-risky", "note", "put it into a file", |person| {
        protected_windsurf(person, &json!({ "command": "sh", "args": ["-c", "exec sleep 1"] }))
    }),
    ("launch-loose", "note", "Name the version", |person| {
        script(person, "bin/npx", "exit 0");
        let path = person.path("bin");
        protected_windsurf(
            person,
            &json!({ "command": "npx", "args": ["-y", "pkg"], "env": { "PATH": path } }),
        );
    }),
    ("program-unclear", "note", "", |person| {
        windsurf(person, &json!({ "command": "${workspaceFolder}/server" }))
    }),
    ("program-unclear", "note", "", |person| windsurf(person, &json!({ "command": "./server" }))),
    ("node-missing", "problem", "Install Node.js", |person| with_node(person, None)),
    ("node-old", "problem", "Install Node.js", |person| with_node(person, Some("echo v16.20.2"))),
    ("node-silent", "warning", "Install Node.js", |person| with_node(person, Some("exit 1"))),
];

/// A server that npx starts, with a Node.js of its own, or none.
fn with_node(person: &Person, node: Option<&str>) {
    script(person, "node/npx", "exit 0");
    node.iter().for_each(|text| script(person, "node/node", text));
    protected_windsurf(
        person,
        &json!({ "command": "npx", "args": ["-y", "x"], "env": { "PATH": person.path("node") } }),
    );
}

/// What other tests of this file plant.
const ELSEWHERE: &[&str] = &[
    "home-ok",
    "home-missing",
    "home-unwritable",
    "gate-ok",
    "policies-ok",
    "record-ok",
    "disk-low",
    "clients-none",
    "client-stale",
    "entry-protected",
    "program-ok",
    "program-only-here",
    "keychain-ok",
    "keychain-absent",
    "keychain-locked",
    "keychain-silent",
    "reference-bad",
    "reference-foreign",
    "reference-missing",
    "reference-ungated",
];

/// Of sessions that run and of what the app did: the tests of the desk and of the page plant them.
const OF_WHAT_RUNS: &[&str] = &["policy-unread", "policy-gone", "change-refused", "approval-waits"];

fn find_each(faults: &[Fault]) {
    for (code, severity, mends, plant) in faults {
        let person = sound_and_small();
        assert_eq!(Visit::of(&person).trouble(), BTreeSet::new(), "before {code}");
        plant(&person);
        let visit = Visit::of(&person);
        let finding = visit.get(code);
        assert_eq!(finding["severity"], *severity, "{finding}");
        let told = format!("{} {}", finding["fix"], finding["command"]);
        assert!(told.contains(mends), "{mends:?} is not in {finding}");
        assert!(finding["what"].as_str().unwrap().ends_with(['.', '?']), "{finding}");
    }
}

#[test]
fn every_fault_of_the_home_is_found() {
    find_each(OF_THE_HOME);
}

#[test]
fn every_fault_of_the_record_is_found() {
    find_each(OF_THE_RECORD);
}

#[test]
fn every_fault_of_clients_files_is_found() {
    find_each(OF_CLIENTS);
}

#[test]
fn every_fault_of_programs_is_found() {
    find_each(OF_PROGRAMS);
}

#[test]
fn every_code_that_is_documented_is_planted_somewhere() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md");
    let docs = fs::read_to_string(docs).unwrap();
    let table = docs.split("| code | means |").nth(1).unwrap().split("<!--").next().unwrap();
    let documented: BTreeSet<&str> =
        table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    let tables = [OF_THE_HOME, OF_THE_RECORD, OF_CLIENTS, OF_PROGRAMS].concat();
    let planted: BTreeSet<&str> =
        tables.iter().map(|(code, ..)| *code).chain([ELSEWHERE, OF_WHAT_RUNS].concat()).collect();
    assert_eq!(documented, planted);
}

#[test]
fn a_sound_home_is_said_to_be_in_order_in_few_words() {
    let bus = Bus::with_keyring().unwrap();
    let mut person = sound();
    person.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let visit = Visit::of(&person);
    assert_eq!((visit.trouble(), visit.code), (BTreeSet::new(), Some(0)));
    for code in
        ["home-ok", "gate-ok", "policies-ok", "record-ok", "entry-protected", "program-ok", "keychain-ok"]
    {
        assert_eq!(visit.get(code)["severity"], "ok");
    }
    let plain = person.run(&["doctor"]).out;
    assert_eq!(
        plain,
        "Everything is in order. 2 servers behind the gate, 1 program found. Nothing was changed.\n"
    );
}

#[test]
fn somebody_who_never_used_it_is_told_what_there_is() {
    let person = Person::new();
    let visit = Visit::of(&person);
    assert_eq!((visit.trouble(), visit.code), (BTreeSet::new(), Some(0)));
    assert_eq!(visit.get("home-missing")["severity"], "note");
    assert_eq!(visit.get("clients-none")["severity"], "note");
    assert_eq!(visit.get("keychain-absent")["severity"], "note", "nothing depends on it");
    assert!(person.everything().is_empty(), "nothing was made");
}

#[test]
fn a_program_that_only_this_terminal_knows_is_told() {
    let mut person = sound();
    script(&person, "here/only-here-tool", "exit 0");
    let path = std::env::join_paths([person.path("here"), "/usr/bin".into(), "/bin".into()]).unwrap();
    person.set("PATH", path);
    protected_windsurf(&person, &json!({ "command": "only-here-tool" }));
    let finding = Visit::of(&person).get("program-only-here").clone();
    assert_eq!((&finding["severity"], &finding["about"]), (&json!("warning"), &json!("only-here-tool")));
    // What the gate kept of the login shell's PATH counts as it does for the gate.
    ours(&person, "control/login-path", person.path("here").to_str().unwrap());
    let visit = Visit::of(&person);
    let found = visit
        .findings
        .iter()
        .find(|one| one["code"] == "program-ok" && one["about"] == "only-here-tool")
        .unwrap();
    assert!(found["what"].as_str().unwrap().contains("your login shell's PATH"), "{found}");
}

#[test]
fn a_client_that_runs_since_before_the_edit_is_told() {
    let person = sound();
    person.write(DESKTOP, br#"{"mcpServers":{"d":{"command":"/bin/sh"}}}"#);
    person.say(&["protect", "claude-desktop", "--force"]);
    // As if the edit had been made an hour from now: it came after the start.
    let ledger = person.path(".callgate/ledger.json");
    let mut text: Value = serde_json::from_slice(&fs::read(&ledger).unwrap()).unwrap();
    let written = &mut text["written_ms"]["claude-desktop"];
    *written = json!(written.as_i64().unwrap() + 3_600_000);
    fs::write(&ledger, text.to_string()).unwrap();
    assert_eq!(Visit::of(&person).trouble(), BTreeSet::new(), "it does not run");
    let desktop = StandIn::start(&person);
    let visit = Visit::of(&person);
    let stale = visit.get("client-stale");
    assert_eq!((&stale["severity"], &stale["client"]), (&json!("warning"), &json!("claude-desktop")));
    assert!(stale["fix"].as_str().unwrap().contains("Quit"), "{stale}");
    desktop.quit();
}

#[test]
fn a_disk_that_is_almost_full_is_told() {
    let person = Person::new();
    fs::create_dir(person.path(".callgate")).unwrap();
    let Some(_disk) = SmallDisk::over(&person.path(".callgate"), c"size=64m,mode=0700") else { return };
    let visit = |person: &Person| Visit::of(person).get("disk-low")["severity"].clone();
    assert_eq!(visit(&person), "warning");
    fs::write(person.path(".callgate/full"), vec![0; 40 << 20]).unwrap();
    assert_eq!(visit(&person), "problem");
}

#[test]
fn a_home_that_nothing_can_be_written_to_is_not_in_order() {
    let person = Person::new();
    fs::create_dir(person.path(".callgate")).unwrap();
    let Some(disk) = SmallDisk::over(&person.path(".callgate"), c"size=8m,mode=0700") else { return };
    assert_eq!(person.run(&["status"]).code, Some(0));
    disk.read_only();
    let visit = Visit::of(&person);
    assert_eq!(visit.code, Some(1));
    let finding = visit.get("home-unwritable");
    assert!(finding["what"].as_str().unwrap().starts_with("Every call is refused"), "{finding}");
    assert!(finding["fix"].as_str().unwrap().contains("mounted read-only"), "{finding}");
    drop(disk);

    let Some(_full) = SmallDisk::over(&person.path(".callgate"), c"size=8m,mode=0700") else { return };
    assert_eq!(person.run(&["status"]).code, Some(0));
    // To the last byte: a write of the rest fails.
    let _no_room = fs::write(person.path(".callgate/full"), vec![0; 16 << 20]);
    let fix = Visit::of(&person).get("home-unwritable")["fix"].clone();
    assert!(fix.as_str().unwrap().contains("free some room"), "{fix}");
}

#[test]
fn a_home_that_cannot_be_made_is_not_only_not_there_yet() {
    let person = Person::new();
    let Some(disk) = SmallDisk::over(&person.path(""), c"size=8m,mode=0700") else { return };
    disk.read_only();
    let visit = Visit::of(&person);
    assert_eq!(visit.get("home-unwritable")["severity"], "problem");
    assert!(!visit.findings.iter().any(|finding| finding["code"] == "home-missing"));
}

#[test]
fn a_home_that_sudo_left_behind_is_given_back_and_not_chmodded() {
    if !rustix::process::geteuid().is_root() {
        callgate_tests::not_here::not_here("only root can leave a home of root's behind");
        return;
    }
    let person = sound();
    // Somebody else, who gets to the folder and not into it.
    fs::set_permissions(person.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = person.path("callgate-of-all");
    fs::copy(callgate_binary().unwrap().with_file_name("callgate-cli"), &binary).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    let mut doctor = person.command(&binary);
    let said = doctor.args(["doctor", "--json"]).env("USER", "anna").uid(4321).gid(4321).output().unwrap();
    assert_eq!(said.status.code(), Some(1));
    let out = String::from_utf8(said.stdout).unwrap();
    let findings: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let commands: Vec<&str> = findings.iter().filter_map(|finding| finding["command"].as_str()).collect();
    assert!(commands.iter().any(|command| command.starts_with("sudo chown -R anna ")), "{commands:?}");
    assert!(
        !commands.iter().any(|command| command.starts_with("chmod") || command.starts_with("mv ")),
        "{out}"
    );
}

#[test]
fn a_default_policy_that_is_gone_comes_back_without_a_window() {
    let person = sound();
    let before = person.text(".callgate/policies/_default.json");
    fs::remove_file(person.path(".callgate/policies/_default.json")).unwrap();
    let (code, screen) = person.typed(&["policy", "default", "--restore"], "no");
    assert_eq!(code, Some(1), "{screen}");
    let (code, screen) = person.typed(&["policy", "default", "--restore"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(person.text(".callgate/policies/_default.json"), before);
    assert!(person.does(&["policy", "default"]).contains("\"version\""));
}

#[test]
fn a_protected_entry_whose_gate_is_gone_is_not_called_protected() {
    let person = sound();
    fs::remove_file(person.path(".callgate/bin/callgate")).unwrap();
    let listed = person.does(&["clients"]);
    assert!(listed.contains("cannot start") && listed.contains("callgate clients protect --all"), "{listed}");
    let said = person.does(&["clients", "protect", "--all"]);
    assert!(said.contains("in place") && !said.contains("Nothing to do"), "{said}");
    assert!(!person.does(&["clients"]).contains("cannot start"));
}

/// A person whose one server has its token in the keychain.
fn with_a_moved_secret(bus: &Bus) -> Person {
    let mut person = Person::new();
    person.set("DBUS_SESSION_BUS_ADDRESS", bus.address());
    // For a slow machine: moving may take the time that it has where a person could be asked. The doctor asks nobody.
    person.set("DISPLAY", ":60123");
    let entry = json!({ "command": "/bin/sh", "args": [], "env": { "API_TOKEN": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" } });
    person.write(CURSOR, json!({ "mcpServers": { "gh": entry } }).to_string().as_bytes());
    person.say(&["protect", "cursor"]);
    let said = person.run(&["secrets", "move", "cursor", "--yes"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    person
}

#[test]
fn a_reference_that_leads_astray_is_told_by_how_it_does() {
    let bus = Bus::with_keyring().unwrap();
    let person = with_a_moved_secret(&bus);
    let moved = person.text(CURSOR);
    assert_eq!(Visit::of(&person).trouble(), BTreeSet::new());
    let at = moved.find("keychain://callgate/").unwrap();
    let reference = moved[at..].split('"').next().unwrap();
    let other = "keychain://callgate/0123456789abcdef/API_TOKEN";
    let ungated =
        json!({ "mcpServers": { "gh": { "command": "/bin/sh", "env": { "API_TOKEN": reference } } } })
            .to_string();
    for (code, text, mends) in [
        ("reference-missing", moved.replace(reference, other), "Write the value in its place again"),
        ("reference-bad", moved.replace(reference, "keychain://callgate/x"), "Write the value back"),
        (
            "reference-foreign",
            moved.replace(r#""gh", "--client""#, r#""thief", "--client""#),
            "callgate secrets move cursor gh",
        ),
        ("reference-ungated", ungated, "callgate clients protect cursor gh"),
    ] {
        person.write(CURSOR, text.as_bytes());
        let visit = Visit::of(&person);
        let finding = visit.get(code);
        assert_eq!(
            (&finding["severity"], &finding["names"]),
            (&json!("problem"), &json!(["gh"])),
            "{finding}"
        );
        assert!(format!("{} {}", finding["fix"], finding["command"]).contains(mends), "{finding}");
        assert!(!format!("{:?}", visit.findings).contains("ghp_a1B2"), "a secret was told");
    }
}

#[test]
fn a_keychain_that_is_locked_gone_or_silent_is_told_soon_and_nobody_is_asked() {
    let bus = Bus::with_keyring().unwrap();
    let mut person = with_a_moved_secret(&bus);
    bus.lock().unwrap();
    let listener = bus.listen().unwrap();
    assert_eq!(Visit::of(&person).get("keychain-locked")["severity"], "problem");
    let heard = listener.heard();
    assert!(heard.contains("member=ReadAlias"), "the keychain was looked at: {heard}");
    for asking in ["member=Unlock", "member=Prompt", "member=CreateCollection"] {
        assert!(!heard.contains(asking), "the person was asked: {heard}");
    }

    person.set("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", person.path("no-bus").display()));
    assert_eq!(Visit::of(&person).get("keychain-absent")["severity"], "problem");

    // Somebody who takes the connection and never says a word.
    let folder = TempDir::with_prefix("callgate-silent-").unwrap();
    let socket = folder.path().join("bus");
    let _listener = UnixListener::bind(&socket).unwrap();
    person.set("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    let began = Instant::now();
    let said = person.run(&["doctor", "--json"]);
    assert!(said.out.contains("keychain-silent"), "{said:?}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}
