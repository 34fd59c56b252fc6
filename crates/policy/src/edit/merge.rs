//! A policy, or a part of one, written into another: everything that it says, and nothing else touched.

use callgate_document::{Behind, Document, Draft, NewEntry, NewValue, Node, Splice, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::difference::difference;
use super::shape::{Part, canonical, index, same};
use super::{EditError, Edited};
use crate::file::PolicyFile;
use crate::policy::Policy;

/// Writes what `pasted` says into `current`. Members that both have are merged where that has one meaning: rules member
/// by member, limits by their counters, lists united; everything else is set.
pub fn merge(current: &str, pasted: &str) -> Result<Edited, EditError> {
    let mut draft = Draft::new(current);
    if !draft.is_empty_map() {
        Policy::parse(current).map_err(EditError::Broken)?;
    }
    check_fragment(pasted)?;
    if let Some(addition) = Document::lenient(pasted) {
        draft.edit(|document| {
            let mut merge = Merge { document, addition: &addition, splices: Vec::new() };
            merge.map(Part::Body, &document.root, &addition.root);
            Some(merge.splices)
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
    Edited { summary: difference(current, &text), changed: text != current, text, tightened: None }
}

/// A part of a policy is right if it is a policy together with what every policy has to say. What is missing is written
/// behind everything else, so that the places of errors stay true.
fn check_fragment(pasted: &str) -> Result<(), EditError> {
    let mut whole = Draft::new(pasted);
    whole.add_missing(&["version"], NewValue::text("1"));
    whole.add_missing(&["default"], NewValue::text("deny"));
    PolicyFile::parse(whole.text()).map_err(EditError::Pasted)?;
    Ok(())
}

struct Merge<'m> {
    document: &'m Document,
    /// What is written into it.
    addition: &'m Document,
    splices: Vec<Splice>,
}

impl Merge<'_> {
    fn map(&mut self, part: Part, current: &Node, addition: &Node) {
        let here = index(current.map().unwrap_or_default());
        let mut fresh = Vec::new();
        for (i, member) in addition.map().unwrap_or_default().iter().enumerate() {
            match here.get(member.key.as_str()) {
                Some((_, old)) => {
                    self.value(part.member(&member.key), old.key_span.start, &old.value, &member.value);
                }
                None => fresh.extend(self.addition.entry(addition, i, &|_| true)),
            }
        }
        self.append(current, &fresh);
    }

    /// `start`: of the entry that holds the value.
    fn value(&mut self, part: Part, start: usize, current: &Node, addition: &Node) {
        match (&current.value, &addition.value) {
            (Value::Map(_), Value::Map(_)) if part.is_object() => self.map(part, current, addition),
            (Value::List(_), Value::List(_)) if part.is_list() => self.list(part, current, addition),
            _ if same(current, addition) => {}
            _ => {
                let new = NewValue::Piece(self.addition.piece(addition.span.clone()));
                self.splices.extend(self.document.replace_value(start, current, &new, &|_| true));
            }
        }
    }

    fn list(&mut self, part: Part, current: &Node, addition: &Node) {
        let (old, new) = (current.list().unwrap_or_default(), addition.list().unwrap_or_default());
        let [here, there] = part.keys([old, new]);
        let here: FxHashMap<&str, &Node> = here.iter().map(String::as_str).zip(old).collect();
        let mut known: FxHashSet<String> = old.iter().map(canonical).collect();
        let mut fresh = Vec::new();
        for (i, (key, item)) in there.iter().zip(new).enumerate() {
            match here.get(key.as_str()) {
                _ if !known.insert(canonical(item)) => {}
                Some(old) => self.value(part.item(), old.span.start, old, item),
                None => fresh.extend(self.addition.entry(addition, i, &|_| true)),
            }
        }
        self.append(current, &fresh);
    }

    fn append(&mut self, whole: &Node, fresh: &[NewEntry]) {
        self.splices.extend(self.document.insert(whole, usize::MAX, fresh, Behind::Line));
    }
}
