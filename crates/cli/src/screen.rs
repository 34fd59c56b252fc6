//! What a person sees: colours on a terminal, plain text when piped, hostile text made harmless.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

pub(crate) use callgate_text::{clip, harmless, quoted};

/// Where lines go, with or without colours.
#[derive(Debug)]
pub(crate) struct Screen {
    colours: bool,
}

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const ACCENT: Style = AnsiColor::Cyan.on_default();

impl Screen {
    pub(crate) fn new() -> Screen {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Screen { colours: wanted && io::stdout().is_terminal() }
    }

    /// One without colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Screen {
        Screen { colours: false }
    }

    /// `text` in a style, if this screen has colours.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Prints one line. A reader that left (`| head`) ends the program quietly, as it should.
    pub(crate) fn line(&self, text: &str) {
        if writeln!(io::stdout(), "{text}").is_err() {
            std::process::exit(0);
        }
    }

    /// How wide it is. What goes into a file or another program is not cut: it has no width, unless somebody says one.
    pub(crate) fn columns() -> usize {
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        match io::stdout().is_terminal() {
            true => width.or_else(terminal_columns).unwrap_or(100),
            false => width.unwrap_or(usize::MAX),
        }
    }
}

#[cfg(unix)]
fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn terminal_columns() -> Option<usize> {
    None
}

/// The terminal that a person types at, for the record.
#[cfg(unix)]
pub(crate) fn terminal() -> String {
    let name = rustix::termios::ttyname(rustix::stdio::stdin(), Vec::new()).ok();
    name.map_or_else(|| "no terminal".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(not(unix))]
pub(crate) fn terminal() -> String {
    "a terminal".to_owned()
}

/// An error for a person: what happened, and each cause under it.
pub(crate) fn error(error: &anyhow::Error) {
    let mut text = format!("callgate: {error}");
    for cause in error.chain().skip(1) {
        let _ = write!(text, "\n  because: {cause}");
    }
    // Nothing is left to be done when even that cannot be written.
    drop(writeln!(io::stderr(), "{text}"));
}

/// A word of advice beside an error.
pub(crate) fn hint(text: &str) {
    drop(writeln!(io::stderr(), "callgate: {text}"));
}

/// `1 call`, `2 calls`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `text` filled with blanks to `width` characters.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

#[cfg(test)]
mod tests {
    use callgate_text::is_hidden;

    use super::*;

    #[test]
    fn hostile_text_cannot_move_the_cursor_or_hide() {
        let hostile = "a\u{1b}[2Jb\u{202e}c\u{200b}d\ne\u{e0041}\u{9b}31m";
        let shown = harmless(hostile);
        assert_eq!(shown, "a\\u{1b}[2Jb\\u{202e}c\\u{200b}d\\ne\\u{e0041}\\u{9b}31m");
        assert!(shown.chars().all(|c| !is_hidden(c)));
    }

    #[test]
    fn ordinary_writing_is_left_alone() {
        for text in ["Grüße, 世界", "naïve café", "日本語", "a — b"] {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn clipping_marks_what_is_missing() {
        assert_eq!(clip("playwright", 6), "playw…");
        assert_eq!(clip("short", 6), "short");
    }
}
