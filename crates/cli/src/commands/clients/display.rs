//! Clients' files on a screen: nothing secret, nothing that a terminal would obey.

use std::path::Path;

use callgate_clients::survey::Entry;
use callgate_redaction::Masker;
use callgate_wiring::view::LaunchNote;
use callgate_wiring::{diff_lines, masker};

use crate::screen::{self, Screen};

/// Names in one sentence.
const NAMED: usize = 6;

/// The path as people write it.
pub(in crate::commands) fn path(path: &Path) -> String {
    let home = std::env::home_dir();
    let short = home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    screen::harmless(&match short {
        Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        None => path.display().to_string(),
    })
}

/// The name of an entry as a shell takes it.
pub(in crate::commands) fn name(name: &str) -> String {
    if name.is_empty() { "(no name)".to_owned() } else { screen::quoted(name) }
}

/// `a, b`; many of them as their number.
pub(in crate::commands) fn names(names: &[String]) -> String {
    match names.len() {
        0..=NAMED => names.iter().map(|one| name(one)).collect::<Vec<_>>().join(", "),
        many => screen::count(many, "server"),
    }
}

/// What an entry starts, in one line.
pub(in crate::commands) fn command(entry: &Entry) -> String {
    let Some(local) = entry.local() else { return String::new() };
    let words: Vec<_> = local.words().map(str::to_owned).collect();
    let words = masker([entry]).command(&words);
    words.iter().map(|word| screen::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// What an edit changes, line by line.
pub(in crate::commands) fn diff(screen: &Screen, file: &Path, texts: (&str, &str), entries: &[Entry]) {
    masked_diff(screen, file, texts, &masker(entries));
}

pub(in crate::commands) fn masked_diff(screen: &Screen, file: &Path, texts: (&str, &str), masker: &Masker) {
    let name = path(file);
    let before = format!("{name} (now)");
    for line in diff_lines(texts, (&before, &name), masker) {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("---") || line.starts_with("+++") => screen::BOLD,
            Some(b'+') => screen::GOOD,
            Some(b'-') => screen::BAD,
            Some(b'@') => screen::ACCENT,
            _ => screen::DIM,
        };
        screen.line(&screen.paint(style, &screen::harmless(&line.replace('\t', "    "))));
    }
}

/// How servers are started, where there is something to say: one line for each thing, and what to do about it.
pub(in crate::commands) fn launch_notes(screen: &Screen, notes: &[LaunchNote]) {
    for note in notes {
        let head =
            format!("{}: {} ({}): {}", note.entry, screen::quoted(&note.quote), note.place, note.words);
        let style = if note.grave { screen::WARN } else { screen::DIM };
        screen.line(&screen.paint(style, &screen::harmless(&head)));
        screen.line(&screen.paint(screen::DIM, &format!("  {}", note.fix)));
    }
}
