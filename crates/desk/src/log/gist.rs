//! The arguments of a call in one short line: `url: https://…, selector: #go`.
//!
//! Made from the beginning of what was kept, which may be cut anywhere and may be anything.

use callgate_text::clip;

/// Characters of a gist at most.
const LONGEST: usize = 160;
/// Characters of one value at most, so that the first does not hide the others.
const VALUE: usize = 80;

/// The gist of arguments as they were kept. Where the policy kept the values out, their names.
pub fn gist(args: Option<&str>, withheld: bool) -> String {
    let Some(args) = args else { return String::new() };
    let args = args.trim_start();
    let mut out = String::new();
    let mut reader = Reader { rest: args };
    if withheld {
        let names = reader.list();
        return if names.is_empty() {
            "(not kept)".to_owned()
        } else {
            format!("(not kept: {})", names.join(", "))
        };
    }
    if !args.starts_with('{') {
        return clip(&one_line(args), LONGEST);
    }
    reader.skip(1);
    while let Some((name, value)) = reader.member() {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&format!("{}: {}", one_line(&name), clip(&one_line(&value), VALUE)));
        if out.chars().count() > LONGEST {
            break;
        }
    }
    clip(&out, LONGEST)
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',', ':']);
    }

    fn member(&mut self) -> Option<(String, String)> {
        self.skip_blanks();
        if !self.rest.starts_with('"') {
            return None;
        }
        let name = self.string();
        self.skip_blanks();
        let value = if self.rest.starts_with('"') { self.string() } else { self.other() };
        Some((name, value))
    }

    /// A string's meaning; of one that is cut, what there is.
    fn string(&mut self) -> String {
        let mut end = self.rest.len();
        let mut escaped = false;
        let mut closed = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    end = at;
                    closed = true;
                    break;
                }
                _ => {}
            }
        }
        let inside = self.rest.get(1..end).unwrap_or_default();
        let meant = serde_json::from_str(&format!("\"{inside}\"")).unwrap_or_else(|_| inside.to_owned());
        self.skip(end + usize::from(closed));
        if closed { meant } else { format!("{meant}…") }
    }

    /// A number, word, list or object, as it is written.
    fn other(&mut self) -> String {
        let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
        let mut end = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                _ if quoted => {}
                '{' | '[' => depth += 1,
                '}' | ']' | ',' if depth == 0 => {
                    end = at;
                    break;
                }
                '}' | ']' => depth -= 1,
                _ => {}
            }
        }
        let value = self.rest.get(..end).unwrap_or_default().trim().to_owned();
        self.skip(end);
        value
    }

    fn list(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        if self.rest.starts_with('[') {
            self.skip(1);
            loop {
                self.skip_blanks();
                if !self.rest.starts_with('"') || names.len() == 20 {
                    break;
                }
                names.push(one_line(&self.string()));
            }
        }
        names
    }
}

/// Line breaks and tabs become blanks; whoever shows it makes the rest of what is hidden visible.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_are_told_in_one_short_line() {
        let long = "x".repeat(300);
        let cases: &[(&str, &str)] = &[
            (
                r##"{"url":"https://example.com","selector":"#go"}"##,
                "url: https://example.com, selector: #go",
            ),
            (r#"{ "a" : 1 , "b" : [1, {"c": "},"}] }"#, r#"a: 1, b: [1, {"c": "},"}]"#),
            (r#"{"text":"one\ntwo\t\"x\""}"#, r#"text: one two "x""#),
            ("{}", ""),
            (r#"["x"]"#, r#"["x"]"#),
            (r#"{"path":"/home/someb"#, "path: /home/someb…"),
            (r#"{"deep":{"a":["#, r#"deep: {"a":["#),
            ("\"just text", "\"just text"),
        ];
        for (args, expected) in cases {
            assert_eq!(gist(Some(args), false), *expected, "{args}");
        }
        let told = gist(Some(&format!(r#"{{"a":"{long}","b":2}}"#)), false);
        assert!(told.ends_with("…, b: 2"), "a long value does not hide the next: {told}");
        assert_eq!(gist(Some(r#"["url","token"]"#), true), "(not kept: url, token)");
        assert_eq!(gist(Some(""), true), "(not kept)");
        assert_eq!(gist(None, false), "");
    }

    proptest! {
        #[test]
        fn any_text_has_a_short_gist_without_line_breaks(text in "\\PC*|[{}\\[\\]\",:\\\\a\\n]{0,40}", withheld: bool) {
            let told = gist(Some(&text), withheld);
            prop_assert!(withheld || told.chars().count() <= LONGEST);
            prop_assert!(!told.contains('\n'));
        }
    }
}
