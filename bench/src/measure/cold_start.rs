//! From the start of the program to the answer to `initialize`: what a person waits when a client starts.

use std::time::Instant;

use anyhow::Result;

use super::{Effort, Turn, What, micros};
use crate::message::Template;
use crate::peer::{Peer, Workspace};
use crate::policy::TOOLS;
use crate::stats::Sample;

pub fn measure(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    let times = (0..effort.starts)
        .map(|_| {
            let start = Instant::now();
            let mut session = place.start(peer, TOOLS)?;
            session.call(&mut Template::initialize())?;
            let time = start.elapsed();
            session.end()?;
            Ok(time)
        })
        .collect::<Result<Vec<_>>>()?;
    turn.add(What::ColdStart, peer, micros(Sample::new(times).percentile(50)));
    Ok(())
}
