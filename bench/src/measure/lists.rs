//! `tools/list`: of a large server, and of one far larger than any. The policy hides one tool of it.

use anyhow::Result;

use super::{Effort, Turn, What, micros};
use crate::message::Template;
use crate::peer::{Peer, Place};
use crate::policy::TOOLS;
use crate::stats::Sample;

pub fn measure(place: &Place, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    for (what, tools) in [(What::ListOf91, TOOLS), (What::ListOf1000, 1_000)] {
        let mut session = place.start(peer, tools)?;
        session.initialize()?;
        let mut list = Template::list_tools();
        session.call(&mut list)?;
        let times = (0..effort.lists).map(|_| session.time(&mut list)).collect::<Result<Vec<_>>>()?;
        session.end()?;
        turn.add(what, peer, micros(Sample::new(times).percentile(50)));
    }
    Ok(())
}
