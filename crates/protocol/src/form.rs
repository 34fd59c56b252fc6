//! Forms: a question with two answers that the gate puts to a client's person, as a request of its own (until 2025-11-25) or
//! inside the answer to a call (since 2026-07-28), and what counts as a yes.
//!
//! One choice that has to be made, never an empty form: some clients accept those by themselves. Whatever is not exactly the
//! yes is none.

use crate::answer::{clean, opening};
use crate::id::IdKey;
use crate::json::{Kind, Raw, quoted};

const FIELD: &str = "decision";
const NO: &str = "deny";
const YES: &str = "allow once";

/// Under which name the question stands inside an answer.
pub const QUESTION: &str = "callgate/approval";

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormAnswer {
    Yes,
    /// A no, or anything else.
    No,
    /// The client could not ask.
    NotAsked,
}

fn params(message: &str) -> String {
    format!(
        r#"{{"message":{},"requestedSchema":{{"type":"object","properties":{{"{FIELD}":{{"type":"string","title":"Decision","enum":["{NO}","{YES}"]}}}},"required":["{FIELD}"]}}}}"#,
        quoted(&clean(message))
    )
}

/// The question as a request.
pub fn request(id: &IdKey, message: &str) -> Vec<u8> {
    let mut out = opening(Some(id), 320 + message.len());
    out.extend_from_slice(
        format!(r#","method":"elicitation/create","params":{}}}"#, params(message)).as_bytes(),
    );
    out
}

/// The question inside the answer to a call, which is to come again with `state` and what was answered.
pub fn input_required(id: &IdKey, message: &str, state: &str) -> Vec<u8> {
    let mut out = opening(Some(id), 448 + message.len());
    let result = format!(
        r#","result":{{"resultType":"input_required","inputRequests":{{"{QUESTION}":{{"method":"elicitation/create","params":{}}}}},"requestState":{}}}}}"#,
        params(message),
        quoted(state)
    );
    out.extend_from_slice(result.as_bytes());
    out
}

/// Is this what a form is answered with when the person chose the yes, and nothing else?
pub fn is_yes(result: Raw<'_>) -> bool {
    let content = result.get("content").filter(|content| content.kind() == Kind::Object);
    let Some(content) = content.filter(|_| says(result.get("action"), "accept")) else { return false };
    content.members().count() == 1 && says(content.get(FIELD), YES)
}

/// The same of what a call brings that comes again.
pub fn is_yes_among(responses: Option<Raw<'_>>) -> bool {
    let Some(responses) = responses.filter(|responses| responses.kind() == Kind::Object) else {
        return false;
    };
    responses.members().count() == 1 && responses.get(QUESTION).is_some_and(is_yes)
}

fn says(value: Option<Raw<'_>>, text: &str) -> bool {
    value.and_then(Raw::as_str).is_some_and(|said| said == text)
}

/// Does a client say that it can show forms? Of the capabilities that it declares.
pub fn can_show(capabilities: Option<Raw<'_>>) -> bool {
    let said = capabilities.and_then(|capabilities| capabilities.get("elicitation"));
    said.filter(|said| said.kind() == Kind::Object)
        // Without a word of kinds, forms are the only one there was.
        .is_some_and(|said| {
            said.members().next().is_none()
                || said.get("form").is_some_and(|form| form.kind() == Kind::Object)
        })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::input::input_requests;
    use crate::message::{Body, Incoming, Outcome, Side, read};

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text).unwrap()
    }

    #[test]
    fn only_the_exact_yes_is_one() {
        for yes in [
            r#"{"action":"accept","content":{"decision":"allow once"}}"#,
            r#"{"_meta":{"x":1},"content":{"d\u0065cision":"allow\u0020once"},"action":"\u0061ccept"}"#,
        ] {
            assert!(is_yes(raw(yes)), "{yes}");
            assert!(is_yes_among(Some(raw(&format!(r#"{{"{QUESTION}":{yes}}}"#)))), "{yes}");
            assert!(!is_yes_among(Some(raw(&format!(r#"{{"{QUESTION}":{yes},"other":{yes}}}"#)))), "{yes}");
            assert!(!is_yes_among(Some(raw(&format!(r#"{{"other":{yes}}}"#)))), "{yes}");
        }
        for no in [
            r#"{"action":"accept","content":{"decision":"deny"}}"#,
            r#"{"action":"accept","content":{"decision":"Allow once"}}"#,
            r#"{"action":"accept","content":{"decision":"allow once "}}"#,
            r#"{"action":"accept","content":{"decision":["allow once"]}}"#,
            r#"{"action":"accept","content":{"decision":true}}"#,
            r#"{"action":"accept","content":{"decision":"allow once","note":"x"}}"#,
            r#"{"action":"accept","content":{"Decision":"allow once"}}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":["allow once"]}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"decline","content":{"decision":"allow once"}}"#,
            r#"{"action":"cancel","content":{"decision":"allow once"}}"#,
            r#"{"action":true,"content":{"decision":"allow once"}}"#,
            r#"{"content":{"decision":"allow once"}}"#,
            r#"{"decision":"allow once"}"#,
            "{}",
            "null",
            r#""allow once""#,
            "[]",
        ] {
            assert!(!is_yes(raw(no)), "{no}");
            assert!(!is_yes_among(Some(raw(&format!(r#"{{"{QUESTION}":{no}}}"#)))), "{no}");
        }
        assert!(!is_yes_among(None) && !is_yes_among(Some(raw("[]"))));
    }

    #[test]
    fn a_question_is_a_message_that_every_reader_reads_alike() {
        let id = IdKey::from_lexeme(r#""callgate/ask-1""#).unwrap();
        let line = request(&id, "May \"x\" run?\n\u{202e}\u{1b}[2J");
        let Incoming::One(message) = read(Side::Server, &line) else { panic!() };
        let Body::Request { method, params, .. } = &message.body else { panic!() };
        assert_eq!(method, "elicitation/create");
        let params = params.unwrap();
        assert_eq!(params.get("message").unwrap().as_str().unwrap(), "May \"x\" run?  [2J");
        let schema = params.get("requestedSchema").unwrap();
        assert_eq!(schema.get("required").unwrap().text(), r#"["decision"]"#);
        let field = schema.get("properties").unwrap().get(FIELD).unwrap();
        assert_eq!(field.get("enum").unwrap().text(), r#"["deny","allow once"]"#);
        assert!(field.get("default").is_none());

        let line = input_required(&id, "May it run?", "state");
        let Incoming::One(message) = read(Side::Server, &line) else { panic!() };
        let Body::Response { outcome: Outcome::Result(result), .. } = message.body else { panic!() };
        let asked = input_requests(result).unwrap();
        assert_eq!((asked.len(), &*asked[0].key, &*asked[0].method), (1, QUESTION, "elicitation/create"));
        assert_eq!(result.get("requestState").unwrap().text(), r#""state""#);
    }

    #[test]
    fn a_client_shows_forms_if_it_says_so() {
        for (capabilities, can) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{}}}"#, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":{"form":null}}"#, false),
            (r#"{"elicitation":true}"#, false),
            (r#"{"sampling":{}}"#, false),
            ("{}", false),
        ] {
            assert_eq!(can_show(Some(raw(capabilities))), can, "{capabilities}");
        }
        assert!(!can_show(None));
    }
}
