//! What the arguments say: those that carry code, those that choose an operation.

use serde_json::Value;

use crate::assessment::{OperationClass, RiskClass};
use crate::lexicon::Act;
use crate::name;
use crate::words::split_name;

/// What was found in an input schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemaReading {
    /// Arguments that are run as they are.
    pub(crate) code: Vec<String>,
    /// Arguments that are queries in a language that can also write.
    pub(crate) queries: Vec<String>,
    pub(crate) urls: Vec<String>,
    /// Where a result is written to.
    pub(crate) output_paths: Vec<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) operations: Vec<OperationClass>,
}

/// How deep and how many arguments are looked at: a schema is the server's, and may be endless.
const DEEPEST: usize = 4;
const MOST_ARGUMENTS: usize = 400;

const CODE: &[&str] = &[
    "command",
    "cmd",
    "shell",
    "script",
    "javascript",
    "bash",
    "powershell",
    "commandline",
    "cmdline",
    "argv",
    "jscode",
    "pythoncode",
];
const QUERIES: &[&str] = &["sql", "cypher", "statement", "statements", "sqlquery"];
const URLS: &[&str] = &["url", "uri", "urls", "endpoint", "webhook", "href", "host"];
const PATHS: &[&str] =
    &["path", "file", "filename", "filepath", "directory", "dir", "folder", "paths", "files"];
const OUTPUTS: &[&str] = &["output", "save", "destination", "dest", "download", "downloads", "out", "target"];
/// Arguments whose values are names of operations.
const CHOOSERS: &[&str] = &[
    "operation",
    "action",
    "op",
    "method",
    "verb",
    "subcommand",
    "command",
    "mode",
    "operationtype",
    "actiontype",
    "task",
    "cmd",
];

pub(crate) fn read(schema: &Value) -> SchemaReading {
    let mut found = SchemaReading::default();
    let mut left = MOST_ARGUMENTS;
    read_properties(schema, 0, &mut left, &mut found);
    found
}

fn read_properties(schema: &Value, depth: usize, left: &mut usize, found: &mut SchemaReading) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if depth > DEEPEST {
        return;
    }
    for (argument, about) in properties {
        if *left == 0 {
            return;
        }
        *left -= 1;
        read_argument(argument, about, depth, found);
        read_properties(about, depth + 1, left, found);
        if let Some(items) = about.get("items") {
            read_properties(items, depth + 1, left, found);
        }
    }
}

fn read_argument(argument: &str, about: &Value, depth: usize, found: &mut SchemaReading) {
    let words = split_name(argument);
    let whole = words.concat();
    let has = |table: &[&str]| {
        table.contains(&whole.as_str()) || words.iter().any(|word| table.contains(&word.as_str()))
    };
    let values: Vec<&str> = allowed_values(about);
    if depth == 0 && values.len() > 1 && CHOOSERS.contains(&whole.as_str()) {
        found.operations.extend(values.iter().take(100).filter_map(|value| operation(argument, value)));
        return;
    }
    if !values.is_empty() || !takes_text(about) {
        return;
    }
    let list =
        if CODE.contains(&whole.as_str()) || words.last().is_some_and(|last| CODE.contains(&last.as_str())) {
            &mut found.code
        } else if has(QUERIES) {
            &mut found.queries
        } else if has(URLS) {
            &mut found.urls
        } else if has(PATHS) && has(OUTPUTS) {
            &mut found.output_paths
        } else if has(PATHS) {
            &mut found.paths
        } else {
            return;
        };
    list.push(argument.to_owned());
}

fn takes_text(about: &Value) -> bool {
    match about.get("type") {
        Some(Value::String(kind)) => kind == "string" || kind == "array",
        _ => true,
    }
}

fn allowed_values(about: &Value) -> Vec<&str> {
    let of_enum = about.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let of_consts = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| about.get(key).and_then(Value::as_array))
        .flatten()
        .filter_map(|option| option.get("const").and_then(Value::as_str));
    of_enum.chain(of_consts).collect()
}

/// The class of one value; `None` for what is no operation (*fast*, *json*).
fn operation(argument: &str, value: &str) -> Option<OperationClass> {
    let act = match value {
        "GET" | "HEAD" | "OPTIONS" => Act::Read,
        "POST" | "PUT" | "PATCH" => Act::Write,
        "DELETE" => Act::Destroy,
        _ => name::read("", value, &[])?.act,
    };
    Some(OperationClass { argument: argument.to_owned(), value: value.to_owned(), class: act.into() })
}

impl From<Act> for RiskClass {
    fn from(act: Act) -> Self {
        match act {
            Act::Read => Self::Read,
            Act::Write => Self::Write,
            Act::Execute => Self::Execute,
            Act::Destroy => Self::Destructive,
            Act::Pay => Self::Financial,
        }
    }
}
