//! The self-check before a write: what was not asked for is as it was, and what was asked for is there.

use super::read::{CommandParts, locate, servers};
use super::{How, Listing, Server, ServerId, ungate};
use crate::table::Shape;
use callgate_document::{Document, EditFailed, Node, Odd, Value};

/// An edit that did something else than it should have. It is never written.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Broken {
    #[error("the edit would change more than the entries that were chosen")]
    Elsewhere,
    #[error("`{name}` would start something else than before")]
    Start { name: String },
    #[error("`{name}` would not be there any more")]
    Gone { name: String },
}

/// Whether the values of the edited entries may differ too, as they do when secrets move into the keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueCheck {
    Same,
    MayDiffer,
}

/// Checks `after` against `before`: all but the entries in `edited` is the same, and those start the same program with the
/// same words and environment, be it behind a gate or not.
pub fn verify(
    before: &Document,
    after: &Document,
    shape: &Shape,
    edited: &[ServerId],
    values: ValueCheck,
) -> Result<(), Broken> {
    let (was, is) = (servers(before, shape), servers(after, shape));
    for id in edited {
        let gone = || Broken::Gone { name: id.name.clone() };
        let (old, new) = (was.find(id).ok_or_else(gone)?, is.find(id).ok_or_else(gone)?);
        if !same_start(old, new, values) {
            return Err(Broken::Start { name: id.name.clone() });
        }
    }
    let (was, is) =
        (Outside::new(before, shape, &was, edited, values), Outside::new(after, shape, &is, edited, values));
    if was.tree(&before.root) == is.tree(&after.root) { Ok(()) } else { Err(Broken::Elsewhere) }
}

fn same_start(old: &Server, new: &Server, values: ValueCheck) -> bool {
    let (How::Local(old), How::Local(new)) = (&old.how, &new.how) else {
        return false;
    };
    let env = |local: &super::Local| -> Vec<(String, Option<String>)> {
        let value = |v: &str| (values == ValueCheck::Same).then(|| v.to_owned());
        local.env.iter().map(|(k, v)| (k.clone(), value(&v.value))).collect()
    };
    let words = match values {
        ValueCheck::Same => old.words().eq(new.words()),
        ValueCheck::MayDiffer => old.program.value == new.program.value && old.args.len() == new.args.len(),
    };
    words && env(old) == env(new)
}

/// Checks that `with` is `without` and these entries, and nothing else: the section that holds them may be new with them.
pub fn differ_by(
    without: &Document,
    with: &Document,
    shape: &Shape,
    entries: &[ServerId],
) -> Result<(), Broken> {
    let (was, is) = (servers(without, shape), servers(with, shape));
    let mut outside = Outside { document: with, edited: Vec::new(), free: Vec::new() };
    for id in entries {
        let there = is.find(id).filter(|_| was.find(id).is_none());
        let entry = there.and_then(|server| locate(with, server).ok());
        outside.edited.push(entry.ok_or_else(|| Broken::Gone { name: id.name.clone() })?);
    }
    let before = Outside { document: without, edited: Vec::new(), free: Vec::new() };
    let (before, after) = (before.tree(&without.root), outside.tree(&with.root));
    if before.without_nothing(shape) == after.without_nothing(shape) {
        Ok(())
    } else {
        Err(Broken::Elsewhere)
    }
}

/// Whether `after` is `before` without this one member of a map, and nothing else.
pub(super) fn only_without(before: &Document, member: &Node, after: &Document) -> bool {
    let was = Outside { document: before, edited: vec![&raw const *member], free: Vec::new() };
    let is = Outside { document: after, edited: Vec::new(), free: Vec::new() };
    was.tree(&before.root) == is.tree(&after.root)
}

/// Whether taking the gates away again gives back `before`, byte for byte. If not, its text has to be kept.
pub fn comes_back(before: &Document, after: &Document, shape: &Shape, edited: &[ServerId]) -> bool {
    let Ok(text) = ungated(after, shape, edited) else {
        return false;
    };
    text == before.text
}

fn ungated(document: &Document, shape: &Shape, edited: &[ServerId]) -> Result<String, Odd> {
    let listing = servers(document, shape);
    let mut splices = Vec::new();
    for server in edited.iter().filter_map(|id| listing.find(id)) {
        splices.extend(ungate(document, shape, server, None)?);
    }
    callgate_document::apply(&document.text, &splices).map_err(|e| Odd(EditFailed::from(e).to_string()))
}

/// A document as what must not change: values by their own text, without the parts that an edit is about.
struct Outside<'a> {
    document: &'a Document,
    edited: Vec<*const Node>,
    free: Vec<*const Node>,
}

#[derive(Debug, PartialEq)]
enum Tree<'a> {
    /// Its meaning and its text: a literal that is written otherwise was edited.
    Scalar(Option<&'a str>, &'a str),
    List(Vec<Tree<'a>>),
    Map(Vec<(&'a str, Tree<'a>)>),
    Free,
}

impl<'a> Outside<'a> {
    fn new(
        document: &'a Document,
        shape: &Shape,
        listing: &Listing,
        edited: &[ServerId],
        values: ValueCheck,
    ) -> Outside<'a> {
        let mut outside = Outside { document, edited: Vec::new(), free: Vec::new() };
        for server in edited.iter().filter_map(|id| listing.find(id)) {
            let Ok(parts) = locate(document, server).and_then(|node| CommandParts::of(shape, node)) else {
                continue;
            };
            outside.edited.push(&raw const parts.command.value);
            outside.edited.extend(parts.args.map(|m| &raw const m.value));
            if values == ValueCheck::MayDiffer {
                let env = parts.env.and_then(Node::map).unwrap_or_default();
                outside.free.extend(env.iter().map(|m| &raw const m.value));
            }
        }
        outside
    }

    fn tree(&self, node: &'a Node) -> Tree<'a> {
        if self.free.contains(&(&raw const *node)) {
            return Tree::Free;
        }
        match &node.value {
            Value::List(items) => {
                let kept = items.iter().filter(|n| !self.edited.contains(&(&raw const **n)));
                Tree::List(kept.map(|n| self.tree(n)).collect())
            }
            Value::Map(members) => {
                let kept = members.iter().filter(|m| !self.edited.contains(&(&raw const m.value)));
                Tree::Map(kept.map(|m| (m.key.as_str(), self.tree(&m.value))).collect())
            }
            _ => Tree::Scalar(node.text(), self.document.source(&node.span)),
        }
    }
}

impl Tree<'_> {
    /// Without a section that holds nothing: to clients that is as good as none.
    fn without_nothing(mut self, shape: &Shape) -> Self {
        if let Tree::Map(members) = &mut self {
            members.retain(|(key, value)| shape.section.first() != Some(key) || !value.is_nothing());
        }
        self
    }

    fn is_nothing(&self) -> bool {
        match self {
            Tree::List(items) => items.is_empty(),
            Tree::Map(members) => members.is_empty(),
            Tree::Scalar(_, source) => source.is_empty(),
            Tree::Free => false,
        }
    }
}
