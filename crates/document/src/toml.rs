//! TOML as a tree. Tables of every kind are maps; where their lines are is what their members say.

use std::ops::Range;

use toml_edit::{InlineTable, Item, Key, Table, Value as Toml};

use super::lines::position;
use super::{DEPTH, Form, Member, Node, Oddity, Syntax, Unreadable, Value};

pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let document = toml_edit::Document::parse(text).map_err(|e| {
        if e.message().contains("recurs") {
            return Unreadable::Deep;
        }
        let (line, column) = position(text, e.span().map_or(0, |s| s.start));
        let why = e.message().lines().collect::<Vec<_>>().join(", ");
        Unreadable::Syntax { syntax: Syntax::Toml.name(), why, line, column }
    })?;
    table(document.as_table(), 0)
}

/// From the first part to the last; a table's own header counts too.
fn covering(own: Option<Range<usize>>, members: &[Member]) -> Range<usize> {
    let own = own.unwrap_or_else(|| members.first().map_or(0..0, |m| m.key_span.clone()));
    members.iter().fold(own, |span, m| {
        span.start.min(m.key_span.start)..span.end.max(m.key_span.end).max(m.value.span.end)
    })
}

fn table(table: &Table, depth: usize) -> Result<Node, Unreadable> {
    if depth > DEPTH {
        return Err(Unreadable::Deep);
    }
    let mut members = Vec::with_capacity(table.len());
    for (key, item) in table.iter() {
        members.push(member(key, table.key(key), self::item(item, depth + 1)?));
    }
    Ok(Node { span: covering(table.span(), &members), value: Value::Map(members), form: Form::Lines })
}

fn member(key: &str, place: Option<&Key>, value: Node) -> Member {
    let key_span = place.and_then(Key::span).unwrap_or(value.span.start..value.span.start);
    Member { key: key.to_owned(), key_span, value }
}

fn item(item: &Item, depth: usize) -> Result<Node, Unreadable> {
    match item {
        Item::Table(inner) => table(inner, depth),
        Item::Value(inner) => value(inner, depth),
        Item::ArrayOfTables(tables) => {
            let tables: Vec<Node> = tables.iter().map(|t| table(t, depth + 1)).collect::<Result<_, _>>()?;
            let start = tables.first().map_or(0, |t| t.span.start);
            let end = tables.last().map_or(start, |t| t.span.end);
            Ok(Node { span: start..end, value: Value::List(tables), form: Form::Lines })
        }
        Item::None => Ok(Node { span: 0..0, value: Value::Null, form: Form::Odd(Oddity::Unplaced) }),
    }
}

fn value(toml: &Toml, depth: usize) -> Result<Node, Unreadable> {
    if depth > DEPTH {
        return Err(Unreadable::Deep);
    }
    let read = match toml {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Array(array) => {
            Value::List(array.iter().map(|v| value(v, depth + 1)).collect::<Result<_, _>>()?)
        }
        Toml::InlineTable(table) => return inline(table, depth),
        Toml::Boolean(boolean) => Value::Bool(*boolean.value()),
        Toml::Integer(number) => Value::Number(number.value().to_string()),
        Toml::Float(number) => Value::Number(number.value().to_string()),
        Toml::Datetime(date) => Value::Number(date.value().to_string()),
    };
    let form = if toml.span().is_some() { Form::Inline } else { Form::Odd(Oddity::Unplaced) };
    Ok(Node { span: toml.span().unwrap_or(0..0), value: read, form })
}

fn inline(table: &InlineTable, depth: usize) -> Result<Node, Unreadable> {
    let mut members = Vec::with_capacity(table.len());
    for (key, item) in table.iter() {
        members.push(member(key, table.key(key), value(item, depth + 1)?));
    }
    // `a.b = 1` in a table's line is a table of its own there, with lines; between braces it has neither.
    let form = if table.is_dotted() { Form::Odd(Oddity::DottedInBraces) } else { Form::Inline };
    Ok(Node { span: covering(table.span(), &members), value: Value::Map(members), form })
}
