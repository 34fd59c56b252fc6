//! What stands before a name: does it lead to the folder that the name lies in?

use super::spelling::spelled_whole;

/// How surely what stands before a name leads to the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// By its full path.
    Full,
    /// From a person's own folder: `~/`, `$HOME/x/`.
    Person,
    /// From wherever a variable points: `$DIR/x/`.
    Variable,
    /// From this many parts of the folder's path: the rest is up to the working directory.
    From { parts: usize, bare: bool },
}

/// How `left`, the text up to a name, ends. `parent` are the parts of the path that it has to lead to.
pub(super) fn lead(left: &str, parent: &[String]) -> Option<Lead> {
    let quoteless = |text: String| {
        let text = text.replace(['"', '\'', '`', '^'], "");
        without_expansion(&text).to_owned()
    };
    // A backslash separates on Windows and escapes elsewhere.
    let slashed = quoteless(left.replace('\\', "/"));
    let escaped = quoteless(left.replace("\\\n", "").replace('\\', ""));
    // Slashes may be among the choices of a brace.
    let chosen =
        [chosen(&escaped, |choices| choices.next()), chosen(&escaped, |choices| choices.next_back())];
    [slashed, escaped]
        .into_iter()
        .chain(chosen)
        .filter_map(|text| full(&text, parent).or_else(|| by_words(&text, parent)))
        .min_by_key(|lead| match lead {
            Lead::Full => 0,
            Lead::Person => 1,
            Lead::Variable => 2,
            Lead::From { .. } => 3,
        })
}

/// Without `$@`, `$(…)`, `${…}` and `{x,` between the last slash and the name: they may stand for nothing.
fn without_expansion(text: &str) -> &str {
    if let Some(before) = text.strip_suffix("$@").or_else(|| text.strip_suffix("$*")) {
        return without_expansion(before);
    }
    // The name is one of several choices.
    if let Some(open) = text.rfind('{')
        && !text[open..].contains(['}', '/'])
        && !text[..open].ends_with('$')
    {
        return without_expansion(&text[..open]);
    }
    expansion_at_end(text).map_or(text, |start| without_expansion(&text[..start]))
}

/// Where the `$(…)` or `${…}` begins that a text ends with.
pub(super) fn expansion_at_end(text: &str) -> Option<usize> {
    text.ends_with([')', '}']).then_some(())?;
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | '}' => depth += 1,
            '(' | '{' if depth == 1 => return text[..at].strip_suffix('$').map(str::len),
            '(' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// With one of the choices in place of each `{a,b}`.
fn chosen<'t>(text: &'t str, choose: impl Fn(&mut std::str::Split<'t, char>) -> Option<&'t str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, (inside, after))) =
        rest.split_once('{').and_then(|(before, tail)| Some((before, tail.split_once('}')?)))
    {
        out.push_str(before);
        if before.ends_with('$') || !inside.contains(',') {
            out.extend(["{", inside, "}"]);
        } else {
            out.push_str(choose(&mut inside.split(',')).unwrap_or_default());
        }
        rest = after;
    }
    out + rest
}

/// The folder's path as it is, blanks included.
fn full(text: &str, parent: &[String]) -> Option<Lead> {
    let path = format!("/{}/", parent.join("/"));
    let tail = parts(text).join("/");
    let from = tail.len().checked_sub(path.len())?;
    let fits = tail.get(from..).is_some_and(|tail| tail.eq_ignore_ascii_case(&path));
    (fits && !parent.is_empty()).then_some(Lead::Full)
}

fn by_words(text: &str, parent: &[String]) -> Option<Lead> {
    let word = &text[word_start(text)..];
    let mut parts = parts(word);
    // Behind the last slash there is only the name.
    if parts.pop().is_some_and(|rest| !rest.is_empty()) {
        return None;
    }
    if parts.is_empty() {
        return Some(Lead::From { parts: parent.len(), bare: !word.starts_with("./") });
    }
    let first = parts[0].as_str();
    let absolute = is_root(first);
    let person = is_person(first);
    let variable = is_variable(first);
    let named = &parts[usize::from(absolute || person || variable)..];
    let named =
        if absolute && named.len() > parent.len() { &named[named.len() - parent.len()..] } else { named };
    let known = parent.len().checked_sub(named.len())?;
    if !named.iter().zip(&parent[known..]).all(|(part, wanted)| spelled_whole(part, wanted)) {
        return None;
    }
    match (absolute, person, variable) {
        (true, ..) => (known == 0).then_some(Lead::Full),
        (_, true, _) => Some(Lead::Person),
        (.., true) => Some(Lead::Variable),
        _ => Some(Lead::From { parts: known, bare: false }),
    }
}

/// `~`, `~me`, `$HOME` and its kin.
fn is_person(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    part.starts_with('~')
        || matches!(
            part.as_str(),
            "$home"
                | "${home}"
                | "%userprofile%"
                | "$userprofile"
                | "$env:userprofile"
                | "$env:home"
                | "${env:userprofile}"
        )
        || part.starts_with("${home:")
}

/// Where the word that `text` ends with begins. What is inside `${…}` and `$(…)` belongs to it.
fn word_start(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            '}' | ')' => depth += 1,
            '{' | '(' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ':' if text[..at].to_ascii_lowercase().ends_with("$env") => {}
            ' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | '<' | '>' | '=' | ',' | ':' | '{' | '(' => {
                return at + c.len_utf8();
            }
            _ => {}
        }
    }
    0
}

/// The parts of a path without `.` and `..` and doubled slashes; the first is empty for an absolute one.
pub(super) fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (at, part) in path.split('/').enumerate() {
        match part {
            "" | "." if at > 0 && at < last => {}
            "." if at == 0 && last > 0 => {}
            // Nobody knows what is above a variable: anything may be.
            ".." if parts.last().is_some_and(|p| is_variable(p)) => {}
            ".." if parts.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.into_iter().map(str::to_owned).collect()
}

/// The same without what makes it absolute: the empty part in front, or a drive.
pub(super) fn below_root(path: &str) -> Vec<String> {
    let mut parts = parts(path.replace('\\', "/").trim_end_matches('/'));
    if parts.first().is_some_and(|first| is_root(first)) {
        parts.remove(0);
    }
    parts
}

fn is_root(part: &str) -> bool {
    part.is_empty() || part.ends_with(':')
}

fn is_variable(part: &str) -> bool {
    part.starts_with('~') || part.contains('$') || part.contains('%')
}

/// How surely a text names a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    /// From wherever a variable points.
    Perhaps,
    /// By its path, or as a person's own folder.
    Surely,
}

/// Does some word of this text name the folder with these parts?
pub(super) fn names_folder(text: &str, folder: &[String]) -> Option<Named> {
    let peeled = text.replace(['"', '\'', '`', '^'], "").replace('\\', "/");
    let by_word = |word: &str| {
        let word = word.trim_end_matches('/').trim_start_matches("file://");
        let parts = parts(word);
        let (first, rest) = parts.split_first()?;
        let fits = rest
            .iter()
            .rev()
            .zip(folder.iter().rev())
            .all(|(part, wanted)| part.eq_ignore_ascii_case(wanted));
        let enough = if is_root(first) { rest.len() == folder.len() } else { is_variable(first) };
        let named = if is_root(first) || is_person(first) { Named::Surely } else { Named::Perhaps };
        (fits && enough && rest.len() <= folder.len()).then_some(named)
    };
    let words = peeled.split([' ', '\t', '\n', '\r', ';', '|', '&', '<', '>', '=', ',']).filter_map(by_word);
    words.chain(goes_home(text).then_some(Named::Surely)).max()
}

/// `cd` and nothing behind it.
fn goes_home(text: &str) -> bool {
    text.match_indices("cd").any(|(at, cd)| {
        let begins = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || ";&|({`".contains(c));
        let behind = text[at + cd.len()..].trim_start_matches([' ', '\t']);
        begins && behind.chars().next().is_none_or(|c| "\r\n;&|)}`".contains(c))
    })
}
