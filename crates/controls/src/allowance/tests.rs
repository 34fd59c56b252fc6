#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use callgate_home::atomic;
use callgate_home::clock::{Clock, ManualClock};
use proptest::prelude::*;

use super::*;
use crate::prepare::testing::home;

fn tool(name: &str) -> AllowanceScope {
    AllowanceScope::Tool(name.to_owned())
}

fn one_call() -> AllowanceScope {
    let call = "k3v9qa-1z".parse().unwrap();
    AllowanceScope::Call { tool: "send".to_owned(), digest: [0xab; 32], call }
}

const QUARTER: Duration = Duration::from_secs(15 * 60);

#[test]
fn an_allowance_holds_for_its_time_and_its_server() {
    let (_folder, home) = home();
    let clock = ManualClock::new();
    for what in [tool("a"), one_call(), AllowanceScope::Observe] {
        grant(&home, &clock.now(), "s", what, QUARTER).unwrap();
    }
    let open = |server: &str| {
        let now = clock.now();
        read(&home).open(server, &now).map(|one| one.what.clone()).collect::<Vec<_>>()
    };
    assert_eq!(open("s"), [tool("a"), one_call(), AllowanceScope::Observe]);
    assert_eq!(open("t"), []);
    clock.advance(QUARTER - Duration::from_millis(1));
    assert_eq!(open("s").len(), 3);
    clock.advance(Duration::from_millis(1));
    assert_eq!(open("s"), []);
    assert_eq!(read(&home).all.len(), 3, "still in the file");
    grant(&home, &clock.now(), "s", tool("b"), QUARTER).unwrap();
    assert_eq!(read(&home).all.len(), 1, "an edit drops what is over");
}

#[test]
fn a_second_grant_of_the_same_replaces_the_first() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    let long = grant(&home, &now, "s", tool("a"), LONGEST).unwrap();
    let short = grant(&home, &now, "s", tool("a"), QUARTER).unwrap();
    grant(&home, &now, "t", tool("a"), QUARTER).unwrap();
    let all = read(&home).all;
    assert!(all.contains(&short) && !all.contains(&long) && all.len() == 2);
    for lasts in [LONGEST + Duration::from_secs(1), Duration::from_millis(999), Duration::MAX] {
        assert!(matches!(grant(&home, &now, "s", tool("a"), lasts), Err(AllowanceError::Length)));
    }
}

#[test]
fn blocking_a_tool_ends_whatever_allows_it() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    let mut all = Vec::new();
    for (server, what) in [
        ("s", tool("send")),
        ("s", one_call()),
        ("s", tool("other")),
        ("t", tool("send")),
        ("s", AllowanceScope::Observe),
    ] {
        all.push(grant(&home, &now, server, what, QUARTER).unwrap());
    }
    let ended = revoke(&home, &now, Revoke::Tool { server: "s", tool: "send", client: None }).unwrap();
    assert_eq!(ended, all[..2]);
    assert_eq!(revoke(&home, &now, Revoke::Observe { server: "s", client: None }).unwrap(), all[4..]);
    assert_eq!(revoke(&home, &now, Revoke::Id(&all[3].id)).unwrap(), all[3..4]);
    assert_eq!(revoke(&home, &now, Revoke::Id("nobody")).unwrap(), []);
    assert_eq!(revoke(&home, &now, Revoke::Server { server: "s", client: None }).unwrap(), all[2..3]);
    assert_eq!(read(&home), Allowances::default());
}

#[test]
fn an_allowance_of_a_pattern_ends_with_a_block_of_anything_that_it_lets_in() {
    for (allowed, blocked, ends) in [
        ("write_*", "write_file", true),
        ("write_*", "write_f*", true),
        ("write_*", "*_file", true),
        ("*", "read_*", true),
        ("write_*", "read_*", false),
        ("write_*", "read_file", false),
        ("write_file", "write_*", true),
    ] {
        let (_folder, home) = home();
        let clock = ManualClock::new();
        let granted = grant(&home, &clock.now(), "s", tool(allowed), Duration::from_secs(60)).unwrap();
        let which = Revoke::Tool { server: "s", tool: blocked, client: None };
        let ended = revoke(&home, &clock.now(), which).unwrap();
        assert_eq!(ended.contains(&granted), ends, "{allowed} under a block of {blocked}");
    }
    assert!(tool("write_*").admits("write_file") && !tool("write_*").admits("read"));
    assert!(!AllowanceScope::Observe.admits("x") && !one_call().admits("x"));
}

#[test]
fn a_file_that_cannot_be_understood_allows_nothing_and_says_so() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    grant(&home, &now, "s", one_call(), QUARTER).unwrap();
    let good = std::fs::read_to_string(home.allowances()).unwrap();
    let many = |count: usize| {
        let one: serde_json::Value = serde_json::from_str(&good).unwrap();
        serde_json::json!({ "allowances": vec![one["allowances"][0].clone(); count] }).to_string()
    };
    for text in [
        String::new(),
        "[]".to_owned(),
        "{}".to_owned(),
        good.replace("\"server\"", "\"serve\""),
        good.replace("\"call\": \"k3v9qa-1z\"", "\"call\": \"../x\""),
        good.replace("abab", "abax"),
        good.replace("abab", ""),
        many(1_001),
        "[".repeat(100_000),
    ] {
        atomic::replace(&home.allowances(), text.as_bytes()).unwrap();
        let found = read(&home);
        assert!(found.all.is_empty(), "{text}");
        assert!(found.problem.unwrap().contains("no allowance holds"));
    }
    let mut allowance = grant(&home, &now, "s", tool("a"), QUARTER).unwrap();
    assert_eq!(read(&home).all.len(), 1, "a new grant replaces what nobody can read");
    for (wall_ms, ends_ms) in [
        (now.wall_ms, now.wall_ms + 8 * 86_400_000),
        (i64::MIN, i64::MAX),
        (now.wall_ms + 60_000, now.wall_ms + 120_000),
        (now.wall_ms, now.wall_ms - 1),
    ] {
        (allowance.granted.wall_ms, allowance.ends_ms) = (wall_ms, ends_ms);
        assert!(!allowance.is_open(&now), "{allowance:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_write_allows_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, home) = home();
    grant(&home, &ManualClock::new().now(), "s", tool("a"), QUARTER).unwrap();
    let mode = |mode| std::fs::set_permissions(home.allowances(), std::fs::Permissions::from_mode(mode));
    assert_eq!(std::fs::metadata(home.allowances()).unwrap().permissions().mode() & 0o777, 0o600);
    mode(0o666).unwrap();
    assert!(read(&home).all.is_empty() && read(&home).problem.is_some());
}

#[test]
fn after_a_reboot_the_wall_clock_decides() {
    let (_folder, home) = home();
    let clock = ManualClock::new();
    let allowance = grant(&home, &clock.now(), "s", tool("a"), QUARTER).unwrap();
    clock.reboot("second", QUARTER / 2);
    assert!(allowance.is_open(&clock.now()));
    clock.set_wall(allowance.granted.wall_ms);
    clock.advance(QUARTER - Duration::from_secs(4));
    assert!(!allowance.is_open(&clock.now()), "it has been up for longer than the allowance lasts");
    clock.reboot("third", Duration::ZERO);
    clock.set_wall(allowance.granted.wall_ms - 60_000);
    assert!(!allowance.is_open(&clock.now()), "before the grant");
}

proptest! {
    #[test]
    fn no_setting_of_the_clock_lengthens_an_allowance(
        lasts in 1u64..100_000,
        steps in proptest::collection::vec((0u64..40_000, -90_000_000i64..90_000_000), 1..12),
    ) {
        let clock = ManualClock::new();
        let start = clock.now();
        let allowance = Allowance {
            id: String::new(),
            server: String::new(),
            client: None,
            what: AllowanceScope::Observe,
            granted: Granted {
                wall_ms: start.wall_ms,
                uptime_ms: start.uptime_ms,
                boot: start.boot.0.to_string(),
            },
            ends_ms: start.wall_ms + lasts.cast_signed(),
        };
        for (pass, set) in steps {
            clock.advance(Duration::from_millis(pass));
            clock.set_wall(clock.now().wall_ms + set);
            let ran = clock.now().uptime_ms - start.uptime_ms;
            prop_assert!(ran < lasts || !allowance.is_open(&clock.now()));
        }
    }
}

#[test]
fn an_allowance_of_one_client_is_for_nobody_else_and_one_of_none_for_everyone() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    let cursor = grant_to(&home, &now, ("s", Some("Cursor")), tool("a"), QUARTER).unwrap();
    let everyone = grant(&home, &now, "s", tool("a"), QUARTER).unwrap();
    assert_eq!(read(&home).all, [cursor.clone(), everyone.clone()], "one does not replace the other");
    assert!(cursor.is_for("cursor") && !cursor.is_for("claude-ai") && !cursor.is_for(""));
    assert!(everyone.is_for("cursor") && everyone.is_for("claude-ai"));
    let longer = grant_to(&home, &now, ("s", Some("Cursor")), tool("a"), LONGEST).unwrap();
    assert_eq!(read(&home).all, [everyone, longer]);
}

#[test]
fn ending_for_one_client_leaves_what_others_have() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    let of = |client, what| grant_to(&home, &now, ("s", client), what, QUARTER).unwrap();
    let (cursor, zed) = (of(Some("cursor"), tool("a")), of(Some("zed"), tool("a")));
    let (everyone, watched) = (of(None, tool("a")), of(Some("zed"), AllowanceScope::Observe));
    let which = Revoke::Tool { server: "s", tool: "a", client: Some("cursor") };
    assert_eq!(
        revoke(&home, &now, which).unwrap(),
        [cursor, everyone],
        "what everyone has would reach it too"
    );
    assert_eq!(revoke(&home, &now, Revoke::Observe { server: "s", client: Some("cursor") }).unwrap(), []);
    assert_eq!(revoke(&home, &now, Revoke::Server { server: "s", client: None }).unwrap(), [zed, watched]);
}

#[test]
fn a_file_from_before_clients_holds_for_everyone() {
    let (_folder, home) = home();
    let now = ManualClock::new().now();
    let granted = grant(&home, &now, "s", tool("a"), QUARTER).unwrap();
    let text = std::fs::read_to_string(home.allowances()).unwrap();
    assert!(!text.contains("client"), "an older gate goes on reading what it knows: {text}");
    let all = read(&home);
    assert_eq!((all.all, all.problem), (vec![granted], None));
}
