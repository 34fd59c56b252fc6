//! Which names say that what they name is secret. Decided by the words in a name, however it is spelled
//! (`apiKey`, `API_KEY`, `api-key`), because lists of whole names are never complete.
//!
//! One table for two questions. The record asks [`class`]: a mask may hide too much. A client's file asks
//! [`is_offered`]: an offer to move something into the keychain must be right, so there the last word decides.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::masker::search;

/// A longer text is no name.
pub(crate) const LONGEST: usize = 128;
/// A longer text is no selector and no label.
const LONGEST_LABEL: usize = 512;

/// Where a word says that something is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// In any name, and in the label of a field.
    Everywhere,
    /// In any name, but not in a label of several words: "Accept cookies" names a button.
    Names,
    /// Only in a selector: `#cc` is a field of a payment, `cc` in a mail is none.
    Selectors,
    /// Only at the end of a variable's, a flag's or a header's name in a client's file: elsewhere `key` is one of a keyboard.
    Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    Texts,
    /// Numbers are secret too.
    Numbers,
}

#[derive(Debug)]
struct Word {
    word: &'static str,
    reach: Reach,
    values: Values,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the word by a test"))]
    sample: &'static str,
}

macro_rules! words {
    ($($word:literal $reach:ident $values:ident $sample:literal;)+) => {
        &[$(Word { word: $word, reach: Reach::$reach, values: Values::$values, sample: $sample },)+]
    };
}

/// Words that alone make a name secret, each with a name that must be found.
const WORDS: &[Word] = words! {
    "password" Everywhere Numbers "user_password";
    "passwords" Everywhere Numbers "oldPasswords";
    "passwd" Everywhere Numbers "DB_PASSWD";
    "pwd" Everywhere Numbers "db-pwd";
    "pw" Everywhere Numbers "pw-input";
    "passphrase" Everywhere Numbers "key_passphrase";
    "passcode" Everywhere Numbers "passcode";
    "pass" Names Texts "DB_PASS";
    "secret" Everywhere Numbers "client_secret";
    "secrets" Everywhere Texts "app_secrets";
    "token" Everywhere Texts "GITHUB_TOKEN";
    "tokens" Names Texts "auth_tokens";
    "credential" Everywhere Texts "credential";
    "credentials" Everywhere Texts "GOOGLE_CREDENTIALS";
    "cookie" Names Texts "Set-Cookie";
    "cookies" Names Texts "cookies";
    "authorization" Everywhere Texts "Authorization";
    "auth" Names Texts "auth";
    "bearer" Everywhere Texts "bearer";
    "jwt" Everywhere Texts "user_jwt";
    "mnemonic" Everywhere Texts "mnemonic";
    "apikey" Everywhere Texts "apikey";
    "pin" Everywhere Numbers "#pin";
    "puk" Everywhere Numbers "sim_puk";
    "cvv" Everywhere Numbers "#cvv";
    "cvv2" Everywhere Numbers "cvv2";
    "cvc" Everywhere Numbers "card-cvc";
    "otp" Everywhere Numbers "#otp";
    "totp" Everywhere Numbers "totp";
    "ssn" Everywhere Numbers "#ssn";
    // The cookie; `sessionId` is what tools call their own sessions.
    "sessionid" Names Texts "sessionid";
    "sessid" Names Texts "sessid";
    "phpsessid" Names Texts "PHPSESSID";
    "jsessionid" Names Texts "JSESSIONID";
    // The same in other languages; what is one word there.
    "passwort" Everywhere Numbers "passwort";
    "kennwort" Everywhere Numbers "Neues Kennwort";
    "wachtwoord" Everywhere Numbers "wachtwoord";
    "contrasena" Everywhere Numbers "contrasena";
    "contraseña" Everywhere Numbers "contraseña";
    "senha" Everywhere Numbers "senha";
    "parola" Everywhere Numbers "parola";
    "heslo" Everywhere Numbers "heslo";
    "haslo" Everywhere Numbers "haslo";
    "hasło" Everywhere Numbers "hasło";
    "losenord" Everywhere Numbers "losenord";
    "lösenord" Everywhere Numbers "lösenord";
    "passord" Everywhere Numbers "passord";
    "adgangskode" Everywhere Numbers "adgangskode";
    "salasana" Everywhere Numbers "salasana";
    "sifre" Everywhere Numbers "sifre";
    "şifre" Everywhere Numbers "şifre";
    "пароль" Everywhere Numbers "Пароль";
    "密码" Everywhere Numbers "密码";
    "密碼" Everywhere Numbers "密碼";
    "パスワード" Everywhere Numbers "パスワード";
    "비밀번호" Everywhere Numbers "비밀번호";
    // Fields of a page.
    "cc" Selectors Numbers "#cc";
    "ccn" Selectors Numbers "input[name=ccn]";
    "ccnum" Selectors Numbers "#ccnum";
    "csc" Selectors Numbers "[autocomplete=cc-csc]";
    "mfa" Selectors Numbers "#mfa";
    "2fa" Selectors Numbers "#2fa";
    // Names in a client's file.
    "key" Settings Texts "BRAVE_API_KEY";
    "pat" Settings Texts "GH_PAT";
    "dsn" Settings Texts "SENTRY_DSN";
};

/// Words that are secret together, next to each other, or run together as one word; with whether numbers are secret too.
const PHRASES: &[(&[&str], Values)] = &[
    (&["api", "key"], Values::Texts),
    (&["private", "key"], Values::Texts),
    (&["access", "key"], Values::Texts),
    (&["secret", "key"], Values::Numbers),
    (&["auth", "key"], Values::Texts),
    (&["auth", "code"], Values::Numbers),
    (&["encryption", "key"], Values::Texts),
    (&["signing", "key"], Values::Texts),
    (&["master", "key"], Values::Texts),
    (&["account", "key"], Values::Texts),
    (&["ssh", "key"], Values::Texts),
    // Of a cluster's file: `client-key-data`.
    (&["key", "data"], Values::Texts),
    (&["card", "number"], Values::Numbers),
    (&["cc", "number"], Values::Numbers),
    (&["credit", "card"], Values::Numbers),
    (&["security", "code"], Values::Numbers),
    (&["verification", "code"], Values::Numbers),
    (&["access", "code"], Values::Numbers),
    (&["seed", "phrase"], Values::Texts),
    (&["recovery", "phrase"], Values::Texts),
    (&["recovery", "code"], Values::Numbers),
    (&["recovery", "codes"], Values::Numbers),
    (&["connect", "sid"], Values::Texts),
    (&["mot", "de", "passe"], Values::Numbers),
];
/// Run together in lower case, with anything around them.
const JOINED: &[&str] = &[
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "motdepasse",
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
/// In a client's file: the last two words, which say nothing in a call.
const SETTINGS: &[[&str; 2]] = &[["connection", "string"], ["access", "code"], ["seed", "phrase"]];
/// In a client's file: several of them, or a number of them.
const NOT_OFFERED: &[&str] = &["passwords", "secrets", "tokens", "cookies"];
/// Before `key`, these make it a name or a half that anybody may know.
const OPEN_KEYS: &[&str] = &[
    "public",
    "pub",
    "sort",
    "primary",
    "partition",
    "foreign",
    "cache",
    "hot",
    "shortcut",
    "host",
    "publishable",
];
/// Before the last word, these make it a number or a switch.
const COUNTS: &[&str] = &["max", "min", "no", "skip", "disable", "use", "enable"];
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
    "store",
    "manager",
    "dir",
    "directory",
    "folder",
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
pub(crate) const TRIGGERS: &[&str] = &[
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
    "pw",
    "puk",
    "cvv",
    "sessionid",
    "sessid",
    "credit",
    "key-data",
    "key_data",
    "keydata",
    "cc-number",
    "cc_number",
    "ccnumber",
    "cc number",
    "access_code",
    "access-code",
    "accesscode",
    "access code",
    "connect.sid",
    "connect_sid",
    "connect-sid",
    "connectsid",
    "kennwort",
    "wachtwoord",
    "contrase",
    "senha",
    "parola",
    "heslo",
    "haslo",
    "hasło",
    "senord",
    "passord",
    "adgangskode",
    "salasana",
    "ifre",
    "de passe",
    "de_passe",
    "de-passe",
    "depasse",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    // What only a selector says stands behind one of these.
    "#cc",
    "=cc",
    "'cc",
    "\"cc",
    "-cc",
    "_cc",
    "csc",
    "mfa",
    "2fa",
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
    "pw",
    "puk",
    "sess",
    "sid",
    "kennwort",
    "wachtwoord",
    "contrase",
    "senha",
    "parola",
    "heslo",
    "haslo",
    "hasło",
    "senord",
    "adgangskode",
    "salasana",
    "ifre",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "cc",
    "credit",
    "csc",
    "mfa",
    "2fa",
];

fn is_worth_a_look(name: &str) -> bool {
    static IN_ANY: OnceLock<AhoCorasick> = OnceLock::new();
    IN_ANY.get_or_init(|| search(IN_NAMES.iter().copied())).is_match(name)
}

/// Does a value under this name need masking?
pub(crate) fn is_secret(name: &str) -> bool {
    class(name) != Class::Plain
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Plain,
    /// Texts are secret, numbers are not.
    Text,
    TextAndNumbers,
    /// Whatever is there.
    Everything,
}

/// Does a value under this name need masking, and which values?
pub(crate) fn class(name: &str) -> Class {
    if name.len() > LONGEST || !is_worth_a_look(name) {
        return Class::Plain;
    }
    let words = words(name);
    if words.last().is_some_and(|last| words.len() > 1 && ABOUT.contains(&last.as_str())) {
        return Class::Plain;
    }
    let counted = words.iter().any(|word| NO_TOKEN.contains(&word.as_str()));
    let telling = |word: &String| {
        known(word)
            .filter(|known| matches!(known.reach, Reach::Everywhere | Reach::Names))
            .filter(|known| !(counted && matches!(known.word, "token" | "tokens")))
            .map(|known| known.values)
    };
    let squeezed = squeezed(name);
    let joined = JOINED.iter().find(|joined| squeezed.contains(**joined));
    let values = words.iter().filter_map(telling).chain(phrases(&words)).chain(joined.map(|joined| {
        if joined.contains("pass") || joined.contains("wort") { Values::Numbers } else { Values::Texts }
    }));
    values.fold(Class::Plain, |class, values| match (class, values) {
        (Class::TextAndNumbers, _) | (_, Values::Numbers) => Class::TextAndNumbers,
        _ => Class::Text,
    })
}

/// Is a variable, a flag or a header of this name a secret of a client's file? The last word decides: `GITHUB_TOKEN` is, `TOKEN_FILE` is not.
pub fn is_offered(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map(String::as_str);
    if before.is_some_and(|before| COUNTS.contains(&before)) || is_working_folder(name) {
        return false;
    }
    match before {
        Some(before) if last == "key" && OPEN_KEYS.contains(&before) => false,
        Some(before) if SETTINGS.contains(&[before, last]) => true,
        _ => {
            let word = known(last).filter(|word| word.reach != Reach::Selectors);
            word.is_some_and(|word| !NOT_OFFERED.contains(&word.word))
                || JOINED.iter().any(|joined| last.ends_with(joined))
        }
    }
}

/// Every shell sets these two, and there "PWD" is where one works, not a password; in a connection string it is one.
pub(crate) fn is_working_folder(name: &str) -> bool {
    matches!(name, "PWD" | "OLDPWD")
}

fn known(word: &str) -> Option<&'static Word> {
    WORDS.iter().find(|known| known.word == word)
}

/// What the phrases in these words are secret for.
fn phrases(words: &[String]) -> impl Iterator<Item = Values> {
    let spelled = |phrase: &[&str]| {
        words.windows(phrase.len()).any(|words| words.iter().eq(phrase))
            || words.iter().any(|word| {
                let rest = phrase.iter().try_fold(word.as_str(), |rest, part| rest.strip_prefix(part));
                rest == Some("")
            })
    };
    PHRASES.iter().filter(move |(phrase, _)| spelled(phrase)).map(|(_, values)| *values)
}

/// The letters and digits of a name, in lower case.
pub(crate) fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Does this text name a secret field, as a selector, a label or a header would?
pub(crate) fn names_a_secret(text: &str) -> bool {
    if text.len() > LONGEST_LABEL || !is_worth_a_look(text) {
        return false;
    }
    let words = words(text);
    let one_word = !text.contains(char::is_whitespace);
    let selects = is_selector(text);
    let telling = |word: &String| {
        known(word).is_some_and(|known| {
            known.reach == Reach::Everywhere || (selects && known.reach == Reach::Selectors)
        })
    };
    phrases(&words).next().is_some()
        || words.iter().any(telling)
        || JOINED.iter().any(|joined| words.iter().any(|word| word.contains(joined)))
        || (one_word && is_secret(text))
}

/// `#cc`, `.cc`, `[name=cc]`, `input[name="cc"]`, `//input[@id='cc']`.
pub(crate) fn is_selector(text: &str) -> bool {
    text.trim_start().starts_with(['#', '.', '[', '/']) || text.contains("[") || text.contains("=")
}

pub(crate) fn is_naming(key: &str) -> bool {
    NAMING.iter().any(|name| is_squeezed(key, name))
}

pub(crate) fn is_holding(key: &str) -> bool {
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

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
