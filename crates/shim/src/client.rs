//! The thread that reads the client: cuts what it says into messages, and leaves each to its passage.
//!
//! It never waits for anything but the client's bytes and the server's pipe.

use std::cell::Cell;
use std::io::Read;
use std::sync::Arc;

use callgate_home::failpoint;
use callgate_journal::{CallEntry, Decision};
use callgate_protocol::message::{Incoming, Side, peek_id, read};
use callgate_protocol::{Answer, Malformed, answer};

use crate::line_reader::{Chunk, LineReader, MAX_LINE, split};
use crate::passage::Passage;
use crate::relay::{News, Relay, ServerPipe};
use crate::stdio;
use crate::wording;

/// How many answers without an id (parse errors) a session gives before it only counts them: a flood of
/// junk must not become a flood of answers.
const UNADDRESSED_ANSWERS: u32 = 32;

/// The thread that reads the client.
pub(crate) struct FromClient {
    relay: Arc<Relay>,
    /// The way to the server, as of the last look.
    pipe: Arc<ServerPipe>,
    unaddressed: Cell<u32>,
}

impl FromClient {
    pub(crate) fn new(relay: Arc<Relay>) -> Self {
        FromClient { pipe: relay.server.pipe(), relay, unaddressed: Cell::new(0) }
    }

    /// Relays until the client closes its end, and nothing of what it said is held any more.
    pub(crate) fn run(mut self, source: impl Read) -> News {
        let mut lines = LineReader::new(source);
        loop {
            match lines.next() {
                Ok(Chunk::Lines(chunk)) => {
                    failpoint::reach("shim.line_read");
                    self.relay.parent.get_or_init(stdio::parent);
                    self.group(chunk);
                }
                Ok(Chunk::TooLong { head, bytes }) => self.too_long(head, bytes),
                Ok(Chunk::End) | Err(_) => {
                    self.relay.held.wait_empty();
                    return News::ClientClosed;
                }
            }
        }
    }

    fn group(&mut self, chunk: &[u8]) {
        // There is a lock in it only when it is another than last time.
        if !self.relay.server.is_current(&self.pipe) {
            self.pipe = self.relay.server.pipe();
        }
        let mut passage = Passage::new(&self.relay, self.pipe.clone());
        for line in split(chunk) {
            self.line(&mut passage, line);
        }
        passage.forward();
    }

    fn line(&self, passage: &mut Passage<'_>, line: &[u8]) {
        match read(Side::Client, line) {
            Incoming::Blank => {}
            Incoming::One(message) => passage.message(&message),
            // Never forwarded as an array: later revisions have no batches, and servers differ on them.
            Incoming::Batch(elements) => elements.into_iter().for_each(|element| match element {
                Ok(message) => passage.message(&message),
                Err(malformed) => self.malformed(passage, &malformed),
            }),
            Incoming::Bad(malformed) => self.malformed(passage, &malformed),
        }
        failpoint::reach("shim.judged");
    }

    fn malformed(&self, passage: &mut Passage<'_>, malformed: &Malformed) {
        let reason = malformed.cause.to_string();
        passage.refuse_malformed(malformed.method.as_deref(), &malformed.answer, &reason);
        if malformed.answer == Answer::Unaddressed {
            self.answer_unaddressed(malformed.code(), &reason);
        }
    }

    fn too_long(&self, head: &[u8], bytes: u64) {
        let reason =
            format!("a line of {bytes} bytes is longer than the {} MiB that can be judged", MAX_LINE >> 20);
        let mut batch = self.relay.journal.batch();
        batch.refuse(CallEntry { decision: Decision::Malformed, reason: &reason, ..CallEntry::default() });
        drop(batch.commit());
        match peek_id(head) {
            Some(id) if self.relay.pending.is_free(&id) => {
                let text = format!("Callgate: {reason}");
                self.relay.to_client.post(answer::error(Some(&id), wording::INVALID_REQUEST, &text));
            }
            _ => self.answer_unaddressed(wording::INVALID_REQUEST, &reason),
        }
    }

    fn answer_unaddressed(&self, code: i64, reason: &str) {
        if self.unaddressed.get() < UNADDRESSED_ANSWERS {
            self.unaddressed.set(self.unaddressed.get() + 1);
            self.relay.to_client.post(answer::error(None, code, &format!("Callgate: {reason}")));
        }
    }
}
