//! Which values that are masked are worth knowing for longer. What everybody writes in such a place would be masked
//! everywhere after it.

use crate::literals::Source;

/// A shorter one would mask ordinary words.
pub(crate) const SHORTEST: usize = 6;
/// A shorter one is not looked for even in the answer to the call that it was typed in.
const SHORTEST_BRIEF: usize = 3;
/// Cookies of one header that are known by themselves.
const MOST_COOKIES: usize = 32;

/// What is known of a value that is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// For the rest of the session, wherever it stands.
    Session,
    /// In the answer to the same call as a word of its own; after that only in quotes.
    Call,
    Nothing,
}

/// The value, and what in it is a secret by itself: the token behind `Bearer`, the values of cookies, with or without the
/// name of their header.
pub(crate) fn parts(value: &str) -> Vec<&str> {
    let whole = value.trim();
    let mut parts = vec![whole];
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let value = match whole.split_once(": ") {
        Some((name, value)) if is_name(name) => value.trim(),
        _ => whole,
    };
    if value.len() < whole.len() && is_drawn(value) {
        parts.push(value);
    }
    if let Some((scheme, token)) = value.split_once(' ')
        && ["bearer", "basic", "token", "apikey", "digest"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        parts.push(token.trim());
    }
    if value.contains('=') && value.contains(';') {
        let values = value.split(';').filter_map(|one| Some(one.split_once('=')?.1.trim()));
        parts.extend(values.filter(|value| is_drawn(value)).take(MOST_COOKIES));
    }
    parts
}

/// What is no secret although its place says so, in lower case: what everybody writes there.
const COMMON: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "undefined",
    "unknown",
    "empty",
    "string",
    "number",
    "object",
    "boolean",
    "integer",
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "tokens",
    "bearer",
    "basic",
    "digest",
    "oauth",
    "oauth2",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "authorization",
    "api_key",
    "apikey",
    "api-key",
    "client_credentials",
    "authorization_code",
    "refresh_token",
    "access_token",
    "example",
    "default",
    "required",
    "optional",
    "enabled",
    "disabled",
    "hidden",
    "masked",
    "redacted",
    "changeme",
    "placeholder",
    "localhost",
    "system",
    "keyring",
    "keychain",
    "please",
    "invalid",
    "missing",
    "expired",
    "incorrect",
    "correct",
    "include",
    "omit",
    "same-origin",
    "session",
    "value",
    "text",
    "field",
    "input",
    "login",
    "admin",
    "user",
    "username",
    "yes",
    "no",
    "the",
    "and",
    "for",
    "with",
    "you",
    "your",
    "auto",
    "this",
    "that",
    "test",
    "page",
    "click",
    "fill",
    "type",
    "name",
];

/// `sure`: its place says that it is a secret, not only the words of a sentence.
pub(crate) fn worth(value: &str, sure: bool, source: Source) -> Worth {
    let characters = value.chars().count();
    let lower = value.to_lowercase();
    let mut letters = lower.chars();
    let first = letters.next();
    let absurd = characters < SHORTEST_BRIEF
        || !lower.contains(char::is_alphanumeric)
        || letters.all(|c| Some(c) == first)
        || COMMON.contains(&lower.as_str())
        || lower.contains("[masked, ")
        || is_filled_in(value);
    let words = !sure && value.chars().skip(1).all(|c| c.is_lowercase());
    match source {
        _ if absurd || words => Worth::Nothing,
        Source::Answered if is_drawn(value) => Worth::Session,
        Source::Answered => Worth::Nothing,
        _ if characters < SHORTEST => Worth::Call,
        _ => Worth::Session,
    }
}

/// `${X}`, `$X`, `{{x}}`, `%X%`, `process.env.X`: somebody puts the value there later.
fn is_filled_in(value: &str) -> bool {
    let name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    value.contains("${")
        || value.contains("{{")
        || value.starts_with("process.env")
        || value.starts_with("keychain://")
        || value.starts_with("os.environ")
        || value.strip_prefix('$').is_some_and(name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(name)
}

/// Long enough, of letters and digits, and no sentence.
fn is_drawn(value: &str) -> bool {
    value.len() >= 8
        && !value.contains(char::is_whitespace)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(char::is_alphabetic)
}

/// Does it look drawn by itself, whatever its place says? Words, names with a number, hosts, paths and dates do not.
pub(crate) fn is_random(value: &str) -> bool {
    let is_random = |run: &str| {
        let kinds = run.chars().map(|c| c.is_ascii_digit());
        let changes = kinds.clone().zip(kinds.skip(1)).filter(|(one, next)| one != next).count();
        run.len() >= 8 && (changes >= 2 || (run.len() >= 16 && changes == 1))
    };
    !value.contains(char::is_whitespace) && value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random)
}
