//! `inside` and `not_inside`: does a path lead into a folder?
//!
//! A path has several readings, because readers differ: percent signs decoded or not, `..` taken before links or after.
//! All of them must agree; where they do not, the path cannot be judged, and what cannot be judged is refused.
//! The disk is asked through [`Files`] only.

mod place;

use std::path::{Path, PathBuf};

use crate::files::{Files, Flavour};
use crate::percent;
use place::{Place, Relation, Unclear, Written};

/// Longer than any system takes.
const LONGEST: usize = 32 * 1024;

/// Is the path in one of the folders? The error says why that cannot be told, to be read after the argument's name.
pub(crate) fn is_inside(path: &str, folders: &[String], files: &dyn Files) -> Result<bool, String> {
    let places = readings(path, files)?;
    let mut found: Option<bool> = None;
    for place in &places {
        let inside = in_any(place, folders, files)?;
        if found.is_some_and(|found| found != inside) {
            return Err("leads to different places, depending on who reads it".to_owned());
        }
        found = Some(inside);
    }
    found.ok_or_else(|| "names no place".to_owned())
}

/// Is it an absolute path that everybody reads alike, as far as its spelling goes?
pub(crate) fn is_plain(path: &str, flavour: Flavour) -> bool {
    let text = plain_separators(path);
    let absolute = match flavour {
        Flavour::Unix => text.starts_with('/') && !text.contains('\\'),
        Flavour::Windows => matches!(Written::read(&text, flavour), Ok(Written::Absolute(_))),
    };
    absolute
        && text == path
        && path.len() <= LONGEST
        && path.trim() == path
        && !path.ends_with(QUOTES)
        && !path.ends_with(is_invisible)
        && !path.contains(['%', '$', '~'])
        && !path.chars().any(char::is_control)
        && path.split(['/', '\\']).all(|name| name != "..")
}

/// One folder that holds it is enough; otherwise one that cannot be judged leaves the matter open.
fn in_any(place: &Place, folders: &[String], files: &dyn Files) -> Result<bool, String> {
    let mut unclear = None;
    for text in folders {
        match folder(text, files).map(|folder| place.relation(&folder, files.folds_case())) {
            Ok(Relation::Inside) => return Ok(true),
            Ok(Relation::Outside) => {}
            Ok(Relation::Unclear(why)) => unclear = Some(why.to_owned()),
            Err(why) => unclear = Some(format!("cannot be compared with the folder {text:?}, which {why}")),
        }
    }
    unclear.map_or(Ok(false), Err)
}

/// Where a folder of a policy leads.
fn folder(text: &str, files: &dyn Files) -> Result<Place, String> {
    let written = match from_home(text, files)? {
        Some(place) => place,
        None => match Written::read(text, files.flavour())? {
            Written::Absolute(place) => place,
            Written::Relative(_) | Written::Rooted(_) => return Err("is not an absolute path".to_owned()),
        },
    };
    real(&written.resolved(), files)
}

/// Every place that somebody might take this text for.
fn readings(text: &str, files: &dyn Files) -> Result<Vec<Place>, String> {
    if text.is_empty() {
        return Err("is empty, which names no place".to_owned());
    }
    if text.len() > LONGEST {
        return Err("is longer than any path".to_owned());
    }
    let mut texts = match url(text)? {
        Some(url) => url_paths(url, files.flavour())?,
        None => {
            let levels = percent::levels(text)?;
            for decoded in &levels[1..] {
                if url(decoded)?.is_some() {
                    return Err("becomes an address when it is decoded".to_owned());
                }
            }
            levels
        }
    };
    let plain: Vec<String> = texts.iter().map(|text| plain_separators(text)).collect();
    texts.extend(plain);
    let visible = |text: &String| text.chars().filter(|c| !is_invisible(*c)).collect();
    let shown: Vec<String> = texts.iter().filter(|text| text.contains(is_invisible)).map(visible).collect();
    texts.extend(shown);
    // A server that was written for Windows takes either slash.
    let slashed: Vec<String> =
        texts.iter().filter(|text| text.contains('\\')).map(|text| text.replace('\\', "/")).collect();
    texts.extend(slashed);
    texts.sort_unstable();
    texts.dedup();
    let mut places = Vec::new();
    for text in &texts {
        for written in absolute(text, files)? {
            if let Some(why) = written.is_nowhere_in_particular() {
                return Err(why.to_owned());
            }
            for place in [real(&written.resolved(), files)?, real(&written, files)?] {
                if let Some(why) = place.is_nowhere_in_particular() {
                    return Err(why.to_owned());
                }
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
    }
    Ok(places)
}

/// Characters that some readers take for `/`, `\` and `.`.
pub(crate) fn plain_separators(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{ff0f}' | '\u{2215}' | '\u{2044}' => '/',
        '\u{ff3c}' | '\u{2216}' => '\\',
        '\u{ff0e}' | '\u{2024}' => '.',
        c => c,
    };
    text.chars().map(plain).collect::<String>().replace('\u{2025}', "..")
}

/// Where it may start: below the home folder, and for servers that do not know `~` wherever relative paths start.
fn absolute(text: &str, files: &dyn Files) -> Result<Vec<Place>, String> {
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffd}')) {
        return Err("holds control characters".to_owned());
    }
    if text.trim() != text {
        return Err("has blanks at its ends, which some readers drop".to_owned());
    }
    if text.starts_with(is_invisible) || text.ends_with(is_invisible) {
        return Err("has invisible characters at its ends, which some readers drop".to_owned());
    }
    if text.starts_with(QUOTES) || text.ends_with(QUOTES) {
        return Err("has quotes at its ends, which some readers drop".to_owned());
    }
    if holds_variable(text) {
        return Err("holds a variable, whose value is not known".to_owned());
    }
    let here = || -> Result<Place, String> {
        let here = files.here().ok_or("is relative, and where it starts is not known")?;
        Ok(Place::of(&here, files.flavour())?)
    };
    let from_home = from_home(text, files)?;
    let written = match Written::read(text, files.flavour())? {
        Written::Absolute(place) => place,
        Written::Relative(names) if from_home.is_some() && files.here().is_none() => {
            if names.iter().any(|name| name == "..") {
                return Err("goes up from a ~ that not every server knows".to_owned());
            }
            return Ok(from_home.into_iter().collect());
        }
        Written::Relative(names) => here()?.below(names),
        Written::Rooted(names) => here()?.at_root(names),
    };
    Ok(from_home.into_iter().chain([written]).collect())
}

pub(crate) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Shown as nothing, and dropped by some readers.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// `$HOME/x`, `a/${x}`, `$(x)`, `%USERPROFILE%\x`
fn holds_variable(text: &str) -> bool {
    let starts_name = |c: char| c.is_ascii_alphabetic() || c == '_';
    let shell = text.split('$').skip(1).any(|rest| rest.starts_with(|c| starts_name(c) || "{(".contains(c)));
    // Between two percent signs; `%C3%` is a byte.
    let mut parts = text.split('%').skip(1).collect::<Vec<_>>();
    parts.pop();
    let percent = parts.iter().any(|name| {
        let is_byte = name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')');
        name.starts_with(starts_name) && name.chars().all(is_name) && !is_byte
    });
    text.starts_with('$') || shell || percent
}

fn from_home(text: &str, files: &dyn Files) -> Result<Option<Place>, String> {
    let Some(rest) = text.strip_prefix('~') else { return Ok(None) };
    let separated = rest.starts_with('/') || (files.flavour() == Flavour::Windows && rest.starts_with('\\'));
    if !rest.is_empty() && !separated {
        return Err("starts in another person's home folder".to_owned());
    }
    let home = files.home().ok_or("starts in a home folder that is not known")?;
    let home = Place::of(&home, files.flavour())?;
    match Written::read(rest.get(1..).unwrap_or(""), files.flavour())? {
        Written::Relative(names) => Ok(Some(home.below(names))),
        // `~//x`: a shell goes below the home folder, others begin at the root.
        Written::Absolute(_) | Written::Rooted(_) => Err("has a root after its ~".to_owned()),
    }
}

/// Where the disk says that it leads.
fn real(place: &Place, files: &dyn Files) -> Result<Place, String> {
    let found: PathBuf = files.real(Path::new(&place.text()))?;
    let found = Place::of(&found, files.flavour())?.resolved();
    if found.has_short_names() {
        return Err("holds a short name such as PROGRA~1, and what that stands for cannot be told".to_owned());
    }
    Ok(found)
}

/// What stands after `file:`. Other addresses are no paths, nor are those with one inside: `view-source:file:///x`.
fn url(text: &str) -> Result<Option<&str>, Unclear> {
    let mut left = text;
    while let Some((scheme, rest)) = left.split_once(':') {
        let is_file = scheme.eq_ignore_ascii_case("file");
        if is_file && left.len() == text.len() {
            return Ok(Some(rest));
        }
        let is_scheme = scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        if is_file || (is_scheme && rest.starts_with("//")) {
            return Err("is an address, not a path");
        }
        if !is_scheme {
            break;
        }
        left = rest;
    }
    Ok(None)
}

/// The paths that a `file:` URL may stand for: with what follows `?` and `#`, and without.
fn url_paths(rest: &str, flavour: Flavour) -> Result<Vec<String>, Unclear> {
    // Who takes the whole text for a relative path finds `file:` to be a folder, and every `..` leads one step further up.
    let levels = percent::levels(rest)?;
    let goes_up = |text: &str| plain_separators(text).split(['/', '\\', '?', '#']).any(|step| step == "..");
    if levels.iter().any(|level| goes_up(level)) {
        return Err("is a file: URL with .. in it, which readers resolve differently");
    }
    let bare = rest.split(['?', '#']).next().unwrap_or_default();
    let mut paths = Vec::new();
    for text in [rest, bare] {
        let decoded = percent::levels(text)?;
        // Decoded once is what the standard says; where nothing is encoded, that is the text itself.
        let from = usize::from(decoded.len() > 1);
        for text in &decoded[from..] {
            paths.push(url_path(&text.replace('\\', "/"), flavour)?);
            if flavour == Flavour::Unix && text.contains('\\') {
                paths.push(url_path(text, flavour)?);
            }
        }
        // The host must not come out of the encoding.
        url_path(&text.replace('\\', "/"), flavour)?;
    }
    paths.dedup();
    Ok(paths)
}

fn url_path(text: &str, flavour: Flavour) -> Result<String, Unclear> {
    let path = match text.strip_prefix("//") {
        None => text.to_owned(),
        Some(after) => {
            let (host, path) = after.find('/').map_or((after, ""), |at| after.split_at(at));
            let windows = flavour == Flavour::Windows;
            match host.to_ascii_lowercase().as_str() {
                "" | "localhost" => path.to_owned(),
                // `file://C:/x`
                host if windows && drive_letter(host) => format!("/{host}{path}"),
                host if windows => format!("//{host}{path}"),
                _ => return Err("is on another host"),
            }
        }
    };
    if !path.starts_with('/') {
        return Err("is a file: URL without an absolute path");
    }
    if flavour == Flavour::Windows && path.get(1..3).is_some_and(drive_letter) {
        return Ok(format!("{}:{}", &path[1..2], &path[3..]));
    }
    Ok(path)
}

fn drive_letter(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}
