//! All that needs `unsafe` on Windows: the job, waiting for a process without borrowing it for change, and processes that are not
//! our children.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::time::Duration;

use windows_sys::Win32::Foundation::{FILETIME, STILL_ACTIVE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetExitCodeProcess, GetProcessTimes, INFINITE, OpenProcess,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess,
    WaitForSingleObject,
};

/// Puts this process into a new job that ends with its handle. Children join it by themselves, from their first moment.
///
/// The handle is not inheritable: a child that held it would keep the job alive. Nor is it ever closed by us, because that
/// would be our own end: the kernel does it, however this process ends.
#[expect(unsafe_code, reason = "Job Objects have no safe form")]
pub(super) fn enter_job() -> io::Result<()> {
    // SAFETY: no attributes and no name are valid arguments.
    let handle = unsafe { CreateJobObjectW(null(), null()) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a handle that was just made, and is owned by nobody else.
    let job = unsafe { OwnedHandle::from_raw_handle(handle) };
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let length = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
    // SAFETY: the structure is the one that this class of information asks for, of the length said; both handles are valid.
    let done = unsafe {
        SetInformationJobObject(handle, JobObjectExtendedLimitInformation, (&raw const limits).cast(), length)
            != 0
            && AssignProcessToJobObject(handle, GetCurrentProcess()) != 0
    };
    if !done {
        // Not a member, or not one that is ended: closing the handle harms nobody.
        return Err(io::Error::last_os_error());
    }
    std::mem::forget(job);
    Ok(())
}

/// Waits for a process to end; without a limit when there is none. True when it has ended.
#[expect(unsafe_code, reason = "std waits for a child only through a mutable borrow")]
pub(super) fn await_end(process: BorrowedHandle<'_>, limit: Option<Duration>) -> bool {
    let limit = limit.map_or(INFINITE, |limit| u32::try_from(limit.as_millis()).unwrap_or(INFINITE - 1));
    // SAFETY: the borrow keeps the handle open during the call.
    unsafe { WaitForSingleObject(process.as_raw_handle(), limit) == WAIT_OBJECT_0 }
}

/// A handle on another process of ours that runs; it stays with that process.
#[expect(unsafe_code, reason = "processes that are not our children have no safe form")]
pub(super) fn open(pid: u32) -> Option<OwnedHandle> {
    let rights = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE | PROCESS_SYNCHRONIZE;
    // SAFETY: no pointers; a handle that is not given is null.
    let handle = unsafe { OpenProcess(rights, 0, pid) };
    if handle.is_null() {
        return None;
    }
    // SAFETY: a handle that was just made, and is owned by nobody else.
    let process = unsafe { OwnedHandle::from_raw_handle(handle) };
    let mut code = 0;
    // SAFETY: the handle is open, and the number outlives the call.
    let told = unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) } != 0;
    (told && code == STILL_ACTIVE.cast_unsigned()).then_some(process)
}

/// When a process was made, in the system's units.
#[expect(unsafe_code, reason = "the times of a process have no safe form")]
pub(super) fn created(process: &OwnedHandle) -> Option<u64> {
    let [mut created, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open, and the four structures outlive the call.
    let told = unsafe {
        GetProcessTimes(
            process.as_raw_handle(),
            &raw mut created,
            &raw mut ended,
            &raw mut kernel,
            &raw mut user,
        )
    } != 0;
    told.then(|| (u64::from(created.dwHighDateTime) << 32) | u64::from(created.dwLowDateTime))
}

/// Ends a process; true when it is gone.
#[expect(unsafe_code, reason = "ending a process that is not our child has no safe form")]
pub(super) fn terminate(process: &OwnedHandle) -> bool {
    // SAFETY: the handle is open.
    let asked = unsafe { TerminateProcess(process.as_raw_handle(), 1) } != 0;
    asked && await_end(process.as_handle(), Some(Duration::from_millis(500)))
}
