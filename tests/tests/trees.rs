//! `callgate ps` and `callgate sweep`: every process is shown, what a double kill left is found and ended, nothing else is.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::process::Command;

use callgate_tests::gate::{Bench, Gate, OPEN_POLICY, SERVER};
use callgate_tests::not_here::not_here;
use callgate_tests::processes::{eventually, is_alive, pids_in, signal};
use callgate_tests::session::{PATIENCE, Session, gone};
use rustix::process::Signal;
use serde_json::Value;

/// A session, its keeper, and a grandchild that has no parent, no marker, and a profile of its own.
struct Scene {
    bench: Bench,
    session: Session,
    keeper: u32,
    grandchild: u32,
    profile: PathBuf,
}

fn scene() -> Scene {
    scene_of(|_| ())
}

fn scene_of(change: impl Fn(&mut Command)) -> Scene {
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let server = bench.fake_server("", &["--grandchild", "--browser", "--ignore-term"]).unwrap();
    let mut command = bench.command(Gate::Callgate, &server).unwrap();
    change(&mut command);
    let mut session = Session::start(command).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    let pids = eventually("the server's processes", PATIENCE, || {
        let pids = pids_in(&bench.path("pids"));
        pids.iter().any(|(name, _)| name == "grandchild").then_some(pids)
    });
    let of = |wanted: &str| pids.iter().find(|(name, _)| name == wanted).unwrap().1;
    let profile = std::env::temp_dir().join(format!("puppeteer_dev_chrome_profile-test{}", of("server")));
    assert!(profile.is_dir());
    Scene { keeper: of("keeper"), grandchild: of("grandchild"), profile, session, bench }
}

impl Scene {
    fn record(&self) -> Option<(PathBuf, Value)> {
        let mut entries = std::fs::read_dir(self.bench.home().join("trees")).ok()?.flatten();
        let path = entries.find_map(|entry| {
            entry.path().extension().is_some_and(|it| it == "json").then(|| entry.path())
        })?;
        let record = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
        Some((path, record))
    }

    /// Waits until the gate has written down who is in its tree.
    fn recorded(&self) -> (PathBuf, Value) {
        eventually("the grandchild is on record", PATIENCE, || {
            let (path, record) = self.record()?;
            let members = record["members"].as_array()?;
            members.iter().any(|member| member["pid"] == self.grandchild).then_some((path, record.clone()))
        })
    }

    /// Neither gate nor keeper can do anything about the other's end.
    fn kill_both(&self) {
        signal(self.keeper, Signal::STOP);
        self.session.signal(Signal::KILL);
        gone("shim", self.session.pid(), PATIENCE);
        // Its threads may go after it, and what it held with them: until then its session counts as alive.
        eventually("its threads are gone", PATIENCE, || {
            let threads = std::fs::read_dir(format!("/proc/{}/task", self.session.pid()));
            threads.map_or(true, |threads| threads.count() <= 1).then_some(())
        });
        signal(self.keeper, Signal::KILL);
        gone("keeper", self.keeper, PATIENCE);
        assert!(is_alive(self.grandchild));
    }

    fn objects(&self, words: &[&str]) -> Vec<Value> {
        let output = self.bench.callgate(words).unwrap().output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        signal(self.grandchild, Signal::KILL);
        let _gone = std::fs::remove_dir_all(&self.profile);
    }
}

fn of_kind<'v>(objects: &'v [Value], kind: &str) -> Vec<&'v Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

#[test]
fn every_process_of_a_running_session_is_shown() {
    let mut scene = scene();
    let objects = scene.objects(&["ps", "--json"]);
    let trees = of_kind(&objects, "tree");
    assert_eq!(trees.len(), 1, "{objects:?}");
    assert_eq!((trees[0]["server"].as_str(), trees[0]["client"].as_str()), (Some(SERVER), Some("tester")));
    let processes = trees[0]["processes"].as_array().unwrap();
    let what = |pid: u32| {
        processes.iter().find(|one| one["pid"] == pid).map(|one| one["what"].as_str().unwrap().to_owned())
    };
    assert_eq!(what(scene.session.pid()).as_deref(), Some("gate"));
    assert_eq!(what(scene.keeper).as_deref(), Some("keeper"));
    assert_eq!(what(scene.grandchild).as_deref(), Some("fake-server"));
    let sum: u64 = processes.iter().map(|one| one["memory_bytes"].as_u64().unwrap()).sum();
    assert_eq!(trees[0]["memory_bytes"].as_u64(), Some(sum));
    assert_eq!(of_kind(&objects, "leftover").len(), 0);
    let words = scene.bench.callgate(["ps"]).unwrap().output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("keeper") && words.contains("1 session, "), "{words}");

    // What lives is not swept, and a session that ends as it should leaves neither record nor profile.
    scene.recorded();
    assert_eq!(scene.objects(&["sweep", "--json"]), [] as [Value; 0]);
    assert!(is_alive(scene.grandchild));
    scene.session.close_input();
    scene.session.ended(PATIENCE).unwrap();
    gone("grandchild", scene.grandchild, PATIENCE);
    let mut said = Vec::new();
    let mut last = None;
    eventually("the record is gone", PATIENCE, || {
        said.extend(scene.objects(&["sweep", "--json"]));
        last = scene.record().or(last.take());
        scene.record().is_none().then_some(())
    });
    assert!(!scene.profile.exists(), "{said:?} {last:?}");
}

#[test]
fn a_temporary_profile_is_gone_after_every_end_without_a_sweep() {
    for end in [None, Some(Signal::TERM), Some(Signal::KILL)] {
        let mut scene = scene();
        scene.recorded();
        match end {
            None => scene.session.close_input(),
            Some(signal) => scene.session.signal(signal),
        }
        gone("grandchild", scene.grandchild, PATIENCE);
        eventually("the profile is gone", PATIENCE, || (!scene.profile.exists()).then_some(()));
        eventually("the record is gone", PATIENCE, || scene.record().is_none().then_some(()));
    }
}

#[test]
fn a_temporary_profile_is_removed_where_the_home_is_below_the_temporary_directory() {
    let home = tempfile::TempDir::with_prefix("callgate-person-").unwrap();
    let scene = scene_of(|command| {
        command.env("HOME", home.path());
    });
    scene.recorded();
    scene.session.signal(Signal::TERM);
    eventually("the profile is gone", PATIENCE, || (!scene.profile.exists()).then_some(()));
}

#[test]
fn a_crash_handler_that_nothing_leads_to_is_swept_with_its_profile() {
    let scene = scene();
    scene.recorded();
    scene.kill_both();
    let listed = scene.objects(&["sweep", "--dry-run", "--json"]);
    let left = of_kind(&listed, "leftover");
    assert_eq!(left.len(), 1, "{listed:?}");
    assert_eq!(
        (left[0]["server"].as_str(), left[0]["processes"][0]["pid"].as_u64()),
        (Some(SERVER), Some(u64::from(scene.grandchild)))
    );
    let profiles = of_kind(&listed, "profile");
    assert_eq!(profiles.len(), 1, "{listed:?}");
    assert_eq!(profiles[0]["path"].as_str(), scene.profile.to_str());
    assert!(is_alive(scene.grandchild) && scene.profile.exists(), "only listed");

    let swept = scene.objects(&["sweep", "--json"]);
    let ended = of_kind(&swept, "ended");
    assert_eq!(ended.len(), 1, "{swept:?}");
    assert_eq!(
        (ended[0]["pid"].as_u64(), ended[0]["gone"].as_bool()),
        (Some(u64::from(scene.grandchild)), Some(true))
    );
    assert!(!is_alive(scene.grandchild));
    assert_eq!(of_kind(&swept, "profile_removed").len(), 1, "{swept:?}");
    assert!(!scene.profile.exists());
    assert!(scene.record().is_none());
    let events = scene.objects(&["events", "--json"]);
    assert!(events.iter().any(|event| event["kind"] == "swept" && event["origin"] == "cli"), "{events:?}");
}

#[test]
fn a_record_of_another_boot_or_namespace_is_shown_and_never_signalled() {
    for (member, why) in [("boot", "boot"), ("pid_namespace", "pid_namespace")] {
        let scene = scene();
        let (path, mut record) = scene.recorded();
        scene.kill_both();
        record[member] = "somewhere else".into();
        std::fs::write(&path, record.to_string()).unwrap();
        let swept = scene.objects(&["sweep", "--json"]);
        assert_eq!(swept, [] as [Value; 0], "{why}");
        assert!(is_alive(scene.grandchild) && scene.profile.exists(), "{why}");
        let shown = scene.objects(&["ps", "--json"]);
        let elsewhere = of_kind(&shown, "elsewhere");
        assert_eq!(elsewhere.len(), 1, "{shown:?}");
        assert_eq!(
            (elsewhere[0]["why"].as_str(), elsewhere[0]["server"].as_str()),
            (Some(why), Some(SERVER))
        );
    }
}

#[test]
fn a_number_that_was_used_again_is_not_hit() {
    let scene = scene();
    let (path, mut record) = scene.recorded();
    scene.kill_both();
    for member in record["members"].as_array_mut().unwrap() {
        let start = member["start"].as_u64().unwrap();
        member["start"] = (start - 1).into();
    }
    std::fs::write(&path, record.to_string()).unwrap();
    assert_eq!(of_kind(&scene.objects(&["sweep", "--json"]), "ended").len(), 0);
    assert!(is_alive(scene.grandchild));
}

/// As in a container that shares the home: the numbers of its processes are those of others here.
#[test]
fn a_session_in_another_pid_namespace_is_told_as_elsewhere_and_no_process_of_ours_is_taken_for_its_own() {
    let apart = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]);
        command
    };
    if !apart().arg("true").status().is_ok_and(|status| status.success()) {
        // The desk's own test has a lease of another one.
        return not_here("this system gives no pid namespace to whoever asks");
    }
    let bench = Bench::new(OPEN_POLICY).unwrap();
    let inside = bench.command(Gate::Callgate, &bench.fake_server("", &[]).unwrap()).unwrap();
    let mut command = apart();
    command.arg(inside.get_program()).args(inside.get_args());
    for (name, value) in inside.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut session = Session::start(command).unwrap();
    session.ask("0", "safe", "{}").unwrap();
    let output = bench.callgate(["ps", "--json"]).unwrap().output().unwrap();
    let tree: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(tree["elsewhere"].as_str().is_some_and(|why| why.contains("another pid namespace")), "{tree}");
    assert_eq!(
        (tree["processes"].as_array().map(Vec::len), tree["memory_bytes"].as_u64()),
        (Some(0), Some(0))
    );
    let words = bench.callgate(["ps"]).unwrap().output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("its processes cannot be seen or ended from here"), "{words}");
    session.finish().unwrap();
}
