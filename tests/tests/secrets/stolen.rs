//! A reference to a secret is good for the start that it was stored for, and for no other.

use serde_json::json;

use super::*;

#[test]
fn a_stolen_reference_is_good_for_nothing() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    let moved = moved(&person);
    let entry = entry(&person);
    let (binary, reference) =
        (entry["command"].as_str().unwrap(), entry["env"]["GITHUB_TOKEN"].as_str().unwrap());
    let own: Vec<&str> =
        entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    person.write("thief.sh", SERVER.as_bytes());
    let (server, thief) = (person.path("server.sh"), person.path("thief.sh"));
    let (server, thief) = (server.to_str().unwrap(), thief.to_str().unwrap());
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
        let mut command = person.command(binary);
        command.args(&words).env("GITHUB_TOKEN", reference).env("RAN", person.path("ran"));
        let told = refused(&person, Session::start(command).unwrap());
        assert!(told.contains("was stored for another server or another command"), "{words:?}: {told}");
    }
    // Nor is it written into another file.
    person.write(".codeium/windsurf/mcp_config.json", moved.replace(" // mine", "").as_bytes());
    let (code, screen) = person.typed(&["secrets", "restore", "windsurf"], "restore");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("stored for another entry"), "{screen}");
    // A reference to nothing, and one that is none.
    for (text, words) in [
        (format!("{SCHEME}0123456789abcdef/GITHUB_TOKEN"), "has nothing of this name"),
        (format!("{SCHEME}x"), "in a way that Callgate does not write"),
    ] {
        let mut command = person.command(binary);
        command.args(&own).env("GITHUB_TOKEN", text);
        let told = refused(&person, Session::start(command).unwrap());
        assert!(told.contains(words), "{told}");
    }
    // The one that it belongs to is started still.
    assert!(answer(start(&person)).contains(TOKEN));
}

#[test]
fn a_stolen_reference_with_the_same_command_and_another_path_or_preload_gets_nothing() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    let plain = json!({ "mcpServers": { "gh": {
        "command": "sh", "args": [person.path("server.sh")],
        "env": { "GITHUB_TOKEN": TOKEN, "RAN": person.path("ran"), "NODE_PATH": "/mine" },
    } } });
    person.write(CURSOR, plain.to_string().as_bytes());
    protect(&person);
    person.does(&["secrets", "move", "cursor", "--yes"]);
    let entry = entry(&person);
    let start = |changes: &[(&str, &str)]| {
        let mut command = person.starting(&entry);
        command.envs(changes.iter().copied());
        Session::start(command).unwrap()
    };
    person.program("evil/sh", SERVER);
    let evil = person.path("evil");
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
    assert!(answer(start(&[("PATH", &before)])).contains(TOKEN));
    assert_eq!(
        ran(&person),
        format!("{TOKEN}|\n"),
        "the thief's program was given the script as an argument"
    );
    // What the client has anyway may change: that is not of the entry's making.
    assert!(answer(start(&[("LANG", "C"), ("HTTP_PROXY", "x")])).contains(TOKEN));
}

#[test]
fn a_path_that_the_entry_had_when_its_secrets_were_moved_is_its_own() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    person.program("mine/only-here", SERVER);
    let mine = person.path("mine");
    let path = format!("{}:{}", mine.display(), std::env::var("PATH").unwrap());
    let entry = json!({ "command": "only-here", "args": [], "env": {
        "GITHUB_TOKEN": TOKEN, "RAN": person.path("ran") } });
    let with = |path: &str| {
        let mut entry = entry.clone();
        entry["env"]["PATH"] = path.into();
        json!({ "mcpServers": { "gh": entry } }).to_string()
    };
    person.write(CURSOR, with(&path).as_bytes());
    protect(&person);
    person.does(&["secrets", "move", "cursor", "--yes"]);
    assert!(answer(start(&person)).contains(TOKEN));
    fs::remove_file(person.path("ran")).unwrap();
    // Another folder is another matter, until a person says so.
    person.program("other/only-here", SERVER);
    let other = person.path("other");
    let elsewhere = file(&person).replace(mine.to_str().unwrap(), other.to_str().unwrap());
    person.write(CURSOR, elsewhere.as_bytes());
    let told = refused(&person, start(&person));
    assert!(told.contains("callgate secrets move"), "{told}");
    let (code, screen) = person.typed(&["secrets", "move", "cursor"], "move");
    assert_eq!(code, Some(0), "{screen}");
    assert!(answer(start(&person)).contains(TOKEN));
}
