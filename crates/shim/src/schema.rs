//! Arguments against the tool's own schema (`validate: true`): what fits, and what is said of what does not.
//!
//! The schema comes from the server and the arguments from the agent, so neither is trusted: nothing is fetched, patterns
//! run in linear time, size, depth and references are bounded. Within these bounds a schema can still be made to take for ever
//! and all memory, so a check is only ever run in a process that can be ended: see `checker`. What cannot be checked is
//! refused. A misfit is told by its place and by what the schema wants there;
//! values of the arguments are never repeated.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callgate_policy::ArgumentSchema;
use callgate_protocol::json::Raw;
use jsonschema::{PatternOptions, Validator};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::confinement::thread_time;
use crate::misfit;

/// Larger schemas are not used. Those of real servers have a few kilobytes.
const LARGEST: usize = 256 << 10;
/// With arguments at most 127 deep (the parser's bound) this many references bound how deep a check can get.
const MOST_REFERENCES: usize = 500;
/// So much text of schemas is kept compiled.
const KEPT: usize = 1 << 20;
/// Where it took longer than this to see that arguments do not fit, nobody looks for the place: what does not fit is collected on the
/// way there, all of it.
const EASY: Duration = Duration::from_millis(10);

/// Why arguments were not found to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// They do not fit: where, and what is wanted there.
    Differs(String),
    /// The server has not said in time what arguments its tools take.
    NotListedYet,
    /// The schema or the arguments cannot be checked.
    Uncheckable(String),
}

/// The schema of one tool, as the server wrote it.
#[derive(Debug)]
pub(crate) struct ToolSchema {
    /// Empty when it was too large to be kept.
    text: String,
    /// A check had to be ended: it is not tried again.
    too_costly: AtomicBool,
    /// What it says about kinds of arguments, read when a rule first asks.
    arguments: OnceLock<Option<ArgumentSchema>>,
}

impl ToolSchema {
    pub(crate) fn new(text: &str) -> ToolSchema {
        let text = if text.len() > LARGEST { String::new() } else { text.to_owned() };
        ToolSchema { text, too_costly: AtomicBool::new(false), arguments: OnceLock::new() }
    }

    /// Is it this one? Of those too large to be kept, nobody knows.
    pub(crate) fn is(&self, text: &str) -> bool {
        !self.text.is_empty() && self.text == text
    }

    /// What it says about kinds of arguments.
    pub(crate) fn arguments(&self) -> Option<&ArgumentSchema> {
        self.arguments.get_or_init(|| Raw::parse(&self.text).ok().and_then(ArgumentSchema::read)).as_ref()
    }

    /// What a check can be tried with, if anything.
    pub(crate) fn usable(&self) -> Result<&str, Misfit> {
        if self.too_costly.load(Ordering::Relaxed) {
            return Err(too_costly());
        }
        if self.text.is_empty() {
            let why = format!("the tool's schema is larger than {} KiB", LARGEST >> 10);
            return Err(Misfit::Uncheckable(why));
        }
        Ok(&self.text)
    }

    pub(crate) fn give_up(&self) -> Misfit {
        self.too_costly.store(true, Ordering::Relaxed);
        too_costly()
    }
}

fn too_costly() -> Misfit {
    Misfit::Uncheckable("the tool's schema takes too long, or too much memory, to check".to_owned())
}

/// Schemas by their text, compiled when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    ready: FxHashMap<String, Result<Validator, String>>,
    bytes: usize,
}

impl Schemas {
    /// May take any time and any memory.
    pub(crate) fn check(&mut self, schema: &str, args: Option<&str>) -> Result<(), Misfit> {
        let validator = self.compiled(schema).as_ref().map_err(|why| Misfit::Uncheckable(why.clone()))?;
        // A call without arguments is one with none: that is how servers take it.
        let args = match args {
            None => Value::Object(serde_json::Map::new()),
            Some(args) => serde_json::from_str(args).map_err(|_| {
                Misfit::Uncheckable(
                    "the arguments are nested too deeply, or hold a number too large, to be checked"
                        .to_owned(),
                )
            })?,
        };
        let began = thread_time();
        if validator.is_valid(&args) {
            return Ok(());
        }
        let easy = thread_time().saturating_sub(began) <= EASY;
        let Some(error) = easy.then(|| validator.validate(&args).err()).flatten() else {
            return Err(Misfit::Differs("the arguments do not fit the tool's own schema".to_owned()));
        };
        let place = place(&error.instance_path().to_string());
        Err(Misfit::Differs(misfit::words(&place, error.kind())))
    }

    fn compiled(&mut self, text: &str) -> &Result<Validator, String> {
        if !self.ready.contains_key(text) {
            if self.bytes + text.len() > KEPT {
                *self = Schemas::default();
            }
            self.bytes += text.len();
        }
        self.ready.entry(text.to_owned()).or_insert_with(|| compile(text))
    }
}

fn compile(text: &str) -> Result<Validator, String> {
    let schema: Value = serde_json::from_str(text)
        .map_err(|_| "the tool's schema is nested too deeply to be used".to_owned())?;
    // By text, so that no way of writing one in is missed; a description that speaks of references counts too.
    if text.matches("$").count() + text.matches("\\u0024").count() > MOST_REFERENCES {
        return Err(format!("the tool's schema has more than {MOST_REFERENCES} references"));
    }
    jsonschema::options().with_pattern_options(PatternOptions::regex()).build(&schema).map_err(|_| {
        "the tool's schema is not a JSON Schema that can be used without fetching anything".to_owned()
    })
}

/// `/options/0/path` → `args.options.0.path`. The names are the agent's: shortened, and without anything unprintable.
pub(crate) fn place(pointer: &str) -> String {
    let mut out = "args".to_owned();
    for step in pointer.split('/').skip(1).take(16) {
        let step = step.replace("~1", "/").replace("~0", "~");
        out.push('.');
        out.push_str(&misfit::name(&step));
    }
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::checker_process::on_large_stack;

    fn check(schema: &str, args: &str) -> Result<(), Misfit> {
        let schema = ToolSchema::new(schema);
        let text = schema.usable()?.to_owned();
        let args = (!args.is_empty()).then(|| args.to_owned());
        on_large_stack(move || Schemas::default().check(&text, args.as_deref())).unwrap()
    }

    fn differs(text: &str) -> Result<(), Misfit> {
        Err(Misfit::Differs(text.to_owned()))
    }

    #[test]
    fn a_misfit_names_its_place_and_what_is_wanted_and_no_value() {
        let schema = r#"{"type":"object","required":["url"],"additionalProperties":false,
            "properties":{"url":{"type":"string","pattern":"^https:"},"tags":{"items":{"enum":["a"]}}}}"#;
        for (args, said) in [
            (r#"{"url":"https://x"}"#, Ok(())),
            (r#"{"url":"file:///secret"}"#, differs(r#"args.url must match the pattern "^https:""#)),
            (r#"{"url":7}"#, differs("args.url must be of type string")),
            (r#"{}"#, differs("args.url is required")),
            ("", differs("args.url is required")),
            (r#"{"url":"https://x","more":1}"#, differs("args.more is no argument of this tool")),
            (r#"{"url":"https://x","tags":["a","b"]}"#, differs(r#"args.tags.1 must be one of "a""#)),
        ] {
            assert_eq!(check(schema, args), said, "{args}");
        }
    }

    #[test]
    fn a_schema_that_cannot_be_used_checks_nothing() {
        let deep = format!("{}1{}", r#"{"not":"#.repeat(500), "}".repeat(500));
        for schema in [r#"{"$ref":"https://example.com/schema"}"#, r#"{"type":"no such type"}"#, &deep, ""] {
            assert!(matches!(check(schema, "{}"), Err(Misfit::Uncheckable(_))), "{:.40}", schema);
        }
        let huge = format!(r#"{{"description":"{}"}}"#, "x".repeat(LARGEST));
        assert!(matches!(check(&huge, "{}"), Err(Misfit::Uncheckable(_))));
    }

    #[test]
    fn a_schema_that_points_to_itself_ends() {
        let list = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}"##;
        assert_eq!(check(list, r#"{"next":{"next":{}}}"#), Ok(()));
        assert!(check(list, r#"{"next":{"next":3}}"#).is_err());
        assert_eq!(check(r##"{"$ref":"#"}"##, "{}"), Ok(()));
    }

    #[test]
    fn a_long_chain_of_references_does_not_end_the_session() {
        for length in [10, 200, 30_000] {
            let links: Vec<String> =
                (0..length).map(|n| format!(r##""n{n}":{{"$ref":"#/$defs/n{}"}}"##, n + 1)).collect();
            let schema = format!(
                r##"{{"$ref":"#/$defs/n0","$defs":{{{},"n{length}":{{"type":"string"}}}}}}"##,
                links.join(",")
            );
            assert!(check(&schema, "{}").is_err(), "{length}");
        }
        // As many as are used, each level of the arguments going through all of them.
        let links: Vec<String> =
            (0..240).map(|n| format!(r##""n{n}":{{"$ref":"#/$defs/n{}"}}"##, n + 1)).collect();
        let schema = format!(
            r##"{{"$ref":"#/$defs/n0","$defs":{{{},"n240":{{"properties":{{"a":{{"$ref":"#/$defs/n0"}}}}}}}}}}"##,
            links.join(",")
        );
        assert_eq!(check(&schema, &format!("{}1{}", r#"{"a":"#.repeat(120), "}".repeat(120))), Ok(()));
    }

    #[test]
    fn what_took_long_to_be_found_is_not_looked_for_twice() {
        let levels: Vec<String> = (0..16)
            .map(|n| {
                format!(
                    r##""n{n}":{{"anyOf":[{{"$ref":"#/$defs/n{0}"}},{{"$ref":"#/$defs/n{0}"}}]}}"##,
                    n + 1
                )
            })
            .collect();
        let last = r#""n16":{"items":{"type":"string"}}"#;
        let schema = format!(
            r##"{{"properties":{{"a":{{"$ref":"#/$defs/n0"}}}},"$defs":{{{},{last}}}}}"##,
            levels.join(",")
        );
        let args = format!(r#"{{"a":[{}1]}}"#, r#""x","#.repeat(200));
        assert_eq!(check(&schema, &args), differs("the arguments do not fit the tool's own schema"));
        assert_eq!(check(&schema, r#"{"a":["x"]}"#), Ok(()));
    }

    #[test]
    fn schemas_are_compiled_once_and_not_kept_without_end() {
        let mut schemas = Schemas::default();
        for n in 0..20 {
            let text = format!(r#"{{"description":"{n} {}"}}"#, "x".repeat(LARGEST / 2));
            assert_eq!(schemas.check(&text, None), Ok(()));
            assert_eq!(schemas.check(&text, None), Ok(()));
            assert!(schemas.bytes <= KEPT && schemas.ready.len() <= 8);
        }
    }

    #[test]
    fn a_pattern_that_explodes_elsewhere_is_linear_here() {
        let args = format!(r#"{{"a":"{}b"}}"#, "a".repeat(5_000));
        assert!(check(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, &args).is_err());
    }

    #[test]
    fn arguments_nested_too_deeply_are_not_waved_through() {
        let args = format!(r#"{{"a":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
        assert!(matches!(check("{}", &args), Err(Misfit::Uncheckable(_))));
    }
}
