//! However a session ends, its server's ending is told and nothing of its tree is left.

use std::fs;
use std::time::{Duration, Instant};

use crate::world::{
    PROBE, Shim, descriptors, eventually, fresh_session, is_alive, processes_of, signal, state_of,
};
use rustix::process::Signal;

#[test]
fn an_exit_code_is_told() {
    let shim = Shim::of(&["/bin/sh", "-c", "exit 3"]);
    assert_eq!(shim.hear("ending"), "exit code 3");
    shim.hear("joined");
}

#[test]
fn a_signal_is_told() {
    let shim = Shim::of(&["/bin/sh", "-c", "kill -SEGV $$"]);
    assert_eq!(shim.hear("ending"), "ended by SIGSEGV");
}

#[test]
fn a_server_that_heeds_the_end_of_its_input_exits_by_itself() {
    let mut shim = Shim::with_grace(&["/bin/cat"], 60_000, 60_000);
    shim.tell("hello");
    assert_eq!(shim.hear("out"), "hello");
    shim.close();
    assert_eq!(shim.hear("ending"), "exit code 0");
    shim.hear("joined");
}

#[test]
fn the_server_gets_the_end_of_its_input_from_the_shim_alone() {
    let mut shim = Shim::with_grace(&["/bin/cat"], 60_000, 60_000);
    shim.hear("started");
    shim.tell("!close");
    assert_eq!(shim.hear("ending"), "exit code 0");
}

#[test]
fn the_shim_gets_the_end_of_the_servers_output_when_the_server_closes_it() {
    let shim = Shim::of_script("exec >&-; exec \"$PROBE\" linger $0");
    shim.hear("out-end");
}

#[test]
fn a_stubborn_server_is_killed() {
    let mut shim = Shim::of_script("trap '' TERM; \"$PROBE\" linger $0; :");
    shim.await_lingering(1);
    shim.close();
    assert_eq!(shim.hear("ending"), "ended by SIGKILL");
    shim.hear("joined");
    shim.await_nothing_left();
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_gets_sigterm() {
    let mut shim = Shim::launch(&fresh_session(), &[PROBE, "linger"], 100, 60_000);
    shim.hear("started");
    shim.close();
    assert_eq!(shim.hear("ending"), "ended by SIGTERM");
}

#[test]
fn a_stopped_server_hears_sigterm() {
    let mut shim = Shim::launch(&fresh_session(), &[PROBE, "linger"], 100, 60_000);
    let server = shim.hear_pid("started");
    signal(server, Signal::STOP);
    eventually("the server is stopped", || state_of(server) == Some('T'));
    shim.close();
    assert_eq!(shim.hear("ending"), "ended by SIGTERM");
}

#[test]
fn a_chain_of_launchers_is_ended_to_its_last_link() {
    let mut shim = Shim::of_script(r#"sh -c 'sh -c "\"$PROBE\" linger $0; :" $0; :' $0; :"#);
    shim.await_lingering(1);
    shim.close();
    shim.hear("joined");
    shim.await_nothing_left();
}

/// Another session and group, another parent, no marker in its environment, no pipe of ours, deaf to SIGTERM.
const DETACHED: &str = "(trap '' TERM; setsid env -i \"$PROBE\" linger $0 </dev/null >/dev/null 2>&1 &)";

#[test]
fn what_is_left_to_do_is_done_when_nothing_of_the_tree_is_left_also_of_a_killed_shim() {
    for killed in [false, true] {
        let session = fresh_session();
        let note = std::env::temp_dir().join(format!("afterwards-{session}"));
        fs::write(&note, "").expect("a place for the note");
        let script = format!("{DETACHED}; exec cat");
        let mut shim = Shim::launch(&session, &["/bin/sh", "-c", &script, &session], 200, 200);
        shim.await_lingering(1);
        assert_eq!(fs::read_to_string(&note).expect("the note"), "", "not while it runs");
        if killed {
            shim.kill()
        } else {
            shim.close()
        }
        eventually("it is done", || fs::read_to_string(&note).is_ok_and(|text| text == "done"));
        assert_eq!(processes_of(&session), [], "nothing of the tree is left by then");
        fs::remove_file(&note).expect("the note goes");
    }
}

#[test]
fn a_detached_grandchild_is_ended_with_the_session() {
    let mut shim = Shim::of_script(&format!("{DETACHED}; exec cat"));
    shim.await_lingering(1);
    shim.close();
    shim.hear("joined");
    shim.await_nothing_left();
}

#[test]
fn what_a_server_leaves_at_its_own_exit_is_ended_after_the_exit_was_told() {
    let mut shim = Shim::of_script(&format!("{DETACHED}; read line; exit 7"));
    shim.await_lingering(1);
    shim.tell("go");
    assert_eq!(shim.hear("ending"), "exit code 7");
    shim.hear("joined");
    shim.await_nothing_left();
}

#[test]
fn an_exit_is_told_at_once_even_if_the_rest_takes_its_time() {
    let session = fresh_session();
    let script = format!("{DETACHED}; read line; exit 7");
    let mut shim = Shim::launch(&session, &["/bin/sh", "-c", &script, &session], 60_000, 60_000);
    shim.await_lingering(1);
    shim.tell("go");
    assert_eq!(shim.hear("ending"), "exit code 7");
    assert_eq!(processes_of(&session).len(), 1, "the detached one has its minute of grace");
}

#[test]
fn a_tree_that_grows_while_it_is_ended_is_ended() {
    let mut shim = Shim::of_script("trap '' TERM; while :; do (\"$PROBE\" linger $0 &); sleep 0.02; done");
    shim.await_lingering(4);
    shim.close();
    shim.hear("joined");
    shim.await_nothing_left();
}

#[test]
fn sigterm_to_the_keeper_ends_the_session() {
    let shim = Shim::of_script("\"$PROBE\" linger $0; :");
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(1);
    signal(keeper, Signal::TERM);
    shim.hear("joined");
    shim.await_nothing_left();
}

/// The promise, with the times of grace as they are shipped: nothing left within five seconds.
#[test]
fn shim_killed_leaves_nothing_after_five_seconds() {
    let session = fresh_session();
    let script = format!("{DETACHED}; trap '' TERM; \"$PROBE\" linger $0; :");
    let mut shim = Shim::launch(&session, &["/bin/sh", "-c", &script, &session], 1500, 1500);
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(2);
    let killed = Instant::now();
    shim.kill();
    eventually("the keeper is gone", || !is_alive(keeper));
    assert_eq!(processes_of(&session), [] as [u32; 0]);
    assert!(killed.elapsed() < Duration::from_secs(5), "took {:?}", killed.elapsed());
}

#[test]
fn keeper_killed_leaves_nothing() {
    let shim = Shim::of_script(&format!("{DETACHED}; trap '' TERM; \"$PROBE\" linger $0; :"));
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(2);
    signal(keeper, Signal::KILL);
    assert_eq!(shim.hear("ending"), "its keeper was killed");
    assert_eq!(shim.hear("left"), "0");
    assert_eq!(processes_of(&shim.session), [] as [u32; 0]);
}

#[test]
fn keeper_killed_while_it_cleans_up_leaves_nothing() {
    let session = fresh_session();
    let script = format!("{DETACHED}; read line; exit 7");
    let mut shim = Shim::launch(&session, &["/bin/sh", "-c", &script, &session], 60_000, 60_000);
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(1);
    shim.tell("go");
    shim.hear("ending");
    signal(keeper, Signal::KILL);
    shim.hear("joined");
    assert_eq!(processes_of(&session), [] as [u32; 0]);
}

#[test]
fn a_session_below_a_session_ends_with_the_outer_one() {
    let inner = fresh_session();
    let script = format!("\"$PROBE\" shim {inner} 200 200 -- sh -c '\"$PROBE\" linger {inner}; :'; :");
    let mut shim = Shim::of_script(&script);
    eventually("the inner server runs", || processes_of(&inner).len() >= 2);
    shim.kill();
    shim.await_nothing_left();
    eventually("the inner tree is gone", || processes_of(&inner).is_empty());
}

#[test]
fn the_keeper_holds_no_pipe_of_client_or_server() {
    let shim = Shim::of(&["/bin/cat"]);
    let keeper = shim.hear_pid("keeper");
    let server = shim.hear_pid("started");
    await_settled(keeper);
    let stdio = |pid: u32| descriptors(pid).into_iter().filter(|(fd, _)| *fd <= 2).map(|(_, target)| target);
    // The client's stderr is the test's own, which may be a file or a terminal.
    let forbidden: Vec<_> = stdio(server).chain(stdio(shim.id())).collect();
    assert_eq!(forbidden.len(), 6);
    for (fd, target) in descriptors(keeper) {
        assert!(
            target == fs::canonicalize("/dev/null").expect("exists") || !forbidden.contains(&target),
            "{fd}: {target:?}"
        );
    }
}

#[test]
fn an_idle_keeper_never_wakes() {
    let mut shim = Shim::of(&["/bin/cat"]);
    let keeper = shim.hear_pid("keeper");
    shim.hear("started");
    await_settled(keeper);
    let before = switches(keeper);
    for round in 0..500 {
        let line = format!("round {round}");
        shim.tell(&line);
        assert_eq!(shim.hear("out"), line);
    }
    assert_eq!(switches(keeper), before);
}

#[test]
fn the_keeper_has_a_session_and_a_name_of_its_own() {
    let shim = Shim::of(&["/bin/cat"]);
    let keeper = shim.hear_pid("keeper");
    await_settled(keeper);
    assert_eq!(fs::read_to_string(format!("/proc/{keeper}/comm")).expect("alive").trim(), "callgate-keeper");
    let stat = fs::read_to_string(format!("/proc/{keeper}/stat")).expect("alive");
    let session = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(3)).map(str::to_owned);
    assert_eq!(session, Some(keeper.to_string()));
}

#[test]
fn a_server_starts_with_default_signals_and_its_marker() {
    let shim = Shim::of_script("grep -E '^Sig(Blk|Ign)' /proc/self/status; echo $CALLGATE_SESSION");
    for name in ["SigBlk", "SigIgn"] {
        let line = shim.hear("out");
        let set = line
            .strip_prefix(name)
            .and_then(|rest| u64::from_str_radix(rest.trim_matches([':', '\t']), 16).ok());
        // Without what the C library keeps for itself (32 and 33).
        assert_eq!(set.map(|set| set & 0x7fff_ffff), Some(0), "{line}");
    }
    assert_eq!(shim.hear("out"), shim.session);
}

/// Asleep in its loop: letting go of the working directory is the last thing before it.
fn await_settled(keeper: u32) {
    let cwd = format!("/proc/{keeper}/cwd");
    eventually("the keeper has settled", || {
        fs::read_link(&cwd).is_ok_and(|cwd| cwd.as_os_str() == "/") && state_of(keeper) == Some('S')
    });
}

fn switches(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("alive");
    status.lines().filter(|line| line.contains("voluntary_ctxt_switches")).collect::<Vec<_>>().join(" ")
}
