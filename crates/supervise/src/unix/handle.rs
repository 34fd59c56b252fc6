//! The shim's side: forks the keeper, holds its pipes, hears from it, and stands in for it when it is lost.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, PipeReader};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use super::keeper::{self, Ends};
use super::keeper_request::{Errand, ServerEnds};
use super::program;
use super::raw::{self, HeldSignals};
use super::report::Report;
use crate::launch::search_path;
use crate::system::{self, Tree};
use crate::{Ending, Launch, Measured, Pipes, StartError, StartFailure};

/// A started server: the shim's ends of its pipes, and the handle on its tree.
///
/// Dropping `pipes.stdin` is the server's end of input; dropping `keeper` ends the tree.
#[derive(Debug)]
pub struct Server {
    pub pipes: Pipes,
    pub keeper: Keeper,
    /// To be dropped, by the thread that called [`start`], once it listens for these signals.
    pub held: HeldSignals,
}

/// Starts a server under a keeper. To be called before any thread exists, and before signal handlers are installed
/// (the keeper would inherit them).
///
/// Returns as soon as the keeper runs. Whether the command could be run is known from [`Keeper::started`] or
/// [`Keeper::wait`], so that the shim reads its client in the meantime.
///
/// The calling process becomes a child subreaper (Linux): what a killed keeper leaves behind comes to it.
pub fn start(launch: Launch) -> Result<Server, StartError> {
    let held = HeldSignals::hold();
    let keeper = fork_keeper(launch)?;
    let pipes = keeper.again()?;
    Ok(Server { pipes, keeper, held })
}

/// A keeper that waits to be told what to start. It ends with the shim; until it is told, signals have their usual effect.
#[derive(Debug)]
pub struct Prepared {
    keeper: Keeper,
}

/// Forks the keeper, like [`start`] and under the same conditions, and lets it wait. The caller may make threads then.
pub fn prepare(launch: Launch) -> Result<Prepared, StartError> {
    // Held while there are two of us: the keeper sets its own mind about them.
    let _held = HeldSignals::hold();
    Ok(Prepared { keeper: fork_keeper(launch)? })
}

impl Prepared {
    /// Starts the server with these arguments and additions to the environment, in place of those that it was prepared
    /// with; also each time that it is started again.
    pub fn start(
        mut self,
        args: Vec<OsString>,
        env: Vec<(OsString, OsString)>,
    ) -> Result<Server, StartError> {
        let held = HeldSignals::hold();
        self.keeper.search_path = search_path(&env);
        let (pipes, ends) = pipes()?;
        self.keeper.tell(&Errand::StartWith { ends, args, env });
        Ok(Server { pipes, keeper: self.keeper, held })
    }

    /// Starts nothing. The session ends as it does when a command cannot be run, with these words.
    pub fn withhold(mut self, why: String) -> Result<Server, StartError> {
        let held = HeldSignals::hold();
        self.keeper.withheld = Some(why);
        // The other ends are closed at once, as those of a server that ended are.
        let (pipes, _) = pipes()?;
        self.keeper.tell(&Errand::Withhold);
        Ok(Server { pipes, keeper: self.keeper, held })
    }
}

fn fork_keeper(launch: Launch) -> Result<Keeper, StartError> {
    system::single_threaded()?;
    let (control, keeper_control) = UnixStream::pair().map_err(StartError::Pipe)?;
    let (status, keeper_status) = io::pipe().map_err(StartError::Pipe)?;
    system::adopt_orphans();

    let ours = (control, status);
    let theirs = Ends { control: keeper_control, status: keeper_status };
    // Both sides hold all ends for a moment; each drops the other's.
    let mut both = Some((ours, theirs, launch.clone()));
    let pid = raw::fork(|| {
        let Some((ours, theirs, launch)) = both.take() else { return 1 };
        drop(ours);
        keeper::keep(launch, theirs)
    })
    .map_err(StartError::Fork)?;
    let Some(((control, status), theirs, _)) = both.take() else {
        return Err(StartError::Fork(io::Error::other("the pipes are gone")));
    };
    drop(theirs);

    let search_path = search_path(&launch.env);
    Ok(Keeper {
        pid,
        control: Mutex::new(Some(control)),
        heard: Mutex::new(Heard { status, server: None, ending: None, done: false, reaped: false }),
        program: launch.program,
        search_path,
        withheld: None,
    })
}

/// Close-on-exec at all ends: a pipe that leaks into a grandchild never ends.
fn pipes() -> Result<(Pipes, ServerEnds), StartError> {
    let pipe = || io::pipe().map_err(StartError::Pipe);
    let ((server_stdin, stdin), (stdout, server_stdout), (stderr, server_stderr)) =
        (pipe()?, pipe()?, pipe()?);
    let ends =
        ServerEnds { stdin: server_stdin.into(), stdout: server_stdout.into(), stderr: server_stderr.into() };
    Ok((Pipes { stdin, stdout, stderr }, ends))
}

/// The handle on the process that owns the server's tree. Its methods may be called from any thread.
pub struct Keeper {
    pid: Pid,
    /// Taken and closed to end the session.
    control: Mutex<Option<UnixStream>>,
    heard: Mutex<Heard>,
    program: OsString,
    search_path: Option<OsString>,
    /// Why the server is not to be started.
    withheld: Option<String>,
}

/// What the keeper has said so far of this generation.
struct Heard {
    status: PipeReader,
    server: Option<Pid>,
    ending: Option<Ending>,
    /// The tree is gone, by the keeper's own word.
    done: bool,
    reaped: bool,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Keeper {
    /// How long a stand-in keeps trying to end what a lost keeper left: what SIGKILL does not end by then, nothing does.
    const TAKE_OVER_LIMIT: Duration = Duration::from_secs(3);

    /// The keeper's process id; equal to the shim's own where there is no keeper process (Windows).
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the server runs (its process id) or is known not to.
    pub fn started(&self) -> Result<u32, Ending> {
        let mut heard = self.heard();
        loop {
            if let Some(pid) = heard.server {
                return Ok(pid.as_raw_nonzero().get().unsigned_abs());
            }
            if let Some(ending) = &heard.ending {
                return Err(ending.clone());
            }
            self.listen(&mut heard);
        }
    }

    /// Waits until the server itself has ended: the one that was started last. Its tree may be in the process of being
    /// ended still, see [`Keeper::join`].
    pub fn wait(&self) -> Ending {
        let mut heard = self.heard();
        loop {
            if let Some(ending) = &heard.ending {
                return ending.clone();
            }
            self.listen(&mut heard);
        }
    }

    /// Ends the tree, and the keeper with it: time to close, SIGTERM, time to end, SIGKILL. Does not wait for it. The
    /// server's stdin should be closed already, or its time to close is wasted.
    pub fn finish(&self) {
        self.control.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends the tree in the same way, and keeps the keeper: the server can be started [`again`](Keeper::again).
    pub fn end(&self) {
        self.tell(&Errand::End);
    }

    /// Starts the server again, as it was started before, once nothing is left of the tree of the one before; waits for
    /// that. From here on the keeper's words are about the new one.
    pub fn again(&self) -> Result<Pipes, StartError> {
        let mut heard = self.heard();
        if heard.server.is_some() || heard.ending.is_some() {
            while !heard.done && self.listen(&mut heard) {}
        }
        let (pipes, ends) = pipes()?;
        if heard.ending != Some(Ending::KeeperLost) {
            (heard.server, heard.ending, heard.done) = (None, None, false);
        }
        self.tell(&Errand::Start(ends));
        Ok(pipes)
    }

    /// What the server and everything below it take at this moment; `None` where the system does not tell.
    pub fn measure(&self) -> Option<Measured> {
        system::measure(self.pid)
    }

    /// A keeper that does not hear it is lost, and whoever waits for its word learns so.
    fn tell(&self, errand: &Errand) {
        if let Some(control) = &*self.control.lock().unwrap_or_else(PoisonError::into_inner) {
            _ = errand.send(control);
        }
    }

    /// Waits until nothing of the tree is left, standing in for a keeper that was lost on the way. After
    /// [`Keeper::finish`] or [`Keeper::end`] this takes no longer than the times of grace and a moment more.
    ///
    /// The shim need not wait for this: the keeper does its work without it.
    pub fn join(&self) {
        let mut heard = self.heard();
        while !heard.done && self.listen(&mut heard) {}
        if !heard.done {
            self.end_all(&mut heard);
        } else if self.control.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            self.reap(&mut heard);
        }
    }

    /// Ends every process below this one, itself, at once: what a lost keeper left behind has come to us. Returns how many
    /// are left nevertheless (stuck in the kernel), normally none.
    ///
    /// Not for a process with other children than the keeper.
    pub fn take_over(&self) -> usize {
        self.end_all(&mut self.heard())
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in one report. False when there are no more.
    fn listen(&self, heard: &mut Heard) -> bool {
        let report = Report::receive(&heard.status);
        match report {
            Some(Report::Started { pid }) => heard.server = Pid::from_raw(pid),
            Some(Report::Failed { errno }) => {
                let error = io::Error::from_raw_os_error(errno);
                let cause = match &self.withheld {
                    Some(why) => StartFailure::Withheld { why: why.clone() },
                    None => program::explain(&self.program, self.search_path.as_deref(), &error),
                };
                heard.ending = Some(Ending::FailedToStart { cause });
            }
            Some(Report::Exited { code }) => heard.ending = Some(Ending::Exited { code }),
            Some(Report::Signalled { signal }) => heard.ending = Some(Ending::Signalled { signal }),
            Some(Report::Done) => heard.done = true,
            None => {
                heard.ending.get_or_insert(Ending::KeeperLost);
            }
        }
        report.is_some()
    }

    /// Waits for the end of the keeper's process, which is near.
    fn reap(&self, heard: &mut Heard) {
        if !heard.reaped {
            // An error means that it is reaped already (SIGCHLD ignored), which is as good.
            while waitpid(Some(self.pid), WaitOptions::empty()).is_err_and(|error| error == Errno::INTR) {}
            heard.reaped = true;
        }
    }

    fn end_all(&self, heard: &mut Heard) -> usize {
        self.finish();
        if !heard.reaped {
            // Safe by number: our own child, not reaped, so the number is still its own. Once it is reaped, its children
            // are ours for certain.
            _ = kill_process(self.pid, Signal::KILL);
            self.reap(heard);
        }
        let mut tree = Tree::below(getpid(), heard.server);
        let limit = Instant::now() + Self::TAKE_OVER_LIMIT;
        loop {
            let left = tree.signal_all(Signal::KILL);
            if left.is_empty() || Instant::now() >= limit {
                return left.len();
            }
            system::await_end(&left, Duration::from_millis(50));
            for process in &left {
                // Those that came to us stay zombies until we look; the others are their parents' business.
                _ = waitpid(Some(process.pid), WaitOptions::NOHANG);
            }
        }
    }
}
