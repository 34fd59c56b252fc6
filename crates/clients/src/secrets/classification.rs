//! Values that are no secret whatever they are called, and those that are one whatever they are called.

use callgate_redaction::{find, is_token};
use callgate_secrets::SCHEME;

/// Shorter ones cannot be told from words, nor masked where they turn up.
pub(super) const SHORTEST: usize = 6;
/// What a random text of this length has at least, in bits a character.
const RANDOM: (usize, f64) = (24, 4.5);
/// How examples and gaps to fill in begin.
const BEGINNINGS: &[&str] =
    &["your", "my-", "my_", "<", "replace", "change", "insert", "enter", "todo", "placeholder", "..."];
const CONTAINED: &[&str] = &["example", "placeholder", "xxxx", "****", "...", "your_", "your-", "changeme"];
/// Query parameters of an address that are secrets.
const QUERY: &[&str] =
    &["apikey", "api_key", "api-key", "key", "token", "access_token", "auth", "secret", "password", "sig"];

/// A value that is no secret, whatever its name: nothing, a switch, a path, an address without a password, something that the
/// client fills in, a gap for a person to fill in, or a reference that is there already.
pub(super) fn is_open(value: &str) -> bool {
    let value = value.trim();
    let lower = value.to_lowercase();
    value.chars().count() < SHORTEST
        || matches!(
            lower.as_str(),
            "true" | "false" | "enabled" | "disabled" | "default" | "system" | "keyring"
        )
        || value.contains(SCHEME)
        || is_filled_in(value)
        || is_gap(&lower)
        || is_path(value)
        || (is_address(value) && !address_holds_secret(value))
}

/// `${X}`, `$X`, `{env:X}`, `%X%`, `op://…`: somebody puts the value there later.
pub(super) fn is_filled_in(value: &str) -> bool {
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    value.contains("${")
        || value.contains("{{")
        || value.strip_prefix('$').is_some_and(name)
        || ["{env:", "{file:", "op://", "vault://", "keyring:", "env:"]
            .iter()
            .any(|start| value.starts_with(start))
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(name)
}

fn is_gap(lower: &str) -> bool {
    let mut letters = lower.chars();
    let first = letters.next();
    letters.all(|c| Some(c) == first)
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        || CONTAINED.iter().any(|part| lower.contains(part))
}

fn is_path(value: &str) -> bool {
    let drive = value.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && value.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/");
    let rooted = ["~/", "./", "../", "\\\\", "~\\", ".\\"].iter().any(|start| value.starts_with(start));
    // A key in Base64 may begin with a slash; no folder looks like one.
    let absolute = value.starts_with('/') && !(value.len() >= 32 && !value.contains('.') && is_random(value));
    drive || rooted || absolute
}

fn is_address(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    !scheme.is_empty()
        && scheme.chars().all(known)
        && !rest.is_empty()
        && !value.contains(char::is_whitespace)
}

/// A password before the host, a secret in the query, or a place that nobody else knows.
fn address_holds_secret(value: &str) -> bool {
    let query = value.split_once('?').map_or("", |(_, query)| query);
    let real = |text: &str| !text.is_empty() && !is_filled_in(text) && !is_gap(&text.to_lowercase());
    let in_query = query.split('&').filter_map(|part| part.split_once('=')).any(|(name, value)| {
        QUERY.contains(&name.to_lowercase().as_str()) && value.len() >= SHORTEST && real(value)
    });
    // `user:password`, `password`, and `PASSWORD` stand in every manual, and are real in some homes: they count.
    in_query || find(value).into_iter().any(|found| real(&value[found]))
}

/// A value that is a secret, whatever its name.
pub(super) fn is_secret(value: &str) -> bool {
    let value = value.trim();
    !is_open(value)
        && (is_token(value)
            || (is_address(value) && address_holds_secret(value))
            || (value.contains("-----BEGIN") && value.contains("PRIVATE KEY"))
            || has_password_field(value)
            || (value.starts_with(['{', '[']) && value.split(['"', ' ', '\'', ',']).any(is_token)))
}

/// `host=db;password=…`, as database drivers write it.
fn has_password_field(value: &str) -> bool {
    value.split([';', ' ']).filter_map(|part| part.split_once('=')).any(|(name, value)| {
        matches!(name.trim().to_lowercase().as_str(), "password" | "pwd" | "accountkey" | "sharedaccesskey")
            && value.len() >= SHORTEST
            && !is_gap(&value.to_lowercase())
    })
}

/// A text that nobody thought of: long, of letters and digits, and without a pattern.
pub(super) fn is_random(value: &str) -> bool {
    let (length, bits) = RANDOM;
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=');
    value.len() >= length
        && value.chars().all(known)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic())
        && entropy(value) >= bits
}

fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / all)
        .map(|p| -p * p.log2())
        .sum()
}
