//! For every file that can be made up: gated it starts the same things, and ungated it is the same bytes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::generators::{Dice, Made, dice, entries, json};
use super::line_generators::{toml, yaml};
use super::samples::{CLAUDE, CODEX, CONTINUE, GOOSE, document, the_gate};
use super::{How, Server, ServerId, Undo, ValueCheck, comes_back, gate, servers, ungate, verify};
use crate::table::Shape;
use callgate_document::{Document, Syntax};

fn id(made: &Made) -> ServerId {
    ServerId { within: None, name: made.name.clone() }
}

/// An entry says what it was made to say, be it gated or not.
fn says(server: &Server, made: &Made, text: &str) {
    let How::Local(local) = &server.how else {
        panic!("{:?}\n{text}", server.how);
    };
    let args = made.args.iter().flatten().map(String::as_str);
    assert!(local.words().eq(std::iter::once(made.program.as_str()).chain(args)), "{local:?}\n{text}");
    let env: Vec<(String, String)> = local.env.iter().map(|(k, v)| (k.clone(), v.value.clone())).collect();
    assert_eq!(env, made.env, "\n{text}");
}

fn there_and_back(syntax: Syntax, shape: &Shape, text: &str, made: &[Made], mut dice: Dice) {
    let before = document(syntax, text);
    let listing = servers(&before, shape);
    assert_eq!(listing.left_out, Vec::<String>::new(), "{text}");
    assert_eq!(listing.servers.len(), made.len(), "{text}");
    let chosen: Vec<&Made> = made.iter().filter(|_| dice.throw(4) != 3).collect();
    let mut splices = Vec::new();
    let mut kept = BTreeMap::new();
    for entry in made {
        says(listing.find(&id(entry)).unwrap(), entry, text);
    }
    for entry in &chosen {
        let edit = gate(&before, shape, listing.find(&id(entry)).unwrap(), &the_gate(&entry.name)).unwrap();
        if let Undo::NeedsText(text) = edit.undo {
            kept.insert(entry.name.clone(), text);
        }
        splices.extend(edit.splices);
    }
    let after = before.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let ids: Vec<ServerId> = chosen.iter().map(|m| id(m)).collect();
    verify(&before, &after, shape, &ids, ValueCheck::Same)
        .unwrap_or_else(|e| panic!("{e}\n{text}\n{}", after.text));
    if kept.is_empty() {
        assert!(comes_back(&before, &after, shape, &ids), "{text}\n{}", after.text);
    }
    let listing = servers(&after, shape);
    for entry in made {
        let server = listing.find(&id(entry)).unwrap();
        says(server, entry, &after.text);
        assert_eq!(server.gated.is_some(), ids.contains(&id(entry)), "{}", after.text);
    }
    for entry in &chosen {
        let server = listing.find(&id(entry)).unwrap();
        assert_eq!(server.gated.as_ref().unwrap().server.as_ref(), Some(&entry.name));
        assert_eq!(
            gate(&after, shape, server, &the_gate(&entry.name)).unwrap().splices,
            [],
            "once is enough"
        );
    }
    // One by one, in another order.
    let mut now = after;
    let from = usize::from(dice.throw(4));
    for i in 0..made.len() {
        let entry = &made[made.len() - 1 - (i + from) % made.len()];
        let listing = servers(&now, shape);
        let server = listing.find(&id(entry)).unwrap();
        let original = kept.get(&entry.name).map(String::as_str);
        let splices = ungate(&now, shape, server, original).unwrap();
        assert_eq!(splices.is_empty(), server.gated.is_none());
        now = now.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{}", now.text));
    }
    assert_eq!(now.text, text);
}

/// Whatever the bytes are: an answer, never a panic; and what is gated is checked before anything is written.
fn total(syntax: Syntax, shape: &Shape, bytes: &[u8]) {
    let Ok(before) = Document::parse(syntax, bytes) else {
        return;
    };
    let listing = servers(&before, shape);
    for server in &listing.servers {
        if let Ok(edit) = gate(&before, shape, server, &the_gate("s")) {
            let after = before.spliced(&edit.splices).unwrap_or_else(|e| panic!("{e}\n{}", before.text));
            let ids = [server.id.clone()];
            let checked = verify(&before, &after, shape, &ids, ValueCheck::Same);
            assert_eq!(checked, Ok(()), "{}\n{}", before.text, after.text);
            let exact = comes_back(&before, &after, shape, &ids);
            let ours = server.gated.is_none() && edit.undo == Undo::FromFile;
            assert!(exact || !ours, "{:?}\n{:?}", before.text, after.text);
        }
        if server.gated.is_some()
            && let Ok(splices) = ungate(&before, shape, server, None)
        {
            let after = before.spliced(&splices).unwrap_or_else(|e| panic!("{e}\n{}", before.text));
            let checked = verify(&before, &after, shape, std::slice::from_ref(&server.id), ValueCheck::Same);
            assert_eq!(checked, Ok(()), "{}\n{}", before.text, after.text);
        }
    }
}

pub(super) fn mutated(text: &str, cuts: &[(u16, u8, u8)]) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b"",
        b"\"",
        b"'",
        b"\n",
        b"\r\n",
        b" ",
        b",",
        b"[",
        b"]",
        b"{",
        b"}",
        b"#",
        b":",
        b"-",
        b"\\",
        b"\t",
        b"&a ",
        b"*a",
        b"!",
        b"|",
        b"=",
        b".",
        b"//",
        b"/*",
        b"\xc3\xa9",
        b"\xff",
        b"? ",
        b"\r",
        b"\n---\n",
        b"\xef\xbb\xbf",
        b"''",
        b"\"\"\"",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for (at, len, piece) in cuts {
        let at = usize::from(*at) % (bytes.len() + 1);
        let end = (at + usize::from(*len % 4)).min(bytes.len());
        bytes.splice(at..end, PIECES[usize::from(*piece) % PIECES.len()].iter().copied());
    }
    bytes
}

pub(super) fn cuts() -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    prop::collection::vec(any::<(u16, u8, u8)>(), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn json_comes_back(made in entries(), mut dice in dice()) {
        let text = json(&made, &mut dice, false);
        there_and_back(Syntax::Json, &CLAUDE, &text, &made, dice);
    }

    #[test]
    fn json_with_comments_comes_back(made in entries(), mut dice in dice()) {
        let text = json(&made, &mut dice, true);
        there_and_back(Syntax::Jsonc, &CLAUDE, &text, &made, dice);
    }

    #[test]
    fn toml_comes_back(made in entries(), mut dice in dice()) {
        let text = toml(&made, &mut dice);
        there_and_back(Syntax::Toml, &CODEX, &text, &made, dice);
    }

    #[test]
    fn yaml_maps_come_back(made in entries(), mut dice in dice()) {
        let text = yaml(&made, &mut dice, false);
        there_and_back(Syntax::Yaml, &GOOSE, &text, &made, dice);
    }

    #[test]
    fn yaml_lists_come_back(made in entries(), mut dice in dice()) {
        let text = yaml(&made, &mut dice, true);
        there_and_back(Syntax::Yaml, &CONTINUE, &text, &made, dice);
    }

    #[test]
    fn damaged_files_never_panic(made in entries(), mut dice in dice(), cuts in cuts()) {
        total(Syntax::Json, &CLAUDE, &mutated(&json(&made, &mut dice.clone(), false), &cuts));
        total(Syntax::Jsonc, &CLAUDE, &mutated(&json(&made, &mut dice.clone(), true), &cuts));
        total(Syntax::Toml, &CODEX, &mutated(&toml(&made, &mut dice.clone()), &cuts));
        total(Syntax::Yaml, &GOOSE, &mutated(&yaml(&made, &mut dice.clone(), false), &cuts));
        total(Syntax::Yaml, &CONTINUE, &mutated(&yaml(&made, &mut dice, true), &cuts));
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,100}") {
        for syntax in [Syntax::Json, Syntax::Commented, Syntax::Jsonc, Syntax::Toml, Syntax::Yaml] {
            total(syntax, &CLAUDE, &bytes);
            total(syntax, &CLAUDE, text.as_bytes());
        }
    }
}
