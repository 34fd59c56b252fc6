//! Secrets on their way from a client's file into a real keychain, from there into the server's process, and back.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod keychain;
mod moving;
mod stolen;

use std::fs;
use std::path::PathBuf;

use callgate_tests::keychain::Bus;
use callgate_tests::person::{CURSOR, Person, Reach, objects};
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session};
use serde_json::Value;

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

/// Somebody with one server in a client's file, and two secrets in it.
fn github(reach: Reach<'_>) -> Person {
    let mut person = Person::new();
    person.keeps_secret(&[TOKEN, KEY]);
    person.reach(reach);
    person.write("server.sh", SERVER.as_bytes());
    person.write(CURSOR, original(&person).as_bytes());
    person
}

/// Its file, with escapes and spaces that only the original text has.
fn original(person: &Person) -> String {
    format!(
        "{{\n\t\"mcpServers\": {{ \"gh\": {{\"command\": \"/bin/sh\", \"args\": [\"{}\",  \"--api-key=h\\u0075nter2-hunter2\" ],\n\
         \"env\": {{ \"GITHUB_TOKEN\" : \"{TOKEN}\", \"RAN\": \"{}\" }} }} }} // mine\n}}\n",
        person.path("server.sh").display(),
        person.path("ran").display(),
    )
}

fn file(person: &Person) -> String {
    person.text(CURSOR)
}

/// Cursor's file may have comments; this one's is at the end.
fn entry(person: &Person) -> Value {
    let file: Value = serde_json::from_str(&file(person).replace(" // mine", "")).unwrap();
    file["mcpServers"]["gh"].clone()
}

/// What the server was started with, a line each time.
fn ran(person: &Person) -> String {
    fs::read_to_string(person.path("ran")).unwrap_or_default()
}

fn protect(person: &Person) -> String {
    person.say(&["protect", "cursor"]);
    file(person)
}

fn moved(person: &Person) -> String {
    protect(person);
    let text = person.does(&["secrets", "move", "cursor", "--yes"]);
    assert!(text.contains("2 moved into the keychain"), "{text}");
    file(person)
}

fn start(person: &Person) -> Session {
    person.start(&entry(person))
}

/// What the server says that its token is.
fn answer(mut session: Session) -> String {
    session.ask("1", "any", "{}").unwrap().to_text()
}

/// What the client hears in place of an answer, and that the server never ran.
fn refused(person: &Person, session: Session) -> String {
    let answer = person.refused(session);
    assert_eq!(ran(person), "", "the server ran");
    answer
}

/// Files of Callgate's home that hold a text, the copies of clients' files and the program left out.
fn holding(person: &Person, text: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![person.path(".callgate")]);
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
