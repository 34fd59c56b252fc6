//! The gate put in front of servers and taken away, and files that are left alone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use callgate_tests::person::{CURSOR, DESKTOP, FIXTURES, Person, Said, StandIn, fixture};
use serde_json::json;

#[test]
fn protect_and_unprotect_leave_every_file_as_it_was() {
    let person = Person::with_every_fixture();
    let open = person.count("not_protected");
    // Forced, because other tests' stand-ins for Claude Desktop may run at this moment.
    let text = person.say(&["protect", "--all", "--force"]);
    for client in ["Claude Desktop", "Cursor", "Codex", "Goose", "Claude Code"] {
        assert!(text.contains(&format!("{client}: protected ")), "{text}");
    }
    assert_eq!((person.count("protected"), person.count("not_protected")), (open, 0));
    let binary = person.path(".callgate/bin/callgate");
    for (path, name) in FIXTURES {
        assert!(person.text(path).contains(binary.to_str().unwrap()), "{path}");
        assert_ne!(person.read(path), fixture(name), "{path}");
    }
    let ran: Said = person.command(&binary).arg("--version").output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");

    let protected: Vec<_> = FIXTURES.iter().map(|(path, _)| person.read(path)).collect();
    assert!(person.say(&["protect", "--all"]).starts_with("Nothing to do"));
    let again: Vec<_> = FIXTURES.iter().map(|(path, _)| person.read(path)).collect();
    assert!(again == protected);

    let (code, screen) = person.clients_at_terminal(&["unprotect", "--all", "--force"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Codex: no longer protected:"), "{screen}");
    person.assert_fixtures_untouched();
    assert_eq!(person.count("protected"), 0);
}

#[test]
fn only_what_is_named_is_protected() {
    let person = Person::with_every_fixture();
    let text = person.say(&["protect", "codex", "bare", "with.dot"]);
    assert!(text.contains("Codex: protected with.dot, bare"), "{text}");
    assert_eq!(person.count("protected"), 2);

    for (words, complaint) in [
        (&["protect", "codex", "nobody"][..], "no such server: nobody"),
        (&["protect", "netscape"], "\"netscape\" is no client that Callgate knows"),
        (&["protect", "zed"], "Zed has no configuration file here"),
        (&["protect"], "name a client (`callgate clients` lists them), or say --all"),
    ] {
        let said = person.clients(words);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(complaint), "{said:?}");
    }
    // Asked for by name, what cannot be done is a failure.
    let said = person.clients(&["protect", "codex", "remote"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("remote stays as it is: reached over the network"), "{said:?}");
    assert_eq!(person.count("protected"), 2);
}

#[test]
fn taking_the_gate_away_needs_a_person_and_their_word() {
    let person = Person::with_every_fixture();
    person.say(&["protect", "cursor"]);
    let gated = person.read(CURSOR);
    let said = person.clients(&["unprotect", "--all", "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("Loosening needs a person at a terminal"), "{said:?}");
    let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor"], "yes");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("nothing was changed"), "{screen}");
    assert!(person.read(CURSOR) == gated);
}

#[test]
fn unprotecting_asks_about_the_servers_by_name() {
    let person = Person::new();
    person.write(CURSOR, br#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}}"#);
    person.say(&["protect", "cursor"]);
    let (code, screen) = person.clients_at_terminal(&["unprotect", "cursor", "b"], "no");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("let Cursor start b without the gate"), "{screen}");
}

#[test]
fn a_file_that_is_not_understood_is_left_alone_and_the_others_are_done() {
    let plain = r#"{"mcpServers":{"a":{"command":"npx","args":[]}}}"#;
    let cases = [
        ("a comment", plain.replacen('{', "{ // mine\n", 1), "it is not valid JSON"),
        ("a byte order mark", format!("\u{feff}{plain}"), "it begins with a byte order mark"),
        (
            "a key twice",
            plain.replacen("\"args\"", "\"command\":\"x\",\"args\"", 1),
            "`command` stands there twice",
        ),
        ("cut off", plain[..plain.len() - 2].to_owned(), "it is not valid JSON"),
        ("empty", String::new(), "it is not valid JSON"),
    ];
    for (what, text, words) in cases {
        let person = Person::new();
        person.write(DESKTOP, text.as_bytes());
        person.write(CURSOR, &fixture("cursor/mcp.json"));
        let listed = person.say(&["list"]);
        assert!(listed.contains("left alone: ") && listed.contains(words), "{what}: {listed}");
        let said = person.clients(&["protect", "--all", "--force"]);
        assert_eq!(said.code, Some(1), "{what}: {said:?}");
        let refusal = format!("~/{DESKTOP}: {words}");
        assert!(said.out.contains(&refusal), "{what}: {refusal:?} is not in {said:?}");
        assert!(said.out.contains("Cursor: protected playwright, shell"), "{what}: {said:?}");
        assert_eq!(person.text(DESKTOP), text, "{what}");
        assert!(person.text(CURSOR).contains(".callgate/bin/callgate"), "{what}");
        assert!(person.backups("claude-desktop").is_empty(), "{what}");
    }
}

#[test]
fn a_byte_order_mark_is_taken_away_when_that_is_all_and_nothing_else_is_mended() {
    let person = Person::new();
    let crlf = fixture("claude-desktop/crlf.json");
    let marked = [b"\xef\xbb\xbf", crlf.as_slice()].concat();
    person.write(DESKTOP, &marked);
    person.write(CURSOR, b"\xef\xbb\xbf{,");
    person.write(".codex/config.toml", &fixture("codex/config.toml"));
    assert!(person.say(&["list"]).contains("Take it away: callgate clients repair"));
    let said = person.clients(&["repair", "--dry-run"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains(&format!("~/{DESKTOP}: the byte order mark would go")), "{said:?}");
    assert!(
        said.out.contains(&format!("~/{CURSOR}: taking the byte order mark away would not be enough")),
        "{said:?}"
    );
    assert!(person.read(DESKTOP) == marked, "a dry run writes nothing");

    let desktop = StandIn::start(&person);
    let said = person.clients(&["repair", "claude-desktop"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("Claude Desktop runs and would write its own copy over it"), "{said:?}");
    assert!(person.read(DESKTOP) == marked);
    desktop.quit();
    person.say(&["repair", "claude-desktop"]);
    assert!(person.read(DESKTOP) == crlf);
    let copies = person.backups("claude-desktop");
    assert_eq!(copies.iter().map(|copy| &copy["bytes"]).collect::<Vec<_>>(), [&json!(marked.len())]);
    assert!(person.say(&["repair", "codex"]).starts_with("Nothing to repair"));
    assert_eq!(person.read(CURSOR), b"\xef\xbb\xbf{,");
}

#[test]
fn a_link_that_leads_nowhere_stays_one_and_a_good_one_stays_a_link() {
    let person = Person::new();
    person.write(CURSOR, &fixture("cursor/mcp.json"));
    person.write("dotfiles/codex.toml", &fixture("codex/config.toml"));
    fs::create_dir_all(person.path(".config/Claude")).unwrap();
    fs::create_dir_all(person.path(".codex")).unwrap();
    symlink(person.path("dotfiles/claude.json"), person.path(DESKTOP)).unwrap();
    symlink("../dotfiles/codex.toml", person.path(".codex/config.toml")).unwrap();

    let said = person.clients(&["protect", "--all", "--force"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains(": it is a link that leads nowhere"), "{said:?}");
    assert!(said.out.contains("Cursor: protected "), "{said:?}");
    let target = |path: &str| fs::read_link(person.path(path)).unwrap();
    assert_eq!(target(DESKTOP), person.path("dotfiles/claude.json"));
    assert!(!person.path("dotfiles/claude.json").exists());
    assert_eq!(target(".codex/config.toml"), Path::new("../dotfiles/codex.toml"));
    assert!(person.text("dotfiles/codex.toml").contains(".callgate/bin/callgate"));
}
