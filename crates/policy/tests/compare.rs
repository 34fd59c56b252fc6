//! The table `cases/loosened.txt`: what is said about a change of policy.
#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use callgate_policy::{Policy, compare};
use common::cases;

#[test]
fn what_a_change_opens_is_said_in_words() {
    let mut failures = Vec::new();
    for section in cases("loosened.txt") {
        let (old, new) = section.policy.split_once("\n=>\n").unwrap();
        let [old, new] =
            [old, new].map(|text| Policy::parse(text).unwrap_or_else(|e| panic!("{}: {e}", section.title)));
        let found = compare::loosened(&old, &new);
        if found != section.lines {
            failures.push(format!("== {}\n{}\n", section.title, found.join("\n")));
        }
        assert_eq!(compare::loosened(&old, &old), Vec::<String>::new(), "{}", section.title);
        assert_eq!(compare::loosened(&new, &new), Vec::<String>::new(), "{}", section.title);
    }
    assert!(failures.is_empty(), "these sections now read:\n\n{}", failures.join("\n"));
}

#[test]
fn policies_with_very_many_patterns_are_called_looser_rather_than_compared_for_hours() {
    let policy = |count: usize| {
        let rules: Vec<String> =
            (0..count).map(|i| format!("\"*{i}*\": {{ \"action\": \"deny\" }}")).collect();
        let rules = rules.join(",");
        let clients = format!("\"clients\": {{ \"c\": {{ \"tools\": {{ {rules} }} }} }}");
        let text =
            format!("{{ \"version\": \"1\", \"default\": \"allow\", \"tools\": {{ {rules} }}, {clients} }}");
        Policy::parse(&text).unwrap()
    };
    let found = compare::loosened(&policy(300), &policy(301));
    assert_eq!(
        found.last().unwrap(),
        "the policies are too large to be compared: anything may have become looser"
    );
}

#[test]
fn ten_thousand_tools_are_compared_name_by_name() {
    let policy = |max: usize| {
        let rules: Vec<String> =
            (0..10_000).map(|i| format!("\"t{i}\": {{ \"rate_limit\": \"{max}/minute\" }}")).collect();
        let text =
            format!("{{ \"version\": \"1\", \"default\": \"deny\", \"tools\": {{ {} }} }}", rules.join(","));
        Policy::parse(&text).unwrap()
    };
    assert_eq!(compare::loosened(&policy(5), &policy(6)).len(), 10_000);
    assert!(compare::loosened(&policy(6), &policy(5)).is_empty());
}
