//! `cargo xtask lines`: how many lines each part has, of the product, of tests, comments and blanks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::project;
use crate::shell::command;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    product: usize,
    test: usize,
    comment: usize,
    blank: usize,
}

impl Lines {
    fn add(&mut self, other: Lines) {
        self.product += other.product;
        self.test += other.test;
        self.comment += other.comment;
        self.blank += other.blank;
    }

    fn row(self, part: &str) -> String {
        let Lines { product, test, comment, blank } = self;
        let total = product + test + comment + blank;
        format!("| {part:<20} | {product:>7} | {test:>6} | {comment:>7} | {blank:>6} | {total:>7} |")
    }
}

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask lines` takes no words");
    let listed = command("git", &["ls-files", "*.rs", "*.ts", "*.svelte", "*.css", "*.mjs"]).output();
    let listed = String::from_utf8(listed.context("cannot ask git for the files")?.stdout)?;
    let mut parts: BTreeMap<String, Lines> = BTreeMap::new();
    let mut rust = Lines::default();
    for path in listed.lines() {
        let Ok(text) = fs::read_to_string(project::root().join(path)) else { continue };
        let counted = count(path, &text);
        parts.entry(part(path)).or_default().add(counted);
        if path.ends_with(".rs") {
            rust.add(counted);
        }
    }
    let mut rows: Vec<_> = parts.into_iter().collect();
    rows.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.product + lines.test));
    let mut all = Lines::default();
    println!(
        "| part                 | product |   test | comment |  blank |   total |\n|---|---:|---:|---:|---:|---:|"
    );
    for (part, lines) in rows {
        println!("{}", lines.row(&part));
        all.add(lines);
    }
    println!("{}\n{}", rust.row("all Rust"), all.row("all"));
    Ok(true)
}

/// A crate, or a folder at the top.
fn part(path: &str) -> String {
    let mut folders = path.split('/');
    match (folders.next(), folders.next()) {
        (Some("crates"), Some(name)) => name.to_owned(),
        (Some(first), Some(_)) => first.to_owned(),
        _ => "top".to_owned(),
    }
}

fn count(path: &str, text: &str) -> Lines {
    let mut lines = Lines::default();
    let mut test = is_test(path);
    let mut within = None;
    for line in text.lines().map(str::trim) {
        // The module of a file's own tests is its last; one in another file is that file's business.
        if line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test") {
            within = Some(());
        } else if within.take().is_some() {
            test |= line.starts_with("mod ") && line.ends_with('{')
                || line.starts_with("pub(crate) mod ") && line.ends_with('{');
            within = line.starts_with('#').then_some(());
        }
        let kind = if line.is_empty() {
            &mut lines.blank
        } else if is_comment(path, line) {
            &mut lines.comment
        } else if test {
            &mut lines.test
        } else {
            &mut lines.product
        };
        *kind += 1;
    }
    lines
}

/// Files that are there for tests alone.
fn is_test(path: &str) -> bool {
    let file = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let in_folder = |name: &str| path.starts_with(&format!("{name}/")) || path.contains(&format!("/{name}/"));
    in_folder("tests")
        || in_folder("e2e")
        || file == "tests.rs"
        || [".test.ts", "_tests.rs", ".test.mjs"].iter().any(|end| file.ends_with(end))
}

fn is_comment(path: &str, line: &str) -> bool {
    let page = !path.ends_with(".rs");
    line.starts_with("//") || page && ["/*", "*/", "* ", "<!--"].iter().any(|begin| line.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_of_one_kind_and_tests_are_known_by_their_place() {
        let text = "//! What.\n\nuse x;\n#[cfg(test)]\n#[path = \"a\"]\nmod other;\nfn a() {}\n#[cfg(test)]\nmod tests {\n// b\nfn t() {}\n}\n";
        assert_eq!(count("crates/a/src/a.rs", text), Lines { product: 6, test: 3, comment: 2, blank: 1 });
        assert_eq!(count("crates/a/src/a_tests.rs", "fn a() {}\n").test, 1);
        assert_eq!(count("ui/e2e/a.mjs", "a()\n/* b\n").test, 1);
        assert_eq!((part("crates/shim/src/a.rs"), part("ui/src/a.ts")), ("shim".to_owned(), "ui".to_owned()));
    }
}
