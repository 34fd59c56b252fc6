//! Consequences of a call that a client is to be asked about: what destroys something or moves money is never decided by an
//! answer that may be no person's.
//!
//! The gate does not know what tools can do. A person's own word is in a file; else its partner tells it from the definition,
//! once for each. What is not known counts as the worst.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use callgate_controls::classes;
use callgate_home::Home;
use callgate_protocol::digest::Digest;
use serde_json::{Value, json};

/// What the partner is asked with: one definition a line, one answer a line.
const COMMAND: [&str; 2] = ["classify", "--json"];
/// How long it may take. Whoever waits for a person waits longer.
const DEADLINE: Duration = Duration::from_secs(5);
const LONGEST_ANSWER: u64 = 256 << 10;
/// Longer definitions are not read.
const LONGEST_DEFINITION: usize = 1 << 20;
/// Of more tools it is told anew.
const MOST: usize = 1_000;

/// Classes of which a client's answer is enough, and those of which it never is.
const BEARABLE: [&str; 3] = ["Read", "Write", "Execute"];
const GRAVE: [&str; 2] = ["Destructive", "Financial"];

#[derive(Debug, Default)]
pub(crate) struct Consequences(Mutex<HashMap<Digest, bool>>);

impl Consequences {
    /// Is an answer enough that may be no person's? May wait for a process.
    pub(crate) fn are_bearable(
        &self,
        home: &Home,
        (server, tool): (&str, &str),
        definition: Option<(Digest, String)>,
    ) -> bool {
        let Ok(mut corrected) = classes::read(home) else { return false };
        let said = corrected.remove(server).and_then(|mut tools| tools.remove(tool));
        if let Some(said) = said {
            // What was said of another definition can make a tool graver, and no milder.
            let is_of_it = || definition.as_ref().is_some_and(|(_, text)| said.is_of(text));
            if !BEARABLE.contains(&said.class.as_str()) {
                return false;
            }
            if is_of_it() {
                return true;
            }
        }
        let Some((digest, definition)) = definition else { return false };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&digest) {
            return *known;
        }
        // Where it could not be asked, it is asked again the next time.
        let Ok(answer) = ask_partner(server, tool, &definition) else { return false };
        if known.len() >= MOST {
            known.clear();
        }
        *known.entry(digest).or_insert(is_bearable(&answer))
    }
}

/// What the partner says of one tool. Where more than one class is possible, the worst counts.
fn is_bearable(answer: &Value) -> bool {
    let class = answer["label"].as_str().unwrap_or_default();
    let others = answer["operations"].to_string();
    answer["error"].is_null()
        && BEARABLE.contains(&class)
        && !GRAVE.iter().any(|grave| others.contains(grave))
}

fn ask_partner(server: &str, tool: &str, definition: &str) -> io::Result<Value> {
    if definition.len() > LONGEST_DEFINITION {
        return Err(io::Error::other("the definition is too long"));
    }
    let said: Value = serde_json::from_str(definition)?;
    let of = |member: &str| &said[member];
    let question = json!({
        "server": server, "tool": tool, "title": of("title"), "description": of("description"),
        "inputSchema": of("inputSchema"), "annotations": of("annotations"),
    });
    let mut child = Command::new(callgate_programs::partner()?)
        .args(COMMAND)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("it has no pipes"));
    };
    let (tell, told) = mpsc::channel();
    // A pipe cannot be waited for with a deadline everywhere.
    let talk = thread::Builder::new().name("classify".to_owned()).spawn(move || {
        let mut answer = String::new();
        let done = writeln!(to, "{question}").and_then(|()| {
            drop(to);
            from.take(LONGEST_ANSWER).read_to_string(&mut answer)
        });
        // Whoever asked may have given up.
        let _heard = tell.send(done.map(|_| answer));
    });
    let answer = match talk {
        Ok(_) => told.recv_timeout(DEADLINE).map_err(io::Error::other).flatten(),
        Err(error) => Err(error),
    };
    // It is gone when its input has ended, or it is not wanted any more.
    let _gone = child.kill().and_then(|()| child.wait());
    serde_json::from_str(&answer?).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_grave_or_not_known_is_not_bearable() {
        for (answer, bearable) in [
            (json!({ "label": "Read" }), true),
            (json!({ "label": "Write" }), true),
            (json!({ "label": "Execute", "operations": [{ "value": "get", "class": "Read" }] }), true),
            (json!({ "label": "Destructive" }), false),
            (json!({ "label": "Financial" }), false),
            (json!({ "label": "Write", "operations": [{ "value": "refund", "class": "Financial" }] }), false),
            (json!({ "label": "Unheard of" }), false),
            (json!({ "label": "Read", "error": "no definition" }), false),
            (json!({}), false),
        ] {
            assert_eq!(is_bearable(&answer), bearable, "{answer}");
        }
    }
}
