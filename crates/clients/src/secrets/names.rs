//! Names of variables, flags and headers that hold a secret. The last word decides: `GITHUB_TOKEN` does, `TOKEN_FILE` does not.

/// A name that ends in one of these, as a word.
const LAST: &[&str] = &[
    "token",
    "key",
    "secret",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "pass",
    "pat",
    "credential",
    "credentials",
    "dsn",
    "apikey",
    "auth",
    "authorization",
    "cookie",
    "jwt",
    "bearer",
];
/// The same in two words.
const LAST_TWO: &[(&str, &str)] = &[("connection", "string"), ("access", "code"), ("seed", "phrase")];
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
/// Written without a mark between the words: `PGPASSWORD`.
const JOINED: &[&str] = &["password", "passwd", "apikey", "secretkey", "accesstoken", "authtoken"];

/// Whether a value of this name is a secret, as far as a name can say.
pub(super) fn is_secret(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map(String::as_str);
    if before.is_some_and(|before| COUNTS.contains(&before)) {
        return false;
    }
    match before {
        Some(before) if last == "key" && OPEN_KEYS.contains(&before) => false,
        Some(before) if LAST_TWO.iter().any(|pair| *pair == (before, last)) => true,
        _ => LAST.contains(&last.as_str()) || JOINED.iter().any(|word| last.ends_with(word)),
    }
}

/// `apiKey`, `API_KEY` and `--api-key` are the same two words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && small_before;
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        small_before = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_decides() {
        for name in [
            "GITHUB_PERSONAL_ACCESS_TOKEN",
            "SLACK_BOT_TOKEN",
            "NOTION_API_KEY",
            "INTERNAL_INTEGRATION_TOKEN",
            "BRAVE_API_KEY",
            "STRIPE_SECRET_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "HF_TOKEN",
            "SENTRY_DSN",
            "AZURE_STORAGE_CONNECTION_STRING",
            "GH_PAT",
            "GOOGLE_CREDENTIALS",
            "--api-key",
            "--token",
            "apiKey",
            "X-Api-Key",
            "Authorization",
            "DB_PASS",
            "clientSecret",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "SLACK_TEAM_ID",
            "AWS_ACCESS_KEY_ID",
            "JWT_PUBLIC_KEY",
            "TOKEN_FILE",
            "MAX_TOKENS",
            "SORT_KEY",
            "KEYBOARD",
            "PATH",
            "API_KEY_FILE",
            "",
            "--",
            "DATABASE_URL",
            "PASSWORD_STORE_DIR",
            "SECRET_NAME",
            "monkey",
            "STRIPE_PUBLISHABLE_KEY",
            "--no-auth",
            "Content-Type",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
