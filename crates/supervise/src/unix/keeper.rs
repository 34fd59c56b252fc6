//! The keeper's process: starts the server when it is told to, owns everything below it, and ends it in stages.
//!
//! Runs in the forked child of the shim, single-threaded, and is never returned from. It knows no protocol and, while a
//! server runs, holds no end of a pipe that the server or the client reads or writes. One server after another may run
//! below it, each a *generation*: the next is started only when nothing of the one before is left.

use std::fs::File;
use std::io::{self, PipeWriter, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, wait};
use rustix::time::Timespec;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::keeper_request::{Errand, ServerEnds};
use super::raw;
use super::report::Report;
use crate::system::{self, Tree};
use crate::{Launch, MARKER};

/// The ends that go to the keeper.
pub(super) struct Ends {
    pub(super) control: UnixStream,
    pub(super) status: PipeWriter,
}

/// How long SIGKILL is repeated: against a tree that grows while it is being ended.
const KILLING_LIMIT: Duration = Duration::from_secs(3);
const KILLING_PAUSE: Duration = Duration::from_millis(50);

/// The keeper's whole life. Returns its exit code.
pub(super) fn keep(launch: Launch, ends: Ends) -> i32 {
    raw::unblock_signals();
    // Away from the client's terminal and process group: its signals are for the shim. Cannot fail in a forked child.
    _ = rustix::process::setsid();
    system::adopt_orphans();
    system::name_keeper();
    let badge = system::wear_badge(&launch.session);

    let Ends { control, status } = ends;
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            fail(&status, &error);
            return 1;
        }
    };
    // A server starts where the shim was started, each time.
    let directory = std::env::current_dir().ok();
    let mut kept = signals.senders.clone();
    kept.extend([control.as_raw_fd(), status.as_raw_fd(), signals.bell.as_raw_fd()]);
    kept.extend(badge.iter().map(|badge| badge.as_raw_fd()));
    let_go(&kept);
    Keeping { launch, directory, control: Some(control), status, signals }.run()
}

fn fail(status: &PipeWriter, error: &io::Error) {
    _ = Report::Failed { errno: error.raw_os_error().unwrap_or(0) }.send(status);
    _ = Report::Done.send(status);
}

/// A keeper between errands.
struct Keeping {
    launch: Launch,
    directory: Option<PathBuf>,
    /// `None` once it has been closed by the shim.
    control: Option<UnixStream>,
    status: PipeWriter,
    signals: Signals,
}

impl Keeping {
    fn run(mut self) -> i32 {
        while let Some(errand) = self.next_errand() {
            let ends = match errand {
                Errand::Start(ends) => ends,
                Errand::StartWith { ends, args, env } => {
                    (self.launch.args, self.launch.env) = (args, env);
                    ends
                }
                // Nothing runs.
                Errand::End => continue,
                Errand::Withhold => {
                    fail(&self.status, &io::Error::from(io::ErrorKind::Other));
                    return 1;
                }
            };
            let server = match self.spawn(ends) {
                Ok(server) => server,
                Err(error) => {
                    fail(&self.status, &error);
                    continue;
                }
            };
            _ = Report::Started { pid: server.as_raw_nonzero().get() }.send(&self.status);
            crate::forget_start();
            let tree = Tree::below(getpid(), Some(server));
            if (Watch { keeping: &mut self, tree, server: Some(server), phase: Phase::Serving })
                .run()
                .is_err()
            {
                // Without the last word: a living shim then tries for itself.
                return 1;
            }
            _ = Report::Done.send(&self.status);
        }
        self.launch.afterwards.run();
        0
    }

    /// Sleeps until there is something to do; `None` when everything is over.
    fn next_errand(&mut self) -> Option<Errand> {
        loop {
            let control = self.control.as_ref()?;
            if self.signals.asked_to_end.load(Ordering::Relaxed) {
                return None;
            }
            let mut sources =
                [PollFd::new(&self.signals.bell, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
            let told = poll(&mut sources, None).is_ok() && !sources[1].revents().is_empty();
            if told {
                return Errand::receive(control);
            }
            self.signals.quiet_bell();
        }
    }

    /// The command and all that it holds is gone when this returns: of the server's pipes nothing stays with the keeper.
    fn spawn(&self, ends: ServerEnds) -> io::Result<Pid> {
        let launch = &self.launch;
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .env(MARKER, &launch.session)
            .stdin(ends.stdin)
            .stdout(ends.stdout)
            .stderr(ends.stderr)
            .process_group(0);
        if let Some(directory) = self.directory.as_ref().filter(|directory| directory.is_dir()) {
            command.current_dir(directory);
        }
        raw::prepare_child(&mut command);
        // Not reaped through `Child`: the keeper reaps whatever ends below it, the server among the rest.
        let child = command.spawn()?;
        Pid::from_raw(child.id().cast_signed())
            .ok_or_else(|| io::Error::other("the server has no process id"))
    }
}

/// Lets go of all that was inherited: the client's pipes above all (a client waits for their end), the working directory,
/// and what else the shim or the client had open.
fn let_go(kept: &[i32]) {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        _ = rustix::stdio::dup2_stdin(&null);
        _ = rustix::stdio::dup2_stdout(&null);
        _ = rustix::stdio::dup2_stderr(&null);
    }
    raw::close_all_but(kept);
    _ = rustix::process::chdir("/");
}

/// Signals as something to poll.
struct Signals {
    bell: UnixStream,
    /// The ends that the handlers write to; the registry owns them.
    senders: Vec<RawFd>,
    asked_to_end: Arc<AtomicBool>,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        const ENDING: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];
        let (bell, sender) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let asked_to_end = Arc::new(AtomicBool::new(false));
        for signal in ENDING {
            // Before the bell: whoever hears it must find the flag set.
            signal_hook::flag::register(signal, Arc::clone(&asked_to_end))?;
        }
        let mut senders = Vec::new();
        for signal in ENDING.into_iter().chain([SIGCHLD]) {
            let sender = sender.try_clone()?;
            senders.push(sender.as_raw_fd());
            signal_hook::low_level::pipe::register(signal, sender)?;
        }
        Ok(Signals { bell, senders, asked_to_end })
    }

    fn quiet_bell(&mut self) {
        let mut rung = [0; 64];
        while self.bell.read(&mut rung).is_ok_and(|count| count > 0) {}
    }
}

/// Where a generation stands between serving and gone.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Serving,
    /// The server's stdin is closed; the tree may end by itself.
    Closing {
        until: Instant,
    },
    /// SIGTERM was sent.
    Terminating {
        until: Instant,
    },
    /// SIGKILL is being sent, again and again, to whatever is there.
    Killing {
        until: Instant,
    },
}

/// A running server and what is to be done about it.
struct Watch<'k> {
    keeping: &'k mut Keeping,
    tree: Tree,
    /// `None` once it has ended.
    server: Option<Pid>,
    phase: Phase,
}

impl Watch<'_> {
    /// Until nothing of the tree is left.
    fn run(mut self) -> Result<(), StillThere> {
        loop {
            let childless = self.reap();
            if self.tree.is_gone(childless) {
                return Ok(());
            }
            self.advance(Instant::now())?;
            self.await_event();
        }
    }

    /// Takes leave of whatever has ended, and reports the server. True when no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.server => {
                    self.server = None;
                    if let Some(report) = verdict(status) {
                        _ = report.send(&self.keeping.status);
                    }
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// One step further towards the end, where its time has come.
    fn advance(&mut self, now: Instant) -> Result<(), StillThere> {
        match self.phase {
            Phase::Serving if self.server.is_none() => self.terminate(now),
            Phase::Serving if self.keeping.signals.asked_to_end.load(Ordering::Relaxed) => self.close(now),
            Phase::Closing { until } if now >= until => self.terminate(now),
            Phase::Terminating { until } if now >= until => {
                self.tree.signal_all(Signal::KILL);
                self.phase = Phase::Killing { until: now + KILLING_LIMIT };
            }
            Phase::Killing { until } if now >= until => return Err(StillThere),
            Phase::Killing { .. } => {
                self.tree.signal_all(Signal::KILL);
            }
            Phase::Serving | Phase::Closing { .. } | Phase::Terminating { .. } => {}
        }
        Ok(())
    }

    fn close(&mut self, now: Instant) {
        self.phase = Phase::Closing { until: now + self.keeping.launch.grace.closing };
    }

    fn terminate(&mut self, now: Instant) {
        // A stopped process would not hear SIGTERM before it is continued.
        for process in self.tree.signal_all(Signal::TERM) {
            process.signal(Signal::CONT);
        }
        self.phase = Phase::Terminating { until: now + self.keeping.launch.grace.term };
    }

    /// Sleeps until something ends, somebody asks, or the phase's time is over.
    fn await_event(&mut self) {
        let now = Instant::now();
        let time_left = match self.phase {
            Phase::Serving => Tree::LOOK_SERVING,
            Phase::Closing { until } | Phase::Terminating { until } => {
                let left = until.saturating_duration_since(now);
                Some(Tree::LOOK_AGAIN.map_or(left, |pause| left.min(pause)))
            }
            Phase::Killing { .. } => Some(KILLING_PAUSE),
        };
        let time_left = time_left.and_then(|left| Timespec::try_from(left).ok());
        let mut sources = vec![PollFd::new(&self.keeping.signals.bell, PollFlags::IN)];
        // Once the end has begun, whatever is said next can wait for it.
        let control = self.keeping.control.as_ref().filter(|_| matches!(self.phase, Phase::Serving));
        sources.extend(control.map(|control| PollFd::new(control, PollFlags::IN)));
        let polled = poll(&mut sources, time_left.as_ref());
        let told = polled.is_ok() && sources.get(1).is_some_and(|control| !control.revents().is_empty());
        if told && let Some(control) = control {
            // Anything but `End` means that the shim is gone: it starts nothing while something runs.
            if !matches!(Errand::receive(control), Some(Errand::End)) {
                self.keeping.control = None;
            }
            self.close(Instant::now());
        }
        self.keeping.signals.quiet_bell();
    }
}

/// Something of the tree outlived every SIGKILL.
struct StillThere;

/// A stopped or continued server has not ended.
fn verdict(status: WaitStatus) -> Option<Report> {
    let exited = status.exit_status().map(|code| Report::Exited { code });
    exited.or_else(|| status.terminating_signal().map(|signal| Report::Signalled { signal }))
}
