//! What a server's answer says about a session. Servers answer with JSON in a text; what is not found is unknown.

use callgate_protocol::json::Raw;

/// No id or path is longer; what is, is none.
const LONGEST: usize = 4096;

/// The id of the session that was started.
pub(crate) fn session_id(result: &str) -> Option<String> {
    member(result, &["sessionId", "session_id"]).or_else(|| texts(result).iter().find_map(|text| uuid(text)))
}

/// The file that was written.
pub(crate) fn file(result: &str) -> Option<String> {
    member(result, &["filePath", "file_path"])
}

fn member(result: &str, names: &[&str]) -> Option<String> {
    let root = Raw::parse(result).ok()?;
    let of = |value: Raw<'_>| {
        let found = names.iter().find_map(|name| value.get(name)).and_then(Raw::as_str)?;
        (!found.is_empty() && found.len() <= LONGEST && !found.contains("[masked, "))
            .then(|| found.into_owned())
    };
    root.get("structuredContent")
        .and_then(of)
        .or_else(|| texts(result).iter().find_map(|text| Raw::parse(text).ok().and_then(of)))
}

fn texts(result: &str) -> Vec<String> {
    let content = Raw::parse(result).ok().and_then(|root| root.get("content"));
    let items = content.into_iter().flat_map(Raw::items);
    items.filter_map(|item| item.get("text").and_then(Raw::as_str)).map(|text| text.into_owned()).collect()
}

/// The first word that looks like the id of a session.
fn uuid(text: &str) -> Option<String> {
    let is_uuid = |word: &&str| {
        word.len() == 36
            && word.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').find(is_uuid).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_the_answers_of_the_published_servers() {
        let id = "0f0e0d0c-0000-4000-8000-0123456789ab";
        let json = format!(
            r#"{{"content":[{{"type":"text","text":"{{\"sessionId\":\"{id}\",\"options\":{{}}}}"}}],"isError":false}}"#
        );
        assert_eq!(session_id(&json).as_deref(), Some(id));
        let words = format!(r#"{{"content":[{{"type":"text","text":"Started codegen session {id}."}}]}}"#);
        assert_eq!(session_id(&words).as_deref(), Some(id));
        let structured = format!(r#"{{"content":[],"structuredContent":{{"session_id":"{id}"}}}}"#);
        assert_eq!(session_id(&structured).as_deref(), Some(id));
    }

    #[test]
    fn what_is_masked_cut_or_no_json_is_unknown() {
        for result in [
            "",
            "{",
            r#"{"content":[{"type":"text","text":"{\"sessionId\":\"[masked, 36 characters]\"}"}]}"#,
            r#"{"content":[{"type":"text","text":"started"}]}"#,
            r#"{"content":"x"}"#,
        ] {
            assert_eq!(session_id(result), None, "{result}");
        }
    }

    #[test]
    fn the_written_file_is_found() {
        let result = r#"{"content":[{"type":"text","text":"{\"filePath\":\"/tmp/e2e/test_1.spec.ts\",\"testCode\":\"x\"}"}]}"#;
        assert_eq!(file(result).as_deref(), Some("/tmp/e2e/test_1.spec.ts"));
    }
}
