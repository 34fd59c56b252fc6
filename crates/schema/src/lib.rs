//! Arguments held against a tool's own schema (`validate: true`): what fits, and what is said of what does not.
//!
//! The schema comes from the server and the arguments from the agent, so neither is trusted: nothing is fetched, patterns
//! run in linear time, depth and references are bounded. Within these bounds a schema can still be made to take for ever
//! and all memory, so a gate has checks run in a process that can be ended ([`check_arguments`]). What cannot be checked is
//! refused. A misfit is told by its place and by what the schema wants there; values of the arguments are never repeated.
//!
//! Must not know: policies, the relay, disks.

#[cfg_attr(unix, path = "confinement_unix.rs")]
#[cfg_attr(windows, path = "confinement_windows.rs")]
mod confinement;
mod process;
mod words;

use std::time::Duration;

use jsonschema::{PatternOptions, Validator};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::confinement::thread_time;
pub use crate::process::{check_arguments, serve};

/// With arguments at most 127 deep (the parser's bound) this many references bound how deep a check can get.
const MOST_REFERENCES: usize = 500;
/// So much text of schemas is kept compiled.
const KEPT: usize = 1 << 20;
/// Where it took longer than this to see that arguments do not fit, nobody looks for the place: what does not fit is collected on the
/// way there, all of it.
const EASY: Duration = Duration::from_millis(10);

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    Fits,
    /// They do not: where, and what is wanted there.
    Differs(String),
    /// The schema or the arguments cannot be checked.
    Uncheckable(String),
}

/// Schemas by their text, compiled when they are first needed.
#[derive(Debug, Default)]
pub struct Schemas {
    ready: FxHashMap<String, Result<Validator, String>>,
    bytes: usize,
}

impl Schemas {
    /// May take any time and any memory.
    pub fn check(&mut self, schema: &str, args: Option<&str>) -> Fit {
        let validator = match self.compiled(schema) {
            Ok(validator) => validator,
            Err(why) => return Fit::Uncheckable(why.clone()),
        };
        // A call without arguments is one with none: that is how servers take it.
        let Ok(args) = args.map_or_else(|| Ok(Value::Object(serde_json::Map::new())), serde_json::from_str)
        else {
            let why = "the arguments are nested too deeply, or hold a number too large, to be checked";
            return Fit::Uncheckable(why.to_owned());
        };
        let began = thread_time();
        if validator.is_valid(&args) {
            return Fit::Fits;
        }
        let easy = thread_time().saturating_sub(began) <= EASY;
        let Some(error) = easy.then(|| validator.validate(&args).err()).flatten() else {
            return Fit::Differs("the arguments do not fit the tool's own schema".to_owned());
        };
        let place = place(&error.instance_path().to_string());
        Fit::Differs(words::words(&place, error.kind()))
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
        out.push_str(&words::name(&step));
    }
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::process::on_large_stack;

    fn check(schema: &str, args: &str) -> Fit {
        let text = schema.to_owned();
        let args = (!args.is_empty()).then(|| args.to_owned());
        on_large_stack(move || Schemas::default().check(&text, args.as_deref())).unwrap()
    }

    fn differs(text: &str) -> Fit {
        Fit::Differs(text.to_owned())
    }

    #[test]
    fn a_misfit_names_its_place_and_what_is_wanted_and_no_value() {
        let schema = r#"{"type":"object","required":["url"],"additionalProperties":false,
            "properties":{"url":{"type":"string","pattern":"^https:"},"tags":{"items":{"enum":["a"]}}}}"#;
        for (args, said) in [
            (r#"{"url":"https://x"}"#, Fit::Fits),
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
            assert!(matches!(check(schema, "{}"), Fit::Uncheckable(_)), "{:.40}", schema);
        }
    }

    #[test]
    fn a_schema_that_points_to_itself_ends() {
        let list = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}"##;
        assert_eq!(check(list, r#"{"next":{"next":{}}}"#), Fit::Fits);
        assert_ne!(check(list, r#"{"next":{"next":3}}"#), Fit::Fits);
        assert_eq!(check(r##"{"$ref":"#"}"##, "{}"), Fit::Fits);
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
            assert_ne!(check(&schema, "{}"), Fit::Fits, "{length}");
        }
        // As many as are used, each level of the arguments going through all of them.
        let links: Vec<String> =
            (0..240).map(|n| format!(r##""n{n}":{{"$ref":"#/$defs/n{}"}}"##, n + 1)).collect();
        let schema = format!(
            r##"{{"$ref":"#/$defs/n0","$defs":{{{},"n240":{{"properties":{{"a":{{"$ref":"#/$defs/n0"}}}}}}}}}}"##,
            links.join(",")
        );
        assert_eq!(check(&schema, &format!("{}1{}", r#"{"a":"#.repeat(120), "}".repeat(120))), Fit::Fits);
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
        assert_eq!(check(&schema, r#"{"a":["x"]}"#), Fit::Fits);
    }

    #[test]
    fn schemas_are_compiled_once_and_not_kept_without_end() {
        let mut schemas = Schemas::default();
        for n in 0..20 {
            let text = format!(r#"{{"description":"{n} {}"}}"#, "x".repeat(128 << 10));
            assert_eq!(schemas.check(&text, None), Fit::Fits);
            assert_eq!(schemas.check(&text, None), Fit::Fits);
            assert!(schemas.bytes <= KEPT && schemas.ready.len() <= 8);
        }
    }

    #[test]
    fn a_pattern_that_explodes_elsewhere_is_linear_here() {
        let args = format!(r#"{{"a":"{}b"}}"#, "a".repeat(5_000));
        assert!(matches!(check(r#"{"properties":{"a":{"pattern":"^(a+)+$"}}}"#, &args), Fit::Differs(_)));
    }

    #[test]
    fn arguments_nested_too_deeply_are_not_waved_through() {
        let args = format!(r#"{{"a":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
        assert!(matches!(check("{}", &args), Fit::Uncheckable(_)));
    }
}
