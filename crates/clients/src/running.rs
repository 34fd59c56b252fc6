//! Whether a client runs at this moment, and since when. Matters for clients that write their whole file back from memory.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use crate::table::Client;

/// A client's process that none of its other processes started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Main {
    pub pid: u32,
    pub program: PathBuf,
    /// Without the program.
    pub args: Vec<OsString>,
    pub since_ms: i64,
}

/// The processes of this client that have the files of this home, by id. Empty for a client whose running makes no difference;
/// nothing if it cannot be told.
pub fn processes(client: &Client, home: &Path) -> Option<Vec<u32>> {
    let system = look(client)?;
    let mut found: Vec<_> = own(&system, client, home).map(|process| process.pid().as_u32()).collect();
    found.sort_unstable();
    Some(found)
}

/// Those of them that a person started.
pub fn mains(client: &Client, home: &Path) -> Option<Vec<Main>> {
    let system = look(client)?;
    let all: Vec<_> = own(&system, client, home).collect();
    let ours = |pid: Option<Pid>| pid.is_some_and(|pid| all.iter().any(|process| process.pid() == pid));
    let mut mains: Vec<_> = all
        .iter()
        .filter(|process| !ours(process.parent()))
        .filter_map(|process| {
            Some(Main {
                pid: process.pid().as_u32(),
                program: process.exe()?.to_owned(),
                args: process.cmd().iter().skip(1).cloned().collect(),
                since_ms: i64::try_from(process.start_time()).ok()?.checked_mul(1000)?,
            })
        })
        .collect();
    mains.sort_by_key(|main| main.pid);
    Some(mains)
}

/// Whether it may write back, from its memory, what was in its file before this moment; so, if it cannot be told.
pub fn remembers(client: &Client, home: &Path, before_ms: i64) -> bool {
    client.caches
        && mains(client, home).is_none_or(|mains| mains.iter().any(|main| main.since_ms <= before_ms))
}

/// The processes of this machine; none are looked at for a client that has no rows about them.
fn look(client: &Client) -> Option<System> {
    let mut system = System::new().ok()?;
    if client.processes.is_empty() {
        return Some(system);
    }
    let what = ProcessRefreshKind::nothing()
        .without_tasks()
        .with_exe(UpdateKind::OnlyIfNotSet)
        .with_user(UpdateKind::OnlyIfNotSet)
        .with_environ(UpdateKind::OnlyIfNotSet)
        .with_cmd(UpdateKind::OnlyIfNotSet);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
    Some(system)
}

/// The process that has the client's folder to itself: Electron leaves its number there, wherever its program lies.
#[cfg(target_os = "linux")]
fn holder(client: &Client, home: &Path) -> Option<Pid> {
    let paths = client.places.iter().filter_map(|place| place.path.strip_prefix("{config}/"));
    let folders = paths.filter(|_| !client.processes.is_empty()).filter_map(|path| path.rsplit_once('/'));
    folders.map(|(folder, _)| home.join(".config").join(folder)).find_map(|folder| {
        let held = std::fs::read_link(folder.join("SingletonLock")).ok()?;
        held.to_str()?.rsplit_once('-')?.1.parse().ok()
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_client: &Client, _home: &Path) -> Option<Pid> {
    None
}

fn own<'s>(system: &'s System, client: &Client, home: &Path) -> impl Iterator<Item = &'s sysinfo::Process> {
    let holder = holder(client, home);
    let me = system.process(Pid::from_u32(std::process::id())).and_then(|me| me.user_id().cloned());
    system
        .processes()
        .values()
        // Somebody else's client has somebody else's file.
        .filter(move |process| process.user_id() == me.as_ref())
        .filter(move |process| is_at(process.environ(), home))
        .filter(move |process| {
            if Some(process.pid()) == holder {
                return true;
            }
            let exe = process.exe().map(Path::as_os_str);
            // What a shared runtime runs is its first argument.
            let runtime = process.exe().and_then(Path::file_stem) == Some(OsStr::new("electron"));
            let run = process.cmd().get(1).filter(|_| runtime).map(AsRef::as_ref);
            exe.into_iter().chain(run).any(|word| is(client, word))
        })
}

/// A client that was started with another home has its files there. Where that cannot be told, it is taken for ours.
fn is_at(environ: &[OsString], home: &Path) -> bool {
    let its_home = environ.iter().find_map(|variable| variable.to_str()?.strip_prefix("HOME="));
    cfg!(windows) || its_home.is_none_or(|its_home| Path::new(its_home) == home)
}

/// By where the program lies, not by its name: Claude Code's is called `claude` as well.
fn is(client: &Client, program: &OsStr) -> bool {
    let Some(program) = program.to_str() else { return false };
    let program = program.replace('\\', "/");
    client.processes.iter().any(|part| program.contains(part))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::table::client;

    #[test]
    fn claude_desktop_is_known_by_its_place_and_claude_code_is_not_taken_for_it() {
        let desktop = client("claude-desktop").unwrap();
        for program in [
            "/Applications/Claude.app/Contents/MacOS/Claude",
            "/usr/lib/claude-desktop/claude-desktop",
            "/usr/lib/claude-desktop-unofficial/node_modules/electron/dist/electron",
            r"C:\Program Files\WindowsApps\Claude_1.2.3.0_x64__pzs8sxrjxfjjc\app\Claude.exe",
            r"C:\Users\ada\AppData\Local\AnthropicClaude\app-0.9.1\Claude.exe",
        ] {
            assert!(is(desktop, OsStr::new(program)), "{program}");
        }
        for program in [
            "/home/ada/.local/bin/claude",
            "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
            "/home/ada/.callgate/bin/callgate",
            "/home/ada/lib/claude-desktop-mcp/index.js",
            "claude-desktop",
        ] {
            assert!(!is(desktop, OsStr::new(program)), "{program}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_running_client_is_seen_and_a_gone_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("lib/claude-desktop");
        std::fs::create_dir_all(&place).unwrap();
        let program = place.join("claude-desktop");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let desktop = client("claude-desktop").unwrap();
        let mut child =
            std::process::Command::new(&program).arg("600").env("HOME", folder.path()).spawn().unwrap();
        let (seen, mains) =
            (processes(desktop, folder.path()).unwrap(), mains(desktop, folder.path()).unwrap());
        let elsewhere = processes(desktop, Path::new("/elsewhere")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.contains(&child.id()));
        assert!(!elsewhere.contains(&child.id()), "a client with another home has other files");
        let main = mains.into_iter().find(|main| main.pid == child.id()).unwrap();
        assert_eq!((main.program, main.args), (program, vec![OsString::from("600")]));
        assert!(main.since_ms > 0);
        assert!(!processes(desktop, folder.path()).unwrap().contains(&child.id()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_claude_desktop_at_an_unusual_place_is_known_by_the_lock_of_its_folder() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".config/Claude");
        std::fs::create_dir_all(&folder).unwrap();
        let mut child =
            std::process::Command::new("/bin/sleep").arg("600").env("HOME", home.path()).spawn().unwrap();
        let desktop = client("claude-desktop").unwrap();
        assert!(!processes(desktop, home.path()).unwrap().contains(&child.id()));
        let held = format!("some-host-{}", child.id());
        std::os::unix::fs::symlink(held, folder.join("SingletonLock")).unwrap();
        let seen = processes(desktop, home.path()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.contains(&child.id()));
        assert_eq!(processes(desktop, home.path()).unwrap(), Vec::<u32>::new(), "the lock outlives a crash");
    }
}
