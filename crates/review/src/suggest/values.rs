//! What the values of one argument have in common, if anything. Never from a value that was not kept whole, and never a
//! value that could be a secret.

use std::collections::BTreeSet;

use callgate_protocol::json::{Kind, Raw, write_string};
use callgate_redaction::Masker;

/// Calls that it takes for a folder or a few hosts, for one value, and for a set of them.
const OFTEN_FOR_A_PLACE: u64 = 3;
const OFTEN: u64 = 5;
const OFTEN_FOR_A_SET: u64 = 20;
const SET: usize = 5;
/// Hosts that are written out.
const HOSTS: usize = 8;
const LONGEST_TEXT: usize = 64;
const LONGEST_PATH: usize = 512;
const LONGEST_NUMBER: usize = 18;
/// A run of letters and digits of this length that mixes both may be a key.
const RANDOM: usize = 20;

/// What a rule can say about an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Common {
    /// Paths below this folder.
    Inside(String),
    /// Addresses that begin with one of these.
    Origins(Vec<String>),
    /// JSON values, in order.
    OneOf(Vec<String>),
}

/// The values of one argument of one tool.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Calls that had it.
    pub(super) calls: u64,
    spoiled: bool,
    /// As JSON.
    distinct: BTreeSet<String>,
    /// There are more than could be listed.
    many: bool,
    path: Shared,
    origins: Origins,
}

/// The folder that all values share, as far as was seen.
#[derive(Debug, Default)]
enum Shared {
    #[default]
    Unseen,
    Folder(Folder),
    Nothing,
}

/// The hosts of all values, as long as each is an address.
#[derive(Debug, Default)]
enum Origins {
    #[default]
    Unseen,
    Few(BTreeSet<String>),
    Broken,
}

/// The names on the way to what the paths share. The first is the drive, or empty.
#[derive(Debug)]
struct Folder {
    steps: Vec<String>,
    separator: char,
    /// All paths were this one.
    single: bool,
}

impl Values {
    /// There was one that is not known whole.
    pub(super) fn spoil(&mut self) {
        self.calls += 1;
        self.spoiled = true;
    }

    pub(super) fn add(&mut self, value: Raw<'_>) {
        self.calls += 1;
        if self.spoiled {
            return;
        }
        match value.kind() {
            Kind::String => match value.as_str() {
                Some(text) => self.text(&text),
                None => self.spoiled = true,
            },
            Kind::Number if value.text().len() <= LONGEST_NUMBER && !value.text().contains(['e', 'E']) => {
                self.scalar(value)
            }
            Kind::Bool => self.scalar(value),
            Kind::Array => self.list(value),
            _ => self.spoiled = true,
        }
    }

    fn scalar(&mut self, value: Raw<'_>) {
        (self.path, self.origins) = (Shared::Nothing, Origins::Broken);
        self.one_of(value.text().to_owned());
    }

    fn text(&mut self, text: &str) {
        self.path.add(text);
        self.origins.add(origin(text));
        if text.len() > LONGEST_TEXT || text.chars().any(char::is_control) {
            // Not to be written down one by one.
            self.many = true;
            return;
        }
        let mut json = Vec::new();
        write_string(&mut json, text);
        self.one_of(String::from_utf8(json).unwrap_or_default());
    }

    /// A list of paths can be held to a folder; of other lists nothing can be said.
    fn list(&mut self, value: Raw<'_>) {
        (self.many, self.origins) = (true, Origins::Broken);
        for item in value.items() {
            match item.as_str().filter(|_| item.kind() == Kind::String) {
                Some(text) => self.path.add(&text),
                None => self.path = Shared::Nothing,
            }
        }
    }

    fn one_of(&mut self, json: String) {
        if !self.many {
            self.distinct.insert(json);
            self.many = self.distinct.len() > SET;
        }
    }

    /// The folder that all paths were in, also where not every call had one.
    pub(super) fn folder(&self, name: &str) -> Option<String> {
        match &self.path {
            Shared::Folder(folder) if !self.spoiled && self.calls >= OFTEN_FOR_A_PLACE => {
                folder.text().filter(|folder| is_plain(name, folder))
            }
            _ => None,
        }
    }

    /// What can be said of it in a rule that asks for it, if all calls had it.
    pub(super) fn common(&self, name: &str, calls: u64) -> Option<Common> {
        if self.spoiled || self.calls != calls {
            return None;
        }
        if matches!(self.path, Shared::Folder(_)) {
            return self.folder(name).map(Common::Inside);
        }
        if let Origins::Few(origins) = &self.origins {
            let plain = calls >= OFTEN_FOR_A_PLACE && origins.iter().all(|origin| is_plain(name, origin));
            return plain.then(|| Common::Origins(origins.iter().cloned().collect()));
        }
        let both = self.distinct.contains("true") && self.distinct.contains("false");
        let few = match self.distinct.len() {
            _ if self.many || calls < OFTEN => false,
            1 => true,
            2..=SET => calls >= OFTEN_FOR_A_SET && !both,
            _ => false,
        };
        let plain = || self.distinct.iter().all(|value| is_plain(name, value.trim_matches('"')));
        (few && plain()).then(|| Common::OneOf(self.distinct.iter().cloned().collect()))
    }
}

impl Shared {
    fn add(&mut self, text: &str) {
        *self = match (std::mem::take(self), steps(text)) {
            (Shared::Unseen, Some((steps, separator))) => {
                Shared::Folder(Folder { steps, separator, single: true })
            }
            (Shared::Folder(mut folder), Some((steps, separator))) => match folder.join(&steps, separator) {
                true => Shared::Folder(folder),
                false => Shared::Nothing,
            },
            (Shared::Nothing, _) | (_, None) => Shared::Nothing,
        };
    }
}

impl Origins {
    fn add(&mut self, origin: Option<&str>) {
        *self = match (std::mem::take(self), origin) {
            (Origins::Broken, _) | (_, None) => Origins::Broken,
            (Origins::Unseen, Some(origin)) => Origins::Few([origin.to_owned()].into()),
            (Origins::Few(mut known), Some(origin)) => {
                if !known.contains(origin) {
                    known.insert(origin.to_owned());
                }
                if known.len() > HOSTS { Origins::Broken } else { Origins::Few(known) }
            }
        };
    }
}

impl Folder {
    /// What is left in common; false when that is nothing worth a rule.
    fn join(&mut self, steps: &[String], separator: char) -> bool {
        self.single &= self.steps == steps;
        let shared = self.steps.iter().zip(steps).take_while(|(a, b)| a == b).count();
        self.steps.truncate(shared);
        self.separator == separator && self.steps.len() > 2
    }

    /// The folder, at least two below the root: more would be said about the machine than about the work.
    fn text(&self) -> Option<String> {
        let kept = if self.single && self.steps.len() > 3 { self.steps.len() - 1 } else { self.steps.len() };
        (kept > 2).then(|| self.steps[..kept].join(&self.separator.to_string()))
    }
}

/// An absolute path in its plain form: `/a/b`, `C:\a\b`. What is written otherwise is not drawn from.
fn steps(text: &str) -> Option<(Vec<String>, char)> {
    if text.len() > LONGEST_PATH || text.chars().any(char::is_control) {
        return None;
    }
    let drive = |text: &str| {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
            && bytes.next() == Some(b':')
            && bytes.next() == Some(b'\\')
    };
    let separator = if text.starts_with('/') && !text.contains('\\') {
        '/'
    } else if drive(text) && !text.contains('/') {
        '\\'
    } else {
        return None;
    };
    let text = text.strip_suffix(separator).unwrap_or(text);
    let steps: Vec<String> = text.split(separator).map(str::to_owned).collect();
    let plain = |step: &String| !matches!(step.as_str(), "" | "." | "..") && !step.contains('%');
    (steps.len() > 2 && steps.iter().skip(1).all(plain)).then_some((steps, separator))
}

/// `https://example.com:8080`, as it is written. None when it could be read in more than one way.
fn origin(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let known = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && !scheme.eq_ignore_ascii_case("file");
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    let plain = host
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']'));
    (known && plain && !host.is_empty() && host.len() <= 253).then(|| &text[..scheme.len() + 3 + end])
}

/// Can this be written into a file that people pass around?
pub(super) fn is_plain(name: &str, text: &str) -> bool {
    let mut json = b"{".to_vec();
    write_string(&mut json, name);
    json.push(b':');
    write_string(&mut json, text);
    json.push(b'}');
    let json = String::from_utf8(json).unwrap_or_default();
    !Masker::new(&[]).keep(&json).masked
        && !text.split(|c: char| !c.is_ascii_alphanumeric()).any(looks_random)
}

fn looks_random(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    run.len() >= RANDOM && digits >= 3 && run.len() - digits >= 3
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
