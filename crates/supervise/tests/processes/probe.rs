//! The other processes of the tests: a shim without a protocol, and servers with bad manners.
//!
//! - `shim SESSION CLOSING_MS TERM_MS -- COMMAND…`: starts the command under a keeper and tells on stdout what happens, one word
//!   and a value a line. Its stdin goes to the server; `!close` closes the server's stdin, `!end` ends the tree, `!again`
//!   starts the server again once that is done; the end of input ends the session.
//! - `late ADDED SESSION …`: the same, but the keeper waits until the shim has made a thread; ADDED is one more argument for the
//!   server, or `!` if it is not to be started.
//! - `linger WORD`: does nothing, for ever.
//! - `sight`: says how far it sees its ancestors.
//! - `above [orphan]`: says which session it is below; with `orphan`, once the keeper is its parent.
//! - `sweep SESSION[=PID:START,…]…`: sweeps, with these sessions ended (and these processes on their record) and all others unknown.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use callgate_supervise::{
    Afterwards, Ending, Grace, Keeper, Launch, Pipes, ProcessId, Recorded, Server, SessionState, StartError,
    prepare, session_above, start, sweep,
};

fn main() {
    let mut args = env::args_os().skip(1);
    let role = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    match role.to_str() {
        Some("shim") => shim(&rest, start),
        Some("late") => shim(rest.get(1..).unwrap_or_default(), |launch| {
            let (args, env) = (launch.args.clone(), launch.env.clone());
            let prepared = prepare(launch)?;
            // What only a process with a keeper may do.
            _ = thread::spawn(|| say("thread")).join();
            let added = rest.first().cloned().unwrap_or_default();
            match added.to_str() {
                Some("!") => prepared.withhold("it may not".to_owned()),
                _ => prepared.start(args.into_iter().chain([added]).collect(), env),
            }
        }),
        Some("linger") => loop {
            thread::park();
        },
        Some("sight") => say(&format!("{:?}", callgate_supervise::ancestry())),
        Some("above") => above(!rest.is_empty()),
        Some("sweep") => sweep_sessions(&rest),
        _ => std::process::exit(64),
    }
}

fn say(line: &str) {
    // Nobody may be listening any more, as with a real client.
    _ = writeln!(io::stdout().lock(), "{line}");
}

fn shim(args: &[OsString], start: impl FnOnce(Launch) -> Result<Server, StartError>) {
    let text = |at: usize| args.get(at).and_then(|it| it.to_str()).unwrap_or_default();
    let millis = |at: usize| Duration::from_millis(text(at).parse().unwrap_or(0));
    let launch = Launch {
        program: args.get(4).cloned().unwrap_or_default(),
        args: args.get(5..).unwrap_or_default().to_vec(),
        env: vec![("PROBE".into(), env::current_exe().unwrap_or_default().into())],
        session: text(0).to_owned(),
        grace: Grace { closing: millis(1), term: millis(2) },
        afterwards: Afterwards::new(note_of(text(0))),
    };
    let Server { pipes, keeper, held } = match start(launch) {
        Ok(server) => server,
        Err(error) => return say(&format!("error {error}")),
    };
    drop(held);
    say(&format!("keeper {}", keeper.id()));
    let keeper = &*Box::leak(Box::new(keeper));
    let Pipes { stdin, stdout, stderr } = pipes;
    let (generations, next) = channel();
    _ = generations.send((stdout, stderr));
    thread::spawn(move || {
        let mut stdin = Some(stdin);
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            match line.as_str() {
                "!close" => stdin = None,
                "!end" => {
                    stdin = None;
                    keeper.end();
                }
                "!again" => {
                    stdin = None;
                    match keeper.again() {
                        Ok(pipes) => {
                            stdin = Some(pipes.stdin);
                            _ = generations.send((pipes.stdout, pipes.stderr));
                        }
                        Err(error) => say(&format!("error {error}")),
                    }
                }
                _ => {
                    if let Some(stdin) = &mut stdin {
                        _ = writeln!(stdin, "{line}");
                    }
                }
            }
        }
        drop((stdin, generations));
        keeper.finish();
    });
    for (stdout, stderr) in next {
        follow(keeper, stdout, stderr);
    }
}

/// What the keeper does last: says so in a file, if somebody has put one there for it.
fn note_of(session: &str) -> impl Fn() + Send + Sync + 'static {
    let note = env::temp_dir().join(format!("afterwards-{session}"));
    move || {
        if note.exists() {
            _ = std::fs::write(&note, "done");
        }
    }
}

/// One generation, until nothing is left of it.
fn follow(keeper: &Keeper, stdout: PipeReader, stderr: PipeReader) {
    let heard = thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            say(&format!("out {line}"));
        }
        say("out-end");
    });
    thread::spawn(move || io::copy(&mut BufReader::new(stderr), &mut io::stderr()));
    if let Ok(pid) = keeper.started() {
        say(&format!("started {pid}"));
    }
    let ending = keeper.wait();
    say(&format!("ending {ending}"));
    if ending == Ending::KeeperLost {
        say(&format!("left {}", keeper.take_over()));
    }
    keeper.join();
    // Nothing of the tree is left to hold the pipe open: what the server said last is said before the probe goes on.
    _ = heard.join();
    say("joined");
}

fn above(orphan: bool) {
    while orphan && !is_below_keeper() {
        thread::sleep(Duration::from_millis(1));
    }
    say(&session_above().unwrap_or_else(|| "none".to_owned()));
}

#[cfg(unix)]
fn is_below_keeper() -> bool {
    let parent = std::os::unix::process::parent_id();
    std::fs::read_to_string(format!("/proc/{parent}/comm")).is_ok_and(|name| name.trim() == "callgate-keeper")
}

#[cfg(windows)]
fn is_below_keeper() -> bool {
    true
}

fn sweep_sessions(args: &[OsString]) {
    let (mut ended, mut recorded) = (Vec::new(), Vec::new());
    for arg in args.iter().filter_map(|arg| arg.to_str()) {
        let (session, processes) = arg.split_once('=').unwrap_or((arg, ""));
        ended.push(session);
        recorded.extend(processes.split(',').filter_map(|process| {
            let (pid, start) = process.split_once(':')?;
            let id = ProcessId { pid: pid.parse().ok()?, start: start.parse().ok()? };
            Some(Recorded { id, session: session.to_owned() })
        }));
    }
    let state = |session: &str| {
        if ended.contains(&session) { SessionState::Ended } else { SessionState::Unknown }
    };
    for swept in sweep(state, &recorded) {
        say(&format!("{} {} {}", swept.id.pid, swept.session, swept.gone));
    }
}
