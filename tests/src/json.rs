//! JSON as different readers take it: a tree that keeps what ordinary parsers throw away (duplicate members, their
//! order, number lexemes), read strictly or with every leniency that real parsers are known for.
//!
//! Knows nothing of JSON-RPC.

/// How forgiving the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// RFC 8259 and nothing else.
    Strict,
    /// Comments, trailing and doubled commas, single quotes, bare keys, NaN, `01`, `\x64`, raw control characters.
    Lenient,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    /// The lexeme, exactly as written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// All members in order, duplicates included.
    Object(Vec<(String, Json)>),
}

/// Deeper than anything that should pass; callers run on a big stack (see [`on_big_stack`]).
const MAX_DEPTH: usize = 5_000;

impl Json {
    /// The whole text as one value.
    pub fn parse(text: &str, dialect: Dialect) -> Option<Json> {
        let (value, used) = Json::parse_prefix(text, dialect)?;
        let mut rest = Cursor { text, at: used, dialect };
        rest.blanks()?;
        (rest.at == text.len()).then_some(value)
    }

    /// The value that the text begins with, and how many bytes it took.
    pub fn parse_prefix(text: &str, dialect: Dialect) -> Option<(Json, usize)> {
        let mut cursor = Cursor { text, at: 0, dialect };
        cursor.blanks()?;
        let value = cursor.value(0)?;
        Some((value, cursor.at))
    }

    /// The first member of that exact name.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Follows a path of member names.
    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Compact text with number lexemes as they came.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(lexeme) => out.push_str(lexeme),
            Json::Text(text) => out.push_str(&quote(text)),
            Json::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quote(key));
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The first member name that stands twice in one object, at any depth.
    pub fn duplicate(&self) -> Option<&str> {
        match self {
            Json::List(items) => items.iter().find_map(Json::duplicate),
            Json::Object(members) => {
                let mut seen = std::collections::HashSet::new();
                members
                    .iter()
                    .find_map(|(key, value)| if seen.insert(key) { value.duplicate() } else { Some(key) })
            }
            _ => None,
        }
    }
}

pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Runs `work` where deeply nested values cannot exhaust the stack.
pub fn on_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(512 << 20).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(value)) => value,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread for the reader: {error}"),
        }
    })
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
}

impl Cursor<'_> {
    fn lenient(&self) -> bool {
        self.dialect == Dialect::Lenient
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += wanted.len_utf8())
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        self.rest().starts_with(word).then(|| self.at += word.len())?;
        Some(value)
    }

    /// Steps over blanks and, for the lenient, comments. `None`: a comment without an end.
    fn blanks(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r' | '\n') => self.at += 1,
                Some(c) if self.lenient() && (c.is_whitespace() || c == '\u{feff}' || c == '\0') => {
                    self.at += c.len_utf8();
                }
                Some('#') if self.lenient() => self.skip_past("\n"),
                Some('/') if self.lenient() && self.rest().starts_with("//") => self.skip_past("\n"),
                Some('/') if self.lenient() && self.rest().starts_with("/*") => {
                    self.rest().contains("*/").then(|| self.skip_past("*/"))?;
                }
                _ => return Some(()),
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        self.at += self.rest().find(end).map_or(self.rest().len(), |found| found + end.len());
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            '"' => self.string('"').map(Json::Text),
            '\'' if self.lenient() => self.string('\'').map(Json::Text),
            't' => self.word("true", Json::Bool(true)),
            'f' => self.word("false", Json::Bool(false)),
            'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.eat('{')?;
        let mut members = Vec::new();
        loop {
            self.blanks()?;
            if self.peek()? == '}' && (members.is_empty() || self.lenient()) {
                self.at += 1;
                return Some(Json::Object(members));
            }
            let key = match self.peek()? {
                '"' => self.string('"')?,
                '\'' if self.lenient() => self.string('\'')?,
                _ if self.lenient() => self.bare_key()?,
                _ => return None,
            };
            self.blanks()?;
            self.eat(':')?;
            self.blanks()?;
            members.push((key, self.value(depth + 1)?));
            self.blanks()?;
            match self.peek()? {
                ',' => self.at += 1,
                '}' => {
                    self.at += 1;
                    return Some(Json::Object(members));
                }
                _ => return None,
            }
            if self.dialect == Dialect::Strict {
                self.blanks()?;
                if self.peek()? == '}' {
                    return None;
                }
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        self.eat('[')?;
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.peek()? == ']' && (items.is_empty() || self.lenient()) {
                self.at += 1;
                return Some(Json::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.blanks()?;
            match self.bump()? {
                ',' => {}
                ']' => return Some(Json::List(items)),
                _ => return None,
            }
            if self.dialect == Dialect::Strict {
                self.blanks()?;
                if self.peek()? == ']' {
                    return None;
                }
            }
        }
    }

    fn bare_key(&mut self) -> Option<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            self.bump();
        }
        (self.at > start).then(|| self.text[start..self.at].to_owned())
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
            self.at += 1;
        }
        let lexeme = &self.text[start..self.at];
        let good = if self.lenient() { !lexeme.is_empty() } else { is_strict_number(lexeme) };
        good.then(|| Json::Number(lexeme.to_owned()))
    }

    fn string(&mut self, quote: char) -> Option<String> {
        self.eat(quote)?;
        let mut out = String::new();
        loop {
            match self.bump()? {
                c if c == quote => return Some(out),
                '\\' => self.escape(&mut out)?,
                c if c < ' ' && !self.lenient() => return None,
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        match self.bump()? {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let unit = self.hex(4)?;
                let low = (0xd800..0xdc00).contains(&unit).then(|| self.low_surrogate()).flatten();
                let code = low.map_or(unit, |low| 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
                // A lone surrogate is legal JSON without being a character.
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            'x' if self.lenient() => {
                let code = self.hex(2)?;
                out.push(char::from_u32(code)?);
            }
            c @ ('"' | '\\' | '/') => out.push(c),
            c if self.lenient() => out.push(c),
            _ => return None,
        }
        Some(())
    }

    fn low_surrogate(&mut self) -> Option<u32> {
        let digits = self.rest().strip_prefix("\\u")?.get(..4)?;
        let unit = u32::from_str_radix(digits, 16).ok().filter(|unit| (0xdc00..0xe000).contains(unit))?;
        self.at += 6;
        Some(unit)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        let code =
            text.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok())??;
        self.at += digits;
        Some(code)
    }
}

fn is_strict_number(lexeme: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = lexeme.strip_prefix('-').unwrap_or(lexeme);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_takes_what_the_standard_takes() {
        for text in ["0", "-1.5e+3", "\"\\u0061\"", "[]", "{\"a\":[1,{}]}", " null ", "\"\\ud800\""] {
            assert!(Json::parse(text, Dialect::Strict).is_some(), "{text}");
        }
        for text in
            ["01", "[1,]", "{\"a\":1,}", "'a'", "{a:1}", "NaN", "// x\n1", "\"\\x64\"", "1 2", "\"\n\"", ""]
        {
            assert!(Json::parse(text, Dialect::Strict).is_none(), "{text}");
        }
    }

    #[test]
    fn lenient_takes_what_json5_readers_take() {
        for text in
            ["01", "[1,]", "{\"a\":1,}", "{'a':1}", "{a:NaN}", "// x\n1", "/* */ 1", "\"\\x64\"", "\u{feff}1"]
        {
            assert!(Json::parse(text, Dialect::Lenient).is_some(), "{text}");
        }
    }

    #[test]
    fn duplicates_are_seen_by_their_decoded_names() {
        let value = Json::parse(r#"{"a":[{"n":1,"\u006e":2}]}"#, Dialect::Strict);
        assert_eq!(value.as_ref().and_then(Json::duplicate), Some("n"));
    }
}
