//! `tools/list`: of a large server, and of one far larger than any. The policy hides one tool of it, and keeps back what is not
//! described as it was; the largest list is asked for once more under one that does not.

use anyhow::Result;

use super::{Effort, Turn, What, micros};
use crate::message::Template;
use crate::peer::{Peer, Workspace};
use crate::policy::TOOLS;
use crate::session::Session;
use crate::stats::Sample;

pub fn measure(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    for (what, tools) in [(What::ListOf91, TOOLS), (What::ListOf1000, 1_000)] {
        turn.add(what, peer, median(place.start(peer, tools)?, effort)?);
    }
    if peer == Peer::Callgate {
        turn.add(What::UnpinnedListOf1000, peer, median(place.gate("bench-unpinned", 1_000)?, effort)?);
    }
    Ok(())
}

fn median(mut session: Session, effort: Effort) -> Result<f64> {
    session.initialize()?;
    let mut list = Template::list_tools();
    session.call(&mut list)?;
    let times = (0..effort.lists).map(|_| session.time(&mut list)).collect::<Result<Vec<_>>>()?;
    session.end()?;
    Ok(micros(Sample::new(times).percentile(50)))
}
