//! All that needs `unsafe` on Windows: jobs, waiting for a process without borrowing it for change, processes that are not our
//! children, and the list of all.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_MORE_DATA, FILETIME, GetLastError, INVALID_HANDLE_VALUE, STILL_ACTIVE, WAIT_OBJECT_0,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS_EX};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetExitCodeProcess, GetProcessTimes, INFINITE, OpenProcess, PROCESS_ACCESS_RIGHTS,
    PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE,
    QueryFullProcessImageNameW, TerminateProcess, WaitForSingleObject,
};

use crate::windows_parsing::{self, ListAnswer};

/// Puts this process into a new job that ends with its handle. Children join it by themselves, from their first moment.
///
/// The handle is not inheritable: a child that held it would keep the job alive. Nor is it ever closed by us, because that
/// would be our own end: the kernel does it, however this process ends.
#[expect(unsafe_code, reason = "Job Objects have no safe form")]
pub(super) fn enter_job() -> io::Result<()> {
    let job = new_job()?;
    // SAFETY: the handle of this process is always valid.
    join_job(&job, unsafe { BorrowedHandle::borrow_raw(GetCurrentProcess()) })?;
    std::mem::forget(job);
    Ok(())
}

/// A job of its own for a process, inside the one that it is in: it and what it starts can be ended together.
///
/// What the process has started already is not in it. That is next to nothing, and ends with this process.
pub(super) fn job_of(process: BorrowedHandle<'_>) -> io::Result<OwnedHandle> {
    let job = new_job()?;
    join_job(&job, process)?;
    Ok(job)
}

/// A job that ends all its members when its last handle is closed.
#[expect(unsafe_code, reason = "Job Objects have no safe form")]
fn new_job() -> io::Result<OwnedHandle> {
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
    // SAFETY: the structure is the one that this class of information asks for, of the length said; the handle is valid.
    let set = unsafe {
        SetInformationJobObject(handle, JobObjectExtendedLimitInformation, (&raw const limits).cast(), length)
    };
    if set == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
}

#[expect(unsafe_code, reason = "Job Objects have no safe form")]
fn join_job(job: &OwnedHandle, process: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: both handles are valid during the call.
    let joined = unsafe { AssignProcessToJobObject(job.as_raw_handle(), process.as_raw_handle()) };
    if joined == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Ends every process of a job, at once.
#[expect(unsafe_code, reason = "Job Objects have no safe form")]
pub(super) fn end_job(job: &OwnedHandle) -> io::Result<()> {
    // SAFETY: the handle is valid during the call.
    let ended = unsafe { TerminateJobObject(job.as_raw_handle(), 1) };
    if ended == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The numbers of all processes of a job; none if the system does not tell.
#[expect(unsafe_code, reason = "Job Objects have no safe form")]
pub(super) fn members(job: &OwnedHandle) -> Option<Vec<u32>> {
    windows_parsing::job_list(|words| {
        let length = u32::try_from(size_of_val(words)).ok()?;
        let room = words.as_mut_ptr().cast();
        // SAFETY: the handle is valid, and the room is as long as is said, aligned for the numbers of this class of information
        // (each as wide as a pointer), and outlives the call.
        let told = unsafe {
            QueryInformationJobObject(
                job.as_raw_handle(),
                JobObjectBasicProcessIdList,
                room,
                length,
                null_mut(),
            )
        } != 0;
        if told {
            return Some(ListAnswer::Whole);
        }
        // SAFETY: no arguments, and nothing was called in between.
        (unsafe { GetLastError() } == ERROR_MORE_DATA).then_some(ListAnswer::Cut)
    })
}

/// Waits for a process to end; without a limit when there is none. True when it has ended.
#[expect(unsafe_code, reason = "std waits for a child only through a mutable borrow")]
pub(super) fn await_end(process: BorrowedHandle<'_>, limit: Option<Duration>) -> bool {
    let limit = limit.map_or(INFINITE, |limit| u32::try_from(limit.as_millis()).unwrap_or(INFINITE - 1));
    // SAFETY: the borrow keeps the handle open during the call.
    unsafe { WaitForSingleObject(process.as_raw_handle(), limit) == WAIT_OBJECT_0 }
}

/// A handle on a process that runs, for looking at it; it stays with that process.
pub(super) fn open(pid: u32) -> Option<OwnedHandle> {
    open_for(PROCESS_QUERY_LIMITED_INFORMATION, pid)
}

/// The same on one of ours, with which it can be ended.
pub(super) fn open_to_end(pid: u32) -> Option<OwnedHandle> {
    open_for(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE | PROCESS_SYNCHRONIZE, pid)
}

#[expect(unsafe_code, reason = "processes that are not our children have no safe form")]
fn open_for(rights: PROCESS_ACCESS_RIGHTS, pid: u32) -> Option<OwnedHandle> {
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

/// The bytes that a process alone has claimed: what it shares with others is not among them.
#[expect(unsafe_code, reason = "what a process takes has no safe form")]
pub(super) fn private_bytes(process: &OwnedHandle) -> Option<u64> {
    let mut counters = PROCESS_MEMORY_COUNTERS_EX::default();
    let length = u32::try_from(size_of_val(&counters)).ok()?;
    counters.cb = length;
    // SAFETY: the handle is open, and the structure, which is the longer form of the one that is asked for, is of the length said
    // and outlives the call.
    let told =
        unsafe { K32GetProcessMemoryInfo(process.as_raw_handle(), (&raw mut counters).cast(), length) } != 0;
    told.then(|| u64::try_from(counters.PrivateUsage).ok()).flatten()
}

/// The file that a process runs.
#[expect(unsafe_code, reason = "the file of a process has no safe form")]
pub(super) fn image(process: &OwnedHandle) -> Option<String> {
    // No path is longer.
    let mut path = vec![0_u16; 32 * 1024];
    let mut length = u32::try_from(path.len()).ok()?;
    // SAFETY: the handle is open, and the buffer, of the length said, and the length outlive the call.
    let told = unsafe {
        QueryFullProcessImageNameW(
            process.as_raw_handle(),
            PROCESS_NAME_WIN32,
            path.as_mut_ptr(),
            &raw mut length,
        )
    } != 0;
    path.truncate(usize::try_from(length).ok()?);
    told.then(|| String::from_utf16_lossy(&path))
}

/// A process as the system lists it.
pub(super) struct Listed {
    pub(super) pid: u32,
    /// Who started it; that one may be gone, and its number another's.
    pub(super) parent: u32,
    /// The name of its file.
    pub(super) file: String,
}

/// Every process at this moment; nobody, if the system does not tell.
#[expect(unsafe_code, reason = "the list of processes has no safe form")]
pub(super) fn listed() -> Vec<Listed> {
    // SAFETY: no pointers; a handle that is not given is said to be invalid.
    let handle = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if handle == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    // SAFETY: a handle that was just made, and is owned by nobody else.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(handle) };
    let mut entry = PROCESSENTRY32W::default();
    entry.dwSize = u32::try_from(size_of_val(&entry)).unwrap_or(0);
    let mut all = Vec::new();
    // SAFETY: the handle is open, and the structure says its own length and outlives the call.
    let mut more = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) } != 0;
    while more {
        let file = entry.szExeFile.split(|unit| *unit == 0).next().unwrap_or_default();
        all.push(Listed {
            pid: entry.th32ProcessID,
            parent: entry.th32ParentProcessID,
            file: String::from_utf16_lossy(file),
        });
        // SAFETY: as above.
        more = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) } != 0;
    }
    all
}
