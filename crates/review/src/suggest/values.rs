//! What the values of one argument have in common, if anything. Never from a value that was not kept whole, and never a
//! value that could be a secret.

use std::collections::BTreeSet;

use callgate_protocol::json::{Kind, Raw, write_string};
use callgate_store::mask::Masker;

/// Calls that it takes for values of one kind, and for a set of them.
const OFTEN: u64 = 5;
const OFTEN_FOR_A_SET: u64 = 20;
const SET: usize = 5;
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
    /// Addresses that begin with this.
    Origin(String),
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
    path: Fold<Folder>,
    origin: Fold<String>,
}

/// Something that all values share, as far as was seen.
#[derive(Debug, Default)]
enum Fold<T> {
    #[default]
    Unseen,
    Shared(T),
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
        let text = match value.kind() {
            Kind::String => value.as_str(),
            Kind::Number if value.text().len() <= LONGEST_NUMBER && !value.text().contains(['e', 'E']) => {
                None
            }
            Kind::Bool => None,
            _ => {
                self.spoiled = true;
                return;
            }
        };
        let Some(text) = text.as_deref() else {
            if value.kind() == Kind::String {
                self.spoiled = true;
                return;
            }
            (self.path, self.origin) = (Fold::Broken, Fold::Broken);
            return self.one_of(value.text().to_owned());
        };
        self.path.add(
            steps(text),
            |folder, (steps, separator)| folder.join(&steps, separator),
            |(steps, separator)| Folder { steps, separator, single: true },
        );
        self.origin.add(origin(text).map(str::to_owned), |known, other| *known == other, |origin| origin);
        if text.len() > LONGEST_TEXT || text.chars().any(char::is_control) {
            // Not to be written down one by one.
            self.many = true;
            return;
        }
        let mut json = Vec::new();
        write_string(&mut json, text);
        self.one_of(String::from_utf8(json).unwrap_or_default());
    }

    fn one_of(&mut self, json: String) {
        if !self.many {
            self.distinct.insert(json);
            self.many = self.distinct.len() > SET;
        }
    }

    /// What can be said of it in a rule, and how many values that was drawn from, if all calls had it.
    pub(super) fn common(&self, name: &str, calls: u64) -> Option<Common> {
        if self.spoiled || self.calls != calls || calls < OFTEN {
            return None;
        }
        if let Fold::Shared(folder) = &self.path {
            let folder = folder.text()?;
            return is_plain(name, &folder).then_some(Common::Inside(folder));
        }
        if let Fold::Shared(origin) = &self.origin {
            return is_plain(name, origin).then(|| Common::Origin(origin.clone()));
        }
        let both = self.distinct.contains("true") && self.distinct.contains("false");
        let few = match self.distinct.len() {
            _ if self.many => false,
            1 => true,
            2..=SET => calls >= OFTEN_FOR_A_SET && !both,
            _ => false,
        };
        let plain = || self.distinct.iter().all(|value| is_plain(name, value.trim_matches('"')));
        (few && plain()).then(|| Common::OneOf(self.distinct.iter().cloned().collect()))
    }
}

impl<T> Fold<T> {
    fn add<S>(&mut self, found: Option<S>, join: impl FnOnce(&mut T, S) -> bool, start: impl FnOnce(S) -> T) {
        *self = match (std::mem::take(self), found) {
            (Fold::Unseen, Some(found)) => Fold::Shared(start(found)),
            (Fold::Shared(mut shared), Some(found)) => match join(&mut shared, found) {
                true => Fold::Shared(shared),
                false => Fold::Broken,
            },
            (Fold::Broken, _) | (_, None) => Fold::Broken,
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
