//! What a tool's own schema says about its arguments, as far as rules ask: which there are, of which types, and which of them
//! are paths or URLs.
//!
//! It is a server's text, so it is read within bounds and believed only where it is plain. What it says in a way that is not
//! read here counts as unsaid: nobody may conclude anything from that.

use std::collections::BTreeMap;

use callgate_protocol::json::{Kind, Raw};

use crate::file::Path;

/// Larger schemas are not read. Those of real servers have a few kilobytes.
const LARGEST: usize = 256 << 10;
/// So deep a schema is read; what is below counts as unsaid.
const DEEPEST: usize = 12;
/// Reading one may cost so many times its own length, and a little more for short ones: references let the same bytes be read
/// again and again.
const TIMES: usize = 128;
const AT_LEAST: usize = 16 << 10;
/// What is kept of it costs as much as reading so many bytes.
const KEEPING: usize = 128;
/// References with more steps are not followed: each step searches what is left of the schema.
const MOST_STEPS: usize = 16;

/// The arguments of one tool, as its server describes them.
#[derive(Clone, Debug)]
pub struct ArgumentSchema {
    root: Part,
}

/// One argument, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) types: Types,
    /// The only values that it takes, as JSON.
    pub(crate) choices: Option<Vec<String>>,
    pub(crate) meaning: Meaning,
    pub(crate) members: BTreeMap<String, Part>,
    /// It may have members beside these.
    open: bool,
    pub(crate) items: Option<Box<Part>>,
}

/// What a text is meant as, by the schema's own word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Meaning {
    #[default]
    Unsaid,
    Path,
    Url,
    Either,
    /// No text of one's own choice, so neither.
    Neither,
}

impl Meaning {
    pub(crate) fn or_else(self, other: Meaning) -> Meaning {
        if self == Meaning::Unsaid { other } else { self }
    }

    /// Both were said of one value.
    fn and(self, other: Meaning) -> Meaning {
        match (self, other) {
            (Meaning::Path | Meaning::Either, Meaning::Url | Meaning::Either)
            | (Meaning::Url | Meaning::Either, Meaning::Path) => Meaning::Either,
            (mine, theirs) => mine.or_else(theirs),
        }
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

/// Each type with its word for people; numbers and integers are one.
const TYPES: [(Types, &str); 6] = [
    (Types::TEXT, "text"),
    (Types::NUMBER, "a number"),
    (Types::BOOL, "true or false"),
    (Types::LIST, "a list"),
    (Types::OBJECT, "an object"),
    (Types::NULL, "null"),
];

impl Types {
    pub(crate) const TEXT: Types = Types(1);
    pub(crate) const NUMBER: Types = Types(2);
    pub(crate) const BOOL: Types = Types(4);
    pub(crate) const LIST: Types = Types(8);
    pub(crate) const OBJECT: Types = Types(16);
    pub(crate) const NULL: Types = Types(32);
    const NONE: Types = Types(0);
    const ANY: Types = Types(63);

    fn of_word(word: &str) -> Types {
        match word {
            "string" => Types::TEXT,
            "number" | "integer" => Types::NUMBER,
            "boolean" => Types::BOOL,
            "array" => Types::LIST,
            "object" => Types::OBJECT,
            "null" => Types::NULL,
            _ => Types::ANY,
        }
    }

    pub(crate) fn has(self, one: Types) -> bool {
        self.0 & one.0 != 0
    }

    fn and(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(crate) fn each(self) -> impl Iterator<Item = Types> {
        TYPES.iter().map(|(one, _)| *one).filter(move |one| self.has(*one))
    }

    /// `text or null`
    pub(crate) fn words(self) -> String {
        // Whether something may be null is of no interest beside what it is.
        let said = |(one, _): &&(Types, &str)| self.has(*one) && (*one != Types::NULL || self == Types::NULL);
        let words: Vec<&str> = TYPES.iter().filter(said).map(|(_, word)| *word).collect();
        words.join(" or ")
    }
}

/// What a schema says of a path into the arguments.
#[derive(Debug)]
pub(crate) enum Lookup<'s> {
    Found(&'s Part),
    /// It is not there, for certain. With what stands in the place where it was looked for.
    Absent(&'s Part),
    Unsaid,
}

impl ArgumentSchema {
    /// Reads an `inputSchema`; none if that is no object.
    pub fn read(schema: Raw<'_>) -> Option<ArgumentSchema> {
        if schema.kind() != Kind::Object || schema.text().len() > LARGEST {
            return None;
        }
        let left = schema.text().len() * TIMES + AT_LEAST;
        let mut reading = Reading { whole: schema, left, targets: BTreeMap::new() };
        let mut root = reading.part(schema, 0);
        // Arguments are an object, whether the schema says so or not.
        if root.types == Types::ANY {
            root.types = Types::OBJECT;
        }
        Some(ArgumentSchema { root })
    }

    /// Of a tool's whole entry in a list: its name with its schema.
    pub fn of_definition(definition: Raw<'_>) -> Option<ArgumentSchema> {
        definition.get("inputSchema").and_then(ArgumentSchema::read)
    }

    pub(crate) fn root(&self) -> &Part {
        &self.root
    }

    pub(crate) fn look_up(&self, path: &Path) -> Lookup<'_> {
        let mut at = &self.root;
        for step in &path.steps {
            let mut found = None;
            let mut unsaid = false;
            for one in at.types.each() {
                match one {
                    Types::OBJECT => match at.members.get(&step.name) {
                        Some(member) => found = Some(member),
                        None => unsaid |= at.open,
                    },
                    Types::LIST if step.index.is_some() => match &at.items {
                        Some(items) => found = found.or(Some(items)),
                        None => unsaid = true,
                    },
                    // No step leads into anything else.
                    _ => {}
                }
            }
            match found {
                Some(part) => at = part,
                None if unsaid => return Lookup::Unsaid,
                None => return Lookup::Absent(at),
            }
        }
        Lookup::Found(at)
    }
}

impl Part {
    /// About which nothing is said.
    fn anything() -> Part {
        Part {
            types: Types::ANY,
            choices: None,
            meaning: Meaning::Unsaid,
            members: BTreeMap::new(),
            open: true,
            items: None,
        }
    }

    pub(crate) fn is_unsaid(&self) -> bool {
        self.types == Types::ANY
    }

    /// The schema of one member; none if nothing is said of it.
    pub(crate) fn member(&self, name: &str) -> Option<&Part> {
        self.members.get(name)
    }

    /// What fits one of the two.
    fn or(mut self, other: Part) -> Part {
        let both_objects = self.types.has(Types::OBJECT) && other.types.has(Types::OBJECT);
        self.open = match both_objects {
            true => self.open || other.open,
            false => {
                (self.types.has(Types::OBJECT) && self.open) || (other.types.has(Types::OBJECT) && other.open)
            }
        };
        let only_null = |part: &Part| part.types == Types::NULL;
        self.meaning = match (self.meaning, other.meaning) {
            (mine, theirs) if mine == theirs => mine,
            (Meaning::Either, _) | (_, Meaning::Either) => Meaning::Either,
            (Meaning::Path, Meaning::Url) | (Meaning::Url, Meaning::Path) => Meaning::Either,
            (Meaning::Path, _) | (_, Meaning::Path) => Meaning::Path,
            (Meaning::Url, _) | (_, Meaning::Url) => Meaning::Url,
            (_, theirs) if only_null(&self) => theirs,
            (mine, _) if only_null(&other) => mine,
            _ => Meaning::Unsaid,
        };
        self.choices = match (self.choices.take(), other.choices) {
            (Some(mut mine), Some(theirs)) => {
                mine.extend(theirs);
                Some(mine)
            }
            _ => None,
        };
        self.types = self.types.and(other.types);
        for (name, theirs) in other.members {
            let merged = match self.members.remove(&name) {
                Some(mine) => mine.or(theirs),
                None => theirs,
            };
            self.members.insert(name, merged);
        }
        self.items = match (self.items.take(), other.items) {
            (Some(mine), Some(theirs)) => Some(Box::new(mine.or(*theirs))),
            (mine, theirs) => mine.or(theirs),
        };
        self
    }
}

/// A schema on its way, with what is left of its bounds.
struct Reading<'a> {
    whole: Raw<'a>,
    /// Bytes that may still be looked at.
    left: usize,
    /// Where references lead that were followed.
    targets: BTreeMap<String, Option<Raw<'a>>>,
}

impl<'a> Reading<'a> {
    /// Says whether so much may still be spent.
    fn spend(&mut self, bytes: usize) -> bool {
        let enough = bytes <= self.left;
        self.left = self.left.saturating_sub(bytes);
        enough
    }

    fn part(&mut self, schema: Raw<'a>, depth: usize) -> Part {
        let mut part = Part::anything();
        if depth > DEEPEST || !self.spend(schema.text().len() + KEEPING) || schema.kind() != Kind::Object {
            return part;
        }
        let (mut types, mut closed, mut described) = (None, None, Meaning::Unsaid);
        for (key, value) in schema.members() {
            match key.as_ref() {
                "type" => types = Some(types_of(value)),
                "enum" => {
                    let mut choices = Vec::new();
                    for item in value.items() {
                        if !self.spend(KEEPING) {
                            return Part::anything();
                        }
                        choices.push(item.text().to_owned());
                    }
                    part.choices = Some(choices);
                }
                "const" => part.choices = Some(vec![value.text().to_owned()]),
                "format" => part.meaning = value.as_str().map(|word| of_format(&word)).unwrap_or_default(),
                "description" | "title" if described == Meaning::Unsaid => {
                    described = value.as_str().map(|words| of_description(&words)).unwrap_or_default();
                }
                "properties" => {
                    for (name, member) in value.members() {
                        let member = self.part(member, depth + 1);
                        if self.left == 0 {
                            return Part::anything();
                        }
                        part.members.insert(name.into_owned(), member);
                    }
                }
                "additionalProperties" => closed = Some(value.as_bool() == Some(false)),
                "items" if value.kind() == Kind::Object => {
                    part.items = Some(Box::new(self.part(value, depth + 1)));
                }
                "anyOf" | "oneOf" => {
                    let one_of = value.items().map(|item| self.part(item, depth + 1)).reduce(Part::or);
                    // Beside others of its kind it only narrows what they say, which is not read.
                    match one_of {
                        Some(one_of) if is_alone(schema, &key) => return with_words(one_of, schema),
                        _ => return Part::anything(),
                    }
                }
                "$ref" => {
                    let there = value.as_str().and_then(|reference| self.target(&reference));
                    return match there {
                        Some(there) => self.part(there, depth + 1),
                        None => Part::anything(),
                    };
                }
                "allOf"
                | "if"
                | "patternProperties"
                | "prefixItems"
                | "dependentSchemas"
                | "$dynamicRef"
                | "unevaluatedProperties" => return Part::anything(),
                _ => {}
            }
        }
        if let Some(types) = types {
            part.types = types;
        } else if let Some(choices) = &part.choices {
            part.types = choices.iter().map(|choice| type_of(choice)).fold(Types::NONE, Types::and);
        } else if !part.members.is_empty() {
            part.types = Types::OBJECT;
        }
        // A server that names its arguments names all of them, if it does not say otherwise.
        part.open = closed.map_or(part.members.is_empty(), |closed| !closed);
        let holds_text = [Types::TEXT, Types::LIST, Types::OBJECT].iter().any(|one| part.types.has(*one));
        let settled = part.choices.is_some() || !holds_text;
        part.meaning = match part.meaning {
            Meaning::Unsaid if settled => Meaning::Neither,
            said => said.and(described),
        };
        part
    }

    /// `#/$defs/x`; nothing outside of the schema is looked at.
    fn target(&mut self, reference: &str) -> Option<Raw<'a>> {
        if let Some(target) = self.targets.get(reference) {
            return *target;
        }
        let steps = reference.strip_prefix("#/")?;
        if steps.split('/').nth(MOST_STEPS).is_some() {
            return None;
        }
        let target = steps.split('/').try_fold(self.whole, |at, step| {
            if !self.spend(KEEPING) {
                return None;
            }
            let found = at.get(&step.replace("~1", "/").replace("~0", "~"));
            let end = |raw: Raw<'_>| raw.text().as_ptr().addr() + raw.text().len();
            let searched = found.map_or(at.text().len(), |found| end(found) - at.text().as_ptr().addr());
            self.spend(searched).then_some(found).flatten()
        });
        self.targets.insert(reference.to_owned(), target);
        target
    }
}

/// Does the keyword stand beside nothing but words for people?
fn is_alone(schema: Raw<'_>, keyword: &str) -> bool {
    let words = ["title", "description", "default", "examples", "$comment", "deprecated"];
    schema.members().all(|(key, _)| key == keyword || words.contains(&key.as_ref()))
}

/// An alternative is often described outside of it.
fn with_words(mut part: Part, schema: Raw<'_>) -> Part {
    let words = schema.get("description").and_then(Raw::as_str);
    part.meaning = part.meaning.and(words.map(|words| of_description(&words)).unwrap_or_default());
    part
}

fn types_of(value: Raw<'_>) -> Types {
    match value.kind() {
        Kind::String => value.as_str().map_or(Types::ANY, |word| Types::of_word(&word)),
        Kind::Array => {
            let each =
                value.items().map(|item| item.as_str().map_or(Types::ANY, |word| Types::of_word(&word)));
            let all = each.fold(Types::NONE, Types::and);
            if all == Types::NONE { Types::ANY } else { all }
        }
        _ => Types::ANY,
    }
}

fn type_of(json: &str) -> Types {
    Raw::parse(json).map_or(Types::ANY, |raw| match raw.kind() {
        Kind::Null => Types::NULL,
        Kind::Bool => Types::BOOL,
        Kind::Number => Types::NUMBER,
        Kind::String => Types::TEXT,
        Kind::Array => Types::LIST,
        Kind::Object => Types::OBJECT,
    })
}

fn of_format(word: &str) -> Meaning {
    match word {
        "path" | "file-path" | "filepath" | "file" | "directory-path" | "directory" | "folder" => {
            Meaning::Path
        }
        "uri" | "url" | "uri-reference" | "iri" | "iri-reference" => Meaning::Url,
        _ => Meaning::Unsaid,
    }
}

/// By how its description begins; later words may speak of anything.
fn of_description(words: &str) -> Meaning {
    const ARTICLES: [&str; 7] = ["optional ", "the ", "a ", "an ", "list of ", "array of ", "the "];
    const LIKE: [&str; 5] = ["absolute ", "full ", "relative ", "local ", "target "];
    const PATHS: [&str; 9] = [
        "path to",
        "path of",
        "path for",
        "path where",
        "paths to",
        "paths of",
        "file path",
        "directory path",
        "folder path",
    ];
    const URLS: [&str; 4] = ["url ", "urls ", "uri ", "web address"];
    let words: String = words.chars().take(80).flat_map(char::to_lowercase).chain([' ']).collect();
    let mut rest = words.trim_start();
    for leading in ARTICLES.iter().chain(&LIKE) {
        rest = rest.strip_prefix(leading).unwrap_or(rest);
    }
    let absolute = words.contains("absolute path");
    if absolute || ["path ", "paths "].contains(&rest) || PATHS.iter().any(|start| rest.starts_with(start)) {
        Meaning::Path
    } else if URLS.iter().any(|start| rest.starts_with(start)) {
        Meaning::Url
    } else {
        Meaning::Unsaid
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn spent(text: &str) -> (ArgumentSchema, usize) {
        let schema = Raw::parse(text).unwrap();
        let mut reading = Reading { whole: schema, left: usize::MAX, targets: BTreeMap::new() };
        reading.part(schema, 0);
        (ArgumentSchema::read(schema).unwrap(), usize::MAX - reading.left)
    }

    #[test]
    fn a_reference_of_thousands_of_steps_does_not_hang_the_gate() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(4000), "}".repeat(4000));
        let members: Vec<String> = (0..20).map(|i| format!(r##""p{i}":{{"$ref":"#/s"}}"##)).collect();
        let text = format!(
            r##"{{"properties":{{{}}},"s":{{"$ref":"#/n{}"}},"n":{deep}}}"##,
            members.join(","),
            "/a".repeat(3990)
        );
        let (schema, spent) = spent(&text);
        assert!(schema.root().members.values().all(Part::is_unsaid));
        assert!(spent < 30 * text.len(), "{spent} for {}", text.len());
    }

    #[test]
    fn references_to_the_same_bytes_cost_no_more_than_the_bounds_however_many_there_are() {
        let wide = format!(r#"{{"enum":[{}1]}}"#, "1,".repeat(20_000));
        for way in ["", "/x/x/x/x"] {
            let part =
                way.split('/').skip(1).fold(wide.clone(), |inner, name| format!(r#"{{"{name}":{inner}}}"#));
            let members: Vec<String> =
                (0..3000).map(|i| format!(r##""p{i}":{{"$ref":"#/s{way}"}}"##)).collect();
            let text = format!(r#"{{"s":{part},"properties":{{{}}}}}"#, members.join(","));
            let schema = ArgumentSchema::read(Raw::parse(&text).unwrap()).unwrap();
            assert!(schema.root().members.is_empty(), "what is not read counts as unsaid");
            assert!(schema.root().open);
        }
    }

    #[test]
    fn references_as_servers_write_them_are_followed() {
        let members: Vec<String> =
            (0..60).map(|i| format!(r##""p{i}":{{"$ref":"#/$defs/d{i}"}}"##)).collect();
        let defs: Vec<String> = (0..60)
            .map(|i| format!(r##""d{i}":{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/e"}}}}}}"##))
            .collect();
        let text = format!(
            r##"{{"properties":{{{}}},"$defs":{{{},"e":{{"enum":["a","b"]}}}}}}"##,
            members.join(","),
            defs.join(",")
        );
        let (schema, _) = spent(&text);
        let is_read = |part: &Part| part.member("x").is_some_and(|x| x.choices.is_some());
        assert_eq!(schema.root().members.values().filter(|part| is_read(part)).count(), 60);
    }
}
