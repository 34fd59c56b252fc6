//! The lines that the driver sends and the echo server answers.
//!
//! All ids have seven digits, so a line can be built once and only its id replaced before each send: the
//! client then costs the same for a small call and for one of 64 MiB.

/// The tool of all small calls.
pub const SMALL_TOOL: &str = "browser_click";
/// The tool whose result has the size that its `bytes` argument asks for.
pub const RESULT_TOOL: &str = "browser_snapshot";
/// The tool that takes large arguments.
pub const ARGUMENTS_TOOL: &str = "browser_type";

pub const FIRST_ID: u64 = 1_000_000;
pub const LAST_ID: u64 = 9_999_999;

/// One complete line whose id can be replaced in place.
#[derive(Clone, Debug)]
pub struct Template {
    line: Vec<u8>,
}

const HEAD: &str = r#"{"jsonrpc":"2.0","id":"#;

impl Template {
    fn new(rest: &str) -> Template {
        Template { line: format!("{HEAD}{FIRST_ID},{rest}\n").into_bytes() }
    }

    pub fn initialize() -> Template {
        Template::new(
            r#""method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
        )
    }

    pub fn list_tools() -> Template {
        Template::new(r#""method":"tools/list","params":{}}"#)
    }

    /// A call with these arguments.
    pub fn call(tool: &str, arguments: &str) -> Template {
        Template::new(&format!(
            r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ))
    }

    /// A small call, about 180 bytes, of the kind that a browser agent makes all day.
    pub fn small_call(tool: &str) -> Template {
        Template::call(
            tool,
            r##"{"url":"https://example.com/orders/1042","selector":"#submit","button":"left"}"##,
        )
    }

    /// A small call that is answered by a line of exactly `bytes` bytes, its line feed included.
    pub fn ask_for(bytes: usize) -> Template {
        Template::new(&format!(
            r#""method":"tools/call","params":{{"name":"{RESULT_TOOL}","arguments":{{"bytes":{bytes}}}}}}}"#
        ))
    }

    /// A call whose line has exactly `bytes` bytes, its line feed included.
    pub fn arguments_of(bytes: usize) -> Template {
        let open = format!(
            r##""method":"tools/call","params":{{"name":"{ARGUMENTS_TOOL}","arguments":{{"url":"https://example.com/","selector":"#notes","text":""##
        );
        let close = r#""}}}"#;
        let frame = HEAD.len() + FIRST_ID.to_string().len() + 1 + open.len() + close.len() + 1;
        Template::new(&format!("{open}{}{close}", filler(bytes - frame)))
    }

    pub fn len(&self) -> usize {
        self.line.len()
    }

    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// The line under this id.
    pub fn with_id(&mut self, id: u64) -> &[u8] {
        write_id(&mut self.line[HEAD.len()..], id);
        &self.line
    }

    pub fn append_with_id(&mut self, id: u64, out: &mut Vec<u8>) {
        let line = self.with_id(id);
        out.extend_from_slice(line);
    }
}

fn write_id(at: &mut [u8], id: u64) {
    assert!((FIRST_ID..=LAST_ID).contains(&id), "ids of the bench have seven digits");
    let mut rest = id;
    for digit in at[..7].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Text of exactly `bytes` bytes that can stand inside a JSON string: words, with an escaped line end now and then.
pub fn filler(bytes: usize) -> String {
    const LINE: &str = r"Orders shipped on Monday arrive on Wednesday; the list below shows each one.\n";
    let mut text = LINE.repeat(bytes / LINE.len());
    text.extend(std::iter::repeat_n('.', bytes - text.len()));
    text
}

/// What the client makes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server's result.
    Result,
    /// A tool result that says the call failed: a refusal in words.
    Refused,
    /// A JSON-RPC error.
    Error,
}

/// Reads the answer to `id`; `None` when the line answers something else.
pub fn read_answer(line: &[u8], id: u64) -> Option<Answer> {
    let mut digits = [0; 7];
    write_id(&mut digits, id);
    let rest = line.strip_prefix(HEAD.as_bytes())?.strip_prefix(&digits)?;
    if rest.starts_with(br#","error":"#) {
        return Some(Answer::Error);
    }
    if !rest.starts_with(br#","result":"#) {
        return None;
    }
    // A refusal is short. Searching megabytes for the word would only measure the search.
    let short = &rest[..rest.len().min(4096)];
    let refused = memchr::memmem::find(short, br#""isError":true"#).is_some();
    Some(if refused { Answer::Refused } else { Answer::Result })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_exactly_the_size_asked_for() {
        for bytes in [1_000, 1_000_000] {
            let mut template = Template::arguments_of(bytes);
            let line = template.with_id(FIRST_ID + 41).to_vec();
            assert_eq!(line.len(), bytes);
            let text = String::from_utf8(line).unwrap();
            assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":1000041,"method":"tools/call""#));
            assert!(text.ends_with("\"}}}\n"));
        }
    }

    #[test]
    fn only_the_answer_to_this_id_counts() {
        let result = br#"{"jsonrpc":"2.0","id":1000007,"result":{"content":[]}}"#;
        let refused = br#"{"jsonrpc":"2.0","id":1000007,"result":{"content":[],"isError":true}}"#;
        let error = br#"{"jsonrpc":"2.0","id":1000007,"error":{"code":-32602,"message":"no"}}"#;
        assert_eq!(read_answer(result, 1_000_007), Some(Answer::Result));
        assert_eq!(read_answer(result, 1_000_008), None);
        assert_eq!(read_answer(refused, 1_000_007), Some(Answer::Refused));
        assert_eq!(read_answer(error, 1_000_007), Some(Answer::Error));
    }
}
