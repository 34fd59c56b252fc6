use super::*;

fn hidden(literals: &Literals, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    literals.find(Which::All, text, &mut found);
    found.into_iter().map(|range| text[range].to_owned()).collect()
}

#[test]
fn a_value_that_was_learned_is_found_in_every_form() {
    let mut literals = Literals::default();
    assert!(!literals.any(Which::All, "no secrets at all"));
    assert!(literals.learn(None, "it's a/secret", true, Source::Typed));
    assert!(!literals.learn(None, "it's a/secret", true, Source::Typed), "it is known");
    for text in ["x it's a/secret y", "'it\\'s a/secret'", "q=it's%20a%2Fsecret", "it&#39;s a/secret"] {
        assert_eq!(hidden(&literals, text).len(), 1, "{text}");
    }
    assert!(hidden(&literals, "its a secret").is_empty());
}

#[test]
fn what_everybody_writes_there_is_not_learned() {
    let mut literals = Literals::default();
    for value in [
        "",
        "   ",
        "true",
        "password",
        "Required",
        "******",
        "xxxxxxxx",
        "ab",
        "${PASSWORD}",
        "$TOKEN",
        "[masked, 8 characters]",
        "process.env.PASSWORD",
        "-----",
    ] {
        assert!(!literals.learn(Some(1), value, true, Source::Typed), "{value}");
    }
    assert!(!literals.learn(None, "forgotten", false, Source::Typed), "a word of a sentence");
    assert!(!literals.learn(None, "forgotten", true, Source::Answered), "a word of an answer");
    assert!(literals.learn(None, "forgotten", true, Source::Typed), "what was typed into a password's field");
}

#[test]
fn the_oldest_values_go_and_those_that_were_given_stay() {
    let mut literals = Literals::default();
    literals.give("given-from-the-start");
    for n in 0..1000 {
        literals.learn(None, &format!("typed-value-{n}"), true, Source::Typed);
        literals.learn(None, &format!("answered-{n}"), true, Source::Answered);
    }
    let known = literals.slots.iter().flatten().count();
    assert_eq!(known, TYPED.values + ANSWERED.values + 1);
    assert!(literals.any(Which::All, "given-from-the-start"));
    assert!(literals.any(Which::All, "typed-value-999") && literals.any(Which::All, "answered-999"));
    assert!(literals.any(Which::All, &format!("typed-value-{}", 1000 - TYPED.values)));
    assert!(!literals.any(Which::All, "typed-value-0 answered-0"));
    for n in 0..20 {
        literals.learn(None, &format!("{n}{}", "long and longer ".repeat(4000)), true, Source::Typed);
    }
    assert!(literals.any(Which::All, "typed-value-999"), "long values make room for long values");
    for n in 0..1000 {
        literals.learn(None, &format!("first-answered-{n}"), true, Source::Answered);
        literals.learn(None, &format!("first-answered-{n}"), true, Source::Typed);
    }
    let typed = literals.slots.iter().flatten().filter(|known| known.source == Source::Typed).count();
    assert!(typed <= TYPED.values, "{typed}");
    let held: usize = literals.slots.iter().flatten().map(|known| known.bytes).sum();
    assert!(held <= TYPED.bytes + ANSWERED.bytes + 100, "{held}");
}

#[test]
fn a_long_value_is_found_to_its_last_character() {
    let mut literals = Literals::default();
    let value: String = (0..4000).map(|n| char::from(b'a' + (n * n % 23) as u8)).collect();
    literals.learn(None, &value, true, Source::Typed);
    let mut covered = vec![false; value.len()];
    let mut found = Vec::new();
    literals.find(Which::All, &value, &mut found);
    found.into_iter().for_each(|range| covered[range].fill(true));
    assert!(covered.iter().all(|covered| *covered));
}

#[test]
fn the_token_of_a_header_and_the_values_of_cookies_are_learned_by_themselves() {
    let mut literals = Literals::default();
    literals.learn(None, "Bearer abc-def-123", true, Source::Typed);
    literals.learn(None, "theme=dark; sid=a1b2c3d4e5", true, Source::Typed);
    assert!(literals.any(Which::All, "abc-def-123") && literals.any(Which::All, "a1b2c3d4e5"));
    assert!(!literals.any(Which::All, "theme dark"));
}

#[test]
fn short_values_are_known_for_their_call_and_in_quotes_after_it() {
    let mut literals = Literals::default();
    assert!(literals.learn(Some(7), "4711", true, Source::Typed));
    let mut found = Vec::new();
    find_brief(&literals.brief(7), "pin 4711, not 14711 or 4711x", &mut found);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0], 4..8);
    assert!(literals.brief(8).is_empty());
    literals.forget_brief(7);
    assert!(!literals.has_brief());
    assert_eq!(hidden(&literals, "fill('#pin', '4711') at 4711"), ["4711"]);
    assert_eq!(hidden(&literals, r##"fill(\"#pin\", \"4711\")"##), ["4711"]);
}

#[test]
fn literals_are_not_printed() {
    let mut literals = Literals::default();
    literals.learn(Some(1), "hunter22", true, Source::Typed);
    literals.learn(Some(1), "4711", true, Source::Typed);
    assert_eq!(format!("{literals:?}"), "Literals(2)");
}
