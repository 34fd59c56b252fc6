//! Saving a text, and what was saved before.

use callgate_desk::view::{
    Answer, Done, ErrorCode, Loosening, Question, Restriction, SaveAnswer, Target, UiError,
};
use callgate_home::DEFAULT_SERVER;
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

/// The text without the comment of ours on top, which is kept true.
fn below_its_header(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

#[test]
fn the_first_save_gives_a_server_its_own_policy() {
    let mut world = World::new();
    world.session("cursor").end();
    let text = DEFAULT_POLICY.replace("\"default\": \"allow\"", "\"default\": \"deny\"");
    let default = world.desk.rules(SERVER).unwrap().text;
    assert!(done(save(&world, &default, &text)).words.contains("a policy of its own"));
    assert_eq!(below_its_header(&world.text()), below_its_header(&text));
    assert!(!world.text().contains("Watch only"), "the comment on top is no longer true");
    assert_eq!(std::fs::read_to_string(world.home.default_policy()).unwrap(), DEFAULT_POLICY);
    assert!(world.desk.rules(SERVER).unwrap().own);
    let error = UiError::from(world.desk.save_policy("nobody", &default, &text).unwrap_err());
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[test]
fn a_save_can_be_undone_like_a_row_action_and_what_others_changed_stays() {
    let world = World::with(OPEN);
    let saved = done(save(&world, OPEN, CLOSED));
    let undone = world.desk.undo(&saved.undo.unwrap().token).unwrap();
    assert_eq!(world.text(), OPEN, "with its comment and its lines");
    assert_eq!(undone.server.as_deref(), Some(SERVER));
    let saved = done(save(&world, OPEN, CLOSED));
    world.write(&CLOSED.replace("\"x\": {", "\"y\": { \"action\": \"deny\" }, \"x\": {"));
    world.desk.undo(&saved.undo.unwrap().token).unwrap();
    let now = Policy::parse(&world.text()).unwrap();
    assert!(world.text().contains("\"y\"") && now.version() != Policy::parse(OPEN).unwrap().version());
    // What changes nothing has nothing to undo.
    assert_eq!(done(save(&world, &world.text(), &world.text())).undo, None);
}

#[test]
fn the_default_policy_is_edited_like_any_other_and_told_to_those_that_follow_it() {
    let mut world = World::new();
    world.session("cursor").end();
    let view = world.desk.rules(DEFAULT_SERVER).unwrap();
    assert!(view.is_default && view.own && view.path.ends_with("_default.json"));
    let stricter = DEFAULT_POLICY.replace("\"default\": \"allow\"", "\"default\": \"deny\"");
    let answer = world.desk.save_policy(DEFAULT_SERVER, &view.text, &stricter).unwrap();
    let saved = done(answer);
    assert_eq!(saved.words, "Saved the default policy");
    let path = world.home.default_policy();
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(below_its_header(&written), below_its_header(&stricter));
    // It has versions, and so have the servers that follow it: by the window, not "in the file".
    for server in [DEFAULT_SERVER, SERVER] {
        let versions = world.desk.versions(server).unwrap();
        assert_eq!((versions[0].origin.as_str(), versions[0].current), ("window", true), "{server}");
    }
    assert!(!world.home.policy(SERVER).exists(), "a server that follows it gets no copy");
    world.advance(1);
    world.desk.undo(&saved.undo.unwrap().token).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), DEFAULT_POLICY);
    // One change of it is taken back like that of a server's.
    world.advance(1);
    let question = asked(world.desk.save_policy(DEFAULT_SERVER, DEFAULT_POLICY, OPEN).unwrap());
    world.desk.confirm(&question.token).unwrap();
    let newest = world.desk.versions(DEFAULT_SERVER).unwrap().remove(0);
    assert!(newest.loosened, "{newest:?}");
    let revert = Loosening::Revert { server: DEFAULT_SERVER.to_owned(), change: newest.id };
    if let Answer::Ask(question) = world.desk.loosen(&revert).unwrap() {
        world.desk.confirm(&question.token).unwrap();
    }
    assert_eq!(
        Policy::parse(&std::fs::read_to_string(&path).unwrap()).unwrap().version(),
        Policy::parse(DEFAULT_POLICY).unwrap().version()
    );
    // One click is about one server.
    let target = Target { server: DEFAULT_SERVER.to_owned(), tool: Some("x".to_owned()), client: None };
    let error = world.desk.restrict(&Restriction::Block { target, reason: None }).unwrap_err();
    assert!(error.to_string().contains("in Rules"), "{error}");
}

#[test]
fn a_broken_policy_says_what_becomes_of_calls_and_its_last_good_version_comes_back() {
    let world = World::with(OPEN);
    done(save(&world, OPEN, CLOSED));
    world.write("{ broken");
    let broken = world.desk.rules(SERVER).unwrap().broken.unwrap();
    assert!(broken.words.starts_with("Nothing runs on it now."), "{}", broken.words);
    assert!(broken.last_good_ms.is_some());
    let last_good = Loosening::LastGood { server: SERVER.to_owned() };
    let Answer::Ask(question) = world.desk.loosen(&last_good).unwrap() else { panic!() };
    assert_eq!(world.text(), "{ broken");
    world.desk.confirm(&question.token).unwrap();
    assert_eq!(world.text(), CLOSED);
    assert_eq!(world.desk.rules(SERVER).unwrap().broken, None);
    let Answer::Done(nothing) = world.desk.loosen(&last_good).unwrap() else { panic!() };
    assert!(nothing.words.starts_with("Nothing to change"), "{}", nothing.words);
    // One that never was good has nothing to go back to.
    let world = World::with("{ broken");
    assert_eq!(world.desk.rules(SERVER).unwrap().broken.unwrap().last_good_ms, None);
    assert_eq!(UiError::from(world.desk.loosen(&last_good).unwrap_err()).code, ErrorCode::NotFound);
}

#[test]
fn a_server_that_follows_a_broken_default_policy_gets_the_default_back_and_no_policy_of_its_own() {
    let mut world = World::new();
    world.session("cursor").end();
    let last_good = Loosening::LastGood { server: SERVER.to_owned() };
    let path = world.home.default_policy();
    std::fs::write(&path, "{ broken").unwrap();
    let error = world.desk.loosen(&last_good).unwrap_err().to_string();
    assert!(error.contains("callgate policy default --restore"), "{error}");
    assert_eq!(world.desk.rules(SERVER).unwrap().broken.unwrap().last_good_ms, None);

    std::fs::write(&path, DEFAULT_POLICY).unwrap();
    let stricter = DEFAULT_POLICY.replace("\"default\": \"allow\"", "\"default\": \"deny\"");
    done(world.desk.save_policy(DEFAULT_SERVER, DEFAULT_POLICY, &stricter).unwrap());
    let good = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, "{ broken").unwrap();
    assert!(world.desk.rules(SERVER).unwrap().broken.unwrap().last_good_ms.is_some());
    let Answer::Ask(question) = world.desk.loosen(&last_good).unwrap() else { panic!() };
    assert!(question.words.contains("the default policy") && question.words.contains("every server without"));
    world.desk.confirm(&question.token).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
    assert!(!world.home.policy(SERVER).exists(), "it follows the default policy as before");
}

#[test]
fn a_revert_is_asked_in_a_short_question_with_the_change_below() {
    let world = World::with(OPEN);
    done(save(&world, OPEN, CLOSED));
    let newest = world.desk.versions(SERVER).unwrap().remove(0);
    let revert = Loosening::Revert { server: SERVER.to_owned(), change: newest.id };
    let Answer::Ask(question) = world.desk.loosen(&revert).unwrap() else { panic!() };
    assert_eq!(question.words, format!("Take back this change of {SERVER}?"));
    assert_eq!(question.details, [newest.summary]);
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
