//! JSON as it is written for people: short things on one line, long ones below each other.

/// A line longer than this is broken.
const WIDTH: usize = 110;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    /// A number, `true`, `false` or `null`, as it stands.
    Raw(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub(crate) fn number(number: impl Into<u64>) -> Json {
        Json::Raw(number.into().to_string())
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Adds a member to an object.
    pub(crate) fn with(mut self, key: &str, value: Json) -> Json {
        if let Json::Object(members) = &mut self {
            members.push((key.to_owned(), value));
        }
        self
    }

    /// Adds a member only when there is something to add.
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<String>>) -> Json {
        match value {
            Some(value) => self.with(key, Json::Text(value.into())),
            None => self,
        }
    }

    /// The whole document, with a line end.
    pub(crate) fn document(&self, heading: Option<&str>) -> String {
        let mut out = String::new();
        for line in heading.unwrap_or("").lines() {
            out.push_str("// ");
            out.push_str(line);
            out.push('\n');
        }
        // The outermost object is always opened: that is how a person expects a file to look.
        match self {
            Json::Object(members) if !members.is_empty() => block(&mut out, 0, members.iter(), '{', '}'),
            other => other.write(&mut out, 0, 0),
        }
        out.push('\n');
        out
    }

    fn write(&self, out: &mut String, depth: usize, used: usize) {
        let mut line = String::new();
        self.one_line(&mut line);
        if line.chars().count() + used + 2 * depth <= WIDTH {
            out.push_str(&line);
            return;
        }
        match self {
            Json::List(items) if !items.is_empty() => block(out, depth, items.iter(), '[', ']'),
            Json::Object(members) if !members.is_empty() => block(out, depth, members.iter(), '{', '}'),
            _ => out.push_str(&line),
        }
    }

    fn one_line(&self, out: &mut String) {
        match self {
            Json::Raw(raw) => out.push_str(raw),
            Json::Text(text) => quote(out, text),
            Json::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    item.one_line(out);
                }
                out.push(']');
            }
            Json::Object(members) if members.is_empty() => out.push_str("{}"),
            Json::Object(members) => {
                out.push_str("{ ");
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    quote(out, key);
                    out.push_str(": ");
                    value.one_line(out);
                }
                out.push_str(" }");
            }
        }
    }
}

/// An entry of a list or a member of an object.
trait JsonItem {
    fn write_entry(&self, out: &mut String, depth: usize);
}

impl JsonItem for Json {
    fn write_entry(&self, out: &mut String, depth: usize) {
        self.write(out, depth, 1);
    }
}

impl JsonItem for (String, Json) {
    fn write_entry(&self, out: &mut String, depth: usize) {
        let before = out.len();
        quote(out, &self.0);
        out.push_str(": ");
        let used = out[before..].chars().count() + 1;
        self.1.write(out, depth, used);
    }
}

fn block<'a, E: JsonItem + 'a>(
    out: &mut String,
    depth: usize,
    entries: impl Iterator<Item = &'a E>,
    open: char,
    close: char,
) {
    out.push(open);
    for (i, entry) in entries.enumerate() {
        out.push_str(if i > 0 { ",\n" } else { "\n" });
        out.push_str(&"  ".repeat(depth + 1));
        entry.write_entry(out, depth + 1);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

/// Control and formatting characters are written as escapes: a policy is read by people.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_unseen(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Characters that change how a line looks without being seen.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn short_things_stay_on_a_line_and_odd_characters_are_escaped() {
        let long = Json::List((0..40).map(|n| Json::text(format!("n{n}"))).collect());
        let document = Json::object([
            ("a", Json::text("x\n\u{202e}\"\u{1}\u{e0001}")),
            ("b", long),
            ("c", Json::Object(vec![])),
        ]);
        let text = document.document(Some("one\ntwo"));
        assert!(text.starts_with("// one\n// two\n{\n  \"a\": \"x\\n\\u202e\\\"\\u0001"), "{text}");
        assert!(text.contains("\n  \"b\": [\n    \"n0\",\n"), "{text}");
        assert!(text.ends_with("\n  \"c\": {}\n}\n"), "{text}");
    }
}
