//! Values of arguments as expressions, and the variables that stand for what was masked.

use callgate_protocol::json::{Kind, Raw};

use super::literal::{literal, spelled};

/// How the record marks a secret.
const MARK: &str = "[masked, ";
/// Values that are nested deeper are not written as code.
const DEEPEST: usize = 16;
/// The longest part of a variable's name that comes from a selector.
const HINT: usize = 40;

/// A secret that the test reads from the environment.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// What it is for: `step 3, playwright_fill, 8 characters`
    pub(super) what: String,
}

#[derive(Debug, Default)]
pub(super) struct Variables(Vec<Variable>);

impl Variables {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Variable> {
        self.0.iter()
    }

    /// A name that no other has: what is masked alike need not be the same.
    fn add(&mut self, hint: &str, what: String) -> String {
        let plain = name_of(hint);
        let taken = |name: &str| self.0.iter().any(|variable| variable.name == name);
        let name = (1..).map(|n| if n == 1 { plain.clone() } else { format!("{plain}_{n}") });
        let name = name.into_iter().find(|name| !taken(name)).unwrap_or(plain);
        self.0.push(Variable { name: name.clone(), what });
        name
    }
}

/// `#user-password` → `TEST_USER_PASSWORD`
fn name_of(hint: &str) -> String {
    let mut name = String::from("TEST");
    let words = hint.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        if name.len() + word.len() > HINT {
            break;
        }
        name.push('_');
        name.push_str(&word.to_ascii_uppercase());
    }
    if name == "TEST" { "TEST_VALUE".to_owned() } else { name }
}

/// Of one action.
pub(super) struct ActionValues<'v> {
    pub(super) variables: &'v mut Variables,
    /// Marks in these arguments stand for secrets; in others they are text.
    pub(super) masked: bool,
    pub(super) step: usize,
    pub(super) tool: &'v str,
    /// What a secret here is for.
    pub(super) hint: String,
}

impl ActionValues<'_> {
    /// `None` for what cannot be written as code.
    pub(super) fn expression(&mut self, value: Raw<'_>) -> Option<String> {
        self.nested(value, 0)
    }

    /// Is a part of this text not on record?
    pub(super) fn has_mask(&self, text: &str) -> bool {
        self.masked && next_mark(text).is_some()
    }

    fn nested(&mut self, value: Raw<'_>, depth: usize) -> Option<String> {
        if depth > DEEPEST {
            return None;
        }
        match value.kind() {
            // As JSON writes them, JavaScript reads them.
            Kind::Null | Kind::Bool | Kind::Number => Some(value.text().to_owned()),
            Kind::String => Some(self.text(value)),
            Kind::Array => {
                let items: Option<Vec<String>> =
                    value.items().map(|item| self.nested(item, depth + 1)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            Kind::Object => {
                let members: Option<Vec<String>> = value
                    .members()
                    // In brackets, because a plain `"__proto__"` would set the object's kind instead of a member.
                    .map(|(name, value)| {
                        Some(format!("[{}]: {}", literal(&name), self.nested(value, depth + 1)?))
                    })
                    .collect();
                Some(format!("{{ {} }}", members?.join(", ")))
            }
        }
    }

    fn text(&mut self, value: Raw<'_>) -> String {
        match value.as_str() {
            Some(text) if self.masked && text.contains(MARK) => self.with_variables(&text),
            Some(text) => literal(&text),
            None => spelled(value.text()),
        }
    }

    /// `"user:" + process.env.TEST_X! + "@host"`
    fn with_variables(&mut self, text: &str) -> String {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, mark, after)) = next_mark(rest) {
            if !before.is_empty() {
                parts.push(literal(before));
            }
            let what = format!("step {}, {}, {mark}", self.step, super::in_comment(self.tool));
            let name = self.variables.add(&self.hint, what);
            parts.push(format!("process.env.{name}!"));
            rest = after;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(literal(rest));
        }
        parts.join(" + ")
    }
}

/// What stands before a mark, how long the secret was, what stands after.
fn next_mark(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find(MARK)?;
        let inside = &text[at + MARK.len()..];
        let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && inside[digits..].starts_with(" characters]") {
            let end = digits + " characters".len();
            return Some((&text[..at], &inside[..end], &inside[end + 1..]));
        }
        from = at + MARK.len();
    }
}
