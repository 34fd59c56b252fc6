//! Go's regular expressions in the dialect of ours.
//!
//! Both come from RE2, but the same pattern can mean different things: `\w` and its kin are ASCII there and Unicode
//! here, `[` in a class opens a nested one here, `\<` is a plain character there. So a pattern is taken apart and every
//! part is written in a form that has one meaning.

use std::iter::Peekable;
use std::str::Chars;

use callgate_policy::file::PolicyFile;

use crate::json::Json;

/// Go refuses to repeat anything more often.
const MOST_REPEATS: u32 = 1000;

const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// The same pattern in our dialect, or why Go would not take it.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut translator = Translator { rest: pattern.chars().peekable(), out: String::new() };
    translator.all()?;
    Ok(translator.out)
}

/// Why our engine does not take a pattern, if it does not.
pub(super) fn unusable(pattern: &str) -> Option<String> {
    let condition = Json::object([
        ("path", Json::text("args.x")),
        ("op", Json::text("regex")),
        ("value", Json::text(pattern)),
    ]);
    let rule = Json::object([("require", Json::List(vec![condition]))]);
    let policy = Json::object([
        ("version", Json::text("1")),
        ("default", Json::text("deny")),
        ("tools", Json::object([("x", rule)])),
    ]);
    let report = PolicyFile::parse(&policy.document(None)).err()?;
    report.problems.into_iter().next().map(|p| p.fix.unwrap_or(p.message))
}

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
}

impl Translator<'_> {
    fn all(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => {
                    self.out.push(c);
                    self.after_repetition()?;
                }
                '{' => match self.repetition()? {
                    Some(text) => {
                        self.out.push_str(&text);
                        self.after_repetition()?;
                    }
                    None => self.out.push_str("\\{"),
                },
                '.' | '^' | '$' | '|' | ')' => self.out.push(c),
                c => self.literal(c),
            }
        }
        Ok(())
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation() && !matches!(c, '<' | '>' | '_') {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// A `?` makes it lazy; a second repetition of the same thing is none in Go.
    fn after_repetition(&mut self) -> Result<(), String> {
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        let doubled = match self.rest.peek() {
            Some('*' | '+' | '?') => true,
            Some('{') => {
                let mut ahead = Translator { rest: self.rest.clone(), out: String::new() };
                ahead.rest.next();
                ahead.repetition()?.is_some()
            }
            _ => false,
        };
        if doubled { Err("a repetition is repeated".to_owned()) } else { Ok(()) }
    }

    /// What stands behind `{`, if it is a count; else nothing is taken and the bracket is a plain one.
    fn repetition(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let mut number = || {
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            (digits, ahead.peek().copied())
        };
        let (least, next) = number();
        let well_formed = |digits: &str| !digits.is_empty() && (digits == "0" || !digits.starts_with('0'));
        if !well_formed(&least) {
            return Ok(None);
        }
        let mut text = format!("{{{least}");
        let mut most = least.clone();
        if next == Some(',') {
            ahead.next();
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            if !digits.is_empty() && !well_formed(&digits) {
                return Ok(None);
            }
            text.push(',');
            text.push_str(&digits);
            if !digits.is_empty() {
                most = digits;
            }
        }
        if ahead.next() != Some('}') {
            return Ok(None);
        }
        let in_bounds = |digits: &str| digits.parse::<u32>().ok().filter(|n| *n <= MOST_REPEATS);
        match (in_bounds(&least), in_bounds(&most)) {
            (Some(least), Some(most)) if least <= most => {}
            _ => {
                return Err(format!(
                    "a count of repetitions is at most {MOST_REPEATS}, the smaller one first"
                ));
            }
        }
        self.rest = ahead;
        text.push('}');
        Ok(Some(text))
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        if self.rest.peek() == Some(&'P') {
            self.rest.next();
            self.out.push('P');
            if self.rest.peek() != Some(&'<') {
                return Err("a group's name is written (?P<name>…)".to_owned());
            }
        }
        if self.rest.next_if_eq(&'<').is_some() {
            if matches!(self.rest.peek(), Some('=' | '!')) {
                return Err("looking behind is not possible".to_owned());
            }
            self.out.push('<');
            loop {
                match self.rest.next() {
                    Some('>') => break,
                    Some(c) if c.is_ascii_alphanumeric() || c == '_' => self.out.push(c),
                    _ => return Err("a group's name has letters, digits and _ only".to_owned()),
                }
            }
            self.out.push('>');
            return Ok(());
        }
        loop {
            match self.rest.next() {
                Some(c @ ('i' | 'm' | 's' | 'U' | '-')) => self.out.push(c),
                Some(c @ (':' | ')')) => {
                    self.out.push(c);
                    return Ok(());
                }
                Some('=' | '!') => return Err("looking ahead is not possible".to_owned()),
                _ => return Err("the flags of a group are i, m, s and U".to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.rest.peek() {
            Some('A' | 'z') => {
                self.out.push('\\');
                self.out.extend(self.rest.next());
            }
            Some('b') => {
                self.rest.next();
                self.out.push_str(r"(?-u:\b)");
            }
            Some('B') => {
                self.rest.next();
                self.out.push_str(r"(?-u:\B)");
            }
            Some('Q') => {
                self.rest.next();
                self.quoted();
            }
            _ => match self.escaped()? {
                Escaped::Char(c) => self.literal_or_code(c),
                Escaped::Class(class) => self.out.push_str(&class),
            },
        }
        Ok(())
    }

    /// `\Q…\E`: everything in between stands for itself.
    fn quoted(&mut self) {
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                return;
            }
            self.literal(c);
        }
    }

    fn literal_or_code(&mut self, c: char) {
        if c.is_control() {
            self.out.push_str(&format!("\\x{{{:X}}}", u32::from(c)));
        } else {
            self.literal(c);
        }
    }

    /// What is behind a backslash, inside a class or outside.
    fn escaped(&mut self) -> Result<Escaped, String> {
        let Some(c) = self.rest.next() else { return Err("a backslash stands at the end".to_owned()) };
        let class = |text: &str| Ok(Escaped::Class(text.to_owned()));
        match c {
            'd' => class("[0-9]"),
            'D' => class("[^0-9]"),
            'w' => class("[0-9A-Za-z_]"),
            'W' => class("[^0-9A-Za-z_]"),
            's' => class(r"[\t\n\x0C\r ]"),
            'S' => class(r"[^\t\n\x0C\r ]"),
            'p' | 'P' => self.property(c == 'P').map(Escaped::Class),
            'a' => Ok(Escaped::Char('\x07')),
            'f' => Ok(Escaped::Char('\x0c')),
            't' => Ok(Escaped::Char('\t')),
            'n' => Ok(Escaped::Char('\n')),
            'r' => Ok(Escaped::Char('\r')),
            'v' => Ok(Escaped::Char('\x0b')),
            'x' => self.hexadecimal().map(Escaped::Char),
            '0'..='7' => self.octal(c).map(Escaped::Char),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(Escaped::Char(c)),
            c => Err(format!("\\{c} means nothing")),
        }
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`
    fn property(&mut self, mut negated: bool) -> Result<String, String> {
        let name = match self.rest.next() {
            Some('{') => {
                let mut name = String::new();
                loop {
                    match self.rest.next() {
                        Some('}') => break,
                        Some(c) if c.is_ascii_alphanumeric() || matches!(c, '^' | '_') => name.push(c),
                        _ => return Err("the name of a class of characters is not closed".to_owned()),
                    }
                }
                name
            }
            Some(c) if c.is_ascii_alphabetic() => c.to_string(),
            _ => return Err("the name of a class of characters is missing".to_owned()),
        };
        let name = match name.strip_prefix('^') {
            Some(rest) => {
                negated = !negated;
                rest.to_owned()
            }
            None => name,
        };
        let text = format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' });
        match unusable(&text) {
            Some(_) => Err(format!("{name:?} is no class of characters")),
            None => Ok(text),
        }
    }

    fn hexadecimal(&mut self) -> Result<char, String> {
        let mut digits = String::new();
        if self.rest.next_if_eq(&'{').is_some() {
            while let Some(digit) = self.rest.next_if(char::is_ascii_hexdigit) {
                digits.push(digit);
            }
            if self.rest.next() != Some('}') {
                digits.clear();
            }
        } else {
            for _ in 0..2 {
                digits.extend(self.rest.next_if(char::is_ascii_hexdigit));
            }
            if digits.len() < 2 {
                digits.clear();
            }
        }
        let code = u32::from_str_radix(&digits, 16).ok();
        code.and_then(char::from_u32).ok_or_else(|| "\\x wants two digits, or a code in {}".to_owned())
    }

    fn octal(&mut self, first: char) -> Result<char, String> {
        let mut digits = String::from(first);
        let is_octal = |c: &char| matches!(c, '0'..='7');
        if first != '0' && !self.rest.peek().is_some_and(is_octal) {
            return Err("references to groups are not possible".to_owned());
        }
        for _ in 0..2 {
            digits.extend(self.rest.next_if(is_octal));
        }
        let code = u32::from_str_radix(&digits, 8).ok();
        code.and_then(char::from_u32).ok_or_else(|| "this is no code of a character".to_owned())
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.rest.next() else { return Err("a [ is never closed".to_owned()) };
            if c == ']' && !first {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            if c == '['
                && let Some(name) = self.posix()?
            {
                self.out.push_str(&name);
                continue;
            }
            let low = match self.class_char(c)? {
                Escaped::Class(class) => {
                    self.out.push_str(&class);
                    continue;
                }
                Escaped::Char(low) => low,
            };
            self.literal_or_code(low);
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
                self.rest.next();
                let high = self.rest.next().unwrap_or(']');
                let Escaped::Char(high) = self.class_char(high)? else {
                    return Err("a range ends with one character".to_owned());
                };
                if high < low {
                    return Err("a range ends before it begins".to_owned());
                }
                self.out.push('-');
                self.literal_or_code(high);
            }
        }
    }

    fn class_char(&mut self, c: char) -> Result<Escaped, String> {
        if c == '\\' { self.escaped() } else { Ok(Escaped::Char(c)) }
    }

    /// `[:alpha:]` and `[:^alpha:]`, behind the first bracket.
    fn posix(&mut self) -> Result<Option<String>, String> {
        let rest: String = self.rest.clone().take(12).collect();
        let Some(body) = rest.strip_prefix(':') else { return Ok(None) };
        let Some(end) = body.find(":]") else { return Ok(None) };
        let name = &body[..end];
        if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("[:{name}:] is no class of characters"));
        }
        let text = format!("[:{name}:]");
        for _ in 0..text.len() - 1 {
            self.rest.next();
        }
        Ok(Some(text))
    }
}

enum Escaped {
    Char(char),
    Class(String),
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{translate, unusable};

    #[test]
    fn patterns_are_written_with_one_meaning() {
        for (go, ours) in [
            ("^feat/", "^feat\\/"),
            (r"\w+@\d", "[0-9A-Za-z_]+\\@[0-9]"),
            (r"[\w-]", "[[0-9A-Za-z_]\\-]"),
            (r"[^\s]", r"[^[\t\n\x0C\r ]]"),
            (r"\bx\B", r"(?-u:\b)x(?-u:\B)"),
            (r"\Qa.b\E.", r"a\.b."),
            (r"\Qa.b", r"a\.b"),
            ("[[a]", "[\\[a]"),
            ("[a&&b]", r"[a\&\&b]"),
            ("[]a]", r"[\]a]"),
            ("[a-z0-9_]", "[a-z0-9_]"),
            ("[[:alpha:]_]", "[[:alpha:]_]"),
            (r"\<b\>", "<b>"),
            ("a{,5}", r"a\{\,5\}"),
            ("a{2,5}?", "a{2,5}?"),
            ("a{x}", r"a\{x\}"),
            ("(?i)(?P<n>x)|(?:y)", "(?i)(?P<n>x)|(?:y)"),
            (r"\x41\x{42}\103\011", "ABC\\x{9}"),
            (r"\p{^L}\PN", r"\P{L}\P{N}"),
            ("größe", "größe"),
        ] {
            let found = translate(go).unwrap();
            assert_eq!(found, ours, "{go}");
            assert_eq!(unusable(&found), None, "{go}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in [
            "[a",
            "a**",
            "a*{2}",
            "(?=x)",
            "(?<!x)",
            r"\1",
            r"\y",
            r"\C",
            "\\",
            "a{1001}",
            "a{5,2}",
            "[z-a]",
            "(?x)a",
            "[[:foo:]]",
            r"\p{Foo}",
            r"\p{L",
            r"\x4",
        ] {
            assert!(translate(pattern).is_err(), "{pattern}");
        }
        // Brackets are counted by the engine itself.
        for pattern in ["(a", "a)", "*a"] {
            assert!(translate(pattern).map_or(true, |ours| unusable(&ours).is_some()), "{pattern}");
        }
    }
}
