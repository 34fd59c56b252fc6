#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn kept(json: &str) -> String {
    Masker::default().keep(json).text.into_owned()
}

/// Input, then what is kept.
const CASES: &[(&str, &str)] = &[
    // Nothing secret: byte for byte.
    (
        r#"{"url": "https://example.com/a?b=1", "n": 1.50}"#,
        r#"{"url": "https://example.com/a?b=1", "n": 1.50}"#,
    ),
    // By key, in any spelling, at any depth.
    (r#"{"password":"hunter2"}"#, r#"{"password":"[masked, 7 characters]"}"#),
    (r#"{"a":[{"userPassword":"hunter2"}]}"#, r#"{"a":[{"userPassword":"[masked, 7 characters]"}]}"#),
    (r#"{"API_KEY":"x1"}"#, r#"{"API_KEY":"[masked, 2 characters]"}"#),
    (
        r#"{"apiKey":"x1","api-key":"x2"}"#,
        r#"{"apiKey":"[masked, 2 characters]","api-key":"[masked, 2 characters]"}"#,
    ),
    (r#"{"client_secret":"é!"}"#, r#"{"client_secret":"[masked, 2 characters]"}"#),
    (r#"{"pin":1234,"cvv":"123"}"#, r#"{"pin":"[masked, 4 characters]","cvv":"[masked, 3 characters]"}"#),
    (
        r#"{"authorization":{"type":"x","v":"abc"}}"#,
        r#"{"authorization":{"type":"[masked, 1 characters]","v":"[masked, 3 characters]"}}"#,
    ),
    (r#"{"password":true,"token":null}"#, r#"{"password":true,"token":null}"#),
    // An escaped key is the same key.
    (r#"{"p\u0061ssword":"hunter2"}"#, r#"{"p\u0061ssword":"[masked, 7 characters]"}"#),
    // Names that only sound secret.
    (
        r#"{"max_tokens":512,"token_count":3,"tokenizer":"bpe"}"#,
        r#"{"max_tokens":512,"token_count":3,"tokenizer":"bpe"}"#,
    ),
    (r#"{"nextPageToken":"abc","progressToken":7}"#, r#"{"nextPageToken":"abc","progressToken":7}"#),
    (
        r##"{"passwordSelector":"#pw","token_url":"https://a.b"}"##,
        r##"{"passwordSelector":"#pw","token_url":"https://a.b"}"##,
    ),
    (
        r#"{"author":"Ann","mapping":"x","sessionId":"s-1"}"#,
        r#"{"author":"Ann","mapping":"x","sessionId":"s-1"}"#,
    ),
    (r#"{"tests":{"pass":5,"fail":0}}"#, r#"{"tests":{"pass":5,"fail":0}}"#),
    // By neighbour, before or after, and a level up.
    (
        r##"{"selector":"#password","value":"hunter2"}"##,
        r##"{"selector":"#password","value":"[masked, 7 characters]"}"##,
    ),
    (
        r#"{"text":"hunter2","element":"Password field"}"#,
        r#"{"text":"[masked, 7 characters]","element":"Password field"}"#,
    ),
    (
        r#"{"fields":[{"name":"User","value":"ann"},{"name":"API key","value":"k"}]}"#,
        r#"{"fields":[{"name":"User","value":"ann"},{"name":"API key","value":"[masked, 1 characters]"}]}"#,
    ),
    (
        r#"{"target":{"label":"Card PIN"},"value":"0000"}"#,
        r#"{"target":{"label":"Card PIN"},"value":"[masked, 4 characters]"}"#,
    ),
    (
        r#"{"headers":[{"name":"Cookie","value":"a=b"}]}"#,
        r#"{"headers":[{"name":"Cookie","value":"[masked, 3 characters]"}]}"#,
    ),
    (r#"{"type":"password","value":"x"}"#, r#"{"type":"password","value":"[masked, 1 characters]"}"#),
    (
        r##"{"selector":"#search","value":"password manager"}"##,
        r##"{"selector":"#search","value":"password manager"}"##,
    ),
    (
        r#"{"argv":["--token","abc","--out","x"]}"#,
        r#"{"argv":["--token","[masked, 3 characters]","--out","x"]}"#,
    ),
    (r##"["#password","hunter2"]"##, r##"["#password","[masked, 7 characters]"]"##),
    // In text.
    (
        r#"{"cmd":"curl -u x --password hunter2 -v"}"#,
        r#"{"cmd":"curl -u x --password [masked, 7 characters] -v"}"#,
    ),
    (r#"{"cmd":"PGPASSWORD=abc psql"}"#, r#"{"cmd":"PGPASSWORD=[masked, 3 characters] psql"}"#),
    (
        r#"{"url":"https://a.b/?q=1&access_token=abc&z=2"}"#,
        r#"{"url":"https://a.b/?q=1&access_token=[masked, 3 characters]&z=2"}"#,
    ),
    (r#"{"h":"Cookie: a=b; c=d\nHost: x"}"#, r#"{"h":"Cookie: [masked, 8 characters]\nHost: x"}"#),
    (r#"{"c":"Server=x;Password=abc;Port=1"}"#, r#"{"c":"Server=x;Password=[masked, 3 characters];Port=1"}"#),
    (
        r#"{"t":"```json\n{\"apiKey\": \"abcd\"}\n```"}"#,
        r#"{"t":"```json\n{\"apiKey\": \"[masked, 4 characters]\"}\n```"}"#,
    ),
    // JSON in a string, twice.
    (
        r#"{"text":"{\"password\":\"hunter2\",\"n\":1}"}"#,
        r#"{"text":"{\"password\":\"[masked, 7 characters]\",\"n\":1}"}"#,
    ),
    (
        r#"{"text":"[\"{\\\"token\\\":\\\"abc\\\"}\"]"}"#,
        r#"{"text":"[\"{\\\"token\\\":\\\"[masked, 3 characters]\\\"}\"]"}"#,
    ),
    // Not JSON at all.
    ("password=abc", "password=[masked, 3 characters]"),
];

#[test]
fn what_is_kept_of_what_came() {
    for (json, expected) in CASES {
        assert_eq!(kept(json), *expected, "of {json}");
    }
}

#[test]
fn masking_twice_changes_nothing_more() {
    for (json, expected) in CASES {
        assert_eq!(
            kept(&kept(json)).replace("22 characters", ""),
            kept(expected).replace("22 characters", ""),
            "of {json}"
        );
    }
}

#[test]
fn every_shape_finds_its_sample_and_leaves_its_near_miss() {
    for shape in shapes::SHAPES {
        for (before, after) in [("", ""), ("see ", " there"), ("key:", "\n"), ("(", ")")] {
            let json = serde_json::to_string(&[format!("{before}{}{after}", shape.sample)]).unwrap();
            let masker = Masker::default();
            assert!(masker.may_hold_secrets(&json), "{} has no trigger", shape.name);
            let kept = masker.keep(&json);
            assert!(kept.masked && kept.text.contains("[masked, "), "{}: {}", shape.name, kept.text);
            let tail: String =
                shape.sample.chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
            let shows =
                kept.text.contains(&tail) && !matches!(shape.name, "password in a URL" | "private key");
            assert!(!shows, "{}: {}", shape.name, kept.text);
            serde_json::from_str::<serde_json::Value>(&kept.text).unwrap();
        }
        let json = serde_json::to_string(&[shape.near_miss]).unwrap();
        assert_eq!(kept(&json), json, "near miss of {}", shape.name);
    }
}

#[test]
fn every_secret_name_is_found_by_the_first_look() {
    let names = [
        "password",
        "passwd",
        "PWD",
        "passphrase",
        "passcode",
        "pass",
        "secret",
        "client_secret",
        "token",
        "access_token",
        "credentials",
        "Cookie",
        "Set-Cookie",
        "Authorization",
        "auth",
        "jwt",
        "mnemonic",
        "pin",
        "cvv",
        "cvc",
        "otp",
        "totp",
        "ssn",
        "apikey",
        "apiKey",
        "api_key",
        "X-Api-Key",
        "private_key",
        "privateKey",
        "access_key",
        "AccessKey",
        "auth_key",
        "authCode",
        "encryptionKey",
        "signing_key",
        "masterKey",
        "AccountKey",
        "sshKey",
        "cardNumber",
        "card_number",
        "securityCode",
        "verification_code",
        "seedPhrase",
        "recovery_codes",
    ];
    for name in names {
        let json = format!(r#"{{"{name}":"hunter2"}}"#);
        assert!(!kept(&json).contains("hunter2"), "{name}");
    }
}

#[test]
fn the_servers_own_secrets_are_masked_wherever_they_stand() {
    let masker = Masker::new(&["p\"q\\r-value".to_owned(), "tiny".to_owned(), "Zebra99".to_owned()]);
    let json =
        serde_json::to_string(&serde_json::json!({"a": "x p\"q\\r-value y", "b": "tiny", "Zebra99": 1}))
            .unwrap();
    let kept = masker.keep(&json);
    assert_eq!(kept.text, r#"{"a":"x [masked, 11 characters] y","b":"tiny","[masked, 7 characters]":1}"#);
}

#[test]
fn secret_looking_variables_are_found() {
    let found = secret_values([
        ("OPENAI_API_KEY".into(), "abcdefgh".into()),
        ("PATH".into(), "/usr/bin".into()),
        ("DATABASE_URL".into(), "postgres://u:longpass@h/d".into()),
        ("DB_PASSWORD".into(), "abc".into()),
    ]);
    assert_eq!(found, ["abcdefgh", "postgres://u:longpass@h/d"]);
}

#[test]
fn a_command_line_shows_no_secret() {
    let command = ["npx", "server", "--api-key", "abc123", "--token=xyz", "-v"].map(str::to_owned);
    assert_eq!(
        Masker::default().command(&command),
        ["npx", "server", "--api-key", "[masked, 6 characters]", "--token=[masked, 3 characters]", "-v"]
    );
}

#[test]
fn what_is_too_long_is_masked_before_it_is_cut() {
    // The secret lies across the place of the cut; its key is before it.
    let json = format!(r#"{{"a":"{}","password":"{}"}}"#, "x".repeat(KEPT - 40), "S".repeat(200));
    let kept = Masker::default().keep(&json);
    assert!(kept.masked && !kept.text.contains("SSS"), "{}", &kept.text[KEPT - 60..]);

    let json = format!(r#"{{"a":"{}"}}"#, "é".repeat(KEPT));
    let kept = Masker::default().keep(&json);
    assert!(kept.cut && !kept.masked && kept.text.len() <= KEPT && kept.text.len() > KEPT - 4);
}

#[test]
fn half_a_secret_at_the_end_of_what_is_looked_at_is_not_kept() {
    let sample = shapes::SHAPES[5].sample;
    // Much is masked in front, so that the end of what is looked at comes into what is kept.
    let front = format!(
        "-----BEGIN RSA {}-----{}-----END RSA {}-----",
        "PRIVATE KEY",
        "M".repeat(100_000),
        "PRIVATE KEY"
    );
    for shift in 0..60 {
        let pad = LOOKED_AT - front.len() - 12 - shift;
        let json = format!(r#"{{"a":"{front} {} {sample} {}"}}"#, "y".repeat(pad), "z".repeat(300_000));
        let kept = Masker::default().keep(&json);
        assert!(kept.cut && kept.masked && !kept.text.contains("ghp_0"), "shift {shift}");
    }
}

#[test]
fn deep_and_broken_texts_do_no_harm() {
    let deep = format!("{}\"password\"", "[".repeat(200_000));
    let _kept = Masker::default().keep(&deep);
    for json in [
        "",
        "{",
        "}",
        "]",
        "\"password",
        "{\"password\":",
        "{\"password\":\"a\\",
        "{\"a\":\"\\ud800 token\"}",
        "token",
    ] {
        let kept = Masker::default().keep(json);
        assert!(kept.text.len() <= json.len() + 40);
    }
}

proptest::proptest! {
    #[test]
    fn a_secret_under_its_key_never_survives(value in "[ -~]{12,40}", depth in 0usize..6, wrap in proptest::bool::ANY) {
        let mut json = serde_json::json!({ "password": format!("Q{value}Q") });
        for level in 0..depth {
            json = match (level % 3, wrap) {
                (0, _) => serde_json::json!({ "inner": json }),
                (1, true) => serde_json::json!({ "text": serde_json::to_string(&json).unwrap() }),
                _ => serde_json::json!([1, json, "x"]),
            };
        }
        let text = serde_json::to_string(&json).unwrap();
        let kept = Masker::default().keep(&text);
        proptest::prop_assert!(kept.masked);
        serde_json::from_str::<serde_json::Value>(&kept.text).unwrap();
        let open = serde_json::to_string(&value).unwrap();
        proptest::prop_assert!(!kept.text.contains(&value) && !kept.text.contains(open.trim_matches('"')));
    }

    #[test]
    fn texts_without_a_trigger_stay_as_they_are(text in "[a-d ,.{}]{0,80}") {
        let json = serde_json::to_string(&text).unwrap();
        proptest::prop_assert_eq!(kept(&json), json);
    }
}

#[test]
fn the_folder_one_works_in_is_no_password() {
    let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    let found = secret_values([
        pair("PWD", "/home/me/project"),
        pair("OLDPWD", "/home/me/other"),
        pair("DB_PWD", "hunter22"),
    ]);
    assert_eq!(found, ["hunter22"]);
}

#[test]
fn a_name_of_ones_own_masks_whatever_it_names_however_it_is_spelled() {
    let masker =
        Masker::default().with_names(&["Customer-Id".to_owned(), "diagnosis".to_owned(), String::new()]);
    let cases = [
        (r#"{"customer_id":"Q7-55"}"#, r#"{"customer_id":"[masked, 5 characters]"}"#),
        (r#"{"CustomerID":4711}"#, r#"{"CustomerID":"[masked, 4 characters]"}"#),
        (r#"{"\u0063ustomerId":4711}"#, r#"{"\u0063ustomerId":"[masked, 4 characters]"}"#),
        (r#"{"diagnosis":true,"x":null}"#, r#"{"diagnosis":"[masked, 4 characters]","x":null}"#),
        (
            r#"{"diagnosis":{"a":["flu",7]}}"#,
            r#"{"diagnosis":{"a":["[masked, 3 characters]","[masked, 1 characters]"]}}"#,
        ),
        (r#"{"q":"customer-id=Q7-55&b=1"}"#, r#"{"q":"customer-id=[masked, 5 characters]&b=1"}"#),
        (
            r##"{"selector":"#diagnosis","value":"flu"}"##,
            r##"{"selector":"#diagnosis","value":"[masked, 3 characters]"}"##,
        ),
        (r#"{"diagnoses":"flu","customer":"x"}"#, r#"{"diagnoses":"flu","customer":"x"}"#),
    ];
    for (json, kept) in cases {
        assert_eq!(masker.keep(json).text, kept);
        assert!(!Masker::default().keep(json).masked, "only with the name: {json}");
    }
    assert!(masker.keep(r#"{"password":"x"}"#).masked, "the known ones stay known");
}
