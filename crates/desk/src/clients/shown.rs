//! Clients' files for people: nothing secret, nothing that hides.

use std::path::Path;

use callgate_clients::entry::Local;
use callgate_clients::survey::Entry;
use callgate_policy::diff::unified;
use callgate_secrets::SCHEME;
use callgate_store::mask::{self, Masker};

use super::windowed::windowed;
use crate::text::harmless;

/// The path as people write it.
pub(crate) fn path(home: &Path, path: &Path) -> String {
    harmless(&match path.strip_prefix(home) {
        Ok(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        Err(_) => path.display().to_string(),
    })
}

/// What an entry starts, in one line.
pub(super) fn command(entry: &Entry) -> String {
    let Some(local) = entry.local() else { return String::new() };
    let words: Vec<_> = local.words().map(str::to_owned).collect();
    harmless(&masker([entry]).command(&words).join(" "))
}

/// What an edit changes, line by line.
pub(super) fn diff(texts: (&str, &str), names: (&str, &str), masker: &Masker) -> String {
    diff_lines(texts, names, masker).join("\n")
}

/// Masked first, and then cut to what a person can look at: a part of a secret is a secret.
pub fn diff_lines(texts: (&str, &str), names: (&str, &str), masker: &Masker) -> Vec<String> {
    let lines = unified(texts.0, texts.1, names);
    windowed(lines.lines().map(|line| masked(line, masker)).collect())
}

/// A reference to the keychain is no secret, whatever it stands for: it is shown.
fn masked(line: &str, masker: &Masker) -> String {
    let (mut rest, mut without, mut references) = (line, String::new(), Vec::new());
    while let Some(at) = rest.find(SCHEME) {
        let (before, reference) = rest.split_at(at);
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '_' | '-' | '…');
        let end = reference.find(|c| !name(c)).unwrap_or(reference.len());
        without.push_str(before);
        // A mask is not masked once more.
        without.push_str(&format!("[masked {}]", references.len()));
        references.push(&reference[..end]);
        rest = &reference[end..];
    }
    without.push_str(rest);
    let mut masked = masker.keep_line(&without).into_owned();
    for (at, reference) in references.iter().enumerate() {
        masked = masked.replacen(&format!("[masked {at}]"), reference, 1);
    }
    masked
}

/// Knows the values of every variable that an entry sets, whatever they look like, and the arguments that follow a telling
/// flag: in a file they stand apart from it.
pub fn masker<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Masker {
    masker_of(entries.into_iter().filter_map(Entry::local))
}

/// The same for what is in no file yet.
pub fn masker_of<'a>(locals: impl IntoIterator<Item = &'a Local>) -> Masker {
    let mut secrets = Vec::new();
    for local in locals {
        let variables = || local.env.iter().map(|(name, value)| (name, &value.value));
        secrets.extend(mask::secret_values(variables().map(|(name, value)| (name.into(), value.into()))));
        // A folder is no secret, and masked it would make every path below it unreadable.
        secrets.extend(
            variables().map(|(_, value)| value).filter(|value| !Path::new(value).is_absolute()).cloned(),
        );
        let words: Vec<_> = local.words().map(str::to_owned).collect();
        let shown = Masker::default().command(&words);
        let whole = words.into_iter().zip(shown).filter(|(_, shown)| shown.starts_with("[masked, "));
        secrets.extend(whole.map(|(word, _)| word));
    }
    Masker::new(&secrets)
}
