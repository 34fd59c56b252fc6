//! Thousands of made-up tools through everything that judges one: the class, the scan and the rule, without a panic.

use callgate_recommend::{Facts, recommend};
use callgate_risk::{ScanContext, ToolDefinition, ToolNames, classify, scan};
use serde_json::{Map, Value, json};

/// The same numbers each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const WORDS: &[&str] = &[
    "delete",
    "get",
    "run",
    "list",
    "pay",
    "",
    "_",
    "é",
    "\u{202e}",
    "\u{1b}[8m",
    "SELECT",
    "ignore",
    "all",
    "previous",
    "instructions",
    "<!--",
    "-->",
    "![",
    "](http://",
    "{{",
    "order",
    "book",
    "issue",
    "credit",
    "not",
    "without",
    "🏴",
    "\u{e0041}",
    "0x",
    "&#73;",
    "aWdub3JlIGFsbCBwcmV2aW91cw==",
    "a/b",
    "..",
    ".",
    ",",
    ":",
    "(",
    ")",
    "is",
    "gone",
    "which",
    "of",
    "the",
    "by",
    "to",
    "and",
    "%41%42",
    "<div hidden>",
    "\n",
    "\t",
    "camelCaseName",
    "HTTPServer2",
    "ſ",
    "İ",
    "ß",
];

fn text(numbers: &mut Numbers, most: usize, between: &str) -> String {
    let words = numbers.below(most);
    (0..words).map(|_| numbers.one(WORDS)).collect::<Vec<_>>().join(between)
}

fn schema(numbers: &mut Numbers, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..numbers.below(4) {
        let name = numbers
            .one(&["path", "operation", "command", "sql", "url", "note", "é", "a b c d e f g h"])
            .to_owned();
        let about = match numbers.below(5) {
            0 if depth < 3 => schema(numbers, depth + 1),
            1 => json!({ "enum": [numbers.one(WORDS), "delete", 1, null] }),
            2 => json!({ "type": ["string", "null"], "description": text(numbers, 8, " ") }),
            3 => json!(numbers.one(WORDS)),
            _ => json!({ "type": "string", "default": text(numbers, 4, " ") }),
        };
        properties.insert(name, about);
    }
    json!({ "type": "object", "properties": properties })
}

#[test]
fn eight_thousand_made_up_tools_are_judged_without_a_panic() {
    let mut numbers = Numbers(20_261_119);
    let mut names = ToolNames::default();
    let mut flagged = 0;
    for nth in 0..8_000 {
        let server = format!("server{}", numbers.below(40));
        let name = format!("{}{}", text(&mut numbers, 5, "_"), if nth % 3 == 0 { "" } else { "_thing" });
        let (title, description) = (text(&mut numbers, 3, " "), text(&mut numbers, 40, " "));
        let (input, annotations) = (schema(&mut numbers, 0), json!({ "destructiveHint": nth % 2 == 0 }));
        let tool = ToolDefinition {
            server: &server,
            name: &name,
            title: &title,
            description: &description,
            input_schema: Some(&input),
            annotations: Some(&annotations),
        };
        let assessment = classify(&tool);
        let entry =
            json!({ "title": title, "description": description, "inputSchema": input, "_meta": annotations });
        let context = ScanContext { server: &server, is_known: nth % 7 == 0, names: Some(&names) };
        let findings = scan(&name, &entry, &context);
        flagged += usize::from(!findings.is_empty());
        let has_findings = !findings.is_empty();
        let facts = Facts { name: &name, assessment: &assessment, has_findings, guards: None };
        let rule = recommend(&facts);
        assert!(!rule.words.is_empty() && !assessment.reason.is_empty(), "{name}");
        names.add(&server, &name, nth % 5 == 0);
    }
    assert!(flagged > 1_000, "there was something to find: {flagged}");
}
