//! Names that stand for too much: a search for a type, or for a function, is to find that one, and not a dozen of its name.

use std::collections::BTreeMap;
use std::fs;

use crate::project;
use crate::shell::command;

/// So many types of the product may share a name: one that says all in its own module (`Reader`, `Edit`), and a few more.
const TYPES: usize = 4;
/// Those that had more when the others were renamed. No more of them, and no others.
const MORE_TYPES: &[(&str, usize)] = &[("Kind", 5), ("List", 5), ("Step", 5)];
/// What says nothing without its type, and so is found by nobody: `from_…`, `for_…` or `parse` say more than `of`.
const FUNCTIONS: &[(&str, usize)] = &[("of", 72)];

/// The files of the product, those of its tests left out.
fn sources() -> Vec<String> {
    let mut list = command("git", &["ls-files", "crates/*.rs", "src-tauri/*.rs"]);
    let listed = list.output().expect("git can be asked");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("our names are UTF-8");
    let is_test = |name: &str| {
        let stem = name.trim_end_matches(".rs");
        ["/tests/", "_tests/", "/examples/", "/testing"].iter().any(|part| name.contains(part))
            || stem.ends_with("tests")
    };
    // One that is deleted and not committed yet is still listed.
    let read = |name: &str| fs::read_to_string(project::root().join(name)).ok();
    let files: Vec<String> = listed.lines().filter(|name| !is_test(name)).filter_map(read).collect();
    assert!(files.len() > 300, "{} files", files.len());
    files
}

/// The word behind one of these, in a line that may begin with who sees it.
fn defined<'l>(line: &'l str, words: &[&str]) -> Option<&'l str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let rest = words.iter().find_map(|word| rest.strip_prefix(word)?.strip_prefix(' '))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

fn counted<'l>(names: impl Iterator<Item = &'l str>) -> BTreeMap<&'l str, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

#[test]
fn a_name_stands_for_few_types() {
    let files = sources();
    // Types of one module or of all; associated ones are set in.
    let words = ["struct", "enum", "trait", "type"];
    let counts = counted(files.iter().flat_map(|text| text.lines()).filter_map(|line| defined(line, &words)));
    assert!(counts.len() > 1_000, "{} types", counts.len());
    let most =
        |name: &str| MORE_TYPES.iter().find(|(other, _)| *other == name).map_or(TYPES, |(_, most)| *most);
    let many: Vec<_> = counts.into_iter().filter(|(name, count)| *count > most(name)).collect();
    assert_eq!(many, [], "name the new one by what it is: its own noun finds it, and only it");
}

#[test]
fn functions_are_not_named_by_a_preposition() {
    let files = sources();
    let lines = files.iter().flat_map(|text| text.lines()).map(str::trim_start);
    let counts = counted(lines.filter_map(|line| defined(line, &["fn", "const fn"])));
    for (name, most) in FUNCTIONS {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!(count > 0 && count <= *most, "{count} functions are called {name}, and {most} were");
    }
}

#[test]
fn definitions_are_recognised() {
    for (line, name) in [
        ("pub struct Place<'a> {", Some("Place")),
        ("pub(in crate::commands) enum Step {", Some("Step")),
        ("type Said = u8;", Some("Said")),
        ("    type Entry = Glob;", None),
        ("published struct", None),
        ("let type_of = 1;", None),
    ] {
        assert_eq!(defined(line, &["struct", "enum", "trait", "type"]), name, "{line}");
    }
}
