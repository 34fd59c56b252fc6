//! YAML: places are right whatever stands before them, and what is odd is called odd.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::{Document, Form, Node, Oddity, Syntax, Unreadable, Value};

fn parse(text: &str) -> Document {
    Document::parse(Syntax::Yaml, text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Every scalar with its own text, in the order of the file.
fn scalars<'a>(document: &'a Document, node: &'a Node, out: &mut Vec<&'a str>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|n| scalars(document, n, out)),
        Value::Map(members) => {
            for member in members {
                out.push(document.source(&member.key_span));
                scalars(document, &member.value, out);
            }
        }
        _ => out.push(document.source(&node.span)),
    }
}

#[test]
fn a_scalar_is_found_where_it_stands() {
    let table: &[(&str, &[&str])] = &[
        ("a: b", &["a", "b"]),
        ("a :  \tb \t\n", &["a", "b"]),
        ("# é ✓ 名\na: b # ü\n# ✓✓✓\nc: d\n", &["a", "b", "c", "d"]),
        ("é: \"ü\" # ✓\r\n# 名\r\nc: 'it''s'\r\n", &["é", "\"ü\"", "c", "'it''s'"]),
        ("---\na: [b, \"c\", {d: e}] # x\n...\n", &["a", "b", "\"c\"", "d", "e"]),
        ("a:\n- b\n-   c # ✓\n- - d\n", &["a", "b", "c", "d"]),
        ("a: # ✓ é\n  # ü\n  - é # ü\n  - b\n", &["a", "é", "b"]),
        ("{\"a\":\"b\",\"c\":[\"d\"]}", &["\"a\"", "\"b\"", "\"c\"", "\"d\""]),
        ("a: http://x/#y\nb: C:\\d\n", &["a", "http://x/#y", "b", "C:\\d"]),
        ("a: 1\rb: 2\r", &["a", "1", "b", "2"]),
        ("%YAML 1.2\n---\na: ~\n", &["a", "~"]),
        ("a:\nb: 1\n", &["a", "", "b", "1"]),
    ];
    for (text, want) in table {
        let document = parse(text);
        let mut found = Vec::new();
        scalars(&document, &document.root, &mut found);
        assert_eq!(&found, want, "in {text:?}");
    }
}

#[test]
fn text_is_told_from_numbers_and_nothing() {
    for plain in [
        "1", "-1", "+1.5", ".5", "1.", "1e3", "0x1F", "0o17", "true", "False", "null", "~", "", ".inf",
        "-.INF", ".nan",
    ] {
        assert_eq!(parse(&format!("a: {plain}\n")).root.member("a").unwrap().value.text(), None, "{plain}");
    }
    for plain in ["yes", "on", "1.2.3", "1-2", "0xg", "-y", "e3", ".", "1e", "nil", "0o8", "--", "${X}"] {
        assert_eq!(parse(&format!("a: {plain}\n")).root.member("a").unwrap().value.text(), Some(plain));
    }
    assert_eq!(parse("a: \"1\"").root.member("a").unwrap().value.text(), Some("1"));
}

#[test]
fn what_we_would_have_to_guess_about_is_odd() {
    let table = [
        ("a: &x b", Oddity::Anchor),
        ("a: !t b", Oddity::Tag),
        ("a: !!str b", Oddity::Tag),
        ("a: &x\n  b: c", Oddity::Anchor),
        ("a: &x [b]", Oddity::Anchor),
        ("a: |\n  b\n", Oddity::BlockText),
        ("a: >-\n  b\n", Oddity::BlockText),
        ("a: b\n  c\n", Oddity::ManyLines),
        ("a: \"b\n  c\"\n", Oddity::ManyLines),
        ("a:\n  ? b\n  : c\n", Oddity::StrangeKey),
        ("a:\n  ? [b]\n  : c\n", Oddity::StrangeKey),
        ("a:\n  &x b: c\n", Oddity::StrangeKey),
    ];
    for (text, want) in table {
        assert_eq!(parse(text).root.member("a").unwrap().value.form, Form::Odd(want), "{text:?}");
    }
    assert_eq!(
        parse("a: # why?\n  b: c # and this?\n  d: e\n").root.member("a").unwrap().value.form,
        Form::Lines
    );
    assert_eq!(parse("b: &x 1\na: *x\n").root.member("a").unwrap().value.form, Form::Odd(Oddity::Alias));
}

#[test]
fn a_file_that_clients_may_read_otherwise_is_refused() {
    let refused = |text: &str| Document::parse(Syntax::Yaml, text.as_bytes()).unwrap_err();
    assert_eq!(refused("a: 1\nb: 2\na: 3\n"), Unreadable::Twice { key: "a".into(), line: 3 });
    assert_eq!(refused("x: {a: 1, \"a\": 2}"), Unreadable::Twice { key: "a".into(), line: 1 });
    assert_eq!(refused("\u{feff}a: 1"), Unreadable::ByteOrderMark);
    assert_eq!(refused(&"- ".repeat(500)), Unreadable::Deep);
    assert_eq!(refused(&"[".repeat(200)), Unreadable::Deep);
    for text in ["a: 1\n---\nb: 2\n", "", "# only a comment\n", "a: [", "a: \"", "a: b: c"] {
        let parsed = Document::parse(Syntax::Yaml, text.as_bytes());
        assert!(matches!(parsed, Err(Unreadable::Syntax { .. })), "{text:?} {parsed:?}");
    }
}
