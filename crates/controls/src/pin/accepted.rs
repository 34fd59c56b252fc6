//! Accepted: as much of the pins as calls, lists and greetings are held against.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use callgate_home::Home;
use callgate_protocol::digest::Digest;

use super::{PinKind, Pins, read};

/// What is accepted of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Why the file cannot be read: then nothing is known to be accepted.
    unreadable: Option<String>,
    /// The kinds that the server has said something of, and nobody has given up.
    kinds: BTreeMap<PinKind, HashMap<String, Vec<Digest>>>,
    /// Vendor members that pass.
    let_through: BTreeSet<String>,
}

impl Accepted {
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Is there anything that something could differ from?
    pub fn holds_any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Accepted definitions by their names; none of a kind that the server has not said anything of.
    pub fn by_kind(&self, kind: PinKind) -> Option<&HashMap<String, Vec<Digest>>> {
        self.kinds.get(&kind)
    }

    /// Could a definition of this kind be one that nobody has accepted?
    pub fn judges(&self, kind: PinKind) -> bool {
        self.unreadable.is_some() || self.kinds.contains_key(&kind)
    }

    /// Is this definition one that nobody has accepted? A tool that has no pin is new, and not changed.
    pub fn is_changed(&self, kind: PinKind, name: &str, definition: &Digest) -> bool {
        if self.unreadable.is_some() {
            return true;
        }
        match self.kinds.get(&kind).map(|names| names.get(name)) {
            Some(Some(accepted)) => !accepted.contains(definition),
            Some(None) => !kind.believes_new(),
            None => false,
        }
    }

    pub fn lets_through(&self, member: &str) -> bool {
        self.let_through.contains(member)
    }

    pub fn let_through(&self) -> &BTreeSet<String> {
        &self.let_through
    }

    /// What has pins here, and by `after` others, or none any more, in order.
    pub fn otherwise_in(&self, after: &Accepted) -> Vec<String> {
        let mut names = Vec::new();
        for (kind, before) in &self.kinds {
            let Some(after) = after.kinds.get(kind) else { continue };
            let other = before.iter().filter(|(name, accepted)| after.get(*name) != Some(accepted));
            names.extend(other.map(|(name, _)| name.clone()));
        }
        names.sort_unstable();
        names
    }
}

impl From<&Pins> for Accepted {
    fn from(pins: &Pins) -> Accepted {
        let kinds = PinKind::ALL.into_iter().filter_map(|kind| {
            let names = pins.learned(kind)?.iter();
            let digests =
                names.map(|(name, pin)| (name.clone(), pin.accepted.iter().map(|digest| digest.0).collect()));
            Some((kind, digests.collect()))
        });
        Accepted { unreadable: None, kinds: kinds.collect(), let_through: pins.let_through.clone() }
    }
}

/// For the gate.
pub fn accepted(home: &Home, server: &str) -> Accepted {
    match read(home, server) {
        Ok(Some(pins)) => Accepted::from(&pins),
        Ok(None) => Accepted::default(),
        Err(error) => Accepted { unreadable: Some(error.to_string()), ..Accepted::default() },
    }
}
