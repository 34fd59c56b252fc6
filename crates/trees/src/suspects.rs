//! Automation browsers that nobody owns any more: from before Callgate, or started beside it.
//!
//! They are listed for a person, never ended by themselves. What is listed has all of these marks: a browser's program, no
//! window or a pipe to a driver that is gone, a profile below the temporary directory, nobody above it but the system, and no
//! session of any Callgate. A person's own browser has a profile of its own and a window; a browser in use has somebody above
//! it, or somebody in front of it: a debugging port alone says nothing, since a desktop starts browsers with one as well.

use std::path::{Path, PathBuf};

use callgate_home::{Home, running};
use callgate_supervise::{
    ObservedProcess, ProcessId, arguments, end as end_processes, everyone, session_of, tree_of,
};

use crate::Here;
use crate::look::profile;
use crate::profiles::Ground;
use crate::what::{is_browser, program};

/// A browser that may be left over, with all that is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub id: ProcessId,
    /// Foreign text, not masked.
    pub arguments: Vec<String>,
    pub profile: PathBuf,
    /// Itself first.
    pub tree: Vec<ProcessId>,
}

/// One process, as far as it matters here.
#[derive(Clone, Debug)]
struct ProcessRow {
    seen: ObservedProcess,
    arguments: Vec<String>,
}

/// Those that run now.
pub fn suspects(home: &Home) -> Vec<Suspect> {
    let rows: Vec<ProcessRow> =
        everyone().into_iter().map(|seen| ProcessRow { arguments: arguments(seen.id.pid), seen }).collect();
    let here = Here::now();
    let leases: Vec<_> = running(home).into_iter().filter(|lease| here.has(lease)).collect();
    let of_session = |id: ProcessId| {
        session_of(id.pid).is_some()
            || leases.iter().any(|lease| tree_of(lease.pid).iter().any(|one| one.id == id))
    };
    let ground = Ground::here(home);
    let is_temporary = |path: &Path| ground.as_ref().is_some_and(|ground| ground.is_temporary(path));
    let mut found = pick(&rows, is_temporary);
    // Last, because it looks closely; and in every tree, whose marker may be on a child only.
    found.retain(|suspect| !suspect.tree.iter().any(|id| of_session(*id)));
    found
}

/// Ends those of these that are suspects at this moment, with all that is below them. Says of each whether it is gone; who is
/// not a suspect any more is not touched and not told of.
pub fn end(home: &Home, wanted: &[ProcessId]) -> Vec<(ProcessId, bool)> {
    let chosen: Vec<Suspect> =
        suspects(home).into_iter().filter(|suspect| wanted.contains(&suspect.id)).collect();
    let all: Vec<ProcessId> = chosen.iter().flat_map(|suspect| suspect.tree.iter().copied()).collect();
    let ended = end_processes(&all);
    let gone = |id: &ProcessId| ended.iter().any(|(known, gone)| known == id && *gone);
    chosen.iter().map(|suspect| (suspect.id, suspect.tree.iter().all(gone))).collect()
}

fn pick(rows: &[ProcessRow], is_temporary: impl Fn(&Path) -> bool) -> Vec<Suspect> {
    let mut found: Vec<Suspect> = rows
        .iter()
        .filter(|row| is_browser(program(&row.arguments)) && !is_part(&row.arguments))
        .filter(|row| nobody_before(&row.arguments))
        .filter(|row| nobody_above(row, rows))
        .filter_map(|row| {
            let profile = profile_of(&row.arguments).filter(|path| is_temporary(path))?;
            let tree = below(row.seen.id, rows);
            Some(Suspect { id: row.seen.id, arguments: row.arguments.clone(), profile, tree })
        })
        .collect();
    found.sort_by_key(|suspect| suspect.id.start);
    found
}

/// A part of a browser is listed with it.
fn is_part(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument.starts_with("--type=") || argument == "-contentproc")
}

/// No person can look at it: it has no window, or it listens to a pipe whose other end went with its parent.
fn nobody_before(arguments: &[String]) -> bool {
    const FLAGS: &[&str] =
        &["--headless", "-headless", "--remote-debugging-pipe", "-juggler-pipe", "--juggler-pipe"];
    const PROGRAMS: &[&str] = &["chrome-headless-shell", "headless_shell"];
    let is_flag = |argument: &String| {
        FLAGS.contains(&argument.split_once('=').map_or(argument.as_str(), |(flag, _)| flag))
    };
    PROGRAMS.contains(&program(arguments)) || arguments.iter().any(is_flag)
}

fn profile_of(arguments: &[String]) -> Option<PathBuf> {
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).map(PathBuf::from)
    };
    profile(arguments).or_else(|| after("-profile")).or_else(|| after("--profile"))
}

/// Its parent is gone: what has no parent comes to the system's first process, or to the person's own service manager.
fn nobody_above(row: &ProcessRow, rows: &[ProcessRow]) -> bool {
    let Some(parent) = row.seen.parent else { return true };
    let Some(parent) = rows.iter().find(|other| other.seen.id.pid == parent) else { return false };
    let name = program(&parent.arguments);
    match parent.seen.id.pid {
        // Whatever it is called, orphans come to it. But in a container or a small machine it may be anything, and may have
        // started the browser itself: such a child and an orphan look the same, since automation gives a browser a process
        // group of its own. So only a first process that drives no browser tells that nobody does.
        1 => {
            let is = |names: &[&str]| names.contains(&name) || names.contains(&parent.seen.name.as_str());
            is(INITS) || is(IDLERS) && !listens(&row.arguments)
        }
        // Other reapers of orphans (the relays of WSL, shims of containers, sandboxes) start programs themselves.
        _ => name == "systemd" && parent.arguments.iter().any(|argument| argument == "--user"),
    }
}

/// First processes that start no browser themselves.
const INITS: &[&str] = &[
    "systemd",
    "init",
    "launchd",
    "tini",
    "tini-static",
    "dumb-init",
    "docker-init",
    "catatonit",
    "s6-svscan",
    "runit",
    "openrc-init",
    "dinit",
    "shepherd",
];

/// First processes that do nothing but wait, as containers that are kept open have them. A shell may have become one of them
/// after it had started a browser that others reach at a port.
const IDLERS: &[&str] = &["sleep", "tail", "cat", "pause"];

/// Can others reach it at a port that they know?
fn listens(arguments: &[String]) -> bool {
    const FLAG: &str = "--remote-debugging-port";
    let port =
        |argument: &String| argument.strip_prefix(FLAG).map(|rest| rest.trim_start_matches('=').to_owned());
    arguments.iter().filter_map(port).any(|port| port != "0")
}

fn below(root: ProcessId, rows: &[ProcessRow]) -> Vec<ProcessId> {
    let mut tree = vec![root];
    let mut at = 0;
    while let Some(parent) = tree.get(at).copied() {
        let children = rows.iter().filter(|row| row.seen.parent == Some(parent.pid)).map(|row| row.seen.id);
        for child in children {
            if !tree.contains(&child) {
                tree.push(child);
            }
        }
        at += 1;
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pid: u32, parent: u32, line: &str) -> ProcessRow {
        let arguments: Vec<String> = line.split('|').map(str::to_owned).collect();
        let name = program(&arguments).to_owned();
        let parent = (parent > 0).then_some(parent);
        ProcessRow {
            seen: ObservedProcess { id: ProcessId { pid, start: u64::from(pid) }, parent, name },
            arguments,
        }
    }

    /// Around it: init, a person's service manager, a living server.
    fn listed(parent: u32, line: &str) -> bool {
        let rows = [
            row(1, 0, "/sbin/init"),
            row(2, 1, "/usr/lib/systemd/systemd|--user"),
            row(3, 2, "/usr/bin/node|/a/mcp.js"),
            row(4, 2, "/usr/bin/gnome-shell"),
            row(100, parent, line),
            row(101, 100, "/usr/lib/chromium/chromium|--type=renderer|--headless|--user-data-dir=/tmp/p"),
        ];
        let found = pick(&rows, |path| path.starts_with("/tmp"));
        assert!(found.iter().all(|suspect| suspect.id.pid == 100), "{found:?}");
        assert!(found.iter().all(|suspect| suspect.tree.len() == 2), "{found:?}");
        !found.is_empty()
    }

    #[test]
    fn an_automation_browser_without_anybody_is_listed() {
        for (parent, line) in [
            (
                1,
                "/usr/lib/chromium/chromium|--headless|--remote-debugging-pipe|--user-data-dir=/tmp/playwright_x",
            ),
            (2, "/usr/lib/chromium/chromium|--headless=new|--user-data-dir|/tmp/p"),
            (
                2,
                "/home/a/.cache/ms-playwright/chromium-1194/chrome-linux/chrome|--enable-automation|--remote-debugging-pipe|--user-data-dir=/tmp/p",
            ),
            (
                1,
                "/opt/google/chrome/chrome|--headless=new|--remote-debugging-port=0|--user-data-dir=/tmp/puppeteer_dev_chrome_profile-x",
            ),
            (
                1,
                "/home/a/.cache/ms-playwright/firefox-1490/firefox/firefox|-headless|-profile|/tmp/p|-juggler-pipe",
            ),
            (
                1,
                "/home/a/.cache/ms-playwright/chromium_headless_shell-1194/chrome-linux/headless_shell|--headless|--user-data-dir=/tmp/p",
            ),
        ] {
            assert!(listed(parent, line), "{line}");
        }
    }

    #[test]
    fn a_persons_own_browser_and_one_in_use_are_never_listed() {
        for (parent, line, why) in [
            (1, "/opt/google/chrome/chrome", "default profile"),
            (2, "/usr/lib/firefox/firefox", "default profile"),
            (2, "/opt/google/chrome/chrome|--restore-last-session", "default profile"),
            (1, "/opt/google/chrome/chrome|--headless|--remote-debugging-port=9222", "default profile"),
            (
                1,
                "/opt/google/chrome/chrome|--headless|--user-data-dir=/home/a/.config/x",
                "a profile that is kept",
            ),
            (1, "/opt/google/chrome/chrome|--user-data-dir=/tmp/try", "no flag of automation"),
            (1, "/usr/lib/firefox/firefox|-profile|/tmp/try", "no flag of automation"),
            (
                1,
                "/opt/google/chrome/chrome|--user-data-dir=/tmp/x|https://a/?--headless=1",
                "a page is no flag",
            ),
            (3, "/opt/google/chrome/chrome|--headless|--user-data-dir=/tmp/p", "somebody drives it"),
            (
                4,
                "/opt/google/chrome/chrome|--remote-debugging-port=1|--user-data-dir=/tmp/p",
                "started from a desktop",
            ),
            (
                1,
                "/opt/google/chrome/chrome|--remote-debugging-port=9222|--user-data-dir=/tmp/x",
                "headed, started from a desktop by a double fork",
            ),
            (
                2,
                "/opt/google/chrome/chrome|--remote-debugging-port=9222|--user-data-dir=/tmp/x",
                "headed, started by the person's service manager",
            ),
            (
                1,
                "/opt/google/chrome/chrome|--enable-automation|--user-data-dir=/tmp/x",
                "headed, and its driver may listen at a port",
            ),
            (2, "/usr/lib/firefox/firefox|-marionette|-profile|/tmp/x", "headed"),
            (77, "/opt/google/chrome/chrome|--headless|--user-data-dir=/tmp/p", "its parent cannot be seen"),
            (1, "/usr/bin/node|--headless|--user-data-dir=/tmp/p", "no browser"),
            (
                1,
                "/usr/lib/chromium/chromium|--type=utility|--headless|--user-data-dir=/tmp/p",
                "a part of one",
            ),
        ] {
            assert!(!listed(parent, line), "{why}: {line}");
        }
    }

    #[test]
    fn a_first_process_that_may_own_the_browser_lists_none_and_one_that_cannot_does() {
        const ORPHAN: &str = "chrome|--headless|--user-data-dir=/tmp/p";
        const PIPED: &str = "chrome|--remote-debugging-pipe|--user-data-dir=/tmp/p";
        const ANY_PORT: &str = "chrome|--headless|--remote-debugging-port=0|--user-data-dir=/tmp/p";
        const PORT: &str = "chrome|--headless|--remote-debugging-port=9222|--user-data-dir=/tmp/p";
        for (first, browser, listed) in [
            ("/sbin/init|splash", ORPHAN, true),
            ("/usr/lib/systemd/systemd|--system", ORPHAN, true),
            ("/init", ORPHAN, true),
            ("tini|--|node|/app/server.js", ORPHAN, true),
            ("tini|--|node|/app/server.js", PORT, true),
            ("sleep|infinity", ORPHAN, true),
            ("/usr/bin/sleep|infinity", PIPED, true),
            ("tail|-f|/dev/null", ANY_PORT, true),
            ("/pause", ORPHAN, true),
            ("sleep|infinity", PORT, false),
            ("node|/app/server.js", ORPHAN, false),
            ("/bin/sh|-c|chrome --headless & wait", ORPHAN, false),
            ("bash", ORPHAN, false),
            ("python3|-m|supervisor", ORPHAN, false),
            ("/agent|--listen|tcp:1", PIPED, false),
        ] {
            let rows = [row(1, 0, first), row(2, 1, browser)];
            assert_eq!(pick(&rows, |_| true).len(), usize::from(listed), "{first}: {browser}");
        }
    }

    #[test]
    fn a_reaper_that_starts_programs_itself_says_nothing() {
        for reaper in ["/init", "/usr/bin/containerd-shim-runc-v2", "bwrap|--unshare-pid", "systemd|--system"]
        {
            let rows = [
                row(1, 0, "/init"),
                row(5, 1, reaper),
                row(6, 5, "chrome|--headless|--user-data-dir=/tmp/p"),
            ];
            assert_eq!(pick(&rows, |_| true), [], "{reaper}");
        }
    }
}
