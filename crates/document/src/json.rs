//! JSON, strict and with comments, as a tree.

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value as Ast};
use jsonc_parser::common::Ranged;
pub use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Form, Member, Node, Syntax, Unreadable, Value};

/// As `JSON.parse` reads it: serde_json has the last word, since it allows nothing more.
pub(super) fn check_strict(text: &str) -> Result<(), Unreadable> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).map(drop).map_err(|e| {
        let why = e.to_string().split(" at line ").next().unwrap_or_default().to_owned();
        let syntax = Syntax::Json.name();
        Unreadable::Syntax { syntax, why, line: e.line().max(1), column: e.column().max(1) }
    })
}

/// As far as the parser is strict, which has the better words for the usual mistakes.
pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Node, Unreadable> {
    let wrong = |why, line, column| Unreadable::Syntax { syntax: syntax.name(), why, line, column };
    let parsed = tree(text, syntax).map_err(|e| match e.kind() {
        ParseErrorKind::NestingDepthExceeded => Unreadable::Deep,
        kind => wrong(lower_first(&kind.to_string()), e.line_display(), e.column_display()),
    })?;
    parsed.ok_or_else(|| wrong("it is empty".into(), 1, 1))
}

/// The tree of a JSON text, if there is anything in it. A key may stand in it twice, and it may be as deep as the parser
/// goes: [`super::Document::parse`] is stricter.
pub fn tree(text: &str, syntax: Syntax) -> Result<Option<Node>, ParseError> {
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
    Ok(parse_to_ast(text, &CollectOptions::default(), &options)?.value.as_ref().map(node))
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn node(ast: &Ast<'_>) -> Node {
    let value = match ast {
        Ast::StringLit(text) => Value::Text(text.value.clone().into_owned()),
        Ast::NumberLit(number) => Value::Number(number.value.to_owned()),
        Ast::BooleanLit(boolean) => Value::Bool(boolean.value),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(array) => Value::List(array.elements.iter().map(node).collect()),
        Ast::Object(object) => Value::Map(object.properties.iter().map(member).collect()),
    };
    Node { span: ast.start()..ast.end(), value, form: Form::Inline }
}

fn member(property: &ObjectProp<'_>) -> Member {
    let range = match &property.name {
        ObjectPropName::String(text) => text.range,
        ObjectPropName::Word(word) => word.range,
    };
    let key = property.name.as_str().to_owned();
    Member { key, key_span: range.start..range.end, value: node(&property.value) }
}
