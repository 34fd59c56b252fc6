//! However a shell lets one write it, Callgate's own folder is out of reach.

use callgate_policy::{Call, Circumstances, Judgement, Policy};
use callgate_protocol::json::Raw;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn passes(home: &str, argument: &str) -> bool {
    let mut policy = Policy::parse(r#"{"version":"1","default":"allow"}"#).expect("a good policy");
    policy.guard_home(home, None);
    let args = serde_json::json!({ "command": argument }).to_string();
    let args = Raw::parse(&args).expect("JSON");
    matches!(
        policy.judge(&Call::tool("c", "run", Some(args)), &Circumstances::timeless()),
        Judgement::Pass(_)
    )
}

/// What a shell takes for nothing.
const NOTHING: [&str; 9] = ["\"\"", "''", "\\\n", "$@", "${x}", "$(true)", "``", "\"$*\"", "$()"];

/// One letter of a path in some other clothes.
fn dressed(letter: char) -> impl Strategy<Value = String> {
    let wild = if letter.is_alphabetic() { "?".to_owned() } else { letter.to_string() };
    let bracket = if letter.is_alphabetic() { format!("[{letter}]") } else { letter.to_string() };
    let escape = if letter == '/' { "/".to_owned() } else { format!("\\{letter}") };
    select(vec![
        letter.to_string(),
        letter.to_string(),
        letter.to_string(),
        escape,
        format!("\"{letter}\""),
        format!("'{letter}'"),
        format!("{{{letter},{letter}}}"),
        format!("%{:02x}", u32::from(letter)),
        bracket,
        wild,
    ])
}

/// The path with one letter changed and nothing put into another.
fn decorated(path: &'static str) -> impl Strategy<Value = String> {
    let letters: Vec<char> = path.chars().collect();
    (any::<Index>(), any::<Index>(), select(NOTHING.to_vec()), 0..2u8).prop_flat_map(
        move |(changed, stuffed, nothing, stuff)| {
            let letters = letters.clone();
            let (changed, stuffed) = (changed.index(letters.len()), stuffed.index(letters.len()));
            dressed(letters[changed]).prop_map(move |dressed| {
                let mut out = String::new();
                for (at, letter) in letters.iter().enumerate() {
                    if stuff == 1 && at == stuffed && *letter != '/' {
                        out.push_str(nothing);
                    }
                    if at == changed { out.push_str(&dressed) } else { out.push(*letter) }
                }
                out
            })
        },
    )
}

const BEFORE: [&str; 8] = [
    "",
    "cat ",
    "sed -i 's/deny/allow/' ",
    "x=1; cat <",
    "true && cat \"",
    "echo y >",
    "(cd ",
    "a | tee -a ",
];
const AFTER: [&str; 9] = [
    "",
    "/policies/t.json",
    "/x; : /../../../../../..",
    "/x # /../../..",
    "/x 2>/../../..",
    "/../../../..",
    "\" | wc",
    " && true",
    "/{a,b}/../c)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_usual_folder_is_out_of_reach_in_any_spelling(
        lead in select(vec!["/home/me/", "~/", "~me/", "$HOME/", "\"$HOME\"/", "${HOME}/", "", "./", "/home/../home/me//./", "$D"]),
        name in decorated(".callgate"),
        before in select(BEFORE.to_vec()),
        after in select(AFTER.to_vec()),
    ) {
        let text = format!("{before}{lead}{name}{after}");
        prop_assert!(!passes("/home/me/.callgate", &text), "{text}");
    }

    #[test]
    fn a_folder_of_another_name_is_out_of_reach_by_its_path(
        name in decorated("/srv/data/gate"),
        before in select(BEFORE.to_vec()),
        after in select(AFTER.to_vec()),
    ) {
        let text = format!("{before}{name}{after}");
        prop_assert!(!passes("/srv/data/gate", &text), "{text}");
    }

    #[test]
    fn a_file_address_broken_by_what_browsers_drop_is_out_of_reach(
        home in select(vec!["/home/me/.callgate", "/srv/data/gate"]),
        breaks in proptest::collection::vec((any::<Index>(), select(vec!["\t", "\n", "\r", "\r\n", "\t\t"])), 0..6),
        before in select(vec!["", " ", "\u{1}", "\n\u{1f}", "view-source:", "page.goto('"]),
        after in select(vec!["", "/policies/t.json", "/../x", "?a#b", "/\n"]),
        escaped in any::<bool>(),
    ) {
        let mut address = format!("file://{home}{after}");
        for (at, what) in breaks {
            let at = at.index(address.len() + 1);
            address.insert_str(at, what);
        }
        if escaped {
            address = address.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
        }
        let text = format!("{before}{address}");
        prop_assert!(!passes(home, &text), "{text:?}");
    }

    /// Total, and quick enough to be tried often.
    #[test]
    fn no_text_is_too_much(text in "[.ca(){}\\[\\]*?$%\\\\\"'/, ]{0,600}") {
        passes("/home/me/.callgate", &text);
        passes("/c/a", &text);
    }
}

#[test]
fn a_text_that_was_written_to_confuse_is_refused_and_not_followed_for_ever() {
    let text = ".{(".repeat(100_000);
    assert!(!passes("/home/me/.callgate", &text));
}

#[test]
fn a_long_ordinary_text_passes() {
    let text = "let x = self.chars().collect(); // see callgate.\n".repeat(4_000);
    assert!(passes("/home/me/.callgate", &text));
    assert!(passes("/srv/self", &text));
}

#[test]
fn a_long_page_full_of_selectors_and_templates_passes() {
    let text = "el.querySelector(`.c${i}`).css(`/${a}/${b}`, '$x', \"${call}gates\"); /\\.c*$/.test(s);\n"
        .repeat(1_000);
    assert!(passes("/home/me/.callgate", &text));
    assert!(passes("/srv/self", &text));
}
