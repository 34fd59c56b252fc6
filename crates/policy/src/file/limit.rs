//! `limits` and the short `rate_limit`: how many, how often, counted together with whom.

use std::num::NonZeroU32;

use super::Spot;
use super::condition::{Path, description, path};
use super::reader::{Cursor, Reader};
use super::settings::until;
use crate::limit::Scope;
use crate::problem::Place;
use crate::window::{Rate, Window};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Calls in a sliding window.
    Calls,
    /// Calls under way at the same time.
    Concurrent,
    /// Calls ever, with no window.
    Total,
    /// A number taken from the arguments, added up in a sliding window.
    Sum,
}

const KINDS: &[(&str, LimitKind)] = &[
    ("calls", LimitKind::Calls),
    ("concurrent", LimitKind::Concurrent),
    ("total", LimitKind::Total),
    ("sum", LimitKind::Sum),
];

impl LimitKind {
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

const SCOPES: &[(&str, Scope)] = &[
    ("session", Scope::Session),
    ("grant", Scope::Grant),
    ("client", Scope::Client),
    ("server", Scope::Server),
    ("all", Scope::All),
];

const ZERO: &str = "to refuse every call, write \"action\": \"deny\" in the rule";

/// One entry of `limits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitEntry {
    pub counter: Option<String>,
    pub kind: Spot<LimitKind>,
    /// Absent where the kind needs none.
    pub window: Option<Window>,
    pub max: NonZeroU32,
    pub scope: Scope,
    pub amount_from: Option<Path>,
    pub until: Option<Spot<String>>,
    pub on_deny: Option<String>,
    pub place: Place,
}

/// `rate_limit: { "max": 10, "window": 60 }`, or `"10/minute"`: per session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub rate: Rate,
    pub on_deny: Option<String>,
    pub place: Place,
}

const KEYS: &[&str] =
    &["counter", "window", "max", "scope", "kind", "amount_from", "until", "on_deny", "description"];

pub(super) fn limits(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<LimitEntry> {
    let items = reader.items(cursor, "`limits`");
    items.iter().filter_map(|item| limit(reader, item)).collect()
}

fn limit(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<LimitEntry> {
    let fields = reader.fields(cursor, "a limit", KEYS)?;
    description(reader, fields.get("description"));
    let counter = match fields.get("counter") {
        Some(c) => counter(reader, c),
        None => None,
    };
    let kind = match fields.get("kind") {
        Some(c) => reader.choice(c, "`kind`", KINDS)?,
        None => Spot { value: LimitKind::Calls, place: cursor.place.clone() },
    };
    let windowed = matches!(kind.value, LimitKind::Calls | LimitKind::Sum);
    let window_field = fields.get("window");
    let window = window_field.and_then(|c| window(reader, c));
    if windowed && window_field.is_none() {
        let fix = "add \"window\": \"minute\"".to_owned();
        reader.error(&cursor.place, "`window` is missing in a limit", Some(fix));
    }
    if !windowed && let Some(c) = window_field {
        let message = format!("a limit of kind {} has no window", kind.value.word());
        reader.error(&c.place, message, Some("remove \"window\"".to_owned()));
    }
    let max = match fields.get("max") {
        Some(c) => reader.count(c, "`max`", ZERO),
        None => {
            reader.error(&cursor.place, "`max` is missing in a limit", Some("add \"max\": 10".to_owned()));
            None
        }
    };
    let scope = match fields.get("scope") {
        Some(c) => reader.choice(c, "`scope`", SCOPES).map(|s| s.value),
        None => Some(Scope::Grant),
    };
    let amount_from = fields.get("amount_from").and_then(|c| path(reader, c));
    match (kind.value, fields.get("amount_from")) {
        (LimitKind::Sum, None) => {
            let fix = "add \"amount_from\": \"args.amount\"".to_owned();
            reader.error(&cursor.place, "a limit of kind sum needs `amount_from`", Some(fix));
        }
        (LimitKind::Sum, Some(_)) | (_, None) => {}
        (_, Some(c)) => {
            let message = format!("`amount_from` has no meaning in a limit of kind {}", kind.value.word());
            reader.error(&c.place, message, Some("add \"kind\": \"sum\"".to_owned()));
        }
    }
    let until = fields.get("until").and_then(|c| until(reader, c));
    let on_deny = fields.get("on_deny").and_then(|c| reader.string(c, "`on_deny`"));
    if windowed && window.is_none() {
        return None;
    }
    let place = cursor.place.clone();
    Some(LimitEntry { counter, kind, window, max: max?, scope: scope?, amount_from, until, on_deny, place })
}

fn counter(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<String> {
    let name = reader.string(cursor, "`counter`")?;
    if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
        let message = "a counter's name has 1 to 256 bytes and no control characters";
        reader.error(&cursor.place, message, Some("choose a short name, such as the tool's name".to_owned()));
        return None;
    }
    Some(name)
}

/// A word, a number with a unit, or a number of seconds.
pub(super) fn window(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<Window> {
    let parsed = if let Some(seconds) = cursor.as_number() {
        match seconds.parse::<u64>() {
            Ok(seconds) => Window::from_seconds(seconds),
            Err(_) => {
                let fix = "write whole seconds, such as 60".to_owned();
                reader.error(&cursor.place, "a window in seconds is a whole number", Some(fix));
                return None;
            }
        }
    } else {
        reader.string(cursor, "`window`")?.parse()
    };
    match parsed {
        Ok(window) => Some(window),
        Err(e) => {
            let words = ["second", "minute", "hour", "day", "week"];
            let text = cursor.as_str().unwrap_or_default();
            // A number that was said is not to be lost in what is proposed.
            let near = match text.starts_with(|c: char| c.is_ascii_digit()) {
                true => Window::meant(text).map(|window| window.to_string()),
                false => super::suggest::nearest(text, &words).map(str::to_owned),
            };
            let fix = near.map_or_else(|| e.to_string(), |near| format!("did you mean \"{near}\"?"));
            let shown = cursor.as_str().or(cursor.as_number()).unwrap_or("");
            reader.error(&cursor.place, format!("{shown:?} is no window"), Some(fix));
            None
        }
    }
}

pub(super) fn rate_limit(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<RateLimit> {
    let place = cursor.place.clone();
    if let Some(text) = cursor.as_str() {
        return match text.parse() {
            Ok(rate) => Some(RateLimit { rate, on_deny: None, place }),
            Err(e) => {
                let message = format!("{text:?} is no rate");
                reader.error(&place, message, Some(crate::window::RateError::to_string(&e)));
                None
            }
        };
    }
    if !cursor.is_object() {
        reader.wrong_kind(cursor, "`rate_limit`", "{ \"max\": 10, \"window\": 60 } or \"10/minute\"");
        return None;
    }
    let fields = reader.fields(cursor, "`rate_limit`", &["max", "window", "on_deny"])?;
    let max = match fields.get("max") {
        Some(c) => reader.count(c, "`max`", ZERO),
        None => {
            reader.error(&place, "`max` is missing in `rate_limit`", Some("add \"max\": 10".to_owned()));
            None
        }
    };
    let window = match fields.get("window") {
        Some(c) => window(reader, c),
        None => {
            let fix = "add \"window\": 60 (seconds)".to_owned();
            reader.error(&place, "`window` is missing in `rate_limit`", Some(fix));
            None
        }
    };
    let on_deny = fields.get("on_deny").and_then(|c| reader.string(c, "`on_deny`"));
    Some(RateLimit { rate: Rate { max: max?, window: window? }, on_deny, place })
}
