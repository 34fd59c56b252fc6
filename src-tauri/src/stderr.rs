//! Words for whoever started the app from a terminal, or reads its log or the desktop's own.

use std::io::Write as _;

/// One line on stderr, and in the log of the app: without a terminal nobody sees the first.
pub(crate) fn print_line(words: &str) {
    tracing::warn!("{words}");
    let _unheard = writeln!(std::io::stderr(), "callgate-app: {words}");
}
