//! A small site on localhost for browsers and requests to work on, which writes down what was asked of it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What is asked below these is written down; the rest is how browsers get pages.
const WRITTEN_DOWN: [&str; 2] = ["/seen", "/api"];

/// A request.
#[derive(Debug)]
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    /// As they came, by lower-case names.
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// An answer: status, type, further header lines, body.
#[derive(Debug)]
pub struct Answer(pub u16, pub &'static str, pub &'static str, pub String);

/// Its threads end with the test's process.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// `answer` answers each request, and says what of it is to be written down if it is one of those.
    pub fn serve(answer: fn(&Asked) -> (Answer, String)) -> std::io::Result<Site> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                // A browser opens more connections than it uses.
                std::thread::spawn(move || drop(serve_one(stream, answer, &log)));
            }
        });
        Ok(Site { address, log })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What was written down since the last time.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn serve_one(
    stream: TcpStream,
    answer: fn(&Asked) -> (Answer, String),
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(()) };
    let mut asked =
        Asked { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: String::new() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        asked.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    let (Answer(status, kind, more, body), note) = answer(&asked);
    if WRITTEN_DOWN.iter().any(|below| asked.path.starts_with(below)) {
        // Before the answer: whoever has it may count on the note.
        log.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
    let length = body.len();
    write!(
        reader.get_mut(),
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
