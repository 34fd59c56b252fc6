//! Just enough HTTP for a WebDriver on this machine: one request a connection, bodies in JSON.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::Context as _;
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
    let answer = read(&mut stream).with_context(|| format!("no answer to {method} {path}"))?;
    serde_json::from_str(&answer).with_context(|| format!("not JSON: {answer}"))
}

/// The body of an answer with a length.
fn read(stream: &mut TcpStream) -> anyhow::Result<String> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.context("an answer without a length")?.trim().parse()?;
            if bytes.len() >= end + 4 + length {
                return Ok(String::from_utf8(bytes[end + 4..end + 4 + length].to_vec())?);
            }
        }
        let count = stream.read(&mut chunk)?;
        anyhow::ensure!(count > 0, "the driver hung up");
        bytes.extend_from_slice(&chunk[..count]);
    }
}
