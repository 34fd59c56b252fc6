//! Every key that `settings.json` may hold: what it means, what it may be, what counts without it. Readers, writers and
//! the words for people go by this one table.

use std::num::NonZeroU32;

use callgate_policy::Keep;
use callgate_policy::file::nearest;
use callgate_policy::jsonc::Json;

/// More names to mask are a mistake.
pub const MOST_NAMES: usize = 1_000;
/// No history is kept for longer: a hundred years.
pub const MOST_DAYS: u32 = 36_500;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// `history.days`
    pub name: &'static str,
    pub kind: ValueKind,
    /// What counts when it is not written.
    pub default: &'static str,
    pub meaning: &'static str,
}

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number from 1 to this.
    Count(u32),
    /// One of these.
    Word(&'static [&'static str]),
    /// A list of names of arguments.
    Names,
    Switch,
}

pub const KEYS: &[SettingKey] = &[
    SettingKey {
        name: "history.days",
        kind: ValueKind::Count(MOST_DAYS),
        default: "90",
        meaning: "how many days of calls are kept",
    },
    SettingKey {
        name: "history.megabytes",
        kind: ValueKind::Count(u32::MAX),
        default: "1024",
        meaning: "how large the record may become; the oldest calls go first",
    },
    SettingKey {
        name: "record.keep",
        kind: ValueKind::Word(&["full", "keys", "none"]),
        default: "\"full\"",
        meaning: "what is kept of arguments and results at most: all of it, the names of arguments, or none",
    },
    SettingKey {
        name: "record.mask",
        kind: ValueKind::Names,
        default: "[]",
        meaning: "names of arguments that are masked besides the known ones",
    },
    SettingKey {
        name: "app.theme",
        kind: ValueKind::Word(&["system", "light", "dark"]),
        default: "\"system\"",
        meaning: "how the window looks",
    },
    SettingKey {
        name: "app.notifications.blocked",
        kind: ValueKind::Switch,
        default: "true",
        meaning: "a notification when a call is blocked",
    },
    SettingKey {
        name: "app.notifications.alarms",
        kind: ValueKind::Switch,
        default: "true",
        meaning: "a notification when calls are unusually many",
    },
    SettingKey {
        name: "app.askedLogin",
        kind: ValueKind::Switch,
        default: "false",
        meaning: "whether you have answered the question about starting at login",
    },
    SettingKey {
        name: "clients.repair",
        kind: ValueKind::Switch,
        default: "false",
        meaning: "a gate that another program took away is put back without asking",
    },
];

/// A key by its name; what is near it, if there is none.
pub fn find(name: &str) -> Result<&'static SettingKey, String> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
        let known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        match nearest(name, &known) {
            Some(near) => format!("there is no setting {name:?}: did you mean {near}?"),
            None => format!("there is no setting {name:?}; known are: {}", known.join(", ")),
        }
    })
}

impl SettingKey {
    /// The names on the way to it.
    pub fn path(&self) -> Vec<&'static str> {
        self.name.split('.').collect()
    }

    /// What is wrong with a value, if anything.
    pub fn problem(&self, value: &Json) -> Option<String> {
        let fits = match (self.kind, value) {
            (ValueKind::Count(most), value) => count(value).is_some_and(|number| number.get() <= most),
            (ValueKind::Word(words), Json::String(word)) => {
                words.contains(&word.as_str()) || (self.name == "record.keep" && word == OLD_NONE)
            }
            (ValueKind::Names, Json::List(names)) => {
                names.len() <= MOST_NAMES && names.iter().all(|name| matches!(name, Json::String(_)))
            }
            (ValueKind::Switch, Json::Bool(_)) => true,
            _ => false,
        };
        (!fits).then(|| format!("{} must be {}, not {value}", self.name, self.kind.words()))
    }

    /// A value in the words of today; of a number that is too large, the largest that there is: whoever wrote it wanted to
    /// keep much, and what a smaller default would delete is gone.
    pub fn normal(&self, value: &Json) -> Json {
        match (self.kind, value) {
            (ValueKind::Word(_), Json::String(word)) if self.name == "record.keep" && word == OLD_NONE => {
                Json::String("none".to_owned())
            }
            (ValueKind::Count(most), Json::Number(number)) => {
                Json::Number(at_most(number, most).unwrap_or_else(|| number.clone()))
            }
            (_, value) => value.clone(),
        }
    }

    /// A value as a person types it on a command line: `30`, `keys`, `iban,customer_id`, `off`.
    pub fn parse(&self, typed: &str) -> Result<Json, String> {
        let typed = typed.trim();
        let value = match self.kind {
            ValueKind::Count(_) => match typed.parse::<u32>() {
                Ok(number) => Json::Number(number.to_string()),
                Err(_) => Json::String(typed.to_owned()),
            },
            ValueKind::Word(_) => Json::String(typed.trim_matches('"').to_owned()),
            ValueKind::Switch => match typed {
                "true" | "on" | "yes" => Json::Bool(true),
                "false" | "off" | "no" => Json::Bool(false),
                _ => Json::String(typed.to_owned()),
            },
            ValueKind::Names if typed.starts_with('[') => {
                callgate_policy::jsonc::read(typed).map_err(|report| report.headline())?
            }
            ValueKind::Names => {
                let names = typed.split(',').map(str::trim).filter(|name| !name.is_empty());
                Json::List(names.map(|name| Json::String(name.to_owned())).collect())
            }
        };
        self.problem(&value).map_or(Ok(value), Err)
    }
}

impl ValueKind {
    /// `a whole number from 1`, `"full", "keys" or "none"`
    pub fn words(self) -> String {
        match self {
            ValueKind::Count(u32::MAX) => "a whole number from 1".to_owned(),
            ValueKind::Count(most) => format!("a whole number from 1 to {most}"),
            ValueKind::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                match quoted.split_last() {
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => String::new(),
                }
            }
            ValueKind::Names => format!("a list of at most {MOST_NAMES} names of arguments"),
            ValueKind::Switch => "true or false".to_owned(),
        }
    }
}

/// What `none` was called; files that say it are read as before.
const OLD_NONE: &str = "nothing";

/// `record.keep`
pub(super) fn keep(value: &Json) -> Option<Keep> {
    match value {
        Json::String(word) if word == "full" => Some(Keep::Full),
        Json::String(word) if word == "keys" => Some(Keep::Keys),
        Json::String(word) if word == "none" || word == OLD_NONE => Some(Keep::Nothing),
        _ => None,
    }
}

pub(super) fn count(value: &Json) -> Option<NonZeroU32> {
    match value {
        Json::Number(number) => number.parse().ok(),
        _ => None,
    }
}

/// A whole number from 1, however large it is and however it is written (`1e9`).
fn at_most(number: &str, most: u32) -> Option<String> {
    let wanted: f64 = number.parse().ok().filter(|wanted| *wanted >= 1.0)?;
    match wanted > f64::from(most) {
        true => Some(most.to_string()),
        false => (wanted.fract() == 0.0).then(|| format!("{wanted:.0}")),
    }
}

/// Names that no setting has, at any depth, each with what was probably meant.
pub(super) fn unknown(file: &Json) -> Vec<String> {
    let mut found = Vec::new();
    look(file, "", &mut found);
    found
}

fn look(object: &Json, above: &str, found: &mut Vec<String>) {
    let Json::Object(members) = object else { return };
    let below =
        |key: &&SettingKey| key.name.strip_prefix(above).map(|rest| rest.split('.').next().unwrap_or(rest));
    let mut known: Vec<&str> = KEYS.iter().filter_map(|key| below(&key)).collect();
    known.dedup();
    for (name, value) in members {
        let path = format!("{above}{name}");
        if KEYS.iter().any(|key| key.name == path) {
            continue;
        }
        if known.contains(&name.as_str()) {
            match value {
                Json::Object(_) => look(value, &format!("{path}."), found),
                other => found.push(format!("{path} must be an object, not {other}")),
            }
            continue;
        }
        found.push(match nearest(name, &known) {
            Some(near) => format!("{path} is not known, and counts for nothing: did you mean {above}{near}?"),
            None => {
                let known: Vec<String> = known.iter().map(|name| format!("{above}{name}")).collect();
                format!("{path} is not known, and counts for nothing (known are {})", known.join(", "))
            }
        });
    }
}
