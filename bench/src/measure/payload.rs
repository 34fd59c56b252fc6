//! Large messages: 10 MB results, and calls with 1 MB of arguments.

use std::time::Instant;

use anyhow::Result;

use super::{Effort, Turn, What, micros};
use crate::message::Template;
use crate::peer::{Peer, Workspace};
use crate::stats::Sample;

const RESULT: usize = 10_000_000;
const ARGUMENTS: usize = 1_000_000;

pub fn results(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    let (rate, time) = run(place, peer, Template::ask_for(RESULT), RESULT, effort.results)?;
    turn.add(What::ResultRate, peer, rate);
    turn.add(What::ResultTime, peer, time);
    Ok(())
}

pub fn arguments(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    let (rate, time) = run(place, peer, Template::arguments_of(ARGUMENTS), ARGUMENTS, effort.arguments)?;
    turn.add(What::ArgumentsRate, peer, rate);
    turn.add(What::ArgumentsTime, peer, time);
    Ok(())
}

/// Megabytes a second until everything is recorded, and the median time of one call.
fn run(place: &Workspace, peer: Peer, mut call: Template, bytes: usize, count: usize) -> Result<(f64, f64)> {
    let mut session = place.open(peer)?;
    // The first one makes the server's answer and grows the client's buffer.
    session.call(&mut call)?;
    let start = Instant::now();
    let times = (0..count).map(|_| session.time(&mut call)).collect::<Result<Vec<_>>>()?;
    session.end()?;
    let megabytes = (bytes * count) as f64 / 1e6;
    Ok((megabytes / start.elapsed().as_secs_f64(), micros(Sample::new(times).percentile(50))))
}
