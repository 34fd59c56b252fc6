//! A desktop always has a display.

#[expect(clippy::unnecessary_wraps, reason = "the same signature on every platform")]
pub(super) fn check() -> Result<(), String> {
    Ok(())
}
