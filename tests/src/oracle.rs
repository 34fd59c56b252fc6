//! The judge: reads what came out of the gate at either end and says what is wrong with it.
//!
//! Toward the server: under no reader model a forbidden call. Toward the client: one clear message a line, every
//! question answered once, nothing hidden shown.

use std::collections::BTreeMap;

use crate::json::{Dialect, Json, on_big_stack};
use crate::notation::show;
use crate::readers::{LOOKUPS, calls, fold, readings};

/// What the corpus policies forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Default deny: `safe` is free, `slow` twice a minute, nothing else.
    DefaultDeny,
    /// Default allow: `danger` and `hidden_one` are forbidden, `slow` twice a minute.
    DefaultAllow,
}

/// How often `slow` may run within the minute that a case takes.
const SLOW_MAX: usize = 2;

/// Every way in which the bytes hold a call that the policy forbids; empty is what we promise.
pub fn forbidden_calls(server_got: &[u8], ruling: Ruling) -> Vec<String> {
    on_big_stack(|| {
        let mut found = BTreeMap::new();
        for reading in readings(server_got) {
            for lookup in LOOKUPS {
                let seen: Vec<_> = reading.values.iter().flat_map(|value| calls(value, lookup)).collect();
                let slow = seen.iter().filter(|call| call.tool == "slow").count();
                if slow > SLOW_MAX {
                    found.entry(format!("slow ran {slow} times")).or_insert((reading.name.clone(), lookup));
                }
                for call in seen {
                    if ruling.forbids(&call.tool) {
                        let what = format!("a call of {:.80?}", call.tool);
                        found.entry(what).or_insert((reading.name.clone(), lookup));
                    }
                }
            }
        }
        found
            .into_iter()
            .map(|(what, (name, lookup))| {
                format!(
                    "I1: the server got {what} (as read with {name}, {:?} members, {:?} wins)",
                    lookup.keys, lookup.wins
                )
            })
            .collect()
    })
}

impl Ruling {
    fn forbids(self, tool: &str) -> bool {
        match self {
            Ruling::DefaultDeny => !matches!(tool, "safe" | "slow"),
            Ruling::DefaultAllow => {
                let cut = tool.split('\0').next().unwrap_or_default();
                [tool, cut, &fold(tool)].iter().any(|name| matches!(*name, "danger" | "hidden_one"))
            }
        }
    }
}

/// One message that the client got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    Answer {
        id: Json,
        body: Json,
    },
    /// A request or a notification of the server.
    Message {
        method: String,
        body: Json,
    },
}

/// I2: the client's bytes as messages, and all that is wrong with them.
pub fn client_messages(client_got: &[u8]) -> (Vec<Got>, Vec<String>) {
    on_big_stack(|| {
        let (mut messages, mut wrong) = (Vec::new(), Vec::new());
        let mut lines: Vec<&[u8]> = client_got.split(|b| *b == b'\n').collect();
        if !lines.pop().is_some_and(<[u8]>::is_empty) {
            wrong.push("I2: the last line to the client has no line end".to_owned());
        }
        for line in lines {
            match message(line) {
                Ok(message) => messages.push(message),
                Err(why) => wrong.push(format!("I2: {why} in a line to the client: {}", show(line))),
            }
        }
        (messages, wrong)
    })
}

fn message(line: &[u8]) -> Result<Got, String> {
    let text = std::str::from_utf8(line).map_err(|_| "bad UTF-8".to_owned())?;
    if let Some(c) = text.chars().find(|c| *c < ' ' && *c != '\t') {
        return Err(format!("raw control character U+{:04X}", u32::from(c)));
    }
    let value = Json::parse(text, Dialect::Strict).ok_or("not one JSON value")?;
    if let Some(name) = value.duplicate() {
        return Err(format!("member {name:?} twice"));
    }
    let reserved = ["jsonrpc", "id", "method", "params", "result", "error"];
    for (key, _) in value.members() {
        if !reserved.contains(&key.as_str()) && reserved.contains(&fold(key).as_str()) {
            return Err(format!("look-alike member {key:?}"));
        }
    }
    let has = |key| value.get(key).is_some();
    match (value.get("method"), has("result"), has("error")) {
        (Some(Json::Text(method)), false, false) => Ok(Got::Message { method: method.clone(), body: value }),
        (None, true, false) | (None, false, true) => match value.get("id") {
            Some(id) => Ok(Got::Answer { id: id.clone(), body: value }),
            None => Err("an answer without an id".to_owned()),
        },
        _ => Err("neither a request nor a notification nor an answer".to_owned()),
    }
}

/// Names of all tools that some reader of the client's bytes would list.
pub fn listed_tools(client_got: &[u8]) -> Vec<String> {
    on_big_stack(|| {
        let mut names = Vec::new();
        for reading in readings(client_got) {
            for lookup in LOOKUPS {
                for value in &reading.values {
                    let Some(result) = lookup.get(value, "result") else { continue };
                    let Some(tools) = lookup.get(result, "tools") else { continue };
                    let entries = tools.items().iter().chain(tools.members().iter().map(|(_, tool)| tool));
                    for entry in entries {
                        let name = lookup.get(entry, "name").or(Some(entry)).and_then(Json::as_text);
                        names.extend(name.map(|name| lookup.norm(name)));
                    }
                    names.extend(tools.members().iter().map(|(name, _)| name.clone()));
                }
            }
        }
        names.sort();
        names.dedup();
        names
    })
}

/// Whether a reader that folds names would take this one for a hidden tool.
pub fn shows_hidden(names: &[String]) -> bool {
    names.iter().any(|name| fold(name) == "hidden_one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(bytes: &[u8]) -> bool {
        !forbidden_calls(bytes, Ruling::DefaultDeny).is_empty()
    }

    #[test]
    fn plain_traffic_is_not_caught() {
        let safe = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{"x":{"method":"tools/call","params":{"name":"danger"}}}}}"#;
        assert!(!caught(safe));
        assert!(!caught(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
    }

    #[test]
    fn every_known_trick_is_caught() {
        let call =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let inner = call(r#"{"name":"danger"}"#);
        let tricks = [
            inner.clone(),
            call(r#"{"name":"danger","name":"safe"}"#),
            call(r#"{"name":"safe","name":"danger"}"#),
            call(r#"{"name":"safe","NAME":"danger"}"#),
            call(r#"{"name":"safe","name\u0000":"danger"}"#),
            call(&format!("{{\"name\":\"safe\",\"arguments\":{{\"x\":\r{inner}\r}}}}")),
            call(&format!("{{\"name\":\"safe\",\"arguments\":{{\"x\":\"\u{2028}{inner}\u{2028}\"}}}}")),
            format!("[{inner}]"),
            format!("// no\n{inner}"),
            inner.replace("tools/call", "TOOLS//CALL"),
            inner.replace('"', "'"),
        ];
        for trick in tricks {
            assert!(caught(trick.as_bytes()), "{trick}");
        }
        assert!(caught(
            &[b"{\"method\":\"tools\xc0\xafcall\",\"params\":{\"name\":\"danger\"}}".as_slice(), b"\n"]
                .concat()
        ));
    }

    #[test]
    fn a_third_slow_call_is_caught() {
        let slow =
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\"}}\n";
        assert!(!caught(&slow.repeat(2)));
        assert!(caught(&slow.repeat(3)));
    }
}
