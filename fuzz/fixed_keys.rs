//! std's hash maps and sets draw their keys from the system, and with them change which branches an input takes: of two runs
//! with the same seed each would go its own way. Here the keys are the same in every run.

#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    // SAFETY: whoever asks for random bytes hands over a buffer of that length.
    unsafe { buffer.write_bytes(7, length) };
    isize::try_from(length).unwrap_or(-1)
}
