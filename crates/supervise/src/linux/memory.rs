//! What a gate and its keeper hold in memory besides what they need: every client starts a pair of them for every server.

use std::ffi::c_void;
use std::fs;

/// The heaps that all threads share, set before there is a second thread. Else each of ours begins one of its own.
#[cfg(target_env = "gnu")]
const HEAPS: i32 = 2;

/// First of all, before there is another thread.
#[expect(unsafe_code, reason = "the allocator's settings have no safe form")]
pub fn share_heaps() {
    // SAFETY: it takes two numbers, and it is called before there is another thread. What it refuses stays as it was.
    #[cfg(target_env = "gnu")]
    let _taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, HEAPS) };
}

/// Lets go of the pages of program and libraries that the start has used, 64 kB around each place that ran. What is needed
/// again comes back from the file, which all gates share.
#[expect(unsafe_code, reason = "memory is given back by its addresses")]
pub fn forget_start() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    // All of them first: reading the rest would bring back what was given.
    let unchanged: Vec<(usize, usize)> = maps.lines().filter_map(unchanged).collect();
    for (start, length) in unchanged {
        // SAFETY: these pages are mapped from a file and were never written: the same bytes come back from it.
        let _given = unsafe { libc::madvise(start as *mut c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Where a file is in memory as it is on disk, by a line of `maps`: its code, and what stands at its very beginning. What was
/// fitted to its place while it was loaded is read-only as well, and stands behind the code.
fn unchanged(line: &str) -> Option<(usize, usize)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [addresses, mode, offset, _, _, file, ..] = words[..] else { return None };
    let (start, end) = addresses.split_once('-')?;
    let [start, end] = [start, end].map(|address| usize::from_str_radix(address, 16).ok());
    let first = mode == "r--p" && offset.bytes().all(|digit| digit == b'0');
    (file.starts_with('/') && (mode == "r-xp" || first)).then_some((start?, end?.checked_sub(start?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_as_in_its_file_is_let_go() {
        for given in ["r-xp 00001000", "r--p 00000000"] {
            let line = format!("1000-3000 {given} fe:00 7 /usr/bin/callgate (deleted)");
            assert_eq!(unchanged(&line), Some((0x1000, 0x2000)));
        }
        for other in [
            "1000-3000 r--p 00001000 fe:00 7 /usr/bin/callgate",
            "1000-3000 rw-p 00001000 fe:00 7 /usr/bin/callgate",
            "1000-3000 rw-p 00000000 fe:00 7 /usr/bin/callgate",
            "1000-3000 r-xp 00000000 00:00 0 [vdso]",
            "1000-3000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert_eq!(unchanged(other), None, "{other}");
        }
        forget_start();
        assert_eq!("still here".len(), 10);
    }
}
