//! A session outlives its server: one generation after another, and nothing left of any.

use crate::world::{Shim, descriptors, eventually, is_alive, processes_of, signal, state_of};
use rustix::process::Signal;

/// Leaves a detached process that is deaf to SIGTERM, says who it is, and serves.
const SERVER: &str = "(trap '' TERM; setsid env -i \"$PROBE\" linger $0 </dev/null >/dev/null 2>&1 &); \
                      echo here $CALLGATE_SESSION in $PWD; exec cat";

fn second_generation(shim: &mut Shim) -> u32 {
    shim.hear("started");
    shim.hear("out");
    shim.await_lingering(1);
    shim.tell("!end");
    assert_eq!(shim.hear("ending"), "exit code 0", "its input was closed first");
    shim.hear("joined");
    assert_eq!(processes_of(&shim.session), [] as [u32; 0], "nothing of the first is left");
    shim.tell("!again");
    let server = shim.hear_pid("started");
    shim.await_lingering(1);
    server
}

#[test]
fn a_server_is_started_again_as_it_was_started_before() {
    let mut shim = Shim::of_script(SERVER);
    second_generation(&mut shim);
    let here = format!("here {} in {}", shim.session, std::env::current_dir().expect("exists").display());
    assert_eq!(shim.hear("out"), here);
    shim.tell("hello");
    assert_eq!(shim.hear("out"), "hello", "the new pipes lead to the new server");
    shim.close();
    assert_eq!(shim.hear("ending"), "exit code 0");
    shim.hear("joined");
    shim.await_nothing_left();
}

#[test]
fn a_server_that_ended_by_itself_can_be_started_again_and_again() {
    let mut shim = Shim::of(&["/bin/sh", "-c", "read line; exit 3"]);
    for _ in 0..3 {
        shim.hear("started");
        shim.tell("go");
        assert_eq!(shim.hear("ending"), "exit code 3");
        shim.hear("joined");
        shim.tell("!again");
    }
    shim.hear("started");
}

#[test]
fn what_was_told_late_is_remembered_for_the_next_generation() {
    let mut shim =
        Shim::late("late", &["/bin/sh", "-c", "printf '%s;' \"$@\"; echo; read line", "sh", "first"]);
    assert_eq!(shim.hear("out"), "first;late;");
    shim.tell("!end");
    shim.hear("joined");
    shim.tell("!again");
    assert_eq!(shim.hear("out"), "first;late;");
}

#[test]
fn a_program_that_vanished_is_told_and_the_keeper_lives_on() {
    let folder = tempfile::TempDir::new().expect("a directory");
    let program = folder.path().join("server");
    let place = |there: bool| match there {
        true => std::os::unix::fs::symlink("/bin/cat", &program).expect("linked"),
        false => std::fs::remove_file(&program).expect("removed"),
    };
    place(true);
    let name = program.to_str().expect("plain");
    let mut shim = Shim::of(&[name]);
    shim.hear("started");
    shim.tell("!end");
    shim.hear("ending");
    shim.hear("joined");
    place(false);
    shim.tell("!again");
    assert_eq!(shim.hear("ending"), format!("cannot start {name:?}: there is no such file"));
    shim.hear("joined");
    place(true);
    shim.tell("!again");
    shim.hear("started");
}

#[test]
fn shim_killed_between_generations_leaves_nothing() {
    let mut shim = Shim::of_script(SERVER);
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(1);
    shim.tell("!end");
    shim.hear("joined");
    assert!(is_alive(keeper), "it waits for what comes next");
    shim.kill();
    eventually("the keeper is gone", || !is_alive(keeper));
    assert_eq!(processes_of(&shim.session), [] as [u32; 0]);
}

#[test]
fn shim_killed_in_the_second_generation_leaves_nothing() {
    let mut shim = Shim::of_script(SERVER);
    second_generation(&mut shim);
    shim.kill();
    shim.await_nothing_left();
}

#[test]
fn shim_killed_while_a_generation_ends_leaves_nothing() {
    let mut shim = Shim::of_script("trap '' TERM; \"$PROBE\" linger $0; :");
    let keeper = shim.hear_pid("keeper");
    shim.await_lingering(1);
    shim.tell("!end");
    shim.kill();
    eventually("the keeper is gone", || !is_alive(keeper));
    assert_eq!(processes_of(&shim.session), [] as [u32; 0]);
}

#[test]
fn keeper_killed_in_the_second_generation_leaves_nothing() {
    let mut shim = Shim::of_script(SERVER);
    let keeper = shim.hear_pid("keeper");
    second_generation(&mut shim);
    signal(keeper, Signal::KILL);
    assert_eq!(shim.hear("ending"), "its keeper was killed");
    assert_eq!(shim.hear("left"), "0");
    assert_eq!(processes_of(&shim.session), [] as [u32; 0]);
}

#[test]
fn a_keeper_that_was_killed_between_generations_is_told_at_the_next_start() {
    let mut shim = Shim::of(&["/bin/cat"]);
    let keeper = shim.hear_pid("keeper");
    shim.hear("started");
    shim.tell("!end");
    shim.hear("ending");
    shim.hear("joined");
    signal(keeper, Signal::KILL);
    eventually("the keeper is gone", || !is_alive(keeper));
    shim.tell("!again");
    assert_eq!(shim.hear("ending"), "its keeper was killed");
}

#[test]
fn the_keeper_holds_no_pipe_of_the_second_generation_and_sleeps() {
    let mut shim = Shim::of(&["/bin/cat"]);
    let keeper = shim.hear_pid("keeper");
    shim.hear("started");
    shim.tell("!end");
    shim.hear("joined");
    let between = descriptors(keeper).len();
    shim.tell("!again");
    let server = shim.hear_pid("started");
    eventually("the keeper sleeps", || state_of(keeper) == Some('S'));
    assert_eq!(descriptors(keeper).len(), between, "nothing is kept from a start");
    let held: Vec<_> = descriptors(keeper).into_iter().map(|(_, target)| target).collect();
    for (fd, target) in descriptors(server) {
        assert!(!held.contains(&target), "{fd}: {target:?}");
    }
}
