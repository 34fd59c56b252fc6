//! Ready-made rules: each is a part of a policy, put into the text as a person would write it there, and saved like any
//! other edit. Which of them fit a server is told by the tools that it lists, not by its name.

mod browsers;
mod conditions;
mod servers;

use std::collections::BTreeSet;

use callgate_controls::catalogue::KnownTool;
use callgate_policy::edit::{Edited, merge};
use callgate_policy::{Policy, compare};
use callgate_protocol::json::Raw;
use serde_json::{Map, Value, json};

use crate::DeskError;
use crate::view::{ReadyRule, ReadyState};
use conditions::Condition;

/// What stands in for the folders that a person would choose.
const FOLDER: &str = "~/projects";

struct Ready {
    id: &'static str,
    title: &'static str,
    words: &'static str,
    body: Body,
}

enum Body {
    /// Rules for those of these tools that the server lists; for servers that list so many of the second.
    Tools { rows: &'static [Row], of: &'static [&'static str], at_least: usize },
    /// A setting of `codegen`, for servers with this tool.
    Codegen { setting: &'static str, tool: &'static str },
}

/// What is asked of one tool.
struct Row {
    /// Its name; `*` at an end stands for anything.
    tool: &'static str,
    /// It is the tool that is meant only if it takes this argument; empty: its name tells enough.
    takes: &'static str,
    conditions: &'static [Condition],
}

const fn row(tool: &'static str, conditions: &'static [Condition]) -> Row {
    Row { tool, takes: "", conditions }
}

/// A tool that a server lists, as far as it matters here.
pub(crate) struct Listed {
    name: String,
    arguments: BTreeSet<String>,
}

impl From<&KnownTool> for Listed {
    fn from(tool: &KnownTool) -> Listed {
        let schema = Raw::parse(&tool.definition).ok().and_then(|tool| tool.get("inputSchema"));
        let properties = schema.and_then(|schema| schema.get("properties"));
        let arguments = properties.into_iter().flat_map(Raw::members).map(|(name, _)| name.into_owned());
        Listed { name: tool.name.clone(), arguments: arguments.collect() }
    }
}

fn all() -> impl Iterator<Item = &'static Ready> {
    browsers::RULES.iter().chain(servers::RULES)
}

/// Those that fit a server with these tools.
pub(super) fn list(text: &str, tools: &[Listed]) -> Vec<ReadyRule> {
    let view = |ready: &Ready| {
        Some(ReadyRule {
            id: ready.id.to_owned(),
            title: ready.title.to_owned(),
            words: ready.words.to_owned(),
            folder: ready.takes_folder(),
            state: ready.state(text, tools)?,
        })
    };
    all().filter_map(view).collect()
}

/// The text with this rule in it.
pub(super) fn apply(
    text: &str,
    tools: &[Listed],
    id: &str,
    folder: Option<&str>,
) -> Result<Edited, DeskError> {
    let ready = all().find(|ready| ready.id == id);
    let ready = ready.ok_or_else(|| DeskError::BadInput(format!("there is no ready-made rule {id:?}")))?;
    let folder = folder.map(str::trim).filter(|folder| !folder.is_empty());
    if ready.takes_folder() && folder.is_none() {
        return Err(DeskError::BadInput("say which folder is meant".to_owned()));
    }
    let folder = folder.unwrap_or(FOLDER);
    let rules = ready.rules(tools, folder);
    let rules = without_opening(text, &rules).unwrap_or(rules);
    if rules.is_empty() {
        let nothing = format!("{:?} is about no tool that this server lists", ready.title);
        return Err(DeskError::BadInput(nothing));
    }
    Ok(merge(text, &part(&rules))?)
}

/// Ready-made rules that go without a question into a recommended one: they need no folder, and refuse nothing that is for the web.
const GUARDS: &[&str] = &["web-only"];

/// What these ask of the arguments of one tool, as members of its rule. A rule that refuses the tool as a whole is none.
pub(crate) fn guards(tools: &[Listed], tool: &str) -> Map<String, Value> {
    let rules = all().filter(|ready| GUARDS.contains(&ready.id)).flat_map(|ready| ready.rules(tools, FOLDER));
    let its = rules.filter(|(section, name, _)| *section == "tools" && name == tool);
    let members = its.filter_map(|(.., rule)| match rule {
        Value::Object(members) if !members.contains_key("action") => Some(members),
        _ => None,
    });
    members.flatten().collect()
}

/// Titles of the rules that take a folder and are about this tool: a person has to choose one.
pub(crate) fn folder_rules(tools: &[Listed], tool: &str) -> Vec<&'static str> {
    let about = |ready: &&Ready| {
        ready.takes_folder() && ready.rules(tools, FOLDER).iter().any(|(_, name, _)| name == tool)
    };
    all().filter(about).map(|ready| ready.title).collect()
}

/// One rule for each tool or setting.
type Rules = Vec<(&'static str, String, Value)>;

/// As a part of a policy.
fn part(rules: &Rules) -> String {
    let mut sections: Map<String, Value> = Map::new();
    for (section, name, rule) in rules {
        let section = sections.entry(*section).or_insert_with(|| json!({}));
        section[name.as_str()] = rule.clone();
    }
    Value::Object(sections).to_string()
}

/// Those that open nothing. To name a tool in a policy that refuses what it does not name is to allow it.
fn without_opening(text: &str, rules: &Rules) -> Option<Rules> {
    let before = Policy::parse(text).ok()?;
    let opens = |rules: &Rules| {
        let merged = merge(text, &part(rules)).ok()?;
        Some(!compare::loosened(&before, &Policy::parse(&merged.text).ok()?).is_empty())
    };
    if !opens(rules)? {
        return Some(rules.clone());
    }
    let single = |rule: &(&'static str, String, Value)| opens(&vec![rule.clone()]) == Some(false);
    Some(rules.iter().filter(|rule| single(rule)).cloned().collect())
}

impl Ready {
    fn takes_folder(&self) -> bool {
        match &self.body {
            Body::Tools { rows, .. } => rows
                .iter()
                .flat_map(|row| row.conditions)
                .any(|condition| condition.folder_argument().is_some()),
            Body::Codegen { .. } => false,
        }
    }

    /// What it says of the tools of this server; nothing if it does not fit.
    fn rules(&self, tools: &[Listed], folder: &str) -> Rules {
        match &self.body {
            Body::Codegen { setting, tool } => {
                let fits = tools.iter().any(|listed| listed.name == *tool);
                fits.then(|| ("codegen", (*setting).to_owned(), json!(true))).into_iter().collect()
            }
            Body::Tools { of, at_least, .. } => {
                let telling = tools.iter().filter(|listed| of.contains(&listed.name.as_str())).count();
                if telling < *at_least {
                    return Vec::new();
                }
                let meant = self.meant(tools);
                meant.map(|(listed, row)| ("tools", listed.name.clone(), row.rule(folder))).collect()
            }
        }
    }

    /// The tools that it is about, each with the first row that fits.
    fn meant<'t>(&self, tools: &'t [Listed]) -> impl Iterator<Item = (&'t Listed, &'static Row)> {
        let rows = match &self.body {
            Body::Tools { rows, .. } => *rows,
            Body::Codegen { .. } => &[],
        };
        tools.iter().filter_map(move |listed| Some((listed, rows.iter().find(|row| row.fits(listed))?)))
    }

    /// `None` if it does not fit this server, or there is nothing that it could be put into.
    fn state(&self, text: &str, tools: &[Listed]) -> Option<ReadyState> {
        let before = Policy::parse(text).ok()?;
        let rules = self.rules(tools, FOLDER);
        if rules.is_empty() {
            return None;
        }
        let rules = without_opening(text, &rules)?;
        if rules.is_empty() {
            return Some(ReadyState::NotNeeded);
        }
        let edited = merge(text, &part(&rules)).ok()?;
        // Perhaps another folder than ours was chosen.
        let chosen = self.takes_folder()
            && self.meant(tools).all(|(listed, row)| {
                let mut arguments = row.conditions.iter().filter_map(Condition::folder_argument);
                arguments.all(|argument| mentions(&before, &listed.name, argument))
            });
        Some(if !edited.changed || chosen { ReadyState::InForce } else { ReadyState::Offered })
    }
}

impl Row {
    fn fits(&self, listed: &Listed) -> bool {
        let named = match (self.tool.strip_prefix('*'), self.tool.strip_suffix('*')) {
            (Some(end), _) => listed.name.ends_with(end),
            (None, Some(start)) => listed.name.starts_with(start),
            (None, None) => listed.name == self.tool,
        };
        named && (self.takes.is_empty() || listed.arguments.contains(self.takes))
    }

    fn rule(&self, folder: &str) -> Value {
        let mut rule = Map::new();
        for condition in self.conditions {
            condition.write(&mut rule, folder);
        }
        Value::Object(rule)
    }
}

/// Does the policy ask for a place of this argument?
fn mentions(policy: &Policy, tool: &str, argument: &str) -> bool {
    let path = format!("args.{argument}");
    let reads = policy.reads("", tool, i64::MIN);
    reads.iter().any(|read| read.paths.iter().any(|read| read.text == path) && read.words.contains("inside"))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
