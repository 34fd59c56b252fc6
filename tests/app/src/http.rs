//! Just enough HTTP for a WebDriver on this machine: one request a connection, bodies in JSON.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
use callgate_tests::http;
use serde_json::Value;

/// Longer than any answer takes, starting the app included.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn ask(port: u16, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).context("the driver does not listen")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let answer = http::read(&mut stream).with_context(|| format!("no answer to {method} {path}"))?;
    serde_json::from_str(&answer.body).with_context(|| format!("not JSON: {answer:?}"))
}
