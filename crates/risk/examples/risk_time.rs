//! How long the look at definitions takes, as lines of `what<TAB>unit<TAB>figure`; the bench shows them in its tables.
#![expect(clippy::print_stdout, reason = "a measuring program")]

use std::hint::black_box;
use std::time::Instant;

use callgate_risk::{ScanContext, ToolDefinition, ToolNames, classify, scan};
use serde_json::{Value, json};

const TOOLS: usize = 10_000;

/// Definitions of tools as they are, over and over, with a schema as most have it.
fn definitions() -> Vec<(String, Value)> {
    let rows: Vec<Vec<&str>> =
        include_str!("../tests/data/tools.tsv").lines().map(|row| row.split('\t').collect()).collect();
    let one = |nth: usize| {
        let row = &rows[nth % rows.len()];
        let name = format!("{}_{}", row.get(1).copied().unwrap_or_default(), nth / rows.len());
        let schema = json!({ "type": "object", "properties": {
            "path": { "type": "string", "description": "Where the result is written to, as a whole path" },
            "limit": { "type": "integer", "description": "How many at most; 20 if nothing is said" },
        } });
        (name, json!({ "description": row.get(3).copied().unwrap_or_default(), "inputSchema": schema }))
    };
    (0..TOOLS).map(one).collect()
}

fn main() {
    let all = definitions();
    let begun = Instant::now();
    for (name, entry) in &all {
        let description = entry.get("description").and_then(Value::as_str).unwrap_or_default();
        let input_schema = entry.get("inputSchema");
        black_box(classify(&ToolDefinition { name, description, input_schema, ..ToolDefinition::default() }));
    }
    println!("classify 10,000 tools\ts\t{:.3}", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let mut names = ToolNames::default();
    for (name, entry) in &all {
        let context = ScanContext { server: "one", is_known: false, names: Some(&names) };
        black_box(scan(name, entry, &context));
        names.add("other", name, false);
    }
    println!("scan 10,000 definitions\ts\t{:.3}", begun.elapsed().as_secs_f64());
}
