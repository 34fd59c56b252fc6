//! The server thread's way into the record: the outcomes of one group of lines, appended with one write.

use std::time::Duration;

use callgate_home::failpoint;
use callgate_policy::Keep;
use callgate_protocol::json::Raw;

use crate::Outcome;
use crate::batch::CallRef;
use crate::journal::Shared;
use crate::spool::record::{OutcomeRecord, Record, RecordedBody};
use crate::spool::writer::Group;

#[derive(Debug)]
pub struct Settlement<'j> {
    shared: &'j Shared,
    group: Option<Group>,
    records: u64,
    /// Calls whose places are to be given back, and whether the client gave them up.
    freed: Vec<(u64, bool)>,
}

impl<'j> Settlement<'j> {
    pub(crate) fn new(shared: &'j Shared) -> Self {
        Settlement { shared, group: Some(shared.group()), records: 0, freed: Vec::new() }
    }

    /// How a call ended. The first outcome of a call stays; a later one changes nothing.
    pub fn add(&mut self, call: &CallRef, outcome: Outcome, took: Duration, result: Option<Raw<'_>>) {
        let Some(group) = &mut self.group else { return };
        if call.holds {
            self.freed.push((call.seq, outcome.is_given_up()));
        }
        let text = result.map(Raw::text);
        let private = call.keep != Keep::Full;
        let masker = &self.shared.masker;
        let kept = text.filter(|_| !private).map(|text| masker.keep_result(call.seq, text));
        let record = OutcomeRecord {
            seq: call.seq,
            outcome,
            duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            result: text.map(|text| {
                kept.as_ref().map_or(RecordedBody::size_of(text), |kept| RecordedBody::of(kept, text))
            }),
        };
        group.push(&if private { Record::WithheldOutcome(record) } else { Record::Outcome(record) });
        self.records += 1;
        masker.call_over(call.seq);
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
        self.shared.free(std::mem::take(&mut self.freed));
    }
}

impl Drop for Settlement<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
