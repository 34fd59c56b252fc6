//! Claude Code's permissions for MCP tools as policies, one for each server.
//!
//! There, a call is looked for in `deny`, then in `ask`, then in `allow`; what is found nowhere is asked about. Here the
//! most specific rule counts, so the order is worked out beforehand: every name gets the rule that it would get there,
//! and a pattern is as strict as every other that it can meet and that does not come before it.

use std::collections::BTreeMap;

use callgate_document::Node;
use callgate_policy::{Policy, Report};

use crate::glob;
use crate::json::Json;
use crate::ledger::{Ledger, SourcePosition, below};
use crate::note::{Difference, Note};
use crate::settings::{Settings, member};

/// More than any person writes; every rule is compared with every pattern.
const MOST_RULES: usize = 2000;
const MOST_PATTERNS: usize = 100;
/// Longer than any name that Claude Code shows.
const LONGEST_RULE: usize = 300;

const REASON: &str = "denied in Claude Code's settings";

/// What the settings say, in our language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    pub policies: Vec<ImportedFor>,
    /// What is not about tools of MCP servers.
    pub skipped: Vec<Note>,
}

/// The policy of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFor {
    /// As Claude Code calls it.
    pub server: String,
    /// JSON with comments; it parses.
    pub text: String,
    pub notes: Vec<Note>,
}

/// From least to most strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Allow,
    Ask,
    Deny,
}

const LISTS: [(&str, Level); 3] = [("deny", Level::Deny), ("ask", Level::Ask), ("allow", Level::Allow)];

impl Level {
    fn word(self) -> &'static str {
        LISTS.iter().find(|(_, level)| *level == self).map_or("", |(word, _)| word)
    }
}

/// One entry about MCP tools.
#[derive(Debug)]
struct PermissionEntry {
    level: Level,
    /// `mcp__server`, `mcp__server__tool`, either with `*`.
    text: String,
    line: usize,
}

/// The policies that the settings amount to: of `server`, or of every server that is named in them.
pub fn import(text: &str, server: Option<&str>) -> Result<Permissions, Report> {
    let mut ledger = Ledger::default();
    let mut skipped = Ledger::default();
    let read =
        Settings::read(text, &mut ledger).and_then(|settings| entries(&settings, &mut ledger, &mut skipped));
    let Some((entries, mode)) = read.filter(|_| !ledger.has_problems()) else {
        return Err(ledger.into_report());
    };
    let servers = match server {
        Some(server) => vec![server.to_owned()],
        None => named_servers(&entries),
    };
    let mut policies = Vec::new();
    for server in servers {
        let policy = ServerRules { prefix: prefix(&server), server, mode: &mode };
        match policy.import(&entries) {
            Ok(Some(imported)) => policies.push(imported),
            Ok(None) => {
                let message = format!("nothing here is about the server {:?}", policy.server);
                ledger.problem(
                    SourcePosition::START,
                    "/permissions",
                    message,
                    "name a server as Claude Code does: claude mcp list",
                );
            }
            Err(why) => {
                let message =
                    format!("the rules for {:?} cannot be said in Callgate's language: {why}", policy.server);
                ledger.problem(SourcePosition::START, "/permissions", message, "write this policy by hand");
            }
        }
    }
    if ledger.has_problems() {
        return Err(ledger.into_report());
    }
    for entry in entries.iter().filter(|entry| server_part(&entry.text).contains('*') && policies.is_empty())
    {
        let text = format!("{:?} is about many servers: say which one the policy is for", entry.text);
        skipped.note(entry.line, Difference::NotSaid, text);
    }
    Ok(Permissions { policies, skipped: skipped.into_notes() })
}

fn entries(
    settings: &Settings<'_>,
    ledger: &mut Ledger,
    skipped: &mut Ledger,
) -> Option<(Vec<PermissionEntry>, String)> {
    let permissions = member(&settings.root, "permissions");
    let Some(known) = permissions.and_then(Node::map) else {
        let place = permissions.map_or(SourcePosition::START, |node| settings.place(&node.span));
        let fix = "is this a settings.json of Claude Code?";
        ledger.problem(place, "/permissions", "there is no object \"permissions\" here", fix);
        return None;
    };
    let mut found = Vec::new();
    let mut mode = "default".to_owned();
    let mut seen: Vec<&str> = Vec::new();
    for member in known {
        let (name, place) = (member.key.as_str(), settings.place(&member.key_span));
        let pointer = below("/permissions", name);
        if seen.contains(&name) {
            ledger.problem(place, &pointer, format!("{name:?} is written twice"), "make one of both");
        }
        seen.push(name);
        if name == "defaultMode" {
            match member.value.text() {
                Some(text) => mode = text.to_owned(),
                None => ledger.problem(
                    settings.place(&member.value.span),
                    &pointer,
                    "defaultMode must be text",
                    "write \"default\"",
                ),
            }
        } else if let Some((_, level)) = LISTS.iter().find(|(word, _)| *word == name) {
            list(settings, &member.value, *level, &pointer, &mut found, ledger, skipped);
        } else {
            let text = format!("{name:?} is not about tools of MCP servers");
            skipped.note(place.line, Difference::NotSaid, text);
        }
    }
    let patterns = found.iter().filter(|entry| glob::is_pattern(&entry.text)).count();
    if found.len() > MOST_RULES || patterns > MOST_PATTERNS {
        let message = format!(
            "there are {} rules with {patterns} patterns; {MOST_RULES} and {MOST_PATTERNS} are the most",
            found.len()
        );
        ledger.problem(SourcePosition::START, "/permissions", message, "remove rules that others cover");
    }
    Some((found, mode))
}

fn list(
    settings: &Settings<'_>,
    node: &Node,
    level: Level,
    pointer: &str,
    found: &mut Vec<PermissionEntry>,
    ledger: &mut Ledger,
    skipped: &mut Ledger,
) {
    let Some(items) = node.list() else {
        let message = format!("{:?} must be a list", level.word());
        ledger.problem(settings.place(&node.span), pointer, message, "write [ \"mcp__server__tool\" ]");
        return;
    };
    for (i, item) in items.iter().enumerate() {
        let place = settings.place(&item.span);
        let Some(text) = item.text() else {
            ledger.problem(
                place,
                &format!("{pointer}/{i}"),
                "a rule must be text",
                "put it in double quotes",
            );
            continue;
        };
        let text = text.trim();
        if text.starts_with("mcp__") && text.len() > LONGEST_RULE {
            let message = format!("a rule for an MCP tool has at most {LONGEST_RULE} bytes");
            ledger.problem(place, &format!("{pointer}/{i}"), message, "no tool's name is so long; remove it");
            continue;
        }
        if !text.starts_with("mcp__") {
            let shown: String = text.chars().take(60).collect();
            let said = format!("{} {shown:?} is not about a tool of an MCP server", level.word());
            skipped.note(place.line, Difference::NotSaid, said);
            continue;
        }
        found.push(PermissionEntry { level, text: text.to_owned(), line: place.line });
    }
}

/// What stands for the server in a rule.
fn server_part(rule: &str) -> &str {
    let rest = rule.strip_prefix("mcp__").unwrap_or(rule);
    rest.split("__").next().unwrap_or(rest)
}

/// Servers by the names in the rules, in the order in which they first appear.
fn named_servers(entries: &[PermissionEntry]) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for entry in entries {
        let server = server_part(entry.text.split('(').next().unwrap_or_default());
        if !server.is_empty() && !glob::is_pattern(server) && !servers.iter().any(|s| s == server) {
            servers.push(server.to_owned());
        }
    }
    servers
}

/// Claude Code writes `_` for every character of a server's name that a tool's name may not have.
fn prefix(server: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("mcp__{}__", server.chars().map(plain).collect::<String>())
}

/// What a rule means that names a tool as Claude Code shows it: `_` also for every character that a name may not have.
fn as_shown(rule: &str) -> String {
    rule.replace('_', "?")
}

struct ServerRules<'m> {
    server: String,
    /// `mcp__server__`
    prefix: String,
    mode: &'m str,
}

/// A rule as it concerns one server: a tool's name or a pattern of names.
#[derive(Debug)]
struct Concern {
    level: Level,
    tools: String,
    line: usize,
}

impl ServerRules<'_> {
    fn import(&self, entries: &[PermissionEntry]) -> Result<Option<ImportedFor>, String> {
        let mut ledger = Ledger::default();
        let concerns = self.concerns(entries, &mut ledger);
        // A server whose rules were all left out is named in the settings even so.
        if concerns.is_empty() && !ledger.has_notes() {
            return Ok(None);
        }
        let document = self.document(&concerns, &mut ledger);
        let text = document.document(Some(
            "Imported from Claude Code's permissions. The report of the import says what differs.",
        ));
        Policy::parse(&text).map_err(|report| report.headline())?;
        Ok(Some(ImportedFor { server: self.server.clone(), text, notes: ledger.into_notes() }))
    }

    fn concerns(&self, entries: &[PermissionEntry], ledger: &mut Ledger) -> Vec<Concern> {
        let mut concerns = Vec::new();
        let whole = self.prefix.strip_suffix("__").unwrap_or(&self.prefix);
        for entry in entries {
            let (rule, in_brackets) = match entry.text.split_once('(') {
                Some((rule, _)) => (rule.trim_end(), true),
                None => (entry.text.as_str(), false),
            };
            let mut rests =
                if rule == whole { vec!["*".to_owned()] } else { glob::rests(rule, &self.prefix) };
            rests.retain(|rest| !rest.is_empty());
            if entry.level == Level::Allow {
                // Claude Code takes patterns in `allow` only behind a server's full name.
                let anchored = rule == whole || rule.starts_with(&self.prefix);
                if !rests.is_empty() && (in_brackets || !anchored) {
                    let text =
                        format!("{:?} in allow is ignored by Claude Code, and was left out here", entry.text);
                    ledger.note(entry.line, Difference::Same, text);
                    rests.clear();
                }
                // Only `*` stands for something there, and no tool's name has a question mark.
                if rests.iter().any(|rest| rest.contains('?')) {
                    let text = format!(
                        "{:?} in allow was left out: a question mark stands for itself in Claude Code, and for \
                            any character here",
                        entry.text
                    );
                    ledger.note(entry.line, Difference::Stricter, text);
                    rests.clear();
                }
            } else if in_brackets && !rests.is_empty() {
                let text = format!(
                    "{:?} counts here for every call, whatever is in the brackets; Claude Code \
                        ignores such a rule for an MCP tool",
                    entry.text
                );
                ledger.note(entry.line, Difference::Stricter, text);
            }
            if rests.iter().any(|rest| rest.contains("__")) {
                let text = format!(
                    "{:?} is read as a tool of the server {:?}; if the server's name goes on, name \
                        it when importing",
                    entry.text, self.server
                );
                ledger.note(entry.line, Difference::Differs, text);
            }
            if entry.level != Level::Allow {
                rests.iter_mut().for_each(|rest| *rest = as_shown(rest));
            }
            let line = entry.line;
            concerns.extend(rests.into_iter().map(|tools| Concern { level: entry.level, tools, line }));
        }
        concerns
    }

    /// What Claude Code does with a tool that no rule speaks of.
    fn unmentioned(&self, ledger: &mut Ledger) -> Level {
        match self.mode {
            "bypassPermissions" => {
                let text = "defaultMode is bypassPermissions, so tools that are not named are let \
                    through, for every client of this server";
                ledger.note(None, Difference::Differs, text);
                Level::Allow
            }
            "dontAsk" => Level::Deny,
            _ => Level::Ask,
        }
    }

    fn document(&self, concerns: &[Concern], ledger: &mut Ledger) -> Json {
        // In this mode a question is answered with no.
        let softest =
            |level: Level| if level == Level::Ask && self.mode == "dontAsk" { Level::Deny } else { level };
        let is_all = |concern: &&Concern| concern.tools.chars().all(|c| c == '*');
        let whole = concerns.iter().filter(is_all).map(|c| c.level).max();
        let default = softest(whole.unwrap_or_else(|| self.unmentioned(ledger)));
        let patterns: Vec<&Concern> = concerns.iter().filter(|c| glob::is_pattern(&c.tools)).collect();
        let mut names: BTreeMap<&str, Level> = BTreeMap::new();
        for concern in concerns.iter().filter(|c| !glob::is_pattern(&c.tools)) {
            let level = names.entry(&concern.tools).or_insert(concern.level);
            *level = concern.level.max(*level);
        }
        let mut tools: BTreeMap<&str, Level> = BTreeMap::new();
        for concern in concerns.iter().filter(|c| !is_all(c)) {
            let name = concern.tools.as_str();
            if name.len() > 1024 || name.chars().any(char::is_control) {
                let text = "this can be no tool's name here; calls of it are always refused".to_owned();
                ledger.note(concern.line, Difference::Stricter, text);
                continue;
            }
            // A pattern that spells out more comes before this one, so it need not be repeated here.
            let comes_before = |other: &Concern| {
                glob::is_pattern(name) && glob::literals(&other.tools) > glob::literals(name)
            };
            let raises = |other: &&&Concern| {
                other.level > concern.level && !comes_before(other) && glob::overlap(name, &other.tools)
            };
            let by_patterns = patterns.iter().filter(raises).map(|c| c.level).max();
            let level = by_patterns.max(names.get(name).copied()).unwrap_or(concern.level).max(concern.level);
            if level > concern.level && glob::is_pattern(name) {
                let text = format!(
                    "{name:?} is {} here, because it meets a pattern that says so; Claude Code \
                        decides name by name",
                    level.word()
                );
                ledger.note(concern.line, Difference::Stricter, text);
            }
            tools.insert(name, softest(level));
        }
        self.notes(&tools, default, ledger);
        let mut out = Json::object([("version", Json::text("1")), ("default", Json::text(default.word()))]);
        if default == Level::Deny && whole == Some(Level::Deny) {
            return out.with("all_tools", rule(Level::Deny));
        }
        if !tools.is_empty() {
            let tools = tools.iter().map(|(name, level)| ((*name).to_owned(), rule(*level))).collect();
            out = out.with("tools", Json::Object(tools));
        }
        out
    }

    fn notes(&self, tools: &BTreeMap<&str, Level>, default: Level, ledger: &mut Ledger) {
        ledger.note(
            None,
            Difference::NotSaid,
            "Claude Code merges several settings files; this policy comes from one",
        );
        let opens = default == Level::Allow
            || tools.iter().any(|(name, level)| *level == Level::Allow && glob::is_pattern(name));
        if opens && tools.iter().any(|(name, level)| *level != Level::Allow && name.contains('?')) {
            let text = "_ in deny and ask is written as ?, which stands for any character: Claude Code shows _ for \
                        whatever is not a letter, a digit, _ or - in a tool's name";
            ledger.note(None, Difference::Stricter, text);
        }
        if !matches!(self.mode, "default" | "bypassPermissions" | "dontAsk") {
            let text =
                format!("defaultMode {:?} is taken for asking about every tool that is not named", self.mode);
            ledger.note(None, Difference::Stricter, text);
        }
    }
}

fn rule(level: Level) -> Json {
    match level {
        Level::Allow => Json::Object(Vec::new()),
        Level::Ask => Json::object([("action", Json::text("ask"))]),
        Level::Deny => Json::object([("action", Json::text("deny")), ("reason", Json::text(REASON))]),
    }
}
