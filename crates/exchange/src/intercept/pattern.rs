//! Go's regular expressions that mean the same here; every other is refused, with what is different in it.
//!
//! Both dialects come from RE2, but the same pattern can mean different things: `\w` and its kin are ASCII there and
//! Unicode here, `[` in a class opens a nested one here, `\<` is a plain character there.

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

/// Why a pattern cannot be taken as it is, if it cannot.
pub(super) fn difference(pattern: &str) -> Option<String> {
    let mut rest = pattern.chars().peekable();
    let mut repeated = false;
    while let Some(c) = rest.next() {
        let was_repeated = std::mem::take(&mut repeated);
        let found = match c {
            '\\' => escape(&mut rest, false),
            '[' => class(&mut rest),
            '(' => flags(&mut rest),
            '*' | '+' | '?' | '{' => {
                repeated = true;
                let count = if c == '{' { count(&mut rest) } else { None };
                rest.next_if_eq(&'?');
                was_repeated
                    .then(|| "Go does not repeat a repetition: put it in brackets".to_owned())
                    .or(count)
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    unusable(pattern)
}

/// Why our engine does not take a pattern, if it does not.
fn unusable(pattern: &str) -> Option<String> {
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

/// Behind a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, in_class: bool) -> Option<String> {
    let c = rest.next()?;
    let instead = match c {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        's' => r"[\t\n\f\r ]",
        'S' => r"[^\t\n\f\r ]",
        'b' | 'B' if !in_class => {
            return Some(format!(
                "\\{c} knows only ASCII words in Go, and every script's here: say what may stand there"
            ));
        }
        '<' | '>' => return Some(format!("\\{c} is {c} in Go, and the edge of a word here: write {c}")),
        'A' | 'z' if !in_class => return None,
        'a' | 'f' | 't' | 'n' | 'r' | 'v' | 'x' => return None,
        'p' | 'P' => {
            let name: String =
                std::iter::from_fn(|| rest.next_if(|c| *c == '{' || c.is_ascii_alphanumeric() || *c == '_'))
                    .collect();
            let simple = !name.is_empty() && (!name.starts_with('{') || rest.next_if_eq(&'}').is_some());
            return (!simple).then(|| format!("\\{c}{name} is not the plain name of a class of characters"));
        }
        c if c.is_ascii_alphanumeric() => return Some(format!("\\{c} has no meaning that both share")),
        _ => return None,
    };
    Some(format!("\\{c} knows only ASCII in Go, and every script here: write {instead}"))
}

/// Behind `[`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'^');
    rest.next_if_eq(&']');
    while let Some(c) = rest.next() {
        let found = match c {
            ']' => return None,
            '\\' => escape(rest, true),
            '[' => {
                let ahead: String = rest.clone().take(12).collect();
                let name =
                    ahead.strip_prefix(':').and_then(|body| body.split_once(":]")).map(|(name, _)| name);
                match name.filter(|name| POSIX.contains(&name.strip_prefix('^').unwrap_or(name))) {
                    Some(name) => {
                        rest.nth(name.len() + 2);
                        None
                    }
                    None => Some("a [ between brackets opens others here: write \\[".to_owned()),
                }
            }
            '&' | '-' | '~' if rest.peek() == Some(&c) => {
                Some(format!("{c}{c} between brackets is an operator here: write {c} once, or \\{c}"))
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Behind `(`: what only our engine knows.
fn flags(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    if rest.next_if_eq(&'?').is_none() || matches!(rest.peek(), Some('P' | '<')) {
        return None;
    }
    let unknown = rest.find(|c| !matches!(c, 'i' | 'm' | 's' | 'U' | '-'))?;
    match unknown {
        ':' | ')' => None,
        '=' | '!' => Some("looking ahead is not possible".to_owned()),
        _ => Some("the flags of a group are i, m, s and U".to_owned()),
    }
}

/// Behind `{`: a count that both read as one.
fn count(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let text: String = std::iter::from_fn(|| rest.next_if(|c| c.is_ascii_digit() || *c == ',')).collect();
    let (least, most) = text.split_once(',').unwrap_or((&text, &text));
    let number =
        |digits: &str| digits.parse::<u32>().ok().filter(|n| n.to_string() == digits && *n <= MOST_REPEATS);
    let fits = match (number(least), number(most)) {
        (Some(least), Some(most)) => least <= most,
        (least, None) => least.is_some() && most.is_empty(),
        _ => false,
    };
    let closed = rest.next_if_eq(&'}').is_some();
    (!closed || !fits).then(|| {
        format!("{{{text} is no count that both read alike: at most {MOST_REPEATS}, the smaller one first; write \\{{ for the character")
    })
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_pattern_that_means_the_same_is_taken_as_it_is() {
        for pattern in [
            "^feat/",
            "[a-z0-9_]+@[0-9]",
            "[]a]",
            "[^]a-]",
            "[[:alpha:]_]",
            "[[:^word:]]",
            "a{2,5}?",
            "a{2,}",
            "(?i)(?P<n>x)|(?:y)",
            r"\x41\x{42}\.\/",
            r"\PN\p{Greek}",
            r"\Aa\z",
            "größe",
        ] {
            assert_eq!(difference(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_means_something_else_is_refused_by_name() {
        for (pattern, named) in [
            (r"\d+", r"\d knows only ASCII in Go, and every script here: write [0-9]"),
            (r"[\w-]", r"\w knows"),
            (r"[^\s]", r"\s knows"),
            (r"\bx", r"\b knows"),
            (r"\Qa.b\E.", r"\Q has no meaning"),
            ("[[a]", "opens others"),
            ("[[:foo:]]", "opens others"),
            ("[a&&b]", "&& between brackets"),
            (r"\<b\>", r"\< is <"),
            ("a{,5}", "{,5 is no count"),
            ("a{02}", "{02 is no count"),
            (r"\103", r"\1 has no meaning"),
            (r"\p{^L}", "is not the plain name"),
        ] {
            let found = difference(pattern).unwrap_or_default();
            assert!(found.contains(named), "{pattern}: {found}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in [
            "[a", "a**", "a*{2}", "(?=x)", "(?<!x)", r"\1", r"\y", r"\C", "\\", "a{1001}", "a{5,2}", "[z-a]",
            "(?x)a", r"\p{Foo}", r"\p{L", r"\x4", "(a", "a)", "*a",
        ] {
            assert!(difference(pattern).is_some(), "{pattern}");
        }
    }
}
