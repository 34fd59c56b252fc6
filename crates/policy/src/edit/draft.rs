//! A text under change: members and items set, added and removed by splices; every other byte stays.
//!
//! The parser's own syntax tree can edit too, but tidies up around its edits (blank lines, one-line objects); a file
//! that people keep under version control deserves better. So: ranges from the parser, splices from us.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::layout::{self, Container, Style};
use crate::file::json_with_comments;

/// A value to be written.
#[derive(Clone, Debug)]
pub(super) enum New {
    Text(String),
    Number(u32),
    Object(Vec<(String, New)>),
    List(Vec<New>),
}

impl New {
    pub(super) fn text(text: &str) -> New {
        New::Text(text.to_owned())
    }
}

#[derive(Debug)]
pub(super) struct Draft {
    original: String,
    text: String,
    style: Style,
}

/// A change of one place: this range becomes this text.
pub(super) struct Splice {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Draft {
    pub(super) fn new(text: &str) -> Draft {
        Draft { original: text.to_owned(), text: text.to_owned(), style: Style::of(text) }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn text_changed(&self) -> bool {
        self.text != self.original
    }

    pub(super) fn is_empty_object(&self) -> bool {
        self.with_root(|_, root| matches!(root, Value::Object(o) if o.properties.is_empty())).unwrap_or(false)
    }

    /// Replaces the value at the path, or adds it with everything above it that is missing.
    pub(super) fn set(&mut self, path: &[&str], new: New) {
        let style = self.style.clone();
        let splices = self.with_root(|text, root| set(text, root, path, new, &style));
        self.splice(splices.unwrap_or_default());
    }

    /// Adds an item to the list at the path, which is made if it is missing.
    pub(super) fn append(&mut self, path: &[&str], item: New) {
        let style = self.style.clone();
        let splices = self.with_root(|text, root| match find(root, path) {
            Some(Value::Array(array)) => layout::insert(text, &items(array), None, &item, &style),
            Some(_) => Vec::new(),
            None => set(text, root, path, New::List(vec![item]), &style),
        });
        self.splice(splices.unwrap_or_default());
    }

    /// Removes the member or item at the path, with its comma.
    pub(super) fn remove(&mut self, path: &[&str]) {
        let splices = self.with_root(|text, root| {
            let (last, above) = path.split_last()?;
            Some(match find(root, above)? {
                Value::Object(object) => {
                    let position = object.properties.iter().position(|p| p.name.as_str() == *last)?;
                    layout::remove(text, &members(object), position)
                }
                Value::Array(array) => layout::remove(text, &items(array), last.parse().ok()?),
                _ => return None,
            })
        });
        self.splice(splices.flatten().unwrap_or_default());
    }

    /// Runs with the text after a byte order mark, and its tree.
    fn with_root<T>(&self, run: impl FnOnce(&str, &Value<'_>) -> T) -> Option<T> {
        let body = &self.text[self.mark()..];
        let parsed = parse_to_ast(body, &CollectOptions::default(), &json_with_comments()).ok()?;
        Some(run(body, parsed.value.as_ref()?))
    }

    fn mark(&self) -> usize {
        if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    fn splice(&mut self, mut splices: Vec<Splice>) {
        splices.sort_by_key(|s| (s.start, s.end));
        let mark = self.mark();
        for splice in splices.iter().rev() {
            self.text.replace_range(splice.start + mark..splice.end + mark, &splice.text);
        }
    }
}

fn set(text: &str, root: &Value<'_>, path: &[&str], new: New, style: &Style) -> Vec<Splice> {
    // As far down as the file goes; what is missing below is written in one piece.
    let (mut at, mut depth) = (root, 0);
    while let Some(next) = path.get(depth).and_then(|key| find(at, &[key])) {
        (at, depth) = (next, depth + 1);
    }
    let Some((key, below)) = path.get(depth..).and_then(<[&str]>::split_first) else {
        let value = layout::render(&new, style, &layout::indent_at(text, at.start()), false);
        return vec![Splice { start: at.start(), end: at.end(), text: value }];
    };
    let Value::Object(object) = at else { return Vec::new() };
    let value = below.iter().rev().fold(new, |value, key| New::Object(vec![((*key).to_owned(), value)]));
    layout::insert(text, &members(object), Some(key), &value, style)
}

fn find<'v, 't>(root: &'v Value<'t>, path: &[&str]) -> Option<&'v Value<'t>> {
    path.iter().try_fold(root, |at, step| match at {
        Value::Object(object) => {
            object.properties.iter().find(|p| p.name.as_str() == *step).map(|p| &p.value)
        }
        Value::Array(array) => array.elements.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn members(object: &Object<'_>) -> Container {
    let entries = object.properties.iter().map(|p| (p.start(), p.end())).collect();
    Container { open: object.start(), close: object.end() - 1, entries }
}

fn items(array: &Array<'_>) -> Container {
    let entries = array.elements.iter().map(|e| (e.start(), e.end())).collect();
    Container { open: array.start(), close: array.end() - 1, entries }
}
