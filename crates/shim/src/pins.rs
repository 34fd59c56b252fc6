//! Pins in the gate: a tool whose definition is not an accepted one is kept back from the client's list, and its calls are
//! refused, until a person accepts it. What the model knows of a tool has come through here; and where a client never asks for
//! the list, the gate does, before the first call that hangs on it.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callgate_controls::pin::{Accepted, MOST_TOOLS, PinNews};
use callgate_home::clock::wall_ms;
use callgate_journal::{Event, EventKind};
use callgate_policy::Pin;
use callgate_protocol::json::Raw;
use callgate_protocol::lists::List;

use crate::admission::{Admission, Evidence, Need, Obstacle, Request};
use crate::relay::Relay;
use crate::rule_source::Rules;
use crate::tool_cache::Described;

/// How the record names what refuses such calls.
pub(crate) const RULE: &str = "(pinned definition)";
/// How many tools one event names.
const NAMED: usize = 12;
/// Of more tools that cannot be pinned nothing is told.
const MOST_TOLD: usize = 1_024;

/// Why a tool does not count as what a person accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unaccepted {
    Changed,
    /// The file with what is accepted cannot be read.
    Unreadable,
    /// The server was asked for its tools, and did not answer in time.
    NoList,
    /// A definition of it is accepted, and the server lists none.
    NotListed,
    Unpinnable,
}

/// What the pins of this session are beside the file.
#[derive(Debug, Default)]
pub(crate) struct SessionPins {
    /// Tools that cannot be pinned, and were told.
    beyond: Mutex<HashSet<String>>,
    /// Tools whose change was told: a server may describe one otherwise each time.
    told: Mutex<HashSet<String>>,
    /// Tools that were kept back from a list which is not read yet, and how many lists were read before.
    withheld: Mutex<(u64, HashSet<String>)>,
}

impl SessionPins {
    fn withhold(&self, read: u64, tools: &HashSet<String>) {
        let mut withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        if withheld.0 != read {
            *withheld = (read, HashSet::new());
        }
        withheld.1.extend(tools.iter().cloned());
    }

    fn is_withheld(&self, tool: &str, read: u64) -> bool {
        let withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        withheld.0 == read && withheld.1.contains(tool)
    }

    /// Other definitions are accepted.
    pub(crate) fn release(&self) {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
        lock(&self.told).clear();
        lock(&self.beyond).clear();
    }
}

fn lock(names: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    names.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Admission<'_> {
    /// Why the tool is not known to be what a person accepted; none if that does not matter.
    pub(crate) fn unaccepted(
        &self,
        request: &Request<'_>,
        evidence: &Evidence,
        observing: bool,
    ) -> Result<Option<Unaccepted>, Obstacle> {
        if !request.is_tool_call() {
            return Ok(None);
        }
        let (relay, pins, name) = (self.relay, &self.rules.pins, &*request.name);
        let Described { digest, current, overdue, read } = relay.tools.described(name);
        let is_changed =
            digest.is_some_and(|digest| pins.is_changed(name, &digest)) || relay.pins.is_withheld(name, read);
        // Told by the name alone: what was learned of the list may not be written down yet.
        let is_beyond = match &**pins {
            Accepted::Tools(tools) if !tools.contains_key(name) => {
                tools.len() >= MOST_TOOLS || relay.journal.masker().keep_name(name) != name
            }
            _ => false,
        };
        if digest.is_some() && current && !is_changed && !is_beyond {
            return Ok(None);
        }
        let pin = self.rules.policy.pin(&relay.client.name(), name, wall_ms());
        let may_list = !current && relay.handshake.may_have_tools();
        let is_enforced = match pin {
            Pin::Off => return Ok(None),
            Pin::Report => false,
            Pin::Enforce => !observing && **pins != Accepted::Unpinned,
        };
        let waits = || relay.tools.lacks_any_list(!relay.held.is_empty());
        if is_enforced && may_list && !evidence.listed && waits() {
            return Err(Obstacle::Needs(Need::ToolList));
        }
        // Nothing waits for what is only told, or is to be accepted as it is.
        if !is_enforced && may_list && relay.knows_how_to_list(request) {
            relay.list_beside(request);
        }
        if pin == Pin::Report {
            return Ok(None);
        }
        Ok(match **pins {
            Accepted::Unreadable(_) => Some(Unaccepted::Unreadable),
            _ if is_changed => Some(Unaccepted::Changed),
            _ if is_beyond => Some(Unaccepted::Unpinnable),
            // Of a server that never listed anything nothing is accepted that this could differ from.
            Accepted::Unpinned => None,
            Accepted::Tools(_) if overdue => Some(Unaccepted::NoList),
            Accepted::Tools(ref tools) => {
                (digest.is_none() && tools.contains_key(name)).then_some(Unaccepted::NotListed)
            }
        })
    }
}

impl Relay {
    /// Does this client leave it to the gate to ask for tools, and has it said in which way?
    fn knows_how_to_list(&self, request: &Request<'_>) -> bool {
        !self.listed.load(Ordering::Relaxed) && (self.handshake.is_initialized() || request.is_stateless())
    }

    /// Asks the server for its tools, if that is due, and waits for nothing.
    fn list_beside(&self, request: &Request<'_>) {
        if self.tools.wants_list(&request.name, Instant::now()).is_some() {
            self.list_tools(&self.server.pipe(), None, &request.own_meta());
        }
    }

    /// The tools of this page that the client does not get.
    pub(crate) fn kept_back(&self, list: List, result: Raw<'_>, rules: &Rules) -> HashSet<String> {
        let may_matter = *rules.pins != Accepted::Unpinned && rules.policy.keeps_definitions_back();
        if list != List::Tools || !may_matter {
            return HashSet::new();
        }
        let definitions = self.tools.definitions_in(result);
        let changed = definitions.iter().filter(|(tool, digest)| rules.pins.is_changed(tool, digest));
        let kept_back = changed.filter(|(tool, _)| self.pin_of(tool, rules) == Pin::Enforce);
        let kept_back: HashSet<String> = kept_back.map(|(tool, _)| tool.clone()).collect();
        if !kept_back.is_empty() {
            self.pins.withhold(self.tools.lists_read(), &kept_back);
        }
        kept_back
    }

    fn pin_of(&self, tool: &str, rules: &Rules) -> Pin {
        let client = self.client.name();
        let pin = rules.policy.pin(&client, tool, wall_ms());
        if rules.observing(&client) { pin.min(Pin::Report) } else { pin }
    }

    /// A list had what nobody has seen before.
    pub(crate) fn definitions_differ(&self, news: PinNews) {
        let PinNews { first, added, changed, beyond } = news;
        let rules = self.rules();
        let event = |kind, words: &str, tools: &[String]| {
            if !tools.is_empty() {
                self.journal.event(Event { kind, text: &format!("{words}: {}", names(tools)) });
            }
        };
        let of = |tools: &[String], pin: Pin| -> Vec<String> {
            tools.iter().filter(|tool| self.pin_of(tool, &rules) == pin).cloned().collect()
        };
        let untold: Vec<String> =
            changed.into_iter().filter(|tool| lock(&self.pins.told).insert(tool.clone())).collect();
        let (kept_back, shown) = (of(&untold, Pin::Enforce), of(&untold, Pin::Report));
        let words = "described otherwise than when accepted, and kept back until you accept it";
        event(EventKind::DefinitionChanged, words, &kept_back);
        event(EventKind::DefinitionChanged, "described otherwise than when accepted", &shown);
        let words = match first {
            true => "accepted as the server describes them now",
            false => "new tools, accepted as the server describes them now",
        };
        event(EventKind::ToolAdded, words, &added);
        let mut known = lock(&self.pins.beyond);
        let new: Vec<String> =
            beyond.into_iter().filter(|tool| known.len() < MOST_TOLD && known.insert(tool.clone())).collect();
        drop(known);
        let words = "not pinned, and refused (the name looks like a secret, or there are too many tools)";
        event(EventKind::DefinitionChanged, words, &of(&new, Pin::Enforce));
        let words = "not pinned (the name looks like a secret, or there are too many tools)";
        event(EventKind::DefinitionChanged, words, &of(&new, Pin::Report));
    }
}

pub(crate) fn names(tools: &[String]) -> String {
    let more = tools.len().saturating_sub(NAMED);
    let shown: Vec<String> = tools.iter().take(NAMED).map(|tool| format!("{tool:?}")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
