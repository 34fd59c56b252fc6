//! Ordinary messages with random damage: whatever the gate makes of them, no reader finds a forbidden call in what it
//! forwarded, and what it answers is well formed.
//!
//! The damage is the same on every run; `CALLGATE_MUTATIONS=500` tries other and more.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use callgate_tests::gate::{Bench, DENY_POLICY};
use callgate_tests::oracle::{Ruling, client_messages, forbidden_calls, listed_tools, shows_hidden};
use callgate_tests::session::call_line;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const BASES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","arguments":{"x":1}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"safe","arguments":{"x":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"danger"}}}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"safe","arguments":{"x":"{\"method\":\"tools/call\",\"params\":{\"name\":\"danger\"}}"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hidden_one"}}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"result":{"x":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"danger"}}}}"#,
    r#"[{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"safe"}},{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"danger"}}]"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/list","params":{}}"#,
];

/// What gets inserted: the characters and words that parsers disagree on.
const SNIPPETS: &[&str] = &[
    "\r",
    "\n",
    "\0",
    "\u{b}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\t",
    " ",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "'",
    "/*",
    "*/",
    "//",
    "\\u0000",
    "\\u000d",
    "\\\"",
    "\\ud800",
    "NaN",
    "1e400",
    "\"name\":\"danger\",",
    "\"Name\":\"danger\",",
    "\"name\\u0000\":\"danger\",",
    "\"method\":\"tools/call\",",
    "\"METHOD\":\"tools/call\",",
    "\"id\":1,",
    "\"id\":null,",
    "\"params\":{\"name\":\"danger\"},",
    "\"param\u{17f}\":{\"name\":\"danger\"},",
    "danger",
    "safe",
    "\u{200b}",
    "\u{ff44}",
];

const SWAPS: &[(&str, &str)] = &[
    ("tools/call", "tools\\/call"),
    ("tools/call", "TOOLS/CALL"),
    ("danger", "d\\u0061nger"),
    ("safe", "danger"),
    ("name", "n\\u0061me"),
    ("\"id\"", "\"ID\""),
    (",", ",\r"),
    ("{", "{\r"),
    ("\"", "'"),
    ("method", "\\u006dethod"),
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, usize),
    Cut(Index, usize),
    Byte(Index, u8),
    Swap(usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        6 => (any::<Index>(), 0..SNIPPETS.len()).prop_map(|(at, which)| Edit::Insert(at, which)),
        2 => (any::<Index>(), 1..20_usize).prop_map(|(at, length)| Edit::Cut(at, length)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        3 => (0..SWAPS.len()).prop_map(Edit::Swap),
    ]
}

fn damaged() -> impl Strategy<Value = Vec<u8>> {
    (0..BASES.len(), vec(edit(), 0..5)).prop_map(|(base, edits)| {
        let mut line = BASES[base].as_bytes().to_vec();
        for edit in edits {
            apply(&edit, &mut line);
        }
        line.push(b'\n');
        line
    })
}

fn apply(edit: &Edit, line: &mut Vec<u8>) {
    if line.is_empty() {
        return;
    }
    match edit {
        Edit::Insert(at, which) => {
            let at = at.index(line.len());
            line.splice(at..at, SNIPPETS[*which].bytes());
        }
        Edit::Cut(at, length) => {
            let at = at.index(line.len());
            let end = (at + length).min(line.len());
            line.drain(at..end);
        }
        Edit::Byte(at, byte) => {
            let at = at.index(line.len());
            line[at] = *byte;
        }
        Edit::Swap(which) => {
            let (from, to) = SWAPS[*which];
            if let Ok(text) = std::str::from_utf8(line) {
                *line = text.replacen(from, to, 2).into_bytes();
            }
        }
    }
}

fn holds(lines: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let bench = Bench::new(DENY_POLICY).unwrap();
    let mut session = bench.session("", &[]).unwrap();
    for line in lines {
        session.send_bytes(line).unwrap();
    }
    // Damage may leave a line open; this closes it.
    session.send("").unwrap();
    session.send(&call_line("\"probe\"", "safe", "{}")).unwrap();
    session.answer("\"probe\"").map_err(|error| TestCaseError::fail(error.to_string()))?;
    let finished = session.finish().map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(forbidden_calls(&bench.server_got(), Ruling::DefaultDeny), Vec::<String>::new());
    prop_assert_eq!(client_messages(&finished.out).1, Vec::<String>::new());
    prop_assert!(!shows_hidden(&listed_tools(&finished.out)));
    Ok(())
}

#[test]
fn damaged_messages_never_become_a_forbidden_call() {
    let more = std::env::var("CALLGATE_MUTATIONS").ok().and_then(|count| count.parse().ok());
    let config = Config { cases: more.unwrap_or(40), failure_persistence: None, ..Config::default() };
    let mut runner = match more {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    runner.run(&vec(damaged(), 1..60), |lines| holds(&lines)).unwrap_or_else(|failure| panic!("{failure}"));
}
