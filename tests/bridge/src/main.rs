//! The bridge: a page in a browser reaches the app's own commands on a home of its own. For development and for the tests of
//! the page; no program that people get knows of it.
//!
//! `callgate-bridge` serves the home that `CALLGATE_HOME` names until its standard input ends, and says its address first.
//! `callgate-bridge seed CALLS` makes up a history there instead.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "says its address to who started it, and speaks no protocol")]

mod host;
mod http;

use std::io::Read as _;

use anyhow::Context as _;
use callgate_home::{Home, clock};
use callgate_seed as seed;

use crate::host::Host;

fn main() -> anyhow::Result<()> {
    let home = Home::locate()?;
    callgate_controls::prepare_home(&home)?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seed", calls] => Ok(seed::world::make(&home, calls.parse()?, SEED, clock::wall_ms())?),
        [page] => serve(home, page),
        _ => anyhow::bail!("callgate-bridge PAGE | callgate-bridge seed CALLS"),
    }
}

/// The same each time.
const SEED: u64 = 4711;

fn serve(home: Home, page: &str) -> anyhow::Result<()> {
    let (_app, host) = Host::on(home)?;
    let token = token()?;
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    println!("http://{}/{token}/", listener.local_addr()?);
    let page = std::path::PathBuf::from(page);
    std::thread::spawn(move || http::serve(&listener, &token, &page, &host));
    std::io::stdin().read_to_end(&mut Vec::new()).context("cannot wait for the end of the input").map(drop)
}

/// Another page on this machine may not talk to us by guessing the port.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("there are no random numbers: {error}"))?;
    Ok(callgate_text::hex(&bytes))
}
