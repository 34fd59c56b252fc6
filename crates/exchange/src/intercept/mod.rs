//! Intercept's YAML policies as policies of ours.
//!
//! Three steps: [`read`] checks the file as Intercept does and reports every error at once, [`rules`] says each rule in
//! our language, and the result is read back before it is handed out, so that nothing leaves here that Callgate could
//! not use. Where both engines differ, the decision that refuses wins.

mod condition;
mod config;
mod counter;
mod pattern;
mod read;
mod rules;
mod state;
mod value;

use callgate_policy::{Policy, Report};

use crate::json::Json;
use crate::ledger::{Ledger, SourcePosition};
use crate::note::{Difference, Note};
use crate::{glob, yaml};
use config::{Config, Tool};
use counter::Counters;
use rules::Said;

/// A policy in our language, and what is to be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// JSON with comments; it parses.
    pub text: String,
    pub notes: Vec<Note>,
}

/// Says an Intercept policy in our language. Every error of the file is reported at once.
pub fn import(text: &str) -> Result<Imported, Report> {
    let mut ledger = Ledger::default();
    let config = yaml::read(text, &mut ledger).and_then(|root| read::config(&root, &mut ledger));
    let Some(config) = config else { return Err(ledger.into_report()) };
    let counters = Counters::of(&config, &mut ledger);
    if ledger.has_problems() {
        return Err(ledger.into_report());
    }
    let document = document(&config, &counters, &mut ledger);
    if ledger.has_problems() {
        return Err(ledger.into_report());
    }
    let text = document
        .document(Some("Imported from an Intercept policy. The report of the import says what differs."));
    if let Err(report) = Policy::parse(&text) {
        let message = format!("this cannot be said in Callgate's language: {}", report.headline());
        ledger.problem(SourcePosition::START, "", message, "simplify the policy, or write it by hand");
        return Err(ledger.into_report());
    }
    Ok(Imported { text, notes: ledger.into_notes() })
}

fn document(config: &Config, counters: &Counters<'_>, ledger: &mut Ledger) -> Json {
    let mut out = Json::object([("version", Json::text("1"))]);
    out = out.with_some("description", config.description.as_deref());
    out = out.with("default", Json::text(if config.default_deny { "deny" } else { "allow" }));
    let hide = hidden(config, ledger);
    if !hide.is_empty() {
        out = out.with("hide", Json::List(hide));
    }
    let mut tools = Vec::new();
    let mut all_tools = None;
    let mut counted = false;
    for (index, tool) in config.tools.iter().enumerate() {
        let said = rules::say(config, index, counters, ledger);
        counted |= said.counts();
        if tool.is_all() {
            all_tools = Some(said.into_json());
        } else if let Some(said) = nameable(config, tool, said, ledger) {
            tools.push((tool.name.clone(), said.into_json()));
        }
    }
    if let Some(all_tools) = all_tools.filter(|rule| *rule != Json::Object(Vec::new())) {
        out = out.with("all_tools", all_tools);
    }
    if !tools.is_empty() {
        out = out.with("tools", Json::Object(tools));
    }
    about_the_whole(counted, ledger);
    out
}

/// What holds of every policy, whatever it says.
fn about_the_whole(counted: bool, ledger: &mut Ledger) {
    let spelled = "a tool whose name is only spelled like one that is named here (other case, invisible characters) is \
                   refused; Intercept takes it for a tool that is not listed";
    ledger.note(None, Difference::Stricter, spelled);
    if counted {
        let shared = "limits count this server's calls over all its clients; Intercept counts all servers that share its \
                      state and have tools of the same name together, unless it is given a --state-prefix";
        ledger.note(None, Difference::Differs, shared);
    }
}

fn hidden(config: &Config, ledger: &mut Ledger) -> Vec<Json> {
    let mut out = Vec::new();
    for entry in &config.hide {
        let line = entry.place.line;
        if !usable(&entry.value) {
            let text =
                format!("{:?} can be no tool's name here and is refused without being hidden", entry.value);
            ledger.note(line, Difference::Same, text);
            continue;
        }
        if entry.value != "*" && glob::is_pattern(&entry.value) {
            let text = format!(
                "{:?} hides every tool that fits the pattern; Intercept hides only a tool of this very name",
                entry.value
            );
            ledger.note(line, Difference::Stricter, text);
        }
        out.push(Json::text(entry.value.as_str()));
    }
    out
}

/// A rule that can stand under the tool's name in our language, if there is one.
fn nameable(config: &Config, tool: &Tool, said: Said, ledger: &mut Ledger) -> Option<Said> {
    let line = tool.place.line;
    if !usable(&tool.name) {
        let text = format!("{:?} can be no tool's name here; calls of it are always refused", tool.name);
        ledger.note(line, Difference::Stricter, text);
        return None;
    }
    if !glob::is_pattern(&tool.name) {
        return Some(said);
    }
    // Under deny a pattern would list tools that Intercept does not list.
    if config.default_deny {
        let text = format!(
            "{:?} would be a pattern here and let other tools through, so it was left out; \
                Intercept knows no patterns but \"*\"",
            tool.name
        );
        ledger.note(line, Difference::Stricter, text);
        return None;
    }
    let text = format!(
        "{:?} is a pattern here and rules every tool that fits it; Intercept knows no patterns but \"*\"",
        tool.name
    );
    ledger.note(line, Difference::Stricter, text);
    Some(said)
}

/// Names that a policy of ours may hold.
fn usable(name: &str) -> bool {
    !name.is_empty() && name.len() <= 1024 && !name.chars().any(char::is_control)
}
