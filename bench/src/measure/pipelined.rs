//! Small calls with 64 in flight: how many a second.

use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::{Effort, Turn, What};
use crate::message::{Answer, SMALL_TOOL, Template, read_answer};
use crate::peer::{Peer, Workspace};
use crate::session::Session;

const IN_FLIGHT: usize = 64;

pub fn measure(place: &Workspace, peer: Peer, effort: Effort, turn: &mut Turn) -> Result<()> {
    let mut session = place.open(peer)?;
    let total = effort.pipelined;
    let start = Instant::now();
    run(&mut session, total)?;
    let to_last_answer = start.elapsed();
    session.end()?;
    let to_the_end = start.elapsed();

    turn.add(What::AnsweredRate, peer, total as f64 / to_last_answer.as_secs_f64());
    turn.add(What::RecordedRate, peer, total as f64 / to_the_end.as_secs_f64());
    Ok(())
}

/// Makes that many small calls, as many of them at once as may be, and reads all their answers.
pub(super) fn run(session: &mut Session, total: usize) -> Result<()> {
    let mut call = Template::small_call(SMALL_TOOL);
    let (mut sent, mut answered) = (0, 0);
    let mut batch = Vec::with_capacity(IN_FLIGHT * call.len());
    let mut waiting = std::collections::VecDeque::with_capacity(IN_FLIGHT);

    while answered < total {
        // One write for all that may go; 64 small lines always fit into a pipe, so this cannot block for ever.
        batch.clear();
        while sent < total && sent - answered < IN_FLIGHT {
            let id = session.take_id();
            call.append_with_id(id, &mut batch);
            waiting.push_back(id);
            sent += 1;
        }
        session.send(&batch)?;
        loop {
            // Requests keep their order on every way, and the echo server answers in order.
            let id = waiting.pop_front().context("an answer too many")?;
            let answer = read_answer(session.line()?, id);
            ensure!(answer == Some(Answer::Result), "call {id} was not answered in its turn: {answer:?}");
            answered += 1;
            if !session.has_line() {
                break;
            }
        }
    }
    Ok(())
}
