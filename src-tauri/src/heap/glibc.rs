//! The allocator of the GNU system gives threads heaps of their own, eight for each core, and keeps in each of them what it
//! once held. Questions to the desk run on whatever thread is free, so that one big answer after the other leaves its
//! room behind in another heap: tens of megabytes on two cores, more on more. One heap for all is reused; nothing here
//! allocates so much at a time that threads would wait for each other.

use std::ffi::c_int;

const ONE: c_int = 1;

/// First of all, before there is another thread.
#[expect(unsafe_code, reason = "the allocator's settings have no safe form")]
pub(crate) fn prepare() {
    // SAFETY: it takes two numbers, and it is called before there is another thread. What it refuses stays as it was.
    let _taken = unsafe { libc::mallopt(libc::M_ARENA_MAX, ONE) };
}

/// Gives free pages back to the system. By itself the allocator does so only at the end of its heap, and something small
/// always lies there.
#[expect(unsafe_code, reason = "the allocator has no safe form")]
pub(crate) fn give_back() {
    // SAFETY: it takes a number, may be called from any thread, and touches only what nobody holds.
    let _some = unsafe { libc::malloc_trim(0) };
}
