//! Secrets are masked at capture: before anything is written, and before it is cut to size.
//!
//! What counts as secret: values under telling names ([`names`]), values whose neighbour says so (`selector:
//! "#password"` beside `value`), values of known shapes ([`shapes`]), passwords in command lines, assignments in text, JSON
//! inside strings, and values that are known to be secret ([`literals`]): the server's own, and whatever was masked before in
//! the same session. One pass over the raw text looks for anything that could start all that; most texts have nothing, and are
//! kept as they came.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::distinctiveness::SHORTEST;
use crate::literals::{Literals, Source, Which};
use crate::names::{self, Class};
use crate::{Secret, commands, json, shapes, text, tokens, triggers};

/// How much of arguments or of a result is kept.
pub const KEPT: usize = 64 * 1024;
/// How much is looked at: what is beyond is cut anyway, however much masking shortens what is before.
pub(crate) const LOOKED_AT: usize = KEPT + 64 * 1024;
/// How much of arguments is looked at for secrets that an answer might repeat.
const LISTENED_TO: usize = 1024 * 1024;
/// No secret is longer; one that starts in what is kept ends in what is looked at.
pub(crate) const LONGEST_SECRET: usize = 8 * 1024;
/// A sentence: a reason, an event.
const SENTENCE: usize = 8 * 1024;
/// Secrets that are noted of one text, and their bytes: who writes the text decides how many there seem to be.
const MOST_FOUND: usize = 256;
const MOST_FOUND_BYTES: usize = 64 * 1024;

/// A text as it may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'a> {
    pub text: Cow<'a, str>,
    /// The end is missing.
    pub cut: bool,
    pub masked: bool,
}

impl RedactedText<'_> {
    /// How many places of it are masked. What was written to look like a mask counts as well: nobody who reads it can tell them
    /// apart.
    pub fn masked_places(&self) -> u32 {
        if !self.masked {
            return 0;
        }
        let places = self.text.matches(MARK).count().max(1);
        u32::try_from(places).unwrap_or(u32::MAX)
    }
}

/// A text that had to be written anew.
pub(crate) struct Masked {
    pub(crate) text: String,
    /// A secret was masked; else only a doubtful end was left out.
    pub(crate) changed: bool,
}

/// Masks secrets, those that this session's server was started with and those that it has masked before among them. A clone
/// knows what its original learns.
#[derive(Clone, Default)]
pub struct Masker {
    literals: Arc<RwLock<Literals>>,
    /// Names that a person wants masked besides the known ones, squeezed.
    names: Arc<[String]>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker").field("literals", &*self.read()).field("names", &self.names).finish()
    }
}

impl Masker {
    /// `secrets` are values that must not be written whatever they look like.
    pub fn new(secrets: &[Secret]) -> Masker {
        let masker = Masker::default();
        {
            let mut literals = masker.write();
            secrets.iter().for_each(|secret| literals.give(secret.expose()));
        }
        masker
    }

    /// Masks also what is named so, however it is spelled.
    #[must_use]
    pub fn with_names(self, names: &[String]) -> Masker {
        let mut names: Vec<String> = names.iter().map(|name| names::squeezed(name)).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        Masker { names: names.into(), ..self }
    }

    /// Are there names that only this person knows?
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// JSON, masked and then cut.
    pub fn keep<'a>(&self, text: &'a str) -> RedactedText<'a> {
        self.pass(&[]).keep(text)
    }

    /// The arguments of a call: JSON, masked and then cut. What is masked in them is masked from now on wherever it stands.
    pub fn keep_arguments<'a>(&self, call: u64, text: &'a str) -> RedactedText<'a> {
        let mut pass = self.pass(&[]).listening();
        if text.len() <= LOOKED_AT {
            let kept = pass.keep(text);
            let found = pass.heard();
            if found.is_empty() || !self.learn(Some(call), &found, Source::Typed) {
                return kept;
            }
        } else {
            drop(pass);
            self.hear_arguments(call, text);
        }
        // It may stand in them a second time, where nothing tells.
        let brief = self.read().brief(call);
        self.pass(&brief).keep(text)
    }

    /// The same for arguments that are not kept: their secrets must not be in anything else either.
    pub fn hear_arguments(&self, call: u64, text: &str) {
        let mut pass = self.pass(&[]).listening();
        let text = &text[..text.floor_char_boundary(LISTENED_TO)];
        if pass.may_hold_secrets(text) {
            drop(pass.masked_json(text, true));
        }
        let found = pass.heard();
        self.learn(Some(call), &found, Source::Typed);
    }

    /// The result of a call: JSON, masked and then cut.
    pub fn keep_result<'a>(&self, call: u64, text: &'a str) -> RedactedText<'a> {
        let brief = self.brief(call);
        let mut pass = self.pass(&brief).listening();
        let kept = pass.keep(text);
        let found = pass.heard();
        self.learn(None, &found, Source::Answered);
        kept
    }

    /// The call has its answer: what was too short to be known for longer is forgotten.
    pub fn call_over(&self, call: u64) {
        if self.read().has_brief() {
            self.write().forget_brief(call);
        }
    }

    /// What a server says of a tool: JSON, whole. A member's name says nothing about its value here (`password` in a
    /// schema holds a type), so only what looks like a secret by itself is masked, and as in names nothing that was learned.
    pub fn keep_definition(&self, json: &str) -> String {
        match json::mask_strings(&mut self.pass(&[]).of_names(), json) {
            Ok(masked) => masked,
            // Not JSON after all: nothing that could be shown as a definition.
            Err(json::NotJson) => "null".to_owned(),
        }
    }

    /// The name of a tool, a prompt, a method, a client. Masked is what looks like a secret and what was given as one, not
    /// what was learned: a call with a tool's name for a password would take the tool out of the record.
    pub fn keep_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        self.pass(&[]).of_names().keep_sentence(name)
    }

    /// A sentence for people.
    pub fn keep_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.pass(&[]).keep_sentence(text)
    }

    /// A sentence about this call.
    pub fn keep_text_of<'a>(&self, call: u64, text: &'a str) -> Cow<'a, str> {
        let brief = self.brief(call);
        self.pass(&brief).keep_sentence(text)
    }

    /// The same, however long it is: what is cut before it is masked shows a part of what should be masked whole.
    pub fn keep_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut pass = self.pass(&[]);
        if pass.may_hold_secrets(line) { pass.masked_text(line) } else { Cow::Borrowed(line) }
    }

    /// A command line, argument by argument; a value that follows a telling flag is masked whole.
    pub fn command(&self, command: &[String]) -> Vec<String> {
        let mut pass = self.pass(&[]);
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let passwords = commands::passwords(&words);
        let mut after_flag = false;
        let shown = command.iter().enumerate().map(|(at, argument)| {
            let flag = argument.starts_with('-') && !argument.contains('=');
            let password = passwords.iter().find(|(word, _)| *word == at);
            let kept = match (after_flag && !flag, password) {
                (true, _) => marker(argument),
                (false, Some((_, inside))) => {
                    format!(
                        "{}{}{}",
                        &argument[..inside.start],
                        marker(&argument[inside.clone()]),
                        &argument[inside.end..]
                    )
                }
                // Without the look-up of the calls: a session starts with this, and has few arguments.
                (false, None) => pass.masked_text(argument).into_owned(),
            };
            after_flag = flag && pass.is_secret(argument);
            kept
        });
        shown.collect()
    }

    /// `true` if something is masked now that was not before.
    fn learn(&self, call: Option<u64>, found: &[Found], source: Source) -> bool {
        if found.is_empty() {
            return false;
        }
        let mut literals = self.write();
        let mut new = false;
        for Found { value, sure } in found {
            new |= literals.learn(call, value.expose(), *sure, source);
        }
        new
    }

    fn brief(&self, call: u64) -> Vec<Secret> {
        let literals = self.read();
        if literals.has_brief() { literals.brief(call) } else { Vec::new() }
    }

    fn pass<'m>(&'m self, brief: &'m [Secret]) -> Pass<'m> {
        Pass {
            names: &self.names,
            literals: self.read(),
            which: Which::All,
            brief,
            found: None,
            found_bytes: 0,
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Literals> {
        self.literals.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Literals> {
        self.literals.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A secret that a pass has come upon.
pub(crate) struct Found {
    value: Secret,
    /// Its place says so, not only the words of a sentence.
    sure: bool,
}

/// One way through one text, with what is known at this moment.
pub(crate) struct Pass<'m> {
    names: &'m [String],
    pub(crate) literals: RwLockReadGuard<'m, Literals>,
    pub(crate) which: Which,
    /// Values of the call itself that are too short to be known for longer.
    pub(crate) brief: &'m [Secret],
    /// What it comes upon, if anybody wants to know.
    found: Option<Vec<Found>>,
    /// Bytes of that.
    found_bytes: usize,
}

impl Pass<'_> {
    fn listening(mut self) -> Self {
        self.found = Some(Vec::new());
        self
    }

    /// Leaves out what was learned.
    fn of_names(mut self) -> Self {
        self.which = Which::Given;
        self
    }

    /// Gives way to whoever writes what was heard.
    fn heard(self) -> Vec<Found> {
        self.found.unwrap_or_default()
    }

    /// Notes a value that is masked.
    pub(crate) fn note(&mut self, value: &str, sure: bool) {
        let bytes = self.found_bytes + value.len();
        let Some(found) = self.found.as_mut().filter(|found| found.len() < MOST_FOUND) else { return };
        if value.len() <= LONGEST_SECRET && bytes <= MOST_FOUND_BYTES {
            found.push(Found { value: Secret::new(value.to_owned()), sure });
            self.found_bytes = bytes;
        }
    }

    pub(crate) fn is_own(&self, name: &str) -> bool {
        !self.names.is_empty()
            && name.len() <= names::LONGEST
            && self.names.binary_search(&names::squeezed(name)).is_ok()
    }

    /// Does a value under this name need masking?
    pub(crate) fn class(&self, name: &str) -> Class {
        if self.is_own(name) { Class::Everything } else { names::class(name) }
    }

    pub(crate) fn is_secret(&self, name: &str) -> bool {
        self.class(name) != Class::Plain
    }

    /// Does this text name a secret field, as a selector, a label or a header would?
    pub(crate) fn names_a_secret(&self, text: &str) -> bool {
        names::names_a_secret(text) || self.is_own(text)
    }

    /// Is this value one that is known to be secret?
    pub(crate) fn is_known(&self, value: &str) -> bool {
        self.literals.is(self.which, value) || self.brief.iter().any(|known| known.expose() == value)
    }

    pub(crate) fn may_hold_secrets(&self, text: &str) -> bool {
        // A name of one's own can be spelled in many ways: with such names every text gets the closer look.
        !self.names.is_empty()
            || triggers::any(text)
            || tokens::any(text)
            || self.literals.any(self.which, text)
            || self.brief.iter().any(|value| text.contains(value.expose()))
    }

    fn keep<'a>(&mut self, text: &'a str) -> RedactedText<'a> {
        let near = &text[..text.floor_char_boundary(KEPT + LONGEST_SECRET)];
        if !self.may_hold_secrets(near) {
            return cut(Cow::Borrowed(text), false, false);
        }
        let looked_at = &text[..text.floor_char_boundary(LOOKED_AT)];
        let whole = looked_at.len() == text.len();
        match self.masked_json(looked_at, whole) {
            Some(masked) => cut(Cow::Owned(masked.text), !whole, masked.changed),
            None => cut(Cow::Borrowed(looked_at), !whole, false),
        }
    }

    fn masked_json(&mut self, text: &str, whole: bool) -> Option<Masked> {
        match json::mask(self, text, whole, 0) {
            Ok(masked) => masked,
            // Not JSON after all: masked as the text that it is.
            Err(json::NotJson) => text::mask(self, text, whole),
        }
    }

    fn keep_sentence<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let near = &text[..text.floor_char_boundary(SENTENCE + LONGEST_SECRET)];
        let short = |text: &str| text.floor_char_boundary(SENTENCE);
        if !self.may_hold_secrets(near) {
            return Cow::Borrowed(&text[..short(text)]);
        }
        match self.masked_text(near) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..short(text)]),
            Cow::Owned(mut text) => {
                text.truncate(short(&text));
                Cow::Owned(text)
            }
        }
    }

    fn masked_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        text::mask(self, text, true).map_or(Cow::Borrowed(text), |masked| Cow::Owned(masked.text))
    }
}

/// The values of secret-looking environment variables, and what looks secret in others, for [`Masker::new`].
pub fn secret_values(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (name, value) in environment {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else { continue };
        let named = names::is_secret(&name) && !is_path(&value);
        if named && value.len() >= SHORTEST {
            secrets.push(Secret::new(value));
        } else {
            let looks = shapes::find(&value).into_iter().filter(|found| found.len() >= SHORTEST);
            secrets.extend(looks.map(|found| Secret::new(value[found].to_owned())));
        }
    }
    secrets
}

/// A file or a folder, as far as its looks say: the socket of an agent, the folder one works in. A key in Base64 may begin
/// with a slash, but has not several words between slashes.
pub(crate) fn is_path(value: &str) -> bool {
    let drive = value.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && value.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/");
    let rooted = value.starts_with("~/")
        || (value.starts_with('/') && (value.len() < 32 || value.matches('/').count() > 2));
    drive || (rooted && !tokens::any(value))
}

/// How everything begins that stands in place of a secret.
const MARK: &str = "[masked, ";

/// What stands in place of a secret.
pub(crate) fn marker(secret: &str) -> String {
    format!("{MARK}{} characters]", secret.chars().count())
}

/// Cut at a character, so that what is kept stays text.
fn cut(text: Cow<'_, str>, already: bool, masked: bool) -> RedactedText<'_> {
    if text.len() <= KEPT {
        return RedactedText { text, cut: already, masked };
    }
    let end = text.floor_char_boundary(KEPT);
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    };
    RedactedText { text, cut: true, masked }
}

#[cfg(test)]
#[path = "masker_tests.rs"]
mod tests;
