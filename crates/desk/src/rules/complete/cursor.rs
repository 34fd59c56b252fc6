//! Where a cursor stands in a text that may be broken: below which names, in a name or in a value, after what was typed.
//!
//! A reader that forgives: it follows brackets, names and commas up to the cursor, and complains about nothing. What it
//! cannot make sense of it passes over.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    /// An item of a list.
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Key,
    Value,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// To the object whose key it is, or to the value itself.
    pub(super) path: Vec<PathStep>,
    pub(super) slot: Slot,
    /// Byte offset of what was typed so far, behind an opening quote.
    pub(super) from: usize,
    pub(super) typed: String,
    pub(super) in_quotes: bool,
    /// The other names of the object, before and after the cursor.
    pub(super) siblings: Vec<String>,
}

#[derive(Debug)]
enum OpenBracket {
    Object { key: Option<String>, colon: bool, keys: Vec<String> },
    List,
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    Punctuation(char),
    /// Its inside, as written, and whether it was closed.
    Text(&'t str, bool),
    Word(&'t str),
    Comment {
        closed: bool,
    },
}

/// The token at this place, and its length; blanks are passed over before.
fn token(text: &str) -> Option<(usize, Token<'_>, usize)> {
    let blank = text.len() - text.trim_start().len();
    let rest = &text[blank..];
    let first = rest.chars().next()?;
    let (token, length) = match first {
        '"' => {
            let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let mut escaped = false;
            let close = rest.bytes().enumerate().take(line).skip(1).find_map(|(at, byte)| {
                let closes = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                closes.then_some(at)
            });
            // A text that is never closed ends with its line: the rest of the file is not part of it.
            match close {
                Some(at) => (Token::Text(&rest[1..at], true), at + 1),
                None => (Token::Text(&rest[1..line], false), line),
            }
        }
        '{' | '}' | '[' | ']' | ':' | ',' => (Token::Punctuation(first), 1),
        '/' if rest.starts_with("//") => {
            let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
            (Token::Comment { closed: false }, length)
        }
        '/' if rest.starts_with("/*") => match rest.find("*/") {
            Some(end) => (Token::Comment { closed: true }, end + 2),
            None => (Token::Comment { closed: false }, rest.len()),
        },
        _ => {
            let ends =
                |c: char| c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ':' | ',' | '"' | '/');
            let length = rest.char_indices().skip(1).find(|(_, c)| ends(*c)).map_or(rest.len(), |(at, _)| at);
            (Token::Word(&rest[..length]), length)
        }
    };
    Some((blank, token, length))
}

fn decoded(inside: &str) -> String {
    serde_json::from_str(&format!("\"{inside}\"")).unwrap_or_else(|_| inside.to_owned())
}

impl Cursor {
    /// None where nothing can be offered: in a comment, outside of the policy.
    pub(super) fn find(text: &str, cursor: usize) -> Option<Cursor> {
        let mut stack: Vec<OpenBracket> = Vec::new();
        let mut at = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
        while let Some((blank, token, length)) = text.get(at..).and_then(token) {
            let start = at + blank;
            let end = start + length;
            let inside = match token {
                Token::Text(_, closed) => start < cursor && (cursor < end || (!closed && cursor == end)),
                Token::Word(_) => start < cursor && cursor <= end,
                Token::Comment { closed } => start < cursor && (cursor < end || (!closed && cursor == end)),
                Token::Punctuation(_) => false,
            };
            if inside {
                return match token {
                    Token::Comment { .. } => None,
                    Token::Text(..) => Cursor::at(&stack, text, start + 1, cursor, true, end),
                    _ => Cursor::at(&stack, text, start, cursor, false, end),
                };
            }
            if start >= cursor {
                break;
            }
            step(&mut stack, &token);
            at = end;
        }
        Cursor::at(&stack, text, cursor, cursor, false, cursor)
    }

    fn at(
        stack: &[OpenBracket],
        text: &str,
        from: usize,
        cursor: usize,
        in_quotes: bool,
        end: usize,
    ) -> Option<Cursor> {
        let innermost = stack.last()?;
        let mut path = Vec::new();
        for open in stack {
            match open {
                OpenBracket::Object { key: Some(key), .. } => path.push(PathStep::Key(key.clone())),
                OpenBracket::Object { key: None, .. } => {}
                OpenBracket::List => path.push(PathStep::Index),
            }
        }
        let typed = text.get(from..cursor)?;
        let typed = if in_quotes { decoded(typed) } else { typed.to_owned() };
        let (slot, mut siblings) = match innermost {
            OpenBracket::Object { colon: false, keys, key } => {
                // The name itself is not part of the way to its object.
                if key.is_some() {
                    path.pop();
                }
                (Slot::Key, keys.clone())
            }
            OpenBracket::Object { colon: true, .. } | OpenBracket::List => (Slot::Value, Vec::new()),
        };
        if slot == Slot::Key {
            siblings.extend(keys_after(&text[end..]));
        }
        Some(Cursor { path, slot, from, typed, in_quotes, siblings })
    }
}

fn step(stack: &mut Vec<OpenBracket>, token: &Token<'_>) {
    match (token, stack.last_mut()) {
        (Token::Punctuation('{'), _) => {
            stack.push(OpenBracket::Object { key: None, colon: false, keys: Vec::new() });
        }
        (Token::Punctuation('['), _) => stack.push(OpenBracket::List),
        (Token::Punctuation('}' | ']'), _) => {
            stack.pop();
        }
        (Token::Punctuation(':'), Some(OpenBracket::Object { colon, .. })) => *colon = true,
        (Token::Punctuation(','), Some(OpenBracket::Object { key, colon, .. })) => {
            (*key, *colon) = (None, false)
        }
        (Token::Text(inside, _), Some(OpenBracket::Object { key, colon: false, keys })) => {
            let name = decoded(inside);
            keys.push(name.clone());
            *key = Some(name);
        }
        _ => {}
    }
}

/// The names that follow in the same object.
fn keys_after(text: &str) -> Vec<String> {
    let (mut at, mut depth, mut last, mut found) = (0, 0usize, None, Vec::new());
    while let Some((blank, token, length)) = text.get(at..).and_then(token) {
        at += blank + length;
        match token {
            Token::Punctuation('{' | '[') => depth += 1,
            Token::Punctuation('}' | ']') if depth == 0 => break,
            Token::Punctuation('}' | ']') => depth -= 1,
            Token::Punctuation(':') if depth == 0 => found.extend(last.take()),
            Token::Text(inside, true) if depth == 0 => last = Some(decoded(inside)),
            _ => {}
        }
    }
    found
}
