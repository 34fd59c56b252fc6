//! The rule of one tool; also of all tools, of a pattern, of a risk class.

use super::Spot;
use super::condition::{Clause, clauses, description};
use super::limit::{LimitEntry, RateLimit, limits, rate_limit};
use super::reader::{Cursor, Reader};
use super::settings::{self, AskSettings, LoopSettings, Mode, Pin, Record};
use crate::problem::Place;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Allow,
    Deny,
    Ask,
}

pub(super) const ACTIONS: &[(&str, Action)] =
    &[("allow", Action::Allow), ("deny", Action::Deny), ("ask", Action::Ask)];

/// Names are hidden by `hide`, classes by their rule: none stands for that.
const CLASS_ACTIONS: &[(&str, Option<Action>)] = &[
    ("allow", Some(Action::Allow)),
    ("deny", Some(Action::Deny)),
    ("ask", Some(Action::Ask)),
    ("hide", None),
];

/// Everything that can be said about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRule {
    /// The tool's name, a pattern, a class; `all_tools` for the rule of every call.
    pub name: String,
    pub action: Option<Spot<Action>>,
    /// Where it says so: its tools are hidden. Only of a class.
    pub hides: Option<Place>,
    pub reason: Option<String>,
    pub require: Vec<Clause>,
    pub deny_if: Vec<Clause>,
    pub ask_if: Vec<Clause>,
    pub ask: Option<Spot<AskSettings>>,
    pub limits: Vec<LimitEntry>,
    pub rate_limit: Option<RateLimit>,
    pub until: Option<Spot<String>>,
    pub mode: Option<Spot<Mode>>,
    pub record: Option<Spot<Record>>,
    pub pin: Option<Spot<Pin>>,
    pub loops: Option<Spot<LoopSettings>>,
    pub validate: Option<Spot<bool>>,
    /// Of the key, not of the value: that is what a person looks for.
    pub place: Place,
}

const KEYS: &[&str] = &[
    "action",
    "reason",
    "require",
    "deny_if",
    "ask_if",
    "ask",
    "limits",
    "rate_limit",
    "until",
    "mode",
    "record",
    "pin",
    "loop",
    "validate",
    "description",
];

/// The rule of a class.
pub(super) fn class_rule(
    reader: &mut Reader<'_, '_, '_>,
    name: Spot<String>,
    cursor: &Cursor<'_>,
) -> Option<ToolRule> {
    let (mut rule, action) = read(reader, name, cursor, "a class's rule")?;
    let said = action.and_then(|cursor| reader.choice(&cursor, "`action`", CLASS_ACTIONS));
    match said {
        Some(Spot { value: Some(value), place }) => rule.action = Some(Spot { value, place }),
        Some(Spot { value: None, place }) => rule.hides = Some(place),
        None => {}
    }
    Some(rule)
}

pub(super) fn rule(
    reader: &mut Reader<'_, '_, '_>,
    name: Spot<String>,
    cursor: &Cursor<'_>,
    what: &str,
) -> Option<ToolRule> {
    let (mut rule, action) = read(reader, name, cursor, what)?;
    rule.action = action.and_then(|cursor| reader.choice(&cursor, "`action`", ACTIONS));
    Some(rule)
}

/// The rule without its action, and that as it stands.
fn read<'t>(
    reader: &mut Reader<'_, '_, '_>,
    name: Spot<String>,
    cursor: &Cursor<'t>,
    what: &str,
) -> Option<(ToolRule, Option<Cursor<'t>>)> {
    let fields = reader.fields(cursor, what, KEYS)?;
    description(reader, fields.get("description"));
    let mut all = |key: &str| -> Vec<Clause> {
        fields.get(key).map(|c| clauses(reader, c, &format!("`{key}`"))).unwrap_or_default()
    };
    let (require, deny_if, ask_if) = (all("require"), all("deny_if"), all("ask_if"));
    let rule = ToolRule {
        name: name.value,
        action: None,
        hides: None,
        reason: fields.get("reason").and_then(|c| reader.string(c, "`reason`")),
        require,
        deny_if,
        ask_if,
        ask: fields.get("ask").and_then(|c| settings::ask(reader, c)),
        limits: fields.get("limits").map(|c| limits(reader, c)).unwrap_or_default(),
        rate_limit: fields.get("rate_limit").and_then(|c| rate_limit(reader, c)),
        until: fields.get("until").and_then(|c| settings::until(reader, c)),
        mode: fields.get("mode").and_then(|c| settings::mode(reader, c)),
        record: fields.get("record").and_then(|c| settings::record(reader, c)),
        pin: fields.get("pin").and_then(|c| settings::pin(reader, c)),
        loops: fields.get("loop").and_then(|c| settings::loops(reader, c)),
        validate: fields.get("validate").and_then(|c| {
            let value = reader.boolean(c, "`validate`")?;
            Some(Spot { value, place: c.place.clone() })
        }),
        place: name.place,
    };
    Some((rule, fields.get("action").cloned()))
}
