//! Words for whoever started the app from a terminal, or reads the desktop's own log.

use std::io::Write as _;

/// One line on stderr. An app without a terminal has nobody to tell that this failed.
pub(crate) fn print_line(words: &str) {
    let _unheard = writeln!(std::io::stderr(), "callgate-app: {words}");
}
