//! What could stand at a place of a policy text, also while the text is broken there.

mod cursor;
mod schema;

use callgate_controls::catalogue;
use callgate_history::History;
use callgate_protocol::json::{Kind, Raw, quoted};

use super::diagnose::{byte_offset, utf16_offset};
use crate::Desk;
use crate::view::Completion;
use cursor::{Cursor, PathStep, Slot};

/// More than anybody reads.
const MOST: usize = 200;
/// How deep a tool's schema is looked into.
const DEPTH: usize = 6;
const WINDOWS: &[&str] = &["second", "minute", "hour", "day", "week"];
/// Somebody is typing; clients are known from the newest calls.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(20);

/// What is known of the server that the text is for.
#[derive(Debug, Default)]
pub(super) struct Known {
    tools: Vec<KnownTool>,
    clients: Vec<String>,
}

#[derive(Debug)]
struct KnownTool {
    name: String,
    /// Paths into its arguments, each with what it is.
    paths: Vec<(String, Option<String>)>,
}

impl Known {
    /// What cannot be read is not offered.
    pub(super) fn of(desk: &Desk, server: &str) -> Known {
        let listed = catalogue::read(&desk.home, server).ok().flatten();
        let tools = listed.map(|listed| listed.tools).unwrap_or_default();
        let seen = History::open_reader(&desk.home).and_then(|history| history.tools_seen(server, PATIENCE));
        Known {
            tools: tools.into_iter().map(|tool| KnownTool::new(tool.name, &tool.definition)).collect(),
            clients: seen.map(|seen| seen.clients).unwrap_or_default(),
        }
    }
}

impl KnownTool {
    fn new(name: String, definition: &str) -> KnownTool {
        let mut paths = Vec::new();
        if let Some(schema) = Raw::parse(definition).ok().and_then(|definition| definition.get("inputSchema"))
        {
            arguments(schema, "args", 0, &mut paths);
        }
        KnownTool { name, paths }
    }
}

/// The paths that a schema names. It is the server's text: bounded, and nothing in it is followed elsewhere.
fn arguments(schema: Raw<'_>, above: &str, depth: usize, found: &mut Vec<(String, Option<String>)>) {
    let Some(properties) = schema.get("properties").filter(|p| p.kind() == Kind::Object && depth < DEPTH)
    else {
        return;
    };
    for (name, property) in properties.members() {
        if found.len() >= MOST {
            return;
        }
        let plain =
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
        let path = match (plain, name.contains(['"', '\\'])) {
            (true, _) => format!("{above}.{name}"),
            (false, false) => format!("{above}[\"{name}\"]"),
            // The language has no way to write it.
            (false, true) => continue,
        };
        let kind = property.get("type").and_then(|kind| kind.as_str()).map(|kind| kind.into_owned());
        found.push((path.clone(), kind));
        arguments(property, &path, depth + 1, found);
    }
}

/// One thing to offer, before it is fitted in.
struct Offer {
    label: String,
    detail: Option<String>,
    /// A text in quotes; else a word of JSON.
    quoted: bool,
}

impl Offer {
    fn text(label: impl Into<String>, detail: Option<String>) -> Offer {
        Offer { label: label.into(), detail, quoted: true }
    }
}

pub(super) fn at(known: &Known, text: &str, offset: u32) -> Vec<Completion> {
    let cursor = byte_offset(text, offset);
    let Some(place) = Cursor::find(text, cursor) else { return Vec::new() };
    let mut offers = match place.slot {
        Slot::Key => keys(known, &place),
        Slot::Value => values(known, &place),
    };
    let typed = place.typed.to_lowercase();
    offers.retain(|offer| offer.label.to_lowercase().contains(&typed) && (offer.quoted || !place.in_quotes));
    // Those that begin so come first; otherwise as they were found.
    offers.sort_by_key(|offer| !offer.label.to_lowercase().starts_with(&typed));
    let mut seen = std::collections::HashSet::new();
    offers.retain(|offer| seen.insert(offer.label.clone()));
    offers.truncate(MOST);
    let from = utf16_offset(text, place.from);
    offers.into_iter().map(|offer| fitted(&place, &text[cursor..], from, offer)).collect()
}

/// The text that takes the place of what was typed, with quotes and a colon where they are missing.
fn fitted(place: &Cursor, after: &str, from: u32, offer: Offer) -> Completion {
    let mut apply = if offer.quoted { quoted(&offer.label) } else { offer.label.clone() };
    let mut rest = after;
    if place.in_quotes {
        apply.remove(0);
        if let Some(behind) = after.strip_prefix('"') {
            apply.pop();
            rest = behind;
        }
    }
    let closed = place.in_quotes && after.starts_with('"');
    if place.slot == Slot::Key && !closed && !rest.trim_start().starts_with(':') {
        apply.push_str(": ");
    }
    Completion { label: offer.label, detail: offer.detail, from, apply }
}

fn keys(known: &Known, place: &Cursor) -> Vec<Offer> {
    let mut offers = Vec::new();
    match place.path.as_slice() {
        [.., PathStep::Key(last)] if last == "tools" && is_body(&place.path[..place.path.len() - 1]) => {
            offers.extend(known.tools.iter().map(|tool| Offer::text(&tool.name, Some("a tool".to_owned()))));
            offers.push(Offer::text("*", Some("every tool that no other rule names".to_owned())));
        }
        [PathStep::Key(clients)] if clients == "clients" => {
            offers
                .extend(known.clients.iter().map(|client| Offer::text(client, Some("a client".to_owned()))));
        }
        path => {
            let found = schema::keys(path);
            offers.extend(found.into_iter().map(|(key, detail)| Offer::text(key, detail)));
        }
    }
    offers.retain(|offer| !place.siblings.contains(&offer.label));
    offers
}

fn values(known: &Known, place: &Cursor) -> Vec<Offer> {
    match place.path.as_slice() {
        [above @ .., PathStep::Key(hide), PathStep::Index] if hide == "hide" && is_body(above) => {
            return known
                .tools
                .iter()
                .map(|tool| Offer::text(&tool.name, Some("a tool".to_owned())))
                .collect();
        }
        [above @ .., PathStep::Key(key)] if key == "path" || key == "amount_from" => {
            if let Some(tool) = tool_above(above) {
                return paths(known, tool);
            }
        }
        [.., PathStep::Key(key)] if matches!(key.as_str(), "window" | "idle" | "call_time" | "hold") => {
            return WINDOWS.iter().map(|word| Offer::text(*word, None)).collect();
        }
        [PathStep::Key(tests), PathStep::Index, PathStep::Key(tool)]
            if tests == "tests" && tool == "tool" =>
        {
            return known.tools.iter().map(|tool| Offer::text(&tool.name, None)).collect();
        }
        [PathStep::Key(tests), PathStep::Index, PathStep::Key(client)]
            if tests == "tests" && client == "client" =>
        {
            return known.clients.iter().map(|client| Offer::text(client, None)).collect();
        }
        _ => {}
    }
    let found = schema::values(&place.path);
    found
        .into_iter()
        .map(|value| Offer { label: value.text, detail: value.detail, quoted: value.quoted })
        .collect()
}

/// The whole policy, or what it adds for one client.
fn is_body(path: &[PathStep]) -> bool {
    match path {
        [] => true,
        [PathStep::Key(clients), PathStep::Key(_)] => clients == "clients",
        _ => false,
    }
}

/// The tool whose rule this is in; none above the rules, nothing for the rule of all tools.
fn tool_above(path: &[PathStep]) -> Option<Option<&str>> {
    path.iter().enumerate().find_map(|(i, step)| match (step, path.get(i + 1)) {
        (PathStep::Key(tools), Some(PathStep::Key(tool))) if tools == "tools" && is_body(&path[..i]) => {
            Some(Some(tool.as_str()))
        }
        (PathStep::Key(all), _) if all == "all_tools" && is_body(&path[..i]) => Some(None),
        _ => None,
    })
}

/// Of the tool of this name; of all tools, for all of them and for patterns.
fn paths(known: &Known, tool: Option<&str>) -> Vec<Offer> {
    let one = known.tools.iter().find(|known| tool == Some(known.name.as_str()));
    let is_general = tool.is_none_or(|tool| tool.contains(['*', '?']));
    let tools = known.tools.iter().filter(|_| is_general).chain(one);
    let paths = tools.flat_map(|tool| &tool.paths);
    paths.map(|(path, detail)| Offer::text(path, detail.clone())).collect()
}

#[cfg(test)]
mod tests;
