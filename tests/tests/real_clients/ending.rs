//! How Claude Code ends its servers, in the little time that it gives them: nothing is left.

use std::time::Duration;

use callgate_tests::model::{Model, Turn};
use callgate_tests::person::Person;
use callgate_tests::processes::eventually;
use callgate_tests::session::{PATIENCE, Session, all_gone};
use rustix::process::Signal;

use crate::calling::asked;
use crate::client::{Client, Server};

const NOTHING_LEFT: Duration = Duration::from_secs(5);

/// A person whose Claude Code has nothing but such a server.
fn with_a_stubborn_server() -> Person {
    let person = Person::new();
    let file = Client::ClaudeCode.file_with(&[Server::new("stubborn", &person.stubborn_server())]);
    person.write(Client::ClaudeCode.file(), file.as_bytes());
    person.say(&["protect", "claude-code"]);
    person
}

/// It says INT, TERM after 100 ms, and is gone itself half a second later.
#[test]
fn claude_code_that_has_seen_enough_leaves_nothing_of_a_stubborn_server() {
    let person = with_a_stubborn_server();
    let said = Client::ClaudeCode.does(&person, &["mcp", "list"]);
    assert!(said.contains("✔ Connected"), "{said}");
    all_gone(&person.stubborn_processes(1), NOTHING_LEFT);
}

#[test]
fn claude_code_that_ends_in_the_middle_of_a_call_leaves_nothing_of_a_stubborn_server() {
    for signal in [Signal::INT, Signal::KILL] {
        let person = with_a_stubborn_server();
        let model = Model::start(vec![Turn::Call("mcp__stubborn__never"), Turn::Say("no")]).unwrap();
        let mut session = Session::start(asked(Client::ClaudeCode, &person, &model)).unwrap();
        eventually("the call is with the server", PATIENCE, || (!person.calls().is_empty()).then_some(()));
        let processes = person.stubborn_processes(1);
        session.signal(signal);
        session.ended(PATIENCE).unwrap();
        all_gone(&processes, NOTHING_LEFT);
    }
}
