//! JSON, strict and with comments, as a tree.

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{DEPTH, Form, Member, Node, Syntax, Unreadable, Value, without_twins};

/// As `JSON.parse` reads it. serde_json has the last word, since it allows nothing more; the places, and better words for
/// the usual mistakes, come from the other parser.
pub(super) fn parse_strict(text: &str) -> Result<Node, Unreadable> {
    let node = parse(text, Syntax::Json)?;
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Ok(node),
        Err(e) => {
            let why = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
            let syntax = Syntax::Json.name();
            Err(Unreadable::Syntax { syntax, why, line: e.line().max(1), column: e.column().max(1) })
        }
    }
}

/// As far as the syntax goes; of the strict one the words for what is wrong.
pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Node, Unreadable> {
    let options = ParseOptions {
        allow_comments: syntax != Syntax::Json,
        allow_trailing_commas: syntax == Syntax::Jsonc,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|e| match e.kind() {
        ParseErrorKind::NestingDepthExceeded => Unreadable::Deep,
        kind => Unreadable::Syntax {
            syntax: syntax.name(),
            why: lower_first(&kind.to_string()),
            line: e.line_display(),
            column: e.column_display(),
        },
    })?;
    let empty =
        || Unreadable::Syntax { syntax: syntax.name(), why: "it is empty".into(), line: 1, column: 1 };
    node(text, &parsed.value.ok_or_else(empty)?, 0)
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn node(text: &str, ast: &Ast<'_>, depth: usize) -> Result<Node, Unreadable> {
    if depth > DEPTH {
        return Err(Unreadable::Deep);
    }
    let value = match ast {
        Ast::StringLit(lit) => Value::Text(lit.value.clone().into_owned()),
        Ast::NumberLit(_) | Ast::BooleanLit(_) | Ast::NullKeyword(_) => Value::Other,
        Ast::Array(array) => {
            Value::List(array.elements.iter().map(|e| node(text, e, depth + 1)).collect::<Result<_, _>>()?)
        }
        Ast::Object(object) => {
            let members: Result<_, _> = object.properties.iter().map(|p| member(text, p, depth)).collect();
            Value::Map(without_twins(text, members?)?)
        }
    };
    let range = ast.range();
    Ok(Node { span: range.start..range.end, value, form: Form::Inline })
}

fn member(text: &str, prop: &ObjectProp<'_>, depth: usize) -> Result<Member, Unreadable> {
    let (key, range) = match &prop.name {
        ObjectPropName::String(lit) => (lit.value.clone().into_owned(), lit.range),
        ObjectPropName::Word(word) => (word.value.to_owned(), word.range),
    };
    Ok(Member { key, key_span: range.start..range.end, value: node(text, &prop.value, depth + 1)? })
}
