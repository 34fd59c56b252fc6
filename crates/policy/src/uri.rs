//! The address of a resource, as each of its readers may take it, and the entries that it is compared with.
//!
//! A URI is only text until somebody opens it, and nobody here knows who that is. So it has readings: decoded or not, `..`
//! resolved or not, with its query and user or without. What refuses looks for *any* reading that fits; what allows wants
//! *all* of them to fit. What no two readers would agree on is no usable URI at all.

mod host;
mod spelling;

use callgate_protocol::fold::fold;

use rustc_hash::FxHashSet;

use crate::glob::Glob;
use crate::path::plain_separators;
use crate::percent;
use spelling::{Shape, is_scheme, spell};

/// Longer addresses are not opened by anything in earnest.
const LONGEST: usize = 4 * 1024;

/// What a reader makes of the text before it takes it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Take {
    AsWritten,
    /// A path, with `file://` before it or after that was cut off.
    AsPath,
    /// A file on another machine, for who looks at the path alone.
    Hostless,
    /// Without its port, where nobody knows which port is the usual one.
    Portless,
}

/// One way to understand a URI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Reading {
    take: Take,
    /// The names of a file have lost their dots and blanks at the end, as Windows has it.
    trimmed: bool,
    shape: Shape,
    text: String,
}

/// A URI with all its readings.
#[derive(Clone, Debug)]
pub(crate) struct Uri {
    readings: Vec<Reading>,
    /// What the readings say, each once.
    texts: Vec<Spelled>,
}

/// A text, and what a careless reader sees in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spelled {
    text: String,
    folded: String,
}

impl Spelled {
    fn all<'r>(readings: impl Iterator<Item = &'r Reading>) -> Vec<Spelled> {
        let mut texts: Vec<&str> = readings.map(|reading| reading.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        let spelled = |text: &str| Spelled { text: text.to_owned(), folded: fold(text).into_owned() };
        texts.into_iter().map(spelled).collect()
    }
}

impl Uri {
    /// The error says why it cannot be judged, to be read after "the URI".
    pub(crate) fn read(text: &str) -> Result<Uri, &'static str> {
        if text.is_empty() {
            return Err("is empty");
        }
        if text.len() > LONGEST {
            return Err("is too long");
        }
        let mut levels = percent::levels(text)?;
        levels.extend(levels.iter().map(|level| plain_separators(level)).collect::<Vec<_>>());
        levels.sort_unstable();
        levels.dedup();
        let mut readings: FxHashSet<Reading> = FxHashSet::default();
        for level in &levels {
            if level.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffd}')) {
                return Err("holds control characters or bytes that are no text");
            }
            if level.trim() != level {
                return Err("has blanks at its ends");
            }
            for Variant { take, trimmed, text } in variants(level, false) {
                for shape in Shape::that_matter(&text) {
                    readings.insert(Reading { take, trimmed, shape, text: spell(&text, shape)? });
                }
            }
        }
        let readings: Vec<Reading> = readings.into_iter().collect();
        Ok(Uri { texts: Spelled::all(readings.iter()), readings })
    }

    /// Is every reading of one of these schemes (lower case)?
    pub(crate) fn has_scheme_of(&self, schemes: &[String]) -> bool {
        self.readings.iter().all(|reading| {
            let scheme = reading.text.split_once(':').map(|(scheme, _)| scheme).filter(|s| is_scheme(s));
            scheme.is_some_and(|scheme| schemes.iter().any(|allowed| allowed == scheme))
        })
    }
}

/// A text that a reader may begin with.
struct Variant {
    take: Take,
    trimmed: bool,
    text: String,
}

/// The texts that readers may begin with; with `every`, also those that say nothing new.
fn variants(text: &str, every: bool) -> Vec<Variant> {
    let mut takes = vec![(Take::AsWritten, text.to_owned())];
    let slashed = text.replace('\\', "/");
    if slashed != text {
        takes.push((Take::AsWritten, slashed.clone()));
    }
    // A path where a URI was expected.
    if slashed.starts_with('/') {
        takes.push((Take::AsPath, format!("file://{slashed}")));
    } else if matches!(slashed.as_bytes(), [c, b':', b'/', ..] if c.is_ascii_alphabetic()) {
        takes.push((Take::AsPath, format!("file:///{slashed}")));
    }
    if let Some(after) = spelling::after_scheme(&slashed, "file").and_then(|rest| rest.strip_prefix("//")) {
        let (host, path) = after.find('/').map_or((after, ""), |at| after.split_at(at));
        if !spelling::is_local(host) {
            // `file://etc/passwd`: who only cuts `file://` off sees no host.
            takes.push((Take::AsPath, format!("file:///{after}")));
            takes.push((Take::Hostless, format!("file://{path}")));
        }
    }
    match spelling::without_port(text) {
        Some(portless) => takes.push((Take::Portless, portless)),
        None if every => takes.push((Take::Portless, text.to_owned())),
        None => {}
    }
    let mut variants = Vec::new();
    for (take, text) in takes {
        if let Some(rest) = spelling::after_scheme(&text.replace('\\', "/"), "file") {
            let trimmed = rest.split('/').map(spelling::without_tail).collect::<Vec<_>>().join("/");
            if every || trimmed != rest {
                variants.push(Variant { take, trimmed: true, text: format!("file:{trimmed}") });
            }
        }
        variants.push(Variant { take, trimmed: false, text });
    }
    variants
}

/// An entry of `hide`, `deny` or `allow`.
#[derive(Clone, Debug)]
pub(crate) struct UriPattern {
    pub(crate) text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The address itself and what is below it, in each shape.
    Below {
        forms: Vec<Reading>,
        /// The forms of which nothing is cut off.
        whole: Vec<Spelled>,
        /// A `?` may be meant as a wildcard.
        glob: Option<Glob>,
    },
    /// Everything of a scheme: `file:`, `https://`.
    Scheme(String),
    /// With a `*`: the whole address.
    Glob(Glob),
}

impl UriPattern {
    pub(crate) fn new(text: &str) -> UriPattern {
        let kind = match whole_scheme(text) {
            Some(scheme) => Kind::Scheme(scheme),
            None if text.contains('*') => Kind::Glob(Glob::new(&lower_scheme(text))),
            None => below(text),
        };
        UriPattern { text: text.to_owned(), kind }
    }

    /// Might somebody take the URI for one that this entry means?
    pub(crate) fn refuses(&self, uri: &Uri) -> bool {
        uri.texts.iter().any(|found| match &self.kind {
            Kind::Scheme(scheme) => found.text.starts_with(scheme) || found.folded.starts_with(scheme),
            Kind::Glob(glob) => glob_refuses(glob, found),
            Kind::Below { whole, glob, .. } => {
                whole.iter().any(|entry| {
                    is_below(&entry.text, &found.text)
                        || is_below(&entry.folded, &found.folded)
                        // A stream inside a file, for Windows.
                        || found.text.strip_prefix(&entry.text).is_some_and(|rest| rest.starts_with(':'))
                }) || glob.as_ref().is_some_and(|glob| glob_refuses(glob, found))
            }
        })
    }

    fn admits(&self, reading: &Reading) -> bool {
        match &self.kind {
            Kind::Scheme(scheme) => reading.text.starts_with(scheme),
            Kind::Glob(glob) => glob.matches(&reading.text) || glob.matches(without_root(&reading.text)),
            Kind::Below { forms, .. } => forms
                .iter()
                .filter(|form| {
                    (form.take, form.trimmed, form.shape) == (reading.take, reading.trimmed, reading.shape)
                })
                .any(|form| is_below(&form.text, &reading.text)),
        }
    }

    /// Is everything that `other` means also meant by this entry? May say no too often.
    pub(crate) fn covers(&self, other: &UriPattern) -> bool {
        if self.text == other.text {
            return true;
        }
        match (&self.kind, &other.kind) {
            (Kind::Glob(wide), Kind::Glob(narrow)) => wide.covers(narrow) && wide.covers_folded(narrow),
            (Kind::Scheme(scheme), Kind::Below { forms, .. }) => {
                forms.iter().all(|form| form.text.starts_with(scheme))
            }
            (Kind::Below { .. }, Kind::Below { glob: None, .. }) => {
                Uri::read(&other.text).is_ok_and(|uri| admitted_by(&[self], &uri))
            }
            _ => false,
        }
    }
}

/// Does every reading of the URI fit one of the entries?
pub(crate) fn admitted_by(entries: &[&UriPattern], uri: &Uri) -> bool {
    uri.readings.iter().all(|reading| entries.iter().any(|entry| entry.admits(reading)))
}

fn glob_refuses(glob: &Glob, found: &Spelled) -> bool {
    glob.matches(&found.text)
        || glob.matches(without_root(&found.text))
        || glob.matches_folded(&found.folded)
        || glob.matches_folded(without_root(&found.folded))
}

/// `notes://a` is read as `notes://a/`; a pattern may mean either.
fn without_root(text: &str) -> &str {
    text.strip_suffix('/').unwrap_or(text)
}

fn below(text: &str) -> Kind {
    let decoded = percent::decode(text);
    let mut forms: Vec<Reading> = Vec::new();
    let levels: Vec<&str> = std::iter::once(text).chain(decoded.as_deref()).collect();
    let plain: Vec<String> = levels.iter().map(|level| plain_separators(level)).collect();
    for level in levels.into_iter().chain(plain.iter().map(String::as_str)) {
        // A person's own entry may use either slash.
        let level = level.replace('\\', "/");
        for Variant { take, trimmed, text } in variants(&level, true) {
            for shape in Shape::ALL {
                let Ok(text) = spell(&text, shape) else { continue };
                let form = Reading { take, trimmed, shape, text: entry_end(&text).to_owned() };
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
        }
    }
    let glob = text.contains('?').then(|| Glob::new(text));
    // Neither is a file of another machine one of this, nor is what an entry says about a port left out.
    let is_whole =
        |form: &&Reading| form.shape.is_whole() && !matches!(form.take, Take::Hostless | Take::Portless);
    let whole = Spelled::all(forms.iter().filter(is_whole));
    Kind::Below { forms, whole, glob }
}

/// An entry means the folder and what is below it, with or without a slash at its end.
fn entry_end(text: &str) -> &str {
    match text.strip_suffix('/') {
        // The slash of an empty path stays: behind it begins what is below.
        Some(rest)
            if rest.split_once("//").is_none_or(|(_, after)| after.contains('/')) && !rest.ends_with(':') =>
        {
            rest
        }
        _ => text,
    }
}

/// The entry itself, or something below it; never only a longer name.
fn is_below(entry: &str, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(entry) else { return false };
    let opaque = !entry.contains("//");
    rest.is_empty()
        || entry.ends_with('/')
        || rest.starts_with(['/', '?', '#'])
        || (opaque && rest.starts_with(':'))
}

fn whole_scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    (is_scheme(scheme) && matches!(rest, "" | "//")).then(|| format!("{}:", scheme.to_ascii_lowercase()))
}

fn lower_scheme(text: &str) -> String {
    match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => format!("{}:{rest}", scheme.to_ascii_lowercase()),
        _ => text.to_owned(),
    }
}

/// What stands before the first place that a template leaves open.
pub(crate) fn opening(template: &str) -> &str {
    template.split('{').next().unwrap_or(template)
}

/// The template with what is known, up to the first place for which nothing is. `None` where servers would fill it
/// differently: with a place that is no single name, or with a value behind one that is not known.
pub(crate) fn filled(template: &str, values: &[(String, String)]) -> Option<String> {
    let mut out = String::new();
    let (mut rest, mut open) = (template, false);
    while let Some(at) = rest.find('{') {
        let (before, place) = (&rest[..at], &rest[at + 1..]);
        let (expression, after) = place.split_once('}')?;
        rest = after;
        let name = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(expression);
        let name = name.strip_suffix('*').unwrap_or(name);
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return None;
        }
        if !open {
            out.push_str(before);
        }
        match values.iter().find(|(known, _)| known == name) {
            None => open = true,
            Some(_) if open => return None,
            Some((_, value)) => {
                out.extend(expression.chars().next().filter(|c| matches!(c, '#' | '.' | '/')));
                out.push_str(value);
            }
        }
    }
    if !open {
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_as_far_as_its_values_are_known() {
        let values = [("dir".to_owned(), "../etc".to_owned()), ("name".to_owned(), "x".to_owned())];
        for (template, wanted) in [
            ("file:///{path}", Some("file:///")),
            ("file:///{dir}", Some("file:///../etc")),
            ("file:///{+dir}/{name}.txt", Some("file:///../etc/x.txt")),
            ("file://{/dir*}", Some("file:///../etc")),
            ("db://{name}/{table}/y", Some("db://x/")),
            ("plain", Some("plain")),
            ("db://a{", None),
            ("db://{+dir,name}", None),
            ("db://{ dir }", None),
            ("db://{table}{dir}", None),
            ("db://{dir:3}", None),
            ("db://{}", None),
            ("db://{{dir}}", None),
        ] {
            assert_eq!(filled(template, &values).as_deref(), wanted, "{template}");
        }
        assert_eq!(opening("db://a{b}c"), "db://a");
    }

    #[test]
    fn a_wider_entry_covers_a_narrower_one() {
        let covers = |wide: &str, narrow: &str| UriPattern::new(wide).covers(&UriPattern::new(narrow));
        for (wide, narrow) in [
            ("file:///a", "file:///a/b"),
            ("file:///a/", "file:///a"),
            ("file:", "file:///a"),
            ("file:///", "file:///a"),
            ("db://*", "db://a*"),
            ("x", "x"),
        ] {
            assert!(covers(wide, narrow), "{wide} {narrow}");
        }
        for (wide, narrow) in [
            ("file:///a/b", "file:///a"),
            ("file:///a", "file:///ab"),
            ("file:///a", "file:///a/../b"),
            ("file:///a", "file:///*"),
            ("file:///a?b", "file:///a"),
        ] {
            assert!(!covers(wide, narrow), "{wide} {narrow}");
        }
    }
}
