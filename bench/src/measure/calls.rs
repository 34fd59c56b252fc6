//! Small calls, one after another: how long each takes, and what CPU the proxy spends on it.

use anyhow::Result;

use super::{Effort, Turn, What, micros};
use crate::message::{SMALL_TOOL, Template};
use crate::peer::{Peer, Workspace};
use crate::stats::Sample;

pub fn measure(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    let mut session = place.open(peer)?;
    let mut call = Template::small_call(SMALL_TOOL);
    for _ in 0..effort.calls / 20 {
        session.call(&mut call)?;
    }

    let tree = place.tree(&session);
    // The direct way has no proxy: its tree is empty.
    let before = tree.as_ref().ok().map(|tree| tree.cpu_when_quiet()).transpose()?;
    let times = (0..effort.calls).map(|_| session.time(&mut call)).collect::<Result<Vec<_>>>()?;
    if let (Ok(tree), Some(before)) = (&tree, before) {
        // What the proxy does behind the calls, such as recording, counts too.
        let spent = tree.cpu_when_quiet()?.saturating_sub(before);
        turn.add(What::CpuPerCall, peer, micros(spent) / effort.calls as f64);
    }
    session.end()?;

    let sample = Sample::new(times);
    turn.add(What::CallP50, peer, micros(sample.percentile(50)));
    turn.add(What::CallP90, peer, micros(sample.percentile(90)));
    turn.add(What::CallP99, peer, micros(sample.percentile(99)));
    Ok(())
}
