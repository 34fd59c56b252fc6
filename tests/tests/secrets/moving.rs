//! Moved into the keychain and back, by a person.

use super::*;

#[test]
fn a_moved_secret_reaches_the_server_alone_and_comes_back_byte_for_byte() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    let listed = person.does(&["secrets"]);
    assert!(listed.contains("GITHUB_TOKEN") && listed.contains("in the file, 40 characters"), "{listed}");
    assert!(listed.contains("(not behind the gate)"), "{listed}");

    let protected = protect(&person);
    let shown = person.does(&["secrets", "move", "--all", "--dry-run"]);
    assert!(shown.contains("Cursor: gh: GITHUB_TOKEN (40 characters)"), "{shown}");
    assert_eq!(file(&person), protected, "a dry run writes nothing");
    let refused = person.run(&["secrets", "move", "cursor"]);
    assert!(refused.all().contains("needs a person at a terminal"), "{refused:?}");
    assert_eq!(file(&person), protected);
    let (code, screen) = person.typed(&["secrets", "move", "cursor", "gh"], "move");
    assert_eq!(code, Some(0), "{screen}");
    let moved = file(&person);
    assert!(!moved.contains(TOKEN) && !moved.contains("nter2"), "{moved}");
    assert_eq!(moved.matches(SCHEME).count(), 2, "{moved}");
    let states = objects(&person.does(&["secrets", "list", "--json"]));
    assert_eq!(states.len(), 2);
    assert!(states.iter().all(|one| one["state"] == "keychain" && one["length"].is_null()), "{states:?}");

    let mut session = start(&person);
    let answer = session.ask("7", "any", "{}").unwrap().to_text();
    assert!(answer.contains(&format!("it is {TOKEN}")), "the server has its token: {answer}");
    let kept = || (!holding(&person, "my token is").is_empty()).then_some(());
    eventually("its error output is kept", PATIENCE, kept);
    session.finish().unwrap();
    assert_eq!(ran(&person), format!("{TOKEN}|--api-key={KEY}\n"));
    // Its result is in the record and its error output in a file of ours, both without the values.
    let log = eventually("the call is on record", PATIENCE, || {
        let log = person.does(&["log", "--json"]);
        log.contains("[masked, 40 characters]").then_some(log)
    });
    assert!(log.contains("it is [masked"), "{log}");
    assert_eq!(holding(&person, TOKEN), Vec::<PathBuf>::new());
    assert_eq!(holding(&person, KEY), Vec::<PathBuf>::new());

    // Writing secrets into a file again is for a person.
    let said = person.run(&["secrets", "restore", "cursor"]);
    assert!(said.all().contains("needs a person at a terminal"), "{said:?}");
    assert_eq!(file(&person), moved);
    let (code, screen) = person.typed(&["secrets", "restore", "cursor"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person), protected);
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person), original(&person));
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
    let person = github(Reach::Address(&bus));
    protect(&person);
    let slip = person.run(&["secrets", "move", "cursor", "gh", "--only", "GITHUB_TOKE", "--yes"]);
    assert!(slip.code == Some(1) && slip.all().contains("no such secret: GITHUB_TOKE"), "{slip:?}");
    let text = person.does(&["secrets", "move", "cursor", "gh", "--only", "GITHUB_TOKEN", "--yes"]);
    assert!(text.contains("1 moved into the keychain") && text.contains("--purge-secrets"), "{text}");
    assert!(!file(&person).contains(TOKEN) && file(&person).contains("nter2-hunter2"), "{}", file(&person));
    assert!(answer(start(&person)).contains(TOKEN));

    let before = copies(&person);
    assert!(before.contains(TOKEN));
    let said = person.run(&["clients", "backups", "--purge-secrets"]);
    assert!(said.all().contains("needs a person at a terminal"), "{said:?}");
    assert_eq!(copies(&person), before);
    let (code, screen) = person.typed(&["clients", "backups", "--purge-secrets"], "purge");
    assert_eq!(code, Some(0), "{screen}");
    let after = copies(&person);
    assert!(!after.contains(TOKEN) && after.contains(SCHEME) && after.contains("nter2-hunter2"), "{after}");
    // Nothing that can be undone is lost by it.
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person), original(&person));
}

#[test]
fn a_renamed_entry_can_be_taken_from_behind_the_gate_once_a_person_says_that_it_is_the_same() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    let moved = moved(&person);
    let renamed = moved.replacen("\"gh\"", "\"github\"", 1);
    assert_ne!(renamed, moved);
    person.write(CURSOR, renamed.as_bytes());
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor"], "unprotect");
    assert_eq!(code, Some(1), "{screen}");
    assert!(
        screen.contains("If you renamed this entry") && screen.contains("callgate secrets move"),
        "{screen}"
    );
    let (code, screen) = person.typed(&["secrets", "move", "cursor", "github"], "move");
    assert_eq!(code, Some(0), "{screen}");
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person), original(&person).replacen("\"gh\"", "\"github\"", 1));
}

#[test]
fn unprotect_puts_moved_secrets_back() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    moved(&person);
    let (code, screen) = person.typed(&["clients", "unprotect", "--all"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("back in the file"), "{screen}");
    assert_eq!(file(&person), original(&person));
}

#[test]
fn a_copy_whose_secrets_are_gone_from_the_keychain_is_not_restored_without_a_word() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    moved(&person);
    // Back in the file, they leave the keychain; the copy from before names them still.
    let (code, screen) = person.typed(&["secrets", "restore", "cursor"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    let copies = person.backups("cursor");
    let copy = copies.iter().find(|copy| copy["references"] == 2).unwrap();
    let (id, before) = (copy["backup"].as_str().unwrap(), file(&person));

    let said = person.run(&["clients", "restore", id]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.all().contains("does not have any more (gh: GITHUB_TOKEN"), "{said:?}");
    assert_eq!(file(&person), before, "nothing is written");
    let (code, screen) = person.typed(&["clients", "restore", id, "--force"], "restore");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person).matches(SCHEME).count(), 2);

    // Nor are they listed as if they were there.
    let listed = person.does(&["secrets"]);
    assert!(listed.contains("missing: not in the keychain any more"), "{listed}");
    assert!(listed.contains("0 in files, 0 in the keychain, 2 missing."), "{listed}");
    let lines = person.does(&["secrets", "--json"]);
    assert_eq!(lines.matches(r#""state":"missing""#).count(), 2, "{lines}");
}

#[test]
fn nobody_is_asked_to_move_what_is_then_refused_for_want_of_a_gate() {
    let bus = Bus::with_keyring().unwrap();
    let person = github(Reach::Address(&bus));
    let said = person.run(&["secrets", "move", "cursor"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.all().contains("Protect it first: callgate clients protect cursor gh"), "{said:?}");
    assert!(!said.all().contains("terminal"), "nothing is asked: {said:?}");
}
