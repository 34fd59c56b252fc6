//! Saving a text, and what was saved before.

use callgate_desk::view::{Done, ErrorCode, Question, SaveAnswer, UiError};
use callgate_policy::{DEFAULT_POLICY, Policy};

use crate::world::{SERVER, World};

const OPEN: &str =
    "{ // mine\n  \"version\": \"1\", \"default\": \"allow\",\n\n  \"tools\": { \"x\": {} } }\n";
const CLOSED: &str = "{ // mine\n  \"version\": \"1\", \"default\": \"allow\",\n\n  \"tools\": { \"x\": { \"action\": \"deny\" } } }\n";

fn save(world: &World, base: &str, text: &str) -> SaveAnswer {
    world.desk.save_policy(SERVER, base, text).unwrap()
}

fn done(answer: SaveAnswer) -> Done {
    let SaveAnswer::Done(done) = answer else { panic!("{answer:?}") };
    done
}

fn asked(answer: SaveAnswer) -> Question {
    let SaveAnswer::Ask(question) = answer else { panic!("{answer:?}") };
    question
}

#[test]
fn a_text_is_saved_as_it_is_and_is_on_record() {
    let world = World::with(OPEN);
    let saved = done(save(&world, OPEN, CLOSED));
    assert_eq!(world.text(), CLOSED);
    assert_eq!(saved.version.as_deref(), Some(Policy::parse(CLOSED).unwrap().version()));
    world.advance(1);
    assert!(done(save(&world, CLOSED, CLOSED)).words.starts_with("Nothing to change"));
    let versions = world.desk.versions(SERVER).unwrap();
    let [newest, first] = versions.as_slice() else { panic!("{versions:?}") };
    assert_eq!((newest.origin.as_str(), newest.current, newest.loosened), ("window", true, false));
    assert_eq!(newest.summary, "\"x\" is now denied");
    assert_eq!((first.origin.as_str(), first.current, first.previous.as_deref()), ("file", false, None));
    let diff = world.desk.version_diff(SERVER, newest.id).unwrap();
    assert!(
        diff.contains("-  \"tools\": { \"x\": {} } }\n+  \"tools\": { \"x\": { \"action\": \"deny\" } } }"),
        "{diff}"
    );
    let error = UiError::from(world.desk.version_diff(SERVER, 99).unwrap_err());
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[test]
fn a_broken_text_is_not_saved() {
    let world = World::with(OPEN);
    let answer = save(&world, OPEN, "{ \"version\": \"1\" }");
    assert!(matches!(&answer, SaveAnswer::Broken { diagnostics } if diagnostics.len() == 1), "{answer:?}");
    assert_eq!(world.text(), OPEN);
}

#[test]
fn an_edit_made_elsewhere_is_shown_and_not_overwritten() {
    let world = World::with(OPEN);
    let theirs = OPEN.replace("// mine", "// theirs");
    world.write(&theirs);
    let SaveAnswer::Conflict { theirs: shown, version, diff } = save(&world, OPEN, CLOSED) else { panic!() };
    assert_eq!((shown, world.text()), (theirs.clone(), theirs.clone()));
    assert_eq!(version.as_deref(), Some(Policy::parse(&theirs).unwrap().version()));
    assert!(diff.contains("-{ // theirs\n") && diff.contains("+{ // mine\n"), "{diff}");
    // Somebody else wrote just this: there is nothing left to do, and no conflict.
    world.write(CLOSED);
    assert!(done(save(&world, OPEN, CLOSED)).words.starts_with("Nothing to change"));
}

#[test]
fn an_edit_of_a_broken_file_made_elsewhere_is_not_overwritten() {
    // Neither of them has a version: only the texts tell them apart.
    let world = World::with("{ broken");
    world.write("{ broken otherwise");
    let SaveAnswer::Conflict { theirs, version, .. } = save(&world, "{ broken", CLOSED) else { panic!() };
    assert_eq!((theirs.as_str(), version), ("{ broken otherwise", None));
    assert_eq!(world.text(), "{ broken otherwise");
}

#[test]
fn a_policy_that_a_server_got_meanwhile_is_not_overwritten() {
    let mut world = World::new();
    world.session("cursor").end();
    let default = world.desk.rules(SERVER).unwrap().text;
    world.write(OPEN);
    let SaveAnswer::Conflict { theirs, .. } = save(&world, &default, CLOSED) else { panic!() };
    assert_eq!((theirs.as_str(), world.text().as_str()), (OPEN, OPEN));
}

#[test]
fn a_text_that_loosens_is_saved_only_after_a_yes() {
    let world = World::with(CLOSED);
    let question = asked(save(&world, CLOSED, OPEN));
    assert_eq!(question.loosened.len(), 1, "{question:?}");
    assert_eq!(world.text(), CLOSED);
    let saved = world.desk.confirm(&question.token).unwrap();
    assert_eq!((saved.server.as_deref(), world.text().as_str()), (Some(SERVER), OPEN));
    assert!(world.desk.versions(SERVER).unwrap()[0].loosened);
    // A yes is for what was asked: if the file is another one by then, nothing is written.
    world.write(CLOSED);
    let question = asked(save(&world, CLOSED, OPEN));
    let theirs = CLOSED.replace("mine", "theirs");
    world.write(&theirs);
    let error = UiError::from(world.desk.confirm(&question.token).unwrap_err());
    assert_eq!((error.code, world.text()), (ErrorCode::Conflict, theirs));
}

#[test]
fn a_broken_policy_that_is_mended_loosens() {
    let world = World::with("{ broken");
    let question = asked(save(&world, "{ broken", OPEN));
    world.desk.confirm(&question.token).unwrap();
    assert_eq!(world.text(), OPEN);
}

#[test]
fn the_first_save_gives_a_server_its_own_policy() {
    let mut world = World::new();
    world.session("cursor").end();
    let text = DEFAULT_POLICY.replace("\"default\": \"allow\"", "\"default\": \"deny\"");
    let default = world.desk.rules(SERVER).unwrap().text;
    assert!(done(save(&world, &default, &text)).words.contains("a policy of its own"));
    assert_eq!(world.text(), text);
    assert_eq!(std::fs::read_to_string(world.home.default_policy()).unwrap(), DEFAULT_POLICY);
    assert!(world.desk.rules(SERVER).unwrap().own);
    let error = UiError::from(world.desk.save_policy("nobody", &default, &text).unwrap_err());
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[test]
fn what_saving_would_change_is_proposed_before() {
    let world = World::with(CLOSED);
    let proposal = world.desk.propose(SERVER, OPEN).unwrap();
    assert_eq!(proposal.summary, ["\"x\" is no longer denied"]);
    assert_eq!((proposal.loosened.len(), proposal.text.as_str()), (1, OPEN));
    assert!(proposal.diff.starts_with("--- now\n+++ new\n"));
    let same = world.desk.propose(SERVER, CLOSED).unwrap();
    assert!(same.diff.is_empty() && same.summary.is_empty() && same.loosened.is_empty());
    assert_eq!(UiError::from(world.desk.propose(SERVER, "{").unwrap_err()).code, ErrorCode::BrokenPolicy);
}
