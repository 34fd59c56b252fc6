//! One spelling of a URI for one kind of reader.

use super::host;

/// What a reader does with the steps of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Steps {
    /// Nothing: the address is a name.
    Literal,
    /// `.` and `..` are taken, an empty step is a step.
    Resolved,
    /// `.` and `..` are taken, doubled slashes are one.
    Merged,
}

/// Which kind of reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    steps: Steps,
    /// What follows `?` or `#` is cut off; otherwise it is a part of the path.
    bare: bool,
    /// The user before the `@` of a host is cut off.
    anonymous: bool,
}

const fn shape(steps: Steps, bare: bool, anonymous: bool) -> Shape {
    Shape { steps, bare, anonymous }
}

impl Shape {
    pub(super) const ALL: [Shape; 12] = [
        shape(Steps::Literal, false, false),
        shape(Steps::Literal, false, true),
        shape(Steps::Literal, true, false),
        shape(Steps::Literal, true, true),
        shape(Steps::Resolved, false, false),
        shape(Steps::Resolved, false, true),
        shape(Steps::Resolved, true, false),
        shape(Steps::Resolved, true, true),
        shape(Steps::Merged, false, false),
        shape(Steps::Merged, false, true),
        shape(Steps::Merged, true, false),
        shape(Steps::Merged, true, true),
    ];

    /// Those that can differ for this text. Where a reader has nothing to cut off or to resolve, it says what the plainest
    /// one says.
    pub(super) fn that_matter(text: &str) -> impl Iterator<Item = Shape> {
        let (query, user) = (text.contains(['?', '#']), text.contains('@'));
        let steps = text.contains("//") || text.contains("/.") || text.contains("./") || text.contains(":.");
        Shape::ALL.into_iter().filter(move |shape| {
            (query || !shape.bare) && (user || !shape.anonymous) && (steps || shape.steps == Steps::Literal)
        })
    }

    /// Nothing is cut off.
    pub(super) fn is_whole(self) -> bool {
        !self.bare && !self.anonymous
    }
}

/// Schemes whose addresses are read leniently by browsers and their like, and their usual ports.
const LENIENT: [(&str, &str); 5] =
    [("http", "80"), ("https", "443"), ("ws", "80"), ("wss", "443"), ("ftp", "21")];

pub(super) fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// What follows `scheme:`, in any case.
pub(super) fn after_scheme<'t>(text: &'t str, scheme: &str) -> Option<&'t str> {
    text.split_once(':').filter(|(found, _)| found.eq_ignore_ascii_case(scheme)).map(|(_, rest)| rest)
}

/// `db://host/x` for `db://host:99/x`. Nothing where there is no port, or where it is known which one is the usual.
pub(super) fn without_port(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))?;
    let known = |(lenient, _): &(&str, &str)| scheme.eq_ignore_ascii_case(lenient);
    let after = rest.strip_prefix("//")?;
    if scheme.eq_ignore_ascii_case("file") || LENIENT.iter().any(known) {
        return None;
    }
    let (authority, tail) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    let (host, port) = authority.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    is_port.then(|| format!("{scheme}://{host}{tail}"))
}

/// Where the host of `https://good\@evil/x` or `https://good#@evil/x` ends is a matter of taste.
fn has_doubtful_host(rest: &str) -> bool {
    let after = rest.trim_start_matches(['/', '\\']);
    let before_path = after.split('/').next().unwrap_or(after);
    let ended = before_path.find(['?', '#']);
    before_path.contains('\\') || ended.is_some_and(|at| before_path[at..].contains('@'))
}

/// A name without the dots and blanks that Windows drops.
pub(super) fn without_tail(name: &str) -> &str {
    let unblanked = name.trim_end_matches(' ');
    if matches!(unblanked, "." | "..") {
        return unblanked;
    }
    let trimmed = name.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { name } else { trimmed }
}

pub(super) fn spell(text: &str, shape: Shape) -> Result<String, &'static str> {
    let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(walk(cut(text, shape), shape));
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" {
        return Ok(file(rest, shape));
    }
    let usual = LENIENT.iter().find(|(lenient, _)| *lenient == scheme).map(|(_, port)| *port);
    if usual.is_some() && has_doubtful_host(rest) {
        return Err("has a host that readers do not agree on");
    }
    let slashed = rest.replace('\\', "/");
    let hierarchical = match usual {
        Some(_) => Some(slashed.trim_start_matches('/')),
        None => rest.strip_prefix("//"),
    };
    let Some(after) = hierarchical else {
        return Ok(format!("{scheme}:{}", walk(cut(rest, shape), shape)));
    };
    let end = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, tail) = after.split_at(end);
    let authority = host::spell(authority, usual, shape.anonymous)?;
    Ok(format!("{scheme}://{authority}{}", rooted(cut(tail, shape), shape)))
}

/// A host that is no other machine: none, this one, or a drive where a host should be.
pub(super) fn is_local(host: &str) -> bool {
    let drive = matches!(host.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic());
    host.is_empty() || drive || host.trim_end_matches('.').eq_ignore_ascii_case("localhost")
}

/// `file:/x`, `file:///x`, `file://localhost/x`, `file:///C|/x`, `file://C:/x`: one form for each place.
fn file(rest: &str, shape: Shape) -> String {
    let rest = cut(rest, shape);
    let (host, path) = match rest.strip_prefix("//") {
        Some(after) => after.find('/').map_or((after, ""), |at| after.split_at(at)),
        None => ("", rest),
    };
    let host = host.trim_end_matches('.').to_lowercase();
    let path = match host.as_bytes() {
        [letter, b':' | b'|'] if letter.is_ascii_alphabetic() => {
            return file(&format!("///{host}{path}"), shape);
        }
        _ => rooted(path, shape),
    };
    let host = if host == "localhost" { String::new() } else { host };
    let mut path = path;
    if let [b'/', letter, b':' | b'|', ..] = path.as_bytes()
        && letter.is_ascii_alphabetic()
        && matches!(path.as_bytes().get(3), None | Some(b'/'))
    {
        path = format!("/{}:{}", char::from(letter.to_ascii_lowercase()), &path[3..]);
    }
    format!("file://{host}{path}")
}

fn cut(text: &str, shape: Shape) -> &str {
    if shape.bare { text.split(['?', '#']).next().unwrap_or(text) } else { text }
}

fn rooted(path: &str, shape: Shape) -> String {
    if path.starts_with('/') { walk(path, shape) } else { walk(&format!("/{path}"), shape) }
}

fn walk(path: &str, shape: Shape) -> String {
    if shape.steps == Steps::Literal {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    let mut folder = false;
    for step in path.strip_prefix('/').unwrap_or(path).split('/') {
        folder = matches!(step, "" | "." | "..");
        match step {
            "." => {}
            "" if shape.steps == Steps::Merged => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    // An empty last step stands for the slash at the end already.
    let ends = folder && !steps.is_empty() && steps.last() != Some(&"");
    format!("{}{}{}", if absolute { "/" } else { "" }, steps.join("/"), if ends { "/" } else { "" })
}
