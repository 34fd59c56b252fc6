//! Gates that are put back without asking: which, and when to stop. Only looks; what is done with it is `change`'s business.
//!
//! Another program that takes a gate away again and again is stronger than we are: whoever writes last wins, and the file would
//! never come to rest. So we stop after a few times, and a person decides.

use serde::{Deserialize, Serialize};

use crate::drift::Drift;
use crate::entry::is_callgate;
use crate::ledger::{Ledger, LedgerKey};
use crate::queue::Queued;

/// So often within [`WINDOW_MS`] the gate of an entry is put back.
pub const MOST: usize = 3;
const WINDOW_MS: i64 = 60 * 60 * 1000;

/// What was done about the gate of one entry since a person last decided about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mended {
    #[serde(flatten)]
    pub key: LedgerKey,
    /// When its gate was put back, oldest first; the newest [`MOST`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_ms: Vec<i64>,
    /// Nothing more is done by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests: Option<Rests>,
}

/// Why a gate is not put back any more until a person does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rests {
    /// Another program takes it away again and again.
    Contested,
    /// A person did not want it.
    Declined,
}

impl Mended {
    pub(crate) fn new(key: &LedgerKey) -> Mended {
        Mended { key: key.clone(), at_ms: Vec::new(), rests: None }
    }

    pub(crate) fn again(&mut self, now_ms: i64) {
        self.at_ms.push(now_ms);
        let old = self.at_ms.len().saturating_sub(MOST);
        self.at_ms.drain(..old);
    }

    /// A clock that was set back or forth far enough makes a time count as long ago.
    fn is_worn_out(&self, now_ms: i64) -> bool {
        self.at_ms.iter().filter(|at| now_ms.abs_diff(**at) < WINDOW_MS.unsigned_abs()).count() >= MOST
    }
}

/// What to do by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Put the gate back in front of these.
    pub again: Vec<LedgerKey>,
    /// Leave these from now on, and say so.
    pub contested: Vec<LedgerKey>,
}

/// What to do about what happened. `on`: a person wants it done by itself. Wiped files, new entries and removed ones are never
/// touched: what a person or a client wanted with those cannot be told.
pub fn repairs(drifts: &[Drift], on: bool, ledger: &Ledger, waiting: &[Queued], now_ms: i64) -> Repairs {
    let mut repairs = Repairs::default();
    if !on {
        return repairs;
    }
    for key in drifts.iter().filter_map(|drift| lost(drift, ledger)) {
        if waiting.iter().any(|queued| queued.key == *key) {
            continue;
        }
        match ledger.mended(key) {
            Some(mended) if mended.rests.is_some() => {}
            Some(mended) if mended.is_worn_out(now_ms) => repairs.contested.push(key.clone()),
            _ => repairs.again.push(key.clone()),
        }
    }
    repairs
}

/// An entry whose gate, put there by us, is gone or leads to where our program no longer is. A gate that somebody else wrote is
/// theirs.
fn lost<'d>(drift: &'d Drift, ledger: &Ledger) -> Option<&'d LedgerKey> {
    match drift {
        Drift::LostGate { key } => Some(key),
        Drift::Moved { key, binary } => {
            Some(key).filter(|key| is_callgate(binary) && ledger.row(key).is_some())
        }
        Drift::Wiped { .. }
        | Drift::Edited { .. }
        // Whoever did it may have had a reason: a person decides.
        | Drift::Tampered { .. }
        | Drift::New { .. }
        | Drift::CameBack { .. }
        | Drift::Removed { .. }
        | Drift::Shadowed { .. }
        | Drift::Unreadable { .. } => None,
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
