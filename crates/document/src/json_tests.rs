//! JSON: strict means strict, and what is accepted is found where it stands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::{Document, Literal, Syntax, Unreadable};

fn parse(syntax: Syntax, text: &str) -> Result<Document, Unreadable> {
    Document::parse(syntax, text.as_bytes())
}

#[test]
fn strict_takes_what_json_parse_takes() {
    for good in ["{}", " {\"a\" : [1e400, -0.0, true, null]}\r\n", "\"x\"", "{\"a\":\"\\ud83d\\ude00\"}"] {
        parse(Syntax::Json, good).unwrap();
    }
    let bad = [
        "",
        " ",
        "{\"a\":1,}",
        "[1,]",
        "// c\n{}",
        "{}/**/",
        "{a:1}",
        "{'a':1}",
        "[01]",
        "[+1]",
        "[.5]",
        "[0x1]",
        "[NaN]",
        "{} {}",
        "[1 2]",
        "{\"a\" 1}",
        "[\"\\x41\"]",
        "[\"\t\"]",
        "[\"a\nb\"]",
        "\u{a0}{}",
        "[",
        "{\"a\":",
        "tru",
    ];
    for text in bad {
        let parsed = parse(Syntax::Json, text);
        assert!(matches!(parsed, Err(Unreadable::Syntax { .. })), "{text:?}: {parsed:?}");
    }
}

#[test]
fn with_comments_takes_comments_and_trailing_commas_and_no_more() {
    parse(Syntax::Jsonc, "// a\n{/*b*/\"a\":[1,],}//c").unwrap();
    for text in ["", "// c", "{a:1}", "{'a':1}", "[1 2]", "[,]", "{} {}", "[NaN]", "/*"] {
        let parsed = parse(Syntax::Jsonc, text);
        assert!(matches!(parsed, Err(Unreadable::Syntax { .. })), "{text:?}: {parsed:?}");
    }
}

#[test]
fn with_comments_alone_takes_no_trailing_comma() {
    parse(Syntax::Commented, "// a\n{/*b*/\"a\":[1]}//c").unwrap();
    for text in ["{\"a\":[1,]}", "{\"a\":1,}", "{\"a\":1,/*b*/}"] {
        let parsed = parse(Syntax::Commented, text);
        assert!(matches!(parsed, Err(Unreadable::Syntax { .. })), "{text:?}: {parsed:?}");
    }
}

#[test]
fn a_file_that_clients_may_read_otherwise_is_refused() {
    for syntax in [Syntax::Json, Syntax::Commented, Syntax::Jsonc] {
        let twice = parse(syntax, "{\"x\":{\n\"a\":1,\n\"\\u0061\":2}}").unwrap_err();
        assert_eq!(twice, Unreadable::Twice { key: "a".into(), line: 3 });
        assert_eq!(parse(syntax, "\u{feff}{}").unwrap_err(), Unreadable::ByteOrderMark);
        assert_eq!(parse(syntax, &"[".repeat(10_000)).unwrap_err(), Unreadable::Deep);
        let deep = format!("{}{}", "[".repeat(125), "]".repeat(125));
        assert_eq!(parse(syntax, &deep).unwrap_err(), Unreadable::Deep);
        assert_eq!(Document::parse(syntax, b"{\"a\":\"\xff\"}").unwrap_err(), Unreadable::NotUtf8 { at: 6 });
    }
}

#[test]
fn an_error_says_where() {
    let Unreadable::Syntax { line, column, why, .. } = parse(Syntax::Json, "{\n  \"a\": 1,\n}").unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!((line, column, why.as_str()), (2, 9, "trailing commas are not allowed"));
}

#[test]
fn a_text_reads_back_as_itself_in_every_syntax() {
    let nasty = "C:\\Program Files\\\"x\"\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{2028}\u{feff}é✓😀 ${A} #{}[],:'";
    for (syntax, text) in [
        (Syntax::Json, "{\"a\": [\"\"]}"),
        (Syntax::Jsonc, "{\"a\": [\"\"],}"),
        (Syntax::Toml, "a = ['']"),
        (Syntax::Yaml, "a: [b]"),
        (Syntax::Yaml, "a:\n- b"),
    ] {
        let document = parse(syntax, text).unwrap();
        let list = document.root.member("a").unwrap();
        let replaced = document.replace_text(&list.value.list().unwrap()[0], nasty).unwrap();
        let mut splices = document.put_front(list, &[Literal::Text(nasty)]).unwrap();
        splices.push(replaced);
        let after = document.spliced(&splices).unwrap();
        let list = after.root.member("a").unwrap().value.list().unwrap();
        assert_eq!(
            list.iter().map(|n| n.text().unwrap()).collect::<Vec<_>>(),
            [nasty, nasty],
            "{}",
            after.text
        );
    }
}
