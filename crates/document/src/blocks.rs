//! One entry more in a section of the document, in the style of the file: YAML's blocks, TOML's tables, and what stands
//! between brackets. [`Document::cut`] takes it away again.

use super::lines::{before_break, blank, eol, lead, line_end};
use super::value::{Layout, block_member, key};
use super::{Behind, Document, Form, Member, NewEntry, NewValue, Node, Odd, Splice, Syntax, Value};

/// An entry to add to a section.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The member of the root that holds the entries; made if it is not there.
    pub section: &'a str,
    /// The entry's key in a map of them; none in a list.
    pub key: Option<&'a str>,
    pub value: &'a NewValue,
}

impl Addition<'_> {
    /// The section with nothing else in it.
    fn alone(&self) -> NewValue {
        match self.key {
            Some(key) => NewValue::Map(vec![(key.to_owned(), self.value.clone())]),
            None => NewValue::List(vec![self.value.clone()]),
        }
    }

    fn block(&self, layout: &Layout<'_>) -> String {
        match self.key {
            Some(key) => block_member(&(key.to_owned(), self.value.clone()), layout),
            None => format!("- {}", self.value.block_item(layout)),
        }
    }
}

impl Document {
    /// A document that says nothing yet.
    pub fn blank(syntax: Syntax) -> Document {
        let text = match syntax {
            Syntax::Json | Syntax::Commented | Syntax::Jsonc => "{}\n",
            Syntax::Toml | Syntax::Yaml => "",
        };
        let form = if text.is_empty() { Form::Lines } else { Form::Inline };
        let root = Node { span: 0..text.trim_end().len(), value: Value::Map(Vec::new()), form };
        Document { syntax, text: text.to_owned(), root }
    }

    /// Adds an entry: last between brackets and in TOML, first below a YAML key, where nothing has to be known about how the
    /// entries end.
    pub fn add(&self, addition: Addition<'_>) -> Result<Vec<Splice>, Odd> {
        let name = addition.section;
        not_odd("the file", &self.root)?;
        if self.root.map().is_none() {
            return Err(Odd::new("the file is not a map"));
        }
        let Some(section) = self.root.member(name) else {
            return self.add_section(addition);
        };
        let value = &section.value;
        not_odd(&format!("`{name}`"), value)?;
        let fits = match (&value.value, addition.key) {
            (Value::Map(_), Some(_)) | (Value::List(_), None) => true,
            // `mcpServers:` with nothing behind it.
            (Value::Null, _) => self.syntax == Syntax::Yaml && value.span.is_empty(),
            _ => false,
        };
        if !fits {
            let wanted = if addition.key.is_some() { "a map" } else { "a list" };
            return Err(Odd::new(format!("`{name}` is not {wanted}")));
        }
        match (self.syntax, value.form) {
            (Syntax::Toml, Form::Lines) => Ok(vec![self.append_table(addition)]),
            (Syntax::Yaml, Form::Lines) => self.add_below(section, addition),
            (Syntax::Yaml, _) if self.root.form == Form::Lines && self.is_empty(value) => {
                self.add_below(section, addition)
            }
            _ => Ok(self.append_entry(value, NewEntry::new(addition.key, addition.value.clone()))),
        }
    }

    fn add_section(&self, addition: Addition<'_>) -> Result<Vec<Splice>, Odd> {
        let (name, alone) = (addition.section, addition.alone());
        match (self.syntax, self.root.form) {
            (Syntax::Toml, _) => Ok(vec![self.append_table(addition)]),
            (Syntax::Yaml, Form::Lines) => {
                let first = self.root.map().and_then(|members| members.first());
                let lead = first.map_or("", |first| lead(&self.text, first.key_span.start));
                if !blank(lead) {
                    return Err(Odd::new("its first key does not stand in a line of its own"));
                }
                if self.text.lines().any(|line| line.trim_end() == "...") {
                    return Err(Odd::new("it ends with `...`, and something may follow that"));
                }
                let layout = self.yaml_layout(lead);
                let block = block_member(&(name.to_owned(), alone), &layout);
                Ok(vec![self.append(&format!("{lead}{block}"), 1)])
            }
            _ => Ok(self.append_entry(&self.root, NewEntry::new(Some(name), alone))),
        }
    }

    fn append_entry(&self, whole: &Node, entry: NewEntry) -> Vec<Splice> {
        self.insert(whole, usize::MAX, &[entry], Behind::All)
    }

    /// In lines of its own right below `section:`, before whatever stands there.
    fn add_below(&self, section: &Member, addition: Addition<'_>) -> Result<Vec<Splice>, Odd> {
        let text = &self.text;
        let value = &section.value;
        let unclear = || Odd::new(format!("something follows `{}` in its line", section.key));
        let colon = self.colon(section)?;
        let end = line_end(text, colon);
        let empty = self.is_empty(value);
        let behind = if empty { value.span.end.max(colon + 1) } else { colon + 1 };
        // Brackets with nothing between them may stand in the next line.
        let rest = text.get(behind..end).ok_or_else(unclear)?.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with('#') {
            return Err(unclear());
        }
        let at_head = lead(text, section.key_span.start);
        let lead = match &value.value {
            _ if !blank(at_head) => return Err(unclear()),
            _ if empty => format!("{at_head}  "),
            Value::List(items) => {
                let first = items.first().ok_or_else(unclear)?;
                lead(text, self.dash(first)?).to_owned()
            }
            _ => lead(text, value.span.start).to_owned(),
        };
        if !blank(&lead) {
            return Err(unclear());
        }
        let layout = self.yaml_layout(&lead);
        let block = addition.block(&layout);
        let added = Splice::insert(end, format!("{}{lead}{block}", layout.eol));
        Ok(if empty { vec![Splice::remove(colon + 1..behind), added] } else { vec![added] })
    }

    fn append_table(&self, addition: Addition<'_>) -> Splice {
        let eol = eol(&self.text, 0);
        let names = [Some(addition.section), addition.key];
        let names: Vec<_> = names.into_iter().flatten().map(|name| key(Syntax::Toml, name)).collect();
        self.append(&format!("[{}]{}", names.join("."), addition.value.table_lines(eol)), 2)
    }

    /// At the end of the text, so many line breaks behind what is there.
    fn append(&self, block: &str, breaks: usize) -> Splice {
        let text = &self.text;
        let eol = eol(text, 0);
        if blank(text) {
            return Splice::insert(text.len(), format!("{block}{eol}"));
        }
        // Before the last line break, which stays the last.
        let at = match text.ends_with(['\n', '\r']) {
            true => before_break(text, text.len()),
            false => text.len(),
        };
        Splice::insert(at, format!("{}{block}", eol.repeat(breaks)))
    }

    fn yaml_layout(&self, lead: &str) -> Layout<'_> {
        Layout { unit: "  ".to_owned(), ..self.layout(lead, 0) }
    }

    /// A list or a map that is nothing but its brackets, or not even these.
    fn is_empty(&self, value: &Node) -> bool {
        value.span.is_empty()
            || value.form == Form::Inline && value.parts().is_empty() && {
                let source = self.source(&value.span);
                source.get(1..source.len() - 1).is_some_and(blank)
            }
    }
}

pub(super) fn not_odd(what: &str, node: &Node) -> Result<(), Odd> {
    match node.oddity() {
        Some(oddity) => Err(Odd::new(format!("{what} is written with {}", oddity.words()))),
        None => Ok(()),
    }
}
