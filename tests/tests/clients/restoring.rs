//! Clients' files put back as a copy has them.

use std::fs;

use callgate_tests::person::{CURSOR, DESKTOP, Person, fixture};
use serde_json::json;

#[test]
fn a_copy_brings_a_file_back_whatever_happened_to_it() {
    let person = Person::with_every_fixture();
    assert_eq!(person.say(&["backups"]), "No copies: no client's file has been edited.\n");
    person.say(&["protect", "--all", "--force"]);
    let copies = person.backups("claude-desktop");
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(copies[0]["path"], json!(person.path(DESKTOP)));
    let id = copies[0]["backup"].as_str().unwrap().to_owned();
    assert!(person.say(&["backups"]).contains(&id));

    let wiped = br#"{"preferences":{}}"#;
    person.write(DESKTOP, wiped);
    let said = person.clients(&["restore", &id, "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("This needs a person at a terminal"), "{said:?}");
    let text = person.say(&["restore", &id, "--dry-run"]);
    assert!(text.contains("+    \"with space-7\": {"), "{text}");
    assert!(person.read(DESKTOP) == wiped);

    // What was behind the gate before the wipe is so again; a file that still has servers comes back as the copy has it.
    let (code, screen) = person.clients_at_terminal(&["restore", &id, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("behind the gate again"), "{screen}");
    assert!(person.text(DESKTOP).contains(".callgate/bin/callgate"));
    let (code, screen) = person.clients_at_terminal(&["restore", &id, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.read(DESKTOP) == fixture("claude-desktop/app-written.json"));
    // What was there is kept, too: a restore can be taken back.
    let copies = person.backups("claude-desktop");
    assert!(copies.iter().any(|copy| copy["bytes"] == wiped.len()), "{copies:?}");

    // Gone altogether, it is made anew.
    fs::remove_file(person.path(CURSOR)).unwrap();
    let id = person.backups("cursor")[0]["backup"].as_str().unwrap().to_owned();
    let (code, screen) = person.clients_at_terminal(&["restore", &id], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(person.text(CURSOR).contains(".callgate/bin/callgate"));

    // Or it is gone on purpose, which is a person's word.
    fs::remove_file(person.path(CURSOR)).unwrap();
    assert!(person.say(&[]).contains("gone on purpose: callgate clients gone cursor"));
    let said = person.clients(&["gone", "cursor"]);
    assert!(said.err.contains("This needs a person at a terminal"), "{said:?}");
    let (code, screen) = person.clients_at_terminal(&["gone", "cursor"], "gone");
    assert_eq!(code, Some(0), "{screen}");
    assert!(!person.say(&[]).contains("has lost all"), "{}", person.say(&[]));

    let said = person.clients(&["restore", "cursor-00000000/1-2"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("there is no copy \"cursor-00000000/1-2\""), "{said:?}");
}

#[test]
fn what_restoring_does_to_the_gates_is_said_as_it_is() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": {"a": {"command": "x"}}}"#);
    person.say(&["protect", "cursor"]);
    let plain = person.backups("cursor")[0]["backup"].as_str().unwrap().to_owned();
    let (code, screen) = person.clients_at_terminal(&["restore", &plain], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("This loosens the gate"), "{screen}");
    assert!(screen.contains("without the gate in front of a."), "{screen}");
    // Now the other way round: the gate comes back.
    let gated = person.backups("cursor").into_iter().find(|copy| copy["gates"] == 1).unwrap();
    let (code, screen) =
        person.clients_at_terminal(&["restore", gated["backup"].as_str().unwrap()], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("with the gate in front of a.") && !screen.contains("loosens"), "{screen}");
}

#[test]
fn each_copy_says_what_it_holds() {
    let person = Person::new();
    person
        .write(CURSOR, br#"{"mcpServers": {"a": {"command": "x", "env": {"API_TOKEN": "hunter2hunter2"}}}}"#);
    person.say(&["protect", "cursor"]);
    person.unprotect("cursor");
    let listed = person.say(&["backups"]);
    assert!(listed.contains("1 server, 1 gate, 1 secret in plain text"), "{listed}");
    assert!(listed.contains("the first copy, 1 server, no gates, 1 secret in plain text"), "{listed}");
    let copies = person.backups("cursor");
    let told: Vec<_> = copies.iter().map(|copy| (&copy["first"], &copy["gates"], &copy["secrets"])).collect();
    assert_eq!(told, [(&json!(false), &json!(1), &json!(1)), (&json!(true), &json!(0), &json!(1))]);
}
