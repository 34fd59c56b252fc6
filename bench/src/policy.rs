//! The policies of the measured sessions: a realistic one, the same with a shared limit, and one for the crowd.

use crate::message::{ARGUMENTS_TOOL, RESULT_TOOL, SMALL_TOOL};

/// How many tools the largest of the known browser servers has.
pub const TOOLS: usize = 91;

/// Name of a tool in the echo server's list; the first ones have names of their own.
pub fn tool_name(index: usize) -> String {
    let named = [
        SMALL_TOOL,
        RESULT_TOOL,
        ARGUMENTS_TOOL,
        "start_codegen_session",
        "end_codegen_session",
        "get_codegen_session",
        HIDDEN_TOOL,
    ];
    named.get(index).map_or_else(|| format!("browser_action_{index:03}"), |name| (*name).to_owned())
}

pub const HIDDEN_TOOL: &str = "clear_codegen_session";

/// Who shares the counter of the small calls' own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// This session only: kept in memory.
    Session,
    /// Every session of this client with this server: kept on disk, taken under a lock.
    Shared,
}

/// 91 tools, one hidden, several limits and conditions. No limit is low enough to be reached while measuring.
pub fn realistic(counter: Counter) -> String {
    let scope = match counter {
        Counter::Session => "session",
        Counter::Shared => "grant",
    };
    let mut tools = vec![
        format!(
            r#"    "{SMALL_TOOL}": {{
      "limits": [ {{ "counter": "clicks", "window": "minute", "max": 5000000, "scope": "{scope}" }} ],
      "deny_if": [ {{ "conditions": [ {{ "path": "args.url", "op": "regex", "value": "^file:" }} ], "on_deny": "no local files" }} ] }}"#
        ),
        format!(
            r#"    "{ARGUMENTS_TOOL}": {{
      "deny_if": [ {{ "conditions": [ {{ "path": "args.url", "op": "regex", "value": "^file:" }} ], "on_deny": "no local files" }} ] }}"#
        ),
        r#"    "start_codegen_session": { "limits": [ { "counter": "starts", "window": "minute", "max": 10, "scope": "grant" } ] }"#.to_owned(),
        r#"    "end_codegen_session": { "action": "deny", "reason": "a person ends sessions" }"#.to_owned(),
    ];
    let plain = (0..TOOLS).map(tool_name).filter(|name| {
        ![SMALL_TOOL, ARGUMENTS_TOOL, "start_codegen_session", "end_codegen_session", HIDDEN_TOOL]
            .contains(&name.as_str())
    });
    tools.extend(plain.enumerate().map(|(index, name)| match index % 4 {
        0 => format!(
            r#"    "{name}": {{ "limits": [ {{ "counter": "{name}_rate", "window": "minute", "max": 1000000, "scope": "session" }} ] }}"#
        ),
        _ => format!(r#"    "{name}": {{}}"#),
    }));
    format!(
        r#"{{
  // What a careful person writes for a browser server.
  "version": "1",
  "default": "deny",
  "hide": ["{HIDDEN_TOOL}"],
  "all_tools": {{ "limits": [ {{ "counter": "all", "window": "minute", "max": 9000000, "scope": "session" }} ] }},
  "tools": {{
{}
  }}
}}
"#,
        tools.join(",\n")
    )
}

/// The realistic one, whatever the definitions of tools are.
pub fn unpinned() -> String {
    realistic(Counter::Session).replacen("\"version\": \"1\",", "\"version\": \"1\",\n  \"pin\": \"off\",", 1)
}

/// One limit that all sessions of the crowd share.
pub fn crowd(max: u32) -> String {
    format!(
        r#"{{
  "version": "1",
  "default": "deny",
  "tools": {{ "{SMALL_TOOL}": {{ "limits": [ {{ "counter": "crowd", "window": "hour", "max": {max}, "scope": "grant" }} ] }} }}
}}
"#
    )
}

/// A person decides about the small calls, and their client waits for so long.
pub fn asking(hold: &str) -> String {
    format!(
        r#"{{
  "version": "1",
  "default": "allow",
  "tools": {{ "{SMALL_TOOL}": {{ "action": "ask", "ask": {{ "hold": "{hold}" }} }} }}
}}
"#
    )
}
