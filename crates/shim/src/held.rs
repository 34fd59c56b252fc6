//! The queue of held requests: what the client sent that has to wait before it can be judged or let through.
//!
//! A server that is being started, a list of tools, a check of arguments: a thread of its own waits for them, so that the one
//! that reads the client never does. What is held goes in the order in which it came, and what comes after it for the same
//! server waits behind it: two calls that a client has sent at once (a page is opened, a button on it is clicked) must not
//! change places. Only what a person is asked about is passed by. Nothing is held for most of a session, so the thread comes
//! with the first request for it.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use callgate_journal::CallRef;
use callgate_protocol::message::{Incoming, Message, Side, read};

use crate::passage::Passage;
use crate::pending::Ticket;
use crate::relay::Relay;

/// How much may be held before the client has to wait with what it says next.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
pub(crate) struct HeldRequests {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// How many are held, and how many of them are not to be passed by; for whoever only wants to know whether any are.
    count: AtomicUsize,
    in_order: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<HeldMessage>,
    bytes: usize,
    /// There is a thread.
    attended: bool,
}

/// A message of the client that can leave the thread which read it.
#[derive(Debug)]
pub(crate) struct HeldMessage {
    /// As it was received.
    text: Box<str>,
    /// Of a request, which is owed an answer.
    ticket: Option<Ticket>,
    /// What comes after it for the same server waits, too.
    in_order: bool,
    /// The row of a call that a person was asked about.
    asked: Option<CallRef>,
    /// When it was received: its client's clock runs from there.
    since: Instant,
}

impl HeldMessage {
    pub(crate) fn new(message: &Message<'_>, ticket: Option<Ticket>, in_order: bool) -> HeldMessage {
        HeldMessage { text: message.text().into(), ticket, in_order, asked: None, since: Instant::now() }
    }

    /// A call that a person has decided about.
    pub(crate) fn decided(text: Box<str>, ticket: Ticket, asked: CallRef, since: Instant) -> HeldMessage {
        HeldMessage { text, ticket: Some(ticket), in_order: false, asked: Some(asked), since }
    }
}

impl HeldRequests {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Is anything held that the next request for the server must not pass by?
    pub(crate) fn keeps_order(&self) -> bool {
        self.in_order.load(Ordering::Acquire) > 0
    }

    /// Takes it in, and waits only when very much is held already. An error: there is no thread that could carry it.
    pub(crate) fn push(&self, relay: &Arc<Relay>, held: HeldMessage) -> io::Result<()> {
        let mut queue = self
            .changed
            // What was held already is in memory anyway, and whoever brings it has others to look after.
            .wait_while(self.queue(), |queue| queue.bytes > MOST_BYTES && held.asked.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        if !queue.attended {
            let relay = relay.clone();
            let carry = move || {
                loop {
                    relay.held.carry_next(&relay);
                }
            };
            thread::Builder::new().name("held".to_owned()).spawn(carry)?;
            queue.attended = true;
        }
        queue.bytes += held.text.len();
        self.count.fetch_add(1, Ordering::Release);
        self.in_order.fetch_add(usize::from(held.in_order), Ordering::Release);
        queue.waiting.push_back(held);
        drop(queue);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until nothing is held any more.
    pub(crate) fn wait_empty(&self) {
        drop(self.changed.wait_while(self.queue(), |_| !self.is_empty()));
    }

    fn carry_next(&self, relay: &Arc<Relay>) {
        let queue = self.changed.wait_while(self.queue(), |queue| queue.waiting.is_empty());
        let Some(held) = queue.unwrap_or_else(PoisonError::into_inner).waiting.pop_front() else { return };
        relay.pending.wait_started();
        let bytes = held.text.len();
        let in_order = usize::from(held.in_order);
        if let Incoming::One(message) = read(Side::Client, held.text.as_bytes()) {
            let mut passage = Passage::for_held(relay, held.ticket, held.asked);
            passage.message(&message);
            if let (Some(question), Some(ticket)) = (passage.question(), held.ticket) {
                passage.ask(&message, (ticket, held.since), &question);
            }
            passage.forward();
        }
        let mut queue = self.queue();
        queue.bytes -= bytes;
        self.count.fetch_sub(1, Ordering::Release);
        self.in_order.fetch_sub(in_order, Ordering::Release);
        drop(queue);
        self.changed.notify_all();
    }
}
