//! The four tools by which servers offer codegen sessions. The published ones share the names.

use std::borrow::Cow;

use callgate_protocol::json::Raw;

/// What a call does to a codegen session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Start,
    /// Writes the test.
    End,
    Get,
    /// Forgets the session without writing anything.
    Clear,
}

impl Verb {
    pub const ALL: [Verb; 4] = [Verb::Start, Verb::End, Verb::Get, Verb::Clear];

    /// `None` for every other tool. Asked of each call.
    pub fn of(tool: &str) -> Option<Verb> {
        let verb = tool.strip_suffix("_codegen_session")?;
        match verb {
            "start" => Some(Verb::Start),
            "end" => Some(Verb::End),
            "get" => Some(Verb::Get),
            "clear" => Some(Verb::Clear),
            _ => None,
        }
    }

    pub fn tool(self) -> &'static str {
        match self {
            Verb::Start => "start_codegen_session",
            Verb::End => "end_codegen_session",
            Verb::Get => "get_codegen_session",
            Verb::Clear => "clear_codegen_session",
        }
    }
}

/// The session that arguments name. Two names are none: nobody knows which of them a server takes.
pub fn session_named(args: Raw<'_>) -> Option<Cow<'_, str>> {
    match (args.get("sessionId"), args.get("session_id")) {
        (Some(id), None) | (None, Some(id)) => id.as_str(),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_is_known_by_the_name_of_its_tool_alone() {
        for verb in Verb::ALL {
            assert_eq!(Verb::of(verb.tool()), Some(verb));
        }
        for other in
            ["codegen_session", "_codegen_session", "restart_codegen_session", "start_codegen_sessions"]
        {
            assert_eq!(Verb::of(other), None, "{other}");
        }
    }
}
