//! Comparisons: where the arguments of a call that waits are others than those of the call that was approved last.

use std::collections::BTreeMap;

use callgate_protocol::json::{Kind, Raw};
use callgate_text::count;

use crate::view::ComparisonView;

/// Places that are told one by one; with more, everything is different.
const MOST: usize = 100;
/// Deeper than this it is compared as text.
const DEEPEST: usize = 32;

/// Nothing to hold it against.
pub(super) fn none(why: &str) -> ComparisonView {
    ComparisonView { words: why.to_owned(), call: None, changed: Vec::new(), gone: Vec::new() }
}

pub(super) const FIRST: &str = "No call of this tool was approved before, so there is none to compare with.";
pub(super) const LOST: &str =
    "The arguments that were approved last are not on record, so there is nothing to compare with.";
const UNREADABLE: &str = "These arguments, or those that were approved last, are too long to be compared.";

/// Both as they are kept: masked values are the same here whatever they were.
pub(super) fn view(
    call: String,
    approved: Option<&str>,
    asked: Option<&str>,
    masked: bool,
) -> ComparisonView {
    let (Ok(before), Ok(after)) = (Raw::parse(approved.unwrap_or("{}")), Raw::parse(asked.unwrap_or("{}")))
    else {
        return none(UNREADABLE);
    };
    let mut places = Places::default();
    places.compare(before, after, &mut String::new(), 0);
    if places.changed.len() + places.gone.len() > MOST {
        places = Places { changed: vec![String::new()], gone: Vec::new() };
    }
    let Places { changed, gone } = places;
    let all = (changed.len() + gone.len()) as u64;
    let mut words = match (all, changed.first().map(String::as_str)) {
        (0, _) => "The same as in the call that was approved last.".to_owned(),
        (1, Some("")) => "Nothing is as in the call that was approved last.".to_owned(),
        _ => format!("Other than in the call that was approved last in {}.", count(all, "place")),
    };
    if masked {
        words.push_str(" What is masked was not compared.");
    }
    ComparisonView { words, call: Some(call), changed, gone }
}

/// JSON pointers.
#[derive(Debug, Default)]
struct Places {
    /// In the call that waits: another value, or a new one.
    changed: Vec<String>,
    /// In the approved call, and not in this one.
    gone: Vec<String>,
}

impl Places {
    fn compare(&mut self, before: Raw<'_>, after: Raw<'_>, at: &mut String, depth: usize) {
        if before.text() == after.text() || self.changed.len() + self.gone.len() > MOST {
            return;
        }
        let deeper = depth < DEEPEST;
        match (before.kind(), after.kind()) {
            (Kind::Object, Kind::Object) if deeper => {
                let mut left: BTreeMap<String, Raw<'_>> =
                    before.members().map(|(name, value)| (name.into_owned(), value)).collect();
                for (name, value) in after.members() {
                    let known = left.remove(name.as_ref());
                    self.step(known, Some(value), (at, &name), depth);
                }
                for (name, value) in left {
                    self.step(Some(value), None, (at, &name), depth);
                }
            }
            (Kind::Array, Kind::Array) if deeper => {
                let (mut old, mut new) = (before.items(), after.items());
                for index in 0.. {
                    match (old.next(), new.next()) {
                        (None, None) => break,
                        (known, value) => self.step(known, value, (at, &index.to_string()), depth),
                    }
                }
            }
            (Kind::String, Kind::String)
                if before.as_str().is_some() && before.as_str() == after.as_str() => {}
            _ => self.changed.push(at.clone()),
        }
    }

    /// One member or item further down.
    fn step(
        &mut self,
        before: Option<Raw<'_>>,
        after: Option<Raw<'_>>,
        (at, name): (&mut String, &str),
        depth: usize,
    ) {
        let length = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        match (before, after) {
            (Some(before), Some(after)) => self.compare(before, after, at, depth + 1),
            (None, Some(_)) => self.changed.push(at.clone()),
            (Some(_), None) => self.gone.push(at.clone()),
            (None, None) => {}
        }
        at.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_that_is_another_is_named_and_nothing_else() {
        let cases: &[(&str, &str, &[&str], &[&str])] = &[
            (r#"{"a":1}"#, r#"{ "a": 1 }"#, &[], &[]),
            (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &[], &[]),
            (r#"{"a":"\u0061"}"#, r#"{"a":"a"}"#, &[], &[]),
            (r#"{"a":1,"b":{"c":1}}"#, r#"{"a":1,"b":{"c":2}}"#, &["/b/c"], &[]),
            (r#"{"a":1}"#, r#"{"a":1,"force":true}"#, &["/force"], &[]),
            (r#"{"a":1,"dry_run":true}"#, r#"{"a":1}"#, &[], &["/dry_run"]),
            (r#"{"l":[1,2,3]}"#, r#"{"l":[1,5]}"#, &["/l/1"], &["/l/2"]),
            (r#"{"a":{"b":1}}"#, r#"{"a":[1]}"#, &["/a"], &[]),
            (r#"{"a/b":1,"c~":1}"#, r#"{"a/b":2,"c~":2}"#, &["/a~1b", "/c~0"], &[]),
            // Digits are not numbers: what a float cannot tell apart is told apart.
            (r#"{"n":12345678901234567890123}"#, r#"{"n":12345678901234567890124}"#, &["/n"], &[]),
        ];
        for (before, after, changed, gone) in cases {
            let found = view("aaaaaa-1".to_owned(), Some(before), Some(after), false);
            assert_eq!((found.changed, found.gone), (owned(changed), owned(gone)), "{before} {after}");
        }
    }

    fn owned(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn what_is_different_everywhere_deep_or_unreadable_is_still_said() {
        let many = |value: u32| {
            let members: Vec<String> = (0..500).map(|n| format!(r#""k{n}":{value}"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        let found = view("aaaaaa-1".to_owned(), Some(&many(1)), Some(&many(2)), false);
        assert_eq!(found.changed, [""]);
        assert!(found.words.contains("Nothing is as in"), "{}", found.words);
        let deep = |value: &str| format!("{}{value}{}", "[".repeat(3_000), "]".repeat(3_000));
        let found = view("aaaaaa-1".to_owned(), Some(&deep("1")), Some(&deep("2")), false);
        assert_eq!(found.changed.len(), 1);
        let found = view("aaaaaa-1".to_owned(), Some("{\"a\":\"cut of"), Some("{}"), false);
        assert_eq!((found.call, found.words.as_str()), (None, UNREADABLE));
        let found = view("aaaaaa-1".to_owned(), None, Some(r#"{"p":"[masked, 3 characters]"}"#), true);
        assert!(found.words.ends_with("in 1 place. What is masked was not compared."), "{}", found.words);
    }
}
