//! Clients' files for people: nothing secret, nothing that hides.

use std::path::Path;

use callgate_clients::entry::Local;
use callgate_clients::survey::Entry;
use callgate_redaction as mask;
use callgate_redaction::{Masker, Secret};
use callgate_secrets::SCHEME;
use callgate_text::harmless;

use crate::diff::unified;
use crate::long_lines::windowed;

/// The path as people write it.
pub fn path(home: &Path, path: &Path) -> String {
    harmless(&match path.strip_prefix(home) {
        Ok(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        Err(_) => path.display().to_string(),
    })
}

/// A client as people know it (`Claude Desktop`, for `claude-desktop`), for a sentence; as it calls itself where nobody
/// knows it.
pub fn client_name(client: &str) -> String {
    let same = |known: &&callgate_clients::Client| callgate_policy::same_client(known.id, client);
    match callgate_clients::table::clients().iter().find(same) {
        Some(known) => known.name.to_owned(),
        None if client == callgate_clients::trial::CLIENT => "Callgate (Test now)".to_owned(),
        None => callgate_text::name(client),
    }
}

/// What an entry starts, in one line.
pub(crate) fn command(entry: &Entry) -> String {
    let Some(local) = entry.local() else { return String::new() };
    let words: Vec<_> = local.words().map(str::to_owned).collect();
    harmless(&masker([entry]).command(&words).join(" "))
}

/// What an edit changes, line by line.
pub(crate) fn diff(texts: (&str, &str), names: (&str, &str), masker: &Masker) -> String {
    diff_lines(texts, names, masker).join("\n")
}

/// Masked first, and then cut to what a person can look at: a part of a secret is a secret.
pub fn diff_lines(texts: (&str, &str), names: (&str, &str), masker: &Masker) -> Vec<String> {
    let lines = unified(texts.0, texts.1, names);
    windowed(lines.lines().map(|line| masked(line, masker)).collect())
}

/// A reference to the keychain is no secret, whatever it stands for: it is shown. Nor is what only says yes or no, or where the
/// client finds the value.
fn masked(line: &str, masker: &Masker) -> String {
    let (mut rest, mut without, mut references) = (line, String::new(), Vec::new());
    while let Some((at, end)) = harmless_value(rest) {
        without.push_str(&rest[..at]);
        // A mask is not masked once more.
        without.push_str(&format!("[masked {}]", references.len()));
        references.push(&rest[at..end]);
        rest = &rest[end..];
    }
    without.push_str(rest);
    let mut masked = masker.keep_line(&without).into_owned();
    for (at, reference) in references.iter().enumerate() {
        masked = masked.replacen(&format!("[masked {at}]"), reference, 1);
    }
    masked
}

/// From where to where the first value stands that is shown as it is.
fn harmless_value(line: &str) -> Option<(usize, usize)> {
    [reference(line), interpolation(line), yes_or_no(line)].into_iter().flatten().min()
}

fn reference(line: &str) -> Option<(usize, usize)> {
    let at = line.find(SCHEME)?;
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '.' | '_' | '-' | '…');
    let length = line[at..].find(|c| !name(c)).unwrap_or(line.len() - at);
    Some((at, at + length))
}

/// `${NAME}` or `${input:name}` and nothing besides between quotes. What may hold a value of its own (`${NAME:-value}`) is
/// none.
fn interpolation(line: &str) -> Option<(usize, usize)> {
    line.match_indices("\"${").find_map(|(quote, _)| {
        let length = line[quote + 1..].find('"')?;
        let inner = line[quote + 1..quote + 1 + length].strip_prefix("${")?.strip_suffix('}')?;
        let (name, more) = match inner.strip_prefix("input:") {
            Some(name) => (name, "-_."),
            None => (inner.strip_prefix("env:").unwrap_or(inner), "_"),
        };
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
        plain.then_some((quote + 1, quote + 1 + length))
    })
}

/// `true`, `false` or `null` as the whole value of a member. Not inside a text, which may be a secret as a whole: there the
/// quotes of a member's name are escaped, or stand between others.
fn yes_or_no(line: &str) -> Option<(usize, usize)> {
    if line.contains('\'') {
        return None;
    }
    line.match_indices("\":").find_map(|(at, colon)| {
        let value = line[at + colon.len()..].trim_start();
        let from = line.len() - value.len();
        let word = ["true", "false", "null"].into_iter().find(|word| value.starts_with(word))?;
        let rest = value[word.len()..].trim_start();
        let whole = rest.is_empty() || rest.starts_with([',', '}']);
        (whole && !line[..at].ends_with('\\')).then_some((from, from + word.len()))
    })
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
            variables()
                .map(|(_, value)| value)
                .filter(|value| !Path::new(value).is_absolute())
                .cloned()
                .map(Secret::new),
        );
        let words: Vec<_> = local.words().map(str::to_owned).collect();
        let shown = Masker::default().command(&words);
        let whole = words.into_iter().zip(shown).filter(|(_, shown)| shown.starts_with("[masked, "));
        secrets.extend(whole.map(|(word, _)| Secret::new(word)));
    }
    Masker::new(&secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_is_true_or_an_interpolation_is_not_masked() {
        let masker =
            Masker::new(&["${input:api-key}", "s3cret-value"].map(|text| Secret::new(text.to_owned())));
        for line in [
            "+  \"password\": true,",
            "+  \"password\": false }",
            "   { \"password\": true, \"id\": \"api-key\" }",
            "+  \"API_KEY\": \"${input:api-key}\",",
            "+  \"API_KEY\": \"${env:API_KEY}\"",
            "+  \"API_KEY\": \"${API_KEY}\"",
        ] {
            assert_eq!(masked(line, &masker), line);
        }
        for line in [
            "+  \"API_KEY\": \"${API_KEY:-s3cret-value}\"",
            "+  \"API_KEY\": \"s3cret-value${API_KEY}\"",
            "+  \"password\": \"true-s3cret-value\", \"password\": true",
            "+  \"SETTINGS\": \"{\\\"a\\\":true, s3cret-value}\"",
        ] {
            let shown = masked(line, &masker);
            assert!(shown.contains("[masked") && !shown.contains("s3cret"), "{shown}");
        }
    }
}
