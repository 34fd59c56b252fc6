//! What a server listed last: `tools/<server>.json`. For people and for suggestions, when no session is there to ask, and for
//! rules about kinds of arguments until a session has a list of its own. Text of a server is hostile: masked, capped, and checked again when it is read.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use callgate_policy::lint::ServerTools;
use callgate_policy::{ArgumentSchema, Policy};
use callgate_protocol::json::Raw;
use callgate_protocol::unknown::Thing;

use callgate_home::{Home, Locked, StoreError, atomic, read_private_up_to, try_lock};
use callgate_redaction::Masker;

use crate::KnownClasses;

/// No more tools than this are kept,
pub const MOST_TOOLS: usize = 10_000;
/// in a file no larger than this.
pub const MOST_BYTES: usize = 8 << 20;
/// What a file holds beside its tools.
const AROUND: usize = 128 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    pub server: String,
    /// When this was listed for the first time, in milliseconds since 1970.
    pub seen_ms: i64,
    pub tools: Vec<KnownTool>,
    /// The package that the server which listed them was installed from, if that is a known one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed: Option<String>,
    /// There were more than are kept.
    #[serde(default)]
    pub cut: bool,
    /// How it answers for what it does not list: forms that two such names had in common.
    #[serde(default, alias = "unknown_tools", skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownAnswer>,
}

/// The form of one such answer, as `protocol::unknown` writes and reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownAnswer {
    #[serde(default, with = "ThingName")]
    pub thing: Thing,
    /// What the server said of itself when it was seen: another version may answer otherwise.
    pub server_info: String,
    /// It was asked without a handshake.
    pub stateless: bool,
    pub form: String,
}

/// How the file calls it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Thing", rename_all = "lowercase")]
enum ThingName {
    Tool,
    Resource,
    Prompt,
    Subscription,
    Unsubscription,
}

/// Of versions, with a handshake and without, no more than these are remembered of each thing.
const MOST_ANSWERS: usize = 4;
/// What is said of itself by a server that is longer than this is not remembered.
const LONGEST_ANSWER: usize = 4096;

/// Another session writes the same file for a moment. One that hangs while it does must not hold up this one.
const PATIENCE: Duration = Duration::from_millis(500);
const RETRY: Duration = Duration::from_millis(5);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownTool {
    pub name: String,
    /// The tool's entry in the list: one JSON object, secrets masked.
    pub definition: String,
}

/// Whose list it is.
#[derive(Clone, Copy, Debug)]
pub struct Lister<'a> {
    pub server: &'a str,
    /// As [`Catalogue::installed`].
    pub installed: Option<&'a str>,
}

impl<'a> From<&'a str> for Lister<'a> {
    fn from(server: &'a str) -> Lister<'a> {
        Lister { server, installed: None }
    }
}

impl Catalogue {
    /// What rules can be held against.
    pub fn server_tools(&self) -> ServerTools {
        let schema =
            |tool: &KnownTool| Raw::parse(&tool.definition).ok().and_then(ArgumentSchema::of_definition);
        ServerTools::new(self.tools.iter().map(|tool| (tool.name.clone(), schema(tool))), !self.cut)
    }
}

/// Tells a policy that judges beside a server what that server listed last, if its rules ask for it. Without it they judge kinds
/// of arguments by names and looks alone, and count every tool as of the cautious class.
pub fn describe(home: &Home, server: &str, policy: &mut Policy) {
    if !policy.asks_for_kinds() && !policy.asks_for_classes() {
        return;
    }
    let Ok(Some(known)) = read(home, server) else { return };
    if policy.asks_for_kinds() {
        policy.know_tools(known.server_tools());
    }
    if policy.asks_for_classes() {
        policy.know_classes(Arc::new(KnownClasses::of_catalogue(home, known)));
    }
}

/// What the server of a policy file listed last, whatever that server is called: names cannot be told from file names.
pub fn of_policy(home: &Home, policy: &Path) -> Option<Catalogue> {
    let path = home.path().join("tools").join(policy.file_name()?);
    let text = read_private_up_to(&path, MOST_BYTES as u64).ok()?;
    let named: FileOwner = serde_json::from_str(&text).ok()?;
    let known = read(home, &named.server).ok().flatten();
    known.filter(|known| home.policy(&known.server) == policy)
}

/// As much of a file as says whose it is.
#[derive(Deserialize)]
struct FileOwner {
    server: String,
}

/// Keeps what a server listed, given as names with the whole entries. Writes nothing if that is what it listed last;
/// says whether it wrote. An error if another session is at it for too long.
pub fn write<'t>(
    home: &Home,
    masker: &Masker,
    lister: impl Into<Lister<'t>>,
    seen_ms: i64,
    listed: impl IntoIterator<Item = (&'t str, Raw<'t>)>,
) -> Result<bool, StoreError> {
    let Lister { server, installed } = lister.into();
    let (mut tools, mut bytes, mut cut) = (Vec::new(), AROUND + 6 * server.len(), false);
    for (name, definition) in listed {
        let definition = masker.keep_definition(definition.text());
        let tool = KnownTool { name: masker.keep_name(name).into_owned(), definition };
        bytes += serde_json::to_string(&tool).map_or(MOST_BYTES, |text| text.len() + 1);
        if bytes > MOST_BYTES || tools.len() == MOST_TOOLS {
            cut = true;
            break;
        }
        tools.push(tool);
    }
    let _alone = lock(home, server)?;
    let known = read(home, server).ok().flatten();
    if known.as_ref().is_some_and(|known| {
        (&known.tools, known.cut, known.installed.as_deref()) == (&tools, cut, installed)
    }) {
        return Ok(false);
    }
    let unknown = known.map(|known| known.unknown).unwrap_or_default();
    replace(
        home,
        &Catalogue {
            server: server.to_owned(),
            seen_ms,
            tools,
            installed: installed.map(str::to_owned),
            cut,
            unknown,
        },
    )?;
    Ok(true)
}

/// Remembers how a server whose list is kept answers for what it does not have. Says whether it wrote. An
/// answer that holds a secret is not remembered.
pub fn keep_unknown(
    home: &Home,
    masker: &Masker,
    server: &str,
    answer: &UnknownAnswer,
) -> Result<bool, StoreError> {
    let too_long = answer.form.len() + answer.server_info.len() > LONGEST_ANSWER;
    if too_long || masker.keep_line(&answer.form) != answer.form {
        return Ok(false);
    }
    change_unknown(home, server, |known| {
        if known.contains(answer) {
            return;
        }
        let same = |other: &UnknownAnswer| {
            (&other.server_info, other.stateless, other.thing)
                == (&answer.server_info, answer.stateless, answer.thing)
        };
        known.retain(|other| !same(other));
        known.insert(0, answer.clone());
        let mut of_thing = 0;
        known.retain(|other| {
            of_thing += usize::from(other.thing == answer.thing);
            other.thing != answer.thing || of_thing <= MOST_ANSWERS
        });
    })
}

/// Takes back what was remembered, since the server answered otherwise. What another session learned since stays.
pub fn forget_unknown(home: &Home, server: &str, answer: &UnknownAnswer) -> Result<bool, StoreError> {
    change_unknown(home, server, |known| known.retain(|other| other != answer))
}

fn change_unknown(
    home: &Home,
    server: &str,
    change: impl FnOnce(&mut Vec<UnknownAnswer>),
) -> Result<bool, StoreError> {
    let _alone = lock(home, server)?;
    let Some(mut known) = read(home, server)? else { return Ok(false) };
    let before = known.unknown.clone();
    change(&mut known.unknown);
    if known.unknown == before {
        return Ok(false);
    }
    replace(home, &known)?;
    Ok(true)
}

/// From reading to having written: else one session's old list overwrites the newer one of another.
fn lock(home: &Home, server: &str) -> Result<Locked, StoreError> {
    let path = home.catalogue_lock(server);
    let fail = |error: std::io::Error| StoreError::io("lock", &path, &error);
    let since = Instant::now();
    loop {
        if let Some(alone) = try_lock(&path).map_err(fail)? {
            return Ok(alone);
        }
        if since.elapsed() > PATIENCE {
            return Err(fail(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                "another session is writing it",
            )));
        }
        std::thread::sleep(RETRY);
    }
}

fn replace(home: &Home, catalogue: &Catalogue) -> Result<(), StoreError> {
    let path = home.catalogue(&catalogue.server);
    let fail = |error: std::io::Error| StoreError::io("write", &path, &error);
    let text = serde_json::to_vec(catalogue).map_err(|error| fail(std::io::Error::other(error)))?;
    // Worth little after a power loss: the next list brings it back.
    atomic::swap(&path, &text).map_err(fail)
}

/// What the server listed last, if it is known. A file that is not as we write them is an error, for people to see.
pub fn read(home: &Home, server: &str) -> Result<Option<Catalogue>, StoreError> {
    let path = home.catalogue(server);
    let fail = |error: std::io::Error| StoreError::io("read", &path, &error);
    let broken = |why: &str| fail(std::io::Error::new(std::io::ErrorKind::InvalidData, why.to_owned()));
    let text = match read_private_up_to(&path, MOST_BYTES as u64) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let catalogue: Catalogue = serde_json::from_str(&text).map_err(|error| broken(&error.to_string()))?;
    if catalogue.server != server {
        return Err(broken("it is about another server"));
    }
    if catalogue.tools.len() > MOST_TOOLS {
        return Err(broken("it names too many tools"));
    }
    if catalogue.tools.iter().any(|tool| Raw::parse(&tool.definition).is_err()) {
        return Err(broken("a tool in it is not one JSON value"));
    }
    Ok(Some(catalogue))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::prepare::testing::home;

    fn list<'t>(tools: &'t [(&'t str, &'t str)]) -> Vec<(&'t str, Raw<'t>)> {
        tools.iter().map(|(name, text)| (*name, Raw::parse(text).unwrap())).collect()
    }

    #[test]
    fn what_was_listed_last_is_read_back_and_written_only_when_it_changed() {
        let (_folder, home) = home();
        let masker = Masker::new(&[callgate_redaction::Secret::new("s3cr3t-of-the-server".to_owned())]);
        assert_eq!(read(&home, "My Server").unwrap(), None);
        let login = r#"{"name":"login","description":"uses s3cr3t-of-the-server","inputSchema":{"properties":{"password":{"type":"string"}}}}"#;
        let tools = [("login", login), ("get", r#"{"name":"get"}"#)];
        assert!(write(&home, &masker, "My Server", 5, list(&tools)).unwrap());
        assert!(!write(&home, &masker, "My Server", 9, list(&tools)).unwrap());
        let known = read(&home, "My Server").unwrap().unwrap();
        assert_eq!((known.seen_ms, known.cut, known.tools.len()), (5, false, 2));
        let definition = &known.tools[0].definition;
        assert!(definition.contains(r#""password":{"type":"string"}"#), "the schema stays: {definition}");
        assert!(!definition.contains("s3cr3t"), "{definition}");
        assert_eq!(known.tools[1].definition, r#"{"name":"get"}"#);
        assert!(write(&home, &masker, "My Server", 9, list(&tools[1..])).unwrap());
        assert_eq!(read(&home, "My Server").unwrap().unwrap().tools.len(), 1);
    }

    #[test]
    fn a_tool_whose_name_was_typed_as_a_password_is_listed_by_its_name() {
        let (_folder, home) = home();
        let masker = Masker::default();
        masker.keep_arguments(1, r#"{"password":"write_file"}"#);
        let definition = r#"{"name":"write_file"}"#;
        write(&home, &masker, "s", 1, list(&[("write_file", definition)])).unwrap();
        let tool = read(&home, "s").unwrap().unwrap().tools.remove(0);
        assert_eq!((tool.name.as_str(), tool.definition.as_str()), ("write_file", definition));
    }

    #[test]
    fn how_unknown_tools_are_answered_is_kept_with_the_list_and_outlives_another_list() {
        let (_folder, home) = home();
        let masker = Masker::default();
        let answer = |info: &str, form: &str| UnknownAnswer {
            thing: Thing::Tool,
            server_info: info.to_owned(),
            stateless: false,
            form: form.to_owned(),
        };
        let first = answer("v1", "no \u{2} for \u{1}");
        assert!(!keep_unknown(&home, &masker, "s", &first).unwrap(), "there is no list to keep it with");
        write(&home, &masker, "s", 1, list(&[("get", "{}")])).unwrap();
        assert!(keep_unknown(&home, &masker, "s", &first).unwrap());
        assert!(!keep_unknown(&home, &masker, "s", &first).unwrap(), "nothing is written twice");
        write(&home, &masker, "s", 2, list(&[("put", "{}")])).unwrap();
        assert_eq!(read(&home, "s").unwrap().unwrap().unknown, std::slice::from_ref(&first));
        let changed = answer("v1", "never heard of \u{2} \u{1}");
        assert!(keep_unknown(&home, &masker, "s", &changed).unwrap());
        for version in 2..9 {
            keep_unknown(&home, &masker, "s", &answer(&format!("v{version}"), "x")).unwrap();
        }
        let of_resources = UnknownAnswer { thing: Thing::Resource, ..changed };
        assert!(keep_unknown(&home, &masker, "s", &of_resources).unwrap());
        let known = read(&home, "s").unwrap().unwrap().unknown;
        assert_eq!((known.len(), known[1].server_info.as_str()), (MOST_ANSWERS + 1, "v8"));
        assert_eq!(known[0], of_resources, "beside those of tools");
        let token = answer("v1", "bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz no \u{2} for \u{1}");
        assert!(!keep_unknown(&home, &masker, "s", &token).unwrap(), "it holds a secret");
    }

    #[test]
    fn what_an_older_version_kept_of_unknown_tools_is_read() {
        let (_folder, home) = home();
        let kept = r#"{"server":"s","seen_ms":1,"tools":[],"unknown_tools":[{"server_info":"v1","stateless":false,"form":"x"}]}"#;
        atomic::replace(&home.catalogue("s"), kept.as_bytes()).unwrap();
        let known = read(&home, "s").unwrap().unwrap().unknown;
        assert_eq!((known[0].thing, known[0].form.as_str()), (Thing::Tool, "x"));
    }

    #[test]
    fn an_answer_that_is_taken_back_is_gone_unless_it_is_another_one_by_now() {
        let (_folder, home) = home();
        let masker = Masker::default();
        let answer = |form: &str| UnknownAnswer {
            thing: Thing::Tool,
            server_info: String::new(),
            stateless: false,
            form: form.to_owned(),
        };
        write(&home, &masker, "s", 1, list(&[("get", "{}")])).unwrap();
        keep_unknown(&home, &masker, "s", &answer("new")).unwrap();
        assert!(!forget_unknown(&home, "s", &answer("old")).unwrap());
        assert_eq!(read(&home, "s").unwrap().unwrap().unknown, [answer("new")]);
        assert!(forget_unknown(&home, "s", &answer("new")).unwrap());
        assert_eq!(read(&home, "s").unwrap().unwrap().unknown, []);
    }

    #[test]
    fn an_old_list_does_not_come_back_while_sessions_write_at_once() {
        let (_folder, home) = home();
        let masker = Masker::default();
        write(&home, &masker, "s", 1, list(&[("t0", "{}")])).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..60 {
                    let form = round.to_string();
                    let answer = UnknownAnswer {
                        thing: Thing::Tool,
                        server_info: String::new(),
                        stateless: false,
                        form,
                    };
                    keep_unknown(&home, &masker, "s", &answer).unwrap();
                    let known = read(&home, "s").unwrap().unwrap().unknown;
                    assert!(known.contains(&answer), "{answer:?} got lost: {known:?}");
                }
            });
            for round in 1..60 {
                let name = format!("t{round}");
                write(&home, &masker, "s", 1, list(&[(&name, "{}")])).unwrap();
                assert_eq!(read(&home, "s").unwrap().unwrap().tools[0].name, name);
            }
        });
    }

    #[test]
    fn a_session_that_hangs_while_it_writes_holds_up_no_other() {
        let (_folder, home) = home();
        let _alone = try_lock(&home.catalogue_lock("s")).unwrap().unwrap();
        let error = write(&home, &Masker::default(), "s", 1, list(&[("x", "{}")])).unwrap_err().to_string();
        assert!(error.contains("another session is writing it"), "{error}");
        assert!(write(&home, &Masker::default(), "t", 1, list(&[("x", "{}")])).unwrap(), "another server's");
    }

    #[test]
    fn a_flood_of_tools_is_cut_and_what_is_kept_can_be_read() {
        let (_folder, home) = home();
        let masker = Masker::default();
        let small = vec![("x", "{}"); MOST_TOOLS + 1];
        write(&home, &masker, "s", 1, list(&small)).unwrap();
        let known = read(&home, "s").unwrap().unwrap();
        assert!(known.cut && known.tools.len() == MOST_TOOLS);
        let large = format!("\"{}\"", "\\\"".repeat(200_000));
        let huge = vec![("x", large.as_str()); 30];
        write(&home, &masker, "s", 1, list(&huge)).unwrap();
        let known = read(&home, "s").unwrap().unwrap();
        assert!(known.cut && !known.tools.is_empty());
        assert!(std::fs::metadata(home.catalogue("s")).unwrap().len() <= MOST_BYTES as u64);
    }

    #[test]
    fn a_file_that_is_not_ours_is_an_error_with_words_and_is_replaced() {
        let (_folder, home) = home();
        for text in [
            "",
            "[]",
            "{}",
            r#"{"server":"t","seen_ms":1,"tools":[]}"#,
            r#"{"server":"s","seen_ms":1,"tools":[{"name":"x","definition":"{"}]}"#,
            &"[".repeat(100_000),
            &" ".repeat(MOST_BYTES + 1),
        ] {
            atomic::replace(&home.catalogue("s"), text.as_bytes()).unwrap();
            let error = read(&home, "s").unwrap_err().to_string();
            assert!(error.starts_with("cannot read "), "{error}");
            assert!(write(&home, &Masker::default(), "s", 1, list(&[("x", "{}")])).unwrap());
            assert!(read(&home, "s").unwrap().is_some());
        }
    }
}
