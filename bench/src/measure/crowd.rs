//! Ten gates at once on one home with one shared limit: exactly as many calls pass as the limit allows.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::micros;
use crate::message::{Answer, SMALL_TOOL, Template};
use crate::peer::Workspace;
use crate::policy;
use crate::stats::Sample;

const GATES: usize = 10;
const CALLS_EACH: usize = 200;
/// Half of what is asked for, so that the limit is reached while all are at work.
const LIMIT: u32 = (GATES * CALLS_EACH / 2) as u32;

#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// 1 when exactly the limit's number passed.
    pub exact: f64,
    pub admitted: usize,
    /// p99 of an admitted call's round trip, in milliseconds.
    pub p99_ms: f64,
}

pub fn measure(place: &Workspace) -> Result<Figures> {
    place.write_policy("crowd", &policy::crowd(LIMIT))?;
    let passed: Vec<Duration> = thread::scope(|scope| {
        let gates: Vec<_> = (0..GATES).map(|_| scope.spawn(|| gate(place))).collect();
        let ended = gates.into_iter().map(|gate| gate.join().map_err(|_| anyhow!("a client panicked"))?);
        ended.collect::<Result<Vec<_>>>()
    })?
    .concat();
    let admitted = passed.len();
    let exact = if admitted == LIMIT as usize { 1.0 } else { admitted as f64 / f64::from(LIMIT) };
    // One too many is as wrong as one too few.
    let exact = if exact > 1.0 { 0.0 } else { exact };
    Ok(Figures { exact, admitted, p99_ms: micros(Sample::new(passed).percentile(99)) / 1e3 })
}

/// One client's calls; gives the times of those that passed.
fn gate(place: &Workspace) -> Result<Vec<Duration>> {
    let mut session = place.gate("crowd", policy::TOOLS)?;
    session.initialize().context("one of ten gates did not answer initialize")?;
    let mut call = Template::small_call(SMALL_TOOL);
    let mut passed = Vec::new();
    for _ in 0..CALLS_EACH {
        let start = Instant::now();
        match session.ask(&mut call)? {
            Answer::Result => passed.push(start.elapsed()),
            Answer::Refused => {}
            Answer::Error => bail!("a capped call must be a refusal in words, not an error"),
        }
    }
    session.end()?;
    Ok(passed)
}
