//! A small page on localhost for browsers to work on, served while it is held.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The same page at every address. Its thread ends with the test's process.
#[derive(Debug)]
pub struct Page {
    address: SocketAddr,
}

impl Page {
    pub fn serve(html: &'static str) -> std::io::Result<Page> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A browser opens more connections than it uses.
                std::thread::spawn(move || drop(answer(stream, html)));
            }
        });
        Ok(Page { address })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

fn answer(mut stream: TcpStream, html: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut request = [0; 4096];
    if stream.read(&mut request)? == 0 {
        return Ok(());
    }
    let length = html.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{html}"
    )
}
