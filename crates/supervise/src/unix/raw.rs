//! All that needs `unsafe` on Unix: fork, what a child may do before exec, and closing what was inherited.

use std::collections::HashSet;
use std::io;
use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use rustix::process::{Pid, getpid};

/// Forks; the child runs `child` and nothing else, never returns into its caller's frames, and exits with its value.
///
/// The caller answers for there being one thread only: the child allocates, and a lock held by another thread at the time
/// of the fork would never be freed in it.
#[expect(unsafe_code, reason = "fork and _exit have no safe form")]
pub(super) fn fork(child: impl FnOnce() -> i32) -> io::Result<Pid> {
    // SAFETY: single-threaded (checked by `start`), so the child's copy of memory is consistent.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // A panic must not unwind into the copy of the shim's main.
            let code = catch_unwind(AssertUnwindSafe(child)).unwrap_or(101);
            // SAFETY: always sound; `_exit` because the shim's buffers and exit handlers are not the keeper's to run.
            unsafe { libc::_exit(code) }
        }
        pid => Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave no process id")),
    }
}

/// Unblocks every signal: a client that blocks SIGCHLD or SIGTERM would otherwise leave the keeper deaf.
#[expect(unsafe_code, reason = "signal masks have no safe form")]
pub(super) fn unblock_signals() {
    // SAFETY: both calls get a valid, initialised set; the old mask is not asked for.
    unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// The signals that end a shim, held back by the thread that made this until it is dropped.
///
/// From before the keeper exists until the shim listens for them: one that came in between would end the shim on the
/// spot, with its session neither begun nor ended on record.
#[derive(Debug)]
pub struct HeldSignals {
    before: libc::sigset_t,
    /// A mask belongs to its thread.
    _here: PhantomData<*const ()>,
}

impl HeldSignals {
    #[expect(unsafe_code, reason = "signal masks have no safe form")]
    pub(super) fn hold() -> HeldSignals {
        // SAFETY: the sets are initialised before they are used, and are ours; the signals are valid ones.
        let before = unsafe {
            let mut held = std::mem::zeroed::<libc::sigset_t>();
            let mut before = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut held);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(&raw mut held, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before);
            before
        };
        HeldSignals { before, _here: PhantomData }
    }
}

impl Drop for HeldSignals {
    #[expect(unsafe_code, reason = "signal masks have no safe form")]
    fn drop(&mut self) {
        // SAFETY: the set was filled by `hold`, on this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

/// Makes the command's process begin as a fresh one, tied to this process' life.
#[expect(unsafe_code, reason = "pre_exec runs between fork and exec")]
pub(super) fn prepare_child(command: &mut Command) {
    let keeper = getpid();
    // SAFETY: the closure makes system calls only (signal, prctl, getppid); it neither allocates nor takes locks.
    unsafe {
        command.pre_exec(move || {
            default_signals();
            crate::system::die_with_parent(keeper)
        });
    }
}

/// Gives the command's process a session of its own: without a terminal, and with a group to be ended by.
#[expect(unsafe_code, reason = "pre_exec runs between fork and exec")]
pub(super) fn without_terminal(command: &mut Command) {
    // SAFETY: the closure makes one system call; it neither allocates nor takes locks.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
}

/// Ignored signals would survive exec. Handlers do not; std clears the mask.
#[expect(unsafe_code, reason = "signal dispositions have no safe form")]
fn default_signals() {
    for signal in 1..=31 {
        // SAFETY: SIG_DFL is valid for every signal; SIGKILL and SIGSTOP refuse, which is no harm.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Closes every descriptor from 3 up but those in `kept`: whatever the shim had open, or the client left open for it.
#[expect(unsafe_code, reason = "closes descriptors that no value of this process answers for")]
pub(super) fn close_all_but(kept: &[RawFd]) {
    let Ok(listing) = std::fs::read_dir("/dev/fd") else { return };
    let kept: HashSet<RawFd> = kept.iter().copied().collect();
    let open: Vec<RawFd> =
        listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2 && !kept.contains(fd)) {
        // SAFETY: only the keeper calls this, in a copy of the shim whose frames are never returned to: whatever owns one
        // of these descriptors is neither used nor dropped again. One that was open for the listing only gives EBADF.
        unsafe {
            libc::close(fd);
        }
    }
}
