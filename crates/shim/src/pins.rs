//! Pins in the gate: a tool or a prompt whose definition is not an accepted one is kept back from the client's list, and its calls
//! are refused, until a person accepts it; all of them, while another program runs than was accepted. What the model knows of a
//! tool has come through here; and where a client never asks for the list, the gate does, before the first call that hangs on it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callgate_controls::pin::{MOST_TOOLS, PinKind, PinNews};
use callgate_home::clock::wall_ms;
use callgate_journal::{Event, EventKind};
use callgate_policy::Pin;
use callgate_protocol::digest::{Digest, definition_digest};
use callgate_protocol::json::Raw;
use callgate_protocol::lists::{List, definitions};

use crate::admission::{Admission, Evidence, Need, Obstacle, Request};
use crate::relay::Relay;
use crate::rule_source::Rules;
use crate::tool_cache::Described;

/// How the record names what refuses such calls.
pub(crate) const RULE: &str = "(pinned definition)";
/// How many tools one event names.
const NAMED: usize = 12;
/// Under which name the program is pinned.
const PROGRAM: &str = "program";
/// Of more tools that cannot be pinned nothing is told.
const MOST_TOLD: usize = 1_024;

/// Why a tool does not count as what a person accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unaccepted {
    Changed,
    /// The server is another program than the one that was accepted.
    OtherProgram,
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
    /// Prompts as they were listed last.
    prompts: Mutex<HashMap<String, Digest>>,
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

    fn is_changed_prompt(&self, request: &Request<'_>, rules: &Rules) -> bool {
        let name = request.params.and_then(|params| params.get("name")).and_then(Raw::as_str);
        let prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = name.as_deref().and_then(|name| Some((name, prompts.get(name)?)));
        digest.is_some_and(|(name, digest)| rules.pins.is_changed(PinKind::Prompt, name, digest))
    }

    pub(crate) fn has_prompts(&self) -> bool {
        !self.prompts.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
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
        let (relay, pins, name) = (self.relay, &self.rules.pins, &*request.name);
        if !request.is_tool_call() {
            let judged = !observing && request.method == "prompts/get";
            let enforced = || self.rules.policy.pin(&relay.client.name(), "", wall_ms()) == Pin::Enforce;
            if !judged || !enforced() {
                return Ok(None);
            }
            let is_changed = || relay.pins.is_changed_prompt(request, &self.rules);
            return Ok(match () {
                () if pins.unreadable().is_some() => Some(Unaccepted::Unreadable),
                () if relay.is_other_program(&self.rules) => Some(Unaccepted::OtherProgram),
                () => is_changed().then_some(Unaccepted::Changed),
            });
        }
        let Described { digest, current, overdue, read } = relay.tools.described(name);
        let is_changed = digest.is_some_and(|digest| pins.is_changed(PinKind::Tool, name, &digest))
            || relay.pins.is_withheld(name, read);
        let other_program = relay.is_other_program(&self.rules);
        let accepted = pins.by_kind(PinKind::Tool);
        // Told by the name alone: what was learned of the list may not be written down yet.
        let is_beyond = accepted.is_some_and(|tools| {
            !tools.contains_key(name)
                && (tools.len() >= MOST_TOOLS || relay.journal.masker().keep_name(name) != name)
        });
        if digest.is_some() && current && !is_changed && !is_beyond && !other_program {
            return Ok(None);
        }
        let pin = self.rules.policy.pin(&relay.client.name(), name, wall_ms());
        let may_list = !current && relay.handshake.may_have_tools();
        let is_enforced = match pin {
            Pin::Off => return Ok(None),
            Pin::Report => false,
            Pin::Enforce => !observing && pins.judges(PinKind::Tool),
        };
        let waits = || relay.tools.lacks_any_list(!relay.held.is_empty());
        if is_enforced && may_list && !evidence.listed && !other_program && waits() {
            return Err(Obstacle::Needs(Need::ToolList));
        }
        // Nothing waits for what is only told, or is to be accepted as it is.
        if !is_enforced && may_list && relay.knows_how_to_list(request) {
            relay.list_beside(request);
        }
        if pin == Pin::Report {
            return Ok(None);
        }
        Ok(match accepted {
            _ if pins.unreadable().is_some() => Some(Unaccepted::Unreadable),
            _ if other_program => Some(Unaccepted::OtherProgram),
            _ if is_changed => Some(Unaccepted::Changed),
            _ if is_beyond => Some(Unaccepted::Unpinnable),
            // Of a server that never listed anything nothing is accepted that this could differ from.
            None => None,
            Some(_) if overdue => Some(Unaccepted::NoList),
            Some(tools) => (digest.is_none() && tools.contains_key(name)).then_some(Unaccepted::NotListed),
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

    /// Nobody has asked for the server's tools lately, so that nobody would hear that they are others.
    pub(crate) fn list_unasked(&self) {
        let is_pinned = || self.pin_of("", &self.rules()) != Pin::Off;
        if self.handshake.is_initialized()
            && self.handshake.may_have_tools()
            && is_pinned()
            && self.tools.wants_any_list(Instant::now())
        {
            self.list_tools(&self.server.pipe(), None, "");
        }
    }

    /// Does another program run than any that was accepted?
    pub(crate) fn is_other_program(&self, rules: &Rules) -> bool {
        if !rules.pins.judges(PinKind::Program) {
            return false;
        }
        let print = self.approvals.identity().fingerprint(&self.journal.masker());
        rules.pins.is_changed(PinKind::Program, PROGRAM, &print.digest)
    }

    /// The entries of this page that the client does not get.
    pub(crate) fn kept_back(&self, list: List, result: Raw<'_>, rules: &Rules) -> HashSet<String> {
        let kind = match list {
            List::Tools => PinKind::Tool,
            List::Prompts => PinKind::Prompt,
            List::Resources | List::ResourceTemplates => return HashSet::new(),
        };
        let may_matter = rules.pins.judges(kind) || rules.pins.judges(PinKind::Program);
        if !may_matter || !rules.policy.keeps_definitions_back() {
            return HashSet::new();
        }
        let all = self.is_other_program(rules);
        let is_kept_back = |name: &str, digest: &Digest| all || rules.pins.is_changed(kind, name, digest);
        if kind == PinKind::Prompt {
            let is_enforced = self.pin_of("", rules) == Pin::Enforce;
            let mut prompts = self.pins.prompts.lock().unwrap_or_else(PoisonError::into_inner);
            let mut kept_back = HashSet::new();
            for (name, definition) in definitions(list, result).unwrap_or_default() {
                let digest = definition_digest(definition);
                // What could not be remembered could not be refused either.
                let is_known = prompts.len() < MOST_TOOLS || prompts.contains_key(&*name);
                if is_enforced && (is_kept_back(&name, &digest) || !is_known) {
                    kept_back.insert(name.clone().into_owned());
                }
                if is_known {
                    prompts.insert(name.into_owned(), digest);
                }
            }
            return kept_back;
        }
        let definitions = self.tools.definitions_in(result);
        let changed = definitions.iter().filter(|(tool, digest)| is_kept_back(tool, digest));
        let kept_back = changed.filter(|(tool, _)| self.pin_of(tool, rules) == Pin::Enforce);
        let kept_back: HashSet<String> = kept_back.map(|(tool, _)| tool.clone()).collect();
        if !kept_back.is_empty() && !all {
            self.pins.withhold(self.tools.lists_read(), &kept_back);
        }
        kept_back
    }

    /// The prompts that the server has, if all of them are known, on their way into the pins.
    pub(crate) fn learn_prompts(&self) {
        let Some(listed) = self.lists.whole_prompts() else { return };
        let store = self.definitions.clone();
        self.tools.write_beside(move || {
            store.learn(PinKind::Prompt, &listed);
        });
    }

    /// What runs under the server's name, on its way into the pins.
    pub(crate) fn learn_program(self: &Arc<Self>) {
        let relay = self.clone();
        self.tools.write_beside(move || {
            let print = relay.approvals.identity().fingerprint(&relay.journal.masker());
            relay.definitions.learn(PinKind::Program, &[(PROGRAM.to_owned(), print.text.clone())]);
        });
    }

    pub(crate) fn pin_of(&self, tool: &str, rules: &Rules) -> Pin {
        let client = self.client.name();
        let pin = rules.policy.pin(&client, tool, wall_ms());
        if rules.observing(&client) { pin.min(Pin::Report) } else { pin }
    }

    /// The server said what nobody has seen before.
    pub(crate) fn definitions_differ(&self, news: PinNews) {
        match news.kind {
            PinKind::Tool => self.tools_differ(news),
            kind => self.others_differ(kind, news),
        }
    }

    fn tell_named(&self, kind: EventKind, words: &str, names_of: &[String]) {
        if !names_of.is_empty() {
            self.journal.event(Event { kind, text: &format!("{words}: {}", names(names_of)) });
        }
    }

    fn tools_differ(&self, news: PinNews) {
        let PinNews { first, added, changed, gone, beyond, .. } = news;
        let rules = self.rules();
        let of = |tools: &[String], pin: Pin| -> Vec<String> {
            tools.iter().filter(|tool| self.pin_of(tool, &rules) == pin).cloned().collect()
        };
        let untold: Vec<String> =
            changed.into_iter().filter(|tool| lock(&self.pins.told).insert(tool.clone())).collect();
        let (kept_back, shown) = (of(&untold, Pin::Enforce), of(&untold, Pin::Report));
        let words = "described otherwise than when accepted, and kept back until you accept it";
        self.tell_named(EventKind::DefinitionChanged, words, &kept_back);
        self.tell_named(EventKind::DefinitionChanged, "described otherwise than when accepted", &shown);
        let words = match first {
            true => "accepted as the server describes them now",
            false => "new tools, accepted as the server describes them now",
        };
        self.tell_named(EventKind::ToolAdded, words, &added);
        self.tell_named(
            EventKind::ToolGone,
            "no longer listed, and still pinned until you remove them",
            &gone,
        );
        let mut known = lock(&self.pins.beyond);
        let new: Vec<String> =
            beyond.into_iter().filter(|tool| known.len() < MOST_TOLD && known.insert(tool.clone())).collect();
        drop(known);
        let words = "not pinned, and refused (the name looks like a secret, or there are too many tools)";
        self.tell_named(EventKind::DefinitionChanged, words, &of(&new, Pin::Enforce));
        let words = "not pinned (the name looks like a secret, or there are too many tools)";
        self.tell_named(EventKind::DefinitionChanged, words, &of(&new, Pin::Report));
    }

    /// Prompts, instructions, capabilities, the program.
    fn others_differ(&self, kind: PinKind, news: PinNews) {
        let PinNews { first, added, changed, gone, .. } = news;
        let pin = self.pin_of("", &self.rules());
        if pin == Pin::Off {
            return;
        }
        let kept_back = if pin == Pin::Enforce { ", and kept back until you accept that" } else { "" };
        match kind {
            PinKind::Prompt => {
                let words = format!("prompts described otherwise than when accepted{kept_back}");
                self.tell_named(EventKind::DefinitionChanged, &words, &changed);
                let words = match first {
                    true => "prompts accepted as the server describes them now",
                    false => "new prompts, accepted as the server describes them now",
                };
                self.tell_named(EventKind::ToolAdded, words, &added);
                let words = "prompts no longer listed, and still pinned until you remove them";
                self.tell_named(EventKind::ToolGone, words, &gone);
            }
            PinKind::Capability => {
                let words = format!("capabilities declared otherwise than when accepted{kept_back}");
                self.tell_named(EventKind::DefinitionChanged, &words, &changed);
            }
            PinKind::Instructions if !changed.is_empty() => {
                let text = format!("the instructions of the server are others than when accepted{kept_back}");
                self.journal.event(Event { kind: EventKind::DefinitionChanged, text: &text });
            }
            PinKind::Program if !changed.is_empty() => {
                let then = match pin {
                    Pin::Enforce => "; its tools are kept back until you accept that",
                    Pin::Report | Pin::Off => "",
                };
                let text = format!("the program behind this server is another than when accepted{then}");
                self.journal.event(Event { kind: EventKind::ProgramChanged, text: &text });
            }
            PinKind::Instructions | PinKind::Program | PinKind::Tool => {}
        }
    }
}

pub(crate) fn names(tools: &[String]) -> String {
    let more = tools.len().saturating_sub(NAMED);
    let shown: Vec<String> = tools.iter().take(NAMED).map(|tool| format!("{tool:?}")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
