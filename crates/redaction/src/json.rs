//! Secrets in JSON: by key, by neighbour, and inside strings. Works on the text itself, so that what is not masked
//! stays byte for byte, and a text whose end was cut off can be masked too. Never recursive in the text's depth.

use std::borrow::Cow;

use callgate_protocol::json::write_string;

use crate::commands::CommandWords;
use crate::distinctiveness::is_random;
use crate::masker::{Masked, Pass, is_path, marker};
use crate::names::{self, Class};
use crate::{shapes, text};

/// JSON in a string in JSON in a string …: deeper than this it is masked as text.
const NESTED: usize = 4;
/// Deeper structures than this are not JSON that anyone kept here to be read.
const DEEPEST: usize = 4096;

/// The text is not JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotJson;

#[derive(Debug)]
enum Token<'a> {
    Open(u8),
    Close,
    Comma,
    Colon,
    /// Without its quotes; `ended` unless the text ends inside it.
    String {
        raw: &'a str,
        ended: bool,
    },
    /// A number, `true`, `false`, `null`.
    Bare(&'a str),
    Blank(&'a str),
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, NotJson>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let first = *bytes.get(self.at)?;
        let start = self.at;
        let run = |from: usize, belongs: fn(u8) -> bool| {
            from + bytes[from..].iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len() - from)
        };
        self.at += 1;
        Some(Ok(match first {
            b'{' | b'[' => Token::Open(first),
            b'}' | b']' => Token::Close,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                let mut end = self.at;
                loop {
                    match bytes.get(end) {
                        None => break,
                        Some(b'"') => break,
                        Some(b'\\') => end += 2,
                        Some(_) => end += 1,
                    }
                }
                let ended = end < bytes.len();
                let end = self.text.floor_char_boundary(end.min(bytes.len()));
                self.at = if ended { end + 1 } else { bytes.len() };
                Token::String { raw: &self.text[start + 1..end], ended }
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                self.at = run(start, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
                Token::Blank(&self.text[start..self.at])
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.at =
                    run(start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'));
                Token::Bare(&self.text[start..self.at])
            }
            _ => return Some(Err(NotJson)),
        }))
    }
}

/// Where in the structure we are.
struct Frame {
    /// Which object, counted from the start; `None` for an array.
    object: Option<usize>,
    /// Everything in here is secret.
    secret: Class,
    /// In an array: its items are what a secret name or a field holds, not only something in a secret container.
    own: bool,
    /// Everything in here names what is beside it.
    naming: bool,
    /// In an object: between key and value.
    after_colon: bool,
    key: Key,
    /// In an array: the item before is a telling flag.
    after_flag: bool,
    /// In an array: the command line that it may be. In an object: the one whose program it names.
    line: CommandWords,
}

#[derive(Clone, Copy)]
struct Key {
    secret: Class,
    naming: bool,
    holding: bool,
    /// The value of a field, and not the text of a document.
    entry: bool,
    /// The folder one works in, if its value is one.
    folder: bool,
    /// What is named here is a program.
    program: bool,
}

const NO_KEY: Key =
    Key { secret: Class::Plain, naming: false, holding: false, entry: false, folder: false, program: false };

impl Frame {
    fn new(open: u8, objects: &mut usize, inside: Option<&Frame>, secret: Class) -> Frame {
        let object = (open == b'{').then(|| {
            *objects += 1;
            *objects - 1
        });
        let naming = inside.is_some_and(|outer| outer.naming || (outer.after_colon && outer.key.naming));
        let line = inside.map_or(CommandWords::default(), |outer| outer.line);
        let own = object.is_none() && inside.is_some_and(Frame::owns);
        Frame { object, secret, own, naming, after_colon: false, key: NO_KEY, after_flag: false, line }
    }

    /// If what stands here is secret: is it so by itself? A cookie's domain is hidden with the cookie, and is no secret
    /// wherever else it stands.
    fn owns(&self) -> bool {
        match self.object {
            Some(_) => self.key.secret != Class::Plain || self.key.entry,
            None => self.own || self.after_flag,
        }
    }

    fn wants_key(&self) -> bool {
        self.object.is_some() && !self.after_colon
    }
}

/// The text with its secrets masked; `None` if there was nothing to mask (and nothing to leave out).
pub(crate) fn mask(
    pass: &mut Pass<'_>,
    json: &str,
    whole: bool,
    nested: usize,
) -> Result<Option<Masked>, NotJson> {
    let told = told_by_neighbours(pass, json)?;
    let mut out = String::with_capacity(json.len());
    let mut changed = false;
    let mut stack: Vec<Frame> = Vec::new();
    let mut objects = 0;
    for token in (Tokens { text: json, at: 0 }) {
        match token? {
            Token::Blank(blank) => out.push_str(blank),
            Token::Open(open) => {
                let secret = stack.last().map_or(Class::Plain, |frame| secret_here(frame, &told));
                stack.push(Frame::new(open, &mut objects, stack.last(), secret));
                if stack.len() > DEEPEST {
                    return Err(NotJson);
                }
                out.push(char::from(open));
            }
            Token::Close => {
                let frame = stack.pop().ok_or(NotJson)?;
                out.push(if frame.object.is_some() { '}' } else { ']' });
            }
            Token::Comma => {
                let frame = stack.last_mut().ok_or(NotJson)?;
                frame.after_colon = false;
                frame.key = NO_KEY;
                out.push(',');
            }
            Token::Colon => {
                stack.last_mut().ok_or(NotJson)?.after_colon = true;
                out.push(':');
            }
            Token::Bare(bare) => {
                let secret = stack.last().map_or(Class::Plain, |frame| secret_here(frame, &told));
                let number = bare.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                let hidden = match secret {
                    Class::Plain | Class::Text => number && pass.is_known(bare),
                    Class::TextAndNumbers => number,
                    Class::Everything => bare != "null",
                };
                if hidden {
                    if stack.last().is_some_and(Frame::owns) {
                        pass.note(bare, true);
                    }
                    write(&mut out, &marker(bare));
                    changed = true;
                } else {
                    out.push_str(bare);
                }
            }
            Token::String { raw, ended } => {
                if !ended && whole {
                    return Err(NotJson);
                }
                let is_key = stack.last().is_some_and(Frame::wants_key);
                let value = decode(raw);
                if is_key && let Some(frame) = stack.last_mut() {
                    frame.key = key(pass, &value);
                }
                let secret = match stack.last() {
                    Some(frame) if !is_key => {
                        (secret_here(frame, &told) != Class::Plain || frame.after_flag)
                            && !(frame.key.folder && is_path(&value))
                    }
                    _ => false,
                };
                let own = stack.last().is_some_and(Frame::owns);
                let mut password = None;
                if let Some(frame) = stack.last_mut() {
                    if frame.object.is_none() {
                        frame.after_flag = match value.starts_with('-') {
                            true => pass.is_secret(&value),
                            false => value.starts_with(['#', '[', '.']) && pass.names_a_secret(&value),
                        };
                        password = frame.line.next(&value);
                    } else if frame.after_colon && frame.key.program {
                        frame.line = CommandWords::of(&value);
                    }
                }
                if !ended {
                    // The text ends inside: what might be half a secret goes.
                    out.push('"');
                    if !secret && let Some(kept) = cut_off(pass, &value, nested) {
                        changed |= kept.changed;
                        push_escaped(&mut out, &kept.text);
                    }
                    return Ok(Some(Masked { text: out, changed: changed | secret }));
                }
                let masked = if secret && !value.is_empty() {
                    if own || is_random(&value) {
                        pass.note(&value, true);
                    } else {
                        shapes::find(&value).into_iter().for_each(|found| pass.note(&value[found], true));
                    }
                    Some(marker(&value))
                } else if let Some(password) = password {
                    pass.note(&value[password.clone()], true);
                    let (before, after) = (&value[..password.start], &value[password.end..]);
                    Some(format!("{before}{}{after}", marker(&value[password])))
                } else {
                    inside(pass, &value, nested).map(|masked| masked.text)
                };
                match masked {
                    Some(masked) => {
                        write(&mut out, &masked);
                        changed = true;
                    }
                    None => {
                        out.push('"');
                        out.push_str(raw);
                        out.push('"');
                    }
                }
            }
        }
    }
    if whole && !stack.is_empty() {
        return Err(NotJson);
    }
    Ok(changed.then_some(Masked { text: out, changed }))
}

/// The text with the secrets in its strings masked, wherever they stand.
pub(crate) fn mask_strings(pass: &mut Pass<'_>, json: &str) -> Result<String, NotJson> {
    if !pass.may_hold_secrets(json) {
        return Ok(json.to_owned());
    }
    let mut out = String::with_capacity(json.len());
    let mut open = Vec::new();
    for token in (Tokens { text: json, at: 0 }) {
        match token? {
            Token::Open(bracket) => {
                open.push(bracket);
                out.push(char::from(bracket));
            }
            Token::Close => out.push(if open.pop().ok_or(NotJson)? == b'{' { '}' } else { ']' }),
            Token::Comma => out.push(','),
            Token::Colon => out.push(':'),
            Token::Bare(bare) | Token::Blank(bare) => out.push_str(bare),
            Token::String { ended: false, .. } => return Err(NotJson),
            Token::String { raw, .. } => match text::mask(pass, &decode(raw), true) {
                Some(masked) => write(&mut out, &masked.text),
                None => {
                    out.push('"');
                    out.push_str(raw);
                    out.push('"');
                }
            },
        }
    }
    Ok(out)
}

/// A string that is not secret as a whole: JSON in it, or text in it.
fn inside(pass: &mut Pass<'_>, value: &str, nested: usize) -> Option<Masked> {
    if !pass.may_hold_secrets(value) {
        return None;
    }
    if nested < NESTED
        && value.trim_start().starts_with(['{', '['])
        && let Ok(masked) = mask(pass, value, true, nested + 1)
    {
        return masked;
    }
    text::mask(pass, value, true)
}

/// The same for a string whose end was cut off.
fn cut_off(pass: &mut Pass<'_>, value: &str, nested: usize) -> Option<Masked> {
    if nested < NESTED
        && value.trim_start().starts_with(['{', '['])
        && let Ok(Some(masked)) = mask(pass, value, false, nested + 1)
    {
        return Some(masked);
    }
    text::mask(pass, value, false)
}

/// What the place says about a value: its key, its container, or its neighbour.
fn secret_here(frame: &Frame, told: &[bool]) -> Class {
    if frame.secret != Class::Plain {
        return frame.secret;
    }
    let Some(object) = frame.object else { return Class::Plain };
    match frame.key.secret {
        Class::Plain if frame.key.holding && told.get(object) == Some(&true) => Class::TextAndNumbers,
        class => class,
    }
}

/// For each object, in order of opening: does one of its members name a secret?
fn told_by_neighbours(pass: &Pass<'_>, json: &str) -> Result<Vec<bool>, NotJson> {
    let mut told: Vec<bool> = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    let mut objects = 0;
    for token in (Tokens { text: json, at: 0 }) {
        match token? {
            Token::Open(open) => {
                let frame = Frame::new(open, &mut objects, stack.last(), Class::Plain);
                told.resize(objects, false);
                stack.push(frame);
                if stack.len() > DEEPEST {
                    return Err(NotJson);
                }
            }
            Token::Close => {
                stack.pop().ok_or(NotJson)?;
            }
            Token::Comma => {
                let frame = stack.last_mut().ok_or(NotJson)?;
                frame.after_colon = false;
                frame.key = NO_KEY;
            }
            Token::Colon => stack.last_mut().ok_or(NotJson)?.after_colon = true,
            Token::String { raw, .. } => {
                let Some(frame) = stack.last_mut() else { continue };
                if frame.wants_key() {
                    frame.key = key(pass, &decode(raw));
                    continue;
                }
                let names = frame.naming || (frame.after_colon && frame.key.naming);
                if names && pass.names_a_secret(&decode(raw)) {
                    // The object that it is in, and each around it that it names something for.
                    for frame in stack.iter().rev() {
                        if let Some(object) = frame.object {
                            told[object] = true;
                        }
                        if !frame.naming {
                            break;
                        }
                    }
                }
            }
            Token::Bare(_) | Token::Blank(_) => {}
        }
    }
    Ok(told)
}

fn key(pass: &Pass<'_>, name: &str) -> Key {
    Key {
        secret: pass.class(name),
        naming: names::is_naming(name),
        holding: names::is_holding(name),
        entry: names::is_entry(name),
        folder: names::is_working_folder(name) && !pass.is_own(name),
        program: matches!(name, "command" | "cmd" | "program" | "executable"),
    }
}

/// The characters of a JSON string; what cannot be decoded stays as it is written.
fn decode(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    match serde_json::from_str::<String>(&format!("\"{raw}\"")) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(raw),
    }
}

fn write(out: &mut String, text: &str) {
    let mut bytes = Vec::with_capacity(text.len() + 2);
    write_string(&mut bytes, text);
    out.push_str(&String::from_utf8_lossy(&bytes));
}

fn push_escaped(out: &mut String, text: &str) {
    let mut bytes = Vec::with_capacity(text.len() + 2);
    write_string(&mut bytes, text);
    let escaped = String::from_utf8_lossy(&bytes);
    out.push_str(escaped.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
}
