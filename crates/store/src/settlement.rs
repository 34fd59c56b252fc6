//! The server thread's way into the record: the outcomes of one group of lines, appended with one write.

use std::time::Duration;

use callgate_protocol::json::Raw;

use crate::batch::CallRef;
use crate::failpoint;
use crate::journal::Shared;
use crate::spool::record::{Body, OutcomeRecord, Record};
use crate::spool::writer::Group;
use crate::words::Outcome;

#[derive(Debug)]
pub struct Settlement<'j> {
    shared: &'j Shared,
    group: Option<Group>,
    records: u64,
}

impl<'j> Settlement<'j> {
    pub(crate) fn new(shared: &'j Shared) -> Self {
        Settlement { shared, group: Some(shared.group()), records: 0 }
    }

    /// How a call ended. The first outcome of a call stays; a later one changes nothing.
    pub fn add(&mut self, call: &CallRef, outcome: Outcome, took: Duration, result: Option<Raw<'_>>) {
        let Some(group) = &mut self.group else { return };
        let text = result.map(Raw::text);
        let kept = text.map(|text| self.shared.masker.keep(text));
        group.push(&Record::Outcome(OutcomeRecord {
            seq: call.seq,
            outcome,
            duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            result: kept.as_ref().zip(text).map(|(kept, text)| Body::of(kept, text)),
        }));
        self.records += 1;
    }

    /// Appends them. An outcome that cannot be written leaves its call as *unknown*, and a gap in the record.
    pub fn commit(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        let Some(group) = self.group.take().filter(|group| !group.is_empty()) else { return };
        failpoint::reach("settle.before_append");
        let _counted = self.shared.append(group, self.records);
        self.shared.calls_closed(self.records);
        failpoint::reach("settle.after_append");
    }
}

impl Drop for Settlement<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
