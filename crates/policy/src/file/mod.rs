//! The policy file as it is written: the whole grammar, checked, each part with its place.
//!
//! Owns the words of the language. It decides nothing: what a file *means* for a call is built from it in
//! `compile`. A file is either wholly understood or wholly refused.

mod body;
mod codegen;
mod condition;
mod limit;
mod methods;
mod reader;
mod rule;
mod settings;
pub(crate) mod suggest;
mod tests;

pub use body::{Body, ClientOverlay, DefaultAction, Unlisted};
pub use codegen::CodegenSettings;
pub use condition::{ArgumentKind, Clause, Operator, Path, Predicate, Step, Subject, Value};
pub use limit::{LimitEntry, LimitKind, RateLimit};
pub use methods::{ListRules, MethodRule, OtherMethods};
pub(crate) use reader::parse as parse_tree;
pub use rule::{Action, ToolRule};
pub use settings::{
    AskSettings, AskedIn, LoopSettings, Mode, OnLimit, Pin, ProcessSettings, Record, Restart,
};
pub use suggest::nearest;
pub use tests::{Expectation, PolicyTest, TestedCall};

use crate::problem::{Place, Problems, Report};
use reader::Reader;

/// A value with the place where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot<T> {
    pub value: T,
    pub place: Place,
}

/// A whole policy file.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFile {
    /// Words for people; no effect.
    pub description: Option<String>,
    pub body: Body,
    /// Overlays by client name.
    pub clients: Vec<ClientOverlay>,
    pub process: Option<Spot<ProcessSettings>>,
    pub tests: Vec<PolicyTest>,
}

const KEYS: &[&str] = &["$schema", "version", "description", "clients", "process", "tests"];

impl PolicyFile {
    /// Reads JSON with comments and trailing commas; otherwise strict. Every error is reported at once.
    pub fn parse(text: &str) -> Result<PolicyFile, Report> {
        let mut problems = Problems::new(text);
        match read(text, &mut problems) {
            Some(file) if !problems.has_errors() => Ok(file),
            _ => Err(Report { problems: problems.into_sorted() }),
        }
    }
}

/// Reads the file and leaves its errors in `problems`; `None` when there is nothing that could be used.
pub(crate) fn read(text: &str, problems: &mut Problems<'_>) -> Option<PolicyFile> {
    let tree = reader::parse(text, problems)?;
    let mut reader = Reader::new(text, tree.shift, problems);
    let root = tree.root();
    let known: Vec<&str> = KEYS.iter().chain(body::KEYS).copied().collect();
    let fields = reader.fields(&root, "a policy", &known)?;
    if let Some(schema) = fields.get("$schema") {
        reader.string(schema, "`$schema`");
    }
    version(&mut reader, &fields);
    let body = body::read(&mut reader, &fields);
    if body.default.is_none() && fields.get("default").is_none() {
        reader.error(
            &fields.place,
            "`default` is missing: say what happens to tools that are not listed",
            Some("add \"default\": \"deny\", or \"allow\"".to_owned()),
        );
    }
    Some(PolicyFile {
        description: fields.get("description").and_then(|c| reader.string(c, "`description`")),
        body,
        clients: fields.get("clients").map(|c| body::read_clients(&mut reader, c)).unwrap_or_default(),
        process: fields.get("process").and_then(|c| settings::process(&mut reader, c)),
        tests: fields.get("tests").map(|c| tests::read(&mut reader, c)).unwrap_or_default(),
    })
}

fn version(reader: &mut Reader<'_, '_, '_>, fields: &reader::Fields<'_>) {
    let fix = || Some("write \"version\": \"1\"".to_owned());
    match fields.get("version") {
        None => {
            reader.error(&fields.place, "`version` is missing", Some("add \"version\": \"1\"".to_owned()))
        }
        Some(cursor) => match cursor.as_str() {
            Some("1") => {}
            Some(other) => {
                let message = format!("`version` {other:?} is not known to this Callgate; it knows \"1\"");
                reader.error(&cursor.place, message, fix());
            }
            None => reader.error(&cursor.place, "`version` must be the text \"1\"", fix()),
        },
    }
}
