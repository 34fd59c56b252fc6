//! What a text looks like, to any reader that might open it: a path, an address.
//!
//! Readers decode percent signs once, more often, or not at all, take `\` for `/`, and drop what cannot be seen. A text has
//! the looks of each of these readings. One that cannot be decoded for sure looks like everything, so that whoever judges it
//! refuses it.

use crate::address;
use crate::file::ArgumentKind;
use crate::path;
use crate::percent;

/// Schemes that need no slashes behind them.
const BARE: [&str; 7] = ["file", "data", "javascript", "blob", "about", "view-source", "chrome"];

/// Longer texts, without what surrounds them, look like nothing: no system takes such a path, and no browser such an address.
const LONGEST: usize = 64 << 10;

/// Has any reading of this one line the looks of this kind?
pub(super) fn like(kind: ArgumentKind, text: &str) -> bool {
    let text = text.trim_matches(|c: char| is_unseen(c) || c.is_whitespace() || path::QUOTES.contains(&c));
    if text.len() > LONGEST {
        return false;
    }
    if text.contains(['\n', '\r']) {
        return is_broken_address(kind, text);
    }
    let seen = |text: &str| match kind {
        ArgumentKind::Paths => is_path(text),
        ArgumentKind::Urls => is_url(text),
    };
    any_reading(text, seen)
}

/// An address in several lines, which are one to a browser. Words that begin with an address are no address, nor is a list of
/// settings: those have a blank somewhere, and it has none, or its scheme itself is broken, or goes on with what only an address does.
fn is_broken_address(kind: ArgumentKind, text: &str) -> bool {
    let opened = address::as_opened(text);
    let is_one = match kind {
        ArgumentKind::Paths => is_file_url(&opened),
        ArgumentKind::Urls => is_url(&opened),
    };
    let Some((before, after)) = text.split_once(':') else { return false };
    let is_local =
        BARE.contains(&before.to_ascii_lowercase().as_str()) && !after.starts_with(char::is_whitespace);
    is_one && (!opened.contains(' ') || before.contains(['\n', '\r']) || is_local)
}

/// Is there more than one name in it?
pub(super) fn holds_separator(text: &str) -> bool {
    any_reading(text, |text| text.contains(['/', '\\']))
}

fn any_reading(text: &str, seen: impl Fn(&str) -> bool) -> bool {
    if !text.contains('%') {
        return seen(&shown(text));
    }
    percent::levels(text).map_or(true, |levels| levels.iter().any(|level| seen(&shown(level))))
}

/// Without what some readers drop.
fn shown(text: &str) -> String {
    path::plain_separators(text).chars().filter(|c| !is_unseen(*c)).collect()
}

fn is_unseen(c: char) -> bool {
    c.is_control() || path::is_invisible(c)
}

/// Absolute, in a home folder, in a folder that a variable names, or going up.
fn is_path(text: &str) -> bool {
    const STARTS: [&str; 4] = ["/", "./", ".\\", "\\\\"];
    let drive = matches!(text.as_bytes(), [c, b':', b'/' | b'\\', ..] if c.is_ascii_alphabetic());
    drive
        || starts_with_variable(text)
        || starts_in_home(text)
        || starts_at_a_root_of_windows(text)
        || goes_up(text)
        || STARTS.iter().any(|start| text.starts_with(start))
        || is_file_url(text)
}

/// `..`, `a/../b`, `a\..`, `C:..\b`
fn goes_up(text: &str) -> bool {
    text.split(['/', '\\', ':']).any(|name| name.trim() == "..")
}

/// `\Windows\System32`. One name after a backslash is mostly an escape (`\d+`), and so is a letter by itself (`\bword\b`).
fn starts_at_a_root_of_windows(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('\\') else { return false };
    let names: Vec<&str> = rest.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
    let is_name =
        |name: &&str| name.chars().nth(1).is_some() && !name.contains(|c| "*+?[](){}|^<>\"".contains(c));
    names.len() > 1 && names.iter().all(is_name)
}

/// `file:…`, also inside of another one: `view-source:file:///x`.
fn is_file_url(text: &str) -> bool {
    let mut rest = text;
    while let Some((name, after)) = scheme(rest) {
        if name == "file" {
            return true;
        }
        rest = after;
    }
    false
}

/// `~`, `~/x`, `~root`, `~root/x`
fn starts_in_home(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('~') else { return false };
    let (person, below) = match rest.split_once(['/', '\\']) {
        Some((person, _)) => (person, true),
        None => (rest, false),
    };
    // `~5` is about five.
    let is_name = person.starts_with(|c: char| c.is_alphabetic() || c == '_');
    !person.contains(char::is_whitespace) && (below || person.is_empty() || is_name)
}

/// `$HOME`, `${HOME}/x`, `$env:TEMP`, `%USERPROFILE%`
fn starts_with_variable(text: &str) -> bool {
    if !text.starts_with(['$', '%']) {
        return false;
    }
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c));
    let alone = match text.strip_prefix('$') {
        Some(rest) => is_name(rest) && !rest.contains(char::is_whitespace),
        None => text[1..].split_once('%').is_some_and(|(name, _)| is_name(name)),
    };
    alone || text.contains(['/', '\\'])
}

/// With a scheme, as those who open addresses read it.
pub(super) fn is_url(text: &str) -> bool {
    const LENIENT: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];
    scheme(text).is_some_and(|(scheme, rest)| {
        rest.starts_with("//")
            || BARE.contains(&scheme.as_str())
            || (LENIENT.contains(&scheme.as_str()) && rest.starts_with(['/', '\\']))
    })
}

fn scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let good = scheme.len() > 1
        && scheme.len() <= 32
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    good.then(|| (scheme.to_ascii_lowercase(), rest))
}
