//! How the page is drawn: macOS and Windows know best.

pub(super) fn prepare() {}
