//! The echo server: an MCP server that answers as fast as one can, so that what is measured is the way to it.
//!
//! It reads only the head of each line and swallows the rest, answers all complete lines of one read with one
//! write, and has its large answers ready before they are asked for twice. It trusts the driver's way of
//! writing a request (`message.rs`); it is no model of a real server.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use anyhow::{Context, Result, bail};
use callgate_bench::message::filler;
use callgate_bench::policy::tool_name;
use memchr::memmem;

/// Enough of a line to hold its id, method, tool and the `bytes` argument.
const HEAD: usize = 512;

fn main() -> Result<()> {
    let mut server = Server { list: list(tools_asked_for()?), results: HashMap::new(), out: Vec::new() };
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = vec![0; 64 * 1024];
    let mut head = Vec::with_capacity(HEAD);
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..count];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if head.is_empty() {
                server.answer(&rest[..end.min(HEAD)], &mut output)?;
            } else {
                keep_head(&mut head, &rest[..end]);
                server.answer(&head, &mut output)?;
                head.clear();
            }
            rest = &rest[end + 1..];
        }
        keep_head(&mut head, rest);
        output.write_all(&server.out)?;
        server.out.clear();
    }
}

fn tools_asked_for() -> Result<usize> {
    match std::env::args().nth(1) {
        None => Ok(91),
        Some(count) => count.parse().context("usage: callgate-bench-server [NUMBER OF TOOLS]"),
    }
}

fn keep_head(head: &mut Vec<u8>, bytes: &[u8]) {
    let room = HEAD - head.len();
    head.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

struct Server {
    list: Vec<u8>,
    /// What follows the id in a result of a given size.
    results: HashMap<usize, Vec<u8>>,
    /// Answers that wait for the end of this read.
    out: Vec<u8>,
}

impl Server {
    fn answer(&mut self, head: &[u8], output: &mut File) -> Result<()> {
        let Some(id) = after(head, b"\"id\":").map(digits) else {
            return Ok(());
        };
        let method = after(head, b"\"method\":\"").context("a request without a method")?;
        self.out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        self.out.extend_from_slice(id);
        if method.starts_with(b"tools/call\"") {
            match after(head, b"\"bytes\":").map(digits) {
                None => self.out.extend_from_slice(SMALL_RESULT),
                Some(bytes) => {
                    let bytes = std::str::from_utf8(bytes)?.parse()?;
                    let tail = self.results.entry(bytes).or_insert_with(|| large_result(bytes, id.len()));
                    output.write_all(&self.out)?;
                    self.out.clear();
                    output.write_all(tail)?;
                }
            }
        } else if method.starts_with(b"tools/list\"") {
            self.out.extend_from_slice(&self.list);
        } else if method.starts_with(b"initialize\"") {
            self.out.extend_from_slice(HELLO);
        } else {
            bail!("the echo server does not know {}", String::from_utf8_lossy(head));
        }
        Ok(())
    }
}

const SMALL_RESULT: &[u8] =
    b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"Clicked #submit; the page now shows order 1042.\"}],\"isError\":false}}\n";
const HELLO: &[u8] = b",\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";

fn after<'a>(head: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    memmem::find(head, key).map(|at| &head[at + key.len()..])
}

fn digits(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// What follows the id, so that the whole line has `bytes` bytes.
fn large_result(bytes: usize, id: usize) -> Vec<u8> {
    let open = r#","result":{"content":[{"type":"text","text":""#;
    let close = "\"}]}}\n";
    let frame = r#"{"jsonrpc":"2.0","id":"#.len() + id + open.len() + close.len();
    format!("{open}{}{close}", filler(bytes - frame)).into_bytes()
}

/// A list of tools as long as real ones are: about 500 bytes each.
fn list(count: usize) -> Vec<u8> {
    let tools: Vec<String> = (0..count)
        .map(|index| {
            format!(
                r#"{{"name":"{}","description":"Acts on the current page of the session and reports what changed. Waits until the page is quiet, at most the given time. Use the snapshot tool first to learn which elements there are.","inputSchema":{{"type":"object","properties":{{"url":{{"type":"string","description":"page to act on"}},"selector":{{"type":"string","description":"CSS selector of the element"}},"timeout":{{"type":"number","default":30000}}}},"required":["selector"]}}}}"#,
                tool_name(index)
            )
        })
        .collect();
    format!(r#","result":{{"tools":[{}]}}}}{}"#, tools.join(","), "\n").into_bytes()
}
