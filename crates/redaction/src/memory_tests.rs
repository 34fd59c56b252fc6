//! What a session remembers, and what others can make it remember or forget.

use crate::{Masker, secret_values};

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
