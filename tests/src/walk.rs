//! A client's walk through a server: the same questions, one after another, and what came back in a form that can be
//! compared between two runs.

use std::time::Duration;

use anyhow::Context as _;

use crate::json::Json;
use crate::session::Session;

/// Real servers take a second or two to start on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Method and params of each question.
pub type Question<'a> = (&'a str, &'a str);

/// Shakes hands as a client of the session revisions does.
pub fn greet(session: &mut Session) -> anyhow::Result<Json> {
    session.send(
        r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"walker","version":"1.0"}}}"#,
    )?;
    let hello = session.answer_within("\"hello\"", PATIENCE)?;
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    Ok(hello)
}

/// Asks everything in turn; the answers, without what differs from run to run.
pub fn walk(session: &mut Session, questions: &[Question<'_>]) -> anyhow::Result<Vec<(String, Json)>> {
    let mut answers = vec![("initialize".to_owned(), greet(session)?)];
    for (index, (method, params)) in questions.iter().enumerate() {
        session
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{index},"method":"{method}","params":{params}}}"#))?;
        let answer = session
            .answer_within(&index.to_string(), PATIENCE)
            .with_context(|| format!("{method} {params}"))?;
        answers.push((format!("{method} {params}"), without_times(answer)));
    }
    Ok(answers)
}

/// Times of day and dates in texts become `#`: every digit that stands beside a colon or in a date.
fn without_times(value: Json) -> Json {
    match value {
        Json::Text(text) => Json::Text(blur(&text)),
        Json::List(items) => Json::List(items.into_iter().map(without_times).collect()),
        Json::Object(members) => {
            Json::Object(members.into_iter().map(|(key, value)| (key, without_times(value))).collect())
        }
        other => other,
    }
}

fn blur(text: &str) -> String {
    let looks_timed = |word: &str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits >= 3 && word.contains(':') && word.chars().all(|c| c.is_ascii_digit() || ":.TZ+-,".contains(c))
    };
    let words = text.split(' ').map(|word| if looks_timed(word.trim()) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_times_are_blurred() {
        assert_eq!(super::blur("at 10:32:07 it was 42, demo://x/1"), "at # it was 42, demo://x/1");
    }
}
