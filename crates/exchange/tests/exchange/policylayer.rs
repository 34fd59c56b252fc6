//! Our policies in PolicyLayer's JSON: what comes out, and that nothing becomes looser on the way.

use crate::gate::{Section, cases};
use callgate_exchange::policylayer;
use serde_json::Value;

#[test]
fn policies_are_exported_as_far_as_their_format_goes() {
    let mut failures = Vec::new();
    for Section { title, source, lines } in cases("policylayer.txt") {
        let exported = policylayer::export(&source).unwrap_or_else(|report| panic!("{title}:\n{report}"));
        callgate_policy::Policy::parse(&exported.text).unwrap_or_else(|report| panic!("{title}:\n{report}"));
        let found: Value = serde_json::from_str(&exported.text).unwrap();
        let notes: Vec<_> = exported.notes.iter().map(ToString::to_string).collect();
        for line in lines {
            if let Some(wanted) = line.strip_prefix("note ") {
                if !notes.iter().any(|n| n.contains(wanted)) {
                    failures.push(format!("{title}: {line}\n{}", notes.join("\n")));
                }
            } else {
                let wanted: Value =
                    serde_json::from_str(&line).unwrap_or_else(|e| panic!("{title}: {line}: {e}"));
                if found != wanted {
                    failures.push(format!(
                        "{title}\n  expected {wanted}\n  found    {found}\n{}",
                        notes.join("\n")
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_policy_with_errors_is_not_exported() {
    let report = policylayer::export("{ \"version\": \"1\" }").unwrap_err();
    assert!(report.headline().contains("`default` is missing"), "{report}");
}
