//! The smaller words: `mode`, `until`, `ask`, `record`, `pin`, `loop`, `process`.

use std::num::NonZeroU32;

use super::Spot;
use super::limit::window;
use super::reader::{Cursor, Reader};
use super::rule::{ACTIONS, Action};
use crate::moment;
use crate::window::Window;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Enforce,
    /// Judged and recorded as "would deny", but let through.
    Observe,
}

pub(super) fn mode(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<Mode>> {
    reader.choice(cursor, "`mode`", &[("enforce", Mode::Enforce), ("observe", Mode::Observe)])
}

/// How much of a call's arguments and result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    Full,
    Keys,
    None,
}

pub(super) fn record(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<Record>> {
    let choices = [("full", Record::Full), ("keys", Record::Keys), ("none", Record::None)];
    reader.choice(cursor, "`record`", &choices)
}

/// What becomes of a tool whose definition is not the one that was accepted. From the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pin {
    Off,
    /// It is told.
    Report,
    /// The tool is not listed, and its calls are refused.
    Enforce,
}

pub(super) fn pin(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<Pin>> {
    let choices = [("enforce", Pin::Enforce), ("report", Pin::Report), ("off", Pin::Off)];
    reader.choice(cursor, "`pin`", &choices)
}

/// Where a person is asked. From the mildest to the strictest: a client's answer may be no person's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedIn {
    Client,
    /// In Callgate; in the client where nobody could decide there. Not written: it is what counts when nothing is.
    #[default]
    Either,
    Callgate,
    /// A yes of one of them is not enough.
    Both,
}

impl AskedIn {
    pub fn word(self) -> &'static str {
        match self {
            AskedIn::Client => "client",
            AskedIn::Either => "either",
            AskedIn::Callgate => "callgate",
            AskedIn::Both => "both",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            AskedIn::Client => "by the client, if it can ask; else in Callgate",
            AskedIn::Either => "in Callgate; where nobody could decide there, by the client, if it can ask",
            AskedIn::Callgate => "in Callgate",
            AskedIn::Both => "in Callgate, and by the client, if it asks by itself",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskSettings {
    pub asked_in: Option<AskedIn>,
    /// How long a call is held for a decision.
    pub hold: Option<Window>,
    /// How long it can be decided about, whether its client waits or not.
    pub expires: Option<Window>,
}

pub(super) fn ask(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<AskSettings>> {
    let fields = reader.fields(cursor, "`ask`", &["where", "hold", "expires"])?;
    let places = [("callgate", AskedIn::Callgate), ("client", AskedIn::Client), ("both", AskedIn::Both)];
    let asked_in =
        fields.get("where").and_then(|c| reader.choice(c, "`where`", &places)).map(|said| said.value);
    let mut length = |key: &str| fields.get(key).and_then(|c| window(reader, c));
    let (hold, expires) = (length("hold"), length("expires"));
    Some(Spot { value: AskSettings { asked_in, hold, expires }, place: cursor.place.clone() })
}

/// When the same thing again and again is a loop; more often than this is none.
const LONGEST_LOOP: u32 = 1000;

/// What the words say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopSettings {
    pub same_call: Option<NonZeroU32>,
    pub same_result: Option<NonZeroU32>,
    pub window: Option<Window>,
    pub action: Option<Action>,
}

pub(super) fn loops(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<LoopSettings>> {
    let fields = reader.fields(cursor, "`loop`", &["same_call", "same_result", "window", "action"])?;
    let mut count = |key: &str| {
        let what = format!("`{key}`");
        let count = fields.get(key).map(|c| (c, reader.count(c, &what, "leave it out to switch it off")));
        if let Some((at, Some(count))) = count
            && count.get() > LONGEST_LOOP
        {
            reader.error(&at.place, format!("{what} is at most {LONGEST_LOOP}"), None);
        }
        count.and_then(|(_, count)| count)
    };
    let (same_call, same_result) = (count("same_call"), count("same_result"));
    let window = fields.get("window").and_then(|c| window(reader, c));
    let action = fields.get("action").and_then(|c| reader.choice(c, "`action`", ACTIONS)).map(|a| a.value);
    let value = LoopSettings { same_call, same_result, window, action };
    Some(Spot { value, place: cursor.place.clone() })
}

/// Whether a server that crashed is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    Never,
    /// Only if no call was under way.
    BetweenCalls,
    Always,
}

/// What happens to a server that is beyond a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLimit {
    /// It is said.
    Warn,
    /// It is ended, but never during a call.
    End,
}

/// How the server's process is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSettings {
    pub restart: Option<Restart>,
    /// Bytes, of everything that the server started together.
    pub memory: Option<u64>,
    /// How many processes the server may have, itself among them.
    pub processes: Option<NonZeroU32>,
    /// How long it may go on without a call.
    pub idle: Option<Window>,
    pub on_limit: Option<OnLimit>,
    /// How long a call may take without a sign of life.
    pub call_time: Option<Window>,
}

pub(super) fn process(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<ProcessSettings>> {
    let keys = ["restart", "memory", "processes", "idle", "on_limit", "call_time"];
    let fields = reader.fields(cursor, "`process`", &keys)?;
    let restarts =
        [("never", Restart::Never), ("between-calls", Restart::BetweenCalls), ("always", Restart::Always)];
    let ends = [("warn", OnLimit::Warn), ("end", OnLimit::End)];
    let value = ProcessSettings {
        restart: fields
            .get("restart")
            .and_then(|c| reader.choice(c, "`restart`", &restarts))
            .map(|r| r.value),
        memory: fields.get("memory").and_then(|c| memory(reader, c)),
        processes: fields
            .get("processes")
            .and_then(|c| reader.count(c, "`processes`", "leave it out to have no limit")),
        idle: fields.get("idle").and_then(|c| window(reader, c)),
        on_limit: fields.get("on_limit").and_then(|c| reader.choice(c, "`on_limit`", &ends)).map(|r| r.value),
        call_time: fields.get("call_time").and_then(|c| window(reader, c)),
    };
    Some(Spot { value, place: cursor.place.clone() })
}

fn memory(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<u64> {
    let text = reader.string(cursor, "`memory`")?;
    let units = [("KB", 10), ("MB", 20), ("GB", 30)];
    let parsed = units.iter().find_map(|(unit, shift)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
    });
    if parsed.is_none() {
        let fix = "write a number with KB, MB or GB, such as \"512MB\"".to_owned();
        reader.error(&cursor.place, format!("{text:?} is no amount of memory"), Some(fix));
    }
    parsed
}

/// A moment, as text: the policy crate has no clock.
pub(super) fn until(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Spot<String>> {
    let text = reader.string(cursor, "`until`")?;
    if moment::parse(&text).is_none() {
        let fix = "write a date and time with its zone, such as \"2026-03-01T18:00:00Z\"".to_owned();
        reader.error(&cursor.place, format!("{text:?} is no moment"), Some(fix));
        return None;
    }
    Some(Spot { value: text, place: cursor.place.clone() })
}
