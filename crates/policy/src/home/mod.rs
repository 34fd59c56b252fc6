//! The built-in rule that keeps calls away from Callgate's own folder.
//!
//! A server that writes files or runs commands could be asked to change a policy. Where the folder has its usual name, any
//! text in the arguments that may spell that name is refused, wherever it stands: what leads to it (`~`, a variable,
//! `cd` in an earlier command, the working directory) need not be understood then. A folder of another name is known
//! by what stands before its name. Each text counts as it is and with its escapes undone.
//!
//! A first glance over the raw bytes settles nearly every call.

mod lead;
mod spelling;

use std::borrow::Cow;
use std::cell::OnceCell;

use callgate_protocol::json::Raw;
use memchr::{memchr, memchr_iter, memchr2_iter};

use crate::{address, percent};
use lead::{Lead, Named, below_root, expansion_at_end, lead, names_folder};
use spelling::{Effort, Spelled, behind_expansion, spelled};

/// The usual name, and how Windows shortens it.
const USUAL: &str = ".callgate";
const SHORTENED: &str = "callga~";
/// What lies in the folder, as far as little else is called that: behind a pattern it tells which folder is meant.
const INSIDE: [&str; 12] = [
    "policies",
    "control",
    "leases",
    "trees",
    "spool",
    "outbox",
    "ledger.json",
    "settings.json",
    "limits.db",
    "history.db",
    "search.db",
    "backups",
];
/// Whoever asks for the value of this variable asks for the folder.
const VARIABLE: &str = "callgate_home";
/// Where in the variable's name its rarest character stands.
const VARIABLE_JOINT: usize = 8;

#[derive(Clone, Debug)]
pub(crate) struct HomeGuard {
    /// The last part of the path.
    name: String,
    /// The parts before it.
    parent: Vec<String>,
    /// Is the name one that nothing else has?
    telling: bool,
    /// Where the server works, if that is above the folder: how many parts of its path that is.
    working_in: Option<usize>,
    /// How far before the name its path may begin.
    far: usize,
}

/// How a place where the name may be spelled begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// With the name's first letter.
    Literal,
    /// With a pattern that may stand for it.
    Pattern,
    /// With a value that nobody sees here: `${D}callgate`.
    Value,
}

/// Which folders above ours the arguments name, too: a relative path may start there.
struct Above<'a> {
    args: &'a str,
    parent: &'a [String],
    named: OnceCell<Vec<Option<Named>>>,
}

impl Above<'_> {
    fn is_named(&self, parts: usize, least: Named) -> bool {
        let find = || {
            (0..=self.parent.len())
                .map(|end| {
                    let named = |string| names_folder(&unescape(string), &self.parent[..end]);
                    strings(self.args).filter_map(named).max()
                })
                .collect()
        };
        self.named.get_or_init(find).get(parts).is_some_and(|named| *named >= Some(least))
    }
}

impl HomeGuard {
    /// `None` for a path that names nothing in particular.
    pub(crate) fn new(home: &str, working_in: Option<&str>) -> Option<HomeGuard> {
        let mut parent = below_root(home);
        let name = parent.pop().filter(|name| !name.is_empty())?;
        let telling = name.to_ascii_lowercase().starts_with(USUAL);
        let working_in = working_in.map(below_root).filter(|folder| parent.starts_with(folder));
        let working_in = working_in.map(|folder| folder.len());
        Some(HomeGuard { name, parent, telling, working_in, far: 1024 + 4 * home.len() })
    }

    pub(crate) fn is_named_in(&self, args: Raw<'_>) -> bool {
        let text = args.text();
        if self.telling && !may_be_named_in(text.as_bytes()) {
            return false;
        }
        let mut effort = Effort::for_text(text.as_bytes());
        let above = Above { args: text, parent: &self.parent, named: OnceCell::new() };
        strings(text).any(|string| {
            let plain = unescape(string);
            let undone = shell_escapes(&plain);
            // Browsers join an address that was broken before they decode it.
            let opened: Vec<String> =
                undone.iter().map(String::as_str).chain([&*plain]).flat_map(address::files_opened).collect();
            self.is_decoded_in(plain, &above, &mut effort)
                || opened.into_iter().any(|text| {
                    let mut effort = Effort::for_text(text.as_bytes());
                    self.is_decoded_in(text.into(), &above, &mut effort)
                })
        })
    }

    fn is_decoded_in(&self, mut reading: Cow<'_, str>, above: &Above<'_>, effort: &mut Effort) -> bool {
        // A text may be encoded more than once; each reading counts.
        for _ in 0..4 {
            if self.is_read_in(&reading, above, effort)
                || shell_escapes(&reading).is_some_and(|undone| self.is_read_in(&undone, above, effort))
            {
                return true;
            }
            match percent::decode(&reading) {
                Some(next) => reading = Cow::Owned(next),
                None => return false,
            }
        }
        false
    }

    fn is_read_in(&self, text: &str, above: &Above<'_>, effort: &mut Effort) -> bool {
        let text = shown(text);
        self.is_spelled_in(&text, above, effort)
            || address::files_opened(&text)
                .any(|text| self.is_spelled_in(&text, above, &mut Effort::for_text(text.as_bytes())))
    }

    fn is_spelled_in(&self, text: &str, above: &Above<'_>, effort: &mut Effort) -> bool {
        let bytes = text.as_bytes();
        if has_at(bytes, b'_', VARIABLE_JOINT, VARIABLE)
            || (self.telling && has_at(bytes, b'~', SHORTENED.len() - 1, SHORTENED))
        {
            return true;
        }
        let first = self.name.as_bytes()[0].to_ascii_lowercase();
        let named = bytes.iter().enumerate().any(|(at, byte)| {
            let start = match byte.to_ascii_lowercase() {
                byte if byte == first => Start::Literal,
                b'?' | b'[' if starts_a_part(bytes, at) => Start::Pattern,
                // A star that begins a pattern stands for no dot, in shells and most of what is like them.
                b'*' if !self.telling && starts_a_part(bytes, at) => Start::Pattern,
                b'$' | b'`' | b'%' if self.telling && starts_a_word(&text[..at]) => Start::Value,
                _ => return false,
            };
            if start == Start::Value {
                let below = text[..at].trim_end_matches(['"', '\'']).ends_with(['/', '\\']);
                if is_completed(bytes, at, effort) {
                    return true;
                } else if !below {
                    return false;
                }
            }
            match spelled(bytes, at, self.name.as_bytes(), effort) {
                Some((kind, end)) => self.is_meant(text, (at, end), (kind, start), above, effort),
                None => false,
            }
        });
        // What takes this long to follow was written to confuse.
        named || effort.is_spent()
    }

    /// The name may be spelled here: is it the folder's?
    fn is_meant(
        &self,
        text: &str,
        (at, end): (usize, usize),
        (kind, start): (Spelled, Start),
        above: &Above<'_>,
        effort: &mut Effort,
    ) -> bool {
        let left = &text[text.floor_char_boundary(at.saturating_sub(self.far))..at];
        let telling = self.telling && start == Start::Literal;
        if telling && begins_here(left, kind) {
            let inside = kind < Spelled::Wild && goes_inside(text.as_bytes(), end, effort);
            // What is nothing but a pattern is a regular expression as often.
            let near = || kind > Spelled::Bare || lead(left.trim_end_matches("../"), &self.parent).is_some();
            if kind >= Spelled::Wild || (inside && near()) {
                return true;
            }
        }
        let least = match start {
            Start::Literal if self.telling => Spelled::Bare,
            Start::Literal | Start::Pattern => Spelled::Hinted,
            Start::Value => Spelled::Wild,
        };
        if kind < least {
            return false;
        }
        match lead(left, &self.parent) {
            Some(Lead::Full | Lead::Person) => true,
            Some(Lead::Variable) => kind == Spelled::Plain,
            Some(Lead::From { parts, bare }) => {
                let named = match kind {
                    Spelled::Plain => Named::Perhaps,
                    Spelled::Hinted if telling => Named::Surely,
                    _ => return false,
                };
                let goes_on = matches!(text.as_bytes().get(end), Some(b'/' | b'\\'));
                begins_here(left, kind)
                    && ((self.working_in == Some(parts) && (!bare || goes_on))
                        || above.is_named(parts, named))
            }
            None => false,
        }
    }
}

/// Does the text hold this word, in whatever case? `rare` is the byte at `place` of it, by which it is looked for.
fn has_at(text: &[u8], rare: u8, place: usize, word: &str) -> bool {
    memchr_iter(rare, text).filter_map(|at| at.checked_sub(place)).any(|start| {
        text.get(start..start + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Is it all of the usual name but its dot that stands behind the value at `at`? The dot may be in there.
fn is_completed(text: &[u8], at: usize, effort: &mut Effort) -> bool {
    behind_expansion(text, at)
        .and_then(|behind| spelled(text, behind, &USUAL.as_bytes()[1..], effort))
        .is_some_and(|(kind, _)| kind >= Spelled::Wild)
}

/// Does the path go on, behind a name that ends at `end`, to something that lies in the folder?
fn goes_inside(text: &[u8], end: usize, effort: &mut Effort) -> bool {
    let slashes = text[end..].iter().take_while(|b| matches!(b, b'/' | b'\\' | b'"' | b'\'')).count();
    let from = end + slashes;
    text[end..from].iter().any(|b| matches!(b, b'/' | b'\\'))
        && text.get(from) != Some(&b'*')
        && INSIDE.iter().any(|name| {
            spelled(text, from, name.as_bytes(), effort).is_some_and(|(kind, _)| kind > Spelled::Bare)
        })
}

/// Escapes that could stand for a letter of the name, or a dot with something behind it that could be the rest. Each is looked
/// for in the text as it was sent, where a quote ends a string and a backslash is written twice.
fn may_be_named_in(text: &[u8]) -> bool {
    let after = |at: usize, behind: usize| text.get(at + behind).copied();
    let letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    let nothing = |byte: Option<u8>| matches!(byte, None | Some(b' ' | b'/' | b'.' | b'"' | b'_' | b'-'));
    memchr_iter(b'.', text).any(|at| match (after(at, 1), after(at, 2)) {
        (Some(b'c' | b'C'), Some(b'a' | b'A')) => true,
        (Some(b'c' | b'C'), next) => !letter(next) && !nothing(next),
        // The end of a line, or a tab: inside of an address they are nothing.
        (Some(b'\\'), Some(b'n' | b'r' | b't')) => {
            matches!(behind_breaks(&text[at + 1..]), Some(b'c' | b'C' | b'\\'))
        }
        (next, _) => !letter(next) && !nothing(next),
    }) || memchr_iter(b'\\', text).any(|at| match after(at, 1) {
        Some(b'u') => text[at + 2..].starts_with(b"00") && matches!(after(at, 4), Some(b'0'..=b'7')),
        Some(b'\\') => matches!(after(at, 2), Some(b'x' | b'u' | b'U' | b'0'..=b'7' | b'?' | b'[' | b'\\')),
        _ => false,
    }) || memchr_iter(b'%', text).any(|at| letter(after(at, 1)))
        || memchr2_iter(b'$', b'`', text).any(|at| after(at, 1) != Some(b'"'))
        || memchr_iter(b'~', text)
            .any(|at| behind_breaks(&text[at + 1..]).is_some_and(|byte| byte.is_ascii_digit()))
        || memchr_iter(b'/', text).any(|at| matches!(after(at, 1), Some(b'?' | b'[')))
        || memchr_iter(b'_', text).any(|at| {
            matches!(after(at, 1), Some(b'h' | b'H')) && at > 0 && matches!(text[at - 1], b'e' | b'E')
        })
}

/// What follows the tabs and ends of lines that `text` begins with, as JSON has them.
fn behind_breaks(mut text: &[u8]) -> Option<u8> {
    while let [b'\\', b'n' | b'r' | b't', rest @ ..] = text {
        text = rest;
    }
    text.first().copied()
}

/// May a part of a path begin at `at`? Behind a slash, with what may stand for nothing between.
fn starts_a_part(text: &[u8], at: usize) -> bool {
    // A line that goes on in the next.
    let joined = text[..at].ends_with(b"\\\n") || text[..at].ends_with(b"\\\r\n");
    joined || at > 0 && matches!(text[at - 1], b'/' | b'\\' | b'"' | b'\'' | b'`' | b'}' | b')' | b'@' | b'*')
}

/// May a word, or a part of a path, begin behind `left`?
fn starts_a_word(left: &str) -> bool {
    let before = left.trim_end_matches(['"', '\'']).chars().next_back();
    before.is_none_or(|c| c.is_whitespace() || "/\\=:;,|&<>({[".contains(c))
}

/// Does a name begin behind `left`? Not in the middle of another; but behind a variable, or an option.
fn begins_here(left: &str, kind: Spelled) -> bool {
    let Some(before) = left.chars().next_back() else { return true };
    match before {
        ')' | '}' => kind == Spelled::Plain || expansion_at_end(left).is_some(),
        '*' | '?' | ']' => kind == Spelled::Plain,
        '_' => is_behind_variable(left),
        c if c.is_alphanumeric() => is_behind_variable(left) || is_behind_option(left),
        '-' | '.' => false,
        _ => true,
    }
}

fn is_behind_variable(left: &str) -> bool {
    left.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').ends_with('$')
}

/// `-C.callgate`
fn is_behind_option(left: &str) -> bool {
    let mut back = left.chars().rev();
    back.next().is_some_and(|c| c.is_ascii_alphabetic())
        && back.next() == Some('-')
        && back.next().is_none_or(char::is_whitespace)
}

/// Without characters that do not show: some file systems do not see them either.
fn shown(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\0');
    // Nearly every text is ASCII, which is seen at a glance.
    let plain = text.is_ascii() && memchr(0, text.as_bytes()).is_none();
    if !plain && text.contains(hidden) { text.replace(hidden, "").into() } else { text.into() }
}

/// `\x2e`, `\056`, `\u002e` undone, as `printf` and `$'…'` do; `None` when there are none.
fn shell_escapes(text: &str) -> Option<String> {
    memchr(b'\\', text.as_bytes())?;
    let mut out = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (skip, most, radix) = match tail.as_bytes().first() {
            Some(b'x') => (1, 2, 16),
            Some(b'u') => (1, 4, 16),
            Some(b'U') => (1, 8, 16),
            Some(b'0') => (0, 4, 8),
            Some(b'1'..=b'7') => (0, 3, 8),
            _ => (0, 0, 8),
        };
        let braced = usize::from(skip > 0 && tail.as_bytes().get(1) == Some(&b'{'));
        let from = skip + braced;
        let digits =
            tail.bytes().skip(from).take(most).take_while(|b| char::from(*b).is_digit(radix)).count();
        let code = tail.get(from..from + digits).and_then(|digits| u32::from_str_radix(digits, radix).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                found = true;
                out.push(c);
                let closed = usize::from(braced == 1 && tail.as_bytes().get(from + digits) == Some(&b'}'));
                rest = &tail[from + digits + closed..];
            }
            None => {
                out.push('\\');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The insides of all strings of a JSON text, names of members included; without recursion.
fn strings(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        let open = rest.find('"')? + 1;
        let inner = &rest[open..];
        let mut end = 0;
        loop {
            end += memchr::memchr2(b'"', b'\\', &inner.as_bytes()[end..])?;
            if inner.as_bytes()[end] == b'"' {
                break;
            }
            end += 2;
            if end > inner.len() {
                return None;
            }
        }
        rest = &inner[end + 1..];
        Some(&inner[..end])
    })
}

/// JSON escapes undone; what stands for no character becomes U+FFFD.
fn unescape(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return inner.into();
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some('u') => {
                let code = chars.as_str().get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                out.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                if code.is_some() {
                    chars.nth(3);
                }
            }
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some(_) | None => out.push('\u{fffd}'),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.into()
}
