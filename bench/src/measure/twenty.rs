//! Twenty servers started at once, as a client with many does: how long until the last one answers, and what stands
//! between client and servers then takes.

use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};

use super::{Effort, Turn, What, micros};
use crate::peer::{Peer, Workspace};
use crate::policy::TOOLS;
use crate::session::Session;

const SERVERS: usize = 20;

pub fn measure(place: &Workspace, peer: Peer, _effort: Effort, turn: &mut Turn) -> Result<()> {
    let start = Instant::now();
    let sessions: Vec<Session> = thread::scope(|scope| {
        let open = || {
            let mut session = place.start(peer, TOOLS)?;
            session.initialize()?;
            Ok(session)
        };
        let started: Vec<_> = (0..SERVERS).map(|_| scope.spawn(open)).collect();
        let answered = started.into_iter().map(|one| one.join().map_err(|_| anyhow!("a client panicked"))?);
        answered.collect::<Result<Vec<_>>>()
    })?;
    turn.add(What::TwentyStarts, peer, micros(start.elapsed()));
    // Without anything between there is nothing to weigh.
    if peer != Peer::Direct {
        let mut bytes = 0;
        for session in &sessions {
            bytes += place.tree(session)?.memory()?.now;
        }
        turn.add(What::TwentyMemory, peer, bytes as f64 / 1e6);
    }
    sessions.into_iter().try_for_each(|session| session.end().map(drop))
}
