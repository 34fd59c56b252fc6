//! Tool calls: the shape of the params of a tools/call.

use std::borrow::Cow;

use crate::{
    cause::Cause,
    json::{Kind, Raw},
};

/// Longest tool name, decoded.
pub const MAX_NAME: usize = 1024;

#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    pub name: Cow<'a, str>,
    /// An object. `null` counts as absent.
    pub arguments: Option<Raw<'a>>,
    /// The call asks to run as a task.
    pub task: bool,
}

/// What comes with a call that was answered with a question before: the state that it was given, and the answers.
pub(crate) const STATE: &str = "requestState";
pub(crate) const RESPONSES: &str = "inputResponses";

/// The members of params that make up a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) name: Option<Raw<'a>>,
    pub(crate) arguments: Option<Raw<'a>>,
    pub(crate) task: Option<Raw<'a>>,
    pub(crate) state: Option<Raw<'a>>,
    pub(crate) responses: Option<Raw<'a>>,
}

/// Reads the params of a tools/call.
pub fn tool_call(params: Option<Raw<'_>>) -> Result<ToolCall<'_>, Cause> {
    let params = params.ok_or(Cause::NoParams)?;
    if params.kind() != Kind::Object {
        return Err(Cause::ParamsKind);
    }
    let mut parts = Parts::default();
    for (key, value) in params.members() {
        match key.as_ref() {
            "name" => parts.name = Some(value),
            "arguments" => parts.arguments = Some(value),
            "task" => parts.task = Some(value),
            _ => {}
        }
    }
    from_parts(parts)
}

pub(crate) fn from_parts(parts: Parts<'_>) -> Result<ToolCall<'_>, Cause> {
    let name = parts.name.and_then(Raw::as_str).ok_or(Cause::ToolName)?;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(Cause::ToolName);
    }
    let arguments = match parts.arguments.map(Raw::kind) {
        None | Some(Kind::Null) => None,
        Some(Kind::Object) => parts.arguments,
        Some(_) => return Err(Cause::ArgumentsKind),
    };
    Ok(ToolCall { name, arguments, task: parts.task.is_some_and(|task| !task.is_null()) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_one_plain_name_and_an_object() {
        let call = tool_call(Some(
            Raw::parse(r#"{"task":{},"n\u0061me":"d\u0061nger","arguments":{"x":1}}"#).unwrap(),
        ));
        let call = call.unwrap();
        assert_eq!(call.name, "danger");
        assert_eq!(call.arguments.unwrap().text(), r#"{"x":1}"#);
        assert!(call.task);
        // e43: null is how some clients write "none".
        let call = tool_call(Some(Raw::parse(r#"{"name":"x","arguments":null}"#).unwrap())).unwrap();
        assert!(call.arguments.is_none() && !call.task);
    }

    #[test]
    fn anything_else_is_refused() {
        for (params, cause) in [
            // e30-e35
            (r#"{"name":["danger"]}"#, Cause::ToolName),
            (r#"{"name":{}}"#, Cause::ToolName),
            (r#"{"name":null}"#, Cause::ToolName),
            (r#"{"name":1}"#, Cause::ToolName),
            (r#"{"name":true}"#, Cause::ToolName),
            (r#"{"name":""}"#, Cause::ToolName),
            (r#"{}"#, Cause::ToolName),
            // g43: a lone surrogate
            (r#"{"name":"safe\ud800"}"#, Cause::ToolName),
            // e40-e42, e44
            (r#"{"name":"danger","arguments":[1]}"#, Cause::ArgumentsKind),
            (r#"{"name":"danger","arguments":"x"}"#, Cause::ArgumentsKind),
            (r#"{"name":"danger","arguments":7}"#, Cause::ArgumentsKind),
            (r#"{"name":"danger","arguments":true}"#, Cause::ArgumentsKind),
            ("[1]", Cause::ParamsKind),
        ] {
            assert_eq!(tool_call(Some(Raw::parse(params).unwrap())).unwrap_err(), cause, "{params}");
        }
        // g48: a name of 200 kB
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(200_000));
        assert_eq!(tool_call(Some(Raw::parse(&long).unwrap())).unwrap_err(), Cause::ToolName);
        assert_eq!(tool_call(None).unwrap_err(), Cause::NoParams);
    }
}
