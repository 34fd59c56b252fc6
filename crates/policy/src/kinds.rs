//! Which of a call's arguments are paths, and which are URLs, however they are called and wherever they stand.
//!
//! Three things tell: the tool's schema, where it is known; the argument's name; and what the value looks like. Each of them
//! can only add: a value that looks like a path is one whatever it is called, unless its name says that it holds words. Only
//! a schema that rules both out, because it takes no free text, is believed against a name.
//! Servers differ in what they take, so this errs on the side of too many.

mod looks;

use std::borrow::Cow;
use std::fmt::Write as _;

use callgate_protocol::json::{Kind, Raw, write_string};

use crate::file::ArgumentKind;
use crate::schema::{ArgumentSchema, Meaning, Part};

/// More of them in one call cannot be judged: each path is looked up on the disk.
const MOST: usize = 1_000;
/// Arguments that are deeper cannot be judged.
const DEEPEST: usize = 64;

/// One value of the kind, with the way to it: `args.paths[1]`.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    pub(crate) label: String,
    json: Cow<'a, str>,
}

impl Given<'_> {
    pub(crate) fn value(&self) -> Option<Raw<'_>> {
        Raw::parse(&self.json).ok()
    }
}

/// Why the values of a kind could not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unbounded {
    TooMany,
    TooDeep,
}

impl Unbounded {
    pub(crate) fn words(self, kind: ArgumentKind) -> String {
        match self {
            Unbounded::TooMany => {
                format!("args holds more than {MOST} {}, too many to be judged", kind.word())
            }
            Unbounded::TooDeep => format!("args is nested too deeply to look for {}", kind.word()),
        }
    }
}

/// Every value of this kind in the arguments.
pub(crate) fn given<'a>(
    args: Option<Raw<'a>>,
    kind: ArgumentKind,
    schema: Option<&ArgumentSchema>,
) -> Result<Vec<Given<'a>>, Unbounded> {
    let mut walk = Walk { kind, label: "args".to_owned(), found: Vec::new() };
    if let Some(args) = args {
        walk.value(args, &At { name: "", part: schema.map(ArgumentSchema::root), of: Meaning::Unsaid }, 0)?;
    }
    Ok(walk.found)
}

/// Is there an argument that is meant to be of this kind, by its name or by the schema's word?
pub(crate) fn takes(part: &Part, kind: ArgumentKind) -> bool {
    let of_items = |part: &Part| part.items.as_ref().map_or(Meaning::Unsaid, |items| items.meaning);
    let is_one = |name: &str, member: &Part| is_meant(kind, name, member.meaning.or_else(of_items(member)));
    part.members.iter().any(|(name, member)| is_one(name, member) || takes(member, kind))
        || part.items.as_ref().is_some_and(|items| takes(items, kind))
}

/// Does an argument's name say that it is of this kind?
pub(crate) fn is_named_so(kind: ArgumentKind, name: &str) -> bool {
    is_meant(kind, name, Meaning::Unsaid)
}

/// What is known of a value before it is looked at.
struct At<'p> {
    /// Of the argument or member that it is, or that it is a list's item of.
    name: &'p str,
    part: Option<&'p Part>,
    /// What the list is meant as that it is an item of, or the object that does not name it.
    of: Meaning,
}

impl At<'_> {
    fn meaning(&self) -> Meaning {
        self.part.map_or(Meaning::Unsaid, |part| part.meaning).or_else(self.of)
    }

    /// What it hands down. A list where the schema wants none is not what the schema speaks of.
    fn handed_down(&self) -> Meaning {
        match self.meaning() {
            Meaning::Neither => Meaning::Unsaid,
            said => said,
        }
    }
}

struct Walk<'a> {
    kind: ArgumentKind,
    label: String,
    found: Vec<Given<'a>>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: Raw<'a>, at: &At<'_>, depth: usize) -> Result<(), Unbounded> {
        if depth > DEEPEST {
            return Err(Unbounded::TooDeep);
        }
        let end = self.label.len();
        let (name, part) = (at.name, at.part);
        match value.kind() {
            Kind::String => {
                let is_one = match value.as_str() {
                    Some(text) => self.is_one(at, &text),
                    // What cannot be read may be anything.
                    None => true,
                };
                if is_one {
                    self.add(Cow::Borrowed(value.text()))?;
                }
            }
            // A server that wants a text may well take a number for one.
            Kind::Number if is_meant(self.kind, name, at.meaning()) => {
                self.add(Cow::Owned(format!("{:?}", value.text())))?
            }
            Kind::Array => {
                let at = At { name, part: part.and_then(|part| part.items.as_deref()), of: at.handed_down() };
                for (i, item) in value.items().enumerate() {
                    // Writing into a String does not fail.
                    let _written = write!(self.label, "[{i}]");
                    self.value(item, &at, depth + 1)?;
                    self.label.truncate(end);
                }
            }
            Kind::Object => {
                let unnamed = part.is_none_or(|part| part.members.is_empty());
                let meant = unnamed && is_meant(self.kind, name, Meaning::Unsaid);
                for (key, member) in value.members() {
                    push_step(&mut self.label, &key);
                    // Members of an object can be named by paths: `{ "files": { "src/a.js": "…" } }`.
                    if is_alike(self.kind, "", &key) || (meant && looks::holds_separator(&key)) {
                        let mut json = Vec::new();
                        write_string(&mut json, &key);
                        self.add(Cow::Owned(String::from_utf8_lossy(&json).into_owned()))?;
                    }
                    let part = part.and_then(|part| part.member(&key));
                    let of = if part.is_none() { at.handed_down() } else { Meaning::Unsaid };
                    self.value(member, &At { name: &key, part, of }, depth + 1)?;
                    self.label.truncate(end);
                }
            }
            Kind::Number | Kind::Bool | Kind::Null => {}
        }
        Ok(())
    }

    fn is_one(&self, at: &At<'_>, text: &str) -> bool {
        let meaning = at.meaning();
        if is_alike(self.kind, at.name, text) {
            return true;
        }
        // An address where the schema says that there is one is no path, though the argument may be called so.
        let is_address = self.kind == ArgumentKind::Paths && meaning == Meaning::Url && looks::is_url(text);
        is_meant(self.kind, at.name, meaning) && !is_address
    }

    fn add(&mut self, json: Cow<'a, str>) -> Result<(), Unbounded> {
        if self.found.len() == MOST {
            return Err(Unbounded::TooMany);
        }
        self.found.push(Given { label: self.label.clone(), json });
        Ok(())
    }
}

/// As paths in policies are written.
fn push_step(label: &mut String, key: &str) {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    // Names are the agent's words, too.
    let shown: String = key.chars().take(60).collect();
    let _written = if plain { write!(label, ".{shown}") } else { write!(label, "[{shown:?}]") };
}

/// By what the schema says, or by the name: neither takes away what the other says.
fn is_meant(kind: ArgumentKind, name: &str, said: Meaning) -> bool {
    match (said, kind) {
        (Meaning::Path | Meaning::Either, ArgumentKind::Paths) => true,
        (Meaning::Url | Meaning::Either, ArgumentKind::Urls) => true,
        (Meaning::Neither, _) => false,
        (_, ArgumentKind::Paths) => is_path_name(name),
        (_, ArgumentKind::Urls) => is_url_name(name),
    }
}

/// By what the value looks like, unless its name says that it holds words.
fn is_alike(kind: ArgumentKind, name: &str, text: &str) -> bool {
    !holds_words(name) && looks::like(kind, text)
}

fn is_path_name(name: &str) -> bool {
    const LAST: [&str; 25] = [
        "path",
        "paths",
        "filepath",
        "filepaths",
        "pathname",
        "file",
        "files",
        "filename",
        "filenames",
        "dir",
        "dirs",
        "directory",
        "directories",
        "folder",
        "folders",
        "cwd",
        "workdir",
        "basedir",
        "outdir",
        "root",
        "roots",
        "outfile",
        "infile",
        "savepath",
        "outputpath",
    ];
    /// Words that stand for much else behind another one: `data_source`.
    const ALONE: [&str; 7] = ["source", "sources", "src", "destination", "destinations", "dest", "dst"];
    /// Paths into other things than a disk.
    const ELSEWHERE: [&str; 5] = ["x", "json", "css", "key", "object"];
    let words = words(name);
    match words.as_slice() {
        [only] => LAST.contains(&only.as_str()) || ALONE.contains(&only.as_str()),
        [.., before, last] => {
            LAST.contains(&last.as_str()) && !(last == "path" && ELSEWHERE.contains(&before.as_str()))
        }
        [] => false,
    }
}

fn is_url_name(name: &str) -> bool {
    const LAST: [&str; 11] =
        ["url", "urls", "uri", "uris", "href", "hrefs", "link", "links", "endpoint", "endpoints", "baseurl"];
    words(name).last().is_some_and(|last| LAST.contains(&last.as_str()))
}

/// Arguments of these names hold words, or places in a page, not places on a disk or the net.
fn holds_words(name: &str) -> bool {
    const LAST: [&str; 18] = [
        "content",
        "contents",
        "text",
        "body",
        "message",
        "html",
        "markdown",
        "title",
        "description",
        "comment",
        "prompt",
        "selector",
        "selectors",
        "xpath",
        "locator",
        "css",
        "subject",
        "summary",
    ];
    let words = words(name);
    words.last().is_some_and(|last| LAST.contains(&last.as_str()))
        || words.as_slice() == ["value"]
        || words.ends_with(&["x".to_owned(), "path".to_owned()])
}

/// `outputPath`, `output_path`, `OUTPUT-PATH` are the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut fresh, mut lower) = (true, false);
    for c in name.chars().take(200) {
        if !c.is_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        (fresh, lower) = (false, c.is_lowercase() || c.is_numeric());
    }
    words
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn found(kind: ArgumentKind, args: &str, schema: Option<&str>) -> Vec<String> {
        let schema = schema.map(|text| ArgumentSchema::read(Raw::parse(text).unwrap()).unwrap());
        let all = given(Some(Raw::parse(args).unwrap()), kind, schema.as_ref()).unwrap();
        all.into_iter().map(|given| given.label).collect()
    }

    #[test]
    fn names_of_paths_are_known_in_every_spelling() {
        for name in [
            "path",
            "paths",
            "Path",
            "file_path",
            "filePath",
            "FILE-PATH",
            "outputPath",
            "savePath",
            "downloadsDir",
            "source",
            "destination",
            "root",
            "cwd",
            "filename",
            "project_root",
            "working_directory",
            "files",
        ] {
            assert!(is_path_name(name), "{name}");
        }
        for name in
            ["xpath", "xPath", "json_path", "profile", "data_source", "url", "selector", "dirty", "", "_"]
        {
            assert!(!is_path_name(name), "{name}");
        }
        for name in ["url", "baseUrl", "base_url", "uri", "href", "link", "API-endpoint"] {
            assert!(is_url_name(name), "{name}");
        }
        for name in ["curl", "linked", "urlencoded", "path"] {
            assert!(!is_url_name(name), "{name}");
        }
    }

    #[test]
    fn every_path_is_found_at_any_depth() {
        use ArgumentKind::{Paths, Urls};
        for (kind, args, wanted) in [
            (Paths, r#"{"path":"a"}"#, vec!["args.path"]),
            (Paths, r#"{"paths":["a","b"]}"#, vec!["args.paths[0]", "args.paths[1]"]),
            (Paths, r#"{"source":"a","destination":"b"}"#, vec!["args.source", "args.destination"]),
            (Paths, r#"{"options":{"outputPath":"x"},"n":1}"#, vec!["args.options.outputPath"]),
            (Paths, r#"{"files":[{"path":"a","content":"/x"}]}"#, vec!["args.files[0].path"]),
            (Paths, r#"{"where":"/etc/passwd"}"#, vec!["args.where"]),
            (Paths, r#"{"where":"~/.ssh"}"#, vec!["args.where"]),
            (Paths, r#"{"where":"a/../../b"}"#, vec!["args.where"]),
            (
                Paths,
                r#"{"a":"~root/x","b":"~root","c":"~","d":"~5","e":"~ 5/6"}"#,
                vec!["args.a", "args.b", "args.c"],
            ),
            (
                Paths,
                r#"{"a":"$HOME","b":"$HOME/x","c":"${HOME}","d":"$5","e":"$5 off"}"#,
                vec!["args.a", "args.b", "args.c"],
            ),
            (Paths, r#"{"a":"%USERPROFILE%","b":"%TEMP%\\x","c":"%s","d":"100%"}"#, vec!["args.a", "args.b"]),
            (Paths, r#"{"a":"x\\..","b":"..","c":"x/.. /y","d":"a..b"}"#, vec!["args.a", "args.b", "args.c"]),
            (
                Paths,
                r#"{"a":"\"/etc/passwd\"","b":"'~/x'","c":"`/x`","d":"\"x\""}"#,
                vec!["args.a", "args.b", "args.c"],
            ),
            (
                Paths,
                r#"{"a":"\u200b/etc","b":"\ufeff~/x","c":"\uff0fetc"}"#,
                vec!["args.a", "args.b", "args.c"],
            ),
            (Paths, r#"{"where":"C:\\x","url":"FILE:///etc"}"#, vec!["args.where", "args.url"]),
            (Paths, r#"{"files":{"src/a.js":"x"}}"#, vec![r#"args.files["src/a.js"]"#]),
            (Paths, r#"{"map":{"/etc/passwd":1}}"#, vec![r#"args.map["/etc/passwd"]"#]),
            (Paths, r#"{"path":5,"root":true,"file":null,"dir":[]}"#, vec!["args.path"]),
            (Paths, r#"{"selector":"//div","content":"/* x */","text":"/etc","message":"../x"}"#, vec![]),
            (Paths, r#"{"code":"// a comment\nx","n":"a/b","q":"x"}"#, vec![]),
            (Urls, r#"{"url":"example.com","q":"https://x"}"#, vec!["args.url", "args.q"]),
            (
                Urls,
                r#"{"q":" JavaScript:alert(1)","r":"http:\\x","s":"a:b","t":"file:/x"}"#,
                vec!["args.q", "args.r", "args.t"],
            ),
        ] {
            assert_eq!(found(kind, args, None), wanted, "{args}");
        }
    }

    #[test]
    fn a_schema_adds_what_names_do_not_tell_and_takes_away_what_cannot_be() {
        use ArgumentKind::{Paths, Urls};
        let schema = r##"{"type":"object","properties":{
            "target":{"type":"string","description":"Absolute path of the file"},
            "where":{"type":"array","items":{"type":"string","format":"path"}},
            "source":{"type":"string","enum":["web","news"]},
            "file":{"type":"integer"},
            "page":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}]},
            "deep":{"$ref":"#/$defs/d"}},
            "$defs":{"d":{"type":"object","properties":{"it":{"type":"string","description":"Path to it"}}}}}"##;
        let args = r#"{"target":"x","where":["y"],"source":"web","file":3,"page":"z","deep":{"it":"w"}}"#;
        assert_eq!(found(Paths, args, Some(schema)), ["args.target", "args.where[0]", "args.deep.it"]);
        assert_eq!(found(Urls, args, Some(schema)), ["args.page"]);
        // What looks like a path is one, whatever the schema makes of it.
        assert_eq!(found(Paths, r#"{"source":"/etc/passwd"}"#, Some(schema)), ["args.source"]);
    }

    #[test]
    fn a_list_that_is_described_as_a_whole_is_held_item_by_item() {
        use ArgumentKind::{Paths, Urls};
        let schema = r#"{"type":"object","properties":{
            "targets":{"type":"array","description":"Paths of the files to read","items":{"type":"string"}},
            "lists":{"type":"array","description":"List of paths","items":{"type":"array","items":{"type":"string"}}},
            "pages":{"description":"URLs of the pages","anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},
            "by_name":{"type":"object","description":"Paths of the files","additionalProperties":{"type":"string"}},
            "names":{"type":"array","description":"Paths to them","items":{"type":"string","enum":["a","b"]}}}}"#;
        let args =
            r#"{"targets":["etc/passwd"],"lists":[["x"]],"pages":["y"],"by_name":{"n":"z"},"names":["a"]}"#;
        let wanted = ["args.targets[0]", "args.lists[0][0]", "args.by_name.n"];
        assert_eq!(found(Paths, args, Some(schema)), wanted);
        assert_eq!(found(Urls, args, Some(schema)), ["args.pages[0]"]);
        let number = r#"{"type":"object","properties":{"file":{"type":"integer"}}}"#;
        assert_eq!(found(Paths, r#"{"file":["etc/passwd"]}"#, Some(number)), ["args.file[0]"]);
    }

    #[test]
    fn a_path_that_the_schema_calls_a_uri_is_both() {
        use ArgumentKind::{Paths, Urls};
        for said in [
            r#"{"type":"string","format":"uri-reference"}"#,
            r#"{"type":"string","description":"URL of it"}"#,
            r#"{"type":"string","format":"uri","description":"Path of it"}"#,
            r#"{"anyOf":[{"type":"string","format":"path"},{"type":"string","format":"uri"}]}"#,
        ] {
            let schema = format!(r#"{{"type":"object","properties":{{"path":{said}}}}}"#);
            for kind in [Paths, Urls] {
                assert_eq!(found(kind, r#"{"path":"etc/passwd"}"#, Some(&schema)), ["args.path"], "{said}");
            }
        }
        let schema = r#"{"type":"object","properties":{"source":{"type":"string","format":"uri"},"file":{"type":"string","format":"uuid"}}}"#;
        assert_eq!(found(Paths, r#"{"source":"https://example.com/x"}"#, Some(schema)), [""; 0]);
        assert_eq!(found(Paths, r#"{"source":"https://../../x"}"#, Some(schema)), ["args.source"]);
        assert_eq!(found(Paths, r#"{"file":"etc/passwd"}"#, Some(schema)), ["args.file"]);
    }

    #[test]
    fn too_much_of_it_is_told_instead_of_being_overlooked() {
        let many = format!(r#"{{"paths":[{}"a"]}}"#, r#""a","#.repeat(MOST));
        let many = given(Some(Raw::parse(&many).unwrap()), ArgumentKind::Paths, None);
        assert_eq!(many.unwrap_err(), Unbounded::TooMany);
        let deep = format!("{}{}", r#"{"a":"#.repeat(100) + "1", "}".repeat(100));
        let deep = given(Some(Raw::parse(&deep).unwrap()), ArgumentKind::Paths, None);
        assert_eq!(deep.unwrap_err(), Unbounded::TooDeep);
    }
}
