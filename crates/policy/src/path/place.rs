//! A place in a file system as a root and names, by the rules of either kind of system.
//!
//! Only text: nothing here looks at a disk. What Windows would understand in a way of its own (devices, streams, names
//! with dots at the end) is an error, not a guess.

use std::path::Path;

use callgate_protocol::fold::fold;

use crate::files::Flavour;

/// Why a text names no place that could be judged, to be read after "args.path".
pub(super) type Unclear = &'static str;

/// Where a path starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Root {
    Slash,
    /// Upper case.
    Drive(char),
    /// A server's share, in lower case.
    Share(String, String),
}

/// An absolute path in names. Before [`resolved`](Place::resolved) `..` is a name like the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    root: Root,
    names: Vec<String>,
}

/// How a place stands to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Inside,
    Outside,
    Unclear(Unclear),
}

/// An absolute path, or what is left of it below the folder where relative paths start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Absolute(Place),
    Relative(Vec<String>),
    /// From the root of a drive that is not named.
    Rooted(Vec<String>),
}

impl Written {
    pub(super) fn read(text: &str, flavour: Flavour) -> Result<Written, Unclear> {
        match flavour {
            Flavour::Unix => unix(text),
            Flavour::Windows => windows(text),
        }
    }
}

impl Place {
    /// A path that the system itself gave.
    pub(super) fn of(path: &Path, flavour: Flavour) -> Result<Place, Unclear> {
        match Written::read(path.to_str().ok_or("is at a place whose name is not valid Unicode")?, flavour)? {
            Written::Absolute(place) => Ok(place),
            Written::Relative(_) | Written::Rooted(_) => Err("is at a place that cannot be told"),
        }
    }

    pub(super) fn below(&self, names: Vec<String>) -> Place {
        let mut place = self.clone();
        place.names.extend(names);
        place
    }

    pub(super) fn at_root(&self, names: Vec<String>) -> Place {
        Place { root: self.root.clone(), names }
    }

    /// Without `..`, by the text alone.
    pub(super) fn resolved(&self) -> Place {
        let mut names: Vec<String> = Vec::with_capacity(self.names.len());
        for name in &self.names {
            if name == ".." {
                names.pop();
            } else {
                names.push(name.clone());
            }
        }
        Place { root: self.root.clone(), names }
    }

    pub(super) fn text(&self) -> String {
        match &self.root {
            Root::Slash => format!("/{}", self.names.join("/")),
            Root::Drive(letter) => format!("{letter}:\\{}", self.names.join("\\")),
            Root::Share(server, share) => format!("\\\\{server}\\{share}\\{}", self.names.join("\\")),
        }
    }

    /// Is some name of the form that Windows makes up for long names?
    pub(super) fn has_short_names(&self) -> bool {
        matches!(self.root, Root::Drive(_) | Root::Share(..)) && self.names.iter().any(|name| is_short(name))
    }

    /// `/proc`, `/dev/fd`: links that lead elsewhere for each process that follows them; `/.vol`: files by number;
    /// `/System/Volumes/Data`: a second way to every file of a Mac.
    pub(super) fn is_nowhere_in_particular(&self) -> Option<Unclear> {
        let starts_with = |start: &[&str]| {
            self.names.len() >= start.len()
                && self.names.iter().zip(start).all(|(name, wanted)| name.eq_ignore_ascii_case(wanted))
        };
        if self.root != Root::Slash {
            return None;
        }
        if starts_with(&["System", "Volumes", "Data"]) {
            return Some("goes through /System/Volumes/Data, which holds every file a second time");
        }
        let elsewhere = [&["proc"][..], &[".vol"], &["dev", "fd"]].into_iter().any(starts_with);
        elsewhere.then_some("leads elsewhere for each process")
    }

    /// Names are compared whole, so that `/a/bc` is not inside `/a/b`.
    pub(super) fn relation(&self, folder: &Place, folds_case: bool) -> Relation {
        match (&self.root, &folder.root) {
            (a, b) if a == b => {}
            // The share may be one of this very machine's.
            (Root::Share(..), Root::Drive(_)) | (Root::Drive(_), Root::Share(..)) => {
                return Relation::Unclear("is on a share, which may be any folder");
            }
            (Root::Share(..), Root::Share(..)) => {
                return Relation::Unclear("is on another share, which may be the same folder");
            }
            _ => return Relation::Outside,
        }
        let starts = |same: fn(&str, &str) -> bool| {
            self.names.len() >= folder.names.len()
                && self.names.iter().zip(&folder.names).all(|(a, b)| same(a, b))
        };
        if starts(|a, b| a == b) || (folds_case && starts(|a, b| a.to_lowercase() == b.to_lowercase())) {
            Relation::Inside
        } else if folds_case && starts(|a, b| fold(a) == fold(b)) {
            Relation::Unclear("is spelled so that the file system may take it for another")
        } else {
            Relation::Outside
        }
    }
}

fn unix(text: &str) -> Result<Written, Unclear> {
    if drive(text).is_some() {
        return Err("is a Windows path, which leads nowhere here");
    }
    let names =
        || text.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect::<Vec<_>>();
    if text.starts_with('/') {
        return Ok(Written::Absolute(Place { root: Root::Slash, names: names() }));
    }
    Ok(Written::Relative(names()))
}

fn windows(text: &str) -> Result<Written, Unclear> {
    let text = text.replace('/', "\\");
    if let Some(verbatim) = text.strip_prefix(r"\\?\") {
        return self::verbatim(verbatim);
    }
    if text.starts_with(r"\\.") || text.starts_with(r"\??\") || text.starts_with(r"\\?") {
        return Err("names a device");
    }
    if let Some(share) = text.strip_prefix(r"\\") {
        return share_root(share, names(share)?);
    }
    if let Some(letter) = drive(&text) {
        let rest = &text[2..];
        if !rest.starts_with('\\') {
            return Err("is relative to a drive's current folder, which is not known");
        }
        let root = Root::Drive(letter);
        return Ok(Written::Absolute(Place { root, names: names(rest)? }));
    }
    let names = names(&text)?;
    Ok(if text.starts_with('\\') { Written::Rooted(names) } else { Written::Relative(names) })
}

/// After `\\?\` Windows takes every name as it stands.
fn verbatim(text: &str) -> Result<Written, Unclear> {
    if text.split('\\').any(|name| matches!(name, "." | "..")) {
        return Err("names . or .. where they are no way up");
    }
    if let Some(share) = text.get(..4).filter(|start| start.eq_ignore_ascii_case(r"UNC\")) {
        let share = &text[share.len()..];
        return share_root(share, names(share)?);
    }
    match drive(text) {
        Some(letter) if text[2..].starts_with('\\') => {
            Ok(Written::Absolute(Place { root: Root::Drive(letter), names: names(&text[2..])? }))
        }
        _ => Err("names a device"),
    }
}

fn share_root(text: &str, names: Vec<String>) -> Result<Written, Unclear> {
    let mut names = names.into_iter();
    match (names.next(), names.next()) {
        (Some(server), Some(share)) if !text.starts_with('\\') && server != ".." && share != ".." => {
            let root = Root::Share(server.to_lowercase(), share.to_lowercase());
            Ok(Written::Absolute(Place { root, names: names.collect() }))
        }
        _ => Err("names a server, but no share on it"),
    }
}

fn drive(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    (chars.next() == Some(':')).then(|| letter.to_ascii_uppercase())
}

fn names(text: &str) -> Result<Vec<String>, Unclear> {
    let mut names = Vec::new();
    for name in text.split('\\') {
        match name {
            "" | "." => continue,
            ".." => {}
            name if name.contains(':') => return Err("names a stream inside a file"),
            name if name.ends_with(['.', ' ']) => {
                return Err("holds a name with a dot or a blank at its end, which Windows drops");
            }
            name if name.contains(['<', '>', '"', '|', '?', '*']) => {
                return Err("holds characters that no file name has");
            }
            name if is_device(name) => return Err("names a device"),
            _ => {}
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// `NUL`, `nul.txt`, `COM1 .log`: devices in every folder.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$")
        || stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")).is_some_and(|port| {
            matches!(port, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
        })
}

/// `PROGRA~1`, `LONGFI~2.TXT`
fn is_short(name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let Some((start, number)) = stem.rsplit_once('~') else { return false };
    !start.is_empty()
        && stem.chars().count() <= 8
        && extension.chars().count() <= 3
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}
