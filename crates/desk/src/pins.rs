//! Pinned definitions: what servers say of themselves otherwise than was accepted, shown word by word, and accepted; what they
//! list no more, removed.
//!
//! What a person accepts is what they were shown, by its digest: what came while they looked is not.

mod members;

use std::path::Path;

use callgate_controls::pin::{self, PinKind, Pins, Shown, Waiting};
use callgate_home::Home;
use callgate_journal::{EventKind, record_event};
use callgate_policy::{Pin, Policy};
use callgate_protocol::digest::Digest;
use callgate_text::{count, name};
use callgate_wiring::{DiffSpan, by_words};
use serde_json::Value;

use crate::acts::Plan;
use crate::change::CurrentPolicy;
use crate::view::{
    Answer, DiffKind, DiffPart, Done, GoneView, PinView, PinnedThing, PinsView, ShownDefinition, ShownGone,
};
use crate::{Desk, DeskError};

/// Of what two definitions have in common, no more is shown before and after what differs.
const AROUND: usize = 160;
/// Tools that a sentence names.
const NAMED: usize = 6;

impl Desk {
    /// What is pinned, of one server or of all.
    pub fn pins(&self, server: Option<&str>) -> Result<Vec<PinsView>, DeskError> {
        let all = pin::all(&self.home).into_iter().filter_map(|(path, read)| match read {
            Ok(pins) => Some(self.pins_view(&pins)),
            Err(error) => {
                let server = named_by(&self.home, &path)?;
                let (pin, problem) = (self.pin_word(&server), Some(error.to_string()));
                let (waiting, gone, members) = (Vec::new(), Vec::new(), Vec::new());
                Some(PinsView { server, tools: 0, pin, problem, open: false, waiting, gone, members })
            }
        });
        let found: Vec<PinsView> =
            all.filter(|one| server.is_none_or(|server| one.server == server)).collect();
        match server {
            Some(server) if found.is_empty() => Err(DeskError::NotFound(format!(
                "nothing of {} is pinned: it has not listed its tools through Callgate yet",
                name(server)
            ))),
            _ => Ok(found),
        }
    }

    fn pins_view(&self, pins: &Pins) -> PinsView {
        PinsView {
            server: pins.server.clone(),
            tools: u32::try_from(pins.tools.len()).unwrap_or(u32::MAX),
            pin: self.pin_word(&pins.server),
            problem: None,
            open: pins.is_open(),
            waiting: pins.waiting().map(|one| pin_view(&one)).collect(),
            gone: pins.gone().map(|(kind, name, since_ms)| gone_view(kind, name, since_ms)).collect(),
            members: members::views(pins),
        }
    }

    fn pin_word(&self, server: &str) -> String {
        match stands(&self.home, server, self.clock.now().wall_ms) {
            Pin::Enforce => "enforce",
            Pin::Report => "report",
            Pin::Off => "off",
        }
        .to_owned()
    }

    pub(crate) fn ask_to_accept(&self, server: &str, shown: &[ShownDefinition]) -> Result<Answer, DeskError> {
        let Some(view) = self.pins(Some(server))?.into_iter().next() else { return Ok(nothing_new(server)) };
        if let Some(problem) = &view.problem {
            return Err(unreadable(server, problem));
        }
        let is_shown = |one: &&PinView| {
            let same = |shown: &ShownDefinition| {
                shown.thing == one.thing && shown.tool == one.tool && shown.digest == one.digest
            };
            shown.iter().any(same)
        };
        let meant: Vec<&PinView> = view.waiting.iter().filter(is_shown).collect();
        if meant.is_empty() {
            return Ok(nothing_new(server));
        }
        let shown_of =
            |one: &&PinView| Some((one.thing.into(), one.tool.clone(), Digest::from_hex(&one.digest)?));
        let shown: Option<Vec<Shown>> = meant.iter().map(shown_of).collect();
        let shown =
            shown.ok_or_else(|| DeskError::BadInput("that is no digest of a definition".to_owned()))?;
        let what = things(&meant);
        let words = format!("Accept what {} says of {what} now?", name(server));
        let mut loosened = Vec::new();
        if view.pin == "enforce" {
            let changed = meant.iter().filter(|one| !one.is_new);
            let (programs, others): (Vec<&PinView>, Vec<&PinView>) =
                changed.partition(|one| one.thing == PinnedThing::Program);
            if !programs.is_empty() {
                let words = format!(
                    "{}: its tools are listed again, and their calls are judged by the rules",
                    name(server)
                );
                loosened.push(words);
            }
            if !others.is_empty() {
                let words = match others.iter().all(|one| one.thing == PinnedThing::Tool) {
                    true => "listed again, and their calls are judged by the rules",
                    false => "no longer kept from clients",
                };
                loosened.push(format!("{}: {words}", things(&others)));
            }
        }
        let plan = Plan::Accept { server: server.to_owned(), shown, what };
        self.ask(words, loosened, plan).map(Answer::Ask)
    }

    pub(crate) fn ask_to_forget_pins(&self, server: &str) -> Result<Answer, DeskError> {
        self.pins(Some(server))?;
        let shown = name(server);
        let words =
            format!("Give up what is accepted of {shown}? Whatever it says of its tools next is accepted.");
        let loosened =
            vec![format!("no definition of a tool of {shown} is known before it lists its tools again")];
        self.ask(words, loosened, Plan::ForgetPins { server: server.to_owned() }).map(Answer::Ask)
    }

    /// After a yes.
    pub(crate) fn accept(&self, server: &str, shown: &[Shown], what: &str) -> Result<Done, DeskError> {
        // On record first: what cannot be recorded is not accepted.
        self.note_pins(server, &format!("accept what server {} says of {what} now", name(server)))?;
        let done = pin::accept(&self.home, server, shown)?;
        let words = match done.is_empty() {
            true => format!(
                "Nothing to change: what {} said of {what} is accepted, or changed again",
                name(server)
            ),
            false => format!("Accepted what {} says of {what}", name(server)),
        };
        let left = pin::read(&self.home, server).ok().flatten().map_or(0, |pins| pins.waiting().count());
        let more = match left {
            0 => String::new(),
            left => format!(
                "; {} not accepted yet: callgate pins {}",
                count(left as u64, "definition"),
                name(server)
            ),
        };
        Ok(Done::said(format!("{words}{more}"), Some(server)))
    }

    pub(crate) fn forget_pins(&self, server: &str) -> Result<Done, DeskError> {
        let shown = name(server);
        self.note_pins(server, &format!("give up what is accepted of the tools of server {shown}"))?;
        pin::forget(&self.home, server)?;
        let words = format!("Given up what was accepted of {shown}: what it lists next is accepted");
        Ok(Done::said(words, Some(server)))
    }

    pub(crate) fn ask_to_remove_pins(&self, server: &str, gone: &[ShownGone]) -> Result<Answer, DeskError> {
        let view = self.pins(Some(server))?.into_iter().next();
        let known = view.map(|view| view.gone).unwrap_or_default();
        let is_meant =
            |one: &&GoneView| gone.iter().any(|shown| shown.thing == one.thing && shown.tool == one.tool);
        let meant: Vec<&GoneView> = known.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let words =
                format!("Nothing to change: {} lists what you named, or it is not pinned", name(server));
            return Ok(Answer::Done(Done::said(words, Some(server))));
        }
        let what = list_of(meant.iter().map(|one| thing(one.thing, &one.tool)).collect());
        let words =
            format!("Remove what is accepted of {what}, which {} does not list any more?", name(server));
        let loosened = vec![format!("{what}: accepted as new, whatever it is, if it is listed again")];
        let gone = meant.iter().map(|one| (one.thing.into(), one.tool.clone())).collect();
        self.ask(words, loosened, Plan::RemovePins { server: server.to_owned(), gone, what }).map(Answer::Ask)
    }

    pub(crate) fn remove_pins(
        &self,
        server: &str,
        gone: &[(PinKind, String)],
        what: &str,
    ) -> Result<Done, DeskError> {
        let shown = name(server);
        self.note_pins(
            server,
            &format!("remove what is accepted of {what} of server {shown}, listed no more"),
        )?;
        let words = match pin::remove(&self.home, server, gone)?.is_empty() {
            true => format!("Nothing to change: {shown} lists {what} again"),
            false => format!("Removed what was accepted of {what} of {shown}"),
        };
        Ok(Done::said(words, Some(server)))
    }

    fn note_pins(&self, server: &str, words: &str) -> Result<(), DeskError> {
        let at = self.clock.now().wall_ms;
        record_event(&self.home, at, EventKind::Loosened, Some(server), Some(self.origin), words)
            .map_err(DeskError::Unrecorded)
    }
}

/// How the record names what refuses a tool with another definition.
pub const PIN_RULE: &str = "(pinned definition)";

/// Why a call of this tool that the rules let pass is refused all the same, by what the server listed last.
pub fn refused_by_pin(
    home: &Home,
    server: &str,
    policy: &Policy,
    (client, tool): (&str, &str),
    now_ms: i64,
) -> Option<String> {
    if policy.pin(client, tool, now_ms) != Pin::Enforce {
        return None;
    }
    match pin::read(home, server) {
        Err(error) => Some(format!("the definitions that you accepted cannot be read ({error})")),
        Ok(pins) => {
            let pins = pins?;
            let changed = |kind, name: &str| {
                pins.learned(kind).and_then(|all| all.get(name)).is_some_and(|pin| !pin.changed.is_empty())
            };
            if changed(PinKind::Tool, tool) {
                let words =
                    "its server describes it otherwise than you accepted, or did so lately: callgate pins";
                return Some(words.to_owned());
            }
            changed(PinKind::Program, "program").then(|| {
                "another program than you accepted runs under its server's name, or did so lately: callgate pins".to_owned()
            })
        }
    }
}

/// What becomes of a changed definition of this server, for a tool that no rule names.
pub(crate) fn stands(home: &Home, server: &str, now_ms: i64) -> Pin {
    // Under a policy that cannot be used nothing passes.
    let policy = CurrentPolicy::read(home, server).and_then(|present| present.policy());
    policy.map_or(Pin::Enforce, |policy| policy.pin("", "", now_ms))
}

/// The server of a file that cannot be read, if the name of the file tells.
pub(crate) fn named_by(home: &Home, path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    (home.pins(stem) == path).then(|| stem.to_owned())
}

fn unreadable(server: &str, problem: &str) -> DeskError {
    DeskError::Conflict(format!(
        "what is accepted of {} cannot be read ({problem}); nothing was changed. Give it up, and have its next list accepted: callgate pins forget {}",
        name(server),
        name(server)
    ))
}

fn nothing_new(server: &str) -> Answer {
    let words = format!("Nothing to change: nothing of {} waits that was shown", name(server));
    Answer::Done(Done::said(words, Some(server)))
}

fn things(meant: &[&PinView]) -> String {
    list_of(meant.iter().map(|one| thing(one.thing, &one.tool)).collect())
}

/// What is pinned, in words.
fn thing(thing: PinnedThing, tool: &str) -> String {
    match thing {
        PinnedThing::Tool => name(tool),
        PinnedThing::Prompt => format!("the prompt {}", name(tool)),
        PinnedThing::Instructions => "its instructions".to_owned(),
        PinnedThing::Capability => format!("the capability {}", name(tool)),
        PinnedThing::Program => "the program that runs".to_owned(),
    }
}

fn list_of(mut names: Vec<String>) -> String {
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", names.join(", "))
}

fn gone_view(kind: PinKind, tool: &str, since_ms: i64) -> GoneView {
    GoneView { thing: kind.into(), tool: tool.to_owned(), since_ms }
}

fn pin_view(one: &Waiting<'_>) -> PinView {
    let before = one.before.unwrap_or_default();
    PinView {
        thing: one.kind.into(),
        tool: one.name.to_owned(),
        digest: one.digest.to_string(),
        is_new: one.before.is_none(),
        seen_ms: one.seen_ms,
        diff: difference(before, one.after),
    }
}

/// Word by word, over definitions that are laid out as lines: `inputSchema.properties.path.type: string`.
fn difference(before: &str, after: &str) -> Vec<DiffPart> {
    if after.is_empty() {
        return Vec::new();
    }
    let parts = by_words(&laid_out(before), &laid_out(after));
    let last = parts.len().saturating_sub(1);
    let part = |(at, part): (usize, DiffSpan)| match part {
        DiffSpan::Same(text) => DiffPart { kind: DiffKind::Same, text: shortened(text, at > 0, at < last) },
        DiffSpan::Gone(text) => DiffPart { kind: DiffKind::Gone, text },
        DiffSpan::Added(text) => DiffPart { kind: DiffKind::Added, text },
    };
    parts.into_iter().enumerate().map(part).collect()
}

/// Without what is far from anything that differs.
fn shortened(text: String, follows: bool, leads: bool) -> String {
    let (head, tail) = (if follows { AROUND } else { 0 }, if leads { AROUND } else { 0 });
    if text.len() <= head + tail + AROUND {
        return text;
    }
    let (head, tail) = (text.floor_char_boundary(head), text.ceil_char_boundary(text.len() - tail));
    format!("{} … {}", &text[..head], &text[tail..])
}

fn laid_out(definition: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(definition) else { return definition.to_owned() };
    // Instructions are a text and nothing else.
    if let Value::String(text) = value {
        return text;
    }
    let mut lines: Vec<(String, String)> = Vec::new();
    lay_out(String::new(), &value, &mut lines);
    let place =
        |path: &str| ["name", "title", "description"].iter().position(|first| *first == path).unwrap_or(3);
    // No line takes the place of another: a server that wants its change unseen gives two members the same path.
    lines.sort_by_cached_key(|(path, _)| (place(path), path.clone()));
    lines.into_iter().map(|(path, text)| format!("{path}: {text}\n")).collect()
}

fn lay_out(path: String, value: &Value, lines: &mut Vec<(String, String)>) {
    let plain = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
    };
    let inner = |key: &str| {
        let key = if plain(key) { key.to_owned() } else { format!("{key:?}") };
        if path.is_empty() { key } else { format!("{path}.{key}") }
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(key, value)| lay_out(inner(key), value, lines));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            items.iter().enumerate().for_each(|(at, item)| lay_out(format!("{path}[{at}]"), item, lines));
        }
        Value::String(text) => lines.push((path, text.clone())),
        other => lines.push((path, other.to_string())),
    }
}

#[cfg(test)]
#[path = "pins_tests.rs"]
mod tests;
