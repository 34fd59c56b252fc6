//! All that needs `unsafe` on Windows: the job, and waiting for a process without borrowing it for change.

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::time::Duration;

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, INFINITE, WaitForSingleObject};

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
