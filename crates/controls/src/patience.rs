//! Patience of clients: how long each waits for the answer to a call, and so how long one may be held for a person.
//!
//! The table has what is known of clients. What an entry in a client's file sets (`control/timeouts.json`, written by whoever
//! looks at those files) and what a client taught a gate by giving up, a call or the session (`control/patience.json`), only
//! ever shorten that. Claude Desktop stops using all its servers after a few calls without an answer, so a held
//! call is answered well before its client's clock.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use callgate_home::{Home, atomic, lock_file, read_private};
use callgate_policy::same_client;
use serde::{Deserialize, Serialize};

/// A client's clock.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Names that it goes by: its own, and that of its entry.
    pub clients: &'static [&'static str],
    pub hold: Duration,
    /// After so long it goes on with other things, and hears of the call when that is answered.
    pub background: Option<Duration>,
    /// What is known, from where, and when it was looked at.
    pub source: &'static str,
}

/// Of clients that nothing is known about: most are made with a kit whose clock is 60 s.
pub const UNKNOWN: Duration = Duration::from_secs(45);

pub const CLIENTS: &[Patience] = &[
    Patience {
        clients: &["claude-ai", "claude-desktop", "Claude Desktop"],
        hold: Duration::from_secs(45),
        background: None,
        source: "240 s in chats (anthropics/claude-code#65643); 2026-11",
    },
    Patience {
        // Its Code tab: the rest of the name is the server's.
        clients: &["local-agent-mode-*"],
        hold: Duration::from_secs(45),
        background: None,
        source: "60 s whatever its entry sets (anthropics/claude-code#43791, #63379); 2026-11",
    },
    Patience {
        clients: &["claude-code", "Claude Code"],
        hold: Duration::from_secs(100),
        background: Some(Duration::from_mins(2)),
        source: "calls move to the background at 120 s, code.claude.com/docs/en/mcp; 2026-09",
    },
    Patience {
        clients: &["Visual Studio Code", "vscode", "VS Code"],
        hold: Duration::from_secs(240),
        background: None,
        source: "about 300 s, microsoft/vscode#261734; 2025-08",
    },
    Patience {
        clients: &["codex-mcp-client", "codex", "Codex"],
        hold: Duration::from_secs(240),
        background: None,
        source: "tool_timeout_sec, 300 s by default, codex-rs/codex-mcp/src/rmcp_client.rs; 2026-11",
    },
    Patience {
        clients: &["cursor-vscode", "cursor", "Cursor"],
        hold: Duration::from_secs(45),
        background: None,
        source: "60 s reported in 2025, no newer word; 2026-11",
    },
];

/// What is known of a client.
pub fn known(client: &str) -> Option<&'static Patience> {
    CLIENTS.iter().find(|one| one.clients.iter().any(|name| is_named(name, client)))
}

/// `*` at the end of a name stands for whatever follows.
fn is_named(name: &str, client: &str) -> bool {
    match name.strip_suffix('*') {
        Some(begins) => client.get(..begins.len()).is_some_and(|own| own.eq_ignore_ascii_case(begins)),
        None => same_client(name, client),
    }
}

/// Has a client gone on with other things by now, while a call is held that it has waited for so long for?
pub fn is_in_background(client: &str, waited: Duration) -> bool {
    known(client).and_then(|one| one.background).is_some_and(|after| waited > after)
}

/// How long a call of this client to this server may be held.
pub fn hold(home: &Home, client: &str, server: &str) -> Duration {
    let set = entry_timeouts(home).into_iter().filter(|(name, _)| same_client(name, client));
    let set = set
        .filter_map(|(_, servers)| servers.get(server).copied())
        .map(|ms| within(Duration::from_millis(ms)));
    set.fold(by_client(home, client), Duration::min)
}

fn by_client(home: &Home, client: &str) -> Duration {
    let known = known(client).map_or(UNKNOWN, |one| one.hold);
    let learned = read(home).into_iter().filter(|(name, _)| same_client(name, client));
    learned.filter_map(|(_, lesson)| lesson.hold_ms).map(Duration::from_millis).fold(known, Duration::min)
}

/// A quarter of a clock is for whatever else takes time.
fn within(clock: Duration) -> Duration {
    clock / 4 * 3
}

/// The time-outs for calls that entries in clients' files set, in milliseconds: by client, then by server.
pub type EntryTimeouts = BTreeMap<String, BTreeMap<String, u64>>;

/// What the files said when they were looked at last. A file of ours that cannot be read says nothing.
pub fn entry_timeouts(home: &Home) -> EntryTimeouts {
    read_private(&home.entry_timeouts())
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// For the gates, which read no client's file.
pub fn keep_entry_timeouts(home: &Home, timeouts: &EntryTimeouts) -> io::Result<()> {
    if entry_timeouts(home) == *timeouts {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(timeouts).map_err(io::Error::other)?;
    atomic::swap(&home.entry_timeouts(), &text)
}

/// What a client taught.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lesson {
    /// After so many seconds it gave up last.
    gave_up_s: u64,
    /// How long its calls are held since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_ms: Option<u64>,
}

/// A client gave a call up that was held for so long. Clocks are set to round numbers of seconds, and go off twice at the same;
/// what was given up at another time was given up by a person, and teaches nothing.
pub fn gave_up(home: &Home, client: &str, after: Duration) -> io::Result<Option<Duration>> {
    const STEP: u64 = 5_000;
    const NEAR: u64 = 300;
    let waited = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
    let clock = waited.saturating_add(STEP / 2) / STEP * STEP;
    if clock == 0 || waited.abs_diff(clock) > NEAR || after > Duration::from_hours(1) {
        return Ok(None);
    }
    let _alone = lock_file(&home.patience_lock())?;
    let mut all = read(home);
    let before = all.iter().find(|(name, _)| same_client(name, client)).map(|(_, lesson)| lesson.clone());
    let again = before.as_ref().is_some_and(|before| before.gave_up_s == clock / 1_000);
    let hold = within(Duration::from_millis(clock));
    let learned = (again && hold < by_client(home, client)).then_some(hold);
    let hold_ms = learned.map(|hold| hold.as_millis() as u64).or(before.and_then(|before| before.hold_ms));
    all.retain(|name, _| !same_client(name, client));
    all.insert(client.chars().take(64).collect(), Lesson { gave_up_s: clock / 1_000, hold_ms });
    // Names come from clients: a thousand of them are no clients.
    while all.len() > 1_000 {
        all.pop_first();
    }
    let text = serde_json::to_vec_pretty(&all).map_err(io::Error::other)?;
    atomic::swap(&home.patience(), &text)?;
    Ok(learned)
}

/// By client. A file that cannot be read teaches nothing.
fn read(home: &Home) -> BTreeMap<String, Lesson> {
    read_private(&home.patience()).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_on_in_the_background_only_if_it_is_held_for_longer_than_its_client_waits() {
        let seconds = Duration::from_secs;
        for (client, waited, in_background) in [
            ("claude-code", seconds(100), false),
            ("claude-code", seconds(121), true),
            ("cursor", seconds(240), false),
            ("some-client", seconds(240), false),
        ] {
            assert_eq!(is_in_background(client, waited), in_background, "{client} {waited:?}");
        }
        let by_itself = CLIENTS.iter().filter_map(|one| Some((one.hold, one.background?)));
        assert!(
            by_itself.into_iter().all(|(hold, after)| hold < after),
            "answered before, unless a policy says otherwise"
        );
    }

    #[test]
    fn the_code_tab_of_claude_desktop_has_a_clock_of_its_own_whatever_server_it_names_itself_after() {
        for client in ["local-agent-mode-files", "Local-Agent-Mode-x"] {
            let source = known(client).map(|one| one.source);
            assert!(source.is_some_and(|source| source.starts_with("60 s whatever")), "{client}");
        }
        for client in ["local-agent-mod", "my-local-agent-mode-x", ""] {
            assert!(known(client).is_none(), "{client:?}");
        }
    }

    #[test]
    fn a_client_that_gives_up_by_its_clock_is_answered_sooner_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare_with(|_| Ok(())).unwrap();
        let seconds = Duration::from_secs;
        let hold = |client: &str| hold(&home, client, "s");
        assert_eq!(hold("some-client"), UNKNOWN);
        assert_eq!(gave_up(&home, "some-client", Duration::from_millis(7_312)).unwrap(), None, "a person");
        let ten = Duration::from_millis;
        assert_eq!(gave_up(&home, "some-client", ten(10_120)).unwrap(), None, "once may be chance");
        assert_eq!(gave_up(&home, "some-client", ten(9_950)).unwrap(), Some(ten(7_500)));
        assert_eq!(hold("Some-Client"), Duration::from_millis(7_500));
        assert_eq!(gave_up(&home, "some-client", seconds(30)).unwrap(), None, "never longer");
        assert_eq!(hold("claude-code"), seconds(100), "others are not concerned");
    }

    #[test]
    fn a_time_out_of_an_entry_shortens_what_its_calls_are_held_and_never_lengthens_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare_with(|_| Ok(())).unwrap();
        let set = |servers: &[(&str, u64)]| {
            let servers = servers.iter().map(|(name, ms)| ((*name).to_owned(), *ms)).collect();
            keep_entry_timeouts(&home, &EntryTimeouts::from([("codex".to_owned(), servers)])).unwrap();
        };
        set(&[("quick", 20_000), ("slow", 3_600_000)]);
        assert_eq!(hold(&home, "codex", "quick"), Duration::from_secs(15));
        assert_eq!(hold(&home, "codex", "slow"), Duration::from_secs(240), "a longer one lengthens nothing");
        assert_eq!(hold(&home, "codex", "other"), Duration::from_secs(240));
        assert_eq!(hold(&home, "claude-code", "quick"), Duration::from_secs(100));
        set(&[]);
        assert_eq!(
            hold(&home, "codex", "quick"),
            Duration::from_secs(240),
            "the entry says nothing any more"
        );
        std::fs::write(home.entry_timeouts(), "{").unwrap();
        assert_eq!(hold(&home, "codex", "quick"), Duration::from_secs(240));
    }
}
