//! How far an act reaches: tools that a pattern fits and other rules keep open, and what still refuses after something is
//! allowed.

use callgate_controls::{Disk, catalogue};
use callgate_home::Home;
use callgate_policy::edit::Edit;
use callgate_policy::file::{Action, Body, DefaultAction, PolicyFile, ToolRule};
use callgate_policy::{
    Call, Circumstances, Judgement, NoRecordings, Policy, Waived, condition_words, fits, same_client,
};
use callgate_text::{is_pattern, name};
use callgate_wiring::client_name;

use super::{inverse, words};
use crate::DeskError;
use crate::allowing::is_by_itself;
use crate::change::Change;
use crate::view::Target;

/// Names that a sentence lists at most.
const SHOWN: usize = 6;

/// The end of a sentence about a block or a cap of a pattern: tools of the server that fit it and that it does not reach.
pub(super) fn missed(
    home: &Home,
    target: &Target,
    edit: &Edit,
    change: &Change,
    now_ms: i64,
) -> Result<Option<String>, DeskError> {
    let Some(pattern) = target.tool.as_deref().filter(|tool| is_pattern(tool)) else { return Ok(None) };
    let Ok(Some(listed)) = catalogue::read(home, &target.server) else { return Ok(None) };
    let policy = Policy::parse(&change.edited().text).map_err(DeskError::BrokenText)?;
    let (verb, rate, words) = match edit {
        Edit::Block { .. } => ("block", None, "still open"),
        Edit::Cap { max, window, .. } => ("cap", Some(format!("{max}/{window}")), "not capped"),
        _ => return Ok(None),
    };
    let files = Disk::new();
    let circumstances =
        Circumstances { now_ms, files: &files, recordings: &NoRecordings, waived: Waived::Nothing };
    let client = target.client.as_deref().unwrap_or_default();
    let counters = [format!("{pattern}_cap"), format!("{pattern}_client_cap")];
    let mut open: Vec<&str> = Vec::new();
    for tool in listed.tools.iter().map(|tool| tool.name.as_str()).filter(|tool| fits(pattern, tool)) {
        match policy.judge(&Call::tool(client, tool, None), &circumstances) {
            // That it is only observed is said elsewhere.
            Judgement::Pass(pass) if pass.observing || pass.would.is_some() => {}
            Judgement::Pass(pass)
                if rate.is_some()
                    && pass.limits.iter().any(|taking| counters.contains(&taking.limit.counter)) => {}
            Judgement::Pass(_) => open.push(tool),
            Judgement::Refuse(refusal) if rate.is_none() && !is_by_itself(&refusal.rule) => open.push(tool),
            _ => {}
        }
    }
    let Some(first) = open.first() else { return Ok(None) };
    let one = Target { tool: Some((*first).to_owned()), ..target.clone() };
    let command = inverse::command(verb, &one, rate.as_deref());
    let lets = if open.len() == 1 { "which has a rule of its own" } else { "which have rules of their own" };
    let tools = several(open.iter().map(|tool| name(tool)).collect());
    Ok(Some(format!("; {words}: {tools}, {lets}: {command}")))
}

/// What refuses calls although nothing denies the tool, or the whole server, any more: as the end of a sentence.
pub(super) fn still_refusing(change: &Change, target: &Target) -> Result<String, DeskError> {
    let file = PolicyFile::parse(&change.edited().text).map_err(DeskError::BrokenText)?;
    let is_meant = |client: &str| target.client.as_deref().is_none_or(|meant| same_client(client, meant));
    let overlays = file.clients.iter().filter(|overlay| is_meant(&overlay.client));
    let mut found = refusing(&file.body, None, target.tool.as_deref());
    for overlay in overlays {
        found.extend(refusing(&overlay.body, Some(&overlay.client), target.tool.as_deref()));
    }
    Ok(match found.is_empty() {
        true => String::new(),
        false => format!("; but calls are still refused: {}", several(found)),
    })
}

/// What the rules of one body refuse of the tool, or of any, as a refused caller and `policy explain` say it. `client`: whose
/// body it is.
fn refusing(body: &Body, client: Option<&str>, tool: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(rule) = &body.all_tools {
        found.extend(condition_words(rule).iter().map(|words| format!("every tool is {words}")));
    }
    // By its longest name one rule counts, and it alone.
    let closest = tool.and_then(|tool| {
        let exact = body.tools.iter().find(|rule| rule.name == tool);
        let fitting = body.tools.iter().filter(|rule| is_pattern(&rule.name) && fits(&rule.name, tool));
        exact.or_else(|| fitting.max_by_key(|rule| rule.name.len()))
    });
    let rules: Vec<&ToolRule> = match tool {
        Some(_) => closest.into_iter().collect(),
        None => body.tools.iter().collect(),
    };
    for rule in rules {
        let denies = matches!(rule.action.as_ref().map(|action| action.value), Some(Action::Deny));
        let named = format!("\"{}\"", name(&rule.name));
        if denies && tool.is_none() {
            found.push(format!("{named} is denied"));
        } else {
            found.extend(condition_words(rule).iter().map(|words| format!("{named} is {words}")));
        }
    }
    if tool.is_none() {
        let default = body.default.as_ref().map(|default| default.value);
        if default == Some(DefaultAction::Deny) || (default.is_none() && client.is_none()) {
            found.push("a tool that no rule names is not on the list of allowed tools".to_owned());
        }
        found.extend(body.hide.iter().map(|hidden| format!("\"{}\" is hidden", name(&hidden.value))));
    }
    let whom = client.map(|client| format!(", for {}", client_name(client))).unwrap_or_default();
    found.iter().map(|words| words::sentence(&format!("{words}{whom}"))).collect()
}

fn several(mut all: Vec<String>) -> String {
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", all.join(", "))
}
