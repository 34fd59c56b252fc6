//! What a server's answer says about a session. Servers answer with JSON in a text; what is not found is unknown.

use callgate_protocol::json::Raw;

use crate::session::RetainedText;

/// No id or path is longer; what is, is none.
const LONGEST: usize = 4096;
/// How the written file is called.
const FILE: [&str; 2] = ["filePath", "file_path"];

/// The id of the session that was started.
pub(crate) fn session_id(result: &str) -> Option<String> {
    member(result, &["sessionId", "session_id"]).or_else(|| texts(result).iter().find_map(|text| uuid(text)))
}

/// The file that was written. The whole test stands in the same answer, behind it: of an answer that was too long for the
/// record the beginning is there, and tells.
pub(crate) fn file(result: RetainedText<'_>) -> Option<String> {
    match result {
        RetainedText::Whole(text) | RetainedText::Masked(text) => member(text, &FILE),
        RetainedText::Cut(start) => FILE.iter().find_map(|name| cut_member(start, name)),
        RetainedText::Absent | RetainedText::Names(_) => None,
    }
}

/// `Status: 404 Not Found`, as the servers tell how a request came out.
pub(crate) fn status(result: RetainedText<'_>) -> Option<u16> {
    let texts = texts(result.json()?);
    let mut lines = texts.iter().flat_map(|text| text.lines());
    let told = lines.find_map(|line| line.strip_prefix("Status: "))?;
    let digits = told.split_once(' ').map_or(told, |(digits, _)| digits);
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

fn member(result: &str, names: &[&str]) -> Option<String> {
    let root = Raw::parse(result).ok()?;
    let of = |value: Raw<'_>| {
        let found = names.iter().find_map(|name| value.get(name)).and_then(Raw::as_str)?;
        usable(&found)
    };
    root.get("structuredContent")
        .and_then(of)
        .or_else(|| texts(result).iter().find_map(|text| Raw::parse(text).ok().and_then(of)))
}

fn usable(found: &str) -> Option<String> {
    (!found.is_empty() && found.len() <= LONGEST && !found.contains("[masked, ")).then(|| found.to_owned())
}

/// A text member at the beginning of JSON whose end is missing: of the answer itself, or of the JSON in its first text. It
/// has to be the first member there, because what is behind another value may be a part of that value.
fn cut_member(start: &str, name: &str) -> Option<String> {
    let inner = start.split_once(r#""text":""#).map(|(_, text)| text)?;
    let value = inner.strip_prefix(&format!(r#"{{\"{name}\":\""#))?;
    let mut end = None;
    let mut rest = value.char_indices();
    while let Some((at, c)) = rest.next() {
        if c != '\\' {
            continue;
        }
        match rest.next()?.1 {
            // `\"` ends the inner text; `\\\"` is a quote inside it.
            '"' => {
                end = Some(at);
                break;
            }
            // An escape of the inner JSON: its second half may be escaped itself.
            '\\' if rest.next()?.1 == '\\' => drop(rest.next()?),
            _ => {}
        }
    }
    // Unescaped twice, as it was escaped twice.
    let once = format!("\"{}\"", value.get(..end?)?);
    let once = Raw::parse(&once).ok().and_then(Raw::as_str)?;
    let twice = format!("\"{once}\"");
    usable(&Raw::parse(&twice).ok().and_then(Raw::as_str)?)
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
        assert_eq!(file(RetainedText::Whole(result)).as_deref(), Some("/tmp/e2e/test_1.spec.ts"));
    }

    #[test]
    fn a_file_name_survives_an_answer_that_was_too_long_for_the_record() {
        for path in [
            "/tmp/e2e/test_1.spec.ts",
            r#"/tmp/a "quoted" \ b/t.spec.ts"#,
            r"C:\Users\ann\t.spec.ts",
            "/tmp/é\n/ü",
        ] {
            let text = serde_json::json!({ "filePath": path, "testCode": "x".repeat(200_000) }).to_string();
            let answer = serde_json::json!({ "content": [{ "type": "text", "text": text }] }).to_string();
            // serde_json sorts members: the servers have the type first, too.
            assert_eq!(file(RetainedText::Cut(&answer[..65_536])).as_deref(), Some(path));
            assert_eq!(file(RetainedText::Whole(&answer)).as_deref(), Some(path), "as if it were whole");
        }
    }

    #[test]
    fn what_is_no_first_member_of_a_cut_answer_is_no_file() {
        for start in [
            r#"{"content":[{"type":"text","text":"{\"testCode\":\"x \\\"filePath\\\":\\\"/etc/passwd\\\"\",\"filePath\":\"/real"#,
            r#"{"content":[{"type":"text","text":"{\"filePath\":\"/half/of/a/pa"#,
            r#"{"content":[{"type":"text","text":"{\"filePath\":\"[masked, 8 characters]\",\"x"#,
            r#"{"content":[{"#,
        ] {
            assert_eq!(file(RetainedText::Cut(start)), None, "{start}");
        }
    }

    #[test]
    fn the_status_of_a_request_is_read_from_its_own_line() {
        let said = |text: &str| {
            let answer = serde_json::json!({ "content": [{ "type": "text", "text": text }] }).to_string();
            status(RetainedText::Whole(&answer))
        };
        assert_eq!(said("GET request to http://x\nStatus: 404 Not Found\nResponse: no"), Some(404));
        assert_eq!(said("Status: 200"), Some(200));
        for other in ["Response: Status: 404", "Status: 99999", "Status: ok", ""] {
            assert_eq!(said(other), None, "{other}");
        }
    }
}
