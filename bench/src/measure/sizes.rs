//! A message of 64 MiB passes in both directions; a longer one is refused and the session lives on.

use anyhow::Result;

use crate::message::{Answer, SMALL_TOOL, Template};
use crate::peer::{Peer, Workspace};

const LARGEST: usize = 64 << 20;
const TOO_LARGE: usize = LARGEST + 1024;

/// The share of the four probes that went as they must.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub largest_pass: f64,
    pub larger_refused_and_alive: f64,
}

pub fn measure(place: &Workspace) -> Result<Figures> {
    let mut largest = 0;
    let mut larger = 0;
    for make in [Template::arguments_of as fn(usize) -> Template, Template::ask_for] {
        let mut session = place.open(Peer::Callgate)?;
        largest += usize::from(session.ask(&mut make(LARGEST))? == Answer::Result);
        let refused = session.ask(&mut make(TOO_LARGE))? != Answer::Result;
        let alive = session.ask(&mut Template::small_call(SMALL_TOOL))? == Answer::Result;
        larger += usize::from(refused && alive);
        session.end()?;
    }
    Ok(Figures { largest_pass: largest as f64 / 2.0, larger_refused_and_alive: larger as f64 / 2.0 })
}
