//! A stand-in for the model behind a client: Anthropic's `/v1/messages` on this machine, with turns that a test wrote.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::http;

/// One turn of the model.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Asks for this tool, by the client's name for it, without arguments.
    Call(&'static str),
    /// Has the last word.
    Say(&'static str),
}

/// It listens until the test ends.
#[derive(Debug)]
pub struct Model {
    port: u16,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Takes these turns, one for each result of a tool in the conversation, the last one from then on. By what the
    /// conversation holds and not by the number of requests: a client may ask twice. Questions on the side, which offer no
    /// tools (a title for the conversation), get the last turn, too.
    ///
    /// # Errors
    /// If nobody may listen on this machine.
    pub fn start(turns: Vec<Turn>) -> anyhow::Result<Model> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let (turns, notes) = (Arc::new(turns), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (turns, notes) = (Arc::clone(&turns), Arc::clone(&notes));
                // A client that hangs up has its reasons; the test sees what it did instead.
                std::thread::spawn(move || drop(answer(stream, &turns, &notes)));
            }
        });
        Ok(Model { port, asked })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request so far, those on the side included.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the client told the model about the tools that it called: words, and whether it was an error.
    pub fn results(&self) -> Vec<(String, bool)> {
        self.asked().iter().map(results).max_by_key(Vec::len).unwrap_or_default()
    }
}

/// The results in a request, in order.
fn results(request: &Value) -> Vec<(String, bool)> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| (block["content"].to_string(), block["is_error"] == true))
        .collect()
}

fn answer(mut stream: TcpStream, turns: &[Turn], notes: &Mutex<Vec<Value>>) -> anyhow::Result<()> {
    let request = http::read(&mut stream)?;
    if !request.first.starts_with("POST /v1/messages") || request.first.contains("count_tokens") {
        return respond(&mut stream, "404 Not Found", "application/json", "{}");
    }
    let request: Value = serde_json::from_str(&request.body)?;
    let taken = results(&request).len();
    let turn = turns.get(taken).filter(|_| request["tools"].is_array());
    let turn = turn.or(turns.last()).context("a model without turns")?;
    let events = events(&request["model"], taken, turn);
    notes.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    respond(&mut stream, "200 OK", "text/event-stream", &events)
}

/// The turn as the stream of events that a client asks for.
fn events(model: &Value, taken: usize, turn: &Turn) -> String {
    let (block, delta, stop) = match turn {
        Turn::Call(tool) => (
            json!({ "type": "tool_use", "id": format!("toolu_{taken}"), "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": "{}" }),
            "tool_use",
        ),
        Turn::Say(words) => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": words }),
            "end_turn",
        ),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": format!("msg_{taken}"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect()
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> anyhow::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(body.as_bytes())?)
}
