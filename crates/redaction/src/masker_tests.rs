#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn kept(json: &str) -> String {
    Masker::default().keep(json).text.into_owned()
}

fn exposed(secrets: &[Secret]) -> Vec<&str> {
    secrets.iter().map(Secret::expose).collect()
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
fn a_typed_password_is_not_in_the_result_nor_in_anything_after_it() {
    let masker = Masker::default();
    let typed = r##"{"selector":"#password","value":"secret'123"}"##;
    assert!(!masker.keep(r#"{"text":"Filled it: secret'123"}"#).masked, "nothing is known of it yet");
    assert!(!masker.keep_arguments(1, typed).text.contains("123"));
    for said in [
        r#"{"content":[{"type":"text","text":"Filled it: secret'123"}]}"#,
        r#"{"text":"await page.fill('#x', 'secret\'123');"}"#,
        r#"{"text":"POST q=secret%27123&b=1"}"#,
        r#"{"text":"<b>secret&#39;123</b>"}"#,
        r#"{"text":"{"x":"secret'123"}"}"#,
        r#"{"text":"c2VjcmV0JzEyMw=="}"#,
    ] {
        let kept = masker.keep_result(2, said);
        assert!(
            kept.masked && !kept.text.contains("123") && !kept.text.contains("c2VjcmV0"),
            "{}",
            kept.text
        );
    }
    let other = masker.clone();
    assert_eq!(other.keep_line("stderr: secret'123"), "stderr: [masked, 10 characters]");
    assert_eq!(other.keep_text("no: secret'123"), "no: [masked, 10 characters]");
    assert_eq!(other.keep_arguments(3, r#"{"q":"secret'123"}"#).text, r#"{"q":"[masked, 10 characters]"}"#);
    assert!(!format!("{masker:?}").contains("secret'123"));
}

#[test]
fn a_secret_is_masked_in_its_own_arguments_wherever_it_stands() {
    let masker = Masker::default();
    let kept = masker.keep_arguments(1, r#"{"note":"use hunter22 there","password":"hunter22"}"#);
    assert_eq!(
        kept.text,
        r#"{"note":"use [masked, 8 characters] there","password":"[masked, 8 characters]"}"#
    );
}

#[test]
fn a_pin_is_not_in_the_answer_to_its_call() {
    let masker = Masker::default();
    masker.keep_arguments(1, r##"{"selector":"#pin","value":"4711"}"##);
    let said = r#"{"text":"typed 4711 at 14711","n":4711}"#;
    assert_eq!(masker.keep_text_of(1, "no 4711"), "no [masked, 4 characters]");
    assert_eq!(
        masker.keep_result(1, said).text,
        r#"{"text":"typed [masked, 4 characters] at 14711","n":"[masked, 4 characters]"}"#
    );
    masker.call_over(1);
    assert_eq!(masker.keep_result(2, said).text, said);
    let code = masker.keep_result(2, r#"{"text":"await page.fill('#x', '4711')"}"#);
    assert!(!code.text.contains("4711"), "{}", code.text);
}

#[test]
fn what_is_typed_into_a_secret_field_is_masked_in_any_text() {
    for text in [
        "await page.fill('#pin', '4711');",
        r##"page.type("#otp", "4711")"##,
        "await page.locator('#pin').fill('4711');",
        "page.getByLabel('Card PIN').fill(`4711`)",
        "document.querySelector('#pw').value = '4711'",
        "Filled #pin with: 4711",
        "Filled input[name='cc'] with: 4711",
    ] {
        let kept = Masker::default().keep_line(text).into_owned();
        assert!(!kept.contains("4711") && kept.contains("[masked, 4 characters]"), "{kept}");
    }
    for text in [
        "await page.fill('#name', '4711'); // then the password",
        "document.querySelector('#name').value = '4711' // pw",
        "Filled #name with: 4711 and a password",
        "page.locator('#pin').click('4711')",
    ] {
        assert_eq!(Masker::default().keep_line(text), text);
    }
}

#[test]
fn a_value_that_an_answer_shows_as_secret_stays_masked() {
    let masker = Masker::default();
    masker.keep_result(1, r#"{"access_token":"a1b2c3d4e5","password":"required","token":"a word"}"#);
    assert_eq!(masker.keep_line("with a1b2c3d4e5"), "with [masked, 10 characters]");
    assert_eq!(masker.keep_line("it is required, a word"), "it is required, a word");
}

#[test]
fn a_value_under_a_name_of_ones_own_stays_masked_too() {
    let masker = Masker::default().with_names(&["customer".to_owned()]);
    masker.keep_arguments(1, r#"{"customer":"Ann Example","n":1}"#);
    assert_eq!(
        masker.keep_result(1, r#"{"x":"Hello Ann Example"}"#).text,
        r#"{"x":"Hello [masked, 11 characters]"}"#
    );
}

#[test]
fn secrets_of_arguments_that_are_not_kept_are_known_all_the_same() {
    let masker = Masker::default();
    let long = format!(r#"{{"a":"{}","password":"hunter22"}}"#, "x".repeat(2 * LOOKED_AT));
    masker.hear_arguments(1, &long);
    assert_eq!(masker.keep_line("hunter22"), "[masked, 8 characters]");
    let masker = Masker::default();
    assert!(masker.keep_arguments(1, &long).cut);
    assert_eq!(masker.keep_line("hunter22"), "[masked, 8 characters]");
}

#[test]
fn a_known_value_at_the_end_of_what_is_kept_is_masked_before_it_is_cut() {
    let masker = Masker::default();
    masker.keep_arguments(1, r#"{"password":"hunter22-and-more"}"#);
    for shift in 0..20 {
        let json =
            format!(r#"{{"a":"{} hunter22-and-more {}"}}"#, "y".repeat(KEPT - 6 - shift), "z".repeat(9000));
        let kept = masker.keep_result(2, &json);
        assert!(kept.cut && !kept.text.contains("hunt"), "{}", &kept.text[KEPT - 60..]);
        let sentence = format!("{} hunter22-and-more", "y".repeat(SENTENCE - 1 - shift));
        assert!(!masker.keep_text(&sentence).contains("hunt"));
    }
}

#[test]
fn a_program_beside_its_arguments_is_a_command_line() {
    let kept = kept(r#"{"command":"curl","args":["-u","me:hunter22","https://x"]}"#);
    assert_eq!(kept, r#"{"command":"curl","args":["-u","me:[masked, 8 characters]","https://x"]}"#);
}

#[test]
fn the_servers_own_secrets_are_masked_wherever_they_stand() {
    let masker = Masker::new(&["p\"q\\r-value", "tiny", "Zebra99"].map(|text| Secret::new(text.to_owned())));
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
    assert_eq!(exposed(&found), ["abcdefgh", "longpass"]);
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
    let sample = concat!("ghp", "_0123456789abcdefghijABCDEFGHIJklmnop");
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
        pair("SSH_AUTH_SOCK", "/tmp/ssh-XXXX/agent.1234"),
        pair("DB_PWD", "hunter22"),
    ]);
    assert_eq!(exposed(&found), ["hunter22"]);
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

#[test]
fn an_answer_full_of_names_of_headers_teaches_little() {
    let masker = Masker::default();
    for name in ["Cookie:", "password=", "token='"] {
        let flood = format!(r#"{{"text":"{}1"}}"#, name.repeat((LOOKED_AT - 20) / name.len()));
        let mut pass = masker.pass(&[]).listening();
        assert!(pass.keep(&flood).masked);
        let lengths: Vec<usize> = pass.heard().iter().map(|found| found.value.expose().len()).collect();
        assert!(lengths.iter().all(|length| *length <= LONGEST_SECRET), "{name} {lengths:?}");
        assert!(lengths.iter().sum::<usize>() <= MOST_FOUND_BYTES, "{name} {lengths:?}");
    }
}

#[test]
fn the_places_that_nobody_can_read_are_counted() {
    let cases = [
        (r#"{"path":"/tmp/a"}"#, 0),
        (r#"{"password":"rm -rf /"}"#, 1),
        (r#"{"password":"hunter22","pin":"4711 is it","q":"token=abcdefgh12345678"}"#, 3),
        // JSON in a string is looked through like any other.
        (r#"{"body":"{\"password\":\"hunter22\",\"a\":1}"}"#, 1),
        // Nothing of it is masked: what looks like a mask hides nothing.
        (r#"{"note":"[masked, 8 characters]"}"#, 0),
    ];
    for (args, places) in cases {
        let kept = Masker::default().keep_arguments(1, args).masked_places();
        assert_eq!(kept, places, "{args}: {}", Masker::default().keep_arguments(1, args).text);
    }
}
