//! One entry of a client's file, about to have some of its texts exchanged: which, and what the file says then.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use callgate_secrets::{BadReference, Identity, Reference, Secret, referring};

use super::moving::MoveError;
use crate::backup::Backups;
use crate::discover::Found;
use crate::entry::{Local, ServerId, SpannedText, ValueCheck, servers, verify};
use crate::file::{Snapshot, replace};
use crate::ledger::{Held, LedgerKey, LedgerRow};
use crate::names::identity;
use crate::survey::{Entry, Refusal, State, look};
use callgate_document::{Document, Odd, Splice};

/// One text of an entry, and what comes in its place.
pub(super) struct Swap {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    /// How to write it, if that still says the same.
    pub(super) literal: Option<Secret>,
}

pub(super) fn swapped<'a>(swaps: &'a [Swap], text: &'a SpannedText) -> &'a str {
    swaps.iter().find(|swap| swap.span == text.span).map_or(&text.value, |swap| &swap.text)
}

pub(super) fn texts(local: &Local) -> impl Iterator<Item = &SpannedText> {
    local.env.iter().map(|(_, text)| text).chain(&local.args)
}

pub(super) struct OpenEntry<'a> {
    found: &'a Found,
    pub(super) entry: Entry,
    pub(super) local: Local,
    pub(super) document: Document,
    snapshot: Snapshot,
}

impl<'a> OpenEntry<'a> {
    pub(super) fn of(found: &'a Found, key: &LedgerKey) -> Result<OpenEntry<'a>, MoveError> {
        let contents = look(found)?;
        let entry = contents.entries.into_iter().find(|entry| entry.key == *key).ok_or(MoveError::Gone)?;
        let local = match &entry.state {
            State::NotCoverable(why) => return Err(Odd::new(why.clone()).into()),
            State::Open | State::Protected { .. } => entry.local().cloned().ok_or(MoveError::Gone)?,
        };
        let parsed = Document::parse(entry.place.syntax, &contents.snapshot.bytes);
        let document = parsed.map_err(Refusal::from)?;
        Ok(OpenEntry { found, entry, local, document, snapshot: contents.snapshot })
    }

    /// What is started now.
    pub(super) fn start(&self, server: &str, client: &str) -> Identity {
        let args = self.local.args.iter().map(|arg| OsStr::new(&arg.value));
        Identity::of(server, Some(client), OsStr::new(&self.local.program.value), args)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &SpannedText> {
        texts(&self.local)
    }

    pub(super) fn references(&self) -> Result<Vec<Reference>, BadReference> {
        let found = self.texts().filter_map(|text| referring(&text.value));
        found.map(|found| found.map(|found| found.reference)).collect()
    }

    /// The file with these texts in place, if it then says what it should and nothing else; and what the entry starts then.
    pub(super) fn exchanged(&self, swaps: &[Swap]) -> Result<(String, Local), MoveError> {
        let as_it_was = |swap: &Swap| match &swap.literal {
            Some(literal) => Ok(Splice::replace(swap.span.clone(), literal.expose())),
            None => self.document.replace(&swap.span, &swap.text),
        };
        let quoted = |swap: &Swap| self.document.replace(&swap.span, &swap.text);
        let exact = swaps.iter().map(as_it_was).collect::<Result<Vec<_>, _>>()?;
        match self.spliced(swaps, &exact) {
            Ok(done) => Ok(done),
            // The text around it was edited meanwhile: the value still comes back, in our own writing.
            Err(_) => self.spliced(swaps, &swaps.iter().map(quoted).collect::<Result<Vec<_>, _>>()?),
        }
    }

    /// Writes it, with the ledger held since the file was read.
    pub(super) fn write(
        &self,
        home: &Path,
        mut held: Held,
        swaps: &[Swap],
        now_ms: i64,
    ) -> Result<(), MoveError> {
        let (after, local) = self.exchanged(swaps)?;
        let client = &self.entry.key.client;
        Backups::of(home).keep(client, &self.found.path, &self.snapshot.bytes, now_ms)?;
        replace(&self.snapshot, after.as_bytes())?;
        held.ledger.wrote(client, now_ms);
        self.note(held, &local)
    }

    /// This is what the entry starts, by a person's will: otherwise it would look as if somebody had edited it.
    pub(super) fn note(&self, mut held: Held, local: &Local) -> Result<(), MoveError> {
        if let Some(row) = held.ledger.rows.iter_mut().find(|row| row.key == self.entry.key) {
            row.original = identity(local);
        }
        held.save().map_err(MoveError::Unrecorded)
    }

    /// The same of an entry that may be known under another name or in another file: it is ours from now on.
    pub(super) fn adopt(&self, mut held: Held, now_ms: i64) -> Result<(), MoveError> {
        let key = &self.entry.key;
        if held.ledger.row(key).is_none()
            && let Some(server) = self.entry.server.gated.as_ref().and_then(|gate| gate.server.clone())
        {
            held.ledger.put(LedgerRow {
                key: key.clone(),
                server,
                original: String::new(),
                text: None,
                loads: None,
                at_ms: now_ms,
            });
        }
        self.note(held, &self.local)
    }

    /// The text after these splices, and what the entry starts then.
    fn spliced(&self, swaps: &[Swap], splices: &[Splice]) -> Result<(String, Local), MoveError> {
        let check = |why: String| MoveError::Check(why);
        let shape = &self.entry.place.shape;
        let after = self.document.spliced(splices).map_err(|error| check(error.to_string()))?;
        let id: &ServerId = &self.entry.server.id;
        verify(&self.document, &after, shape, std::slice::from_ref(id), ValueCheck::MayDiffer)
            .map_err(|broken| check(broken.to_string()))?;
        let listing = servers(&after, shape);
        let server = listing.find(id).ok_or(MoveError::Gone)?;
        let entry = Entry { server: server.clone(), ..self.entry.clone() };
        let local = entry.local().cloned().ok_or(MoveError::Gone)?;
        let wanted = self.texts().map(|text| swapped(swaps, text));
        if !wanted.eq(texts(&local).map(|text| text.value.as_str()))
            || entry.server.gated != self.entry.server.gated
        {
            return Err(check("another value would have changed".to_owned()));
        }
        Ok((after.text, local))
    }
}
