//! The words of one rule, cut out of the policy's text: what a person wants to see beside a decision.

use callgate_document::{Document, Value};

/// The text at a JSON pointer, with its own indentation taken off. `None` when there is nothing at that place.
pub fn excerpt(text: &str, pointer: &str) -> Option<String> {
    let document = Document::lenient(text)?;
    let (mut node, mut from) = (&document.root, document.root.span.start);
    for step in pointer.strip_prefix('/')?.split('/') {
        let key = step.replace("~1", "/").replace("~0", "~");
        (from, node) = match &node.value {
            Value::Map(_) => node.member(&key).map(|member| (member.key_span.start, &member.value))?,
            _ => node.at(&[&key]).map(|node| (node.span.start, node))?,
        };
    }
    Some(dedent(&document.text, from, node.span.end))
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
