//! One gate at full rate for as long as is asked for: its memory must not grow, nor its home beyond the ceiling.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{disk, pipelined};
use crate::budget::{Bound, Row, Unit};
use crate::peer::{Peer, Workspace};

/// Calls between two looks at the memory.
const STRIDE: usize = 20_000;
/// The ceiling that is asked for: small enough to be reached within minutes.
const MEGABYTES: u64 = 100;
/// What a gate takes in at first (its buffers, the pages of its program) is no growth.
const WARM_UP: f64 = 0.1;

/// No limit on the called tool: how many calls a window holds would be what is measured.
const POLICY: &str = r#"{ "version": "1", "default": "allow",
  "tools": { "browser_click": { "deny_if": [ { "path": "args.url", "op": "regex", "value": "^file:" } ] } } }"#;

/// What one long session came to.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub calls: usize,
    /// The gate's memory after the warm-up and at the end, in megabytes.
    pub early: f64,
    pub late: f64,
    /// The most that the home took, by its ceiling.
    pub ceiling: f64,
}

pub fn measure(place: &Workspace, lasts: Duration) -> Result<Figures> {
    fs::write(place.home().join("settings.json"), format!("{{\"history\":{{\"megabytes\":{MEGABYTES}}}}}"))?;
    place.write_policy("bench", POLICY)?;
    let mut session = place.open(Peer::Callgate)?;
    session.be_patient(lasts);
    let start = Instant::now();
    let (mut calls, mut most) = (0, 0);
    let (mut early, mut late) = (None, 0.0);
    while start.elapsed() < lasts {
        pipelined::run(&mut session, STRIDE)?;
        calls += STRIDE;
        most = most.max(disk::bytes(&place.home()));
        late = place.tree(&session)?.memory()?.now as f64 / 1e6;
        if early.is_none() && start.elapsed() >= lasts.mul_f64(WARM_UP) {
            early = Some(late);
        }
    }
    session.end()?;
    let early = early.context("the soak was over before the gate was warm")?;
    Ok(Figures { calls, early, late, ceiling: most as f64 / (MEGABYTES << 20) as f64 })
}

pub fn rows(found: &Figures, lasts: Duration) -> Vec<Row> {
    let minutes = lasts.as_secs() / 60;
    vec![
        Row::new(&format!("calls of one gate in {minutes} min"), Unit::Count, vec![found.calls as f64]),
        Row::new("its memory after a tenth of them", Unit::Megabytes, vec![found.early]),
        Row::new("what it grew by from there to the end", Unit::Megabytes, vec![found.late - found.early])
            .budget(Bound::AtMost(1.0)),
        Row::new("its home, by the ceiling", Unit::Times, vec![found.ceiling]).budget(Bound::AtMost(1.25)),
    ]
}
