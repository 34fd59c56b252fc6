//! The words of one rule, cut out of the policy's text: what a person wants to see beside a decision.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use crate::file::json_with_comments;

/// The text at a JSON pointer, with its own indentation taken off. `None` when there is nothing at that place.
pub fn excerpt(text: &str, pointer: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &json_with_comments()).ok()?;
    let mut value = parsed.value?;
    let mut from = value.start();
    for step in pointer.strip_prefix('/')?.split('/') {
        let key = step.replace("~1", "/").replace("~0", "~");
        (from, value) = match value {
            Value::Object(object) => {
                let member = object.properties.into_iter().find(|member| member.name.as_str() == key)?;
                (member.start(), member.value)
            }
            Value::Array(array) => {
                let element = array.elements.into_iter().nth(key.parse().ok()?)?;
                (element.start(), element)
            }
            _ => return None,
        };
    }
    Some(dedent(text, from, value.end()))
}

/// Takes the indentation of the first line off every line.
fn dedent(text: &str, from: usize, to: usize) -> String {
    let line = text[..from].rfind('\n').map_or(0, |end| end + 1);
    let indent = &text[line..from];
    let indent = &indent[..indent.len() - indent.trim_start().len()];
    let lines: Vec<&str> =
        text[from..to].lines().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "{\n  // why\n  \"tools\": {\n    \"a/b\": {\n      \"limits\": [\n        { \"max\": 3 } // three\n      ]\n    }\n  }\n}\n";

    #[test]
    fn a_rule_is_shown_as_it_was_written() {
        assert_eq!(excerpt(POLICY, "/tools/a~1b/limits/0").as_deref(), Some("{ \"max\": 3 }"));
        assert_eq!(
            excerpt(POLICY, "/tools/a~1b").as_deref(),
            Some("\"a/b\": {\n  \"limits\": [\n    { \"max\": 3 } // three\n  ]\n}")
        );
    }

    #[test]
    fn a_place_that_is_not_there_shows_nothing() {
        for pointer in [
            "",
            "(paused)",
            "/tools/x",
            "/tools/a~1b/limits/9",
            "/tools/a~1b/limits/x",
            "/tools/a~1b/limits/0/max/deep",
        ] {
            assert_eq!(excerpt(POLICY, pointer), None, "{pointer}");
        }
        assert_eq!(excerpt("{ broken", "/tools"), None);
    }
}
