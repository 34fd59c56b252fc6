//! The server of the demonstration: the four code-generation tools and a few of a browser, without a browser.
//!
//! A real MCP server over stdio in every respect that the gate can see.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// Name, what it does, its parameters.
const TOOLS: &[(&str, &str, &[&str])] = &[
    (
        "start_codegen_session",
        "Start a new code generation session to record Playwright actions",
        &["options"],
    ),
    ("get_codegen_session", "Get information about a code generation session", &["sessionId"]),
    ("end_codegen_session", "End a code generation session and generate the test file", &["sessionId"]),
    ("clear_codegen_session", "Clear a code generation session without generating a test", &["sessionId"]),
    ("playwright_navigate", "Navigate to a URL", &["url"]),
    ("playwright_fill", "Fill out an input field", &["selector", "value"]),
    ("playwright_click", "Click an element on the page", &["selector"]),
    ("playwright_evaluate", "Execute JavaScript in the browser console", &["script"]),
];

pub(crate) fn serve() -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut actions: Vec<Value> = Vec::new();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "callgate-demo", "version": env!("CARGO_PKG_VERSION")},
            }),
            "tools/list" => json!({"tools": TOOLS.iter().map(describe).collect::<Vec<_>>()}),
            "tools/call" => call(&mut actions, &message["params"]),
            _ => json!({}),
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe((name, description, parameters): &(&str, &str, &[&str])) -> Value {
    let properties: serde_json::Map<String, Value> =
        parameters.iter().map(|parameter| ((*parameter).to_owned(), json!({}))).collect();
    json!({"name": name, "description": description, "inputSchema": {"type": "object", "properties": properties}})
}

fn call(actions: &mut Vec<Value>, params: &Value) -> Value {
    let tool = params["name"].as_str().unwrap_or_default();
    let text = match tool {
        "start_codegen_session" => {
            actions.clear();
            json!({"sessionId": "demo-1"}).to_string()
        }
        "get_codegen_session" => json!({"sessionId": "demo-1", "actions": actions}).to_string(),
        "end_codegen_session" => format!("Test generated: demo.spec.ts ({} actions)", actions.len()),
        "clear_codegen_session" => {
            actions.clear();
            json!({"success": true}).to_string()
        }
        _ => {
            actions.push(params.clone());
            format!("{tool}: done")
        }
    };
    json!({"content": [{"type": "text", "text": text}], "isError": false})
}
