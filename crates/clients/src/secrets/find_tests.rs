#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_secrets::Reference;
use proptest::prelude::*;

use super::find::{Slot, Why, in_headers, secrets};
use crate::entry::{Local, SpannedText};

const GITHUB: &str = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

fn text(value: &str) -> SpannedText {
    SpannedText { value: value.to_owned(), span: 0..0 }
}

fn local(args: &[&str], env: &[(&str, &str)]) -> Local {
    Local {
        program: text("npx"),
        args: args.iter().map(|arg| text(arg)).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect(),
    }
}

/// `NAME why before` of each, in order.
fn found(args: &[&str], env: &[(&str, &str)]) -> Vec<String> {
    let found = secrets(&local(args, env));
    found.iter().map(|one| format!("{} {:?} {}", one.name, one.why, one.before)).collect()
}

#[test]
fn variables_are_found_by_name_by_looks_or_both() {
    for (name, value, expected) in [
        ("GITHUB_PERSONAL_ACCESS_TOKEN", GITHUB, Some(Why::Both)),
        ("SETTING", GITHUB, Some(Why::Looks)),
        ("DB_PASSWORD", "hunter22", Some(Why::Name)),
        ("DATABASE_URL", "postgresql://me:s3cretpw@db/x", Some(Why::Looks)),
        ("DATABASE_URL", "postgresql://localhost/x", None),
        ("REDIS", "redis://:s3cretpw@cache:6379", Some(Why::Looks)),
        ("SERVICE", "https://host/mcp?api_key=a1b2c3d4e5", Some(Why::Looks)),
        ("SENTRY_DSN", "host=x;password=hunter22", Some(Why::Both)),
        ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_123", Some(Why::Both)),
        ("CERT", "-----BEGIN RSA PRIVATE KEY-----\nMIIE", Some(Why::Looks)),
        (
            "OPENAPI_MCP_HEADERS",
            r#"{"Authorization": "Bearer ntn_123456789012345678901234", "V": "1"}"#,
            Some(Why::Looks),
        ),
        ("SEED", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW2x", Some(Why::Looks)),
        ("AWS_SECRET_ACCESS_KEY", "/9a8B7c6D5e4F3g2H1i0JkLmNoPqRsTuVwXyZaBc", Some(Why::Both)),
        // None of these is one.
        ("SLACK_TEAM_ID", "T01234567", None),
        ("AWS_ACCESS_KEY_ID", "some-plain-name", None),
        ("API_KEY_FILE", "/home/me/key", None),
        ("API_KEY", "/home/me/key.txt", None),
        ("API_KEY", "~/key", None),
        ("API_KEY", "C:\\Users\\me\\key", None),
        ("API_KEY", "${API_KEY}", None),
        ("API_KEY", "${input:key}", None),
        ("API_KEY", "$API_KEY", None),
        ("API_KEY", "{env:API_KEY}", None),
        ("API_KEY", "%API_KEY%", None),
        ("API_KEY", "op://vault/item/key", None),
        ("API_KEY", "keychain://callgate/0123456789abcdef/API_KEY", None),
        ("API_KEY", "YOUR_API_KEY", None),
        ("API_KEY", "<your key here>", None),
        ("API_KEY", "xxxxxxxxxxxx", None),
        ("API_KEY", "sk-ant-...", None),
        ("API_KEY", "", None),
        ("API_KEY", "abc", None),
        ("USE_TOKEN", "true", None),
        ("AUTH", "disabled", None),
        ("AWS_KEY", "AKIAIOSFODNN7EXAMPLE", None),
        ("API_TOKEN", "https://example.org/token", None),
        ("NODE_ENV", "production", None),
        ("LOG", "debug,express:*,socket.io:client", None),
    ] {
        let all = secrets(&local(&[], &[(name, value)]));
        assert_eq!(all.first().map(|one| one.why), expected, "{name}={value}");
        assert!(all.iter().all(|one| one.slot == Slot::Variable(name.to_owned())));
    }
}

#[test]
fn arguments_are_found_with_what_comes_before_them() {
    for (args, expected) in [
        (&["-y", "pkg", "--api-key", "hunter22"][..], &["api-key Name 0"][..]),
        (&["--token=hunter22"], &["token Name 8"]),
        (&["--token", "aHVudGVyMjIx=="], &["token Name 0"]),
        (&["-e", "DB_PASSWORD=hunter22"], &["DB_PASSWORD Name 12"]),
        (&["--env=DB_PASSWORD=hunter22"], &["DB_PASSWORD Name 18"]),
        (
            &["mcp-remote", "https://x/sse", "--header", "Authorization: Bearer hunter22"],
            &["Authorization Both 22"],
        ),
        (&["--header", "Authorization:hunter22"], &["Authorization Name 14"]),
        (&["--header=X-Api-Key: hunter22"], &["X-Api-Key Name 20"]),
        (&["postgresql://me:s3cretpw@db/x"], &["secret Looks 0"]),
        (&["https://host/mcp?apikey=a1b2c3d4e5"], &["secret Looks 0"]),
        (&[GITHUB], &["secret Looks 0"]),
        (&["--header", "Authorization: Bearer ${TOKEN}"], &[]),
        (&["--header", "Accept: application/json"], &[]),
        (&["--api-key", "--verbose"], &[]),
        (&["--token-file", "secret-file"], &[]),
        (&["-y", "@modelcontextprotocol/server-filesystem", "/home/me"], &[]),
        (&["--key", "$KEY"], &[]),
        (&["-c", "echo KEY=1 && run --x=y"], &[]),
        (&["--sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"], &[]),
        (&["postgresql://localhost/x"], &[]),
        (&[], &[]),
    ] {
        assert_eq!(found(args, &[]), expected, "{args:?}");
    }
}

#[test]
fn a_bearer_stays_and_its_token_goes() {
    let all = secrets(&local(&[], &[("AUTH", "Bearer hunter22")]));
    assert_eq!((all[0].value(), all[0].before), ("hunter22", 7));
    let headers = [("X-Api-Key".to_owned(), text("hunter22")), ("Accept".to_owned(), text("text/html"))];
    let all = in_headers(&headers);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].slot, Slot::Header("X-Api-Key".to_owned()));
}

#[test]
fn a_finding_does_not_print_its_value() {
    let all = secrets(&local(&["--token=hunter22"], &[]));
    assert!(!format!("{all:?}").contains("hunter22"));
}

proptest! {
    #[test]
    fn any_text_can_be_looked_at(args in prop::collection::vec(any::<String>(), 0..4), name: String, value: String) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        for one in secrets(&local(&args, &[(&name, &value)])) {
            prop_assert!(one.text.is_char_boundary(one.before));
            prop_assert!(one.length() > 0);
        }
    }

    #[test]
    fn a_token_is_found_wherever_it_stands_and_its_reference_is_not(rest in "[A-Za-z0-9]{36}", flag in "--[a-z]{2,8}", place in 0..4_usize) {
        prop_assume!(!super::classification::is_open(&rest));
        let token = format!("ghp_{rest}");
        prop_assume!(!super::classification::is_open(&token));
        let with = |value: &str| match place {
            0 => local(&[], &[("ANY", value)]),
            1 => local(&[&flag, value], &[]),
            2 => local(&[&format!("{flag}={value}")], &[]),
            _ => local(&["--header", &format!("X-Token: {value}")], &[]),
        };
        let found = secrets(&with(&token));
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].value(), &token);
        let reference = Reference::fresh(&found[0].name).unwrap().to_string();
        prop_assert!(secrets(&with(&reference)).is_empty());
    }
}
