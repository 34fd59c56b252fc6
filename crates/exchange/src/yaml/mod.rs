//! A YAML document as a tree with places, read the way Intercept's own reader (Go's `yaml.v3`) reads it.
//!
//! Owns: syntax, aliases, merge keys, repeated keys, and bounds on all of them. Knows no key of any grammar.

mod scalar;

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use crate::LONGEST;
use crate::ledger::{Ledger, SourcePosition};
use crate::note::Difference;
pub(crate) use scalar::{Scalar, is_json_number};

/// No policy is nested deeper.
const DEEPEST: usize = 64;
/// More than a text of the longest length can hold; aliases may repeat what was written, but not without end.
const MOST_NODES: usize = LONGEST;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) place: SourcePosition,
    pub(crate) value: Value,
    /// How many nodes there are from here on, repeated ones counted each time.
    size: usize,
    /// How many levels there are from here on: aliases must not build what could not be written.
    height: usize,
}

#[derive(Debug)]
pub(crate) enum Value {
    Scalar { text: String, scalar: Scalar },
    List(Vec<Rc<Node>>),
    Map(Vec<(Rc<Node>, Rc<Node>)>),
}

impl Node {
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Scalar { scalar, .. } => scalar.kind(),
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Scalar { scalar: Scalar::Null, .. })
    }

    /// The text of any scalar, as it is written; nothing for null.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { scalar: Scalar::Null, .. } => Some(""),
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    fn new(place: SourcePosition, value: Value) -> Node {
        let (size, height) = match &value {
            Value::Scalar { .. } => (1, 1),
            Value::List(items) => measure(items.iter()),
            Value::Map(entries) => measure(entries.iter().flat_map(|(key, value)| [key, value])),
        };
        Node { place, value, size, height }
    }
}

fn measure<'a>(children: impl Iterator<Item = &'a Rc<Node>>) -> (usize, usize) {
    let (size, height) = children.fold((0usize, 0), |(size, height), child| {
        (size.saturating_add(child.size), height.max(child.height))
    });
    (size.saturating_add(1), height + 1)
}

/// Reads the first document; `None` after a problem, which is in the ledger then.
pub(crate) fn read(text: &str, ledger: &mut Ledger) -> Option<Rc<Node>> {
    if text.len() > LONGEST {
        let message = format!("the file has {} bytes; a policy has at most {LONGEST}", text.len());
        ledger.problem(SourcePosition::START, "", message, "is this the right file?");
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut composer = Composer { ledger, open: Vec::new(), anchors: HashMap::new(), root: None };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Err(e) => {
                composer.syntax(&e);
                return None;
            }
            Ok((Event::DocumentEnd, _)) => break,
            Ok((event, span)) => composer.take(event, place(&span.start))?,
        }
    }
    let root = composer.root.take();
    if let Some(Ok((Event::DocumentStart(_), span))) = parser.next_event() {
        let text = "Intercept reads only the first document of a file; what follows was left out here too";
        ledger.note(span.start.line(), Difference::NotSaid, text);
    }
    if root.is_none() {
        ledger.problem(SourcePosition::START, "", "the file is empty", "start with version: \"1\"");
    }
    root
}

fn place(marker: &Marker) -> SourcePosition {
    SourcePosition { line: marker.line().max(1), column: marker.col() + 1 }
}

/// A list or map whose end has not come yet.
struct OpenCollection {
    place: SourcePosition,
    anchor: usize,
    is_map: bool,
    children: Vec<Rc<Node>>,
}

struct Composer<'l> {
    ledger: &'l mut Ledger,
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Composer<'_> {
    fn syntax(&mut self, error: &ScanError) {
        let message = format!("this is not YAML: {}", error.info());
        self.ledger.problem(
            place(error.marker()),
            "",
            message,
            "mend the indentation, quotes or brackets here",
        );
    }

    fn take(&mut self, event: Event<'_>, place: SourcePosition) -> Option<()> {
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Some(()),
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), place)?;
                self.add(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.begin(place, anchor, false, tag.as_deref()),
            Event::MappingStart(anchor, tag) => self.begin(place, anchor, true, tag.as_deref()),
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop()?;
                let value = if open.is_map {
                    Value::Map(self.entries(open.children)?)
                } else {
                    Value::List(open.children)
                };
                self.add(Node::new(open.place, value), open.anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    let fix = "write out what is meant";
                    self.ledger.problem(place, "", "this alias stands for something that holds it", fix);
                    return None;
                };
                self.put(node, place)
            }
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        place: SourcePosition,
    ) -> Option<Node> {
        let scalar = match tag {
            None if style == ScalarStyle::Plain => Scalar::resolve(text),
            None => Scalar::Text,
            Some(tag) => match Scalar::tagged(&tag.to_string(), text) {
                Some(scalar) => scalar,
                None => {
                    let message = format!("the tag {tag} does not fit here");
                    self.ledger.problem(place, "", message, "remove the tag; put text in quotes");
                    return None;
                }
            },
        };
        Some(Node::new(place, Value::Scalar { text: text.to_owned(), scalar }))
    }

    fn begin(&mut self, place: SourcePosition, anchor: usize, is_map: bool, tag: Option<&Tag>) -> Option<()> {
        let usual = if is_map { "map" } else { "seq" };
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema() || tag.suffix != usual) {
            self.ledger.problem(place, "", format!("the tag {tag} does not fit here"), "remove the tag");
            return None;
        }
        if self.open.len() >= DEEPEST {
            return self.too_deep(place);
        }
        self.open.push(OpenCollection { place, anchor, is_map, children: Vec::new() });
        Some(())
    }

    fn too_deep(&mut self, place: SourcePosition) -> Option<()> {
        self.ledger.problem(
            place,
            "",
            "nested too deeply",
            "no part of a policy is nested so deeply; remove it",
        );
        None
    }

    fn add(&mut self, node: Node, anchor: usize) -> Option<()> {
        let place = node.place;
        let node = Rc::new(node);
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.put(node, place)
    }

    fn put(&mut self, node: Rc<Node>, place: SourcePosition) -> Option<()> {
        if self.open.len() + node.height > DEEPEST {
            return self.too_deep(place);
        }
        if node.size > MOST_NODES {
            self.ledger.problem(place, "", "aliases make this too large", "write out what is meant");
            return None;
        }
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.root = Some(node),
        }
        Some(())
    }

    /// Pairs keys with values; `<<` brings in what the map does not say itself.
    fn entries(&mut self, children: Vec<Rc<Node>>) -> Option<Vec<(Rc<Node>, Rc<Node>)>> {
        let mut own: Vec<(Rc<Node>, Rc<Node>)> = Vec::new();
        let mut merged: Vec<Rc<Node>> = Vec::new();
        let mut seen = HashMap::new();
        let mut children = children.into_iter();
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            let Value::Scalar { text, scalar } = &key.value else {
                self.ledger.problem(key.place, "", "a key must be plain text", "write name: value");
                return None;
            };
            if *scalar == Scalar::Merge {
                merged.push(value);
                continue;
            }
            if let Some(first) = seen.insert(text.clone(), key.place.line) {
                let message = format!("{text:?} is written twice, first in line {first}");
                self.ledger.problem(key.place, "", message, "keep one of them");
                return None;
            }
            own.push((key, value));
        }
        for node in &merged {
            self.merge(node, &mut own, &mut seen)?;
        }
        Some(own)
    }

    fn merge(
        &mut self,
        node: &Rc<Node>,
        own: &mut Vec<(Rc<Node>, Rc<Node>)>,
        seen: &mut HashMap<String, usize>,
    ) -> Option<()> {
        match &node.value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    let text = key.text().unwrap_or_default();
                    if !seen.contains_key(text) {
                        seen.insert(text.to_owned(), key.place.line);
                        own.push((Rc::clone(key), Rc::clone(value)));
                    }
                }
                Some(())
            }
            Value::List(items) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => {
                items.iter().try_for_each(|item| self.merge(item, own, seen))
            }
            _ => {
                self.ledger.problem(
                    node.place,
                    "",
                    "`<<` wants a map",
                    "write <<: *name, where &name marks a map",
                );
                None
            }
        }
    }
}
