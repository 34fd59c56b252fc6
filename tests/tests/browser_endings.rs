//! Published browser servers with a page open: however the session ends, nothing of the tree is left after five seconds.
//!
//! One test per cell of the table in `docs/supervision.md`. The whole takes minutes, so a part of it is in the ordinary run;
//! `cargo xtask test supervision` runs all of it and prints the rows.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a row of the table, for whoever writes it anew")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use callgate_tests::gate::{Bench, Gate, OPEN_POLICY, program};
use callgate_tests::installed::installed;
use callgate_tests::processes::{children, eventually, is_alive, signal};
use callgate_tests::session::{PATIENCE, Session};
use callgate_tests::walk::greet;
use rustix::process::Signal;

/// What the promise says.
const NOTHING_LEFT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
enum Server {
    /// `@executeautomation/playwright-mcp-server`
    ExecuteAutomation,
    /// `@playwright/mcp`
    Playwright,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Direct,
    Npx,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Eof,
    Term,
    Int,
    ShimKilled,
    KeeperKilled,
    ClientKilled,
}

impl Server {
    fn command(self, start: Start) -> Vec<OsString> {
        let modules = installed("node").join("node_modules");
        let (package, entry, flags): (_, _, &[&str]) = match self {
            Server::ExecuteAutomation => ("@executeautomation/playwright-mcp-server", "dist/index.js", &[]),
            Server::Playwright => {
                ("@playwright/mcp", "cli.js", &["--executable-path", CHROMIUM, "--headless", "--no-sandbox"])
            }
        };
        let mut words: Vec<OsString> = match start {
            Start::Direct => vec!["node".into(), modules.join(package).join(entry).into()],
            Start::Npx => vec!["npx".into(), "--no-install".into(), package.into()],
        };
        words.extend(flags.iter().map(OsString::from));
        words
    }

    /// The call that opens a page, and with it the browser.
    fn open_page(self, url: &str) -> (&'static str, String) {
        match self {
            Server::ExecuteAutomation => {
                ("playwright_navigate", format!(r#"{{"url":"{url}","headless":true}}"#))
            }
            Server::Playwright => ("browser_navigate", format!(r#"{{"url":"{url}"}}"#)),
        }
    }
}

const CHROMIUM: &str = "/usr/bin/chromium";

/// A session with a page open.
struct Opened {
    session: Session,
    shim: u32,
    keeper: u32,
    /// Everything below the shim, by number and start.
    tree: BTreeSet<(u32, String)>,
    /// Profiles that the browser's command line names.
    profiles: BTreeSet<PathBuf>,
    /// The home of whoever uses it.
    person: tempfile::TempDir,
    bench: Bench,
}

fn open(server: Server, start: Start, end: End) -> Opened {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    // One of the servers keeps its profile in the home directory, and that one is a person's.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let command = bench.command(Gate::Callgate, &server.command(start)).unwrap();
    let mut command = match end {
        // A client of its own, which can be killed: a relay that owns the pipes.
        End::ClientKilled => {
            let mut client = Command::new(program("bare-pipe").unwrap());
            client.arg(command.get_program()).args(command.get_args());
            client.env("CALLGATE_HOME", bench.home()).env_remove("CALLGATE_SESSION");
            client
        }
        _ => command,
    };
    command
        // npx looks for packages from here up.
        .current_dir(installed("node"))
        // One of the servers keeps a log in the home directory.
        .env("HOME", scratch.path())
        .env("CHROME_EXECUTABLE_PATH", CHROMIUM)
        .env("npm_config_update_notifier", "false");
    let mut session = Session::start(command).unwrap();
    greet(&mut session).unwrap();
    let (tool, arguments) = server.open_page(&page());
    let answer = session.call("1", tool, &arguments).and_then(|()| session.answer_within("1", PATIENCE * 2));
    let answer = answer.unwrap_or_else(|error| panic!("{error:#}\n{}", session.err.text())).to_text();
    assert!(answer.contains("Callgate ends it") || answer.contains("Navigated to"), "{answer}");
    let shim = match end {
        End::ClientKilled => children(session.pid())[0],
        _ => session.pid(),
    };
    let keeper = children(shim).into_iter().find(|pid| name(*pid) == "callgate-keeper").unwrap();
    // A browser starts its parts one by one.
    let tree = eventually("a browser with a page", PATIENCE, || {
        let tree = below(shim);
        let has = |part: &str| tree.iter().any(|(pid, _)| command_line(*pid).contains(part));
        (has("--type=renderer") && has("--type=gpu-process")).then_some(tree)
    });
    let profiles: BTreeSet<PathBuf> = tree.iter().filter_map(|(pid, _)| profile(*pid)).collect();
    if matches!(end, End::ShimKilled | End::KeeperKilled) {
        // Nobody can write down any more what was there; it is written within seconds after a call.
        eventually("the profiles are on record", PATIENCE, || {
            let record = record(&bench)?;
            let known = |path: &PathBuf| record.contains(path.to_str().unwrap());
            profiles.iter().all(known).then_some(())
        });
    }
    Opened { session, shim, keeper, tree, profiles, person: scratch, bench }
}

/// One cell: opens, ends, counts.
fn cell(server: Server, start: Start, end: End) {
    let mut opened = open(server, start, end);
    assert!(opened.tree.len() >= 8, "a browser is many processes: {:?}", opened.tree);
    let began = Instant::now();
    match end {
        End::Eof => opened.session.close_input(),
        End::Term => signal(opened.shim, Signal::TERM),
        End::Int => signal(opened.shim, Signal::INT),
        End::ShimKilled => signal(opened.shim, Signal::KILL),
        End::KeeperKilled => signal(opened.keeper, Signal::KILL),
        End::ClientKilled => opened.session.signal(Signal::KILL),
    }
    let mut left: BTreeSet<(u32, String)> = opened.tree.clone();
    let mut took = None;
    while took.is_none() && began.elapsed() < NOTHING_LEFT {
        // Somebody may have come since: whoever is below one of these counts too.
        let later: Vec<_> = left.iter().flat_map(|(pid, _)| below(*pid)).collect();
        left.extend(later);
        left.retain(|(pid, started)| is_alive(*pid) && start_of(*pid).as_ref() == Some(started));
        took = left.is_empty().then(|| began.elapsed());
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let lines: Vec<String> = left.iter().map(|(pid, _)| command_line(*pid)).collect();
    let took = took.unwrap_or_else(|| panic!("{} left after {NOTHING_LEFT:?}: {lines:#?}", left.len()));
    // The shim of a killed keeper or client ends a moment after the tree.
    eventually("the shim is gone", PATIENCE, || (!is_alive(opened.shim)).then_some(()));
    let (own, temporary): (Vec<_>, Vec<_>) =
        opened.profiles.iter().partition(|path| path.starts_with(opened.person.path()));
    let there = |paths: &[&PathBuf]| paths.iter().filter(|path| path.exists()).count();
    // The keeper tidies up as the last of the tree, without a sweep.
    eventually("no temporary profile is left", PATIENCE, || (there(&temporary) == 0).then_some(()));
    let swept = opened.bench.callgate(["sweep"]).unwrap().output().unwrap();
    assert!(swept.status.success(), "{swept:?}");
    assert_eq!(there(&own), own.len(), "a profile that is kept was taken for a temporary one: {swept:?}");
    println!(
        "\n| {server:?} | {start:?} | {end:?} | {} | 0 | {:.1} s |",
        opened.tree.len(),
        took.as_secs_f64(),
    );
}

macro_rules! cells {
    ($($(#[$attr:meta])* $name:ident: $server:ident $start:ident $end:ident;)+) => {
        $($(#[$attr])* #[test] fn $name() { cell(Server::$server, Start::$start, End::$end); })+
    };
}

cells! {
    executeautomation_direct_eof: ExecuteAutomation Direct Eof;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_direct_term: ExecuteAutomation Direct Term;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_direct_int: ExecuteAutomation Direct Int;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_direct_shim_killed: ExecuteAutomation Direct ShimKilled;
    executeautomation_direct_keeper_killed: ExecuteAutomation Direct KeeperKilled;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_direct_client_killed: ExecuteAutomation Direct ClientKilled;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_npx_eof: ExecuteAutomation Npx Eof;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_npx_term: ExecuteAutomation Npx Term;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_npx_int: ExecuteAutomation Npx Int;
    executeautomation_npx_shim_killed: ExecuteAutomation Npx ShimKilled;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_npx_keeper_killed: ExecuteAutomation Npx KeeperKilled;
    #[ignore = "cargo xtask test supervision"]
    executeautomation_npx_client_killed: ExecuteAutomation Npx ClientKilled;
    #[ignore = "cargo xtask test supervision"]
    playwright_direct_eof: Playwright Direct Eof;
    playwright_direct_term: Playwright Direct Term;
    #[ignore = "cargo xtask test supervision"]
    playwright_direct_int: Playwright Direct Int;
    #[ignore = "cargo xtask test supervision"]
    playwright_direct_shim_killed: Playwright Direct ShimKilled;
    #[ignore = "cargo xtask test supervision"]
    playwright_direct_keeper_killed: Playwright Direct KeeperKilled;
    #[ignore = "cargo xtask test supervision"]
    playwright_direct_client_killed: Playwright Direct ClientKilled;
    #[ignore = "cargo xtask test supervision"]
    playwright_npx_eof: Playwright Npx Eof;
    #[ignore = "cargo xtask test supervision"]
    playwright_npx_term: Playwright Npx Term;
    #[ignore = "cargo xtask test supervision"]
    playwright_npx_int: Playwright Npx Int;
    #[ignore = "cargo xtask test supervision"]
    playwright_npx_shim_killed: Playwright Npx ShimKilled;
    #[ignore = "cargo xtask test supervision"]
    playwright_npx_keeper_killed: Playwright Npx KeeperKilled;
    playwright_npx_client_killed: Playwright Npx ClientKilled;
}

/// Serves one small page for as long as the test runs; gives its address.
fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _asked = stream.read(&mut [0; 4096]);
            let body = "<!doctype html><title>Callgate ends it</title><p>page</p>";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length:";
            let _told = write!(stream, "{head} {}\r\n\r\n{body}", body.len());
        }
    });
    format!("http://127.0.0.1:{port}/")
}

/// Everything below a process, without itself.
fn below(pid: u32) -> BTreeSet<(u32, String)> {
    let mut found = BTreeSet::new();
    for child in children(pid) {
        if let Some(started) = start_of(child).filter(|_| is_alive(child)) {
            found.insert((child, started));
        }
        found.extend(below(child));
    }
    found
}

fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(19).map(str::to_owned)
}

fn name(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// What a browser was told to keep its profile in. Its parts write their command lines anew, in one piece.
fn profile(pid: u32) -> Option<PathBuf> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let named = words.iter().filter(|_| words.len() > 2);
    named.filter_map(|word| word.strip_prefix("--user-data-dir=").map(PathBuf::from)).next()
}

/// What is written of the tree of the one session there is.
fn record(bench: &Bench) -> Option<String> {
    let entry = std::fs::read_dir(bench.home().join("trees")).ok()?.flatten().next()?;
    std::fs::read_to_string(entry.path()).ok()
}

fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}
