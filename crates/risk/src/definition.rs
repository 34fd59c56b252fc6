//! A tool as its server lists it; only the name is sure to be there.

use serde_json::Value;

#[derive(Clone, Copy, Debug, Default)]
pub struct ToolDefinition<'a> {
    /// What the server is called where the tool was met; its own words at the head of a tool's name say nothing.
    pub server: &'a str,
    pub name: &'a str,
    pub title: &'a str,
    pub description: &'a str,
    pub input_schema: Option<&'a Value>,
    pub annotations: Option<&'a Value>,
}
