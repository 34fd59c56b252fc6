//! `callgate classify`: what tools can do, told from definitions on stdin, one JSON object a line.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use callgate_risk::{
    Assessment, KnownServer, ScanContext, ScanFinding, ToolDefinition, ToolNames, classify, scan,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::ClassifyArgs;
use crate::screen::{BAD, DIM, Screen, WARN, clip, harmless, pad};

/// One line of the input. What is not named here may stand there and is not looked at.
#[derive(Debug, Deserialize)]
struct InputLine {
    #[serde(default)]
    server: String,
    tool: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "inputSchema")]
    input_schema: Option<Value>,
    #[serde(default)]
    annotations: Option<Value>,
}

pub(crate) fn run(args: &ClassifyArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut input = io::stdin().lock();
    let mut bytes = Vec::new();
    let mut has_failed = false;
    // Of the lines before: what comes later is not there yet when this one is answered.
    let mut names = ToolNames::default();
    for number in 1.. {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).context("stdin cannot be read")? == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let read = serde_json::from_slice::<Value>(&bytes);
        let written = match read.and_then(|entry| Ok((InputLine::deserialize(&entry)?, entry))) {
            Ok((line, entry)) => {
                let (said, findings) = assess(&line, &entry, args.no_catalogue, &mut names);
                if args.json {
                    as_json(&line, &said, &findings).to_string()
                } else {
                    as_row(&screen, &line, &said, &findings)
                }
            }
            Err(error) => {
                has_failed = true;
                let reason = format!("line {number} is not a tool's definition: {error}");
                if args.json {
                    json!({ "error": reason, "line": number }).to_string()
                } else {
                    screen.paint(BAD, &harmless(&reason))
                }
            }
        };
        // A reader that left (`| head`) has seen enough.
        if writeln!(output, "{written}").is_err() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    drop(output.flush());
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn assess(
    line: &InputLine,
    entry: &Value,
    no_catalogue: bool,
    names: &mut ToolNames,
) -> (Assessment, Vec<ScanFinding>) {
    let tool = ToolDefinition {
        server: &line.server,
        name: &line.tool,
        title: line.title.as_deref().unwrap_or_default(),
        description: line.description.as_deref().unwrap_or_default(),
        input_schema: line.input_schema.as_ref(),
        annotations: line.annotations.as_ref(),
    };
    let known = KnownServer::by_name(&line.server).filter(|_| !no_catalogue);
    let said = known.and_then(|known| known.assess(&tool)).unwrap_or_else(|| classify(&tool));
    let context = ScanContext { server: &line.server, is_known: known.is_some(), names: Some(names) };
    let findings = scan(&line.tool, entry, &context);
    names.add(&line.server, &line.tool, known.is_some());
    (said, findings)
}

fn as_json(line: &InputLine, said: &Assessment, findings: &[ScanFinding]) -> Value {
    let mut object = json!({
        "server": line.server,
        "tool": line.tool,
        "label": said.class,
        "severity": said.severity,
        "confidence": said.confidence,
        "reason": said.reason,
        "evidence": said.evidence,
        "flags": said.flags,
        "findings": findings,
    });
    if !said.uncertain.is_empty() {
        object["uncertain"] = json!(said.uncertain);
    }
    if !said.operations.is_empty() {
        object["operations"] = json!(said.operations);
    }
    object
}

fn as_row(screen: &Screen, line: &InputLine, said: &Assessment, findings: &[ScanFinding]) -> String {
    let class = pad(said.class.name(), 12);
    let style = match said.severity.name() {
        "Critical" => BAD,
        "High" => WARN,
        _ => DIM,
    };
    let name = pad(&clip(&harmless(&format!("{} {}", line.server, line.tool)), 48), 48);
    let mut row = format!("{} {} {}", name, screen.paint(style, &class), harmless(&said.reason));
    for found in findings {
        let told =
            format!("\n    {} in {}: {} “{}”", found.code, found.place, found.explanation, found.quote);
        row.push_str(&screen.paint(BAD, &format!("\n{}", harmless(told.trim_start_matches('\n')))));
    }
    row
}
