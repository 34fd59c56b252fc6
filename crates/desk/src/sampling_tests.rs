#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use callgate_home::SessionId;
use callgate_home::clock::{Clock, SystemClock};

use super::*;

/// A shell with a busy child and an idle grandchild.
struct Tree(Child);

impl Tree {
    fn start() -> Tree {
        let script = "sh -c 'sleep 600 & wait' & while :; do :; done";
        let shell = Command::new("sh").args(["-c", script]).stdout(Stdio::null()).spawn().unwrap();
        Tree(shell)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        // The grandchildren first: nobody finds them once their parents are gone.
        let children = Command::new("pgrep").args(["-P", &pid]).output();
        for child in
            children.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default().lines()
        {
            let grandchildren = Command::new("pgrep").args(["-P", child]).output();
            for one in grandchildren
                .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
                .unwrap_or_default()
                .lines()
            {
                let _ended = Command::new("kill").args(["-9", one]).status();
            }
            let _ended = Command::new("kill").args(["-9", child]).status();
        }
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Of a process that runs here.
fn lease(pid: u32) -> Lease {
    Lease {
        session: SessionId::random(),
        pid,
        process_start: identify(pid).map(|id| id.start),
        boot: SystemClock::new().now().boot.0.to_string(),
        pid_namespace: callgate_home::lease::pid_namespace(),
        server: "s".to_owned(),
        client: None,
        command: Vec::new(),
        policy_version: None,
        watch_only: false,
        started_ms: 0,
        demo: false,
        stand: callgate_home::Stand::default(),
        stand_words: None,
        restarts: 0,
        restarted_ms: None,
        turn: 0,
    }
}

#[test]
fn a_tree_is_counted_whole() {
    let tree = Tree::start();
    let lease = lease(tree.0.id());
    let mut sampler = Sampler::new(Here::now()).unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let usage = sampler.sample(std::slice::from_ref(&lease), 7).pop().unwrap();
        if usage.processes >= 3 && usage.cpu_percent > 1.0 {
            assert_eq!((usage.processes, usage.at_ms), (3, 7));
            assert!(usage.memory_bytes > 100_000 && usage.memory_bytes < 1 << 30, "{usage:?}");
            assert!(usage.cpu_percent < 150.0, "one busy process: {usage:?}");
            break;
        }
        assert!(Instant::now() < until, "{usage:?}");
        std::thread::sleep(sysinfo::MINIMUM_CPU_UPDATE_INTERVAL);
    }
}

#[test]
fn a_look_at_who_is_there_does_not_make_a_busy_process_idle() {
    let tree = Tree::start();
    let lease = lease(tree.0.id());
    let mut sampler = Sampler::new(Here::now()).unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let share = |sampler: &Sampler| {
        let told = sampler.trees(std::slice::from_ref(&lease), 7, &Texts::default()).pop().unwrap();
        told.cpu_percent
    };
    while sampler.sample(std::slice::from_ref(&lease), 7).pop().unwrap().cpu_percent < 1.0 {
        assert!(Instant::now() < until, "it is busy");
        std::thread::sleep(sysinfo::MINIMUM_CPU_UPDATE_INTERVAL);
    }
    let busy = share(&sampler);
    sampler.refresh();
    sampler.refresh();
    assert_eq!(share(&sampler).to_bits(), busy.to_bits());
}

/// Chromium's processes share most of what they have.
#[test]
#[cfg(target_os = "linux")]
fn pages_that_processes_share_are_counted_once() {
    // Half of a few megabytes each: a fork has all that its parent had.
    let script =
        "x=$(head -c 30000000 /dev/zero | tr '\\0' x); (sleep 600; :) & (sleep 600; :) & echo ready; wait";
    let mut shell = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut ready)
        .unwrap();
    let tree = Tree(shell);
    let lease = lease(tree.0.id());
    let mut sampler = Sampler::new(Here::now()).unwrap();
    let usage = loop {
        let usage = sampler.sample(std::slice::from_ref(&lease), 7).pop().unwrap();
        if usage.processes >= 5 {
            break usage;
        }
    };
    let resident: u64 =
        sampler.known.values().flatten().map(|(pid, _)| sampler.system.process(*pid).unwrap().memory()).sum();
    assert!(
        usage.memory_bytes > 25_000_000 && usage.memory_bytes * 2 < resident,
        "{usage:?}, {resident} resident"
    );
    let told = sampler.trees(&[lease], 7, &Texts::default()).pop().unwrap();
    assert_eq!(told.memory_bytes, usage.memory_bytes, "one number everywhere");
}

#[test]
fn a_session_that_is_gone_takes_nothing() {
    let mut ended = Command::new("true").spawn().unwrap();
    let pid = ended.id();
    ended.wait().unwrap();
    let mut sampler = Sampler::new(Here::now()).unwrap();
    assert_eq!(sampler.sample(&[lease(pid)], 1), []);
    assert!(sampler.sample(&[], 2).is_empty());
}

#[test]
fn a_container_that_shares_the_home_shows_no_process_of_ours() {
    let own = lease(std::process::id());
    let mut sampler = Sampler::new(Here::now()).unwrap();
    assert_eq!(sampler.sample(std::slice::from_ref(&own), 1).len(), 1);
    for foreign in [
        Lease { pid_namespace: Some("pid:[1]".to_owned()), ..own.clone() },
        Lease { boot: "another".to_owned(), ..own.clone() },
        Lease { process_start: own.process_start.map(|start| start + 1), ..own.clone() },
        Lease { process_start: None, ..own.clone() },
    ] {
        assert_eq!(sampler.sample(std::slice::from_ref(&foreign), 1), [], "{foreign:?}");
        let tree = sampler.trees(&[foreign], 1, &Texts::default()).pop().unwrap();
        assert!(tree.elsewhere.is_some() && tree.processes.is_empty(), "{tree:?}");
    }
}

#[test]
fn a_process_whose_parent_died_stays_in_its_session_and_a_reused_pid_does_not() {
    let share = |parent: Option<u32>, started| Share {
        ended: false,
        parent: parent.map(Pid::from_u32),
        started,
        cpu_percent: 1.0,
        memory_bytes: 10,
    };
    let pid = Pid::from_u32;
    let shares = HashMap::from([
        (pid(10), share(Some(1), 100)),
        // Its parent, a part of the session before, is gone.
        (pid(12), share(Some(1), 102)),
        (pid(13), share(Some(12), 103)),
        // Had this number before; it is another one now.
        (pid(14), share(Some(1), 999)),
    ]);
    let children = HashMap::from([(pid(12), vec![pid(13)])]);
    let before = HashSet::from([(pid(10), 100), (pid(11), 101), (pid(12), 102), (pid(14), 104)]);
    let found = tree(&lease(10), &shares, &children, &before);
    assert_eq!(found, HashSet::from([(pid(10), 100), (pid(12), 102), (pid(13), 103)]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_ended_and_was_not_fetched_yet_is_not_counted() {
    // The shell becomes a `sleep`, which never asks for the child that it started as a shell.
    let parent = Command::new("sh").args(["-c", "true & exec sleep 600"]).spawn().unwrap();
    let parent = Tree(parent);
    let pid = parent.0.id();
    let is_zombie = || {
        let told = Command::new("ps").args(["-o", "stat=", "--ppid", &pid.to_string()]).output().unwrap();
        String::from_utf8_lossy(&told.stdout).trim().starts_with('Z')
    };
    let until = Instant::now() + Duration::from_secs(20);
    while !is_zombie() {
        assert!(Instant::now() < until, "the child did not end");
        std::thread::yield_now();
    }
    let here = Here::by(&SystemClock::new());
    let mut sampler = Sampler::new(here).unwrap();
    let lease = lease(pid);
    let usage = sampler.sample(std::slice::from_ref(&lease), 1);
    assert_eq!(usage[0].processes, 1, "{usage:?}");
    assert_eq!(sampler.members(&lease.session.to_string()).len(), 1);
}
