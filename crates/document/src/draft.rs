//! A JSON text under change, by paths: members and items set, added and removed; every other byte stays.

use super::comments::Attached;
use super::lines::indent;
use super::{
    BYTE_ORDER_MARK, Behind, Document, NewEntry, NewValue, Node, Splice, Syntax, Value, apply, parse_json,
};

#[derive(Clone, Debug)]
pub struct Draft {
    original: String,
    text: String,
    /// What stands behind a byte order mark, if it can be read.
    document: Option<Document>,
}

impl Draft {
    pub fn new(text: &str) -> Draft {
        Draft { original: text.to_owned(), text: text.to_owned(), document: Document::lenient(text) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub fn is_changed(&self) -> bool {
        self.text != self.original
    }

    pub fn document(&self) -> Option<&Document> {
        self.document.as_ref()
    }

    pub fn is_empty_map(&self) -> bool {
        self.document.as_ref().is_some_and(|document| document.root.map().is_some_and(<[_]>::is_empty))
    }

    /// Changes many places at once. None of them may overlap another.
    pub fn edit(&mut self, run: impl FnOnce(&Document) -> Option<Vec<Splice>>) {
        let Some(document) = &self.document else { return };
        let splices = run(document).filter(|splices| !splices.is_empty());
        let Some(Ok(body)) = splices.map(|splices| apply(&document.text, &splices)) else { return };
        self.text.replace_range(self.text.len() - document.text.len().., &body);
        self.document = Document::lenient(&self.text);
    }

    /// Replaces the value at the path, or adds it with everything above it that is missing.
    pub fn set(&mut self, path: &[&str], new: NewValue) {
        self.edit(|document| Some(document.set(path, new)));
    }

    /// Adds the value where there is none yet.
    pub fn add_missing(&mut self, path: &[&str], new: NewValue) {
        self.edit(|document| document.root.at(path).is_none().then(|| document.set(path, new)));
    }

    /// Adds an item to the list at the path, which is made if it is missing.
    pub fn append(&mut self, path: &[&str], item: NewValue) {
        self.edit(|document| match document.root.at(path) {
            Some(list) => {
                list.list()?;
                Some(document.insert(list, usize::MAX, &[NewEntry::new(None, item)], Behind::Line))
            }
            None => Some(document.set(path, NewValue::List(vec![item]))),
        });
    }

    /// Adds entries to the map or list at the path, before the one that is at this position now.
    pub fn insert(&mut self, path: &[&str], at: usize, entries: &[NewEntry]) {
        self.edit(|document| {
            let into = document.root.at(path).filter(|node| is_container(node))?;
            Some(document.insert(into, at, entries, Behind::Line))
        });
    }

    /// Replaces the value at the path; the comments in it that are to be kept move before it.
    pub fn replace(&mut self, path: &[&str], new: &NewValue, kept: &dyn Fn(&str) -> bool) {
        self.edit(|document| {
            let (whole, position) = entry_at(document, path)?;
            let start = whole.parts().get(position)?.start;
            Some(document.replace_value(start, document.root.at(path)?, new, kept))
        });
    }

    /// Removes the member or item at the path, with its comma.
    pub fn remove(&mut self, path: &[&str]) {
        self.edit(|document| {
            entry_at(document, path).map(|(whole, position)| document.remove(whole, position))
        });
    }

    /// Removes the map or list at the path if there is nothing in it, not even a comment.
    pub fn remove_empty(&mut self, path: &[&str]) {
        let found = self.document.as_ref().and_then(|document| {
            let node = document.root.at(path).filter(|node| is_container(node))?;
            Some(document.source(&(node.span.start + 1..node.span.end - 1)).trim().is_empty())
        });
        if found == Some(true) {
            self.remove(path);
        }
    }

    /// Removes those comments of an entry that are named.
    pub fn remove_comments(&mut self, path: &[&str], gone: &dyn Fn(&str) -> bool) {
        self.edit(|document| {
            let (whole, position) = entry_at(document, path)?;
            let Attached { lead, trail } = document.attached(whole, position);
            let gone = lead.into_iter().chain(trail).filter(|range| gone(document.source(range).trim_end()));
            Some(gone.map(|range| document.remove_comment(&range)).collect())
        });
    }
}

impl Document {
    /// JSON with comments, behind a byte order mark or not, whatever is said twice in it. None if it is not JSON.
    pub fn lenient(text: &str) -> Option<Document> {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let root = parse_json(body, Syntax::Jsonc).ok()??;
        Some(Document { syntax: Syntax::Jsonc, text: body.to_owned(), root })
    }

    fn set(&self, path: &[&str], new: NewValue) -> Vec<Splice> {
        // As far down as the file goes; what is missing below is written in one piece.
        let (mut at, mut depth) = (&self.root, 0);
        while let Some(next) = path.get(depth).and_then(|key| at.at(&[key])) {
            (at, depth) = (next, depth + 1);
        }
        let below = path.get(depth..).unwrap_or_default();
        let wrapped = |keys: &[&str]| {
            keys.iter().rev().fold(new, |value, key| NewValue::Map(vec![((*key).to_owned(), value)]))
        };
        match (below.split_first(), &at.value) {
            (Some((key, below)), Value::Map(_)) => {
                let entry = NewEntry::new(Some(key), wrapped(below));
                self.insert(at, usize::MAX, &[entry], Behind::Line)
            }
            // What is no map gives way, but not the whole text.
            (Some(_), _) if depth == 0 => Vec::new(),
            _ => {
                let layout = self.layout(indent(&self.text, at.span.start), at.span.start);
                vec![Splice::replace(at.span.clone(), wrapped(below).render(self.syntax, &layout))]
            }
        }
    }
}

fn is_container(node: &Node) -> bool {
    matches!(node.value, Value::Map(_) | Value::List(_))
}

/// What the member or item at this path stands in, and its position there.
fn entry_at<'d>(document: &'d Document, path: &[&str]) -> Option<(&'d Node, usize)> {
    let (key, above) = path.split_last()?;
    let whole = document.root.at(above)?;
    let position = match &whole.value {
        Value::Map(members) => members.iter().position(|member| member.key == *key)?,
        Value::List(items) => key.parse().ok().filter(|position| *position < items.len())?,
        _ => return None,
    };
    Some((whole, position))
}
