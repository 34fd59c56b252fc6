//! Servers whose program a client started from a desktop does not find, and a person's shell does.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;

use callgate_tests::person::Person;
use callgate_tests::session::Session;

/// Answers with its `PATH`. Its interpreter is found by `PATH` as well, as that of `npx` is.
const SERVER: &str = r#"#!/usr/bin/env helper
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$id" "$PATH"
done
"#;

/// The server and its interpreter in one folder.
fn put_server(person: &Person, folder: &str) {
    person.program(&format!("{folder}/only-here"), SERVER);
    person.program(&format!("{folder}/helper"), "#!/bin/sh\nexec /bin/sh \"$@\"\n");
}

/// What the server says, started by a client that has this shell and a desktop's `PATH`.
fn said(person: &Person, shell: &str) -> String {
    let mut command = person.callgate(&["run", "--server", "x", "--client", "y", "--", "only-here"]);
    command.env("PATH", "/usr/bin:/bin").env("SHELL", shell);
    Session::start(command).unwrap().ask("1", "any", "{}").unwrap().to_text()
}

#[test]
fn a_program_is_found_where_the_login_shell_finds_it() {
    let person = Person::new();
    put_server(&person, "my tools");
    person.write(".bash_profile", b"echo welcome\nexport PATH=\"$HOME/my tools:$PATH\"\n");
    // A shell has three seconds, which a loaded machine may not give it.
    let answer = (0..10)
        .map(|_| {
            let _said_nothing = fs::remove_file(person.path(".callgate/control/login-path"));
            said(&person, "/bin/bash")
        })
        .find(|answer| answer.contains("my tools"))
        .unwrap_or_default();
    assert!(answer.contains(&format!("/usr/bin:/bin:{}", person.path("my tools").display())), "{answer}");
    // What the shell said is kept: one that says nothing any more is not needed.
    assert!(said(&person, "/bin/false").contains("my tools"));
}

#[test]
fn a_program_is_found_where_version_managers_keep_them() {
    let person = Person::new();
    put_server(&person, ".nvm/versions/node/v22.1.0/bin");
    let answer = said(&person, "/bin/false");
    assert!(answer.contains(".nvm/versions/node/v22.1.0/bin"), "{answer}");
}

#[test]
fn a_shell_that_never_ends_does_not_keep_the_client_waiting() {
    let person = Person::new();
    person.program("shell", "#!/bin/sh\nwhile :; do sleep 1000; done\n");
    fs::create_dir_all(person.path(".volta/bin")).unwrap();
    let answer = said(&person, person.path("shell").to_str().unwrap());
    assert!(
        answer.contains(r#"cannot start \"only-here\": no such program in PATH (/usr/bin, /bin"#),
        "{answer}"
    );
    assert!(answer.contains(".volta/bin"), "it says where it looked: {answer}");
}
