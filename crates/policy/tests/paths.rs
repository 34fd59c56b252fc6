//! No spelling of a path that leads out of a folder passes `inside`, and none that leads in passes `not_inside`.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::{Call, Circumstances, Files, Judgement, Policy};
use callgate_protocol::json::Raw;
use common::disk::FakeDisk;
use proptest::prelude::*;
use std::path::Path;

const POLICY: &str = r#"{ "version": "1", "default": "deny", "tools": {
  "in": { "require": [ { "path": "args.p", "op": "inside", "value": "/w/in" } ] },
  "out": { "require": [ { "path": "args.p", "op": "not_inside", "value": "/w/in" } ] },
  "any": { "require": [ { "args": "paths", "op": "inside", "value": "/w/in" } ] },
  "found": { "require": [ { "args": "paths", "op": "exists" } ] } } }"#;

fn disk(links: &[(String, String)]) -> FakeDisk {
    let mut disk =
        FakeDisk { here: Some("/w/in".to_owned()), home: Some("/w".to_owned()), ..FakeDisk::default() };
    disk.links.extend(links.iter().cloned());
    disk
}

fn passes(policy: &Policy, disk: &FakeDisk, tool: &str, path: &str) -> bool {
    let args = format!("{{\"p\":{}}}", serde_json::to_string(path).unwrap());
    let call = Call::tool("c", tool, Some(Raw::parse(&args).unwrap()));
    let circumstances = Circumstances { files: disk, ..Circumstances::timeless() };
    matches!(policy.judge(&call, &circumstances), Judgement::Pass(_))
}

/// Every place that a careless server may open for this text, by the simplest models of such servers.
fn opened(disk: &FakeDisk, text: &str) -> Vec<String> {
    let mut texts = vec![text.to_owned()];
    if let Some(rest) = text.strip_prefix("file://") {
        // A URL: decoded, with and without its query.
        texts = vec![decoded(rest), decoded(rest.split(['?', '#']).next().unwrap())];
        // Or a path like any other, of which only the way up exists.
        if text.split('/').any(|step| step == "..") {
            texts.push(text.to_owned());
        }
    } else {
        texts.push(decoded(text));
        texts.push(decoded(&decoded(text)));
    }
    let slashed: Vec<String> = texts.iter().map(|text| text.replace('\\', "/")).collect();
    texts.extend(slashed);
    let mut places = Vec::new();
    for text in texts {
        let mut absolute = vec![if text.starts_with('/') { text.clone() } else { format!("/w/in/{text}") }];
        absolute.extend(text.strip_prefix("~/").map(|rest| format!("/w/{rest}")));
        // As the kernel walks, and as a server that tidies the text up first.
        for path in absolute.into_iter().flat_map(|path| [tidied(&path), path]) {
            if let Ok(real) = disk.real(Path::new(&path)) {
                places.push(tidied(real.to_str().unwrap()));
            }
        }
    }
    places
}

fn decoded(text: &str) -> String {
    let known = [("%2e", "."), ("%2f", "/"), ("%5c", "\\"), ("%u002e", "."), ("%c0%ae", "."), ("%25", "%")];
    let undone = |text: String, (escape, plain): (&str, &str)| {
        text.replace(escape, plain).replace(&escape.to_uppercase().replace("%U", "%u"), plain)
    };
    known.into_iter().fold(text.to_owned(), undone)
}

fn tidied(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

fn is_in(place: &str) -> bool {
    place == "/w/in" || place.starts_with("/w/in/")
}

fn path() -> impl Strategy<Value = String> {
    let step = prop::sample::select(vec![
        "w",
        "in",
        "in2",
        "a",
        "b",
        "link",
        "..",
        "..",
        ".",
        "",
        "%2e%2e",
        "%252e%252e",
        "..%2f..",
        "c?d",
        "..\\..",
        "a\\b",
        "%2f",
        "%2E%2e",
        "..%5C..",
        "%5c%252E%2e%5C",
        "%u002E%u002e",
        "%c0%ae%C0%AE",
    ]);
    let start = prop::sample::select(vec![
        "/",
        "",
        "~/",
        "/w/in/",
        "/w/",
        "file:///",
        "file:///w/in/",
        "//",
        "/w/in/../",
    ]);
    (start, prop::collection::vec(step, 0..6))
        .prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

/// A text in which each character may be hidden behind some layers of percent signs.
fn encoded(text: &str, layers: &[u8]) -> String {
    let mut out = String::new();
    for (at, byte) in text.bytes().enumerate() {
        match layers[at % layers.len()] {
            0 => out.push(char::from(byte)),
            deep => {
                let more = "25".repeat(usize::from(deep) - 1);
                out += &if at % 2 == 0 { format!("%{more}{byte:02x}") } else { format!("%{more}{byte:02X}") };
            }
        }
    }
    out
}

fn links() -> impl Strategy<Value = Vec<(String, String)>> {
    let from = prop::sample::select(vec!["/w/in/link", "/w/in/a", "/w/link", "/w/b", "/w/in/b/link", "/a"]);
    let to = prop::sample::select(vec![
        "/w/in",
        "/w",
        "/etc",
        "..",
        "../..",
        "a",
        "/w/in/b",
        "/w/in/missing/x",
        "link",
    ]);
    prop::collection::vec((from.prop_map(str::to_owned), to.prop_map(str::to_owned)), 0..4)
}

#[test]
fn a_path_behind_many_blanks_is_judged_all_the_same() {
    let (policy, disk) = (Policy::parse(POLICY).unwrap(), disk(&[]));
    let padded = format!("{}/etc/passwd", " ".repeat(1 << 16));
    assert!(!passes(&policy, &disk, "any", &padded));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_leads_where_it_may_for_every_reader(links in links(), path in path()) {
        let (policy, disk) = (Policy::parse(POLICY).unwrap(), disk(&links));
        let places = opened(&disk, &path);
        if passes(&policy, &disk, "in", &path) {
            prop_assert!(places.iter().all(|place| is_in(place)), "{path} with {links:?} leads to {places:?}");
        }
        if passes(&policy, &disk, "out", &path) {
            prop_assert!(!places.iter().any(|place| is_in(place)), "{path} with {links:?} leads to {places:?}");
        }
    }

    #[test]
    fn no_spelling_leads_out_under_a_name_that_nobody_knows(path in path()) {
        let (policy, disk) = (Policy::parse(POLICY).unwrap(), disk(&[]));
        let places = opened(&disk, &path);
        if passes(&policy, &disk, "any", &path) {
            prop_assert!(places.iter().all(|place| is_in(place)), "{path} leads to {places:?}");
        }
    }

    #[test]
    fn what_looks_like_a_path_does_so_in_every_encoding(
        plain in prop::sample::select(vec![
            "/etc/passwd", "../x", "a/../../b", "a\\..\\b", "..", "~/.ssh/id", "$HOME/x", "C:\\x", "C:..\\x", "\\\\host\\x",
            "\\Windows\\System32", "./x", "file:///etc/passwd", "view-source:file:///x",
        ]),
        layers in prop::collection::vec(0u8..6, 1..9),
    ) {
        let (policy, disk) = (Policy::parse(POLICY).unwrap(), disk(&[]));
        let text = encoded(plain, &layers);
        prop_assert!(passes(&policy, &disk, "found", &text), "{text}");
    }

    #[test]
    fn a_plain_path_is_inside_or_not(steps in prop::collection::vec(prop::sample::select(vec!["w", "in", "a", "in2"]), 0..5)) {
        let (policy, disk) = (Policy::parse(POLICY).unwrap(), disk(&[]));
        let path = format!("/{}", steps.join("/"));
        prop_assert_eq!(passes(&policy, &disk, "in", &path), is_in(&path));
        prop_assert_eq!(passes(&policy, &disk, "out", &path), !is_in(&path));
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,40}", windows in any::<bool>()) {
        let policy = Policy::parse(POLICY).unwrap();
        let mut disk = disk(&[]);
        if windows {
            disk.set("disk", "windows");
            disk.here = Some("C:\\w".to_owned());
        }
        prop_assert!(!(passes(&policy, &disk, "in", &text) && passes(&policy, &disk, "out", &text)));
    }
}
