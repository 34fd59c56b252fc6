//! What a double kill leaves is found by its session's marker and ended; what is not ours, or not left, is not touched.

use std::process::{Command, Stdio};

use crate::world::{PROBE, Shim, eventually, fresh_session, is_alive, processes_of, signal, state_of};
use rustix::process::Signal;

/// Stands in for a browser: outlives its server, in a session of its own, with a child that hides its environment.
const BROWSER: &str = "(setsid sh -c 'trap \"\" TERM; env -i \"$PROBE\" linger $0; :' $0 </dev/null >/dev/null 2>&1 &); exec cat";

/// Kills shim and keeper so that neither can do anything about the other's end.
fn kill_both(shim: &mut Shim) {
    let keeper = shim.hear_pid("keeper");
    signal(keeper, Signal::STOP);
    eventually("the keeper is stopped", || state_of(keeper) == Some('T'));
    shim.kill();
    signal(keeper, Signal::KILL);
    eventually("the keeper is gone", || !is_alive(keeper));
}

fn sweep(ended: &[&str]) -> Vec<String> {
    let output = Command::new(PROBE)
        .arg("sweep")
        .args(ended)
        .env_remove("CALLGATE_SESSION")
        .stderr(Stdio::inherit())
        .output()
        .expect("the probe runs");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn what_a_double_kill_left_is_swept() {
    let mut shim = Shim::of_script(BROWSER);
    shim.hear("started");
    shim.await_lingering(1);
    kill_both(&mut shim);
    eventually("the server died with its keeper", || processes_of(&shim.session).len() == 2);
    let left = processes_of(&shim.session);

    let mut swept = sweep(&[&shim.session]);
    swept.sort();
    let mut expected: Vec<String> = left.iter().map(|pid| format!("{pid} {} true", shim.session)).collect();
    expected.sort();
    assert_eq!(swept, expected);
    assert_eq!(processes_of(&shim.session), [] as [u32; 0]);
    assert_eq!(sweep(&[&shim.session]), [] as [&str; 0], "nothing is left for a second sweep");
}

#[test]
fn a_session_of_another_home_is_left_alone() {
    let mut shim = Shim::of_script(BROWSER);
    shim.await_lingering(1);
    kill_both(&mut shim);
    eventually("the server died with its keeper", || processes_of(&shim.session).len() == 2);
    assert_eq!(sweep(&[&fresh_session()]), [] as [&str; 0]);
    assert_eq!(processes_of(&shim.session).len(), 2);
}

#[test]
fn what_a_keeper_still_works_on_is_left_to_it() {
    let session = fresh_session();
    let mut shim = Shim::launch(&session, &["/bin/sh", "-c", BROWSER, &session], 60_000, 60_000);
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(1);
    // The shim is gone, so the session has ended; its tree has its minute of grace.
    shim.kill();
    eventually("the server went with its input", || processes_of(&session).len() == 2);
    assert_eq!(sweep(&[&session]), [] as [&str; 0]);
    assert_eq!(processes_of(&session).len(), 2);
    signal(keeper, Signal::KILL);
    eventually("the keeper is gone", || !is_alive(keeper));
    assert_eq!(sweep(&[&session]).len(), 2);
}

#[test]
fn a_process_does_not_sweep_the_session_that_it_is_below() {
    let shim = Shim::of_script("\"$PROBE\" linger $0 & \"$PROBE\" sweep $0; echo swept");
    assert_eq!(shim.hear("out"), "swept");
}

#[test]
fn a_process_below_a_server_knows_its_session() {
    let shim = Shim::of_script("\"$PROBE\" above");
    assert_eq!(shim.hear("out"), shim.session);
}

#[test]
fn a_cleared_environment_does_not_hide_the_session() {
    let shim = Shim::of_script("env -i \"$PROBE\" above; :");
    assert_eq!(shim.hear("out"), shim.session);
}

#[test]
fn neither_does_a_parent_that_is_gone() {
    let shim = Shim::of_script("(setsid env -i \"$PROBE\" above orphan &); exec cat");
    assert_eq!(shim.hear("out"), shim.session);
}

/// Some systems let nobody make a namespace; there is nothing to hide behind then.
#[cfg(target_os = "linux")]
fn lets_make_namespaces() -> bool {
    let tried = std::process::Command::new("unshare").args(["-Urpf", "--mount-proc", "true"]).status();
    tried.is_ok_and(|status| status.success())
}

#[cfg(target_os = "linux")]
#[test]
fn a_user_namespace_hides_what_a_keeper_keeps_but_not_the_keeper() {
    if lets_make_namespaces() {
        let shim = Shim::of_script("env -i unshare -Ur \"$PROBE\" above; :");
        assert_ne!(shim.hear("out"), "none");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn in_a_pid_namespace_a_process_knows_that_it_does_not_see_who_started_it() {
    if lets_make_namespaces() {
        let shim = Shim::of_script("env -i unshare -Urpf --mount-proc \"$PROBE\" sight; :");
        assert!(shim.hear("out").starts_with("Since"));
    }
}

#[test]
fn the_innermost_session_counts() {
    let inner = fresh_session();
    let shim = Shim::of_script(&format!("\"$PROBE\" shim {inner} 200 200 -- \"$PROBE\" above"));
    assert_eq!(shim.hear("out out"), inner);
}

/// A crash handler: in a session of its own, without a parent, without a marker.
const HANDLER: &str = "(setsid env -i \"$PROBE\" linger $0 </dev/null >/dev/null 2>&1 &); exec cat";

#[test]
fn what_carries_no_marker_and_has_no_parent_is_found_by_its_record() {
    let mut shim = Shim::of_script(HANDLER);
    shim.hear("started");
    shim.await_lingering(1);
    let seen = callgate_supervise::tree_of(shim.id());
    kill_both(&mut shim);
    eventually("the server died with its keeper", || processes_of(&shim.session).len() == 1);
    let handler = processes_of(&shim.session)[0];
    let id = seen.iter().find(|one| one.id.pid == handler).expect("it was seen").id;

    assert_eq!(sweep(&[&shim.session]), [] as [&str; 0], "nothing but the record leads to it");
    let other = format!("{}={handler}:{}", shim.session, id.start + 1);
    assert_eq!(sweep(&[&other]), [] as [&str; 0], "another process has its number by now");
    let known = format!("{}={handler}:{}", shim.session, id.start);
    assert_eq!(sweep(&[&known]), [format!("{handler} {} true", shim.session)]);
    assert!(!is_alive(handler));
}

#[test]
fn a_record_does_not_hand_over_what_a_keeper_still_works_on() {
    let shim = Shim::of_script(HANDLER);
    shim.hear("started");
    shim.await_lingering(1);
    let seen = callgate_supervise::tree_of(shim.id());
    assert!(seen.len() >= 3, "keeper, server, handler: {seen:?}");
    let ids: Vec<String> = seen.iter().map(|one| format!("{}:{}", one.id.pid, one.id.start)).collect();
    assert_eq!(sweep(&[&format!("{}={}", shim.session, ids.join(","))]), [] as [&str; 0]);
    assert!(seen.iter().all(|one| callgate_supervise::lives(one.id)));
}

#[test]
fn a_process_that_is_ended_is_the_one_that_was_meant() {
    let mut child = Command::new(PROBE).arg("linger").spawn().expect("runs");
    let id = callgate_supervise::identify(child.id()).expect("it runs");
    let other = callgate_supervise::ProcessId { start: id.start + 1, ..id };
    assert_eq!(callgate_supervise::end(&[other]), [(other, true)]);
    assert!(is_alive(child.id()));
    assert_eq!(callgate_supervise::end(&[id]), [(id, true)]);
    child.wait().expect("reaped");
}
