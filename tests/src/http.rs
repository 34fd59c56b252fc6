//! Just enough HTTP for programs on this machine: one message, read to the end that its length tells.

use std::io::Read;

/// A request or an answer.
#[derive(Clone, Debug)]
pub struct Message {
    /// The first line.
    pub first: String,
    /// Empty, if no length was told.
    pub body: String,
}

/// Reads one message.
///
/// # Errors
/// If the other side hangs up before its end.
pub fn read(stream: &mut impl Read) -> anyhow::Result<Message> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = length(&head)?;
            if let Some(body) = bytes.get(end + 4..end + 4 + length) {
                let first = head.lines().next().unwrap_or_default().to_owned();
                return Ok(Message { first, body: String::from_utf8(body.to_vec())? });
            }
        }
        let count = stream.read(&mut chunk)?;
        anyhow::ensure!(count > 0, "the other side hung up");
        bytes.extend_from_slice(&chunk[..count]);
    }
}

fn length(head: &str) -> anyhow::Result<usize> {
    let head = head.to_ascii_lowercase();
    let told = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    Ok(told.map_or(Ok(0), |length| length.trim().parse())?)
}
