//! Rules for things that have a name or an address: hidden, denied, of the right scheme, allowed.

use crate::call::RefusalKind;
use crate::glob::Glob;
use crate::limit::Limit;
use crate::methods::Objection;
use crate::name;
use crate::uri::{self, Uri, UriPattern};

/// What the entries of a list are compared with.
pub(crate) trait Entries: Clone + std::fmt::Debug {
    type Entry: Clone + std::fmt::Debug;
    type Subject;

    fn entry(text: &str) -> Self::Entry;
    /// Might somebody take the subject for what the entry means?
    fn refuses(entry: &Self::Entry, subject: &Self::Subject) -> bool;
    /// Is the subject what one of the entries means, to everybody?
    fn admits(entries: &[&Self::Entry], subject: &Self::Subject) -> bool;
    fn covers(wide: &Self::Entry, narrow: &Self::Entry) -> bool;
    fn text(entry: &Self::Entry) -> &str;
}

/// Resources, by prefixes and patterns of their URIs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uris;

impl Entries for Uris {
    type Entry = UriPattern;
    type Subject = Uri;

    fn entry(text: &str) -> UriPattern {
        UriPattern::new(text)
    }

    fn refuses(entry: &UriPattern, subject: &Uri) -> bool {
        entry.refuses(subject)
    }

    fn admits(entries: &[&UriPattern], subject: &Uri) -> bool {
        uri::admitted_by(entries, subject)
    }

    fn covers(wide: &UriPattern, narrow: &UriPattern) -> bool {
        wide.covers(narrow)
    }

    fn text(entry: &UriPattern) -> &str {
        &entry.text
    }
}

/// Prompts, by names and patterns of names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names;

impl Entries for Names {
    type Entry = Glob;
    type Subject = String;

    fn entry(text: &str) -> Glob {
        Glob::new(text)
    }

    fn refuses(entry: &Glob, subject: &String) -> bool {
        entry.matches(subject) || entry.matches_folded(&name::folded(subject))
    }

    fn admits(entries: &[&Glob], subject: &String) -> bool {
        entries.iter().any(|entry| entry.matches(subject))
    }

    fn covers(wide: &Glob, narrow: &Glob) -> bool {
        wide.covers(narrow) && wide.covers_folded(narrow)
    }

    fn text(entry: &Glob) -> &str {
        entry.text()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Listed<E: Entries> {
    pub(crate) pointer: String,
    pub(crate) entry: E::Entry,
}

#[derive(Clone, Debug)]
pub(crate) struct ListRule<E: Entries> {
    pub(crate) pointer: String,
    pub(crate) hide: Vec<Listed<E>>,
    pub(crate) deny: Vec<Listed<E>>,
    pub(crate) allow: Vec<Listed<E>>,
    /// In lower case; `None` where every scheme will do.
    pub(crate) schemes: Option<Vec<String>>,
    /// How what is in no list is refused, if it is.
    pub(crate) rest_refused: Option<RefusalKind>,
    /// Where that is said.
    pub(crate) rest_pointer: String,
    pub(crate) reason: Option<String>,
    pub(crate) limits: Vec<Limit>,
}

impl<E: Entries> ListRule<E> {
    pub(crate) fn hides(&self, subject: &E::Subject) -> bool {
        self.hide.iter().any(|listed| E::refuses(&listed.entry, subject))
    }

    pub(crate) fn refuses_nothing(&self) -> bool {
        !self.looks() && self.rest_refused.is_none()
    }

    /// Does anything here depend on the name or address?
    pub(crate) fn looks(&self) -> bool {
        !(self.hide.is_empty() && self.deny.is_empty() && self.allow.is_empty() && self.schemes.is_none())
    }

    pub(crate) fn denied(&self, rule: &str, otherwise: impl FnOnce() -> String) -> Objection {
        self.objection(RefusalKind::Denied, rule, otherwise)
    }

    fn objection(&self, kind: RefusalKind, rule: &str, otherwise: impl FnOnce() -> String) -> Objection {
        let reason = self.reason.clone().unwrap_or_else(otherwise);
        Objection { kind, rule: rule.to_owned(), reason }
    }

    /// Hidden, denied, of another scheme, not allowed; the rule that lets it through otherwise.
    /// `what` is how the subject is called in sentences.
    pub(crate) fn judge(
        &self,
        subject: &E::Subject,
        what: &str,
        has_scheme: impl Fn(&[String]) -> bool,
    ) -> Result<&str, Objection> {
        let refusing = |list: &'_ [Listed<E>]| -> Option<String> {
            list.iter().find(|listed| E::refuses(&listed.entry, subject)).map(|listed| listed.pointer.clone())
        };
        if let Some(rule) = refusing(&self.hide) {
            // No words of the policy's: whoever asks must not learn that there is something.
            return Err(Objection { kind: RefusalKind::Hidden, rule, reason: format!("{what} is hidden") });
        }
        if let Some(rule) = refusing(&self.deny) {
            return Err(self.denied(&rule, || format!("{what} is denied")));
        }
        if let Some(schemes) = self.schemes.as_deref().filter(|schemes| !has_scheme(schemes)) {
            let rule = format!("{}/schemes", self.pointer);
            return Err(self.denied(&rule, || format!("{what} is not one of {}", schemes.join(", "))));
        }
        if !self.allow.is_empty() {
            let entries: Vec<&E::Entry> = self.allow.iter().map(|listed| &listed.entry).collect();
            if E::admits(&entries, subject) {
                // More than one entry may be needed to cover every reading; the first that fits speaks for them.
                let one = self.allow.iter().find(|listed| E::admits(&[&listed.entry], subject));
                return Ok(one.map_or(&self.pointer, |listed| &listed.pointer));
            }
        }
        match self.rest_refused {
            None => Ok(&self.rest_pointer),
            Some(RefusalKind::Ask) => Err(self.objection(RefusalKind::Ask, &self.rest_pointer, || {
                format!("{what} needs a person's approval, which this version of Callgate cannot ask for yet")
            })),
            Some(kind) => Err(self.objection(kind, &self.rest_pointer, || {
                format!("{what} is not on the list of what is allowed")
            })),
        }
    }
}
