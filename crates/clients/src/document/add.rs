//! One entry more in a section of the document, in the style of the file. [`Document::cut`] takes it away again.

use super::fresh::{Fresh, Lines, block_member, key, member};
use super::lines::{
    before_break, blank, comma, eol, has_comment, indent, lead, line_end, line_start, trimmed,
};
use super::{Document, Form, Member, Node, Odd, Splice, Syntax, Value};

/// An entry to add to a section.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The member of the root that holds the entries; made if it is not there.
    pub section: &'a str,
    /// The entry's key in a map of them; none in a list.
    pub key: Option<&'a str>,
    pub value: &'a Fresh,
}

impl Addition<'_> {
    /// The section with nothing else in it.
    fn alone(&self) -> Fresh {
        match self.key {
            Some(key) => Fresh::Map(vec![(key.to_owned(), self.value.clone())]),
            None => Fresh::List(vec![self.value.clone()]),
        }
    }

    fn in_one_line(&self, syntax: Syntax) -> String {
        let value = self.value.in_one_line(syntax);
        self.key.map_or_else(|| value.clone(), |key| member(syntax, key, &value))
    }

    fn spread(&self, lines: &Lines<'_>) -> String {
        let value = self.value.spread(lines);
        self.key.map_or_else(|| value.clone(), |key| member(Syntax::Json, key, &value))
    }

    fn block(&self, lines: &Lines<'_>) -> String {
        match self.key {
            Some(key) => block_member(&(key.to_owned(), self.value.clone()), lines),
            None => format!("- {}", self.value.block_item(lines)),
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
            (Value::Other, _) => self.syntax == Syntax::Yaml && value.span.is_empty(),
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
            _ => Ok(self.add_between(value, |lines| match lines {
                Some(lines) => addition.spread(lines),
                None => addition.in_one_line(self.syntax),
            })),
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
                let lines = self.yaml_lines(lead.to_owned());
                let block = block_member(&(name.to_owned(), alone), &lines);
                Ok(vec![self.append(&format!("{lead}{block}"), 1)])
            }
            _ => Ok(self.add_between(&self.root, |lines| match lines {
                Some(lines) => member(Syntax::Json, name, &alone.spread(lines)),
                None => member(self.syntax, name, &alone.in_one_line(self.syntax)),
            })),
        }
    }

    /// A new last part between brackets. `write` is given the lines to write it in, or none: then it has one.
    fn add_between(&self, whole: &Node, write: impl FnOnce(Option<&Lines<'_>>) -> String) -> Vec<Splice> {
        let (text, close) = (&self.text, whole.span.end - 1);
        let around = indent(text, whole.span.start).to_owned();
        let parts = whole.parts();
        let json = matches!(self.syntax, Syntax::Json | Syntax::Commented | Syntax::Jsonc);
        let Some(last) = parts.last() else {
            let lines =
                Lines { lead: around.clone() + &self.unit(), unit: self.unit(), eol: eol(text, close) };
            let inside = self.source(&(whole.span.start + 1..close));
            let spreads = json && (self.spreads() || has_comment(self.syntax, inside));
            let part = write(spreads.then_some(&lines));
            let at = whole.span.start + 1 + trimmed(inside).len();
            return vec![match spreads {
                false => Splice::replace(whole.span.start + 1..close, format!(" {part} ")),
                true if blank(inside) => Splice::replace(
                    whole.span.start + 1..close,
                    format!("{0}{1}{part}{0}{around}", lines.eol, lines.lead),
                ),
                // What stands there stays, and so does the line of the bracket if it has one.
                true if text[at..close].contains(['\n', '\r']) => {
                    Splice::insert(at, format!("{}{}{part}", lines.eol, lines.lead))
                }
                true => Splice::replace(at..close, format!("{0}{1}{part}{0}{around}", lines.eol, lines.lead)),
            }];
        };
        let own_line = blank(lead(text, last.start)) && line_start(text, last.start) > whole.span.start;
        let gap = last.end..close;
        let commented = has_comment(self.syntax, self.source(&gap));
        let before = lead(text, last.start);
        let (between, lines) = if own_line {
            let unit = before.strip_prefix(&around).filter(|unit| !unit.is_empty());
            let eol = eol(text, before_break(text, last.start));
            let unit = unit.map_or_else(|| self.unit(), str::to_owned);
            (format!("{eol}{before}"), Some(Lines { lead: before.to_owned(), unit, eol }))
        } else if commented && self.source(&gap).contains(['\n', '\r']) {
            // A comment that ends with its line.
            (format!("{}{around}", eol(text, last.end)), None)
        } else {
            (" ".to_owned(), None)
        };
        let part = write(lines.as_ref().filter(|_| json));
        if !commented {
            return vec![Splice::insert(last.end, format!(",{between}{part}"))];
        }
        // Behind the comments, which are about what stands before them.
        let at = last.end + trimmed(self.source(&gap)).len();
        if comma(self.syntax, self.source(&gap)).is_some() {
            return vec![Splice::insert(at, format!("{between}{part},"))];
        }
        vec![Splice::insert(last.end, ","), Splice::insert(at, format!("{between}{part}"))]
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
        let lines = self.yaml_lines(lead.clone());
        let block = addition.block(&lines);
        let added = Splice::insert(end, format!("{}{lead}{block}", lines.eol));
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

    fn yaml_lines(&self, lead: String) -> Lines<'_> {
        Lines { lead, unit: "  ".to_owned(), eol: eol(&self.text, 0) }
    }

    /// A list or a map that is nothing but its brackets, or not even these.
    fn is_empty(&self, value: &Node) -> bool {
        value.span.is_empty()
            || value.form == Form::Inline && value.parts().is_empty() && {
                let source = self.source(&value.span);
                source.get(1..source.len() - 1).is_some_and(blank)
            }
    }

    /// Whether this JSON has its members in lines of their own.
    fn spreads(&self) -> bool {
        let first = self.root.map().and_then(|members| members.first());
        first.is_none_or(|first| {
            blank(lead(&self.text, first.key_span.start)) && self.text.contains(['\n', '\r'])
        })
    }

    /// What one level of this JSON is indented by.
    fn unit(&self) -> String {
        let first = self.root.map().and_then(|members| members.first());
        let first = first.map_or("", |first| lead(&self.text, first.key_span.start));
        match blank(first) && !first.is_empty() {
            true => first.to_owned(),
            false if self.text.contains("\n\t") => "\t".to_owned(),
            false => "  ".to_owned(),
        }
    }
}

pub(super) fn not_odd(what: &str, node: &Node) -> Result<(), Odd> {
    match node.oddity() {
        Some(oddity) => Err(Odd::new(format!("{what} is written with {}", oddity.words()))),
        None => Ok(()),
    }
}
