//! JSON as text, for tests that need any of it.

use proptest::prelude::*;

/// A JSON value as text in one of its many spellings, with exact numbers, blanks and escapes.
pub(crate) fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
        string(),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..6), blank())
                .prop_map(|(items, blank)| format!("[{blank}{}]", items.join(&format!("{blank},")))),
            (prop::collection::vec((string(), inner), 0..20), blank()).prop_map(|(members, blank)| {
                let mut seen = std::collections::HashSet::new();
                let members: Vec<String> = members
                    .into_iter()
                    .filter(|(key, _)| seen.insert(serde_json::from_str::<String>(key).unwrap()))
                    .map(|(key, value)| format!("{key}{blank}:{blank}{value}"))
                    .collect();
                format!("{{{blank}{}{blank}}}", members.join(","))
            }),
        ]
    })
}

pub(crate) fn blank() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{0,2}"]
}

pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z/ ]{1,4}",
        1 => prop::sample::select(vec![
            "\\n", "\\\"", "\\\\", "\\/", "\\u0000", "\\ud83d\\ude00", "\\u0061", "\u{2028}", "\u{2029}", "\u{85}",
            "\u{7f}", "\u{2019}", "\u{a9}", "😀", "\\b", "\\u2028",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}
