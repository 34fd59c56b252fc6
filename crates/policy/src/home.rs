//! The built-in rule that keeps calls away from Callgate's own folder.
//!
//! A server that writes files could be asked to write a policy. What is looked for is the folder's path in any text
//! anywhere in the arguments, in any of the usual disguises: percent signs, doubled or reversed slashes, `.` and `..`.
//! A first glance over the raw bytes settles nearly every call.

use callgate_protocol::json::Raw;
use memchr::{memchr2_iter, memmem};

use crate::percent;

/// The usual name, which is also looked for below a person's home however that is written.
const USUAL: &str = ".callgate";
const HOMES: [&str; 6] = ["~", "$home", "${home}", "%userprofile%", "$env:userprofile", "$env:home"];

/// Where the file system does not care about case, neither do we.
const IGNORE_CASE: bool = cfg!(any(windows, target_os = "macos"));

#[derive(Clone, Debug)]
pub(crate) struct HomeGuard {
    /// Normalised forms of the folder, without a slash at the end.
    forms: Vec<String>,
    /// The last part of the path, which must appear in any text that names it.
    last: memmem::Finder<'static>,
    /// May the glance skip texts that do not hold `last`? Not if that could be written with non-ASCII escapes.
    plain: bool,
}

impl HomeGuard {
    /// `None` for a path that names nothing in particular.
    pub(crate) fn new(home: &str) -> Option<HomeGuard> {
        let path = normalise(home);
        let path = path.trim_end_matches('/');
        let last = path.rsplit('/').next().filter(|last| !last.is_empty())?.to_owned();
        let mut forms = vec![path.to_owned()];
        if last == USUAL {
            forms.extend(HOMES.iter().map(|home| format!("{}/{USUAL}", case(home))));
            if !IGNORE_CASE {
                forms.extend(
                    ["$HOME", "${HOME}", "%USERPROFILE%"].iter().map(|home| format!("{home}/{USUAL}")),
                );
            }
        }
        let plain = last.is_ascii() && !IGNORE_CASE;
        Some(HomeGuard { forms, last: memmem::Finder::new(last.as_bytes()).into_owned(), plain })
    }

    pub(crate) fn is_named_in(&self, args: Raw<'_>) -> bool {
        let text = args.text();
        if self.plain && !self.may_be_named_in(text.as_bytes()) {
            return false;
        }
        strings(text).any(|string| {
            let decoded = unescape(string);
            // A text may be encoded more than once; each reading counts.
            let mut reading = decoded;
            for _ in 0..3 {
                let normal = normalise(&reading);
                if self.forms.iter().any(|form| holds_path(&normal, form)) {
                    return true;
                }
                match percent::decode(&reading) {
                    Some(next) => reading = next,
                    None => return false,
                }
            }
            false
        })
    }

    /// The folder's last part as it is, or escapes that could stand for it.
    fn may_be_named_in(&self, text: &[u8]) -> bool {
        let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
        self.last.find(text).is_some()
            || memchr2_iter(b'%', b'\\', text).any(|at| match text[at] {
                b'%' => digit(at + 1) && digit(at + 2),
                // `\u00xx` in the ASCII range; other escapes stand for nothing that is looked for.
                _ => text[at + 1..].starts_with(b"u00") && matches!(text.get(at + 4), Some(b'0'..=b'7')),
            })
    }
}

fn case(text: &str) -> String {
    if IGNORE_CASE { text.to_lowercase() } else { text.to_owned() }
}

/// `form` in `text`, ending where a name ends.
fn holds_path(text: &str, form: &str) -> bool {
    memmem::find_iter(text.as_bytes(), form.as_bytes()).any(|at| {
        let next = text.as_bytes().get(at + form.len());
        !next.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') || *b >= 0x80)
    })
}

/// One kind of slash, none doubled, no `.` and `..` inside.
fn normalise(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let slashed = case(text).replace('\\', "/");
    let mut first = true;
    for part in slashed.split('/') {
        match part {
            "" | "." if !first => {}
            ".." if parts.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
        first = false;
    }
    parts.join("/")
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
fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
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
    }
    out
}
