//! A keychain that is found, locked, gone, or not needed.

use std::os::unix::net::UnixListener;
use std::thread;

use super::*;

#[test]
fn the_bus_is_found_without_its_address_and_by_many_at_once() {
    let bus = Bus::with_keyring().unwrap();
    // A display, so that a slow machine has the time that a person would.
    let mut person = github(Reach::Address(&bus));
    moved(&person);
    thread::scope(|scope| {
        let all: Vec<_> = (0..5).map(|_| scope.spawn(|| answer(start(&person)))).collect();
        for one in all {
            assert!(one.join().unwrap().contains(TOKEN));
        }
    });
    // Without a display the time is short; a machine too slow for it says so in words.
    person.reach(Reach::Folder(bus.folder()));
    let answer = answer(start(&person));
    assert!(answer.contains(TOKEN) || answer.contains("did not answer within 2 s"), "{answer}");
}

#[test]
fn without_a_keychain_nothing_is_moved_and_the_reason_is_told() {
    let empty = Bus::empty().unwrap();
    let mut person = github(Reach::Address(&empty));
    let nowhere = person.path("no-runtime-folder");
    for reach in [Reach::Address(&empty), Reach::Folder(&nowhere)] {
        person.reach(reach);
        let protected = protect(&person);
        let said = person.run(&["secrets", "move", "cursor", "--yes"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.all().contains("no keychain can be reached here"), "{said:?}");
        assert!(said.all().contains("Nothing was changed"), "{said:?}");
        assert_eq!(file(&person), protected);
        // Without references the gate asks nobody.
        assert!(answer(start(&person)).contains(TOKEN));
        fs::remove_file(person.path("ran")).unwrap();
    }
}

#[test]
fn a_keychain_that_is_gone_or_locked_stops_the_server_and_not_the_person() {
    let bus = Bus::with_keyring().unwrap();
    let mut person = github(Reach::Address(&bus));
    let moved = moved(&person);
    bus.lock().unwrap();
    // What it says depends on whether somebody could be asked on this machine.
    person.reach(Reach::Folder(bus.folder()));
    let told = refused(&person, start(&person));
    let sentences = ["the keychain is locked", "access was turned down", "did not answer within"];
    assert!(sentences.iter().any(|sentence| told.contains(sentence)), "{told}");

    let nowhere = person.path("no-runtime-folder");
    person.reach(Reach::Folder(&nowhere));
    let told = refused(&person, start(&person));
    assert!(told.contains("there is no session bus at"), "{told}");
    // The gate stays where the secrets could not follow, unless a person insists.
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor"], "unprotect");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("stays behind the gate") && screen.contains("--leave-secrets"), "{screen}");
    assert_eq!(file(&person), moved);
    let (code, screen) = person.typed(&["clients", "unprotect", "cursor", "--leave-secrets"], "unprotect");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(file(&person).matches(SCHEME).count(), 2);
}

#[test]
fn a_server_without_references_never_meets_the_bus() {
    let folder = tempfile::TempDir::with_prefix("callgate-silent-").unwrap();
    let listener = UnixListener::bind(folder.path().join("bus")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let person = github(Reach::Folder(folder.path()));
    protect(&person);
    let mut session = start(&person);
    assert!(session.ask("1", "any", "{}").unwrap().to_text().contains(TOKEN));
    session.finish().unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
}
