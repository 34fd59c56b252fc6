//! What a session remembers, and what others can make it remember or forget.

use crate::{Masker, Secret, secret_values};

/// Letters and digits that look drawn, each time others.
fn drawn(seed: usize, length: usize) -> String {
    let mut state = seed as u64 * 2 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"abcdefghijkmnpqrstuvwxyz23456789"[(state >> 59) as usize]
    };
    (0..length).map(|_| char::from(next())).collect()
}

fn after(typed: &str) -> Masker {
    let masker = Masker::default();
    masker.keep_arguments(1, typed);
    masker.call_over(1);
    masker
}

#[test]
fn a_typed_password_is_not_forgotten_for_what_answers_show() {
    let masker = after(r#"{"password":"hunter22-typed"}"#);
    for n in 0..600 {
        masker.keep_result(2, &format!(r#"{{"token":"{}"}}"#, drawn(n, 2000)));
    }
    assert_eq!(masker.keep_line("hunter22-typed"), "[masked, 14 characters]");
    let last = drawn(599, 2000);
    assert_eq!(masker.keep_line(&last), "[masked, 2000 characters]", "the last answer is known too");
}

#[test]
fn a_typed_password_is_not_forgotten_for_large_values() {
    let masker = after(r#"{"password":"hunter22-typed"}"#);
    for n in 0..100 {
        masker.keep_arguments(2, &format!(r#"{{"private_key":"{}"}}"#, drawn(n, 8000)));
    }
    assert_eq!(masker.keep_line("hunter22-typed"), "[masked, 14 characters]");
    let last = drawn(99, 8000);
    let line = masker.keep_line(&last).into_owned();
    assert!(line.len() < 400 && line.starts_with('[') && line.ends_with(']'), "the last is known: {line}");
}

#[test]
fn a_value_that_an_answer_showed_first_stays_when_it_is_typed() {
    let masker = Masker::default();
    masker.keep_result(1, r#"{"token":"hunter22-typed"}"#);
    masker.keep_arguments(2, r#"{"token":"hunter22-typed"}"#);
    for n in 0..600 {
        masker.keep_result(3, &format!(r#"{{"token":"{}"}}"#, drawn(n, 40)));
    }
    assert_eq!(masker.keep_line("hunter22-typed"), "[masked, 14 characters]");
}

#[test]
fn a_value_of_many_kilobytes_is_masked_in_place_and_not_learned() {
    let long = drawn(7, 9000);
    let masker = after(&format!(r#"{{"password":"{long}"}}"#));
    assert_eq!(masker.keep_line(&long), long);
    let json = format!(r#"{{"password":"{long}"}}"#);
    assert_eq!(masker.keep_arguments(2, &json).text, r#"{"password":"[masked, 9000 characters]"}"#);
}

#[test]
fn what_stands_beside_a_cookie_is_not_learned() {
    let json = r#"{"cookies":[{"name":"sid","value":"correct horse","domain":"example.com","sameSite":"Strict","path":"/account","expires":"2026-11-17T23:44:46Z"}]}"#;
    let masker = Masker::default();
    let kept = masker.keep_arguments(1, json).text.into_owned();
    for shown in ["correct", "example.com", "Strict", "/account", "2026"] {
        assert!(!kept.contains(shown), "masked in its place: {kept}");
    }
    let line = "Strict, example.com/account, 2026-11-17T23:44:46Z";
    assert_eq!(masker.keep_line(line), line);
    assert_eq!(masker.keep_line("it is correct horse"), "it is [masked, 13 characters]");
}

#[test]
fn a_user_is_not_learned_with_the_password_beside_it() {
    let masker = after(
        r#"{"credentials":{"username":"tester","role":"developer","password":"swordfish","id":"q7wk2m9dpz4x"}}"#,
    );
    assert_eq!(masker.keep_line("tester, a developer"), "tester, a developer");
    assert_eq!(masker.keep_line("swordfish"), "[masked, 9 characters]");
    assert_eq!(masker.keep_line("q7wk2m9dpz4x"), "[masked, 12 characters]", "what looks drawn is learned");
    let masker = after(r#"{"passwords":["swordfish","mackerel"],"pin_codes":[[314159]]}"#);
    let line = masker.keep_line("swordfish mackerel 314159").into_owned();
    assert_eq!(line, "[masked, 9 characters] [masked, 8 characters] [masked, 6 characters]");
}

#[test]
fn the_body_of_a_text_about_tokens_is_not_learned() {
    let masker = Masker::default();
    let kept = masker.keep_arguments(1, r#"{"title":"Fix token refresh","body":"Retry the request"}"#);
    assert!(!kept.text.contains("Retry"), "{}", kept.text);
    assert_eq!(masker.keep_line("Retry the request"), "Retry the request");
    let masker = after(r##"{"selector":"#password","text":"correct horse battery"}"##);
    assert_eq!(masker.keep_line("correct horse battery"), "[masked, 21 characters]");
}

#[test]
fn a_password_that_is_a_word_is_not_masked_inside_other_words() {
    let masker = after(r#"{"password":"accept","otp":"123456"}"#);
    let line = "acceptance, reaccept, id 9123456 and 1234567";
    assert_eq!(masker.keep_line(line), line);
    for around in [
        "x accept y",
        "'accept'",
        "q=accept&b",
        r"\naccept\n",
        "%22accept%22",
        r"\u0022accept\u0022",
        r"\x27accept",
        "\u{1b}[1;32maccept\u{1b}[0m",
        "&quot;accept&quot;",
        "_accept_",
        "accept",
    ] {
        assert!(!masker.keep_line(around).contains("accept"), "{around}");
    }
    let given = Masker::new(&[Secret::new("swordfish".to_owned())]);
    assert_eq!(given.keep_line("myswordfishes"), "my[masked, 9 characters]es", "given: wherever it stands");
}

#[test]
fn a_pin_does_not_mask_the_numbers_of_later_answers() {
    let masker = Masker::default();
    masker.keep_arguments(1, r#"{"pin":200}"#);
    let said = r#"{"status":200,"password":null}"#;
    assert!(!masker.keep_result(1, said).text.contains("200"), "the call's own answer");
    masker.call_over(1);
    assert_eq!(masker.keep_result(2, said).text, said);
    masker.keep_arguments(3, r#"{"otp":314159}"#);
    masker.call_over(3);
    assert_eq!(masker.keep_result(4, r#"{"n":314159}"#).text, r#"{"n":"[masked, 6 characters]"}"#);
}

#[test]
fn the_token_of_a_header_in_the_environment_is_known_by_itself() {
    for header in ["Bearer abc-def-123", "Authorization: Bearer abc-def-123", "X-Api-Key: abc-def-123"] {
        let masker = Masker::new(&secret_values([("AUTH_HEADER".into(), header.into())]));
        assert_eq!(masker.keep_line("with abc-def-123 alone"), "with [masked, 11 characters] alone");
    }
    let cookies = "theme=dark; sid=a1b2c3d4e5";
    let masker = Masker::new(&secret_values([("SHOP_COOKIE".into(), cookies.into())]));
    assert_eq!(masker.keep_line("a1b2c3d4e5 is dark"), "[masked, 10 characters] is dark");
}

#[test]
fn a_tools_name_that_was_typed_as_a_password_stays_a_name() {
    let masker = Masker::new(&[Secret::new("given-from-the-start".to_owned())]);
    masker.keep_arguments(1, r#"{"password":"write_file","pin":"read"}"#);
    assert_eq!(masker.keep_name("write_file"), "write_file");
    assert_eq!(masker.keep_name("read"), "read");
    let definition = r#"{"name":"write_file","description":"like 'read'"}"#;
    assert_eq!(masker.keep_definition(definition), definition);
    assert_eq!(masker.keep_name("given-from-the-start"), "[masked, 20 characters]");
    let token = concat!("ghp", "_0123456789abcdefghijABCDEFGHIJklmnop");
    assert!(!masker.keep_name(token).contains("0123"), "what looks like a secret");
    assert_eq!(masker.keep_line("write_file"), "[masked, 10 characters]", "elsewhere it is one");
}
