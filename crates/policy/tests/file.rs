//! What a person is told about a policy file: every error at once, and what may not mean what it seems to.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::{Policy, Severity};
use common::{cases, printed_policies, seed_pages};

/// Compares what is said with what the table expects; on a difference it prints how the section reads now.
fn compare(file: &str, said: impl Fn(&str) -> Vec<String>) {
    let mut failures = Vec::new();
    for section in cases(file) {
        let found = said(&section.policy);
        if found != section.lines {
            failures.push(format!("== {}\n{}\n--\n{}\n", section.title, section.policy, found.join("\n")));
        }
    }
    assert!(failures.is_empty(), "{file}: these sections now read:\n\n{}", failures.join("\n"));
}

#[test]
fn broken_policies_are_told_all_their_errors_with_place_and_fix() {
    compare("broken.txt", |text| {
        let report = Policy::parse(text).expect_err("a broken policy");
        assert!(report.problems.iter().all(|p| p.severity == Severity::Error && p.fix.is_some()), "{report}");
        report.problems.iter().map(ToString::to_string).collect()
    });
}

#[test]
fn odd_policies_are_warned_about() {
    compare("warnings.txt", |text| {
        Policy::parse(text).unwrap().warnings().iter().map(ToString::to_string).collect()
    });
}

#[test]
fn crlf_a_byte_order_mark_and_a_lone_cr_keep_lines_and_columns_right() {
    for text in [
        "{\r\n  \"versoin\": \"1\", \"default\": \"deny\" }",
        "\u{feff}{\n  \"versoin\": \"1\", \"default\": \"deny\" }",
    ] {
        let report = Policy::parse(text).expect_err("a misspelled key");
        let unknown = report.problems.iter().find(|p| p.message.starts_with("unknown key")).unwrap();
        assert_eq!((unknown.line, unknown.column), (2, 3), "{text:?}");
    }
    assert!(Policy::parse("\u{feff}{\"version\":\"1\",\"default\":\"deny\"}").is_ok());
}

/// The pages are not part of the project; where they lie beside it, their policies are read as they stand there.
#[test]
fn every_policy_printed_on_the_sample_pages_parses() {
    for (page, text) in seed_pages() {
        let policies = printed_policies(&text);
        assert_eq!(policies.len(), 1, "{page}");
        for text in policies {
            let policy = Policy::parse(&text).unwrap_or_else(|e| panic!("{page}: {e}"));
            let hides_only = text.contains("\"hide\"");
            assert_eq!(policy.warnings().len(), usize::from(hides_only), "{page}: {:?}", policy.warnings());
            assert!(common::SEEDS.contains(&text.as_str()), "{page}: not among the samples of the tests");
        }
    }
}

#[test]
fn the_version_is_a_short_hash_of_the_text() {
    let a = Policy::parse("{\"version\":\"1\",\"default\":\"deny\"}").unwrap();
    let b = Policy::parse("{\"version\":\"1\",\"default\":\"deny\"} ").unwrap();
    assert_eq!(a.version().len(), 12);
    assert_ne!(a.version(), b.version());
}

#[test]
fn visibility_is_equal_when_the_same_tools_are_listed() {
    let policy = |hide: &str, rest: &str| {
        Policy::parse(&format!("{{\"version\":\"1\",\"default\":\"allow\",\"hide\":{hide}{rest}}}")).unwrap()
    };
    assert_eq!(
        policy("[\"a\",\"b\"]", "").visibility("any"),
        policy("[\"b\",\"a\"]", ",\"tools\":{\"c\":{}}").visibility("any")
    );
    assert_ne!(policy("[\"a\"]", "").visibility("any"), policy("[]", "").visibility("any"));
    assert_eq!(policy("[\"*\",\"a\"]", "").visibility("any"), policy("[\"*\"]", "").visibility("any"));
    assert!(policy("[\"a\"]", "").is_hidden("any", "a") && !policy("[\"a\"]", "").is_hidden("any", "b"));
    assert!(policy("[\"a\"]", "").hides_anything() && !policy("[]", "").hides_anything());
}
