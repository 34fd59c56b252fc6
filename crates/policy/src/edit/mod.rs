//! Changes to a policy file that leave everything else as it stands: comments, order, indentation, line ends.
//!
//! Owns the changes that a person makes with one click or one command. An edit that cannot be made cleanly is not
//! made. Blocking and hiding never open anything: an edit of theirs that would is refused. A cap opens no tool that is
//! refused now; raising or taking back one loosens, and so does allowing: whoever makes these edits asks a person.

mod draft;
mod layout;

use std::num::NonZeroU32;

use crate::call::{Call, Judgement};
use crate::compare;
use crate::file::{Action, DefaultAction, LimitEntry, PolicyFile};
use crate::limit::Scope;
use crate::name;
use crate::policy::Policy;
use crate::problem::Report;
use crate::window::{Rate, Window};
use draft::{Draft, New};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Deny every call of the tool.
    Block { tool: String, reason: Option<String> },
    /// Deny it and leave it out of lists.
    Hide { tool: String },
    /// At most so many calls a window, counted per client with this server. A second time it may be a higher cap:
    /// `compare::loosened` tells, and then a person has to confirm it.
    Cap { tool: String, max: NonZeroU32, window: Window },
    /// Take back what denies or hides the tool; its limits and conditions stay.
    Allow { tool: String },
    /// Take back the cap that `Cap` has set; other limits stay.
    Uncap { tool: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// What changed, in words; empty when nothing did.
    pub summary: Vec<String>,
    pub changed: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("the policy is broken and has to be mended by hand first: {}", .0.headline())]
    Broken(Report),
    #[error("{0:?} is not the name of one tool")]
    NotATool(String),
    #[error("{tool:?} is not allowed now ({reason}); a cap on it would let it through")]
    NotAllowed { tool: String, reason: String },
    #[error("this would loosen the policy: {}", .0.join("; "))]
    WouldLoosen(Vec<String>),
    #[error("{tool:?} would still be refused by {rule}: {reason}")]
    StillRefused { tool: String, rule: String, reason: String },
}

/// The name of the counter that `Cap` sets, so that the next `Cap` finds it again.
pub fn cap_counter(tool: &str) -> String {
    format!("{tool}_cap")
}

/// Makes the edit, or says why not and leaves everything as it was. Making it twice changes nothing more.
pub fn apply(text: &str, edit: &Edit) -> Result<Edited, EditError> {
    let (Edit::Block { tool, .. }
    | Edit::Hide { tool }
    | Edit::Cap { tool, .. }
    | Edit::Allow { tool }
    | Edit::Uncap { tool }) = edit;
    if name::unusable(tool).is_some() || name::is_pattern(tool) {
        return Err(EditError::NotATool(tool.clone()));
    }
    let mut draft = Draft::new(text);
    let mut summary = Vec::new();
    if draft.is_empty_object() {
        // The only file that is made whole on the way: it refuses everything, and still does so afterwards.
        draft.set(&["version"], New::text("1"));
        draft.set(&["default"], New::text("deny"));
        summary.push("wrote \"version\" and \"default\": \"deny\" into the empty policy".to_owned());
    }
    let old = Policy::parse(draft.text()).map_err(EditError::Broken)?;
    let file = PolicyFile::parse(draft.text()).map_err(EditError::Broken)?;
    match edit {
        Edit::Block { tool, reason } => block(&mut draft, &file, tool, reason.as_deref(), &mut summary),
        Edit::Hide { tool } => hide(&mut draft, &old, tool, &mut summary),
        Edit::Cap { tool, max, window } => {
            may_be_capped(&old, tool)?;
            cap(&mut draft, &file, tool, Rate { max: *max, window: *window }, &mut summary);
        }
        Edit::Allow { tool } => allow(&mut draft, &file, tool, &mut summary),
        Edit::Uncap { tool } => uncap(&mut draft, &file, tool, &mut summary),
    }
    let new = Policy::parse(draft.text()).map_err(EditError::Broken)?;
    match edit {
        Edit::Block { .. } | Edit::Hide { .. } => {
            let looser = compare::loosened(&old, &new);
            if !looser.is_empty() {
                return Err(EditError::WouldLoosen(looser));
            }
        }
        Edit::Allow { tool } => still_refused(&new, tool)?,
        Edit::Cap { .. } | Edit::Uncap { .. } => {}
    }
    let changed = draft.text() != text;
    Ok(Edited { text: draft.into_text(), summary, changed })
}

fn block(draft: &mut Draft, file: &PolicyFile, tool: &str, reason: Option<&str>, summary: &mut Vec<String>) {
    let rule = file.body.tools.iter().find(|rule| rule.name == tool);
    let Some(rule) = rule else {
        let mut members = vec![("action".to_owned(), New::text("deny"))];
        members.extend(reason.map(|reason| ("reason".to_owned(), New::text(reason))));
        draft.set(&["tools", tool], New::Object(members));
        summary.push(format!("{tool:?} is now denied"));
        return;
    };
    if rule.action.as_ref().map(|a| a.value) != Some(Action::Deny) {
        draft.set(&["tools", tool, "action"], New::text("deny"));
        summary.push(format!("{tool:?} is now denied"));
    }
    if let Some(reason) = reason
        && rule.reason.as_deref() != Some(reason)
    {
        draft.set(&["tools", tool, "reason"], New::text(reason));
        summary.push(format!("the reason is now {reason:?}"));
    }
}

fn hide(draft: &mut Draft, old: &Policy, tool: &str, summary: &mut Vec<String>) {
    if !old.is_hidden("", tool) {
        draft.append(&["hide"], New::text(tool));
        summary.push(format!("{tool:?} is now hidden"));
    }
}

/// A cap lists the tool, and listed is allowed: so it must not be what lets the tool through.
fn may_be_capped(old: &Policy, tool: &str) -> Result<(), EditError> {
    match old.judge(&Call::tool("", tool, None)) {
        // Hidden by its own name it stays hidden; as a look-alike of a hidden one it would be let out.
        Judgement::Refuse(refusal) if old.rule_of(tool).is_none() && !old.is_hidden("", tool) => {
            Err(EditError::NotAllowed { tool: tool.to_owned(), reason: refusal.reason })
        }
        _ => Ok(()),
    }
}

/// The limit that `Cap` has set, by its place among the tool's limits.
fn own_cap<'f>(file: &'f PolicyFile, tool: &str) -> Option<(usize, &'f LimitEntry)> {
    let counter = cap_counter(tool);
    let rule = file.body.tools.iter().find(|rule| rule.name == tool)?;
    rule.limits.iter().enumerate().find(|(_, limit)| limit.counter.as_deref() == Some(&counter))
}

fn uncap(draft: &mut Draft, file: &PolicyFile, tool: &str, summary: &mut Vec<String>) {
    if let Some((place, _)) = own_cap(file, tool) {
        draft.remove(&["tools", tool, "limits", &place.to_string()]);
        summary.push(format!("{tool:?} is no longer capped by \"callgate cap\""));
    }
}

fn cap(draft: &mut Draft, file: &PolicyFile, tool: &str, rate: Rate, summary: &mut Vec<String>) {
    let counter = cap_counter(tool);
    let Some((place, before)) = own_cap(file, tool) else {
        let members = [
            ("counter", New::text(&counter)),
            ("window", New::text(&rate.window.to_string())),
            ("max", New::Number(rate.max.get())),
            ("scope", New::text(Scope::Grant.word())),
        ];
        let limit = New::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        draft.append(&["tools", tool, "limits"], limit);
        summary.push(format!("{tool:?} is now capped at {rate}"));
        return;
    };
    let index = place.to_string();
    let at = |key| ["tools", tool, "limits", index.as_str(), key];
    if before.window != Some(rate.window) {
        draft.set(&at("window"), New::text(&rate.window.to_string()));
    }
    if before.max != rate.max {
        draft.set(&at("max"), New::Number(rate.max.get()));
    }
    if draft.text_changed() {
        summary.push(format!("{tool:?} is now capped at {rate}"));
    }
}

fn allow(draft: &mut Draft, file: &PolicyFile, tool: &str, summary: &mut Vec<String>) {
    // From the back, so that the positions of those before stay true.
    for (i, _) in file.body.hide.iter().enumerate().rev().filter(|(_, name)| name.value == tool) {
        draft.remove(&["hide", &i.to_string()]);
        summary.push(format!("{tool:?} is no longer hidden"));
    }
    let Some(rule) = file.body.tools.iter().find(|rule| rule.name == tool) else {
        if file.body.default.as_ref().map(|d| d.value) != Some(DefaultAction::Allow) {
            draft.set(&["tools", tool], New::Object(Vec::new()));
            summary.push(format!("{tool:?} is now on the list of allowed tools"));
        }
        return;
    };
    for (i, clause) in
        rule.deny_if.iter().enumerate().rev().filter(|(_, clause)| clause.conditions.is_empty())
    {
        draft.remove(&["tools", tool, "deny_if", &i.to_string()]);
        let words = clause.on_deny.as_ref().map(|words| format!(" ({words:?})")).unwrap_or_default();
        summary.push(format!("{tool:?} is no longer always denied{words}"));
    }
    if matches!(rule.action.as_ref().map(|a| a.value), Some(Action::Deny | Action::Ask)) {
        draft.remove(&["tools", tool, "action"]);
        if rule.reason.is_some() {
            draft.remove(&["tools", tool, "reason"]);
        }
        summary.push(format!("{tool:?} is no longer denied by its own rule"));
    }
}

fn still_refused(new: &Policy, tool: &str) -> Result<(), EditError> {
    match new.judge(&Call::tool("", tool, None)) {
        // Conditions may refuse a call without arguments; that is theirs to say, call by call.
        Judgement::Refuse(refusal)
            if !refusal.rule.contains("/require/") && !refusal.rule.contains("/deny_if/") =>
        {
            Err(EditError::StillRefused { tool: tool.to_owned(), rule: refusal.rule, reason: refusal.reason })
        }
        _ => Ok(()),
    }
}
