//! A policy, or a part of one, written into another: everything that it says, and nothing else touched.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use rustc_hash::{FxHashMap, FxHashSet};

use super::difference::difference;
use super::draft::{self, Draft, New, Splice};
use super::layout::{self, Style};
use super::shape::{Part, canonical, index, same};
use super::source::{Fresh, Origin};
use super::{EditError, Edited};
use crate::file::{PolicyFile, json_with_comments};
use crate::policy::Policy;

/// Writes what `pasted` says into `current`. Members that both have are merged where that has one meaning: rules member
/// by member, limits by their counters, lists united; everything else is set.
pub fn merge(current: &str, pasted: &str) -> Result<Edited, EditError> {
    let mut draft = Draft::new(current);
    if !draft.is_empty_object() {
        Policy::parse(current).map_err(EditError::Broken)?;
    }
    check_fragment(pasted)?;
    let pasted = pasted.strip_prefix('\u{feff}').unwrap_or(pasted);
    let parsed = parse_to_ast(pasted, &CollectOptions::default(), &json_with_comments());
    if let Ok(parsed) = parsed
        && let Some(Value::Object(addition)) = &parsed.value
    {
        let origin = Origin::of(pasted);
        draft.edit(|text, root, style| {
            let mut merge = Merge { text, style, origin: &origin, splices: Vec::new() };
            if let Value::Object(root) = root {
                merge.object(Part::Body, root, addition);
            }
            merge.splices
        });
    }
    Policy::parse(draft.text()).map_err(EditError::Outcome)?;
    Ok(edited(current, draft.into_text()))
}

/// The new text as it is.
pub fn replace(current: &str, new: &str) -> Result<Edited, EditError> {
    Policy::parse(new).map_err(EditError::Pasted)?;
    Ok(edited(current, new.to_owned()))
}

pub(super) fn edited(current: &str, text: String) -> Edited {
    Edited { summary: difference(current, &text), changed: text != current, text }
}

/// A part of a policy is right if it is a policy together with what every policy has to say. What is missing is written
/// behind everything else, so that the places of errors stay true.
fn check_fragment(pasted: &str) -> Result<(), EditError> {
    let mut whole = Draft::new(pasted);
    whole.add_missing(&["version"], New::text("1"));
    whole.add_missing(&["default"], New::text("deny"));
    PolicyFile::parse(whole.text()).map_err(EditError::Pasted)?;
    Ok(())
}

struct Merge<'m> {
    text: &'m str,
    style: &'m Style,
    origin: &'m Origin<'m>,
    splices: Vec<Splice>,
}

impl Merge<'_> {
    fn object(&mut self, part: Part, current: &Object<'_>, addition: &Object<'_>) {
        let here = index(current);
        let mut fresh = Vec::new();
        for (i, property) in addition.properties.iter().enumerate() {
            let key = property.name.as_str();
            match here.get(key) {
                Some((_, old)) => self.value(part.member(key), old.start(), &old.value, &property.value),
                None => fresh.extend(Fresh::member(self.origin, addition, i, &|_| true)),
            }
        }
        let into = draft::members(current);
        self.splices.extend(layout::insert(self.text, &into, into.entries.len(), &fresh, self.style));
    }

    /// `start`: of the entry that holds the value.
    fn value(&mut self, part: Part, start: usize, current: &Value<'_>, addition: &Value<'_>) {
        match (current, addition) {
            (Value::Object(current), Value::Object(addition)) if part.is_object() => {
                self.object(part, current, addition);
            }
            (Value::Array(current), Value::Array(addition)) if part.is_list() => {
                self.list(part, current, addition);
            }
            _ if same(current, addition) => {}
            _ => {
                let new = New::Source(self.origin.cut(addition.start(), addition.end()));
                let splices = draft::replace(self.text, start, current, &new, self.style, &|_| true);
                self.splices.extend(splices);
            }
        }
    }

    fn list(&mut self, part: Part, current: &Array<'_>, addition: &Array<'_>) {
        let [here, there] = part.keys([current, addition]);
        let here: FxHashMap<&str, &Value<'_>> =
            here.iter().map(String::as_str).zip(&current.elements).collect();
        let mut known: FxHashSet<String> = current.elements.iter().map(canonical).collect();
        let mut fresh = Vec::new();
        for (i, (key, item)) in there.iter().zip(&addition.elements).enumerate() {
            match here.get(key.as_str()) {
                _ if !known.insert(canonical(item)) => {}
                Some(old) => self.value(part.item(), old.start(), old, item),
                None => fresh.extend(Fresh::item(self.origin, addition, i, &|_| true)),
            }
        }
        let into = draft::items(current);
        self.splices.extend(layout::insert(self.text, &into, into.entries.len(), &fresh, self.style));
    }
}
