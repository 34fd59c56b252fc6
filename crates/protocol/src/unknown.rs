//! Answers for unknown names: how a server answers for a tool, resource or prompt that it does not have, so that a hidden
//! one can be answered the same.
//!
//! A form is one line with a hole for the id and, where the answer repeats it, one for the name. One answer only suggests a
//! form: what looks like the name may be a word of the server's. Whoever uses it waits for a second name that gives the same
//! one; until then the form is that of the SDK which the server speaks like ([`Sdk`]). Nothing is ever sent to find out.

mod sdk;

pub use sdk::Sdk;

use std::ops::Range;

use crate::id::IdKey;
use crate::json::{Kind, Raw, quoted};
use crate::message::{Body, Incoming, Outcome, Side, read};

/// Stand for the id and for the name. A line of JSON holds no such character as itself.
const ID: char = '\u{1}';
const NAME: char = '\u{2}';

/// Longer answers are not remembered: what is in them beside the name may be about that one call.
const LONGEST: usize = 1024;
/// A shorter name, or a shorter text among the arguments, may be part of anything.
const SHORTEST: usize = 3;
/// An answer that has so much of the beginning of a name may have cut the rest.
const BEGINNING: usize = 8;

/// What can be unknown to a server, and hidden by a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Thing {
    #[default]
    Tool,
    Resource,
    Prompt,
    /// A resource, of which news is wanted: servers answer for that in their own way, most of them without a look at the name.
    Subscription,
    /// The same, given up.
    Unsubscription,
}

impl Thing {
    pub const ALL: [Thing; 5] =
        [Thing::Tool, Thing::Resource, Thing::Prompt, Thing::Subscription, Thing::Unsubscription];

    /// What this request uses.
    pub fn used_by(method: &str) -> Option<Thing> {
        match method {
            "tools/call" => Some(Thing::Tool),
            "resources/read" => Some(Thing::Resource),
            "prompts/get" => Some(Thing::Prompt),
            "resources/subscribe" => Some(Thing::Subscription),
            "resources/unsubscribe" => Some(Thing::Unsubscription),
            _ => None,
        }
    }

    /// As what a server lists it.
    pub fn listed_as(self) -> Thing {
        match self {
            Thing::Subscription | Thing::Unsubscription => Thing::Resource,
            thing => thing,
        }
    }

    /// Did the server take this request for one of these, whatever name it says? A tool that it does not have is no such case.
    pub fn is_accepted_by(self, line: &str) -> bool {
        let taken = || {
            let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { return false };
            matches!(message.body, Body::Response { outcome: Outcome::Result(_), .. })
        };
        self != self.listed_as() && taken()
    }
}

/// A line with a place for the id and perhaps some for the name, which lie in text that is meant for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownForm(String);

/// What an answer was seen to.
#[derive(Clone, Copy, Debug)]
pub struct UnlistedCall<'a> {
    pub thing: Thing,
    pub name: &'a str,
    pub args: Option<Raw<'a>>,
}

impl UnknownForm {
    /// The form that an answer for a name that the server does not list suggests; none, if it is not told by the
    /// answer which part of it is the name, or if it speaks of more than the name. `listed`: is this a name that it lists?
    pub fn seen(line: &str, call: &UnlistedCall<'_>, listed: impl Fn(&str) -> bool) -> Option<UnknownForm> {
        if line.len() > LONGEST || call.name.len() < SHORTEST || !is_plain(call.thing, call.name) {
            return None;
        }
        let failure = Failure::read(line)?;
        if line.contains([ID, NAME]) {
            return None;
        }
        let names = places(line, call.name)?;
        // An id that holds the name tells nothing, and one hole must not lie in another.
        if names.iter().any(|name| name.start < failure.id.end && failure.id.start < name.end) {
            return None;
        }
        if names.is_empty() && failure.echoes(line, call.name) {
            return None;
        }
        let rest = line.replace(call.name, " ");
        let mut words = rest.split(|c| !is_plain_char(call.thing, c));
        let names_listed = words.any(|word| word.len() >= SHORTEST && listed(word));
        if names_listed || call.args.is_some_and(|args| repeats(&rest, args)) {
            return None;
        }
        let mut form = line.to_owned();
        let mut holes: Vec<_> =
            names.into_iter().map(|name| (name, NAME)).chain([(failure.id, ID)]).collect();
        // From the back, so that the first stays where it is.
        holes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, hole) in holes {
            form.replace_range(range, &hole.to_string());
        }
        UnknownForm::from_text(&form)
    }

    /// Is this line what the form makes for this name? None where the answer tells nothing: the thing is there after all, or
    /// its name can be written in more than one way.
    pub fn fits(&self, line: &str, thing: Thing, name: &str) -> Option<bool> {
        let id = Failure::read(line).filter(|_| is_plain(thing, name))?.id;
        Some(self.filled(&line[id], name) == line)
    }

    /// As [`as_text`](Self::as_text) gave it. Anything that does not make a proper answer for every name is none.
    pub fn from_text(text: &str) -> Option<UnknownForm> {
        if text.len() > LONGEST || text.matches(ID).count() != 1 {
            return None;
        }
        // As long as the holes, so that everything stays where it is.
        let failure = Failure::read(&text.replace(ID, "1").replace(NAME, "x"))?;
        let in_text = |hole: usize| failure.texts.iter().any(|text| text.contains(&hole));
        // The first character of a name must not become part of an escape.
        let escaped = |hole: usize| text[..hole].chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
        let proper = text.find(ID) == Some(failure.id.start)
            && text.match_indices(NAME).all(|(name, _)| in_text(name) && !escaped(name));
        proper.then(|| UnknownForm(text.to_owned()))
    }

    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// The answer to this request, without its LF.
    pub fn answer(&self, thing: Thing, id: &IdKey, name: &str) -> Vec<u8> {
        let line = self.filled(&id.to_lexeme(), name);
        match read(Side::Server, line.as_bytes()) {
            Incoming::One(message) => message.wire().into_owned(),
            _ => Sdk::default().unknown(thing).filled(&id.to_lexeme(), name).into_bytes(),
        }
    }

    fn filled(&self, id: &str, name: &str) -> String {
        let quoted = quoted(name);
        let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        self.0.replace(ID, id).replace(NAME, inner)
    }
}

/// A well-formed answer that says that something failed: where in the line its parts stand.
#[derive(Debug)]
struct Failure {
    id: Range<usize>,
    /// What people may read of it, without the quotes.
    texts: Vec<Range<usize>>,
}

impl Failure {
    fn read(line: &str) -> Option<Failure> {
        let Incoming::One(message) = read(Side::Server, line.as_bytes()) else { return None };
        let Body::Response { outcome, .. } = &message.body else { return None };
        let whole = Raw::parse(line).ok()?;
        let is_text = |value: &Raw<'_>| value.kind() == Kind::String;
        let texts: Vec<Raw<'_>> = if matches!(outcome, Outcome::Error(_)) {
            let error = whole.get("error")?;
            error.get("code").filter(|code| code.text().parse::<i64>().is_ok())?;
            let message = error.get("message").filter(is_text)?;
            let data = error.get("data").map(leaves).unwrap_or_default();
            std::iter::once(message).chain(data.into_iter().filter(is_text)).collect()
        } else {
            let content =
                whole.get("result")?.get("content").filter(|content| content.kind() == Kind::Array)?;
            message.tool_failed().then_some(())?;
            content.items().filter_map(|block| block.get("text").filter(is_text)).collect()
        };
        let range = |part: &str| {
            let start = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
            Some(start..start + part.len())
        };
        let inner = |text: Raw<'_>| range(text.text()).map(|text| text.start + 1..text.end - 1);
        Some(Failure {
            id: range(whole.get("id")?.text())?,
            texts: texts.into_iter().filter_map(inner).collect(),
        })
    }

    /// May its text hold this name in another spelling, or a part of it? Then it is not the same for every name.
    fn echoes(&self, line: &str, name: &str) -> bool {
        let letters = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let said: Vec<String> = self.texts.iter().map(|text| letters(&line[text.clone()])).collect();
        let has = |part: &str| said.iter().any(|text| text.contains(part));
        let whole = letters(name);
        has(whole.get(..BEGINNING).unwrap_or(&whole))
            || name
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|part| part.len() >= SHORTEST && has(&letters(part)))
    }
}

/// A name that every server writes in the same way.
fn is_plain(thing: Thing, name: &str) -> bool {
    let is_uri = thing.listed_as() == Thing::Resource;
    name.chars().all(|c| is_plain_char(thing, c)) && (!is_uri || is_normal_uri(name))
}

fn is_plain_char(thing: Thing, c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '.' | '/')
        || (c == ':' && thing.listed_as() == Thing::Resource)
}

/// Some servers write an address as their library reads it: host and scheme in small letters, no port that goes without
/// saying, no steps that lead nowhere, a slash after a bare host. One in which there is nothing of that to do.
fn is_normal_uri(uri: &str) -> bool {
    let Some((scheme, rest)) = uri.split_once(':') else { return false };
    let (host, path) = match rest.strip_prefix("//") {
        Some(after) => after.split_at(after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    };
    let small = |text: &str| !text.contains(|c: char| c.is_ascii_uppercase());
    let gets_a_slash = path.is_empty() && matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp" | "file");
    let steps = path.strip_prefix('/').unwrap_or(path).split('/');
    small(scheme)
        && small(host)
        && !host.contains(':')
        && !gets_a_slash
        && !steps.clone().any(|step| matches!(step, "." | ".."))
        && (path.is_empty() || !steps.clone().any(str::is_empty))
}

/// Every place where the text holds this word; none if one of them is part of another.
fn places(text: &str, word: &str) -> Option<Vec<Range<usize>>> {
    let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let place = |(start, _): (usize, &str)| {
        let end = start + word.len();
        // A full stop may follow it.
        let before = text[..start].chars().next_back();
        (apart(before) && apart(text[end..].chars().next())).then_some(start..end)
    };
    text.match_indices(word).map(place).collect()
}

/// Does the text say anything that stands among these arguments?
fn repeats(text: &str, args: Raw<'_>) -> bool {
    leaves(args).into_iter().filter(|value| matches!(value.kind(), Kind::String | Kind::Number)).any(
        |value| {
            let said = value.as_str().unwrap_or(std::borrow::Cow::Borrowed(value.text()));
            said.len() >= SHORTEST && text.contains(said.as_ref())
        },
    )
}

/// Every value in this one that holds no other.
fn leaves(value: Raw<'_>) -> Vec<Raw<'_>> {
    let (mut left, mut leaves) = (vec![value], Vec::new());
    while let Some(value) = left.pop() {
        match value.kind() {
            Kind::Object => left.extend(value.members().map(|(_, value)| value)),
            Kind::Array => left.extend(value.items()),
            Kind::String | Kind::Number | Kind::Null | Kind::Bool => leaves.push(value),
        }
    }
    leaves
}

#[cfg(test)]
mod tests;
