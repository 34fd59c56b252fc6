//! Endings of a session: the client leaves, the server leaves, somebody sends a signal. In each, whoever waits for an answer gets
//! one, and the process tree ends.

use std::time::{Duration, Instant};

use callgate_journal::{EndReason, Outcome};
use callgate_protocol::NextStep;
use callgate_protocol::id::IdKey;
use callgate_supervise::Ending;
use tracing::info;

use super::Session;
use crate::exit::{SessionExit, exit_byte};
use crate::pending::{Intake, PendingRequest, RequestKind};
use crate::relay::News;
use crate::wording::Expects;
use crate::{stdio, wording};

/// How long a client that closed its end may still wait for answers while it reads.
const LAST_ANSWERS: Duration = Duration::from_secs(30);
/// How long a server that never got a request waits for one, so that the client hears why it ended.
const FIRST_REQUEST: Duration = Duration::from_secs(1);
/// How long a client that reads slowly has for the last words of a server that ended.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long cards of calls that nobody waits for any more have to be taken away.
const LAST_CARDS: Duration = Duration::from_millis(500);
/// How often an ending looks for a signal while it waits for something else.
const LOOK: Duration = Duration::from_millis(50);
/// What the keeper needs at most to end a tree, with some air.
const TREE_END: Duration = Duration::from_secs(6);

impl Session {
    /// Has whoever started us gone since the client first spoke? Its pipes may live on in another process.
    fn is_orphaned(&self) -> bool {
        self.relay.parent.get().is_some_and(|then| stdio::parent() != *then)
    }

    /// The client closed its end. It may still be reading: calls under way are answered first. Nobody is waited for when nobody
    /// can read the answer.
    pub(super) fn client_closed(mut self) -> u8 {
        // Nobody is there for whom a person could decide.
        self.relay.approvals.close(LAST_WORDS);
        let deadline = Instant::now() + LAST_ANSWERS;
        while !self.relay.pending.wait_empty(LOOK) && Instant::now() < deadline && !self.is_orphaned() {
            match self.try_next() {
                Some(News::Signal(signal)) => return self.signalled(signal),
                Some(News::ClientGone) => break,
                Some(News::ServerClosed(generation)) if self.is_current(generation) => {
                    let ending = self.other_sign(|news| match news {
                        News::Ended(_, ending) => Ok(ending),
                        other => Err(other),
                    });
                    return self.server_ended(&SessionExit::from_ending(ending.as_ref()));
                }
                Some(News::Ended(generation, ending)) if self.is_current(generation) => {
                    self.await_output_end();
                    return self.server_ended(&SessionExit::from_ending(Some(&ending)));
                }
                _ => {}
            }
        }
        let mut until = deadline;
        if Instant::now() >= deadline && !self.is_orphaned() {
            // It reads, and waits for an answer that does not come.
            let seconds = LAST_ANSWERS.as_secs();
            let reason =
                format!("the client closed its end, and the server did not answer within {seconds} s");
            self.leave_waiting(&reason, Outcome::ServerEnded);
            until = Instant::now() + LAST_WORDS;
        }
        match self.hand_over(until) {
            Some(signal) => self.signalled(signal),
            None => self.part(),
        }
    }

    /// Waits until the client has what was left for it. Cut short when nobody reads, or by a signal, which it returns.
    fn hand_over(&mut self, deadline: Instant) -> Option<i32> {
        while !self.relay.to_client.flush(LOOK) && Instant::now() < deadline && !self.is_orphaned() {
            match self.try_next() {
                Some(News::Signal(signal)) => return Some(signal),
                Some(News::ClientGone) => return None,
                _ => {}
            }
        }
        None
    }

    /// Ends the server because the client is done, and waits for its tree to be gone.
    pub(super) fn part(mut self) -> u8 {
        // First: how long a client waited that hangs up tells of its clock.
        self.relay.approvals.close(LAST_CARDS);
        self.relay.server.pipe().close();
        self.keeper.finish();
        self.tree.look();
        let deadline = Instant::now() + TREE_END;
        let mut code = 0;
        while !self.gone {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.backlog.pop_front().map_or_else(|| self.news.recv_timeout(left), Ok) {
                Ok(News::Ended(generation, ending)) if self.is_current(generation) => {
                    if let Ending::Exited { code: own } = ending {
                        code = own;
                    }
                    break;
                }
                Ok(News::TreeGone(generation)) => {
                    self.gone |= generation == self.relay.server.pipe().generation;
                }
                Ok(News::Signal(_)) | Err(_) => break,
                Ok(_) => {}
            }
        }
        self.leave_waiting("the client left", Outcome::ServerEnded);
        self.close_journal(EndReason::ClientClosed);
        self.relay.tools.finish();
        exit_byte(code)
    }

    /// The server is gone: everybody who waits hears it, then our output closes.
    pub(super) fn server_ended(mut self, said: &SessionExit) -> u8 {
        // First of all, whatever the client does or does not read: nothing of the tree stays.
        self.keeper.finish();
        self.tree.look();
        stdio::complain(&format!("{}: {}", self.server, said.to_nobody(self.relay.pending.use_of().0)));
        self.relay.pending.wait_used(FIRST_REQUEST);
        self.leave_waiting(&said.reason, said.outcome);
        self.hand_over(Instant::now() + LAST_WORDS);
        self.stderr.flush(LAST_WORDS);
        self.close_journal(said.end);
        self.relay.tools.finish();
        self.relay.to_client.close();
        drop(self.reader);
        // The client has its end; we stay until nothing of the tree is left, in case the keeper cannot.
        self.keeper.join();
        said.code
    }

    /// Somebody wants us gone, perhaps with a kill half a second behind: the keeper ends the tree without us.
    pub(super) fn signalled(self, signal: i32) -> u8 {
        self.relay.server.pipe().close();
        self.keeper.finish();
        self.tree.look();
        self.close_journal(EndReason::Signal);
        exit_byte(128 + signal)
    }

    fn close_journal(&self, reason: EndReason) {
        if let Some(change) = self.relay.rule_source.take_untold() {
            self.relay.note(&change);
        }
        // Nobody waits for a decision any more.
        self.relay.approvals.close(LAST_CARDS);
        self.relay.noise.sum_up(&self.relay.journal);
        self.relay.journal.end(reason);
        info!(reason = reason.word(), "session ended");
    }

    fn leave_waiting(&self, reason: &str, outcome: Outcome) {
        let left = self.relay.pending.sever(Intake::Closed(reason.into()));
        let next = match outcome {
            Outcome::NotDelivered => NextStep::TellUser,
            _ => NextStep::CheckEffect,
        };
        self.answer_all(left, (reason, &next), outcome);
    }

    /// Gives each of these its one answer: that there is none.
    pub(crate) fn answer_all(
        &self,
        left: Vec<(IdKey, PendingRequest)>,
        (reason, next): (&str, &NextStep),
        outcome: Outcome,
    ) {
        for (id, request) in left {
            let line = match &request.what {
                RequestKind::Call(call, expects) => {
                    self.relay.journal.settle_one(call, outcome);
                    wording::unanswered(*expects, &id, reason, next, Some(&call.id().to_string()))
                }
                // Of our own requests nobody but us waits for an answer.
                what if !what.is_clients() => continue,
                RequestKind::Held(expects) => wording::unanswered(*expects, &id, reason, next, None),
                RequestKind::List { list, .. } => {
                    self.relay.lists.owe(*list);
                    wording::unanswered(Expects::Anything, &id, reason, next, None)
                }
                _ => wording::unanswered(Expects::Anything, &id, reason, next, None),
            };
            self.relay.to_client.post_last(line);
        }
    }
}
