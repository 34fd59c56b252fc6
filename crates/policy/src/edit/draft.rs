//! A text under change: members and items set, added and removed by splices; every other byte stays.
//!
//! The parser's own syntax tree can edit too, but tidies up around its edits (blank lines, one-line objects); a file
//! that people keep under version control deserves better. So: ranges from the parser, splices from us.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::comments::{self, Attached};
use super::layout::{self, Container, Style};
use super::source::{Fresh, Source};
use crate::file::json_with_comments;

/// A value to be written.
#[derive(Clone, Debug)]
pub(super) enum New {
    Text(String),
    Number(u32),
    Flag(bool),
    Object(Vec<(String, New)>),
    List(Vec<New>),
    /// As it is written in another text.
    Source(Source),
}

impl New {
    pub(super) fn is_plain(&self) -> bool {
        match self {
            New::Text(_) | New::Number(_) | New::Flag(_) => true,
            New::Source(source) => source.is_plain(),
            New::Object(_) | New::List(_) => false,
        }
    }

    pub(super) fn text(text: &str) -> New {
        New::Text(text.to_owned())
    }
}

#[derive(Clone, Debug)]
pub(super) struct Draft {
    original: String,
    text: String,
    style: Style,
}

/// A change of one place: this range becomes this text.
#[derive(Debug)]
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

    /// Changes many places at once. None of them may overlap another.
    pub(super) fn edit(&mut self, run: impl FnOnce(&str, &Value<'_>, &Style) -> Vec<Splice>) {
        let style = self.style.clone();
        let splices = self.with_root(|text, root| run(text, root, &style));
        self.splice(splices.unwrap_or_default());
    }

    /// Replaces the value at the path, or adds it with everything above it that is missing.
    pub(super) fn set(&mut self, path: &[&str], new: New) {
        self.edit(|text, root, style| set(text, root, path, new, style));
    }

    /// Adds the value where there is none yet.
    pub(super) fn add_missing(&mut self, path: &[&str], new: New) {
        self.edit(|text, root, style| match find(root, path) {
            Some(_) => Vec::new(),
            None => set(text, root, path, new, style),
        });
    }

    /// Adds an item to the list at the path, which is made if it is missing.
    pub(super) fn append(&mut self, path: &[&str], item: New) {
        self.edit(|text, root, style| match find(root, path) {
            Some(Value::Array(array)) => {
                let into = items(array);
                layout::insert(text, &into, into.entries.len(), &[Fresh::new(None, item)], style)
            }
            Some(_) => Vec::new(),
            None => set(text, root, path, New::List(vec![item]), style),
        });
    }

    /// Adds entries to the object or list at the path, before the one that is at this position now.
    pub(super) fn insert(&mut self, path: &[&str], at: usize, fresh: &[Fresh]) {
        self.edit(|text, root, style| match find(root, path).and_then(container) {
            Some(into) => layout::insert(text, &into, at, fresh, style),
            None => Vec::new(),
        });
    }

    /// Replaces the value at the path; the comments in it that are to be kept move before it.
    pub(super) fn replace(&mut self, path: &[&str], new: &New, kept: &dyn Fn(&str) -> bool) {
        self.edit(|text, root, style| {
            let found = path.split_last().and_then(|(last, above)| entry_at(find(root, above)?, last));
            match found.zip(find(root, path)) {
                Some(((_, _, start), value)) => replace(text, start, value, new, style, kept),
                None => Vec::new(),
            }
        });
    }

    /// Removes the member or item at the path, with its comma.
    pub(super) fn remove(&mut self, path: &[&str]) {
        self.edit(|text, root, _| {
            let found = path.split_last().and_then(|(last, above)| entry_at(find(root, above)?, last));
            found.map_or_else(Vec::new, |(from, position, _)| layout::remove(text, &from, position))
        });
    }

    /// Removes the object or list at the path if there is nothing in it, not even a comment.
    pub(super) fn remove_empty(&mut self, path: &[&str]) {
        let empty = self.with_root(|text, root| {
            let into = find(root, path).and_then(container);
            into.is_some_and(|into| text[into.open + 1..into.close].trim().is_empty())
        });
        if empty == Some(true) {
            self.remove(path);
        }
    }

    /// Removes those comments of an entry that are named.
    pub(super) fn remove_comments(&mut self, path: &[&str], gone: &dyn Fn(&str) -> bool) {
        self.edit(|text, root, _| {
            let found = path.split_last().and_then(|(last, above)| entry_at(find(root, above)?, last));
            let Some((container, position, _)) = found else { return Vec::new() };
            let Attached { lead, trail } = Attached::to(text, &container, position);
            let gone = lead.into_iter().chain(trail).filter(|range| gone(text[range.clone()].trim_end()));
            gone.map(|range| layout::remove_comment(text, range)).collect()
        });
    }

    /// Runs with the text after a byte order mark, and its tree.
    pub(super) fn with_root<T>(&self, run: impl FnOnce(&str, &Value<'_>) -> T) -> Option<T> {
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
        let (mut out, mut done) = (String::with_capacity(self.text.len()), 0);
        for splice in &splices {
            let (start, end) = (splice.start + mark, splice.end + mark);
            if start >= done {
                out.push_str(&self.text[done..start]);
                out.push_str(&splice.text);
                done = end;
            }
        }
        out.push_str(&self.text[done..]);
        self.text = out;
    }
}

/// A new value in place of an old one, whose entry starts here; comments of the old one that are kept move before it.
pub(super) fn replace(
    text: &str,
    start: usize,
    old: &Value<'_>,
    new: &New,
    style: &Style,
    kept: &dyn Fn(&str) -> bool,
) -> Vec<Splice> {
    let indent = layout::indent_at(text, start);
    let starts_line = text[..start].trim_end_matches([' ', '\t']).ends_with('\n');
    let mut splices = Vec::new();
    let mut moved = String::new();
    for comment in comments::texts(&text[old.start()..old.end()]).into_iter().filter(|c| kept(c)) {
        moved.push_str(comment);
        if comments::is_line_comment(comment) || starts_line {
            moved.push_str(style.newline());
            moved.push_str(&indent);
        } else {
            moved.push(' ');
        }
    }
    if !moved.is_empty() {
        splices.push(Splice { start, end: start, text: moved });
    }
    let value = layout::render(new, style, &indent, !starts_line);
    splices.push(Splice { start: old.start(), end: old.end(), text: value });
    splices
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
    let into = members(object);
    layout::insert(text, &into, into.entries.len(), &[Fresh::new(Some(key), value)], style)
}

pub(super) fn find<'v, 't>(root: &'v Value<'t>, path: &[&str]) -> Option<&'v Value<'t>> {
    path.iter().try_fold(root, |at, step| match at {
        Value::Object(object) => {
            object.properties.iter().find(|p| p.name.as_str() == *step).map(|p| &p.value)
        }
        Value::Array(array) => array.elements.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Where an entry stands in its container, and where it starts.
fn entry_at(value: &Value<'_>, key: &str) -> Option<(Container, usize, usize)> {
    let position = match value {
        Value::Object(object) => object.properties.iter().position(|p| p.name.as_str() == key)?,
        Value::Array(_) => key.parse().ok()?,
        _ => return None,
    };
    let container = container(value)?;
    let (start, _) = *container.entries.get(position)?;
    Some((container, position, start))
}

fn container(value: &Value<'_>) -> Option<Container> {
    match value {
        Value::Object(object) => Some(members(object)),
        Value::Array(array) => Some(items(array)),
        _ => None,
    }
}

pub(super) fn members(object: &Object<'_>) -> Container {
    let entries = object.properties.iter().map(|p| (p.start(), p.end())).collect();
    Container { open: object.start(), close: object.end() - 1, entries }
}

pub(super) fn items(array: &Array<'_>) -> Container {
    let entries = array.elements.iter().map(|e| (e.start(), e.end())).collect();
    Container { open: array.start(), close: array.end() - 1, entries }
}
