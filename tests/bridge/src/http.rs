//! Just enough HTTP for one browser on this machine: commands, channels, and the files of the built page.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::host::Host;

/// What makes a browser's page believe that it is in the app.
const SCRIPT: &str = include_str!("../../../ui/bridge/host.js");
const APP: &str = include_str!("../../../src-tauri/tauri.conf.json");

/// Serves until the program ends, each connection by a thread of its own.
pub(crate) fn serve(listener: &TcpListener, token: &str, page: &Path, host: &Host) {
    std::thread::scope(|scope| {
        for stream in listener.incoming().filter_map(Result::ok) {
            scope.spawn(move || {
                // Whoever hangs up in the middle of something wants nothing more.
                let _hung_up = converse(stream, token, page, host);
            });
        }
    });
}

fn converse(stream: TcpStream, token: &str, page: &Path, host: &Host) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    while let Some((first, body)) = request(&mut from)? {
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let inside = path
            .strip_prefix('/')
            .and_then(|path| path.strip_prefix(token))
            .and_then(|path| path.strip_prefix('/'));
        let answer = match inside {
            Some(path) => answer(method, path, &body, page, host),
            None => Err(anyhow::anyhow!("not without the token")),
        };
        match answer {
            Ok((kind, body)) => respond(&mut out, "200 OK", kind, &body)?,
            Err(error) => respond(&mut out, "404 Not Found", "text/plain", error.to_string().as_bytes())?,
        }
    }
    Ok(())
}

/// The first line and the body; nothing at the end of the connection.
fn request(from: &mut BufReader<TcpStream>) -> anyhow::Result<Option<(String, Vec<u8>)>> {
    let (mut first, mut length) = (String::new(), 0);
    if from.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some((first, body)))
}

fn answer(
    method: &str,
    path: &str,
    body: &[u8],
    page: &Path,
    host: &Host,
) -> anyhow::Result<(&'static str, Vec<u8>)> {
    const JSON: &str = "application/json";
    match (method, path.split_once('/')) {
        ("POST", Some(("invoke", command))) => {
            let answer = host.invoke(command, serde_json::from_slice(body)?)?;
            Ok((JSON, serde_json::to_vec(&answer)?))
        }
        ("POST", Some(("answer", command))) => {
            host.make_up(command, serde_json::from_slice(body)?);
            Ok((JSON, b"null".to_vec()))
        }
        ("POST", None) if path == "channels" => Ok((JSON, serde_json::to_vec(&host.messages())?)),
        ("GET", None) if path == "host.js" => Ok(("text/javascript", SCRIPT.into())),
        ("GET", _) => file(page, if path.is_empty() { "index.html" } else { path }),
        _ => anyhow::bail!("no {method} of {path}"),
    }
}

fn file(page: &Path, name: &str) -> anyhow::Result<(&'static str, Vec<u8>)> {
    anyhow::ensure!(!name.split('/').any(|part| part == ".."), "only what is in the page");
    let bytes = fs::read(page.join(name)).with_context(|| format!("the page has no {name}"))?;
    let (_, ending) = name.rsplit_once('.').unwrap_or_default();
    Ok(match ending {
        "html" => ("text/html", hosted(&String::from_utf8(bytes)?).into_bytes()),
        "js" => ("text/javascript", bytes),
        "css" => ("text/css", bytes),
        "svg" => ("image/svg+xml", bytes),
        _ => ("application/octet-stream", bytes),
    })
}

/// The page as it is built, with its host before everything else.
fn hosted(page: &str) -> String {
    page.replacen("<head>", "<head><script type=\"module\" src=\"./host.js\"></script>", 1)
}

/// The policy of the app's own window, less its own transport: what breaks it breaks here, too.
fn policy() -> Option<String> {
    let app: Value = serde_json::from_str(APP).ok()?;
    let policy = app.pointer("/app/security/csp")?.as_str()?;
    Some(policy.replace("connect-src ipc: http://ipc.localhost", "connect-src 'self'"))
}

fn respond(out: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> anyhow::Result<()> {
    let policy = policy().context("the app has no content security policy")?;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {policy}\r\n\r\n",
        body.len()
    );
    // In one piece: two writes are two packets, of which the second waits.
    Ok(out.write_all(&[head.as_bytes(), body].concat())?)
}
