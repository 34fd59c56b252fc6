#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use callgate_home::clock::{Clock, ManualClock};

use super::*;
use crate::database::open_writer;
use crate::testing::{home, info, policies};
use crate::{EndReason, Journal};

const STRICT: &str = r#"{"version":"1","default":"deny"}"#;
const OPEN: &str = r#"{"version":"1","default":"allow"}"#;

fn version(text: &str) -> String {
    Policy::parse(text).unwrap().version().to_owned()
}

#[test]
fn a_session_that_is_filed_late_does_not_turn_the_policy_back() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let late = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    let writer = open_writer(&home, 0).unwrap();
    assert!(late.drained(Duration::from_secs(10)));
    // Its record waits while another session goes on.
    writer.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    late.policy_seen(&version(STRICT), STRICT, Origin::File);
    let now = clock.now().wall_ms;
    let found = |text: &str, at_ms: i64| {
        let policy = InForce { server: "s", version: &version(text), text, at_ms, origin: Origin::File };
        found(&writer.connection, &policy, Some("abc123"), false, &mut 0).unwrap();
    };
    found(STRICT, now - 60_000);
    found(OPEN, now + 60_000);
    writer.connection.execute_batch("COMMIT").unwrap();
    late.end(EndReason::ClientClosed);
    let versions: Vec<_> = policies(&home).into_iter().map(|(version, _)| version).collect();
    assert_eq!(versions, [version(STRICT), version(OPEN)]);
}
