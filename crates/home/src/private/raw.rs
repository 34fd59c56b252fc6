//! What Windows tells of a disk.

use std::os::windows::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

#[expect(unsafe_code, reason = "the only way to ask how much is free")]
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let name: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    // SAFETY: the name ends in a zero and outlives the call, and so does the number; the others are not asked for.
    let done = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &raw mut free, null_mut(), null_mut()) };
    (done != 0).then_some(free)
}
