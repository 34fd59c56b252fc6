//! Which names say that what they name is secret. Decided by the words in a name, however it is spelled
//! (`apiKey`, `API_KEY`, `api-key`), because lists of whole names are never complete.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::search;

/// A longer text is no name.
pub(super) const LONGEST: usize = 128;
/// Words that alone make a name secret.
const SECRET: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "pass",
    "secret",
    "secrets",
    "token",
    "tokens",
    "credential",
    "credentials",
    "cookie",
    "cookies",
    "authorization",
    "auth",
    "bearer",
    "jwt",
    "mnemonic",
    "pw",
    "pin",
    "cvv",
    "cvc",
    "otp",
    "totp",
    "ssn",
    "apikey",
];
/// Of these also numbers are masked.
const SECRET_NUMBERS: &[&str] = &[
    "password", "passwd", "pwd", "pw", "passcode", "pin", "cvv", "cvc", "otp", "totp", "ssn", "secret",
    "code", "number",
];
/// Pairs that are secret together, next to each other.
const PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("private", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("auth", "key"),
    ("auth", "code"),
    ("encryption", "key"),
    ("signing", "key"),
    ("master", "key"),
    ("account", "key"),
    ("ssh", "key"),
    ("card", "number"),
    ("security", "code"),
    ("verification", "code"),
    ("seed", "phrase"),
    ("recovery", "phrase"),
    ("recovery", "code"),
    ("recovery", "codes"),
];
/// Run together in lower case, with anything around them.
const JOINED: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "clientsecret",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "idtoken",
    "sessiontoken",
    "bearertoken",
];
/// Beside `token`, these say that it is a count, a position or a setting.
const NO_TOKEN: &[&str] = &[
    "max",
    "min",
    "count",
    "counts",
    "limit",
    "limits",
    "total",
    "used",
    "usage",
    "input",
    "output",
    "prompt",
    "completion",
    "num",
    "number",
    "per",
    "budget",
    "page",
    "next",
    "continuation",
    "progress",
    "cache",
    "cached",
    "reasoning",
    "thinking",
    "remaining",
    "size",
    "design",
    "cancellation",
];
/// A name that ends in one of these speaks about the secret, it does not hold it.
const ABOUT: &[&str] = &[
    "type",
    "url",
    "uri",
    "endpoint",
    "selector",
    "locator",
    "xpath",
    "field",
    "name",
    "label",
    "length",
    "policy",
    "hint",
    "strength",
    "expiry",
    "expires",
    "expiration",
    "at",
    "required",
    "enabled",
    "visible",
    "placeholder",
    "path",
    "file",
    "filename",
    "method",
    "provider",
    "mode",
    "scheme",
    "status",
    "flow",
    "count",
    "rules",
    "ttl",
];
/// Members that name the thing beside them.
const NAMING: &[&str] = &[
    "selector",
    "label",
    "name",
    "field",
    "fieldname",
    "placeholder",
    "element",
    "id",
    "locator",
    "target",
    "key",
    "header",
    "type",
    "title",
    "xpath",
    "css",
    "aria",
    "arialabel",
    "question",
    "prompt",
    "variable",
    "property",
    "attribute",
    "param",
    "parameter",
    "option",
    "flag",
    "testid",
    "input",
];
/// Members that hold what is named beside them.
const HOLDING: &[&str] = &[
    "value",
    "values",
    "text",
    "content",
    "contents",
    "data",
    "keys",
    "chars",
    "characters",
    "string",
    "fill",
    "typed",
    "answer",
    "newvalue",
    "default",
    "current",
    "body",
];

/// Every secret name has one of these in it, in any case.
pub(super) const TRIGGERS: &[&str] = &[
    "passw",
    "pwd",
    "passphrase",
    "passcode",
    "pass\"",
    "pass=",
    "pass:",
    "secret",
    "token",
    "credential",
    "cookie",
    "authoriz",
    "auth\"",
    "auth=",
    "auth:",
    "auth_",
    "auth-",
    "authkey",
    "authcode",
    "bearer",
    "basic ",
    "jwt",
    "mnemonic",
    "pin",
    "cvv",
    "cvc",
    "otp",
    "ssn",
    "apikey",
    "api_key",
    "api-key",
    "api key",
    "api.key",
    "private",
    "access_key",
    "access-key",
    "access key",
    "accesskey",
    "encryption",
    "signing",
    "master",
    "account_key",
    "account-key",
    "accountkey",
    "account key",
    "ssh_key",
    "ssh-key",
    "sshkey",
    "ssh key",
    "cardnumber",
    "card_number",
    "card-number",
    "card number",
    "security",
    "verification",
    "phrase",
    "recovery",
    "--",
];

/// In every secret name, also without what stands around it. Most names have none of these: no closer look.
const IN_NAMES: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "cookie",
    "auth",
    "bearer",
    "jwt",
    "mnemonic",
    "pin",
    "cvv",
    "cvc",
    "otp",
    "ssn",
    "key",
    "number",
    "code",
    "phrase",
];

fn is_worth_a_look(name: &str) -> bool {
    static IN_ANY: OnceLock<AhoCorasick> = OnceLock::new();
    IN_ANY.get_or_init(|| search(IN_NAMES.iter().copied())).is_match(name)
}

/// Does a value under this name need masking?
pub(super) fn is_secret(name: &str) -> bool {
    class(name) != Class::Plain
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    /// Texts are secret, numbers are not.
    Text,
    TextAndNumbers,
    /// Whatever is there.
    Everything,
}

pub(super) fn class(name: &str) -> Class {
    if name.len() > LONGEST || !is_worth_a_look(name) {
        return Class::Plain;
    }
    let words = words(name);
    if words.last().is_some_and(|last| words.len() > 1 && ABOUT.contains(&last.as_str())) {
        return Class::Plain;
    }
    let counted = words.iter().any(|word| NO_TOKEN.contains(&word.as_str()));
    let telling = |word: &&String| {
        SECRET.contains(&word.as_str()) && !(counted && matches!(word.as_str(), "token" | "tokens"))
    };
    let by_word = words.iter().find(telling);
    if by_word.is_none() && !has_pair(&words) && !JOINED.iter().any(|joined| squeezed(name).contains(joined))
    {
        return Class::Plain;
    }
    match words.iter().any(|word| SECRET_NUMBERS.contains(&word.as_str())) {
        true => Class::TextAndNumbers,
        false => Class::Text,
    }
}

fn has_pair(words: &[String]) -> bool {
    words.windows(2).any(|two| PAIRS.iter().any(|pair| pair.0 == two[0] && pair.1 == two[1]))
        || words
            .iter()
            .any(|word| PAIRS.iter().any(|(a, b)| word.strip_prefix(a).is_some_and(|rest| rest == *b)))
}

/// The letters and digits of a name, in lower case.
pub(super) fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Does this text name a secret field, as a selector, a label or a header would?
pub(super) fn names_a_secret(text: &str) -> bool {
    if text.len() > 512 || !is_worth_a_look(text) {
        return false;
    }
    // "Accept cookies" names a button; `Cookie` names a header.
    let vague = |word: &str| matches!(word, "cookie" | "cookies" | "auth" | "pass" | "tokens");
    let words = words(text);
    let one_word = !text.contains(char::is_whitespace);
    has_pair(&words)
        || words.iter().any(|word| SECRET.contains(&word.as_str()) && !vague(word))
        || JOINED.iter().any(|joined| words.iter().any(|word| word.contains(joined)))
        || (one_word && is_secret(text))
}

pub(super) fn is_naming(key: &str) -> bool {
    NAMING.iter().any(|name| is_squeezed(key, name))
}

pub(super) fn is_holding(key: &str) -> bool {
    HOLDING.iter().any(|name| is_squeezed(key, name))
}

/// Is the key this name, but for case and separators?
fn is_squeezed(key: &str, name: &str) -> bool {
    let mut letters = key.bytes().filter(u8::is_ascii_alphanumeric);
    key.len() >= name.len()
        && key.len() <= name.len() + 4
        && name.bytes().all(|byte| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&byte)))
        && letters.next().is_none()
}

/// The words of a name: `userAPIKey` → user, api, key.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(c) = chars.next() {
        if !c.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            let after_lower = before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit());
            let starts_word = c.is_uppercase()
                && (after_lower
                    || (before.is_some_and(char::is_uppercase)
                        && chars.peek().is_some_and(|n| n.is_lowercase())));
            if starts_word && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
