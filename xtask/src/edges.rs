//! Which crate depends on which: ARCHITECTURE.md has the whole list, and this holds it against the manifests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::project;
use crate::shell::cargo;

const BEGIN: &str = "<!-- edges: made by `CALLGATE_BLESS=1 cargo test -p xtask edges` -->\n```text\n";
const END: &str = "```\n<!-- end of edges -->\n";

/// A line for each crate, those first that depend on none: `policy → codegen, protocol`. Dependencies of tests do not count.
fn edges() -> String {
    let mut metadata = cargo(&["metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]);
    let told = metadata.output().expect("cargo can be asked");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).expect("cargo tells JSON");
    let packages = told["packages"].as_array().expect("there are packages");
    // By the folder that a crate is in, which is its name in the document.
    let folder = |manifest: &str| {
        let folder =
            Path::new(manifest).parent().and_then(|folder| folder.strip_prefix(project::root()).ok());
        let folder = folder.expect("it lies in the project").display().to_string();
        folder.strip_prefix("crates/").map(str::to_owned).unwrap_or(folder)
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names: BTreeMap<String, String> =
        packages.iter().map(|one| (text(&one["name"]), folder(&text(&one["manifest_path"])))).collect();
    let mut left: BTreeMap<&String, Vec<String>> = packages
        .iter()
        .map(|one| {
            let all = one["dependencies"].as_array().expect("each has a list").iter();
            let ours =
                all.filter(|on| on["kind"].is_null()).filter_map(|on| names.get(&text(&on["name"])).cloned());
            let mut ours: Vec<String> = ours.collect();
            ours.sort_unstable();
            ours.dedup();
            (&names[&text(&one["name"])], ours)
        })
        .collect();
    let mut lines = String::new();
    while !left.is_empty() {
        let next: Vec<_> = left
            .iter()
            .filter(|(_, on)| !on.iter().any(|one| left.contains_key(one)))
            .map(|(name, _)| *name)
            .collect();
        assert!(!next.is_empty(), "they go round in a circle: {left:?}");
        for name in next {
            let on = left.remove(name).unwrap_or_default();
            let arrow = if on.is_empty() { "" } else { " → " };
            lines.push_str(&format!("{name}{arrow}{}\n", on.join(", ")));
        }
    }
    lines
}

#[test]
fn the_edges_in_architecture_md_are_those_of_the_manifests() {
    let path = project::root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("it can be read");
    let (before, rest) = text.split_once(BEGIN).expect("the list has a beginning");
    let (written, after) = rest.split_once(END).expect("the list has an end");
    let edges = edges();
    if std::env::var_os("CALLGATE_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{edges}{END}{after}")).expect("it can be written");
    } else {
        assert_eq!(written, edges, "CALLGATE_BLESS=1 cargo test -p xtask edges");
    }
}
