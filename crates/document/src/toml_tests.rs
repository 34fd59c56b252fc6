//! TOML: places are right, tables of every kind are maps, and what clients refuse is refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use super::{Document, Form, Oddity, Splice, Syntax, Unreadable, apply};

fn parse(text: &str) -> Document {
    Document::parse(Syntax::Toml, text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn a_value_is_found_where_it_stands_whatever_kind_of_table_it_is_in() {
    let table = [
        "# é\r\n[a.\"b.c\"]\r\nd = \"✓\" # x\r\n",
        "a.\"b.c\".d = \"✓\"",
        "a = { \"b.c\" = { d = \"✓\" } }",
        "a = { \"b.c\".d = \"✓\" }",
        "[a]\n\"b.c\" . d = \"✓\"\n",
        "[a.\"b.c\"]\nz = 1\n[x]\n[a.y]\n[a.'b.c'.w]\n[q]\nd = 1\n".replacen("z = 1", "d = \"✓\"", 1).leak(),
    ];
    for text in table {
        let document = parse(text);
        let inner = &document.root.member("a").unwrap().value.member("b.c").unwrap().value;
        let member = inner.member("d").unwrap();
        assert_eq!(document.source(&member.value.span), "\"✓\"", "{text}");
        assert_eq!(document.source(&member.key_span), "d", "{text}");
    }
}

#[test]
fn dotted_keys_between_braces_are_not_added_to() {
    let document = parse("a = { b.c = \"x\" }");
    let inner = &document.root.member("a").unwrap().value.member("b").unwrap().value;
    assert_eq!(inner.form, Form::Odd(Oddity::DottedInBraces));
    assert!(document.add_list_after(inner, "c", "d", &[]).is_err());
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    let refused = |text: &str| Document::parse(Syntax::Toml, text.as_bytes()).unwrap_err();
    let Unreadable::Syntax { line, column, .. } = refused("a = 1\nb = é\n") else {
        panic!("another error");
    };
    assert_eq!((line, column), (2, 5));
    assert!(refused("a = 1\na = 2").to_string().contains("duplicate key"));
    assert!(refused("[a]\n[a]").to_string().contains("duplicate key"));
    assert_eq!(refused("\u{feff}a = 1"), Unreadable::ByteOrderMark);
    assert_eq!(refused(&format!("a = {}", "[".repeat(500))), Unreadable::Deep);
    assert_eq!(refused(&format!("{}a = 1", "a.".repeat(5000))), Unreadable::Deep);
}

#[test]
fn splices_that_meet_change_nothing() {
    let at = |span, text: &str| Splice::replace(span, text);
    assert_eq!(apply("abc", &[at(2..3, "z"), at(0..1, "x")]).unwrap(), "xbz");
    assert_eq!(apply("abc", &[at(1..1, "1"), at(1..1, "2"), at(1..2, "")]).unwrap(), "a12c");
    let backwards = std::ops::Range { start: 2, end: 1 };
    for wrong in [vec![at(0..2, ""), at(1..3, "")], vec![at(2..9, "")], vec![at(backwards, "")]] {
        assert!(apply("abc", &wrong).is_err(), "{wrong:?}");
    }
    assert!(apply("é", &[at(1..1, "")]).is_err(), "in the middle of a character");
}
