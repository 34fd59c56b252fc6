//! For every file that can be made up: a server that is written into it is there as it should be, everything else is as it
//! was, and taken out again it leaves the same bytes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use proptest::prelude::*;

use super::generators::{Dice, Made, dice, entries, json, word};
use super::line_generators::{toml, yaml};
use super::samples::{CLAUDE, CODEX, CONTINUE, GOOSE, document, the_gate};
use super::{How, NewServer, ServerId, cut, differ_by, place, servers};
use crate::ledger::LedgerKey;
use crate::placement::{AsItWas, Placed};
use crate::table::Shape;
use callgate_document::{Document, Syntax};

/// Whatever a person may want to start.
fn new_server() -> impl Strategy<Value = NewServer> {
    let program = word().prop_filter("a program has a name", |p| !p.trim().is_empty());
    let env = prop::collection::btree_map("[A-Za-z_]{1,6}|Y|no", word(), 0..3);
    (word(), program, prop::collection::vec(word(), 0..4), env).prop_map(|(name, program, args, env)| {
        NewServer {
            // Those that are made up end in a digit.
            name: format!("{name}-new"),
            program,
            args,
            env: env.into_iter().collect(),
        }
    })
}

fn id(server: &NewServer) -> ServerId {
    ServerId { within: None, name: server.name.clone() }
}

/// The document with the server in it, checked.
fn with(before: &Document, shape: &Shape, server: &NewServer) -> Document {
    let splices = place(before, shape, server, Some(&the_gate(&server.name)))
        .unwrap_or_else(|odd| panic!("{odd}\n{}", before.text));
    let after = before.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{}", before.text));
    differ_by(before, &after, shape, &[id(server)])
        .unwrap_or_else(|e| panic!("{e}\n{}\n{}", before.text, after.text));
    let listing = servers(&after, shape);
    let placed = listing.find(&id(server)).unwrap();
    let How::Local(local) = &placed.how else { panic!("{:?}\n{}", placed.how, after.text) };
    assert_eq!(NewServer::of(&server.name, local), *server, "\n{}", after.text);
    assert_eq!(placed.gated.as_ref().unwrap().server.as_ref(), Some(&server.name));
    after
}

fn without(before: &Document, shape: &Shape, server: &NewServer) -> Document {
    let listing = servers(before, shape);
    let splices = cut(before, listing.find(&id(server)).unwrap())
        .unwrap_or_else(|odd| panic!("{odd}\n{}", before.text));
    let after = before.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{}", before.text));
    differ_by(&after, before, shape, &[id(server)])
        .unwrap_or_else(|e| panic!("{e}\n{}\n{}", before.text, after.text));
    after
}

/// Beside others, the file alone gives every byte back; in whatever order several go.
fn beside_others(syntax: Syntax, shape: &Shape, text: &str, new: &NewServer, mut dice: Dice) {
    let before = document(syntax, text);
    let one = with(&before, shape, new);
    assert_eq!(without(&one, shape, new).text, text, "\n{}", one.text);
    let other = NewServer { name: format!("{}-other", new.name), ..new.clone() };
    let both = with(&one, shape, &other);
    let (first, second) = if dice.throw(2) == 0 { (new, &other) } else { (&other, new) };
    let none = without(&without(&both, shape, first), shape, second);
    assert_eq!(none.text, text, "\n{}", both.text);
}

/// Where it is alone, the bytes around it tell nothing of how the file was. What we noted does.
fn alone(syntax: Syntax, shape: &Shape, text: &str, new: &NewServer) {
    let before = document(syntax, text);
    let after = with(&before, shape, new);
    let key = LedgerKey { client: "c".into(), path: "/c".into(), project: None, name: new.name.clone() };
    let placed = Placed::new(&key, Some(text), &after.text);
    assert_eq!(placed.as_it_was(&after.text), Some(AsItWas::Text(text.to_owned())));
    // And without the note it is gone, too.
    without(&after, shape, new);
}

/// Whatever the bytes are: an answer, never a panic, and what passes the check can be taken back.
fn total(syntax: Syntax, shape: &Shape, bytes: &[u8], new: &NewServer) {
    let Ok(before) = Document::parse(syntax, bytes) else { return };
    for server in &servers(&before, shape).servers {
        if let Ok(splices) = cut(&before, server) {
            let _checked = before.spliced(&splices);
        }
    }
    let Ok(splices) = place(&before, shape, new, Some(&the_gate("s"))) else { return };
    let Ok(after) = before.spliced(&splices) else { return };
    if differ_by(&before, &after, shape, &[id(new)]).is_ok() {
        let listing = servers(&after, shape);
        let _answer = listing.find(&id(new)).map(|server| cut(&after, server));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn json_takes_one_more(made in entries(), mut dice in dice(), new in new_server()) {
        let text = json(&made, &mut dice, false);
        beside_others(Syntax::Json, &CLAUDE, &text, &new, dice);
    }

    #[test]
    fn json_with_comments_takes_one_more(made in entries(), mut dice in dice(), new in new_server()) {
        let text = json(&made, &mut dice, true);
        beside_others(Syntax::Jsonc, &CLAUDE, &text, &new, dice);
    }

    #[test]
    fn toml_takes_one_more(made in entries(), mut dice in dice(), new in new_server()) {
        let text = toml(&made, &mut dice);
        beside_others(Syntax::Toml, &CODEX, &text, &new, dice);
    }

    #[test]
    fn yaml_maps_take_one_more(made in entries(), mut dice in dice(), new in new_server()) {
        let text = yaml(&made, &mut dice, false);
        beside_others(Syntax::Yaml, &GOOSE, &text, &new, dice);
    }

    #[test]
    fn yaml_lists_take_one_more(made in entries(), mut dice in dice(), new in new_server()) {
        let text = yaml(&made, &mut dice, true);
        beside_others(Syntax::Yaml, &CONTINUE, &text, &new, dice);
    }

    #[test]
    fn the_first_server_of_a_file_goes_without_a_trace(mut dice in dice(), new in new_server()) {
        let none: &[Made] = &[];
        alone(Syntax::Json, &CLAUDE, &json(none, &mut dice.clone(), false), &new);
        alone(Syntax::Jsonc, &CLAUDE, &json(none, &mut dice.clone(), true), &new);
        alone(Syntax::Toml, &CODEX, &toml(none, &mut dice.clone()), &new);
        alone(Syntax::Yaml, &GOOSE, &yaml(none, &mut dice.clone(), false), &new);
        alone(Syntax::Yaml, &CONTINUE, &yaml(none, &mut dice, true), &new);
    }

    #[test]
    fn a_file_without_a_section_gets_one(made in entries(), mut dice in dice(), new in new_server()) {
        const ELSEWHERE: &[&str] = &["elsewhere"];
        let json_shape = Shape { section: ELSEWHERE, ..CLAUDE };
        alone(Syntax::Json, &json_shape, &json(&made, &mut dice.clone(), false), &new);
        alone(Syntax::Jsonc, &json_shape, &json(&made, &mut dice.clone(), true), &new);
        alone(Syntax::Toml, &Shape { section: ELSEWHERE, ..CODEX }, &toml(&made, &mut dice.clone()), &new);
        // What follows `...` is no part of the document.
        let lines = yaml(&made, &mut dice, false).replace("...", "");
        alone(Syntax::Yaml, &Shape { section: ELSEWHERE, ..GOOSE }, &lines, &new);
        alone(Syntax::Yaml, &Shape { section: ELSEWHERE, ..CONTINUE }, &lines, &new);
    }

    #[test]
    fn damaged_files_take_nothing_without_a_check(
        made in entries(), mut dice in dice(), cuts in super::property_tests::cuts(), new in new_server(),
    ) {
        use super::property_tests::mutated;
        total(Syntax::Json, &CLAUDE, &mutated(&json(&made, &mut dice.clone(), false), &cuts), &new);
        total(Syntax::Jsonc, &CLAUDE, &mutated(&json(&made, &mut dice.clone(), true), &cuts), &new);
        total(Syntax::Toml, &CODEX, &mutated(&toml(&made, &mut dice.clone()), &cuts), &new);
        total(Syntax::Yaml, &GOOSE, &mutated(&yaml(&made, &mut dice.clone(), false), &cuts), &new);
        total(Syntax::Yaml, &CONTINUE, &mutated(&yaml(&made, &mut dice, true), &cuts), &new);
    }

    #[test]
    fn any_bytes_take_nothing_without_a_check(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,100}", new in new_server()) {
        for syntax in [Syntax::Json, Syntax::Jsonc, Syntax::Toml, Syntax::Yaml] {
            total(syntax, &CLAUDE, &bytes, &new);
            total(syntax, &CLAUDE, text.as_bytes(), &new);
        }
    }
}
