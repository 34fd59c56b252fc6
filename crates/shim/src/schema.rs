//! Arguments against the tool's own schema (`validate: true`).
//!
//! The schema comes from the server and the arguments from the agent, so neither is trusted: nothing is fetched, patterns
//! run in linear time, size, depth and references are bounded. Within these bounds a schema can still be made to take
//! for ever, so checks run on a thread of their own with a deadline; a schema that misses it is not tried again. What cannot
//! be checked is refused. A misfit is told by its place and keyword; values are never repeated.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use callgate_protocol::json::Raw;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// Larger schemas are not used. Those of real servers have a few kilobytes.
const LARGEST: usize = 256 << 10;
/// With arguments at most 127 deep (the parser's bound) this many references bound how deep a check can get.
const MOST_REFERENCES: usize = 500;
/// Room for that depth; only what is used is ever taken.
const STACK: usize = 256 << 20;
/// How long one check may take.
const DEADLINE: Duration = Duration::from_secs(2);

/// Why arguments were not found to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// They do not fit: where, and by which keyword.
    Differs(String),
    /// The schema or the arguments cannot be checked.
    Uncheckable(String),
}

/// The schema of one tool, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct ToolSchema {
    /// Empty when it was too large to be kept.
    text: String,
    ready: OnceLock<Result<Validator, String>>,
    too_slow: AtomicBool,
}

impl ToolSchema {
    pub(crate) fn new(text: &str) -> ToolSchema {
        let text = if text.len() > LARGEST { String::new() } else { text.to_owned() };
        ToolSchema { text, ready: OnceLock::new(), too_slow: AtomicBool::new(false) }
    }

    /// Is it this one? Of those too large to be kept, nobody knows.
    pub(crate) fn is(&self, text: &str) -> bool {
        !self.text.is_empty() && self.text == text
    }

    fn check(&self, args: Option<&str>) -> Result<(), Misfit> {
        let validator = self.ready.get_or_init(|| compile(&self.text)).as_ref();
        let validator = validator.map_err(|why| Misfit::Uncheckable(why.clone()))?;
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
        let Err(error) = validator.validate(&args) else { return Ok(()) };
        let place = place(&error.instance_path().to_string());
        let schema = error.schema_path().to_string();
        let keyword = schema.rsplit('/').find(|step| !step.is_empty() && !is_index(step)).unwrap_or("schema");
        Err(Misfit::Differs(format!("{place} does not fit the tool's own schema ({keyword})")))
    }
}

/// Runs checks, one after the other, on a thread that may be left behind.
#[derive(Debug, Default)]
pub(crate) struct Checker(Mutex<Workers>);

#[derive(Debug, Default)]
struct Workers {
    now: Option<Sender<Job>>,
    left_behind: usize,
}

/// So many threads are left behind at the most; a server that makes more of them has had its chance.
const LEFT_BEHIND: usize = 4;

struct Job {
    schema: Arc<ToolSchema>,
    args: Option<String>,
    done: Sender<Result<(), Misfit>>,
}

impl Checker {
    pub(crate) fn check(&self, schema: &Arc<ToolSchema>, args: Option<Raw<'_>>) -> Result<(), Misfit> {
        let late = || Misfit::Uncheckable("the tool's schema takes too long to check".to_owned());
        if schema.too_slow.load(Ordering::Relaxed) {
            return Err(late());
        }
        let (done, outcome) = mpsc::channel();
        let job = Job { schema: schema.clone(), args: args.map(|args| args.text().to_owned()), done };
        let mut workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if workers.left_behind >= LEFT_BEHIND {
            let why = "too many of this server's schemas take too long to check";
            return Err(Misfit::Uncheckable(why.to_owned()));
        }
        let started = match &workers.now {
            Some(worker) => Ok(worker.clone()),
            None => start(),
        };
        let sent = started.map(|sender| {
            let sent = sender.send(job);
            workers.now = Some(sender);
            sent
        });
        if !matches!(sent, Ok(Ok(()))) {
            workers.now = None;
            return Err(Misfit::Uncheckable(
                "the check against the tool's schema could not be run".to_owned(),
            ));
        }
        outcome.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            // It goes on thinking by itself; nobody waits for it again.
            workers.now = None;
            workers.left_behind += 1;
            schema.too_slow.store(true, Ordering::Relaxed);
            Err(late())
        })
    }
}

fn start() -> io::Result<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    let work = move || {
        for Job { schema, args, done } in jobs {
            // Whoever asked may have given up.
            drop(done.send(schema.check(args.as_deref())));
        }
    };
    thread::Builder::new().name("schema".to_owned()).stack_size(STACK).spawn(work)?;
    Ok(sender)
}

fn compile(text: &str) -> Result<Validator, String> {
    if text.is_empty() {
        return Err(format!("the tool's schema is larger than {} KiB", LARGEST >> 10));
    }
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

fn is_index(step: &str) -> bool {
    step.bytes().all(|byte| byte.is_ascii_digit())
}

/// `/options/0/path` → `args.options.0.path`. The names are the agent's: shortened, and without anything unprintable.
fn place(pointer: &str) -> String {
    let mut out = "args".to_owned();
    for step in pointer.split('/').skip(1).take(16) {
        let step = step.replace("~1", "/").replace("~0", "~");
        out.push('.');
        out.extend(step.chars().filter(|c| !c.is_control()).take(64));
    }
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn check(schema: &str, args: &str) -> Result<(), Misfit> {
        let args = (!args.is_empty()).then(|| Raw::parse(args).unwrap());
        Checker::default().check(&Arc::new(ToolSchema::new(schema)), args)
    }

    fn differs(text: &str) -> Result<(), Misfit> {
        Err(Misfit::Differs(text.to_owned()))
    }

    #[test]
    fn a_misfit_names_its_place_and_keyword_and_no_value() {
        let schema = r#"{"type":"object","required":["url"],"additionalProperties":false,
            "properties":{"url":{"type":"string","pattern":"^https:"},"tags":{"items":{"enum":["a"]}}}}"#;
        for (args, said) in [
            (r#"{"url":"https://x"}"#, Ok(())),
            (r#"{"url":"file:///secret"}"#, differs("args.url does not fit the tool's own schema (pattern)")),
            (r#"{"url":7}"#, differs("args.url does not fit the tool's own schema (type)")),
            (r#"{}"#, differs("args does not fit the tool's own schema (required)")),
            ("", differs("args does not fit the tool's own schema (required)")),
            (
                r#"{"url":"https://x","more":1}"#,
                differs("args does not fit the tool's own schema (additionalProperties)"),
            ),
            (
                r#"{"url":"https://x","tags":["a","b"]}"#,
                differs("args.tags.1 does not fit the tool's own schema (enum)"),
            ),
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
    fn a_schema_that_never_ends_is_given_up_and_not_tried_again() {
        let levels: Vec<String> = (0..60)
            .map(|n| {
                format!(
                    r##""n{n}":{{"oneOf":[{{"$ref":"#/$defs/n{0}"}},{{"$ref":"#/$defs/n{0}"}}]}}"##,
                    n + 1
                )
            })
            .collect();
        let schema = format!(
            r##"{{"$ref":"#/$defs/n0","$defs":{{{},"n60":{{"type":"string"}}}}}}"##,
            levels.join(",")
        );
        let schema = Arc::new(ToolSchema::new(&schema));
        let checker = Checker::default();
        let late = Err(Misfit::Uncheckable("the tool's schema takes too long to check".to_owned()));
        assert_eq!(checker.check(&schema, None), late);
        assert!(schema.too_slow.load(Ordering::Relaxed));
        assert_eq!(
            checker.check(&Arc::new(ToolSchema::new("{}")), None),
            Ok(()),
            "others are checked as before"
        );
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
