//! The result of a tools/list: what it offers, and the same with some of its tools taken out.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    fold,
    json::{Kind, Raw},
    lists::{self, List},
};

pub use crate::lists::{Filtered, ListFault};

/// [`lists::filter`] for tools.
pub fn filter_list(result: Raw<'_>, keep: impl FnMut(&str) -> bool) -> Filtered {
    lists::filter(List::Tools, result, keep)
}

/// A tool as its server describes it.
#[derive(Clone, Debug)]
pub struct ListedTool<'a> {
    pub name: Cow<'a, str>,
    /// The whole entry, as it was written.
    pub definition: Raw<'a>,
    /// An object. `None` also where some reader could see another schema than we do: whoever has to check arguments
    /// must not check them against the wrong one.
    pub input_schema: Option<Raw<'a>>,
}

/// The tools of a list that a client could see: those that [`filter_list`] keeps when nothing is hidden.
pub fn learn_tools(result: Raw<'_>) -> Result<Vec<ListedTool<'_>>, ListFault> {
    let entries = lists::entries(List::Tools, result)?;
    let mut seen = HashSet::new();
    Ok(entries.filter_map(learn).filter(|tool| seen.insert(tool.name.clone())).collect())
}

fn learn(definition: Raw<'_>) -> Option<ListedTool<'_>> {
    let mut name = None;
    let mut input_schema = None;
    let mut doubtful_schema = false;
    // Nothing for what is not an object.
    for (key, value) in definition.members() {
        match key.as_ref() {
            "name" => name = value.as_str(),
            "inputSchema" => input_schema = Some(value),
            _ => match fold::resembles(&key, &["name", "inputSchema"]) {
                Some("name") => return None,
                Some(_) => doubtful_schema = true,
                None => {}
            },
        }
    }
    let input_schema = input_schema.filter(|schema| !doubtful_schema && schema.kind() == Kind::Object);
    Some(ListedTool { name: name?, definition, input_schema })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn learned(result: &str) -> Vec<(String, Option<String>)> {
        let tools = learn_tools(Raw::parse(result).unwrap()).unwrap();
        tools
            .iter()
            .map(|tool| (tool.name.to_string(), tool.input_schema.map(|schema| schema.text().to_owned())))
            .collect()
    }

    #[test]
    fn tools_are_learned_with_their_schemas() {
        let result = r#"{"nextCursor":"2","tools":[{"name":"\u0061","inputSchema":{"type":"object"},"x":1e400}, {"name":"b"}]}"#;
        assert_eq!(
            learned(result),
            [("a".to_owned(), Some(r#"{"type":"object"}"#.to_owned())), ("b".to_owned(), None)]
        );
        let raw = Raw::parse(result).unwrap();
        let tools = learn_tools(raw).unwrap();
        assert_eq!(
            tools[0].definition.text(),
            r#"{"name":"\u0061","inputSchema":{"type":"object"},"x":1e400}"#
        );
    }

    #[test]
    fn what_is_not_shown_is_not_learned() {
        let entries = r#"7,[],{},{"name":1},{"name":"a","Name":"b"},{"name":"\ud800"},{"name":"a","v":1},{"name":"a","v":2}"#;
        let result = format!(r#"{{"tools":[{entries}]}}"#);
        let tools = learn_tools(Raw::parse(&result).unwrap()).unwrap();
        let definitions: Vec<&str> = tools.iter().map(|tool| tool.definition.text()).collect();
        assert_eq!(definitions, [r#"{"name":"a","v":1}"#]);
    }

    #[test]
    fn a_doubtful_schema_is_no_schema() {
        for rest in [
            r#""inputSchema":true"#,
            r#""inputSchema":null"#,
            r#""inputSchema":[{}]"#,
            r#""inputSchema":{},"InputSchema":{}"#,
            r#""inputSchema":{},"input_schema":{}"#,
            r#""input_schema":{}"#,
        ] {
            let result = format!(r#"{{"tools":[{{"name":"a",{rest}}}]}}"#);
            assert_eq!(learned(&result), [("a".to_owned(), None)], "{rest}");
        }
    }

    #[test]
    fn an_unusable_list_teaches_nothing() {
        for (result, fault) in [
            ("[]", ListFault::NotAnObject),
            ("{}", ListFault::Missing(List::Tools)),
            (r#"{"tools":null}"#, ListFault::NotAnArray(List::Tools)),
            (r#"{"tools":[],"TOOLS":[]}"#, ListFault::LookAlike(List::Tools)),
        ] {
            assert_eq!(learn_tools(Raw::parse(result).unwrap()).unwrap_err(), fault, "{result}");
        }
    }
}
