//! Delivery: what one read of the server brings to the client, as it came where that is possible, and the calls that it settles.

use std::borrow::Cow;
use std::time::Duration;

use callgate_journal::CallRef;
use callgate_protocol::message::{Message, Outcome as Reply};

use crate::lists::Listed;
use crate::unknown_answers::Unlisted;

/// What one read brought, on its way to the client.
pub(super) struct Delivery<'c> {
    /// The lines as they came.
    chunk: &'c [u8],
    /// How much of `chunk` is to be delivered as it came; `None` once something had to differ.
    pub(super) untouched: Option<usize>,
    /// What is delivered when something differs.
    rewritten: Vec<u8>,
    /// Calls that were answered, to be booked after the delivery.
    pub(super) settled: Vec<Settled<'c>>,
    /// Lists, to be learned from after the delivery.
    pub(super) listed: Vec<Listed<'c>>,
    /// Likewise, failures of requests for something that the server does not list, as far as that is known.
    pub(super) unlisted: Vec<(Cow<'c, [u8]>, Box<Unlisted>)>,
}

/// Where a line with its LF stands in the chunk.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) struct Settled<'c> {
    pub(super) call: CallRef,
    /// Measured when its answer came: whoever gets it may send the next call before this one is booked.
    pub(super) took: Duration,
    pub(super) reply: Booked<'c>,
}

/// What the history keeps of an answer.
pub(super) enum Booked<'c> {
    /// The second: a tool says that it failed.
    Reply(Reply<'c>, bool),
    /// The server's answer could not be delivered; our error went out in its place.
    Unusable,
}

impl<'c> Delivery<'c> {
    pub(super) fn new(chunk: &'c [u8]) -> Self {
        Delivery {
            chunk,
            untouched: Some(0),
            rewritten: Vec::new(),
            settled: Vec::new(),
            listed: Vec::new(),
            unlisted: Vec::new(),
        }
    }

    /// Delivers a message; as it stands in the chunk if it may.
    pub(super) fn deliver(&mut self, message: &Message<'_>, place: Option<Place>) {
        let wire = message.wire();
        if let (Some(place), Some(untouched)) = (place, self.untouched)
            && wire.len() + 1 == place.end - place.start
            && place.start == untouched
            && matches!(wire, Cow::Borrowed(_))
        {
            self.untouched = Some(place.end);
            return;
        }
        self.append(&wire);
    }

    pub(super) fn append(&mut self, line: &[u8]) {
        self.differ();
        self.rewritten.extend_from_slice(line);
        self.rewritten.push(b'\n');
    }

    /// The same for a line that may be long and need not be copied, if it is the first.
    pub(super) fn append_whole(&mut self, line: Vec<u8>) {
        self.differ();
        if self.rewritten.is_empty() {
            self.rewritten = line;
            self.rewritten.push(b'\n');
        } else {
            self.append(&line);
        }
    }

    /// A line of the chunk is not delivered.
    pub(super) fn skip(&mut self, place: Option<Place>) {
        if place.is_some() {
            self.differ();
        }
    }

    fn differ(&mut self) {
        if let Some(untouched) = self.untouched.take() {
            self.rewritten.extend_from_slice(&self.chunk[..untouched]);
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self.untouched {
            Some(untouched) => &self.chunk[..untouched],
            None => &self.rewritten,
        }
    }
}
