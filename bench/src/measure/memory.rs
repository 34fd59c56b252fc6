//! What the gate's own processes (shim and keeper) hold in memory.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::message::Template;
use crate::peer::{Peer, Workspace};

const MIB: usize = 1 << 20;
const LONG_LINE: usize = 50 * MIB;

/// In megabytes, but for the peaks of a long line, which are in lengths of that line.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub idle: f64,
    pub lines_to_one_mib: f64,
    pub long_arguments: f64,
    pub long_result: f64,
    /// The larger of what is left after long arguments and after a long result.
    pub given_back: f64,
}

pub fn measure(place: &Workspace) -> Result<Figures> {
    let session = place.open(Peer::Callgate)?;
    let tree = place.tree(&session)?;
    tree.cpu_when_quiet()?;
    let idle = megabytes(tree.memory()?.now);
    session.end()?;

    let lines_to_one_mib = {
        let mut session = place.open(Peer::Callgate)?;
        let tree = place.tree(&session)?;
        let (mut arguments, mut result) = (Template::arguments_of(MIB), Template::ask_for(MIB));
        for _ in 0..20 {
            session.call(&mut arguments)?;
            session.call(&mut result)?;
        }
        tree.cpu_when_quiet()?;
        let peak = megabytes(tree.memory()?.peak);
        session.end()?;
        peak
    };

    let (long_arguments, left_by_arguments) = long_line(place, Template::arguments_of(LONG_LINE))?;
    let (long_result, left_by_result) = long_line(place, Template::ask_for(LONG_LINE))?;
    let given_back = left_by_arguments.max(left_by_result);
    Ok(Figures { idle, lines_to_one_mib, long_arguments, long_result, given_back })
}

/// The peak that one long line causes, in lengths of it, and the megabytes that stay afterwards.
fn long_line(place: &Workspace, mut call: Template) -> Result<(f64, f64)> {
    let mut session = place.open(Peer::Callgate)?;
    let tree = place.tree(&session)?;
    session.call(&mut call)?;
    // Some small calls after it, as in real life; memory may be given back a moment later.
    let mut small = Template::small_call(crate::message::SMALL_TOOL);
    let deadline = Instant::now() + Duration::from_secs(2);
    let mut left = u64::MAX;
    while Instant::now() < deadline && left > 30_000_000 {
        session.call(&mut small)?;
        tree.cpu_when_quiet()?;
        left = tree.memory()?.now;
    }
    let peak = tree.memory()?.peak as f64 / LONG_LINE as f64;
    session.end()?;
    Ok((peak, megabytes(left)))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
