//! The part of a file that also an overlay for one client may say.

use super::Spot;
use super::codegen::{self, CodegenSettings};
use super::methods::{self, ListRules, MethodRule, OtherMethods};
use super::reader::{Cursor, Fields, Reader};
use super::rule::{ToolRule, class_rule, rule};
use super::settings::{self, AskSettings, LoopSettings, Mode, Pin, Record};
use crate::problem::Place;

/// What happens to tools that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultAction {
    Allow,
    Deny,
    Ask,
}

const DEFAULTS: &[(&str, DefaultAction)] =
    &[("allow", DefaultAction::Allow), ("deny", DefaultAction::Deny), ("ask", DefaultAction::Ask)];

/// Whether tools that are not listed, and denied by the default, are in the server's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    Show,
    Hide,
}

const UNLISTED: &[(&str, Unlisted)] = &[("show", Unlisted::Show), ("hide", Unlisted::Hide)];

const CLASSES: &[&str] = &["read", "write", "execute", "destructive", "financial"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    pub default: Option<Spot<DefaultAction>>,
    pub unlisted: Option<Spot<Unlisted>>,
    pub mode: Option<Spot<Mode>>,
    pub hide: Vec<Spot<String>>,
    pub all_tools: Option<ToolRule>,
    pub tools: Vec<ToolRule>,
    pub classes: Vec<ToolRule>,
    pub ask: Option<Spot<AskSettings>>,
    pub record: Option<Spot<Record>>,
    pub pin: Option<Spot<Pin>>,
    pub loops: Option<Spot<LoopSettings>>,
    pub validate: Option<Spot<bool>>,
    pub codegen: Option<CodegenSettings>,
    pub resources: Option<ListRules>,
    pub prompts: Option<ListRules>,
    pub completion: Option<MethodRule>,
    pub sampling: Option<MethodRule>,
    pub elicitation: Option<MethodRule>,
    pub other_methods: Option<Spot<OtherMethods>>,
}

impl Body {
    /// What a client without rules of its own has.
    pub(crate) const NOTHING: Body = Body {
        default: None,
        unlisted: None,
        mode: None,
        hide: Vec::new(),
        all_tools: None,
        tools: Vec::new(),
        classes: Vec::new(),
        ask: None,
        record: None,
        pin: None,
        loops: None,
        validate: None,
        codegen: None,
        resources: None,
        prompts: None,
        completion: None,
        sampling: None,
        elicitation: None,
        other_methods: None,
    };
}

/// `clients: { "cursor": { … } }`
#[derive(Clone, Debug, PartialEq)]
pub struct ClientOverlay {
    pub client: String,
    pub body: Body,
    pub place: Place,
}

pub(super) const KEYS: &[&str] = &[
    "default",
    "unlisted",
    "mode",
    "hide",
    "all_tools",
    "tools",
    "classes",
    "ask",
    "record",
    "pin",
    "loop",
    "validate",
    "codegen",
    "resources",
    "prompts",
    "completion",
    "sampling",
    "elicitation",
    "other_methods",
];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, fields: &Fields<'_>) -> Body {
    Body {
        default: fields.get("default").and_then(|c| reader.choice(c, "`default`", DEFAULTS)),
        unlisted: fields.get("unlisted").and_then(|c| reader.choice(c, "`unlisted`", UNLISTED)),
        mode: fields.get("mode").and_then(|c| settings::mode(reader, c)),
        hide: fields.get("hide").map(|c| hide(reader, c)).unwrap_or_default(),
        all_tools: fields.get("all_tools").and_then(|c| {
            let name = Spot { value: "all_tools".to_owned(), place: c.place.clone() };
            rule(reader, name, c, "`all_tools`")
        }),
        tools: fields.get("tools").map(|c| tools(reader, c)).unwrap_or_default(),
        classes: fields.get("classes").map(|c| classes(reader, c)).unwrap_or_default(),
        ask: fields.get("ask").and_then(|c| settings::ask(reader, c)),
        record: fields.get("record").and_then(|c| settings::record(reader, c)),
        pin: fields.get("pin").and_then(|c| settings::pin(reader, c)),
        loops: fields.get("loop").and_then(|c| settings::loops(reader, c)),
        validate: fields.get("validate").and_then(|c| {
            let value = reader.boolean(c, "`validate`")?;
            Some(Spot { value, place: c.place.clone() })
        }),
        codegen: fields.get("codegen").and_then(|c| codegen::read(reader, c)),
        resources: fields.get("resources").and_then(|c| methods::list(reader, c, "`resources`")),
        prompts: fields.get("prompts").and_then(|c| methods::list(reader, c, "`prompts`")),
        completion: fields.get("completion").and_then(|c| methods::method(reader, c, "`completion`")),
        sampling: fields.get("sampling").and_then(|c| methods::method(reader, c, "`sampling`")),
        elicitation: fields.get("elicitation").and_then(|c| methods::method(reader, c, "`elicitation`")),
        other_methods: fields.get("other_methods").and_then(|c| methods::other(reader, c)),
    }
}

pub(super) fn read_clients(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<ClientOverlay> {
    let mut out = Vec::new();
    for (name, value) in reader.entries(cursor, "`clients`").unwrap_or_default() {
        if name.value.trim().is_empty() {
            let fix = "write the client's name, such as \"cursor\"".to_owned();
            reader.error(&name.place, "a client's name is missing", Some(fix));
            continue;
        }
        let Some(fields) = reader.fields(&value, "a client's rules", KEYS) else { continue };
        let body = read(reader, &fields);
        out.push(ClientOverlay { client: name.value, body, place: name.place });
    }
    out
}

fn hide(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<Spot<String>> {
    let names = reader.strings(cursor, "`hide`");
    names.into_iter().filter(|name| tool_name(reader, name)).collect()
}

fn tools(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<ToolRule> {
    let mut out = Vec::new();
    for (name, value) in reader.entries(cursor, "`tools`").unwrap_or_default() {
        if tool_name(reader, &name)
            && let Some(rule) = rule(reader, name, &value, "a tool's rule")
        {
            out.push(rule);
        }
    }
    out
}

fn classes(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Vec<ToolRule> {
    let mut out = Vec::new();
    for (name, value) in reader.entries(cursor, "`classes`").unwrap_or_default() {
        if !CLASSES.contains(&name.value.as_str()) {
            let near = super::suggest::nearest(&name.value, CLASSES);
            let fix = near.map_or_else(
                || format!("the classes are {}", super::suggest::one_of(CLASSES)),
                |near| format!("did you mean \"{near}\"?"),
            );
            reader.error(&name.place, format!("{:?} is no risk class", name.value), Some(fix));
        } else if let Some(rule) = class_rule(reader, name, &value) {
            out.push(rule);
        }
    }
    out
}

/// A name that no call could carry would be a rule that never counts.
fn tool_name(reader: &mut Reader<'_, '_, '_>, name: &Spot<String>) -> bool {
    let complaint = if name.value.is_empty() {
        "a tool's name is missing"
    } else if name.value.len() > crate::name::LONGEST {
        "a tool's name has at most 1024 bytes"
    } else if crate::name::unusable(&name.value).is_some() {
        "a tool's name has no control characters"
    } else {
        return true;
    };
    reader.error(&name.place, complaint, Some("write the name exactly as the server lists it".to_owned()));
    false
}
