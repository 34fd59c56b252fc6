//! Starts the server inside the shim's job, hears of its end, and ends it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use super::{measure, program as programs, raw};
use crate::ending::words;
use crate::launch::search_path;
use crate::{Ending, Launch, MARKER, Measured, Pipes, StartError, StartFailure};

/// A started server: the shim's ends of its pipes, and the handle on its tree.
///
/// Dropping `pipes.stdin` is the server's end of input; dropping `keeper` ends the server. The tree below it ends with this
/// process at the latest.
#[derive(Debug)]
pub struct Server {
    pub pipes: Pipes,
    pub keeper: Keeper,
    /// As elsewhere; nothing is held here, because Windows ends a process without asking it.
    pub held: HeldSignals,
}

#[derive(Debug)]
pub struct HeldSignals;

impl Drop for HeldSignals {
    /// Let go at a moment of its own, as elsewhere.
    fn drop(&mut self) {}
}

/// Starts a server in a job that ends with this process. Whether the command could be run is known from
/// [`Keeper::started`] or [`Keeper::wait`], as elsewhere.
///
/// This process becomes a member of the job itself, so that its children are from their first moment.
pub fn start(launch: Launch) -> Result<Server, StartError> {
    raw::enter_job().map_err(StartError::Job)?;
    let (pipes, state) = spawn(&launch)?;
    Ok(Server { pipes, keeper: Keeper { state: Mutex::new(state), launch }, held: HeldSignals })
}

/// A server that is not started yet. There is no keeper here that could wait; whoever asks for time gets it.
#[derive(Debug)]
pub struct Prepared {
    launch: Launch,
}

/// As elsewhere; here nothing happens before it is told.
pub fn prepare(launch: Launch) -> Result<Prepared, StartError> {
    Ok(Prepared { launch })
}

impl Prepared {
    /// Starts the server with these arguments and additions to the environment, in place of those that it was prepared
    /// with; also each time that it is started again.
    pub fn start(self, args: Vec<OsString>, env: Vec<(OsString, OsString)>) -> Result<Server, StartError> {
        start(Launch { args, env, ..self.launch })
    }

    /// Starts nothing. The session ends as it does when a command cannot be run, with these words.
    pub fn withhold(self, why: String) -> Result<Server, StartError> {
        // The other ends are closed at once, as those of a server that ended are.
        let (_, stdin) = io::pipe().map_err(StartError::Pipe)?;
        let (stdout, _) = io::pipe().map_err(StartError::Pipe)?;
        let (stderr, _) = io::pipe().map_err(StartError::Pipe)?;
        let state = Mutex::new(Err(StartFailure::Withheld { why }));
        let keeper = Keeper { state, launch: self.launch };
        Ok(Server { pipes: Pipes { stdin, stdout, stderr }, keeper, held: HeldSignals })
    }
}

/// One generation of the server, or why there is none.
type State = Result<Arc<Running>, StartFailure>;

fn spawn(launch: &Launch) -> Result<(Pipes, State), StartError> {
    let Launch { program, args, env, session, .. } = launch;
    let search_path = search_path(env);
    let (server_stdin, stdin) = io::pipe().map_err(StartError::Pipe)?;
    let (stdout, server_stdout) = io::pipe().map_err(StartError::Pipe)?;
    let (stderr, server_stderr) = io::pipe().map_err(StartError::Pipe)?;
    let file = programs::find(program, search_path.as_deref());
    let mut command = Command::new(file.as_deref().map_or(program.as_os_str(), |file| file.as_os_str()));
    command
        .args(args)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .env(MARKER, session)
        .stdin(server_stdin)
        .stdout(server_stdout)
        .stderr(server_stderr)
        // A console program started by a window program would open a console.
        .creation_flags(CREATE_NO_WINDOW);
    let state = command.spawn().and_then(|child| {
        let process = child.as_handle().try_clone_to_owned()?;
        // Without one, the server alone is ended, and the rest with this process.
        let job = raw::job_of(process.as_handle()).ok();
        Ok(Arc::new(Running { process, job, child: Mutex::new(child) }))
    });
    let state = state.map_err(|error| explain(program, search_path.as_deref(), &error));
    Ok((Pipes { stdin, stdout, stderr }, state))
}

fn explain(program: &OsStr, search_path: Option<&OsStr>, error: &io::Error) -> StartFailure {
    let bare = !program.to_string_lossy().contains(['/', '\\']);
    match error.kind() {
        io::ErrorKind::NotFound if bare => {
            let looked_in = search_path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
            StartFailure::NotFound { program: program.to_owned(), looked_in }
        }
        io::ErrorKind::NotFound => StartFailure::NoSuchFile { path: program.into() },
        _ => StartFailure::Other { program: program.to_owned(), words: words(error) },
    }
}

/// The handle on the server and its tree. Its methods may be called from any thread.
pub struct Keeper {
    state: Mutex<State>,
    launch: Launch,
}

struct Running {
    /// For waiting, while `child` stays free for being ended.
    process: OwnedHandle,
    /// Everything below the server, and the server.
    job: Option<OwnedHandle>,
    child: Mutex<Child>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl Keeper {
    /// The keeper's process id; equal to the shim's own where there is no keeper process.
    pub fn id(&self) -> u32 {
        std::process::id()
    }

    /// The server's process id, or why it does not run.
    pub fn started(&self) -> Result<u32, Ending> {
        match self.state() {
            Ok(running) => Ok(running.child().id()),
            Err(cause) => Err(Ending::FailedToStart { cause }),
        }
    }

    /// Waits until the server itself has ended: the one that was started last.
    pub fn wait(&self) -> Ending {
        let running = match self.state() {
            Ok(running) => running,
            Err(cause) => return Ending::FailedToStart { cause },
        };
        raw::await_end(running.process.as_handle(), None);
        let status = running.child().wait();
        match status.ok().and_then(|status| status.code()) {
            Some(code) => Ending::Exited { code },
            None => Ending::KeeperLost,
        }
    }

    /// Ends the server: time to close, then at once (there is no SIGTERM here). Does not wait for it. What is below the
    /// server ends with this process.
    pub fn finish(&self) {
        self.end();
    }

    /// Ends the server in the same way, and all that is below it. It can be started [`again`](Keeper::again).
    pub fn end(&self) {
        let Ok(running) = self.state() else { return };
        let closing = self.launch.grace.closing;
        thread::spawn(move || {
            raw::await_end(running.process.as_handle(), Some(closing));
            running.end();
        });
    }

    /// Starts the server again, as it was started before, once the one before has ended; waits for that.
    pub fn again(&self) -> Result<Pipes, StartError> {
        self.join();
        if let Ok(running) = self.state() {
            // What it left behind.
            running.end();
        }
        let (pipes, state) = spawn(&self.launch)?;
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        Ok(pipes)
    }

    /// What the server and everything below it take at this moment; `None` where the system does not tell, or nothing runs.
    pub fn measure(&self) -> Option<Measured> {
        match &self.state().ok()?.job {
            Some(job) => measure::of_job(job),
            None => Some(measure::below(self.id())),
        }
    }

    /// Waits until the server has ended.
    pub fn join(&self) {
        if let Ok(running) = self.state() {
            raw::await_end(running.process.as_handle(), None);
        }
    }

    /// Ends the server at once. Returns how many processes are left that could not be ended.
    pub fn take_over(&self) -> usize {
        self.state().map_or(0, |running| usize::from(!running.end()))
    }

    fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.take_over();
    }
}

impl Running {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At once, with everything below it. False when that could not be done.
    fn end(&self) -> bool {
        match &self.job {
            Some(job) => raw::end_job(job).is_ok(),
            None => self.child().kill().is_ok(),
        }
    }
}
