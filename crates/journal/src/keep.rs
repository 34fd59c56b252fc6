//! How little of a call is kept when its policy asks for privacy: names without values, or nothing; and sentences in
//! which no value of the arguments is repeated.

use std::borrow::Cow;

use callgate_protocol::json::{Kind, Raw, write_string};

/// No more names than this many bytes of them.
const NAMES: usize = 8 * 1024;
/// Values looked for in a sentence; beyond so many, nothing of the sentence is kept.
const VALUES: usize = 2_000;
/// A value shorter than this is only looked for as a word of its own.
const SHORT: usize = 4;

/// What stands in place of a value.
const WITHHELD: &str = "[withheld]";

/// The names of the arguments in the order in which they came, as a JSON array: unlike an object it cannot be taken for
/// the arguments themselves. Also whether some are missing.
pub(crate) fn names(args: Raw<'_>) -> (String, bool) {
    let mut out = vec![b'['];
    let mut cut = false;
    for (name, _) in args.members() {
        if out.len() + name.len() > NAMES {
            cut = true;
            break;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        write_string(&mut out, &name);
    }
    out.push(b']');
    (String::from_utf8_lossy(&out).into_owned(), cut)
}

/// The sentence without the values of these arguments, as they are and as they look in quotes.
pub(crate) fn without_values<'r>(reason: &'r str, args: Option<Raw<'_>>) -> Cow<'r, str> {
    let Some(args) = args.filter(|_| !reason.is_empty()) else { return reason.into() };
    let mut left = vec![args];
    let mut values: Vec<String> = Vec::new();
    while let Some(value) = left.pop() {
        match value.kind() {
            Kind::Object => left.extend(value.members().map(|(_, value)| value).take(VALUES + 1)),
            Kind::Array => left.extend(value.items().take(VALUES + 1)),
            Kind::String => {
                let text = value.as_str().unwrap_or_default();
                values.push(unquoted(&format!("{text:?}")));
                values.push(unquoted(value.text()));
                values.push(text.into_owned());
            }
            Kind::Number => values.push(value.text().to_owned()),
            Kind::Null | Kind::Bool => {}
        }
        if left.len() + values.len() > VALUES {
            return WITHHELD.into();
        }
    }
    // Longer ones first: one value may be a part of another.
    values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
    values.dedup();
    let mut kept = Cow::Borrowed(reason);
    for value in values.iter().filter(|value| !value.is_empty()) {
        if kept.contains(value.as_str()) {
            kept = Cow::Owned(replaced(&kept, value));
        }
    }
    kept
}

fn unquoted(text: &str) -> String {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned()
}

fn replaced(text: &str, value: &str) -> String {
    let part_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let inside_word = value.len() < SHORT
            && (part_of_word(before.chars().next_back()) || part_of_word(after.chars().next()));
        out.push_str(before);
        out.push_str(if inside_word { value } else { WITHHELD });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn names_come_as_they_came_and_stay_json_however_many() {
        let args = r#"{"url":"x","a\"b":{"deep":1},"":[]}"#;
        assert_eq!(names(Raw::parse(args).unwrap()), (r#"["url","a\"b",""]"#.to_owned(), false));
        let many: Vec<String> = (0..5_000).map(|n| format!("\"name {n}\":{n}")).collect();
        let many = format!("{{{}}}", many.join(","));
        let (kept, cut) = names(Raw::parse(&many).unwrap());
        assert!(cut && kept.len() < 9_000 && Raw::parse(&kept).is_ok());
        assert_eq!(names(Raw::parse("7").unwrap()), ("[]".to_owned(), false));
    }

    #[test]
    fn a_sentence_repeats_no_value() {
        let args = r#"{"to":"me@example.org","n":[4711,{"q":"say \"hi\""}],"x":"on","flag":true}"#;
        let args = Some(Raw::parse(args).unwrap());
        for (said, kept) in [
            ("\"send\" is denied when args.to contains \"evil\"", None),
            ("me@example.org is not one of us", Some("[withheld] is not one of us")),
            ("no \"say \\\"hi\\\"\", no say \"hi\"", Some("no \"[withheld]\", no [withheld]")),
            ("4711 is above 100", Some("[withheld] is above 100")),
            ("\"on\" is not one of them", Some("\"[withheld]\" is not one of them")),
        ] {
            assert_eq!(without_values(said, args), kept.unwrap_or(said));
        }
        let flood = format!("{{\"a\":[{}]}}", vec!["1"; 10_000].join(","));
        assert_eq!(without_values("because 1", Some(Raw::parse(&flood).unwrap())), WITHHELD);
        assert_eq!(without_values("", args), "");
    }
}
