//! What a copy of a client's file holds, as far as that can be told: what a person needs to know before they pick one.

use std::collections::BTreeSet;

use crate::backup::Backup;
use crate::change::entries_in;
use crate::discover::{Found, known};
use crate::secrets::listing::{Stands, listed};
use crate::survey::{Entry, State, Surveyed, look};
use crate::table;

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    pub servers: usize,
    /// Servers behind the gate.
    pub gates: usize,
    /// Secrets in plain text.
    pub secrets: usize,
    /// Secrets that are in the keychain, or were.
    pub references: usize,
}

/// Nothing, if it cannot be understood.
pub fn holds(copy: &Backup) -> Option<Holds> {
    let client = table::client(&copy.client)?;
    let found = Found { path: copy.copy.clone(), ..known(client, copy.path.clone()) };
    let file = Surveyed { read: look(&found), found };
    file.read.as_ref().ok()?;
    let mut holds = Holds::default();
    for (entry, secrets) in listed(&file) {
        holds.servers += 1;
        holds.gates += usize::from(is_gated(entry));
        let kept = secrets.iter().filter(|secret| secret.stands == Stands::InKeychain).count();
        holds.references += kept;
        holds.secrets += secrets.len() - kept;
    }
    Some(holds)
}

/// Is it the very first copy of its file among these?
pub fn is_first(copy: &Backup, copies: &[Backup]) -> bool {
    let same_file = |one: &&Backup| one.client == copy.client && one.path == copy.path;
    copies.iter().filter(same_file).all(|one| one.at_ms >= copy.at_ms)
}

/// What restoring a copy does to the gates in its file, by the names of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Servers that are behind the gate now, and come back without it.
    pub lost: Vec<String>,
    /// Servers that are not behind the gate now, and come back behind it.
    pub won: Vec<String>,
    /// Servers that are behind the gate now, and that the copy does not have.
    pub gone: Vec<String>,
}

pub fn gates(copy: &Backup) -> Gates {
    of(&entries_in(copy, &copy.path), &entries_in(copy, &copy.copy))
}

fn of(now: &[Entry], then: &[Entry]) -> Gates {
    let id = |entry: &Entry| (entry.key.project.clone(), entry.key.name.clone());
    let gated =
        |entries: &[Entry]| entries.iter().filter(|one| is_gated(one)).map(id).collect::<BTreeSet<_>>();
    let there: BTreeSet<_> = then.iter().map(id).collect();
    let (before, after) = (gated(now), gated(then));
    let (mut lost, mut gone) = (Vec::new(), Vec::new());
    for one in before.difference(&after) {
        if there.contains(one) { lost.push(one.1.clone()) } else { gone.push(one.1.clone()) }
    }
    Gates { lost, gone, won: after.difference(&before).map(|one| one.1.clone()).collect() }
}

fn is_gated(entry: &Entry) -> bool {
    matches!(entry.state, State::Protected { .. })
}
