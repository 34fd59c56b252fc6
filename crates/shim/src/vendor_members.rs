//! Vendor members in the gate: capabilities and keys of `_meta` beside the protocol do not get to the client, unless they are
//! known to be harmless or a person lets them through. Neither do messages that belong to a capability which did not.
//!
//! Clients act on these by themselves: one lets its server answer the client's own questions to its person. No rule speaks of
//! them, so this holds whatever the policy says. What the history keeps of an answer is what the server said.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use callgate_controls::pin::PinKind;
use callgate_controls::vendor_keys::{KNOWN, is_harmless, known};
use callgate_journal::{Event, EventKind};
use callgate_policy::Pin;
use callgate_protocol::digest::definition_digest;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{Filtered, List};
use callgate_protocol::message::Message;
use callgate_protocol::vendor::{self, Member, Place, belongs, is_of_protocol};

use crate::relay::Relay;
use crate::rule_source::Rules;

/// Of more nothing is told; they are taken out all the same.
const MOST_TOLD: usize = 128;
/// How many capabilities are remembered whose messages do not pass, and how long a name may be that is told.
const MOST_WITHHELD: usize = 1_024;
const LONGEST: usize = 128;

/// What did not get to the client of this session.
#[derive(Debug, Default)]
pub(crate) struct VendorMembers {
    told: Mutex<HashSet<String>>,
    /// Capabilities, for messages that belong to them.
    withheld: Mutex<HashSet<String>>,
}

/// What is left out of one message.
#[derive(Default)]
struct LeftOut(Vec<(Place, String)>);

impl LeftOut {
    /// Does it pass? What does not is remembered.
    fn passes(&mut self, rules: &Rules, member: &Member<'_>) -> bool {
        let passes = is_harmless(member.place, member.key) || rules.pins.lets_through(member.key);
        if !passes && self.0.len() < MOST_WITHHELD {
            self.0.push((member.place, member.key.to_owned()));
        }
        passes
    }
}

impl VendorMembers {
    /// Another one may pass by now.
    pub(crate) fn forget_told(&self) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn untold(&self, left_out: LeftOut) -> Vec<(Place, String)> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let new = left_out
            .0
            .into_iter()
            .filter(|(_, key)| key.len() <= LONGEST && told.len() < MOST_TOLD && told.insert(key.clone()));
        new.collect()
    }

    fn withhold(&self, left_out: &LeftOut) {
        let mut withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, key) in &left_out.0 {
            if *place == Place::Capability && withheld.len() < MOST_WITHHELD {
                withheld.insert(key.clone());
            }
        }
    }

    /// The longest of the capabilities that this method belongs to, known ones included.
    fn capability_of(&self, method: &str, rules: &Rules) -> Option<String> {
        let withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        let known = KNOWN.iter().filter(|known| known.place == Place::Capability).map(|known| known.key);
        let all = withheld.iter().chain(rules.pins.let_through()).map(String::as_str).chain(known);
        all.filter(|key| belongs(method, key)).max_by_key(|key| key.len()).map(str::to_owned)
    }
}

impl Relay {
    /// The answer to a client's `initialize` or `server/discover` as it may have it; none if as it is. What it declares beside
    /// the protocol and passes is pinned, and so are its instructions.
    pub(crate) fn greeting(&self, result: Raw<'_>) -> Option<Vec<u8>> {
        let rules = self.rules();
        let enforced = self.pin_of("", &rules) == Pin::Enforce;
        let mut left_out = LeftOut::default();
        let (mut declared, mut said) = (Vec::new(), Vec::new());
        let rewritten = vendor::greeting(result, &mut |member| {
            let (kind, name, kept) = match member.place {
                Place::Meta => return left_out.passes(&rules, &member),
                Place::Capability if !left_out.passes(&rules, &member) => return false,
                Place::Capability => (PinKind::Capability, member.key, &mut declared),
                Place::Instructions => (PinKind::Instructions, "instructions", &mut said),
            };
            kept.push((name.to_owned(), member.value.text().to_owned()));
            let changed = || rules.pins.is_changed(kind, name, &definition_digest(member.value));
            !(enforced && rules.pins.judges(kind) && changed())
        });
        self.vendor_members.withhold(&left_out);
        self.tell_left_out(left_out);
        let store = self.definitions.clone();
        self.tools.write_beside(move || {
            store.learn(PinKind::Capability, &declared);
            store.learn(PinKind::Instructions, &said);
        });
        rewritten
    }

    /// A page of a list without the keys that do not pass.
    pub(crate) fn strip_list(
        &self,
        list: List,
        rules: &Rules,
        result: Raw<'_>,
        filtered: Filtered,
    ) -> Filtered {
        let (text, removed) = match &filtered {
            Filtered::Unchanged => (result.text(), 0),
            Filtered::Rewritten { result, removed } => match std::str::from_utf8(result) {
                Ok(text) => (text, *removed),
                Err(_) => return filtered,
            },
            Filtered::Unusable(_) => return filtered,
        };
        let mut left_out = LeftOut::default();
        let stripped = vendor::list(list, text, &mut |member| left_out.passes(rules, &member));
        self.tell_left_out(left_out);
        match stripped {
            Some(result) => Filtered::Rewritten { result, removed },
            None => filtered,
        }
    }

    /// A message of the server without the keys of its `_meta` that do not pass; none if all do. Without a `_meta` it costs
    /// nothing, however long the message is.
    pub(crate) fn strip(&self, message: &Message<'_>) -> Option<Vec<u8>> {
        let meta = message.meta()?;
        let (rules, mut left_out) = (self.rule_source.last(), LeftOut::default());
        let stripped = vendor::meta(meta, &mut |member| left_out.passes(&rules, &member))?;
        self.tell_left_out(left_out);
        Some(message.with_meta(&stripped))
    }

    /// Does this method of the server's belong to a capability that the client did not get? Its name.
    pub(crate) fn withheld_capability(&self, method: &str) -> Option<String> {
        if is_of_protocol(method) {
            return None;
        }
        let rules = self.rule_source.last();
        let key = self.vendor_members.capability_of(method, &rules)?;
        let passes = is_harmless(Place::Capability, &key) || rules.pins.lets_through(&key);
        if passes {
            return None;
        }
        self.tell_left_out(LeftOut(vec![(Place::Capability, key.clone())]));
        Some(key)
    }

    fn tell_left_out(&self, left_out: LeftOut) {
        if left_out.0.is_empty() {
            return;
        }
        let untold = self.vendor_members.untold(left_out);
        if untold.is_empty() {
            return;
        }
        for (place, key) in &untold {
            let why = known(*place, key).map(|known| format!(": it {}", known.what)).unwrap_or_default();
            let what = match place {
                Place::Capability => "the capability",
                Place::Meta | Place::Instructions => "the _meta key",
            };
            let text = format!("{what} {key:?} of the server was taken out of what its client got{why}");
            self.journal.event(Event { kind: EventKind::MemberTakenOut, text: &text });
        }
        let store = self.definitions.clone();
        self.tools.write_beside(move || store.take_out(&untold));
    }
}
