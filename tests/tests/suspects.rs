//! Browsers that nobody owns, with a real Chromium: listed are those of a dead driver, and never a person's own or one in use.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use callgate_tests::gate::program;
use callgate_tests::person::{Person, objects};
use callgate_tests::processes::{eventually, is_alive};
use callgate_tests::session::PATIENCE;
use serde_json::Value;
use tempfile::TempDir;

/// What every one of these needs here, and what makes none of them automation.
const QUIET: [&str; 4] = ["--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-crash-reporter"];

/// A browser under a service manager of its own; both go with this.
struct Browser {
    manager: Option<Child>,
    owned: Option<Child>,
}

impl Browser {
    /// Its driver is gone.
    fn of_nobody(folder: &Path, home: &Path, args: &[&str]) -> Browser {
        Browser::on(None, folder, home, args)
    }

    /// The same, with a window on this display.
    fn on(display: Option<&str>, folder: &Path, home: &Path, args: &[&str]) -> Browser {
        let manager = folder.join("systemd");
        if !manager.exists() {
            std::fs::copy(program("service-manager").unwrap(), &manager).unwrap();
        }
        let mut command = Command::new(manager);
        command.args(["--user", "--", "chromium"]).args(QUIET).args(args).arg("about:blank");
        command.env("HOME", home).env_remove("CALLGATE_SESSION").stdin(Stdio::piped());
        if let Some(display) = display {
            command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY");
        }
        Browser { manager: Some(command.spawn().unwrap()), owned: None }
    }

    /// Its driver is this test.
    fn in_use(home: &Path, args: &[&str]) -> Browser {
        let mut command = Command::new("chromium");
        command.args(QUIET).args(args).arg("about:blank");
        command.env("HOME", home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Browser { manager: None, owned: Some(command.env_remove("CALLGATE_SESSION").spawn().unwrap()) }
    }
}

/// A virtual display; gone with this.
struct Display(Child);

impl Display {
    /// Xvfb chooses a free number itself and says which.
    fn new() -> (Display, String) {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut display = Display(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(display.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (display, format!(":{}", line.trim()))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        for child in self.manager.iter_mut().chain(&mut self.owned) {
            for pid in below(child.id()) {
                callgate_tests::processes::signal(pid, rustix::process::Signal::KILL);
            }
            let _gone = child.kill();
            let _reaped = child.wait();
        }
    }
}

fn below(pid: u32) -> Vec<u32> {
    let children = callgate_tests::processes::children(pid);
    children.iter().copied().chain(children.iter().flat_map(|child| below(*child))).collect()
}

/// The browser itself, without its parts, that names this folder.
fn running(folder: &Path) -> Option<u32> {
    let listing = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = listing.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let wanted = folder.to_str().unwrap().to_owned();
    pids.filter(|pid| is_alive(*pid)).find(|pid| {
        let text = String::from_utf8_lossy(&line(pid)).replace('\0', " ");
        text.starts_with("/usr/lib/chromium/chromium ") && text.contains(&wanted) && !text.contains("--type=")
    })
}

/// Somebody, and what is their temporary directory: nothing is temporary where they have their home.
fn with_scratch() -> (Person, TempDir) {
    let (mut person, scratch) = (Person::new(), TempDir::with_prefix("callgate-scratch-").unwrap());
    person.set("TMPDIR", scratch.path());
    (person, scratch)
}

/// Those of this test: what another one left at this moment is on the list as well.
fn suspects(person: &Person, folder: &Path) -> Vec<Value> {
    let folder = folder.to_str().unwrap();
    let ours = |object: &Value| object["profile"].as_str().is_some_and(|profile| profile.starts_with(folder));
    let listed = objects(&person.does(&["ps", "--suspects", "--json"])).into_iter();
    listed.filter(|object| object["kind"] == "suspect" && ours(object)).collect()
}

#[test]
fn only_the_browser_of_a_dead_driver_is_listed_and_it_is_ended_by_a_persons_word_only() {
    let (person, scratch) = with_scratch();
    let (folder, at) = (scratch.path(), |name: &str| scratch.path().join(name));
    let flag = |name: &str| format!("--user-data-dir={}", at(name).display());
    // Everything that automation has, but for an owner.
    let _stray =
        Browser::of_nobody(folder, folder, &["--headless", "--remote-debugging-port=0", &flag("stray")]);
    // The same, with an owner that lives.
    let _driven = Browser::in_use(folder, &["--headless", "--remote-debugging-port=0", &flag("driven")]);
    // A person's own: started by the desktop, its profile where it is by default.
    let own = at("own");
    std::fs::create_dir(&own).unwrap();
    let _own = Browser::of_nobody(folder, &own, &["--headless", &format!("--homepage={}", own.display())]);
    let stray = eventually("all three run", PATIENCE, || {
        let stray = running(&at("stray"))?;
        running(&at("driven"))?;
        running(&own)?;
        Some(stray)
    });
    // A browser that has just been started is small still.
    let grown = |found: &Vec<Value>| found.iter().all(|one| one["memory_bytes"].as_u64() > Some(10_000_000));
    let listed = eventually("the stray one is listed", PATIENCE, || {
        Some(suspects(&person, folder)).filter(|found| !found.is_empty() && grown(found))
    });
    assert_eq!(listed.len(), 1, "{listed:#?}");
    assert_eq!(listed[0]["pid"].as_u64(), Some(u64::from(stray)));
    assert!(listed[0]["memory_bytes"].as_u64().unwrap() > 10_000_000, "{listed:?}");

    let pid = stray.to_string();
    let refused = person.run(&["sweep", "--suspects", &pid]);
    assert!(refused.code != Some(0) && is_alive(stray), "{refused:?}");
    let driven = running(&at("driven")).unwrap();
    let (code, said) = person.typed(&["sweep", "--suspects", &driven.to_string()], "end");
    assert!(code != Some(0) && said.contains("none of those"), "{said}");
    let (code, said) = person.typed(&["sweep", "--suspects", &pid], "end");
    assert_eq!(code, Some(0), "{said}");
    eventually("the stray one is gone", Duration::from_secs(10), || (!is_alive(stray)).then_some(()));
    assert!(running(&at("driven")).is_some() && running(&own).is_some(), "the others go on");
    assert_eq!(suspects(&person, folder), [] as [Value; 0]);
}

#[test]
fn a_headed_browser_that_a_desktop_started_with_a_debugging_port_is_not_listed() {
    let (person, scratch) = with_scratch();
    let (folder, at) = (scratch.path(), |name: &str| scratch.path().join(name));
    let flag = |name: &str| format!("--user-data-dir={}", at(name).display());
    let (_display, number) = Display::new();
    let port = "--remote-debugging-port=0";
    let _headed =
        Browser::on(Some(number.as_str()), folder, folder, &["--ozone-platform=x11", port, &flag("headed")]);
    // Beside it one that is listed: so the look is known to have been made.
    let _stray = Browser::of_nobody(folder, folder, &["--headless", port, &flag("stray")]);
    let (headed, stray) = eventually("both run", PATIENCE, || {
        // It says where it listens once it is up.
        at("headed").join("DevToolsActivePort").exists().then_some(())?;
        Some((running(&at("headed"))?, running(&at("stray"))?))
    });
    let listed = eventually("the other is listed", PATIENCE, || {
        Some(suspects(&person, folder)).filter(|found| !found.is_empty())
    });
    let pids: Vec<_> = listed.iter().map(|one| one["pid"].as_u64().unwrap()).collect();
    assert_eq!(pids, [u64::from(stray)], "{listed:#?}");
    assert!(is_alive(headed));
}
