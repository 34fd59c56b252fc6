//! The words of names that say that something is secret, and those that say that it is not: the lists that [`crate::names`]
//! asks.

/// Where a word says that something is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
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
pub(crate) enum Values {
    Texts,
    /// Numbers are secret too.
    Numbers,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) word: &'static str,
    pub(crate) reach: Reach,
    pub(crate) values: Values,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the word by a test"))]
    pub(crate) sample: &'static str,
}

macro_rules! words {
    ($($word:literal $reach:ident $values:ident $sample:literal;)+) => {
        &[$(Word { word: $word, reach: Reach::$reach, values: Values::$values, sample: $sample },)+]
    };
}

/// Words that alone make a name secret, each with a name that must be found.
pub(crate) const WORDS: &[Word] = words! {
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
pub(crate) const PHRASES: &[(&[&str], Values)] = &[
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
pub(crate) const JOINED: &[&str] = &[
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
pub(crate) const SETTINGS: &[[&str; 2]] = &[["connection", "string"], ["access", "code"], ["seed", "phrase"]];
/// In a client's file: several of them, or a number of them.
pub(crate) const NOT_OFFERED: &[&str] = &["passwords", "secrets", "tokens", "cookies"];
/// Before `key`, these make it a name or a half that anybody may know.
pub(crate) const OPEN_KEYS: &[&str] = &[
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
pub(crate) const COUNTS: &[&str] = &["max", "min", "no", "skip", "disable", "use", "enable"];
/// Beside `token`, these say that it is a count, a position or a setting.
pub(crate) const NO_TOKEN: &[&str] = &[
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
pub(crate) const ABOUT: &[&str] = &[
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
pub(crate) const NAMING: &[&str] = &[
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
pub(crate) const HOLDING: &[&str] = &[
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

/// Those of them that hold texts of any length: hidden beside such a name, but not known by it.
pub(crate) const DOCUMENTS: &[&str] = &["content", "contents", "data", "body"];

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
pub(crate) const IN_NAMES: &[&str] = &[
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
