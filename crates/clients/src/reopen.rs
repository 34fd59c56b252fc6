//! Quitting a client and opening it again, as its person would: asked to end, never forced.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, Signal, System};

use crate::running::{self, Main};
use crate::table::Client;

#[cfg_attr(target_os = "macos", path = "reopen/macos.rs")]
#[cfg_attr(not(target_os = "macos"), path = "reopen/other.rs")]
mod system;

/// A client may ask its person about unsaved things.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum ReopenError {
    #[error("{0} cannot be quit from here; quit it from its menu and start it again")]
    Cannot(&'static str),
    #[error("{0} was asked to quit and still runs; quit it from its menu")]
    StillRuns(&'static str),
    #[error("{client} has quit, but could not be started again ({error}); start it by hand")]
    Start { client: &'static str, error: io::Error },
}

/// Asking nicely is something that Windows has no signal for.
pub fn can_reopen(client: &Client) -> bool {
    cfg!(unix) && !client.processes.is_empty()
}

/// A client that was quit.
#[derive(Debug)]
pub struct Quit {
    client: &'static Client,
    was: Vec<Main>,
    home: PathBuf,
}

/// Asks the client to quit, and waits until it has. One that does not run has quit.
pub fn quit(client: &'static Client, home: &Path) -> Result<Quit, ReopenError> {
    let cannot = ReopenError::Cannot(client.name);
    let Some(was) = running::mains(client, home).filter(|_| can_reopen(client)) else { return Err(cannot) };
    if !was.iter().all(|main| ask_to_end(main.pid)) {
        return Err(cannot);
    }
    let deadline = Instant::now() + PATIENCE;
    // Its helpers too: they are what holds the file.
    while running::processes(client, home).is_some_and(|all| !all.is_empty()) {
        if Instant::now() >= deadline {
            return Err(ReopenError::StillRuns(client.name));
        }
        thread::sleep(LOOK);
    }
    Ok(Quit { client, was, home: home.to_owned() })
}

impl Quit {
    /// Starts what ran before, as it was started.
    pub fn start(self) -> Result<(), ReopenError> {
        let client = self.client.name;
        for main in &self.was {
            let mut command = system::launch(main);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.current_dir(&self.home);
            detach(&mut command);
            let mut child = command.spawn().map_err(|error| ReopenError::Start { client, error })?;
            // It outlives us; while we live, somebody has to take note of its end.
            thread::spawn(move || child.wait());
        }
        Ok(())
    }
}

/// A process that is gone already has ended.
fn ask_to_end(pid: u32) -> bool {
    let Ok(mut system) = System::new() else { return false };
    let pid = Pid::from_u32(pid);
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[pid]),
        true,
        ProcessRefreshKind::nothing().without_tasks(),
    );
    system.process(pid).is_none_or(|process| process.kill_with(Signal::Term) == Some(true))
}

/// What ends us with a signal to our group must not end the client.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn detach(_command: &mut Command) {}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use crate::table::{ConfigLocation, client};

    /// A client that nobody else on this machine runs.
    fn stand_in(folder: &Path) -> &'static Client {
        let part = format!("{}/", folder.display());
        let processes: &'static [&'static str] = Box::leak(Box::new([&*part.leak()]));
        let places: &'static [ConfigLocation] = &[];
        let desktop = client("claude-desktop").unwrap();
        Box::leak(Box::new(Client { id: "stand-in", places, processes, ..*desktop }))
    }

    #[test]
    fn a_client_is_quit_and_opened_again_as_it_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("desk");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let client = stand_in(folder.path());
        let home = std::env::home_dir().unwrap();
        let mut first = Command::new(&program).arg("600").spawn().unwrap();
        let reaper = thread::spawn(move || first.wait());
        let before = running::mains(client, &home).unwrap();
        assert_eq!(before.len(), 1);

        let gone = quit(client, &home).unwrap();
        assert_eq!(running::processes(client, &home), Some(Vec::new()));
        assert!(reaper.join().unwrap().is_ok());
        gone.start().unwrap();
        let deadline = Instant::now() + PATIENCE;
        let after = loop {
            let now = running::mains(client, &home).unwrap();
            if !now.is_empty() || Instant::now() > deadline {
                break now;
            }
            thread::sleep(LOOK);
        };
        assert_eq!(after.len(), 1);
        assert_ne!(after[0].pid, before[0].pid);
        assert_eq!((&after[0].program, &after[0].args), (&before[0].program, &before[0].args));
        quit(client, &home).unwrap();
    }
}
