//! Clients' files on a screen: nothing secret, nothing that a terminal would obey.

use std::path::Path;

use callgate_clients::survey::Entry;
use callgate_policy::diff::unified;
use callgate_store::mask::{self, Masker};

use crate::screen::{self, Screen};

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

/// What an entry starts, in one line.
pub(in crate::commands) fn command(entry: &Entry) -> String {
    let Some(local) = entry.local() else { return String::new() };
    let words: Vec<_> = local.words().map(str::to_owned).collect();
    let words = masker(std::slice::from_ref(entry)).command(&words);
    words.iter().map(|word| screen::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// What an edit changes, line by line.
pub(in crate::commands) fn diff(screen: &Screen, file: &Path, texts: (&str, &str), entries: &[Entry]) {
    let masker = masker(entries);
    let name = path(file);
    let before = format!("{name} (now)");
    for line in unified(texts.0, texts.1, (&before, &name)).lines() {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("---") || line.starts_with("+++") => screen::BOLD,
            Some(b'+') => screen::GOOD,
            Some(b'-') => screen::BAD,
            Some(b'@') => screen::ACCENT,
            _ => screen::DIM,
        };
        let line = masker.keep_text(line).replace('\t', "    ");
        screen.line(&screen.paint(style, &screen::harmless(&line)));
    }
}

/// Knows the values of every variable that an entry sets, whatever they look like, and the arguments that follow a telling
/// flag: in a file they stand apart from it.
fn masker(entries: &[Entry]) -> Masker {
    let mut secrets = Vec::new();
    for local in entries.iter().filter_map(Entry::local) {
        let variables = || local.env.iter().map(|(name, value)| (name, &value.value));
        secrets.extend(mask::secret_values(variables().map(|(name, value)| (name.into(), value.into()))));
        // A folder is no secret, and masked it would make every path below it unreadable.
        secrets.extend(
            variables().map(|(_, value)| value).filter(|value| !Path::new(value).is_absolute()).cloned(),
        );
        let words: Vec<_> = local.words().map(str::to_owned).collect();
        let shown = Masker::default().command(&words);
        let whole = words.into_iter().zip(shown).filter(|(_, shown)| shown.starts_with("[masked, "));
        secrets.extend(whole.map(|(word, _)| word));
    }
    Masker::new(&secrets)
}
