//! The draft itself: what it says, how it is written, and how something is taken out of it again.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use callgate_protocol::fold::fold;
use callgate_protocol::json::quoted;

use super::peaks::{WINDOWS, human};
use super::usage::{NameCounts, TOOLS, ToolSeen, Usage};
use super::values::{Common, is_plain};
use super::verbs::{FREEING, frees, names_one_thing, only_reads, runs_code};
use super::{AskRule, ProposedRule, SuggestionRequest, plain};
use crate::words::counted;

/// Calls that it takes before a longer window says more than chance.
const OFTEN: u64 = 20;
const SEVERAL: usize = 3;
/// Addresses and names that are written out.
const LISTED: usize = 50;
/// Tools that are named in one note.
const NAMED: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) head: Vec<String>,
    notes: Vec<String>,
    hide: Vec<DraftLine>,
    tools: Vec<ToolLine>,
    resources: Option<List>,
    prompts: Option<List>,
    other_methods: Option<DraftLine>,
}

/// A piece of JSON, the same in words (of a hidden tool its name), and the count that justifies it.
#[derive(Debug)]
struct DraftLine {
    json: String,
    words: String,
    why: String,
    gone: bool,
}

/// Whether a written draft has in it what a person is to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Said,
    Left,
}

#[derive(Debug)]
struct ToolLine {
    name: String,
    why: String,
    ask: Option<AskRule>,
    deny_if: Vec<DraftLine>,
    require: Vec<DraftLine>,
    limits: Vec<DraftLine>,
}

#[derive(Debug)]
struct List {
    key: &'static str,
    /// If nothing was used.
    why: String,
    allow: Vec<DraftLine>,
}

impl DraftLine {
    fn new(json: String, words: String, why: String) -> DraftLine {
        DraftLine { json, words, why, gone: false }
    }
}

impl Draft {
    pub(super) fn new(seen: &Usage, wish: &SuggestionRequest<'_>, span: &str) -> Draft {
        let mut draft = Draft::default();
        for (name, tool) in seen.tools.iter().filter(|(_, tool)| tool.is_used()) {
            let line = tool_line(name, tool, wish.margin.max(1));
            draft.list(ToolLine { ask: wish.asks.get(name).cloned(), ..line });
        }
        let used = seen.tools.iter().filter(|(_, tool)| tool.let_through > 0);
        let used: BTreeSet<Cow<'_, str>> = used.map(|(name, _)| fold(name)).collect();
        let mut unused: Vec<&String> = wish.catalogue.unwrap_or_default().iter().collect();
        unused.sort();
        unused.dedup();
        let mut kept_open = Vec::new();
        for name in unused.into_iter().take(TOOLS) {
            // Another spelling of a listed name is refused anyway, and hiding it would only look like a mistake.
            if !can_be_named(name) || used.contains(&fold(name)) {
                continue;
            }
            let refused = seen.tools.get(name).map_or(0, |tool| tool.refused);
            match (frees(name), refused) {
                (true, 0) => {
                    kept_open.push(name.as_str());
                    let why = format!("0 calls in {span}; it frees what other tools open");
                    draft.list(ToolLine::open(name, why));
                }
                // Somebody refused it, so it is not opened; but an agent is told that it is there.
                (true, _) => {}
                (false, 0) => draft.hide(name, format!("0 calls in {span}")),
                (false, refused) => {
                    draft.hide(name, format!("0 calls let through in {span}, {refused} refused"))
                }
            }
        }
        draft.notes_about_tools(seen, &kept_open);
        draft.resources = list("resources", &seen.resources, span, &mut draft.notes);
        draft.prompts = list("prompts", &seen.prompts, span, &mut draft.notes);
        if seen.unknown_methods == 0 {
            draft.other_methods = Some(DraftLine::new(
                quoted("deny"),
                "methods that the protocol does not know are refused".to_owned(),
                format!("methods that the protocol does not know: 0 calls in {span}"),
            ));
        }
        if seen.unlisted > 0 {
            let words = "too many tools to list: calls of the tools beyond";
            draft.note(format!("{words} {TOOLS} are not allowed by this draft ({})", seen.unlisted));
        }
        if seen.masked_names > 0 {
            let calls = counted(seen.masked_names, "call");
            draft.note(format!(
                "{calls} of tools whose names look like secrets are not allowed by this draft"
            ));
        }
        draft
    }

    /// Two names that differ only in characters that patterns are made of are one line.
    fn list(&mut self, line: ToolLine) {
        if !self.tools.iter().rev().any(|other| other.name == line.name) {
            self.tools.push(line);
        }
    }

    fn hide(&mut self, name: &str, why: String) {
        self.hide.push(DraftLine::new(quoted(name), name.to_owned(), why));
    }

    fn notes_about_tools(&mut self, seen: &Usage, kept_open: &[&str]) {
        if !kept_open.is_empty() {
            let verbs = FREEING.join(", ");
            self.note(format!(
                "open although never called, because they free what other tools open (names with {verbs}): {}",
                several(kept_open.iter().copied())
            ));
        }
        let used = || seen.tools.iter().filter(|(_, tool)| tool.is_used());
        let reading: Vec<&str> =
            used().filter(|(name, _)| only_reads(name)).map(|(name, _)| name.as_str()).collect();
        if !reading.is_empty() {
            let names = several(reading.into_iter());
            self.note(format!("no cap on what only reads, as its name says: {names}"));
        }
        let failed: Vec<&str> =
            seen.tools.iter().filter(|(_, tool)| tool.only_failed()).map(|(name, _)| name.as_str()).collect();
        if !failed.is_empty() {
            let names = several(failed.into_iter());
            self.note(format!("left out, because every call of them failed: {names}"));
        }
        for (name, tool) in used() {
            let arguments = tool.arguments.keys().filter_map(|path| path.last()).map(String::as_str);
            if let Some(held) = runs_code(name, arguments) {
                let held = held.map(|argument| format!(" (in {argument})")).unwrap_or_default();
                self.note(format!(
                    "{name} runs code that agents write{held}: no rule can tell what it will do; deny it if you can do \
                     without"
                ));
            }
        }
    }

    /// Every rule in words, with the count behind it.
    pub(super) fn rules(&self) -> Vec<ProposedRule> {
        let rule = |tool: Option<&str>, words: &str, why: &str| ProposedRule {
            tool: tool.map(str::to_owned),
            words: words.to_owned(),
            why: why.to_owned(),
        };
        let mut rules = Vec::new();
        for tool in &self.tools {
            rules.push(rule(Some(&tool.name), "allowed", &tool.why));
            rules.extend(tool.ask.iter().map(|ask| rule(Some(&tool.name), &ask.words, &ask.why)));
            let lines = tool.deny_if.iter().chain(&tool.require).chain(&tool.limits);
            rules.extend(lines.map(|line| rule(Some(&tool.name), &line.words, &line.why)));
        }
        rules.extend(self.hide.iter().map(|line| rule(Some(&line.words), "hidden", &line.why)));
        rules.push(rule(None, "tools that are not listed are refused", ""));
        for list in [&self.resources, &self.prompts].into_iter().flatten() {
            match list.allow.is_empty() {
                true => rules.push(rule(None, &format!("{} are refused", list.key), &list.why)),
                false => {
                    let words = format!("only {} {} that were used", list.allow.len(), list.key);
                    rules.push(rule(None, &words, ""));
                }
            }
        }
        rules.extend(self.other_methods.iter().map(|line| rule(None, &line.words, &line.why)));
        rules
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Takes out what this rule is. False if the draft has no such rule that could go.
    pub(super) fn without(&mut self, rule: &str) -> bool {
        let below = |pointer: &str| rule == pointer || rule.starts_with(&format!("{pointer}/"));
        let take = |lines: &mut [DraftLine], pointer: &str| {
            let at = lines.iter().enumerate().position(|(index, _)| below(&format!("{pointer}/{index}")));
            at.map(|index| lines[index].gone = true).is_some()
        };
        for tool in &mut self.tools {
            let pointer = format!("/tools/{}", tool.name.replace('~', "~0").replace('/', "~1"));
            if take(&mut tool.deny_if, &format!("{pointer}/deny_if"))
                || take(&mut tool.require, &format!("{pointer}/require"))
                || take(&mut tool.limits, &format!("{pointer}/limits"))
            {
                return true;
            }
        }
        if take(&mut self.hide, "/hide") {
            return true;
        }
        for list in [&mut self.resources, &mut self.prompts] {
            if let Some(key) = list.as_ref().map(|list| list.key).filter(|key| below(&format!("/{key}"))) {
                *list = None;
                self.notes.push(format!("no rule for {key}: what was used cannot be put into one"));
                return true;
            }
        }
        below("/other_methods") && self.other_methods.take().is_some()
    }

    /// Closes the gaps: places in lists are counted anew from here on.
    pub(super) fn settle(&mut self) {
        let tools =
            self.tools.iter_mut().flat_map(|tool| [&mut tool.deny_if, &mut tool.require, &mut tool.limits]);
        tools.chain([&mut self.hide]).for_each(|lines| lines.retain(|line| !line.gone));
    }

    /// Nothing but the names of the tools.
    pub(super) fn bare(&mut self) {
        (self.hide, self.resources, self.prompts, self.other_methods) = (Vec::new(), None, None, None);
        for tool in &mut self.tools {
            (tool.ask, tool.deny_if, tool.require, tool.limits) = (None, Vec::new(), Vec::new(), Vec::new());
        }
    }

    pub(super) fn render(&self, asking: Asking) -> String {
        let mut text = String::new();
        for line in self.head.iter().chain(&self.notes) {
            let _ = writeln!(text, "// {}", plain_line(line));
        }
        text.push_str("{\n  \"version\": \"1\",\n  \"default\": \"deny\", // tools that are not listed\n");
        if !self.hide.is_empty() {
            text.push_str("  \"hide\": [\n");
            lines(&mut text, "    ", &self.hide);
            text.push_str("  ],\n");
        }
        text.push_str("  \"tools\": {\n");
        for tool in &self.tools {
            tool.render(asking, &mut text);
        }
        text.push_str("  },\n");
        for list in [&self.resources, &self.prompts].into_iter().flatten() {
            list.render(&mut text);
        }
        if let Some(line) = &self.other_methods {
            let _ = writeln!(text, "  \"other_methods\": {}, // {}", line.json, line.why);
        }
        text.push_str("}\n");
        text
    }
}

impl ToolLine {
    /// Listed, and nothing more.
    fn open(name: &str, why: String) -> ToolLine {
        // Where one pattern character stands for itself, the other is closer to it than `*`.
        let name = name.replace('*', "?");
        ToolLine { name, why, ask: None, deny_if: Vec::new(), require: Vec::new(), limits: Vec::new() }
    }

    fn render(&self, asking: Asking, text: &mut String) {
        let name = quoted(&self.name);
        let ask = self.ask.as_ref().filter(|_| asking == Asking::Said);
        if ask.is_none() && self.deny_if.is_empty() && self.require.is_empty() && self.limits.is_empty() {
            let _ = writeln!(text, "    {name}: {{}}, // {}", self.why);
            return;
        }
        let _ = writeln!(text, "    {name}: {{ // {}", self.why);
        if let Some(ask) = ask {
            let _ = writeln!(text, "      {}, // {}", ask.json, plain_line(&ask.why));
        }
        for (key, list) in [("deny_if", &self.deny_if), ("require", &self.require), ("limits", &self.limits)]
        {
            if !list.is_empty() {
                let _ = writeln!(text, "      \"{key}\": [");
                lines(text, "        ", list);
                text.push_str("      ],\n");
            }
        }
        text.push_str("    },\n");
    }
}

impl List {
    fn render(&self, text: &mut String) {
        if self.allow.is_empty() {
            let _ = writeln!(text, "  \"{}\": {{ \"default\": \"deny\" }}, // {}", self.key, self.why);
            return;
        }
        let _ = writeln!(text, "  \"{}\": {{", self.key);
        text.push_str("    \"allow\": [\n");
        lines(text, "      ", &self.allow);
        text.push_str("    ],\n    \"default\": \"deny\",\n  },\n");
    }
}

fn lines(text: &mut String, indent: &str, lines: &[DraftLine]) {
    for line in lines.iter().filter(|line| !line.gone) {
        let _ = writeln!(text, "{indent}{}, // {}", line.json, line.why);
    }
}

fn tool_line(name: &str, tool: &ToolSeen, margin: u32) -> ToolLine {
    let calls = tool.let_through;
    let passed = counted(calls, "call");
    let why = if tool.refused == 0 { passed } else { format!("{passed}, {} more refused", tool.refused) };
    let mut line = ToolLine::open(name, why);
    for (argument, values) in &tool.arguments {
        let (Some(path), Some(name)) = (path_to(argument), argument.last()) else { continue };
        let condition = |op: &str, value: &str| {
            format!("{{ \"path\": {}, \"op\": \"{op}\", \"value\": {value} }}", quoted(&path))
        };
        let (json, words, why) = match values.common(name, calls) {
            Some(Common::Inside(folder)) => {
                let words = format!("{path} only inside {folder}");
                (condition("inside", &quoted(&folder)), words, format!("all {calls} calls"))
            }
            Some(Common::Origins(origins)) => {
                let hosts: Vec<String> = origins.iter().map(|origin| regex::escape(origin)).collect();
                let hosts = if hosts.len() == 1 { hosts.concat() } else { format!("({})", hosts.join("|")) };
                let words = format!("{path} only at {}", origins.join(", "));
                let why = match origins.len() {
                    1 => format!("all {calls} calls"),
                    several => format!("{} in {calls} calls", counted(several as u64, "host")),
                };
                (condition("regex", &quoted(&format!("^{hosts}([/?#]|$)"))), words, why)
            }
            // Values that are few may be so by chance: those inside objects, and names of things, are left open.
            Some(Common::OneOf(values)) if argument.len() == 1 && !names_one_thing(name) => {
                let why = format!("{} in {calls} calls", counted(values.len() as u64, "value"));
                let values = values.join(", ");
                (condition("in", &format!("[{values}]")), format!("{path} only {values}"), why)
            }
            Some(Common::OneOf(_)) => continue,
            None => {
                if let Some(folder) = values.folder(name) {
                    let words = format!("{path} only inside {folder}, where it is given");
                    let why = format!("{} of {calls} calls had it", values.calls);
                    line.deny_if.push(DraftLine::new(condition("not_inside", &quoted(&folder)), words, why));
                }
                continue;
            }
        };
        line.require.push(DraftLine::new(json, words, why));
    }
    if !only_reads(name) && !frees(name) {
        line.limits = caps(name, tool, margin);
    }
    line
}

/// One cap by the minute, and one by a longer time where that says more.
fn caps(name: &str, tool: &ToolSeen, margin: u32) -> Vec<DraftLine> {
    let cap = |index: usize| {
        let peak = tool.peaks.all()[index];
        let wished = human(peak.passed.saturating_mul(u64::from(margin)));
        let least = peak.made;
        let why = match least > wished {
            false => format!("at most {} in any {}", peak.passed, WINDOWS[index].0),
            true => {
                format!("at most {} in any {}, and {least} with those refused", peak.passed, WINDOWS[index].0)
            }
        };
        let max = if least > wished { human(least) } else { wished };
        (u32::try_from(max).unwrap_or(u32::MAX), why)
    };
    let line = |index: usize, (max, why): (u32, String)| {
        let window = WINDOWS[index].0;
        let counter = quoted(&format!("{}_{window}", short(name)));
        let json = format!(
            "{{ \"counter\": {counter}, \"window\": \"{window}\", \"max\": {max}, \"scope\": \"grant\" }}"
        );
        DraftLine::new(json, format!("at most {max} a {window}"), why)
    };
    let (minute, hour, day) = (cap(0), cap(1), cap(2));
    let often = tool.let_through >= OFTEN;
    let longer = if often && tool.days.len() >= SEVERAL && day.0 < minute.0.saturating_mul(60) {
        Some((2, day))
    } else if often && tool.hours.len() >= SEVERAL && hour.0 < minute.0.saturating_mul(30) {
        Some((1, hour))
    } else {
        None
    };
    // What a whole day does not hold, no minute of it does.
    let minute = (0, minute);
    let caps = match longer {
        Some(longer) if longer.1.0 <= minute.1.0 => vec![longer],
        Some(longer) => vec![minute, longer],
        None => vec![minute],
    };
    caps.into_iter().map(|(index, cap)| line(index, cap)).collect()
}

/// A counter's name has at most 256 bytes. Tools that share so long a beginning share the count, which only refuses more.
fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(200)]
}

/// The rule for what was read by name or address.
fn list(key: &'static str, named: &NameCounts, span: &str, notes: &mut Vec<String>) -> Option<List> {
    let plain_ones = named.calls.keys().all(|name| is_plain("uri", name) && !name.contains(['*', '?']));
    if named.spoiled || named.calls.len() > LISTED || !plain_ones {
        notes.push(format!("no rule for {key}: what was used cannot be put into one"));
        return None;
    }
    let allow = named
        .calls
        .iter()
        .map(|(name, calls)| {
            DraftLine::new(
                quoted(name),
                format!("{name} allowed"),
                format!("{} in {span}", counted(*calls, "call")),
            )
        })
        .collect();
    Some(List { key, why: format!("0 calls in {span}"), allow })
}

/// Where an argument is, if the language can say it.
fn path_to(argument: &[String]) -> Option<String> {
    let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    let mut path = "args".to_owned();
    for name in argument {
        if name.is_empty() || name.len() > 200 || name.contains("\"]") || name.chars().any(char::is_control) {
            return None;
        }
        match name.chars().all(simple) {
            true => path.push_str(&format!(".{name}")),
            false => path.push_str(&format!("[\"{name}\"]")),
        }
    }
    Some(path)
}

/// A few names, and how many more there are.
fn several<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let shown: Vec<String> = names.take(NAMED).map(plain).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Can a name stand in a policy as itself?
fn can_be_named(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 1024
        && !name.contains(['*', '?', '\u{fffd}'])
        && plain(name).chars().count() == name.chars().take(120).count()
        && !name.chars().any(char::is_control)
        && is_plain("tool", name)
}

fn plain_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}')).collect()
}
